"""Tiles that do not lie where their neighbours let them be expected: laid carelessly, or pushed while a hand lay over
them. Every tile has a pose of its own; the lattice is only where it is looked for first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from scoring.tiles import Square
from vision.background import Levels, appearance
from vision.frames import Image
from vision.lattice import Array, Lattice, apply, neighbours
from vision.senses import TileEvidence, TileSense, pulled


@dataclass(frozen=True, slots=True, kw_only=True)
class AstrayLimits:
    """Lengths in tiles. The network finds a tile whose middle is up to 0.25 off, so steps of that length cover all
    (measured: simulated tables, hard)."""

    reach: float = 0.5  # how far a tile is looked for from where it is expected; further away it is another square's
    step: float = 0.25  # between the places that are tried
    off: float = 0.6  # how far its middle may be then: a place has an error, too
    solid: float = 0.85  # least distance of its middle from other tiles' (`RegistrationLimits.solid`)
    all_bare: float = 0.85  # share of a square that looks like the bare table, above which nothing lies near there
    bare: float = 0.6  # share of a place that looks like the bare table, above which no tile lies there
    likely: float = 0.5  # the network's probability of a tile from which a place is examined closely
    pulls: int = 2  # more refinements of it to its corners: a turned one needs some
    prior: float = -2.5  # log-odds of a new tile so far off: most things beside a board are none (chosen)
    rests_s: float = 4.0  # a new one must lie so long before it counts: hands hold tiles still (chosen)
    same: float = 0.05  # farther than this from where it was found before it has moved
    squares: int = 1  # that are searched in a look, of tiles that lay and of new ones: least recently searched first


ASTRAY = AstrayLimits()
IsBare = Callable[[Levels], bool]  # whether a place with this appearance (8, 8, 4) is bare table
AstrayFinder = Callable[[Image, Lattice, Square, IsBare], TileEvidence | None]


class Resting:
    """New tiles found beside their places, and since when each lies there. Hands hold tiles still beside the board for
    a moment, and a tile that lies nearer to another square is that one's."""

    def __init__(self) -> None:
        self._since: dict[Square, tuple[float, Array]] = {}
        self.waiting: set[Square] = set()  # those that have not lain long enough

    def rests(self, lattice: Lattice, at: Square, pose: Array, now_s: float) -> bool:
        """Whether the tile found for a square is that square's and has lain there for long enough."""
        off = np.array(lattice.shift_of(at, pose)[:2])
        self.waiting.discard(at)
        if _nearest(lattice, at, pose) != at:
            self._since.pop(at, None)
            return False
        since_s, before = self._since.get(at, (now_s, off))
        if np.linalg.norm(off - before) > ASTRAY.same:
            since_s, before = now_s, off
        self._since[at] = since_s, before
        if now_s - since_s >= ASTRAY.rests_s:
            return True
        self.waiting.add(at)
        return False

    def gone(self, at: Square) -> None:
        """Nothing was found for a square."""
        self._since.pop(at, None)
        self.waiting.discard(at)


def found_astray(sense: TileSense, bgr: Image, lattice: Lattice, at: Square, is_bare: IsBare,
                 ) -> TileEvidence | None:
    """The tile of a square that is not seen in its place, where it lies near there: around that place, or around where
    its neighbours let it be expected, but not where the table is bare. None if there is none, or only those of other
    squares."""
    def bare(pose: Array) -> bool:
        return is_bare(appearance(bgr, {at: pose})[at])

    starts = [lattice.predict(at), *([lattice.expected(at)] if at in lattice.shifts else [])]
    others = np.array([_middle(lattice, lattice.pose(square, shift)) for square, shift in lattice.shifts.items()
                       if square != at]).reshape(-1, 2)
    steps = np.arange(-ASTRAY.reach, ASTRAY.reach + ASTRAY.step / 2, ASTRAY.step)
    tried = [start @ np.array([[1, 0, x], [0, 1, y], [0, 0, 1.0]]) for start in starts for y in steps for x in steps]
    tried = [pose for pose in tried if _apart(_middle(lattice, pose), others) > ASTRAY.solid / 2
             and not bare(pose)]
    near = [pulled(pose, corners) for pose, corners in zip(tried, sense.said(bgr, tried).corners, strict=True)]
    expected = np.array([_middle(lattice, pose) for pose in starts])
    near = [pose for pose in near if _apart(_middle(lattice, pose), others) > ASTRAY.solid
            and _apart(_middle(lattice, pose), expected) < ASTRAY.off]
    if not near:
        return None
    said = sense.said(bgr, near)
    best = int(said.present.argmax())
    if said.present[best] < ASTRAY.likely:
        return None
    pose = pulled(near[best], said.corners[best])
    for _ in range(ASTRAY.pulls):
        pose = pulled(pose, sense.said(bgr, [pose]).corners[0])
    evidence = sense.look(bgr, {at: pose})[at]
    if _apart(_middle(lattice, evidence.pose), others) <= ASTRAY.solid or bare(evidence.pose):
        return None
    return evidence


def _nearest(lattice: Lattice, at: Square, pose: Array) -> Square:
    """The free square at or beside this one whose tile would be expected nearest to a pose, as its neighbours lie: they
    may lie off the grid themselves."""
    middle = _middle(lattice, pose)
    free = (neighbours(lattice.shifts) & {(at[0] + x, at[1] + y) for x in (-1, 0, 1) for y in (-1, 0, 1)}) | {at}
    return min(sorted(free), key=lambda s: float(np.linalg.norm(_middle(lattice, lattice.predict(s)) - middle)))


def _middle(lattice: Lattice, pose: Array) -> Array:
    """A pose's middle (2,), in steps of the lattice."""
    return np.asarray(apply(np.linalg.inv(lattice.grid), apply(pose, [(0.5, 0.5)]))[0], float)


def _apart(middle: Array, others: Array) -> float:
    """The distance of a point (2,) from the nearest of these (N, 2)."""
    return float(np.linalg.norm(others - middle, axis=1).min(initial=np.inf))
