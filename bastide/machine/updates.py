"""Updates from the page: a release is uploaded, verified, and root is asked to install it (docs/updates.md).

The service may not write to the program's folder. It puts a request beside the file; ``bastide-update.path`` notices it
and starts ``hardware/update.sh`` as root, which verifies everything again by itself and writes a state that is read
here.
"""

from __future__ import annotations

import json
import logging
import os
import re
import secrets
import shutil
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from bastide import __version__
from bastide.files.incoming import add_piece
from bastide.files.writing import write_whole
from hardware.release_file import MOST_BYTES, NotTaken, check, numbers
from web.machine_states import OfferRow, UpdateState
from web.protocol import CommandError

FOLDER = ".update"  # in the data folder; not in backups
REQUEST, UPLOAD = "request.json", "upload.part"
VERSIONS, SIGNERS = Path("/opt/bastide-versions"), Path("/etc/bastide/release.signers")
WATCHERS = (Path("/etc/systemd/system/bastide-update.path"), Path("/usr/lib/systemd/system/bastide-update.path"))
FORMAT = "bastide-update/1"
_LARGEST = 50_000  # bytes of a state file
_log = logging.getLogger("bastide.updates")


class Updates:
    """The updates of one installed table. Thread-safe."""

    def __init__(self, data: Path, *, running: Callable[[], bool], versions: Path = VERSIONS, signers: Path = SIGNERS,
                 watchers: tuple[Path, ...] = WATCHERS, most: int = MOST_BYTES) -> None:
        """``running`` tells whether a game is being played; the other defaults are those of an installed table."""
        self._folder, self._running, self._most = data / FOLDER, running, most
        self._versions, self._signers, self._watchers = versions, signers, watchers
        self._lock = threading.RLock()
        self._offer: OfferRow | None = None

    def state(self) -> UpdateState:
        """The running version, the upload, the offer, and the state of the newest update."""
        with self._lock:
            last = self._last()
            upload = self._folder / UPLOAD
            return {"possible": self._possible(), "version": __version__, "before": self._before(),
                    "game_runs": self._running(), "most": self._most,
                    "upload": upload.stat().st_size if upload.exists() else 0,
                    "busy": (self._folder / REQUEST).exists() or bool(last and last["step"] != "ended"),
                    "offer": self._offer, "last": last}

    def piece(self, at: int, data: bytes) -> UpdateState:
        """The next bytes of an upload; offset 0 starts a new one. Raises CommandError."""
        with self._lock:
            self._free()
            self._offer = None
            add_piece(self._folder / UPLOAD, at, data, most=self._most, what="a release")
            return self.state()

    def look(self) -> UpdateState:
        """Verify the upload and describe it; nothing of it is unpacked or run. Raises CommandError."""
        with self._lock:
            self._free()
            upload = self._folder / UPLOAD
            if not upload.exists():
                raise CommandError("nothing_came", "no release has been uploaded")
            try:
                about = check(upload, self._signers)
                arch, python = _this_system()
                if (about["arch"], about["python"]) != (arch, python):
                    raise NotTaken("other_system", f"this release is for another system ({about['arch']} with Python "
                                   f"{about['python']}); take its file for {arch} with Python {python}")
                if numbers(about["version"]) < numbers(__version__):
                    raise NotTaken("older", f"this is version {about['version']}, older than {__version__} that runs")
            except NotTaken as e:
                upload.unlink(missing_ok=True)
                raise CommandError(e.code, str(e)) from e
            except OSError as e:
                _log.error("a release could not be checked", exc_info=e)
                raise CommandError("failed", f"it cannot be read ({e.strerror or e})") from e
            self._offer = {"version": about["version"], "bytes": upload.stat().st_size, "changes": about["changes"]}
            return self.state()

    def install(self) -> UpdateState:
        """Request the installation of the verified release. Raises CommandError."""
        with self._lock:
            self._ready()
            if not (self._folder / UPLOAD).exists():
                raise CommandError("nothing_came", "no release has been uploaded")
            if self._offer is None:
                raise CommandError("not_looked_at", "the release must be inspected first")
            self._ask("install")
            self._offer = None
            return self.state()

    def back(self) -> UpdateState:
        """Request the previous version. Raises CommandError."""
        with self._lock:
            self._ready()
            if self._before() is None:
                raise CommandError("nothing_before", "there is no version before this one")
            self._ask("back")
            return self.state()

    def forget(self) -> UpdateState:
        """Delete the upload."""
        with self._lock:
            self._free()
            self._offer = None
            shutil.rmtree(self._folder, ignore_errors=True)
            return self.state()

    # -- internals --------------------------------------------------------------------------------------------------

    def _ready(self) -> None:
        self._free()
        if not self._possible():
            raise CommandError("not_possible", "this table was not installed as a service; update it at a shell")
        if self._running():
            raise CommandError("game_runs", "a game is being played: finish it first, or update tomorrow")

    def _free(self) -> None:
        if self.state()["busy"]:
            raise CommandError("busy", "an update is being installed; wait for it")

    def _ask(self, do: str) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            if (upload := self._folder / UPLOAD).exists():
                with open(upload, "rb") as f:
                    os.fsync(f.fileno())
            asked = json.dumps({"do": do, "id": secrets.token_hex(8)})
            write_whole(self._folder / REQUEST, asked.encode(), durable=True)
        except OSError as e:
            raise CommandError("not_saved", f"it cannot be requested ({e.strerror or e})") from e

    def _possible(self) -> bool:
        return any(w.exists() for w in self._watchers)

    def _before(self) -> str | None:
        """The number of the previous version."""
        try:
            folder = Path((self._versions / "before").read_text("utf-8").strip())
            found = re.search(r'^__version__ = "([\d.]+)"$', (folder / "bastide/__init__.py").read_text("utf-8"), re.M)
        except (OSError, UnicodeDecodeError):
            return None
        return found[1] if found else None

    def _last(self) -> Mapping[str, object] | None:
        path = self._versions / "state.json"
        try:
            told = json.loads(path.read_text("utf-8")) if path.stat().st_size <= _LARGEST else None
        except (OSError, ValueError, RecursionError):
            return None
        return told if isinstance(told, dict) and told.get("format") == FORMAT and "step" in told else None


def _this_system() -> tuple[str, str]:
    """Debian's name of this architecture, and the version of the system's Python, which runs the program."""
    import platform
    import sys

    machine = platform.machine()
    return {"x86_64": "amd64", "aarch64": "arm64"}.get(machine, machine), f"{sys.version_info[0]}.{sys.version_info[1]}"
