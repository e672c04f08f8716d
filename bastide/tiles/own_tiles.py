"""The owner's own tiles, with which the page draws the board: taught or learned, all of one size and evenly lit."""

from __future__ import annotations

import hashlib
import logging
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from bastide.errors import Failure, UsageError
from scoring.engine import new_game
from scoring.events import Setup
from scoring.tiles import catalogue
from vision.illumination import normalised
from vision.images import encode_jpeg
from vision.tileset import TileSet, TileSetError, load_tileset, merged
from web.states import OwnPictures

if TYPE_CHECKING:
    from bastide.tiles.art import ArtSets

SCREEN_PX = 192
MOST_COPIES = 4  # pictures per kind, enough for a natural-looking board
_QUALITY = 84
_log = logging.getLogger("bastide.art")


class OwnTiles:
    """The pictures of one machine's sets. Thread-safe; a set is made on first use."""

    def __init__(self, arts: ArtSets | None) -> None:
        self._arts = arts
        self._lock = threading.Lock()
        self._known: tuple[object, OwnPictures, dict[tuple[str, int], bytes]] = (None, {"tag": "", "tiles": {}}, {})

    def listed(self, art: str, setup: Setup) -> OwnPictures:
        """``tiles``: how many pictures there are of each kind that has any, and a ``tag`` that changes with them."""
        return self._made(art, setup)[0]

    def picture(self, art: str, setup: Setup, tile: str, copy: int) -> bytes | None:
        """One of them (JPEG), or None."""
        return self._made(art, setup)[1].get((tile, copy))

    def _made(self, art: str, setup: Setup) -> tuple[OwnPictures, dict[tuple[str, int], bytes]]:
        if self._arts is None:
            return self._known[1:]
        with self._lock:
            now = (art, setup.expansions, self._arts.stamp(art))
            if self._known[0] != now:
                try:
                    found = self._set(art)
                except (Failure, UsageError, TileSetError, OSError) as e:
                    _log.warning("the board is drawn with bastide's own tiles: %s", e)
                    found = None
                self._known = (now, *_pictures(found, setup))
            return self._known[1:]

    def _set(self, art: str) -> TileSet | None:
        """The taught and the learned pictures of a set, none of our drawings."""
        assert self._arts is not None
        folder, book = self._arts.taught(art), self._arts.book(art)
        learned = book.tileset() if book else None
        if folder is None or not Path(folder).is_dir():
            return learned
        return merged(load_tileset(folder, size_px=SCREEN_PX), learned)


def _pictures(found: TileSet | None, setup: Setup) -> tuple[OwnPictures, dict[tuple[str, int], bytes]]:
    kinds, begun = catalogue(), new_game(setup)
    box = {*begun.left, *(placed.tile for placed in begun.tiles.values())}
    chosen, copies = [], dict[str, int]()
    for specimen in found.specimens if found else ():
        if not specimen.drawn and specimen.tile in kinds and specimen.tile in box and \
                copies.get(specimen.tile, 0) < MOST_COPIES:
            copies[specimen.tile] = copies.get(specimen.tile, 0) + 1
            chosen.append((specimen.tile, copies[specimen.tile] - 1, specimen.bgr))
    even = normalised([(kinds[tile], bgr) for tile, _, bgr in chosen])
    made = {(tile, n): encode_jpeg(bgr, _QUALITY) for (tile, n, _), bgr in zip(chosen, even, strict=True)}
    digest = hashlib.sha256()
    for key in sorted(made):
        digest.update(repr(key).encode() + made[key])
    return {"tag": digest.hexdigest()[:12] if made else "", "tiles": copies}, made
