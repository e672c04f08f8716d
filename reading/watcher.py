"""Watches one table: frames and the log in, decisions out. `vision.tracker` looks, `reading.game` explains.

    Frame -> Tracker (stillness, registration, attention, senses) -> TableLook -> GameReader (belief, histories,
    policy) -> Observation: what to put into the log, what is asked, what people should put right
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from reading.alignment import Alignment
from reading.game import Decisions, GameReader
from reading.look_report import LookReport, LookReporter
from reading.noticing import Notice
from reading.policy import Decision
from scoring.events import Setup
from scoring.log import LogEntry
from scoring.tiles import Square
from vision.attention import Followed
from vision.frames import Frame, Image
from vision.lattice import Array, Lattice, rectify, renamed
from vision.looks import TableLook
from vision.tileset import TileSet
from vision.tracker import Tracker

CROP_PX, CROP_MARGIN = 80, 0.5  # a proposal's crop: pixels per tile, and margin around it in tiles
KEPT_PX, KEPT_MARGIN = 64, 0.4
TICK_S = 4.0  # without new looks, doubts that wait for time to pass are weighed again after this

__all__ = ["Observation", "Proposal", "TableWatcher"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A decision with the picture it was made from: the square and half a tile around it."""

    decision: Decision
    crop: Image


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """The outcome of one frame. ``status`` is watching, settling, searching, no_board (people should say where it lies)
    or adrift (the board is not where it was); ``notices`` is None if they are unchanged."""

    status: str
    proposals: tuple[Proposal, ...] = ()
    notices: tuple[Notice, ...] | None = None
    began: int = 0


class TableWatcher:
    """One camera over one table. ``feed`` is deterministic and never raises on a frame."""

    def __init__(self, setup: Setup, tracker: Tracker, *, record: Callable[[TableLook], None] | None = None) -> None:
        self.tracker = tracker
        self._game = GameReader(setup)
        self._reporter = LookReporter(colours=[p.colour for p in setup.players])
        self._alignment: Alignment | None = None
        self._record = record
        self._told_s = -np.inf
        self._adrift = False  # the last look at a board did not show that of the running game
        self._seen: dict[Square, Image] = {}  # the last picture of each tile, by the game's squares

    @property
    def lattice(self) -> Lattice | None:
        """The board's lattice in the game's squares (in the looks' own before the alignment is known)."""
        if self.tracker.lattice is None:
            return None
        alignment = self._alignment if self._alignment is not None else Alignment()
        return renamed(self.tracker.lattice, alignment.square, alignment.turns)

    @property
    def poses(self) -> dict[Square, Array]:
        """The pose of every tile on the table, by the game's squares."""
        lattice = self.lattice
        return {} if lattice is None else {at: lattice.pose(at, s) for at, s in lattice.shifts.items()}

    def feed(self, frame: Frame, entries: Sequence[LogEntry]) -> Observation:
        """Look at one frame. ``entries`` is the game's log with everything decided so far in it."""
        followed = self.tracker.feed(frame)
        look = followed.look
        if look is None and self._alignment is not None and frame.t_s - self._told_s >= TICK_S:
            look = TableLook(frame=frame.id, t_s=frame.t_s, squares={})
        if look is None:
            return Observation(status=self._status(followed))
        if self._record is not None and look.squares:  # before it is interpreted, which is what may fail
            self._record(look)
        told = self._game.look(look, entries)
        self._told_s = frame.t_s
        if told.alignment is not None and told.alignment != self._alignment:
            self._alignment = told.alignment
            self._reporter.forget()
            self._seen.clear()
        if told.status in ("no_board", "unsure"):
            self._alignment = None  # what it was taken for is not there
        if look.squares:
            self._adrift = told.status == "lost"
        if look.whole and told.status in ("no_board", "lost"):
            self.tracker.refuse()
        if told.status == "lost" or look.whole and told.status != "watching":
            return Observation(status=self._status(followed))
        if look.squares:
            alignment = self._alignment if self._alignment is not None else Alignment()
            self._reporter.keep(look, alignment)
            self.tracker.look_again(at for at in look.squares if self._disagree(alignment.square(at)))
        return Observation(status=self._status(followed), proposals=self._proposals(frame, told),
                           notices=self._notices(frame, told, look), began=told.began)

    def _disagree(self, at: Square) -> bool:
        """Whether looks at a square disagree about its tile, or whether a figure is there."""
        belief = self._game.belief
        track = belief.squares.get(at)
        return track is not None and track.against is not None or any(
            f.real > 0.0 and f.present and f.missed > 0.0 for f in belief.by_square.get(at, ()))

    def use(self, tiles: TileSet) -> None:
        """Match tiles with these pictures from now on, after more of this table's tiles were learned."""
        self.tracker.sense.use(tiles)

    def point(self, point_px: tuple[float, float]) -> None:
        """A person has pointed out that a tile lies at this point of the frame."""
        self.tracker.point_px = point_px

    def finish(self, frame: Frame, entries: Sequence[LogEntry]) -> tuple[Proposal, ...]:
        """The proposals that remain after the last frame of a film. To be called until there are none."""
        told = self._game.finish(entries)
        if self.lattice is None:  # the board is being searched: what is known of the game is told all the same
            return tuple(Proposal(decision=d, crop=self._seen.get(d.at, frame.bgr)) for d in told.decisions)
        return self._proposals(frame, told)

    def report(self, size: tuple[int, int]) -> LookReport:
        """What was last seen, for `bastide.table.seeing.Seeing`."""
        lattice = self.lattice
        if lattice is None:
            return self._reporter.report({}, {}, size, self.tracker.stillness)
        alignment = self._alignment if self._alignment is not None else Alignment()
        poses = self.poses
        beside = {alignment.square(at): lattice.predict(alignment.square(at)) for at in self.tracker.places()}
        return self._reporter.report(poses, {at: p for at, p in beside.items() if at not in poses}, size,
                                  self.tracker.stillness)

    def _status(self, followed: Followed) -> str:
        if self._adrift or followed.status == "lost":
            return "adrift"
        if followed.status == "searching":
            return "no_board" if followed.since_s >= self.tracker.attention.help_s else "searching"
        return "settling" if followed.status == "moving" else "watching"

    def _proposals(self, frame: Frame, told: Decisions) -> tuple[Proposal, ...]:
        lattice = self.lattice
        if lattice is None:
            return ()
        beside = self.tracker.beside
        poses = [lattice.predict(d.at) if d.beside is None or beside is None else beside.around(d.beside)
                 for d in told.decisions]
        return tuple(Proposal(decision=d, crop=rectify(frame.bgr, pose, CROP_PX, CROP_MARGIN))
                     for d, pose in zip(told.decisions, poses, strict=True))

    def _notices(self, frame: Frame, told: Decisions, look: TableLook) -> tuple[Notice, ...] | None:
        """The notices, each with pictures of the square before and now."""
        poses: Mapping[Square, Array] = self.poses
        out = []
        for notice in told.notices:
            if notice.at is None:
                out.append(notice)
                continue
            before = self._seen.get(notice.at)
            now = None if notice.at not in poses else rectify(frame.bgr, poses[notice.at], KEPT_PX, KEPT_MARGIN)
            out.append(replace(notice, before=before if before is not None else now, now=now))
        wrong = {n.at for n in told.notices}
        alignment = self._alignment
        for at in (alignment.square(at) for at in look.squares) if alignment is not None else ():
            if at in poses and at not in wrong:
                self._seen[at] = rectify(frame.bgr, poses[at], KEPT_PX, KEPT_MARGIN)
        return tuple(out)
