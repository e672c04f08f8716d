"""Follows one board through frames and says what its squares show. Knows tiles and figures, and no game.

    searching -> (a board is found) -> following -> (movement) -> settling -> (still) -> looking -> following
                                            '-> (tiles are not where they lay) -> registered again, or lost

Attention is a queue: a square is due when something moved over it, when the board moved, and when it was not looked at
for long; it is looked at as soon as it has been still. All of it counts seconds, so that 2 and 30 pictures a second
give the same looks. Squares are named from the first tile found; how they lie in a game is not known here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np
import numpy.typing as npt

from scoring.tiles import Square, Tile
from vision.figures import Seen, find_figures
from vision.find import BoardFinder
from vision.frames import Frame, Image
from vision.lattice import UNIT, Array, Lattice, apply, inside, neighbours, rectify
from vision.looks import FigureLook, SquareLook, TableLook
from vision.occupancy import informed
from vision.paint import PAINTS
from vision.registration import Register
from vision.senses import TileEvidence, TileSense, log_normal
from vision.stillness import Stillness
from vision.tileset import TileSet
from vision.view import View

SURELY = 0.85  # mean probability of a board's tiles from which a game is begun with it; else people are asked
AROUND = (0.12, 0.2, 0.35, 0.6)  # of the picture's long side: how much of it is searched around a point
FigureReader = Callable[[Image, Mapping[Square, Array], Lattice], Mapping[Square, tuple[Seen, ...]]]
Finder = Callable[[Image], Lattice | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attention:
    """When to look. Seconds, tiles, parts of a square or of all tiles."""

    still_s: float = 0.45  # a square is looked at after so long without movement over it
    grow: float = 0.12  # tiles around a square in which movement counts
    touched: float = 0.01  # part of that which must have moved for the square to be due
    again_s: float = 25.0  # the whole board is looked at after so long without a look, as a photograph is
    twice_s: float = 1.2  # what changed is looked at once more after so long: one frame is one opinion
    search_s: float = 3.0  # between searches for a board that was not found
    search_still: float = 0.03  # part of the picture that may move meanwhile
    help_s: float = 15.0  # of a still picture without a board, before people are asked where it lies
    lost_s: float = 5.0  # of stillness without the board where it lay, before that is said
    moved_part: float = 0.3  # of the tiles, that differ from their snapshots: the board may have moved
    sized: float = 0.2  # logarithm by which the tiles of a lost board may look larger or smaller when it is found
    anew: float = 0.8  # of the tiles' number that a board must have to be taken for the one that was lost
    same: float = 0.55  # correlation with its snapshot from which a tile is where it was
    there: float = 0.0  # log-odds from which a square counts as one with a tile
    hidden_lab: float = 16.0  # Lab units from how the bare square or the table looked: something covers it
    bare_lab: float = 9.0  # Lab units within which a square's parts look as they did when it was bare
    bare_part: float = 0.95  # of its parts that must, for nothing to have come
    bare_odds: float = -6.0  # log-odds of a tile then
    table_odds: float = -4.0  # log-odds of a tile on a square that has the colours of the table and no others
    table_sigma: float = 3.0  # how far from the table's mean colour is still table
    table_least: int = 3  # bare squares that make a table's colours known
    figure_least: float = -2.0  # log-odds of a figure below which none was seen: noise is no sighting
    shown: int = 12  # readings of a tile that are handed on


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """What one frame came to. ``status``: searching, following, moving, lost; ``since_s`` for how long it has been
    lost or searching in vain while the picture was still; ``found`` that squares have new names from now on."""

    status: str
    look: TableLook | None = None
    since_s: float = 0.0
    found: bool = False


@dataclass(slots=True)
class _Square:
    """What is remembered of a square: when it is ``due`` (since something moved over it, None when it is not), when it
    was ``looked`` at last, and the colours (8, 8, 3) it had ``bare``."""

    due_s: float | None = None
    changed: bool = False
    looked_s: float = -np.inf
    bare: npt.NDArray[np.float32] | None = None


@dataclass(slots=True)
class Tracker:
    """One camera over one table. ``feed`` is deterministic and never raises on a frame."""

    sense: TileSense
    find: Finder
    figures: FigureReader
    attention: Attention = field(default_factory=Attention)
    register: Register = field(default_factory=Register)
    find_at: Callable[[Image, tuple[float, float]], Lattice | None] | None = None
    point_px: tuple[float, float] | None = None  # where people say that a tile lies, until it was looked for there
    lattice: Lattice | None = None  # of the tiles that lie
    stillness: Stillness | None = None
    _squares: dict[Square, _Square] = field(default_factory=dict)
    _shape: tuple[int, ...] = ()
    _searched_s: float = -np.inf
    _vain_s: float | None = None  # since when the picture is still and no board is seen where it should be

    @property
    def poses(self) -> dict[Square, Array]:
        """Pose of every tile that lies."""
        if self.lattice is None:
            return {}
        return {at: self.lattice.pose(at, shift) for at, shift in self.lattice.shifts.items()}

    def places(self) -> dict[Square, Array]:
        """Poses of the tiles and of the squares beside them."""
        assert self.lattice is not None
        return {at: self.lattice.predict(at) for at in sorted(self.lattice.shifts.keys()
                                                              | neighbours(self.lattice.shifts))}

    def feed(self, frame: Frame) -> Followed:
        """Look at one frame."""
        picture = frame.bgr if frame.luma is None else frame.luma
        if self.stillness is None or frame.shape[:2] != self._shape:
            self._resize(frame.shape)
        if not self.stillness.feed(picture, frame.t_s):
            return Followed(status=self._status(), since_s=self._since())
        if self.point_px is not None and self.find_at is not None:
            point, self.point_px = self.point_px, None
            pointed = self.find_at(frame.bgr, point)
            if pointed is not None:
                return self.begin(frame, pointed)
        if self.lattice is None:
            return self._search(frame)
        return self._follow(frame)

    def _resize(self, shape: tuple[int, ...]) -> None:
        """The first frame, or pictures of another size: what was known is mapped to it, and looked at again."""
        if self.lattice is not None and self._shape:
            larger = np.diag([shape[1] / self._shape[1], shape[0] / self._shape[0], 1.0])
            self.lattice.grid = larger @ self.lattice.grid
            self.register.resize(larger)
            self.recheck()
        begun_s = None if self.stillness is None else self.stillness.begun_s
        self.stillness, self._shape = Stillness(shape, begun_s=begun_s), shape[:2]
        self._searched_s, self._vain_s = -np.inf, None
        for square in self._squares.values():
            square.looked_s = -np.inf

    def drop(self, squares: Collection[Square]) -> None:
        """People said that no tile lies there."""
        if self.lattice is not None and len(self.lattice.shifts) > len(squares):
            for at in squares:
                self.lattice.shifts.pop(at, None)

    def lay(self, squares: Collection[Square]) -> None:
        """People said that a tile lies there: it is followed where it is expected."""
        if self.lattice is not None:
            for at in squares:
                if at not in self.lattice.shifts:
                    self.lattice.shifts[at] = self.lattice.shift_of(at, self.lattice.predict(at))

    def recheck(self) -> None:
        """Look at the whole board once more as soon as it is still."""
        for at in self._squares:
            self._squares[at].due_s = -np.inf

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
        lattice = self.find(frame.bgr)
        if lattice is None or not lattice.shifts:
            return Followed(status="searching", since_s=self._since())
        return self.begin(frame, lattice)

    def begin(self, frame: Frame, lattice: Lattice) -> Followed:
        """Follow this board from now on: it was found, or people said where it lies."""
        self.lattice, self._squares, self._vain_s = lattice, {}, None
        self.register = Register(self.register.limits)
        return Followed(status="following", look=self._look(frame, list(self.places()), whole=True), found=True)

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
                    square.due_s, square.changed = now, True
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
        """Some squares that are due are still: is the board where it was, and what do they show?"""
        assert self.lattice is not None and self.stillness is not None
        a, now, poses = self.attention, self.stillness.now_s, self.poses
        asked = {at: poses[at] for at in ready if at in poses}
        likes = self.register.alike(frame.bgr, asked)
        differ = [at for at, like in likes.items() if like < a.same]
        few = max(1.0, min(2.0, a.moved_part * len(poses)))
        if len(differ) >= max(few, a.moved_part * len(likes)):
            if now - self._searched_s < a.search_s / 3 or (
                    waiting > 0.5 * len(self._squares) and self._vain_s is None):
                return Followed(status=self._status(), since_s=self._since())  # let it come to rest
            self._searched_s = now
            whole = self._register(frame, differ)
            if whole is not None:
                return whole
        self._vain_s = None
        return Followed(status="following", look=self._look(frame, ready, whole=False))

    def _register(self, frame: Frame, differ: Sequence[Square]) -> Followed | None:
        """Where the tiles lie now; None when they lie where they lay and only some look otherwise."""
        assert self.lattice is not None and self.stillness is not None
        found = self.register.find(frame.bgr)
        if found is not None:
            if float(np.abs(found.moved - np.eye(3)).max()) < 1e-9 and set(found.poses) and all(
                    np.allclose(found.poses[at], pose) for at, pose in self.poses.items()):
                return None
            grid = found.moved @ self.lattice.grid
            self.lattice = Lattice(grid=grid, shifts={})
            for at, pose in found.poses.items():
                self.lattice.shifts[at] = self.lattice.shift_of(at, pose)
            self._vain_s = None
            return Followed(status="following", look=self._look(frame, list(self.places()), whole=True))
        if len(differ) < 0.7 * len(self.poses):
            return None  # an arm lies over some of them
        if self._vain_s is None:
            self._vain_s = self.stillness.now_s
        again = self.find(frame.bgr)
        if again is not None and abs(np.log(_side(again) / _side(self.lattice))) > self.attention.sized:
            again = None  # tiles do not grow or shrink
        if again is not None and (aligned := self._aligned(frame.bgr, again)) is not None:
            self.lattice, self._vain_s = aligned, None
            return Followed(status="following", look=self._look(frame, list(self.places()), whole=True))
        if again is not None and len(again.shifts) >= self.attention.anew * len(self.poses):
            return self.begin(frame, again)  # a board as large in another light: whoever reads the game tells where
        return Followed(status="lost" if self._since() > self.attention.lost_s else "moving", since_s=self._since())

    def _aligned(self, bgr: Image, found: Lattice) -> Lattice | None:
        """A board that was found anew, its squares named as before: by the snapshots of its tiles."""
        known = self.register
        best: tuple[int, Lattice] | None = None
        squares, lay = list(found.shifts), self.poses
        for quarter in range(4):
            turned = [turned_square(at, quarter) for at in squares]
            shifts = {(t[0] - n[0], t[1] - n[1]) for t in lay for n in turned[:12]}
            for dx, dy in shifts:
                def to(at: Square, q: int = quarter, dx: int = dx, dy: int = dy) -> Square:
                    x, y = turned_square(at, q)
                    return x + dx, y + dy

                if sum(to(at) in lay for at in squares) < 0.5 * min(len(squares), len(lay)):
                    continue
                lattice = renamed(found, to, quarter)
                poses = {at: lattice.pose(at, s) for at, s in lattice.shifts.items() if at in lay}
                likes = known.alike(bgr, poses)
                count = sum(like > known.limits.same for like in likes.values())
                if best is None or count > best[0]:
                    best = count, lattice
        few = min(len(lay), len(squares))
        if best is None or best[0] < max(min(2, few), known.limits.agree * few):
            return None
        lattice = best[1]
        for at in lay.keys() - lattice.shifts.keys():
            lattice.shifts[at] = lattice.shift_of(at, lattice.predict(at))
        return lattice

    # -- looking ------------------------------------------------------------------------------------------------------

    def _look(self, frame: Frame, squares: Sequence[Square], *, whole: bool) -> TableLook:
        """Evidence about these squares, and the lattice bent to what they show."""
        assert self.lattice is not None and self.stillness is not None
        bgr, a, now = frame.bgr, self.attention, self.stillness.now_s
        lay = set(self.lattice.shifts)
        poses = {at: self.lattice.predict(at) for at in squares}
        evidence = self.sense.look(bgr, poses)
        levels = self._levels(bgr, evidence)
        self._table(evidence, levels)
        tiles = {at: e for at, e in evidence.items() if e.there > a.there and e.seen > 0.5}
        for at, e in tiles.items():
            self.lattice.shifts[at] = self.lattice.shift_of(at, e.pose)
        if len(tiles) >= 4:
            self._bend()
        figures = self.figures(bgr, {at: e.pose for at, e in tiles.items()}, self.lattice)
        said = informed({at: e.loglik for at, e in tiles.items()}, self.sense.kinds, figures)
        for at, e in tiles.items():
            e.loglik = log_normal(said[at])
        out = {}
        for at, e in evidence.items():
            square = self._squares.setdefault(at, _Square())
            square.due_s = now + a.twice_s if square.changed else None
            square.changed, square.looked_s = False, now
            seen = e.seen
            if at not in tiles:
                seen *= self._bareness(square, levels[at], levels, was=at in lay)
            out[at] = _square_look(e, self.sense.kinds, seen,
                                  tuple(f.look for f in figures.get(at, ()) if f.look.there > a.figure_least)
                                  if at in tiles else None, a.shown)
        beside = neighbours(self.lattice.shifts)
        self._squares = {at: s for at, s in self._squares.items() if at in self.lattice.shifts or at in beside}
        fresh = {at: e.pose for at, e in tiles.items()}
        self.register.keep(bgr, self.poses, fresh)
        return TableLook(frame=frame.id, t_s=frame.t_s, squares=out, whole=whole)

    def _due(self, square: _Square, now: float) -> bool:
        return (square.due_s is not None and square.due_s <= now) or now - square.looked_s > self.attention.again_s

    def _bend(self) -> None:
        """Fit the perspective of the whole board anew, so that far squares are predicted well."""
        assert self.lattice is not None
        poses = self.poses
        steps = np.concatenate([UNIT + at for at in poses])
        pixels = np.concatenate([apply(pose, UNIT) for pose in poses.values()])
        grid, _ = cv2.findHomography(steps, pixels, 0)
        if grid is not None:
            self.lattice.grid = grid
            for at, pose in poses.items():
                self.lattice.shifts[at] = self.lattice.shift_of(at, pose)

    def _table(self, evidence: Mapping[Square, TileEvidence], levels: Mapping[Square, npt.NDArray[np.float32]]) -> None:
        """The bare table speaks against a tile: a square that looks as it did when it was bare, or that has the table's
        colours and no others. A table of the tiles' own colours says nothing."""
        a = self.attention
        bare = [s.bare for s in self._squares.values() if s.bare is not None]
        like = (lambda colours: False) if len(bare) < a.table_least else _table_like(np.array(bare), a)
        lying = [levels[at] for at, e in evidence.items() if e.there > 3.0]
        if lying and sum(like(colours) for colours in lying) > 0.05 * len(lying):
            like = lambda colours: False  # noqa: E731
        for at, e in evidence.items():
            square = self._squares.get(at)
            own = None if square is None else square.bare
            if own is not None and float((_apart(levels[at], own) < a.bare_lab).mean()) > a.bare_part:
                e.there = min(e.there, e.there + a.bare_odds)
            elif e.there < 4.0 and like(levels[at]):
                e.there += a.table_odds

    @staticmethod
    def _levels(bgr: Image, evidence: Mapping[Square, TileEvidence]) -> dict[Square, npt.NDArray[np.float32]]:
        """(8, 8, 3) Lab colours of each square."""
        return {at: cv2.cvtColor(rectify(bgr, e.pose, 8).astype(np.float32) / 255, cv2.COLOR_BGR2Lab)
                for at, e in evidence.items()}

    def _bareness(self, square: _Square, colours: npt.NDArray[np.float32],
                  levels: Mapping[Square, npt.NDArray[np.float32]], *, was: bool) -> float:
        """How much of a square on which no tile is seen is the bare table: an arm over it hides what lies there."""
        table = square.bare
        if table is None:
            others = [s.bare for at, s in self._squares.items() if s.bare is not None and s is not square]
            if was and others:
                table = np.median(np.array(others), axis=(0, 1, 2)) * np.ones((8, 8, 1), np.float32)
            elif not was:
                square.bare = colours
                return 1.0
        if table is None:
            return 0.0 if was else 1.0
        part = float((_apart(colours, table) < self.attention.hidden_lab).mean())
        if part > 0.8:
            square.bare = colours  # light changes slowly
        return part

    def _status(self) -> str:
        if self.lattice is None:
            return "searching"
        return "lost" if self._since() > self.attention.lost_s else "following" if self._vain_s is None else "moving"

    def _since(self) -> float:
        return 0.0 if self._vain_s is None or self.stillness is None else self.stillness.now_s - self._vain_s


def _side(lattice: Lattice) -> float:
    """A tile's usual side in the picture, px."""
    return float(np.median([lattice.side_px(at) for at in lattice.shifts]))


def _apart(one: npt.NDArray[np.float32], other: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """(8, 8) how far colours are apart; light counts half."""
    return np.asarray(np.linalg.norm((one - other) * (0.5, 1.0, 1.0), axis=-1), float)


def _table_like(bare: npt.NDArray[np.float32], a: Attention) -> Callable[[npt.NDArray[np.float32]], bool]:
    """Whether a square has the colours of bare ones (N, 8, 8, 3) and no others."""
    cells = bare.reshape(-1, 3).astype(float)
    mean, spread = cells.mean(axis=0), np.cov(cells.T) + np.diag([4.0, 1.0, 1.0])
    inverse = np.linalg.inv(spread)

    def like(colours: npt.NDArray[np.float32]) -> bool:
        off = colours.reshape(-1, 3) - mean
        far = np.sqrt(np.einsum("ni,ij,nj->n", off, inverse, off))
        return float((far < a.table_sigma).mean()) > a.bare_part

    return like


def turned_square(at: Square, quarter: int) -> Square:
    """A square's name after the board was named anew, ``quarter`` turns clockwise."""
    x, y = at
    for _ in range(quarter % 4):
        x, y = -y, x
    return x, y


def renamed(lattice: Lattice, to: Callable[[Square], Square], quarter: int) -> Lattice:
    """The same board with other names for its squares: ``to`` is `turned_square` by ``quarter`` and a shift."""
    zero = to((0, 0))
    back = np.linalg.inv(np.linalg.matrix_power(np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]]), quarter % 4))
    # the middle of square (x, y) is at (x + 0.5, y + 0.5): turn about the first square's middle
    middle = np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0, 1.0]])
    away = np.array([[1, 0, -0.5 - zero[0]], [0, 1, -0.5 - zero[1]], [0, 0, 1.0]])
    grid = lattice.grid @ middle @ back @ away
    out = Lattice(grid=grid, shifts={})
    turn = np.linalg.matrix_power(np.array([[0.0, 1, 0], [-1, 0, 0], [0, 0, 1]]), quarter % 4)
    spin = middle @ turn @ np.linalg.inv(middle)
    for at, shift in lattice.shifts.items():
        out.shifts[to(at)] = out.shift_of(to(at), lattice.pose(at, shift) @ spin)
    return out


def _square_look(evidence: TileEvidence, kinds: Sequence[Tile], seen: float, figures: tuple[FigureLook, ...] | None,
                 most: int) -> SquareLook:
    order = np.argsort(-evidence.loglik, axis=None)
    listed = {(kinds[n // 4].id, int(n % 4)): float(evidence.loglik.flat[n]) for n in order[:most]}
    rest = order[most:]
    left = float(np.logaddexp.reduce(evidence.loglik.flat[rest]) - np.log(len(rest))) if len(rest) else -20.0
    return SquareLook(there=evidence.there, seen=float(np.clip(seen, 0, 1)), tiles=listed, rest=max(left, -20.0),
                      figures=figures)


def visible(shape: Sequence[int], pose: Array) -> float:
    """Part of a square that lies in a picture of that shape."""
    return float(inside(shape, pose, 8).mean())


def make_tracker(kinds: Sequence[Tile], tiles: TileSet | None, colours: Sequence[str], view: View | None) -> Tracker:
    """A tracker for a table on which these kinds and figures of these colours may lie."""
    finder = BoardFinder(kinds, tiles)
    paints = {**PAINTS, **(view.paints if view is not None else {})}
    known = [c for c in colours if c in paints]  # a paint that nobody has described cannot be seen

    def find(bgr: Image) -> Lattice | None:
        found = finder.find(bgr)
        if found is None or float(np.mean(list(found.present.values()))) < SURELY:
            return None
        return found.lattice

    def find_at(bgr: Image, point: tuple[float, float]) -> Lattice | None:
        """Looked for in ever larger parts of the picture around the point: less competes with it there."""
        for part in AROUND:
            half = part * max(bgr.shape[:2]) / 2
            x0, y0 = (max(0, round(v - half)) for v in point)
            found = finder.find(np.ascontiguousarray(bgr[y0:round(point[1] + half), x0:round(point[0] + half)]))
            away = np.array([[1, 0, x0], [0, 1, y0], [0, 0, 1.0]])
            if found is not None and any(_on(away @ pose, point) for pose in found.poses.values()):
                return Lattice(grid=away @ found.lattice.grid, shifts=dict(found.lattice.shifts))
        return None

    def figures(bgr: Image, poses: Mapping[Square, Array], lattice: Lattice) -> Mapping[Square, tuple[Seen, ...]]:
        board = {at: lattice.pose(at, shift) for at, shift in lattice.shifts.items()}
        return find_figures(bgr, poses, colours=known, view=view, board=board)

    return Tracker(TileSense(kinds, tiles), find, figures, find_at=find_at)


def _on(pose: Array, point: tuple[float, float]) -> bool:
    """Whether a point of the picture lies on a tile, or just beside it."""
    step = apply(np.linalg.inv(pose), [point])[0]
    return bool((np.abs(step - 0.5) < 0.65).all())
