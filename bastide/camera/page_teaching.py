"""Teaching the owner's tiles on the page: the teaching sheet under the camera in use, the tiles in its cells, people's
corrections, and the resulting set of pictures.

The cell determines a tile's kind. People may correct it, which holds until another tile lies in the cell.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bastide.camera.calibrated import CalibratedCamera
from bastide.camera.capture import Shot
from bastide.camera.live_looks import LiveLooks
from bastide.camera.teaching import COARSE_PX_MM, StillTiles, Teaching, alike
from bastide.errors import Failure, UsageError
from calibration.teaching import SeenTile, find_pages, tiles_on
from scoring.tiles import catalogue
from vision.frames import Image
from vision.images import encode_jpeg, reduced
from vision.lessons import FEWEST
from web.machine_states import CellRow, PageRow, TaughtRow, TeachingState
from web.protocol import CommandError

LONG_SIDE_PX, TILE_PX = 1600, 160
KEPT = 4  # pictures of the sheet: a page requests the one whose number it has
_CODES = {"sides": "sides", "blurred": "blurred", "other kind": "other"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lying:
    """The tile in a cell as it was seen: its kind ``tile``, the clockwise quarter turns that make its picture upright,
    the source of this label, and the ``number`` of its picture."""

    seen: SeenTile
    tile: str
    turns: int
    sure: bool
    number: int

    def taught(self) -> SeenTile:
        return replace(self.seen, tile=self.tile, bgr=np.ascontiguousarray(np.rot90(self.seen.bgr, -self.turns)))


class PageTeaching:
    """One table's teaching (`web.machine_protocol.Teaching`). Thread-safe."""

    def __init__(self, camera: CalibratedCamera, folder: Callable[[], Path], *, present: Callable[[], bool],
                 wanted: Callable[[], tuple[str, ...]], known: Callable[[], Mapping[str, int]],
                 taught: Callable[[], None] = lambda: None, clock: Callable[[], float] = time.monotonic) -> None:
        """``folder`` is for the owner's set, ``wanted`` the kinds of the game's boxes, ``known`` the number of pictures
        of each kind; ``taught`` is called after a change."""
        self._camera, self._folder, self._wanted, self._known = camera, folder, wanted, known
        self._present, self._told = present, taught
        self._lock = threading.Lock()
        self._looks = LiveLooks(camera, self._look, name="teaching", present=present, clock=clock)
        self._still_tiles, self._lying = StillTiles(), dict[str, _Lying]()
        self._doubts: dict[str, str] | None = {}
        self._pages: list[PageRow] = []
        self._photos, self._number = dict[int, bytes](), 0
        self._outcome: TaughtRow | None = None
        self._kept = dict[str, Image]()  # taught tiles that still lie there: not offered again

    # -- for the page -----------------------------------------------------------------------------------------------

    def state(self) -> TeachingState:
        """The detected tiles and their labels; the camera is read for a few more seconds."""
        if self._present():
            self._looks.want()
        wanted, known = self._wanted(), self._known()
        with self._lock:
            doubts = self._doubts or {}
            tiles: list[CellRow] = [
                {"cell": cell, "tile": one.tile, "turns": one.turns, "sure": one.sure, "picture": one.number,
                 "coarse": one.seen.px_mm < COARSE_PX_MM,
                 "doubt": None if one.sure or cell not in doubts else _CODES[doubts[cell]]}
                for cell, one in self._lying.items()]
            return {"camera": self._present(), "picture": max(self._photos, default=None), "pages": list(self._pages),
                    "tiles": tiles, "wanted": list(wanted), "known": {k: n for k, n in known.items() if k in wanted},
                    "fewest": FEWEST, "outcome": self._outcome}

    def say(self, cell: str, tile: str, turns: int) -> TeachingState:
        """Label the tile in a cell; ``turns`` clockwise quarter turns make its picture upright. Raises CommandError."""
        with self._lock:
            one = self._there(cell)
            if tile not in catalogue() or turns not in range(4):
                raise CommandError("malformed", "tile and turns: name no way that a tile lies")
            self._lying[cell] = replace(one, tile=tile, turns=turns, sure=True)
            self._doubts = None
        return self.state()

    def leave_out(self, cell: str) -> TeachingState:
        """Do not teach the picture of a cell; this is reset when another tile lies there. Raises CommandError."""
        with self._lock:
            self._there(cell)
            del self._lying[cell]
            self._doubts = None
        return self.state()

    def keep(self) -> TeachingState:
        """Make the owner's set from the pictures; ``outcome`` is the result. Raises CommandError."""
        with self._lock:
            if not self._lying:
                raise CommandError("nothing_seen", "no tile was seen on the teaching sheet yet")
            try:
                made = self._teaching().save()
            except (Failure, UsageError) as e:
                raise CommandError("not_saved", str(e)) from e
            self._outcome = {"taught": made["taught"], "missing": made["missing"], "coarse": made["coarse"],
                             "refused": [r["tile"] for r in made["refused"]]}
            self._kept = {cell: one.seen.bgr for cell, one in self._lying.items()}
            self._lying, self._doubts = {}, {}
        self._told()
        return self.state()

    def forget(self) -> TeachingState:
        """Start over with the tiles on the sheet; the stored set is not affected."""
        with self._lock:
            self._lying, self._kept, self._doubts, self._still_tiles, self._outcome = {}, {}, {}, StillTiles(), None
        return self.state()

    def picture(self, number: int) -> bytes | None:
        """A picture of the sheet, or of the tile in a cell, by its number (JPEG); None if it is gone."""
        with self._lock:
            if number in self._photos:
                return self._photos[number]
            found = next((one for one in self._lying.values() if one.number == number), None)
        return None if found is None else encode_jpeg(reduced(found.seen.bgr, TILE_PX))

    def close(self) -> None:
        """Stop the thread."""
        self._looks.close()

    # -- the worker thread ------------------------------------------------------------------------------------------

    def _look(self, shot: Shot) -> None:
        view = self._camera.view
        bgr = shot.bgr if view is None else view.straighten(shot.bgr)
        pages = find_pages(bgr)
        tiles = tuple(t for page in pages for t in tiles_on(bgr, page))
        photo = encode_jpeg(reduced(bgr, LONG_SIDE_PX))
        with self._lock:
            self._pages = [{"page": p.page.number + 1, "product": p.page.product, "cells": len(p.page.cells),
                            "seen": sum(t.tile in {c.tile for c in p.page.cells} for t in tiles)} for p in pages]
            for tile in self._still_tiles.feed(tiles):
                self._take(tile)
            self._number += 1
            self._photos[self._number] = photo
            while len(self._photos) > KEPT:
                del self._photos[min(self._photos)]
            teaching = self._teaching() if self._doubts is None else None
        if teaching is not None:  # the cross-check takes a moment, so it runs outside the lock
            found = teaching.doubts()
            with self._lock:
                self._doubts = found

    def _take(self, tile: SeenTile) -> None:
        before = self._lying.get(tile.tile)
        known = self._kept.get(tile.tile) if before is None else before.seen.bgr
        if known is not None and alike(known, tile.bgr):
            return  # it was occluded: people's label stays
        self._number += 1
        self._lying[tile.tile] = _Lying(seen=tile, tile=tile.tile, turns=0, sure=False, number=self._number)
        self._doubts, self._outcome = None, None

    def _teaching(self) -> Teaching:
        return Teaching(folder=self._folder(), wanted=self._wanted(),
                        seen={cell: one.taught() for cell, one in self._lying.items()},
                        sure={cell for cell, one in self._lying.items() if one.sure})

    def _there(self, cell: str) -> _Lying:
        if cell not in self._lying:
            raise CommandError("no_tile", "no tile was seen in that cell")
        return self._lying[cell]
