"""The page's own files, read once at the start: no path that a client sends ever reaches the disk."""

from __future__ import annotations

import gzip
import hashlib
import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from flask import Response, request

from web.answers import wants_gzip

_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".png": "image/png",
          ".webmanifest": "application/manifest+json", ".json": "application/json", ".woff2": "font/woff2",
          ".txt": "text/plain"}
_IMPORT = re.compile(r'^(?:import|export)\b[^;"]*?"(\.[^"]+)";', re.MULTILINE)  # not the calls that import later
_COMPRESSED = (".js", ".css", ".svg", ".webmanifest", ".json", ".txt")
# Comments on lines of their own, and indentation. None of our text literals spans lines (tests/web/test_web_api.py).
_BLOCK = rb"^ */\*(?:[^*]|\*(?!/))*\*/\n"
_FOR_READERS = {".js": re.compile(rb"^ *//.*\n|" + _BLOCK + rb"|^ +", re.MULTILINE),
                ".css": re.compile(_BLOCK + rb"|^ +", re.MULTILINE)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    """One file: its bytes, the same compressed (None if that does not pay), its type and a tag of its content."""

    plain: bytes
    small: bytes | None
    mimetype: str
    tag: str


class Assets:
    """Every file below a folder by its name, such as ``js/app.js``; ``made`` replaces files of the same name."""

    def __init__(self, folder: Path, made: Mapping[str, bytes] | None = None) -> None:
        found = {f.relative_to(folder).as_posix(): f.read_bytes()
                 for f in sorted(folder.rglob("*")) if f.suffix in _TYPES and f.is_file()} | dict(made or {})
        self._files = {name: _asset(lean(text, suffix), suffix)
                       for name, text in found.items() if (suffix := posixpath.splitext(name)[1])}
        self._imported: dict[str, tuple[str, ...]] = {}

    def joined(self, names: Sequence[str]) -> str:
        """Several styles as one text."""
        return "\n".join(self._files[name].plain.decode() for name in names)

    def imported(self, name: str) -> tuple[str, ...]:
        """All modules that a module imports statically, directly or indirectly, without itself."""
        if name in self._imported:
            return self._imported[name]
        found, open_ = set[str](), [name]
        while open_:
            of = open_.pop()
            for path in _IMPORT.findall(self._files[of].plain.decode()):
                module = posixpath.normpath(posixpath.join(posixpath.dirname(of), path))
                if module in self._files and module not in found:
                    found.add(module)
                    open_.append(module)
        self._imported[name] = tuple(sorted(found - {name}))
        return self._imported[name]

    def answer(self, name: str) -> Response | None:
        """The file as a response to the current request, or None."""
        found = self._files.get(name)
        if found is None:
            return None
        small = found.small if wants_gzip() else None
        answer = Response(found.plain if small is None else small, mimetype=found.mimetype)
        if small is not None:
            answer.headers["Content-Encoding"] = "gzip"
        if found.small is not None:
            answer.vary.add("Accept-Encoding")
        answer.set_etag(found.tag, weak=found.small is not None)
        answer.make_conditional(request)  # modifies it in place
        return answer


def lean(text: bytes, suffix: str) -> bytes:
    """A module or style sheet without comments and indentation: a tenth less to send. Any other file unchanged."""
    unneeded = _FOR_READERS.get(suffix)
    return unneeded.sub(b"", text) if unneeded else text


def _asset(plain: bytes, suffix: str) -> Asset:
    small = gzip.compress(plain, 9, mtime=0) if suffix in _COMPRESSED and len(plain) > 500 else None
    return Asset(plain=plain, small=small, mimetype=_TYPES[suffix], tag=hashlib.sha256(plain).hexdigest()[:16])
