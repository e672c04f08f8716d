"""The board in a picture, wherever it lies and whoever drew its tiles: one tile alone or a table full of them.

Spots (`vision.spotting`) are tiles seen one by one. Those that continue each other are joined into candidates for a
board; the network that knows tiles (`vision.structure`) pulls each of them onto its corners and looks from the known
ones outwards for more. Every tile keeps its own pose, and the next is expected where its neighbours point, so rows may
fan out. Pictures that were taught give more spots; what comes after is the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from scoring.tiles import Square, Tile
from vision.frames import Image
from vision.keypoints import SightingFinder
from vision.lattice import UNIT, Array, Lattice, apply, area, inside, neighbours, rectify
from vision.spotting import Spot, Spotter
from vision.structure import CROP_PX, MARGIN, Said, StructureNet
from vision.tileset import TileSet

TILE_PX = CROP_PX / (1 + 2 * MARGIN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What the finder believes. Distances in tiles; found on invented tables and held against real ones."""

    off: float = 0.3  # how far a spot may lie from where its neighbour points
    size: float = 0.28  # logarithm by which neighbours may differ in size
    turn: float = 0.3  # radians by which neighbours may be turned against each other
    seen: float = 0.48  # part of a square that must lie in the picture for it to be asked about
    hint: float = 0.25  # probability of a tile, as the network says it at first sight, below which nothing lies there
    reach: float = 0.4  # how far a corner may lie from where it is expected
    moved: float = 0.3  # how far a middle may lie from where it is expected
    exact: float = 0.05  # corners so close need no second look
    likely: float = 0.3  # probability of a tile, as the network says it, at second sight
    kept: float = -0.8  # log-odds of a tile of a board
    lone: float = 0.6  # and of its surest by itself, or
    many: int = 6  # so many tiles that hang together, with
    agreed: float = 0.6  # sides that agree so well
    candidates: int = 4  # boards that are looked at closely
    share: float = 0.15  # of the best candidate's weight below which another is not looked at
    rounds: int = 3  # times that a board is gone over while tiles of it lie uneasily
    firm: float = 0.9  # probability of a tile, and
    ajar: float = 0.12  # how far its corners may lie off, for it to lie well
    largest: int = 30  # rings around what was seen at first
    again: float = 0.6  # of a board's squares that must still hold tiles for it to lie where it lay
    spots: int = 64  # that are looked at closely
    best: int = 28  # of them in each of these sizes, since tiles draw to themselves what is larger than they are
    grows: tuple[float, ...] = (1.0, 1.5)
    pulls: int = 4  # times that each is drawn to its corners
    faint: tuple[float, ...] = (0.004, 0.06, 0.3)  # probability of a tile below which a spot is given up, each time
    astray: float = 0.5  # and how far its corners may lie off then
    sure: float = 0.7  # probability of a tile with which a board may begin
    settled: float = 0.12  # and how little its corners may still move
    straight: float = 0.15  # how far a corner may lie off what the others of its part say
    structure: tuple[float, float] = (0.8, 7.0)  # weight of the network's log-odds, and where they mean nothing
    spotted: tuple[float, float] = (1.0, 0.5)  # the same of the spots' log-odds
    beside: tuple[float, ...] = (0.0, 4.0, 5.0)  # log-odds by how many tiles lie beside it, the last for more
    joint: float = 1.0  # log-odds that each more tile of a board adds to it
    votes: float = 6.0  # keypoints that make a sighting as sure as a spot of even odds


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A board as it lies. ``poses`` (3, 3) of the squares with a tile, ``present`` how likely a tile lies on each,
    ``evidence`` (K, 4) log-likelihoods of each kind and quarter turn from its structure alone; ``refused`` are the
    squares beside them and how likely a tile seemed there."""

    lattice: Lattice
    poses: Mapping[Square, Array]
    present: Mapping[Square, float]
    evidence: Mapping[Square, Array]
    refused: Mapping[Square, float]
    worth: float  # how much speaks for it: its tiles' log-odds, as far as their sides agree
    covers: float  # px of the picture, as far as the same goes


class BoardFinder:
    """Finds boards. ``kinds`` are those that ``evidence`` speaks of. Not to be shared between threads."""

    def __init__(self, kinds: Sequence[Tile], tileset: TileSet | None = None, limits: Limits | None = None) -> None:
        self.kinds = tuple(kinds)
        self.limits = limits or Limits()
        self._net = StructureNet()
        self._spotter = Spotter()
        self._tileset = tileset if tileset is not None and not tileset.drawn else None
        self._sightings: SightingFinder | None = None

    def find(self, bgr: Image, *, near: Lattice | None = None) -> Found | None:
        """The board on a BGR picture, or None. ``near`` is a board as it lay before: it is tried first, and when it
        still lies about there its squares keep their names."""
        if near is not None and (again := self._again(bgr, near)) is not None:
            return again
        parts = joined(self._pulled(bgr, self._spotter.spots(bgr)), self.limits)
        if not parts and self._tileset is not None:  # nothing looks like a tile: then like one that was taught
            parts = joined(self._seen(bgr), self.limits)
        return self._best(bgr, parts)

    def _best(self, bgr: Image, parts: list[dict[Square, Spot]]) -> Found | None:
        """Of the boards that these grow to, the one for which most speaks."""
        best: Found | None = None
        limits = self.limits
        for part in parts[:limits.candidates]:
            if _weight(part.values()) < limits.share * _weight(parts[0].values()):
                break
            if best is not None and _covered(part.values(), best):
                continue
            found = self._grown(bgr, part)
            # A quarter of a tile may look like a tile: then tiles of twice its size cover more, and their sides agree.
            for larger in joined(self._pulled(bgr, _doubled(found.poses.values())), limits)[:1] if found else ():
                other = self._grown(bgr, larger)
                if other is not None and found is not None and other.covers > found.covers:
                    found = other
            if found is not None and found.worth > (0.0 if best is None else best.worth):
                best = found
        return best

    def ask(self, bgr: Image, poses: Iterable[Array], *, turns: int = 1) -> Said:
        """What the network says of the squares of these poses."""
        crops = [rectify(bgr, pose, TILE_PX, MARGIN) for pose in poses]
        return self._net.ask(np.array(crops) if crops else np.zeros((0, CROP_PX, CROP_PX, 3), np.uint8), turns=turns)

    # --- where to begin

    def _again(self, bgr: Image, near: Lattice) -> Found | None:
        self._spotter.spots(bgr)
        board = _Board({}, near)
        squares = sorted(at for at in near.shifts if _visible(bgr.shape, near.predict(at)) > self.limits.seen)
        if not squares:
            return None
        self._settle(bgr, board, squares)
        if len(board.corners) < max(1.0, self.limits.again * len(squares)):
            return None
        return self._finished(bgr, board)

    def _seen(self, bgr: Image) -> list[Spot]:
        """Taught pictures that are seen, as spots."""
        assert self._tileset is not None
        if self._sightings is None:
            self._sightings = SightingFinder(self._tileset)
        return [Spot(middle=s.centre, u=s.pose[:, 0].copy(), v=s.pose[:, 1].copy(),
                     likely=s.votes / (s.votes + self.limits.votes)) for s in self._sightings.find(bgr)]

    def _pulled(self, bgr: Image, spots: Sequence[Spot]) -> list[Spot]:
        """The likeliest spots, drawn to the corners that the network sees, as far as it takes them for tiles."""
        limits = self.limits
        poses = [_scaled(_posed(spot), grow) for grow in limits.grows for spot in spots[:limits.best]]
        poses += [_posed(spot) for spot in spots[limits.best:limits.spots]]
        likely = np.zeros(0)
        for turn in range(limits.pulls):
            if not poses:
                return []
            said = self.ask(bgr, poses)
            off = np.abs(said.corners - UNIT).max(axis=(1, 2))
            last = turn == limits.pulls - 1
            good = np.flatnonzero((said.present > (limits.sure if last else limits.faint[turn]))
                                  & (off < (limits.settled if last else limits.astray)))
            poses = [_regular(poses[n] @ _pose_of(said.corners[n])) for n in good]
            likely = said.present[good]
            poses, likely = _apart(poses, likely)
        spotted = [_spot(pose, float(p)) for pose, p in zip(poses, likely, strict=True)]
        return [replace(s, likely=s.likely * _probability(self._spotter.odds(s.middle, s.side))) for s in spotted]

    # --- growing

    def _grown(self, bgr: Image, part: Mapping[Square, Spot]) -> Found | None:
        board = _Board({at: apply(_posed(spot), UNIT) for at, spot in _agreeing(part, self.limits).items()},
                       Lattice(grid=np.eye(3)))
        board.fit()
        seeds = sorted(board.corners)
        board.corners.clear()
        if len(seeds) > 2:
            board.lattice.shifts.clear()  # together they know better where each lies
        self._settle(bgr, board, seeds)
        return self._finished(bgr, board)

    def _finished(self, bgr: Image, board: _Board) -> Found | None:
        """Grow to all sides, look closely at what was found and keep what hangs together."""
        limits = self.limits
        for again in range(limits.rounds):
            self._spread(bgr, board)
            order = sorted(board.corners)
            if not order:
                return None
            said = self.ask(bgr, [board.lattice.predict(at) for at in order], turns=4)
            off = np.abs(said.corners - UNIT).max(axis=(1, 2))
            for n, at in enumerate(order):
                if said.present[n] > limits.likely and off[n] < limits.reach:
                    board.corners[at] = apply(board.lattice.predict(at), said.corners[n])
            loose = [at for n, at in enumerate(order) if said.present[n] < limits.firm or off[n] > limits.ajar]
            poses = {at: board.lattice.predict(at) for at in order}
            if not loose or again == limits.rounds - 1:
                break
            for at in loose:  # once more, from where its neighbours point
                del board.corners[at]
            board.asked = {at: p for at, p in board.asked.items() if at in board.corners}
            board.fit()
        board.fit()
        poses = {at: board.lattice.predict(at) for at in order}
        odds = self._odds(poses, dict(zip(order, said.present, strict=True)))
        kept = _largest((at for at in order if odds[at] > limits.kept), {at: 1.0 for at in order})
        odds = self._odds({at: poses[at] for at in kept}, dict(zip(order, said.present, strict=True)))
        rows = {at: n for n, at in enumerate(order)}
        agreement = _agreement(kept, rows, said)
        own = {at: odds[at] - limits.beside[min(len(neighbours([at]) & kept), len(limits.beside) - 1)] for at in kept}
        if not kept or (max(own.values()) < limits.lone and (len(kept) < limits.many or agreement < limits.agreed)):
            return None
        evidence = dict(zip(order, said.loglik(self.kinds), strict=True))
        beside = neighbours(kept)
        doubt = {at: p for at, p in board.asked.items() if at in beside}
        near = self._odds({at: board.lattice.predict(at) for at in doubt}, doubt, kept)
        board.lattice.shifts = {at: s for at, s in board.lattice.shifts.items() if at in kept}
        return Found(lattice=board.lattice, poses={at: poses[at] for at in sorted(kept)},
                     present={at: _probability(odds[at]) for at in kept}, evidence={at: evidence[at] for at in kept},
                     refused={at: _probability(o) for at, o in near.items()},
                     worth=sum(limits.joint + min(o, 5.0) for o in own.values()) * agreement,
                     covers=sum(_probability(odds[at]) * abs(area(apply(poses[at], UNIT))) for at in kept) * agreement)

    def _odds(self, poses: Mapping[Square, Array], present: Mapping[Square, float],
              tiles: Iterable[Square] | None = None) -> dict[Square, float]:
        """Log-odds that a tile lies there, from what both networks say and how many of the others lie beside it."""
        limits = self.limits
        taken = set(poses if tiles is None else tiles)
        found = {}
        for at, pose in poses.items():
            likely = float(np.clip(present[at], 1e-6, 1 - 1e-6))
            odds = limits.structure[0] * (np.log(likely / (1 - likely)) - limits.structure[1])
            middle = apply(pose, [[0.5, 0.5]])[0]
            spotted = self._spotter.odds(middle, float(np.sqrt(abs(area(apply(pose, UNIT))))))
            odds += limits.spotted[0] * (spotted - limits.spotted[1])
            count = len(neighbours([at]) & taken)
            found[at] = float(odds + limits.beside[min(count, len(limits.beside) - 1)])
        return found

    def _spread(self, bgr: Image, board: _Board) -> None:
        """From the tiles that are known to all sides, ring by ring."""
        board.fit()
        for _ in range(self.limits.largest):
            waiting = sorted(neighbours(board.corners) - board.asked.keys())
            waiting = [at for at in waiting if _visible(bgr.shape, board.lattice.predict(at)) > self.limits.seen]
            if not waiting or not self._settle(bgr, board, waiting):
                break
            board.fit()

    def _settle(self, bgr: Image, board: _Board, squares: Sequence[Square]) -> bool:
        """Which of these squares hold a tile; where each lies goes into the board. Whether any does."""
        limits, lattice = self.limits, board.lattice
        expected = {at: lattice.predict(at) for at in squares}
        poses = dict(expected)
        came = False
        for second in (False, True):
            order = list(poses)
            if not order:
                break
            said = self.ask(bgr, [poses[at] for at in order])
            for n, at in enumerate(order):
                likely = float(said.present[n])
                board.asked[at] = likely
                off = float(np.abs(said.corners[n] - UNIT).max())
                pose = poses.pop(at)
                if likely < (limits.likely if second else limits.hint) or off > limits.reach:
                    board.corners.pop(at, None)
                    continue
                corners = apply(pose, said.corners[n])
                drawn = apply(np.linalg.inv(expected[at]), corners)
                if np.abs(drawn.mean(axis=0) - 0.5).max() > limits.moved or not 0.7 < area(drawn) < 1.4:
                    continue
                if second or (off < limits.exact and likely > limits.likely):
                    board.corners[at] = corners
                    came = True
                else:
                    poses[at] = lattice.pose(at, lattice.shift_of(at, _pose_of(corners)))
        return came


class _Board:
    """Tiles by their corners (4, 2) px while a board grows, and the lattice through them."""

    def __init__(self, corners: dict[Square, Array], lattice: Lattice) -> None:
        self.corners = corners
        self.lattice = lattice
        self.asked: dict[Square, float] = {}

    def fit(self) -> None:
        """The lattice that the corners lie on, each tile displaced and turned as it is."""
        if not self.corners:
            return
        grid = _fitted(self.corners)
        if grid is not None:
            self.lattice = Lattice(grid=grid)
        self.lattice.shifts = {at: self.lattice.shift_of(at, _pose_of(c)) for at, c in self.corners.items()}


def joined(spots: Sequence[Spot], limits: Limits) -> list[dict[Square, Spot]]:
    """Candidates for a board: spots that continue each other, each on its square, the weightiest candidate first.

    A candidate's north is the side nearest to the picture's top.
    """
    left = sorted(range(len(spots)), key=lambda n: -spots[n].likely)
    middles = np.array([s.middle for s in spots]).reshape(-1, 2)
    sides = np.array([s.side for s in spots])
    free = np.ones(len(spots), bool)
    parts = []
    for start in left:
        if not free[start]:
            continue
        part = {(0, 0): _upright(spots[start], np.array([0.0, 1.0]))}
        free[start] = False
        edge = [(0, 0)]
        while edge:
            fresh = []
            for at in edge:
                own = part[at]
                for step in _AROUND:
                    to = (at[0] + step[0], at[1] + step[1])
                    if to in part:
                        continue
                    point = own.middle + step[0] * own.u + step[1] * own.v
                    far = float(np.hypot(*step))
                    away = np.linalg.norm(middles - point, axis=1) / own.side
                    alike = free & (away < limits.off * min(far, 1.3))
                    alike &= np.abs(np.log(sides / own.side)) < limits.size * far
                    for n in np.flatnonzero(alike)[np.argsort(away[alike])]:
                        spot = _upright(spots[n], own.v)
                        if abs(_angle(spot.u, own.u)) < limits.turn and abs(_angle(spot.v, own.v)) < limits.turn:
                            part[to] = spot
                            free[n] = False
                            fresh.append(to)
                            break
            edge = fresh
        parts.append(part)
    return sorted(parts, key=lambda p: -_weight(p.values()))


_AROUND = [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1), (2, 0), (-2, 0), (0, 2), (0, -2)]


def _agreeing(part: Mapping[Square, Spot], limits: Limits) -> Mapping[Square, Spot]:
    """The spots of a part that one affine map explains, where that says more than each by itself."""
    if len(part) < 3:
        return part
    steps = np.concatenate([UNIT + at for at in part])
    pixels = np.concatenate([apply(_posed(spot), UNIT) for spot in part.values()])
    side = float(np.median([spot.side for spot in part.values()]))
    _, inliers = cv2.estimateAffine2D(steps, pixels, method=cv2.RANSAC, ransacReprojThreshold=limits.straight * side,
                                      maxIters=500, confidence=0.99)
    if inliers is None:
        return part
    good = inliers.reshape(-1, 4).sum(axis=1) >= 3
    kept = {at: spot for (at, spot), ok in zip(part.items(), good, strict=True) if ok}
    return kept or part


def _upright(spot: Spot, south: Array) -> Spot:
    """The same spot with ``v`` the one of its four directions that is nearest to ``south``, ``u`` a quarter before."""
    turns = [(spot.u, spot.v), (-spot.v, spot.u), (-spot.u, -spot.v), (spot.v, -spot.u)]
    u, v = max(turns, key=lambda t: float(t[1] @ south) / float(np.linalg.norm(t[1]) + 1e-9))
    return Spot(middle=spot.middle, u=u, v=v, likely=spot.likely)


def _angle(one: Array, other: Array) -> float:
    return float(np.arctan2(one[0] * other[1] - one[1] * other[0], one @ other))


def _weight(spots: Iterable[Spot]) -> float:
    return sum(s.likely for s in spots)


def _probability(odds: float) -> float:
    return float(1 / (1 + np.exp(-odds)))


def _agreement(board: Iterable[Square], row: Mapping[Square, int], said: Said) -> float:
    """0 .. 1: how well the sides of tiles that lie side by side agree. Those of quarters of tiles do less."""
    squares = set(board)
    shown = np.exp(said.sides)
    agree = joints = 0.0
    for x, y in squares:
        for at, mine, theirs in (((x + 1, y), 1, 3), ((x, y + 1), 2, 0)):
            if at in squares:
                agree += float(shown[row[x, y], mine] @ shown[row[at], theirs])
                joints += 1
    return ((agree + 1) / (joints + 1)) ** 2


def _doubled(poses: Iterable[Array]) -> list[Spot]:
    """Places of tiles of twice the size of which these may be quarters."""
    spots = []
    for pose in list(poses)[:8]:
        corners = apply(pose, UNIT)
        u, v = corners[1] - corners[0] + corners[2] - corners[3], corners[3] - corners[0] + corners[2] - corners[1]
        spots += [Spot(middle=corner, u=u, v=v, likely=0.5) for corner in corners]
    return spots


def _covered(spots: Iterable[Spot], board: Found) -> bool:
    """Whether these spots are tiles of that board, or parts of them."""
    outlines = [apply(pose, UNIT).astype(np.float32) for pose in board.poses.values()]
    inner = [any(cv2.pointPolygonTest(o, (float(s.middle[0]), float(s.middle[1])), False) >= 0 for o in outlines)
             for s in spots]
    return sum(inner) > 0.5 * len(inner)


def _pose_of(corners: Array) -> Array:
    return cv2.getPerspectiveTransform(UNIT.astype(np.float32), corners.astype(np.float32)).astype(float)


def _posed(spot: Spot) -> Array:
    """A spot's pose: affine."""
    origin = spot.middle - (spot.u + spot.v) / 2
    return np.array([[spot.u[0], spot.v[0], origin[0]], [spot.u[1], spot.v[1], origin[1]], [0, 0, 1.0]])


def _scaled(pose: Array, grow: float) -> Array:
    """A pose made larger about its middle."""
    return pose @ np.array([[grow, 0, (1 - grow) / 2], [0, grow, (1 - grow) / 2], [0, 0, 1.0]])


def _spot(pose: Array, likely: float) -> Spot:
    corners = apply(pose, UNIT)
    return Spot(middle=corners.mean(axis=0), u=(corners[1] + corners[2] - corners[0] - corners[3]) / 2,
                v=(corners[3] + corners[2] - corners[0] - corners[1]) / 2, likely=likely)


def _regular(pose: Array) -> Array:
    """The same place as an affine pose: four corners of one tile say too little of perspective."""
    return _posed(_spot(pose, 1.0))


def _apart(poses: Sequence[Array], likely: Array) -> tuple[list[Array], Array]:
    """Of poses that are about the same, the likeliest."""
    kept: list[int] = []
    spots = [_spot(pose, 1.0) for pose in poses]
    for n in np.argsort(-likely):
        mine = spots[n]
        same = [k for k in kept if np.linalg.norm(mine.middle - spots[k].middle) < 0.2 * mine.side
                and abs(np.log(mine.side / spots[k].side)) < 0.15]
        if not any(abs((_angle(mine.u, spots[k].u) + np.pi / 4) % (np.pi / 2) - np.pi / 4) < 0.15 for k in same):
            kept.append(int(n))
    return [poses[n] for n in kept], likely[kept]


def _fitted(corners: Mapping[Square, Array]) -> Array | None:
    """(3, 3) from tile steps to pixels by least squares over all corners, tiles that lie far off left out. Few tiles
    give an affine map: their corners say too little of perspective."""
    steps = np.concatenate([UNIT + at for at in corners])
    pixels = np.concatenate(list(corners.values()))
    wide = np.ptp(np.array(list(corners)), axis=0).min() if len(corners) > 1 else 0
    if len(corners) < 6 or wide < 1:
        ones = np.column_stack([steps, np.ones(len(steps))])
        affine = np.linalg.lstsq(ones, pixels, rcond=None)[0].T
        return np.vstack([affine, [0, 0, 1.0]])
    used = np.ones(len(steps), bool)
    grid: Array | None = None
    for _ in range(3):
        fitted, _ = cv2.findHomography(steps[used], pixels[used], 0)
        if fitted is None:
            return grid
        grid = np.asarray(fitted, float)
        off = np.linalg.norm(apply(grid, steps) - pixels, axis=1)
        used = off < max(3 * float(np.median(off)), 1.0)
    return grid


def _visible(shape: Sequence[int], pose: Array) -> float:
    return float(inside(shape, pose, 12).mean())


def _largest(squares: Iterable[Square], weight: Mapping[Square, float]) -> set[Square]:
    """Of the parts that hang together by sides, the weightiest."""
    left, best = set(squares), set[Square]()
    while left:
        part, edge = set[Square](), {next(iter(left))}
        while edge:
            part |= edge
            edge = neighbours(part) & left - part
        left -= part
        if sum(weight[at] for at in part) > sum(weight[at] for at in best):
            best = part
    return best


