"""Tracks one board through frames and reads its squares. Knows tiles and figures, but not the game.

    searching -> (a board is found) -> following -> (movement) -> settling -> (still) -> looking -> following
                                            '-> (tiles are not where they lay) -> registered again, or lost

Attention is a queue: a square is due when something moved over it, when the board moved, and when it was not read for
long; it is read as soon as it has been still. All delays are in seconds, so that 2 and 30 frames a second give the same
looks. Squares are named from the first tile ever found; their place in the game is not known here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from scoring.tiles import Square
from vision.astray import ASTRAY, AstrayFinder, Resting
from vision.attention import Attention, Followed
from vision.background import BareTable, Levels, appearance, bare_evidence
from vision.beside import BesideSense
from vision.board_search import BoardSearch
from vision.dial import DialPiece
from vision.figures import Seen
from vision.frames import Frame, Image
from vision.lattice import Array, Lattice, named_as, neighbours, shown_twice
from vision.looks import StackLook, TableLook
from vision.occupancy import hidden_by, informed
from vision.registration import Register
from vision.senses import TileEvidence, TileSense, log_normal
from vision.square_look import in_hand, square_look
from vision.stacks import Stacks
from vision.start_board import StartSquares
from vision.stillness import Stillness

FigureReader = Callable[[Image, Mapping[Square, Array], Lattice], Mapping[Square, tuple[Seen, ...]]]


@dataclass(slots=True)
class _Square:
    """State of a square: since when it is ``due`` (something moved over it; None when it is not), since when it was
    ``touched`` by what has ``moved`` over it since it was last ``looked`` at (None: nothing has), when its tile was
    last ``searched`` for around it; whether that look found its tile ``covered``, which figures ``stand`` there."""

    due_s: float | None = None
    changed: bool = False
    touched_s: float | None = None
    moved_s: float = -np.inf
    covered: bool = False
    stand: Sequence[Seen] = ()
    looked_s: float = -np.inf
    searched_s: float = -np.inf


@dataclass(slots=True)
class Tracker:
    """One camera over one table. ``feed`` is deterministic and never raises on a frame."""

    sense: TileSense
    search: BoardSearch
    figures: FigureReader
    attention: Attention = field(default_factory=Attention)
    register: Register = field(default_factory=Register)
    stacks: Stacks | None = None
    dial: DialPiece | None = None
    astray: AstrayFinder | None = None
    beside: BesideSense | None = None
    start: StartSquares = field(default_factory=StartSquares)
    point_px: tuple[float, float] | None = None  # where people say that a tile lies, until it was searched for there
    lattice: Lattice | None = None  # of the tiles that lie
    stillness: Stillness | None = None
    _squares: dict[Square, _Square] = field(default_factory=dict)
    _bare: BareTable = field(default_factory=BareTable)
    _resting: Resting = field(default_factory=Resting)
    _shape: tuple[int, ...] = ()
    _searched_s: float = -np.inf
    _vain_s: float | None = None  # since when the picture is still without the board being seen in its place
    _told: bool = False  # people pointed at the board: it is not rejected

    @property
    def poses(self) -> dict[Square, Array]:
        """Pose of every tile that lies."""
        lattice = self.lattice
        return {} if lattice is None else {at: lattice.pose(at, shift) for at, shift in lattice.shifts.items()}

    def places(self) -> dict[Square, Array]:
        """Poses of the tiles and of the squares beside them."""
        assert self.lattice is not None
        shifts = self.lattice.shifts
        return {at: self.lattice.predict(at) for at in sorted(shifts.keys() | neighbours(shifts))}

    def feed(self, frame: Frame) -> Followed:
        """Process one frame."""
        stillness = self.stillness
        if stillness is None or frame.shape[:2] != self._shape:
            stillness = self._resize(frame.shape)
        if not stillness.feed(frame.bgr if frame.luma is None else frame.luma, frame.t_s):
            return Followed(status=self._status(), since_s=self._since())
        if self.point_px is not None and self.search.find_at is not None:
            point, self.point_px = self.point_px, None
            if (pointed := self.search.find_at(frame.bgr, point)) is not None:
                self._told = True
                return self.begin(frame, pointed)
        if self.lattice is None:
            return self._search(frame)
        return self._named(frame, frozenset(self.lattice.shifts), self._follow(frame))

    def _resize(self, shape: tuple[int, ...]) -> Stillness:
        """The first frame, or a new picture size: the state is mapped to it, and everything is read again."""
        if self._shape:
            larger = np.diag([shape[1] / self._shape[1], shape[0] / self._shape[0], 1.0])
            self.search.carry(larger)
            if self.lattice is not None:
                self.lattice.grid = larger @ self.lattice.grid
                self.register.resize(larger)
                self.recheck()
        begun_s = None if self.stillness is None else self.stillness.begun_s
        self.stillness, self._shape = Stillness(shape, begun_s=begun_s), shape[:2]
        self._searched_s, self._vain_s = -np.inf, None
        for square in self._squares.values():
            square.looked_s = -np.inf
        return self.stillness

    def recheck(self) -> None:
        """Read the whole board once more as soon as it is still."""
        for at in self._squares:
            self._squares[at].due_s = -np.inf

    def look_again(self, squares: Iterable[Square]) -> None:
        """Looks disagreed about these squares: schedule another look."""
        assert self.stillness is not None
        for square in (self._squares[at] for at in squares if at in self._squares):
            soon = self.stillness.now_s + self.attention.contradicted_s
            square.due_s = soon if square.due_s is None else min(square.due_s, soon)

    # -- searching ----------------------------------------------------------------------------------------------------

    def _search(self, frame: Frame) -> Followed:
        assert self.stillness is not None
        now, a = self.stillness.now_s, self.attention
        if float((self.stillness.last_s > now - a.still_s).mean()) > a.search_still:
            self._vain_s = None
            return Followed(status="searching")
        if self._vain_s is None:
            self._vain_s = now
        moved_since = bool((self.stillness.last_s > self._searched_s).any())
        if now - self._searched_s < (a.search_s if moved_since else 4 * a.search_s):
            return Followed(status="searching", since_s=self._since())
        self._searched_s = now
        if (lattice := self.search.elsewhere(frame.bgr)) is None:
            return Followed(status="searching", since_s=self._since())
        return self.begin(frame, lattice)

    def refuse(self) -> None:
        """Reject the tracked board, as none of this game, and search elsewhere. Only small ones: a stack of tiles looks
        like a single tile; anything larger is a board that takes a while to be read."""
        if self.lattice is not None and not self._told and len(self.lattice.shifts) <= self.attention.stack:
            self.search.refuse(self.poses)
            self.lattice, self._squares, self._bare = None, {}, BareTable()
            self._searched_s, self._vain_s = -np.inf, None

    def begin(self, frame: Frame, lattice: Lattice) -> Followed:
        """Track this board from now on: it was found, or people pointed at it."""
        return self._begin(frame, self.search.track(lattice, self.poses))

    def _begin(self, frame: Frame, lattice: Lattice) -> Followed:
        self.lattice, self._vain_s = lattice, None
        self._squares, self._bare = {}, BareTable()
        self.register = Register(self.register.limits)
        return Followed(status="following", look=self._look(frame, list(self.places()), whole=True))

    def _named(self, frame: Frame, lay: Set[Square], followed: Followed) -> Followed:
        """Gives the board the names that it had before, if its new tiles (those beyond ``lay``) show that it was known
        already: a tile in a hand was taken for a board of its own, and lies beside the others now."""
        if self.lattice is None or followed.look is None or not self.lattice.shifts.keys() - lay:
            return followed
        known = self.search.known_before(self.lattice)
        if known is None:
            return followed
        again = self._begin(frame, known)
        assert again.look is not None
        return replace(again, look=replace(again.look, gaps_s=followed.look.gaps_s))

    # -- following ----------------------------------------------------------------------------------------------------

    def _follow(self, frame: Frame) -> Followed:
        assert self.stillness is not None and self.lattice is not None
        a, now, places = self.attention, self.stillness.now_s, self.places()
        boxes = self.stillness.boxes(places, a.grow)
        for at in places:
            self._squares.setdefault(at, _Square(due_s=-np.inf))
        if self.stillness.moved.any():
            for at, part in zip(places, self.stillness.moving(boxes), strict=True):
                if part > a.touched:
                    square = self._squares[at]
                    square.due_s, square.moved_s, square.changed = now, now, True
                    if square.touched_s is None:
                        square.touched_s = self.stillness.then_s
        due = [n for n, at in enumerate(places) if self._due(self._squares[at], now)]
        if not due:
            self._vain_s = None
            return Followed(status="following")
        names = list(places)
        restless = self.stillness.restless(boxes[due], a.still_s)
        ready = [names[n] for n, part in zip(due, restless, strict=True) if part <= self.stillness.pace.spare]
        if not ready:
            return Followed(status="moving", since_s=self._since())
        return self._still(frame, ready, len(due) - len(ready))

    def _still(self, frame: Frame, ready: list[Square], waiting: int) -> Followed:
        """Some due squares are still: check whether the board is in place, and read them."""
        assert self.lattice is not None and self.stillness is not None
        a, now, poses = self.attention, self.stillness.now_s, self.poses
        asked = {at: poses[at] for at in ready if at in poses}
        likes = self.register.alike(frame.bgr, asked)
        differ = [at for at, like in likes.items() if like < a.same]
        few = max(1.0, min(2.0, a.moved_part * len(poses)))
        if len(differ) >= max(few, a.moved_part * len(likes)):
            if now - self._searched_s < a.search_s / 3 or (
                    waiting > 0.5 * len(self._squares) and self._vain_s is None):
                return Followed(status=self._status(), since_s=self._since())  # wait until it is at rest
            self._searched_s = now
            whole = self._register(frame)
            if whole is not None:
                return whole
        self._vain_s = None
        return Followed(status="following", look=self._look(frame, ready, whole=False))

    def _register(self, frame: Frame) -> Followed | None:
        """Re-register the tiles; None when they are in place and only some look different."""
        assert self.lattice is not None and self.stillness is not None
        found = self.register.find(frame.bgr, self.lattice.board)
        if found is not None:
            if all(np.allclose(found.poses[at], pose) for at, pose in self.poses.items()):
                return None
            lay = {at: found.moved @ pose for at, pose in self.poses.items()}
            moved = Lattice(grid=found.moved @ self.lattice.grid, shifts={}, board=self.lattice.board)
            moved.shifts.update({at: moved.shift_of(at, pose) for at, pose in found.poses.items()})
            if len(lay) == 1 and named_as(moved, self.poses) is None and self._bare.shown(
                    appearance(frame.bgr, self.poses), self.attention) < ASTRAY.all_bare:
                return self.begin(frame, moved)  # this may be another one with its print, in a hand that is over it
            self.search.carry(found.moved)
            self.lattice, self._vain_s = moved, None
            look = self._look(frame, list(self.places()), whole=True)
            alone = {at: lay[at] for at in found.seen if not np.allclose(found.poses[at], lay[at])}
            return Followed(status="following", look=self._settled(frame.bgr, look, alone))
        likes = self.register.alike(frame.bgr, self.poses).values()  # also of those that are not due now
        if sum(like < self.attention.same for like in likes) < self.attention.arm_part * len(self.poses):
            return None  # an arm occludes some of them
        self._vain_s = self.stillness.now_s if self._vain_s is None else self._vain_s
        again = self.search.find(frame.bgr)
        sizes = [lattice.usual_side_px() for lattice in (again, self.lattice) if lattice is not None]
        if again is not None and abs(np.log(sizes[0] / sizes[1])) > self.attention.sized:
            again = None  # tiles do not change size
        if again is not None and (aligned := self.register.aligned(frame.bgr, again, self.poses)) is not None:
            self.lattice, self._vain_s = aligned, None
            return Followed(status="following", look=self._look(frame, list(self.places()), whole=True))
        if again is not None and len(again.shifts) >= self.attention.anew * len(self.poses):
            return self.begin(frame, again)  # as large, in another light: the reader of the game aligns it
        return Followed(status="lost" if self._since() > self.attention.lost_s else "moving", since_s=self._since())

    def _settled(self, bgr: Image, look: TableLook, lay: Mapping[Square, Array]) -> TableLook:
        """The look without tiles that moved by themselves (``lay``: where they were), but are not seen where they went,
        or only where one of these lies: what matched is a hand that was over them. They stay where they were."""
        assert self.lattice is not None and self.stillness is not None
        shifts, now, a = self.lattice.shifts, self.stillness.now_s, self.attention
        unseen = {at for at in lay if at not in shifts or at in look.squares and look.squares[at].there <= a.there}
        stayed = self.register.stayed(self.poses, lay, unseen)
        for at in stayed:
            shifts[at] = self.lattice.shift_of(at, lay[at])
            self._squares[at] = _Square(due_s=now + a.contradicted_s, covered=True, looked_s=now)
        if stayed:
            self.register.keep(bgr, self.poses, {})
        return replace(look, squares={at: s for at, s in look.squares.items() if at not in stayed})

    # -- looking ------------------------------------------------------------------------------------------------------

    def _look(self, frame: Frame, squares: Sequence[Square], *, whole: bool) -> TableLook:
        """Evidence about these squares; also updates the lattice."""
        assert self.lattice is not None and self.stillness is not None
        bgr, a, now = frame.bgr, self.attention, self.stillness.now_s
        lay = set(self.lattice.shifts)
        poses = {at: self.lattice.predict(at) for at in squares}
        board = self.lattice.board & poses.keys()
        evidence = self.sense.look(bgr, {at: pose for at, pose in poses.items() if at not in board})
        evidence |= {at: self.start.evidence(bgr, self.sense, at, poses[at]) for at in sorted(board)}
        levels = appearance(bgr, {at: e.pose for at, e in evidence.items()})
        bare = bare_evidence(evidence, levels, self._bare, a)
        tiles = {at: e for at, e in evidence.items() if e.there > a.there and e.seen > a.seen}
        for at in shown_twice(self.lattice, {at: e.pose for at, e in tiles.items()}, self.register.limits.own):
            evidence[at].seen = 0.0  # the tile there is the other square's: no evidence about this one
            del tiles[at]
            self.lattice.shifts.pop(at, None)
            lay.discard(at)
        for at, e in tiles.items():
            self.lattice.shifts[at] = self.lattice.shift_of(at, e.pose)
        for at, e in self._astray(bgr, {at: e for at, e in evidence.items() if at not in tiles}, levels, lay - board):
            evidence[at] = tiles[at] = e
            levels |= appearance(bgr, {at: e.pose})
            self.lattice.shifts[at] = self.lattice.shift_of(at, e.pose)
        if len(tiles) >= 4:
            self.lattice.refit(a.askew, a.straight)
        fresh = {at: e.pose for at, e in tiles.items()}
        figures = self.figures(bgr, fresh, self.lattice)
        if self.dial is not None and board:
            figures = self.dial.see(bgr, self.lattice, figures)
        for at in evidence:
            square = self._squares.setdefault(at, _Square())
            # a tile that was taken up, or never lay there, leaves the bare table: nothing is over that
            square.covered, square.stand = at in lay and at not in tiles and at not in bare, figures.get(at, ())
        self.sense.look_past(bgr, tiles, hidden := hidden_by({at: s.stand for at, s in self._squares.items()}))
        said = informed({at: e.loglik for at, e in tiles.items()}, self.sense.kinds, figures, hidden)
        for at, e in tiles.items():
            if at not in board:
                e.loglik = log_normal(said[at])
        piles: dict[Square, dict[str, StackLook]] = {}
        if self.stacks is not None:
            loglik = {at: e.loglik for at, e in tiles.items()}
            piles = self.stacks.look(bgr, fresh, loglik, self.sense.kinds, self.poses, figures)
            figures = self.stacks.past_blocks(bgr, fresh, piles, figures, self.poses)
        out = {}
        light = self._light(bgr, {at: levels[at] for at in evidence if at not in tiles and at not in lay})
        covered = {at for at, square in self._squares.items() if square.covered}
        for at, e in evidence.items():
            square = self._squares[at]
            square.due_s = now + a.twice_s if square.changed else None
            touched_s = 0.0 if square.touched_s is None else square.moved_s - square.touched_s
            square.changed, square.looked_s, square.touched_s = False, now, None
            seen = e.seen
            if at not in tiles:
                seen *= self._bare.part(at, levels[at], light, a, was=at in lay)
            plain = square_look(e, self.sense.kinds, seen, figures.get(at, ()) if at in tiles else None, a,
                                piles.get(at, {}), touched_s)
            out[at], held = in_hand(plain, at, covered, a)
            if held or at in self._resting.waiting:
                square.due_s = now + a.contradicted_s
        if self.dial is not None and board:
            out |= {at: replace(out[at], neutral=seen) for at, seen in self.dial.look(board).items()}
        self._squares = {at: self._squares[at] for at in self.places() if at in self._squares}
        self._bare.keep(self._squares, {at: levels[at] for at in tiles}, a)
        shown = {at: pose for at, pose in fresh.items() if at not in self.start.covered}  # a hand is no print
        self.register.keep(bgr, self.poses, shown, in_place=2 * len(lay & tiles.keys()) > len(lay & evidence.keys()))
        gaps_s = tuple((frame.t_s - now + a_s, frame.t_s - now + b_s) for a_s, b_s in self.stillness.gaps_s)
        self.stillness.gaps_s.clear()
        return TableLook(frame=frame.id, t_s=frame.t_s, squares=out, whole=whole, gaps_s=gaps_s,
                         board_number=self.search.number, beside=None if self.beside is None else self.beside.look(
                             bgr, self.lattice, self.stillness.lately(a.still_s), now))

    def _astray(self, bgr: Image, unseen: Mapping[Square, TileEvidence], levels: Mapping[Square, Levels],
                lay: Set[Square]) -> Iterator[tuple[Square, TileEvidence]]:
        """Tiles beside their places: those that ``lay``, even if they look like the table, and new ones."""
        assert self.lattice is not None and self.stillness is not None
        bare, a = self._bare, self.attention
        if not bare.squares or self.astray is None:
            return
        odd = [at for at, e in unseen.items() if e.seen > a.seen and at not in self.lattice.board and (
            at in lay or bare.square_part(at, levels[at], a) < ASTRAY.all_bare)]
        last_s = {at: self._squares.setdefault(at, _Square()).searched_s for at in odd}
        odd.sort(key=lambda at: (at not in self._resting.waiting, last_s[at], at))
        lain, new = ([at for at in odd if (at in lay) is was] for was in (True, False))
        for at in lain[:ASTRAY.squares] + new[:ASTRAY.squares]:
            self._squares[at].searched_s = self.stillness.now_s
            found = self.astray(bgr, self.lattice, at, partial(bare.is_bare, at, a=a, was=at in lay, share=ASTRAY.bare))
            if found is not None:
                odds = bare.texture_odds(at, appearance(bgr, {at: found.pose})[at], a)
                found.there += max(odds, a.bare_odds) + (0.0 if at in lay else ASTRAY.prior)
            if found is None or found.seen <= a.seen or found.there <= a.there:
                self._resting.gone(at)
            elif at in lay or self._resting.rests(self.lattice, at, found.pose, self.stillness.now_s):
                yield at, found

    def _due(self, square: _Square, now: float) -> bool:
        return (square.due_s is not None and square.due_s <= now) or now - square.looked_s > self.attention.again_s

    def _light(self, bgr: Image, open_: Mapping[Square, Levels]) -> Levels:
        """(4,) change of light since squares were seen bare: the median over all of them, including those not read now
        (``open_`` are), whose appearance is updated. What moves over a square is no light."""
        assert self.lattice is not None and self.stillness is not None
        known = {at: cells for at, cells in self._bare.squares.items() if at not in self.lattice.shifts}
        beside = {at: self.lattice.predict(at) for at in known if at not in open_}
        boxes = self.stillness.boxes(beside, self.attention.grow)
        restless = self.stillness.restless(boxes, self.attention.still_s) > self.stillness.pace.spare
        beside = {at: pose for (at, pose), moves in zip(beside.items(), restless, strict=True) if not moves}
        now = {**appearance(bgr, beside), **{at: cells for at, cells in open_.items() if at in known}}
        if len(now) < max(self.attention.table_least, self.attention.lit_part * len(known)):
            return np.zeros(4, np.float32)
        light = self._bare.light(now)
        for at in beside:
            self._bare.part(at, now[at], light, self.attention, was=False)
        return light

    def _status(self) -> str:
        if self.lattice is None:
            return "searching"
        return "lost" if self._since() > self.attention.lost_s else "following" if self._vain_s is None else "moving"

    def _since(self) -> float:
        return 0.0 if self._vain_s is None or self.stillness is None else self.stillness.now_s - self._vain_s
