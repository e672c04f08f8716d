"""Collects lessons while a game is watched: a crop of every tile seen unobstructed, labelled by the log.

The label comes from the log at the time of writing, not from the reading: a corrected tile teaches the correction, a
tile still in question is not used.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping

import numpy as np

from bastide.errors import Failure
from bastide.table.session import TableSession
from bastide.tiles.tilebook import TileBook
from scoring.events import Setup, TilePlaced
from scoring.log import effective, open_questions
from scoring.tiles import Square
from vision.frames import Frame, Image
from vision.lattice import Array, rectify
from vision.lessons import Lesson
from vision.paint import bare_part
from vision.tileset import SIZE_PX, TileSet, merged

EVERY_TILES = 12  # new pictures per write
_BARE = 0.985  # fraction of a tile that must be free of the players' colours
_LOOKS = 40  # most frames in which a tile with a player's colour is tried again

_log = logging.getLogger("bastide.learning")


class Learner:
    """The lessons of one game at one table. `look` costs one small crop at most. ``book`` is called again for every
    game; None disables teaching."""

    def __init__(self, book: TileBook | Callable[[], TileBook | None], session: TableSession,
                 taught: Callable[[Setup], TileSet], counts: Callable[[tuple[str, ...]], Mapping[str, int]]) -> None:
        self._books: Callable[[], TileBook | None] = (lambda: book) if isinstance(book, TileBook) else book
        self._session, self._taught, self._counts = session, taught, counts
        self._begin()

    def _begin(self) -> None:
        self._game, self._book = self._session.game, self._books()
        self._name = f"game {self._game} watched from {time.strftime('%Y-%m-%d %H:%M:%S')}"
        self._pictures: dict[Square, Image] = {}
        self._looks: dict[Square, int] = {}
        self._written = 0

    def look(self, frame: Frame, poses: Mapping[Square, Array]) -> None:
        """Take the picture of one tile that has none. Call it with frames in which the table is still and
        unoccluded."""
        if self._session.game != self._game:
            self._begin()
        if self._book is None:
            return
        state, colours = self._session.state, [p.colour for p in self._session.setup.players]
        standing = {f.at for f in state.figures}
        due = [at for at in state.tiles if at in poses and at not in self._pictures and at not in standing
               and self._looks.get(at, 0) < _LOOKS]
        if not due:
            return
        at = min(due, key=lambda at: self._looks.get(at, 0))
        self._looks[at] = self._looks.get(at, 0) + 1
        crop = rectify(frame.bgr, poses[at], SIZE_PX)
        if bare_part(crop, colours) >= _BARE:
            self._pictures[at] = crop

    def lessons(self) -> tuple[Lesson, ...]:
        """The pictures of the tiles seen, with the log's current labels."""
        entries = self._session.entries
        open_now = open_questions(entries)
        state = self._session.state
        out = []
        for seq, event in effective(entries):
            if not isinstance(event, TilePlaced) or seq in open_now or event.at not in self._pictures:
                continue
            placed = state.tiles.get(event.at)
            if placed is not None and (placed.tile, placed.rot) == (event.tile, event.rot):
                bgr = np.ascontiguousarray(np.rot90(self._pictures[event.at], event.rot))
                out.append(Lesson(tile=event.tile, bgr=bgr, origin=f"{self._name}, entry {seq}"))
        return tuple(out)

    def due(self) -> bool:
        """Whether there are enough new pictures to write."""
        new = len(self._pictures) - self._written
        return new >= EVERY_TILES or (new > 0 and self._session.state.over)

    def write(self) -> TileSet | None:
        """Put this game's lessons into the book; the pictures to read with from now on, None when nothing is new.

        A failed write is logged, and the game goes on.
        """
        if self._book is None or self._session.game != self._game:
            return None  # another game has begun; all but a few pictures of this one are written already
        self._written = len(self._pictures)
        before, setup = self._book.version, self._session.setup
        try:
            refused = self._book.learn(self._name, self.lessons(), self._counts(setup.expansions))
        except Failure as e:
            _log.warning("%s", e)
            return None
        for r in refused:
            _log.info("the reference picture of %s (%s) was rejected: %s", r.lesson.tile, r.lesson.origin, r.why)
        return merged(self._taught(setup), self._book.tileset()) if self._book.version != before else None
