"""Makes a game's watcher, and the wrapper that keeps its errors from ending the loop."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Protocol

from bastide.tiles.art import box_contents
from reading.look_report import LookReport
from reading.watcher import Observation, Proposal, TableWatcher
from scoring.box import Box
from scoring.engine import new_game
from scoring.events import Setup
from scoring.log import LogEntry
from scoring.tiles import Square, Tile
from vision.dial import DialPiece
from vision.frames import Frame, SourceError
from vision.lattice import Array
from vision.looks import TableLook
from vision.neutral import Kind
from vision.stacks import Kind as Block
from vision.tileset import TileSet
from vision.tracking import make_tracker
from vision.view import View

_log = logging.getLogger("bastide.table")
MOST_FAILURES = 3  # in one game, after which it has to be entered by hand


class Watcher(Protocol):
    """Processes frames: a `reading.watcher.TableWatcher`, or a guarded one."""

    @property
    def poses(self) -> dict[Square, Array]: ...

    def report(self, size: tuple[int, int]) -> LookReport: ...

    def use(self, tiles: TileSet) -> None: ...

    def point(self, point_px: tuple[float, float]) -> None: ...

    def feed(self, frame: Frame, entries: Sequence[LogEntry]) -> Observation: ...

    def finish(self, frame: Frame, entries: Sequence[LogEntry]) -> tuple[Proposal, ...]: ...


def make_watcher(tiles: TileSet, setup: Setup, view: View | None = None, *,
                 record: Callable[[TableLook], None] | None = None,
                 again: Callable[[], TileSet] | None = None) -> TableWatcher:
    """A watcher for this game's players and boxes. ``tiles`` are reference pictures in addition to the networks;
    ``view`` is the camera's calibration; ``record`` is called with every look. With ``again``, which returns the
    pictures once more, they are not kept for the rare look that finds no tile without them."""
    begun = new_game(setup)  # a start board's squares are not in the catalogue
    ids = {*box_contents(setup.expansions), *(placed.tile for placed in begun.tiles.values())}
    kinds = [begun.box.tile(tile) for tile in sorted(ids)]
    neutrals = [Kind(name=n.name, wood_mm=n.wood_mm, paints=n.paints) for n in begun.box.neutrals]
    start = {at: (p.tile, p.rot) for at, p in begun.tiles.items()} if len(begun.tiles) > 1 else {}
    dial = next((DialPiece(Kind(name=d.name, wood_mm=d.wood_mm, paints=d.paints), d.reach) for d in begun.box.dials
                 if start and d.board.issuperset(tile for tile, _ in start.values())), None)
    stacks = blocks(begun.box, kinds)
    figures = [name for name in begun.box.counts if begun.box.pieces[name].stands]
    tracker = make_tracker(kinds, tiles, tuple(p.colour for p in setup.players), view, neutrals, stacks, again=again,
                           start=start, dial=dial, sized=len(figures) > 1,
                           beside=begun.box.holds_off_board)
    return TableWatcher(setup, tracker, record=record)


class Guarded:
    """A game's watcher whose errors cannot end the loop.

    A watcher that fails is replaced; a game on which it keeps failing is no longer watched until a new game begins or
    people start watching again.
    """

    def __init__(self, make: Callable[[], Watcher], made: Watcher | None = None) -> None:
        self._make, self._failures = make, 0
        self._watcher: Watcher | None = made
        if made is None:
            self._begin()

    @property
    def poses(self) -> dict[Square, Array]:
        return {} if self._watcher is None else self._watcher.poses

    def report(self, size: tuple[int, int]) -> LookReport:
        """The report of the last frame."""
        if self._watcher is not None:
            return self._watcher.report(size)
        return {"size": list(size), "tiles": [], "open": [], "readings": [], "figures": [], "moving": []}

    def point(self, point_px: tuple[float, float]) -> None:
        """People point at a tile there."""
        if self._watcher is not None:
            self._guarded(lambda watcher: watcher.point(point_px))

    def finish(self, frame: Frame, entries: Sequence[LogEntry]) -> tuple[Proposal, ...]:
        """The recording is over."""
        return () if self._watcher is None else self._watcher.finish(frame, entries)

    def use(self, tiles: TileSet) -> None:
        """Use these reference pictures from now on."""
        if self._watcher is not None:
            self._guarded(lambda watcher: watcher.use(tiles))

    def feed(self, frame: Frame, entries: Sequence[LogEntry]) -> Observation:
        """Process one frame; ``unwatched`` if this game cannot be watched."""
        seen = self._guarded(lambda watcher: watcher.feed(frame, entries))
        return seen or Observation(status="unwatched" if self._watcher is None else "settling")

    def _guarded(self, do: Callable[[Watcher], Observation | None]) -> Observation | None:
        if self._watcher is None:
            return None
        try:
            return do(self._watcher)
        except SourceError:  # the camera's: its picture is fetched on access
            raise
        except Exception as e:  # whatever went wrong, the next game can be watched
            self._failed(e)
            return None

    def _failed(self, e: Exception) -> None:
        self._failures += 1
        _log.error("reading the table failed", exc_info=e)
        self._begin()

    def _begin(self) -> None:
        self._watcher = None
        while self._watcher is None and self._failures < MOST_FAILURES:
            try:
                self._watcher = self._make()
            except Exception as e:
                self._failures = MOST_FAILURES  # a new one would fail again
                _log.error("this game cannot be watched", exc_info=e)


def blocks(box: Box, kinds: Sequence[Tile]) -> list[Block]:
    """The blocks that the boxes pile up on places of tiles of these kinds."""
    return [Block(name=s.name, wood_mm=s.wood_mm, paints=s.paints,
                  spots={k.id: p for k in kinds if (p := s.spot(k)) is not None}) for s in box.stacks]
