"""Joins spots that continue each other into candidate boards; and the finder's thresholds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from scoring.tiles import Square
from vision.lattice import UNIT, Array, apply, area
from vision.spotting import Spot

_AROUND = [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1), (2, 0), (-2, 0), (0, 2), (0, -2)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Thresholds of the finder. Distances in tiles; tuned on invented tables and checked against real ones."""

    off: float = 0.3  # how far a spot may lie from the place predicted by its neighbour
    size: float = 0.28  # logarithm of the ratio by which neighbours may differ in size
    turn: float = 0.3  # radians by which neighbours may be turned against each other
    seen: float = 0.48  # fraction of a square that must lie in the picture for it to be examined
    hint: float = 0.25  # network's probability of a tile at the first pass, below which the square is empty
    reach: float = 0.4  # how far a corner may lie from where it is expected
    moved: float = 0.3  # how far a middle may lie from where it is expected
    exact: float = 0.05  # corners so close need no second pass
    likely: float = 0.3  # the network's probability of a tile at the second pass
    kept: float = -0.8  # least log-odds of a tile of a board
    lone: float = 0.6  # and of its most certain one, or
    many: int = 6  # so many connected tiles, with
    agreed: float = 0.6  # such agreement of their sides
    candidates: int = 4  # boards that are examined closely
    share: float = 0.15  # of the best candidate's weight below which another is ignored
    rounds: int = 3  # iterations over a board while some of its tiles fit badly
    nearer: int = 4  # and over one of few tiles while they appear elsewhere than they were examined (chosen)
    firm: float = 0.9  # probability of a tile, and
    ajar: float = 0.12  # deviation of its corners, for a tile to fit well
    largest: int = 30  # rings around the seed
    again: float = 0.6  # of a board's squares that must still hold tiles for it to be in its old place
    spots: int = 64  # that are examined closely
    best: int = 28  # of them at first; then in each size, since outlines that are too large converge to tiles
    unexplained: float = 0.5  # expected number of tiles left beside a board below which it is accepted as the only one
    smaller: float = 0.7  # relative size below which a spot beside a board is none of its tiles
    grows: tuple[float, ...] = (1.0, 1.5)
    pulls: int = 4  # refinements of each to its corners
    faint: tuple[float, ...] = (0.004, 0.06, 0.3)  # probability of a tile below which a spot is dropped, per refinement
    still: float = 0.04  # converged when corners move less
    aside: float = 0.02  # deviation from the examined pose within which its result stays valid
    astray: float = 0.5  # and the deviation of its corners then
    sure: float = 0.7  # probability of a tile that can seed a board
    settled: float = 0.12  # and how little its corners may still move
    straight: float = 0.15  # deviation of a corner from the affine map of the others of its part
    foreshortened: float = 1.12  # aspect ratio of tiles in an oblique view; boards from above have up to 1.08
    more: float = 1.2  # factor by which the board from lines must cover more: it is less exact where spots find all
    structure: tuple[float, float] = (0.8, 7.0)  # weight of the network's log-odds, and their neutral point
    spotted: tuple[float, float] = (1.0, 0.5)  # the same of the spots' log-odds
    beside: tuple[float, ...] = (0.0, 4.0, 5.0)  # log-odds by the number of neighbours, the last for more
    joint: float = 1.0  # log-odds that each further tile adds to a board
    votes: float = 6.0  # keypoints of a sighting that is worth a spot of even odds


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
    return sorted(parts, key=lambda p: -weight_of(p.values()))


def agreeing(part: Mapping[Square, Spot], limits: Limits) -> Mapping[Square, Spot]:
    """The spots of a part that one affine map explains (RANSAC), where that is more informative than each by itself."""
    if len(part) < 3:
        return part
    steps = np.concatenate([UNIT + at for at in part])
    pixels = np.concatenate([apply(pose_of_spot(spot), UNIT) for spot in part.values()])
    side = float(np.median([spot.side for spot in part.values()]))
    _, inliers = cv2.estimateAffine2D(steps, pixels, method=cv2.RANSAC, ransacReprojThreshold=limits.straight * side,
                                      maxIters=500, confidence=0.99)
    if inliers is None:
        return part
    good = inliers.reshape(-1, 4).sum(axis=1) >= 3
    kept = {at: spot for (at, spot), ok in zip(part.items(), good, strict=True) if ok}
    return kept or part


def beside(board: Sequence[Array], spots: Sequence[Spot], limits: Limits) -> list[Spot]:
    """The spots beside a board, its tiles given by their poses, that may be tiles of it. Not much smaller ones, nor one
    half a tile from a tile's centre, which straddles two tiles."""
    back = [np.linalg.inv(pose) for pose in board]
    middles = np.array([apply(pose, [[0.5, 0.5]])[0] for pose in board])
    smallest = limits.smaller * float(np.median([np.sqrt(abs(area(apply(pose, UNIT)))) for pose in board]))
    kept = []
    for spot in spots:
        near = int(np.linalg.norm(middles - spot.middle, axis=1).argmin())
        step = apply(back[near], [spot.middle])[0] - 0.5
        far = np.abs(step).max()
        between = far < 1 and np.abs(step - step.round()).max() > limits.off
        if spot.side > smallest and far > 0.5 and not between:
            kept.append(spot)
    return kept


def doubled(poses: Iterable[Array]) -> list[Spot]:
    """Candidate tiles of twice the size of which these may be quarters; neighbours share some."""
    spots: list[Spot] = []
    for pose in list(poses)[:8]:
        corners = apply(pose, UNIT)
        u, v = corners[1] - corners[0] + corners[2] - corners[3], corners[3] - corners[0] + corners[2] - corners[1]
        each = [Spot(middle=corner, u=u, v=v, likely=0.5) for corner in corners]
        spots += [s for s in each if all(np.linalg.norm(s.middle - t.middle) > 0.1 * s.side for t in spots)]
    return spots


def distinct(poses: Sequence[Array], likely: Array) -> tuple[list[Array], Array]:
    """Non-maximum suppression: of poses that are about the same, the likeliest."""
    kept: list[int] = []
    spots = [spot_of_pose(pose, 1.0) for pose in poses]
    for n in np.argsort(-likely):
        mine = spots[n]
        same = [k for k in kept if np.linalg.norm(mine.middle - spots[k].middle) < 0.2 * mine.side
                and abs(np.log(mine.side / spots[k].side)) < 0.15]
        if not any(abs((_angle(mine.u, spots[k].u) + np.pi / 4) % (np.pi / 2) - np.pi / 4) < 0.15 for k in same):
            kept.append(int(n))
    return [poses[n] for n in kept], likely[kept]


def weight_of(spots: Iterable[Spot]) -> float:
    """A candidate's score before it is examined closely."""
    return sum(s.likely for s in spots)


def pose_of_spot(spot: Spot) -> Array:
    """A spot's pose: affine."""
    origin = spot.middle - (spot.u + spot.v) / 2
    return np.array([[spot.u[0], spot.v[0], origin[0]], [spot.u[1], spot.v[1], origin[1]], [0, 0, 1.0]])


def spot_of_pose(pose: Array, likely: float) -> Spot:
    """The spot at a pose (3, 3)."""
    corners = apply(pose, UNIT)
    return Spot(middle=corners.mean(axis=0), u=(corners[1] + corners[2] - corners[0] - corners[3]) / 2,
                v=(corners[3] + corners[2] - corners[0] - corners[1]) / 2, likely=likely)


def regular(pose: Array) -> Array:
    """The same place as an affine pose: the four corners of one tile do not determine its perspective."""
    return pose_of_spot(spot_of_pose(pose, 1.0))


def scaled(pose: Array, grow: float) -> Array:
    """A pose scaled about its centre."""
    out: Array = pose @ np.array([[grow, 0, (1 - grow) / 2], [0, grow, (1 - grow) / 2], [0, 0, 1.0]])
    return out


def _upright(spot: Spot, south: Array) -> Spot:
    """The same spot with ``v`` the one of its four directions that is nearest to ``south``, ``u`` a quarter before."""
    turns = [(spot.u, spot.v), (-spot.v, spot.u), (-spot.u, -spot.v), (spot.v, -spot.u)]
    u, v = max(turns, key=lambda t: float(t[1] @ south) / float(np.linalg.norm(t[1]) + 1e-9))
    return Spot(middle=spot.middle, u=u, v=v, likely=spot.likely)


def _angle(one: Array, other: Array) -> float:
    return float(np.arctan2(one[0] * other[1] - one[1] * other[0], one @ other))
