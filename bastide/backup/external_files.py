"""The files that a table uses from outside its data folder, to be included in backups: calibrations, tile pictures,
players.

``bastide serve`` notes the files it was started with in DATA/used.json; a service's options name theirs.

    data/calibrations/NAME.json   data/players/NAME.json   data/taught/NAME/base.D.png
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bastide.errors import UsageError
from bastide.files.writing import write_whole

NOTE = "used.json"
CALIBRATIONS, PLAYERS, TAUGHT = "calibrations", "players", "taught"
PICTURES = (".png", ".jpg", ".jpeg")  # as in `vision.tileset`
_FOLDERS = {"calibration": CALIBRATIONS, "players": PLAYERS, "tiles": TAUGHT}
_NAMED = re.compile(r"--(calibration|players|tiles)[= ]+(\"[^\"]+\"|'[^']+'|[^\s\"']+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """One file or folder that a table uses: ``kind`` is the option that names it."""

    kind: str
    path: Path


def remember(data: Path, *, calibrations: Iterable[str], tiles: str | None, players: str | None) -> None:
    """Record the files a table is started with. A write error only loses the record."""
    text = json.dumps({"calibration": [str(Path(c).resolve()) for c in calibrations],
                       "tiles": [str(Path(tiles).resolve())] if tiles else [],
                       "players": [str(Path(players).resolve())] if players else []}, indent=1)
    note, written = data / NOTE, text.encode("utf-8", "surrogateescape")
    with suppress(OSError):
        if not note.is_file() or note.read_bytes() != written:
            write_whole(note, written)


def used(data: Path, options: str, calibrations: Sequence[Path], tiles: Sequence[Path]) -> Iterator[Used]:
    """What lies elsewhere: named by the caller (it must be there), by the note, by a service's ``options``.

    Raises UsageError for something that the caller names and that is not there.
    """
    for path in calibrations:
        if not path.is_file():
            raise UsageError(f"{path}: there is no such calibration")
        yield Used(kind="calibration", path=path)
    for path in tiles:
        if not path.is_dir():
            raise UsageError(f"{path}: there is no such tile folder")
        yield Used(kind="tiles", path=path)
    with suppress(OSError, ValueError, AttributeError, TypeError, RecursionError):  # a corrupt note names nothing
        for kind, paths in json.loads((data / NOTE).read_text("utf-8", "surrogateescape")).items():
            if kind in _FOLDERS:
                yield from (Used(kind=kind, path=Path(p)) for p in paths if isinstance(p, str) and "\0" not in p)
    for kind, name in _NAMED.findall(options):
        yield Used(kind=kind, path=data / name.strip("\"'"))


def files(data: Path, found: Iterable[Used]) -> list[tuple[str, Path]]:
    """Name in a backup and file for all of them that lie outside ``data`` and are not in it already."""
    home, out = data.resolve(), list[tuple[str, Path]]()
    for one in dict.fromkeys(Used(kind=u.kind, path=u.path.resolve()) for u in found):
        folder, path = _FOLDERS[one.kind], one.path
        if home == path or home in path.parents:
            continue
        mine = _pictures(path) if one.kind == "tiles" else [path] if path.is_file() and path.suffix == ".json" else []
        there = {p.read_bytes() for p in (data / folder).rglob("*") if p.is_file()}  # restored once, no other since
        if not mine or all(p.read_bytes() in there for p in mine):
            continue
        taken = {p.name for p in (data / folder).glob("*")}
        taken |= {n.split("/")[2] for n, _ in out if n.startswith(f"data/{folder}/")}
        name = path.name if path.name not in taken else f"{len(taken)}-{path.name}"
        out += [(f"data/{folder}/{name}/{p.name}", p) for p in mine] if one.kind == "tiles" else \
            [(f"data/{folder}/{name}", path)]
    return out


def _pictures(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(p for p in folder.iterdir() if p.suffix.lower() in PICTURES and not p.name.startswith(".")
                  and p.is_file() and not p.is_symlink())
