"""A teaching session: from pictures of the sheet, checked for consistency, to a tile folder."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict

import numpy as np

from bastide.camera.opening import looks, open_camera, opened
from bastide.errors import Failure, UsageError
from bastide.files.writing import write_whole
from calibration.teaching import SeenTile, find_pages, tiles_on
from vision.frames import Image
from vision.images import ImageError, encode_png, read_image
from vision.lessons import Lesson, Refused, vet
from vision.tileset import TileSetError, load_tileset

COARSE_PX_MM = 1.5
STEADY = 3  # looks in which a cell must be unchanged before it is taught
SAME = 7.0  # mean difference of grey levels due to noise
LOOK_S = 0.4
WHY = {"sides": "its sides are not those of this tile", "blurred": "its picture is blurred",
       "other kind": "it looks like another tile"}


class RefusedRow(TypedDict):
    """A kind whose picture was not taught, and why not."""

    tile: str
    why: str


class Taught(TypedDict):
    """The result of teaching into the folder ``out``: the kinds that were taught, those whose pictures are ``coarse``,
    and those still missing."""

    out: str
    taught: list[str]
    refused: list[RefusedRow]
    coarse: list[str]
    missing: list[str]


@dataclass(slots=True)
class Teaching:
    """The pictures so far, by the kind that the sheet's cell is for. ``wanted`` are the kinds in the boxes; cells in
    ``sure``, confirmed by a person, are taught in any case."""

    folder: Path
    wanted: tuple[str, ...]
    add: bool = False
    seen: dict[str, SeenTile] = field(default_factory=dict)
    sure: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        if self.folder.exists() and not self.folder.is_dir():
            raise UsageError(f"{self.folder}: is a file, not a folder for tile pictures")

    def doubts(self) -> dict[str, str]:
        """The cells whose picture would be refused now, and why: sides, blurred or other kind."""
        return {r.lesson.origin: r.why for r in self._vetted()[1]}

    def save(self) -> Taught:
        """Write the consistent pictures; returns the kinds taught, refused and missing. Raises Failure for a full
        disk."""
        taught, refused = self._vetted()
        kinds, written = [lesson.tile for lesson in taught], set[str]()
        there = {lesson.tile for lesson in self._before()} | set(kinds)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            for lesson in taught:
                write_whole(self._file(lesson.tile, self.add or lesson.tile in written), encode_png(lesson.bgr))
                written.add(lesson.tile)
        except OSError as e:
            raise Failure(f"{self.folder}: cannot be written ({e.strerror or e})") from e
        return {"out": str(self.folder), "taught": sorted(kinds),
                "refused": [{"tile": r.lesson.tile, "why": WHY[r.why]} for r in refused],
                "coarse": sorted(t.tile for t in self.seen.values() if t.px_mm < COARSE_PX_MM),
                "missing": [t for t in self.wanted if t not in there]}

    def _vetted(self) -> tuple[list[Lesson], list[Refused]]:
        """The accepted and the refused of the current pictures."""
        new = [Lesson(tile=t.tile, bgr=t.bgr, origin=cell) for cell, t in self.seen.items()]
        kept, refused = vet([*self._before(), *new])
        taken = [*kept, *(r.lesson for r in refused if r.lesson.origin in self.sure)]
        return [lesson for lesson in taken if lesson.origin], \
            [r for r in refused if r.lesson.origin and r.lesson.origin not in self.sure]

    def _before(self) -> list[Lesson]:
        """Earlier pictures that are kept: those of kinds not seen now, or all with ``add``."""
        try:
            old = load_tileset(self.folder)
        except TileSetError:
            return []  # a new or empty folder
        now = {t.tile for t in self.seen.values()}
        return [Lesson(tile=s.tile, bgr=s.bgr) for s in old.specimens if self.add or s.tile not in now]

    def _file(self, tile: str, beside: bool) -> Path:
        """The path of a picture: ``beside`` others of its kind, or replacing them."""
        if not beside:
            for old in self.folder.glob(f"{tile}~*.*"):
                old.unlink()
            for old in self.folder.glob(f"{tile}.jp*g"):
                old.unlink()
            return self.folder / f"{tile}.png"
        n = 1
        while any(self.folder.glob(f"{tile}~{n}.*")):
            n += 1
        return self.folder / f"{tile}~{n}.png"


class StillTiles:
    """Selects the tiles that have been still on the sheet for long enough to be taught."""

    def __init__(self) -> None:
        self._looks: dict[str, tuple[int, Image]] = {}

    def feed(self, tiles: tuple[SeenTile, ...]) -> list[SeenTile]:
        """Add a look; returns the tiles that have just been unchanged in STEADY consecutive looks."""
        now, out = dict[str, tuple[int, Image]](), []
        for tile in tiles:
            times, before = self._looks.get(tile.tile, (0, tile.bgr))
            now[tile.tile] = (times + 1 if alike(tile.bgr, before) else 1, tile.bgr)
            if now[tile.tile][0] == STEADY:
                out.append(tile)
        self._looks = now
        return out


def alike(a: Image, b: Image) -> bool:
    """Whether two pictures of a cell are equal up to noise."""
    return float(np.abs(a.astype(np.int16) - b).mean()) < SAME


def teach_from_image(path: str, teaching: Teaching) -> None:
    """Teach from one photograph. Raises UsageError when it does not show the teaching sheet."""
    try:
        bgr = read_image(path)
    except ImageError as e:
        raise UsageError(str(e)) from e
    found = _look(bgr)
    if found is None:
        raise UsageError(f"{path}: no page of the teaching sheet is seen; three of its four markers must be whole in "
                         "the picture (bastide print teaching-sheet prints it)")
    for tile in found:
        teaching.seen[tile.tile] = tile


def teach_from_camera(uri: str, teaching: Teaching) -> None:
    """Watch the sheet until every wanted tile was seen, the source ends or somebody presses Ctrl-C."""
    from bastide.machine.stopping import stop_on_signals

    steady = StillTiles()
    with stop_on_signals() as stop, opened(open_camera(uri)) as camera:
        print("lay the tiles on the teaching sheet one after the other; Ctrl-C ends", file=sys.stderr)

        def wanted() -> bool:
            return not stop.is_set() and not set(teaching.wanted) <= teaching.seen.keys()

        for frame in looks(camera, LOOK_S, wanted, lambda: bool(teaching.seen)):
            for tile in steady.feed(_look(frame.bgr) or ()):
                again = tile.tile in teaching.seen
                teaching.seen[tile.tile] = tile
                if not again:
                    print(f"{tile.tile} ({len(teaching.seen)} of {len(teaching.wanted)})", file=sys.stderr, flush=True)


def _look(bgr: Image) -> tuple[SeenTile, ...] | None:
    """The tiles on all visible pages, or None without a page."""
    pages = find_pages(bgr)
    return tuple(t for page in pages for t in tiles_on(bgr, page)) if pages else None
