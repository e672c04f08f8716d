"""A camera that was bumped and a board that was knocked: where the tiles lie now, from the tiles themselves.

Corners of their print are followed from the view that was settled last into the present one (or, when they went too
far for that, found there by what they look like), and groups of tiles that moved alike are found one after the other.
What the tiles show at their new places decides whether it is believed.
B. Lucas and T. Kanade, "An iterative image registration technique", IJCAI 1981; J.-Y. Bouguet's pyramids (2000).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import cv2
import numpy as np
import numpy.typing as npt

from scoring.state import GameState
from scoring.tiles import Square
from vision.frames import Image
from vision.lattice import UNIT, Array, apply, rectify
from vision.placements import FLOOR, PlacementReader

_WIDTH_PX = 960  # points are followed in a picture of this width
_POINTS = 600
_BACK_PX = 1.0  # how far from its start a point may end that is followed there and back
_APART_PX = 2.0  # from its group's motion
_GROUP = 12  # points that make a group
_ON_TILE = 4  # and of them on a tile, so that it is one of the group
_SLID, _SLID_LIKE = 0.6, 0.7  # of a tile: how far one is looked for; correlation of its print there
MOVED = 0.02  # of a tile: less is no move
_LIKE = 0.1  # correlation by which a known tile may be worse than the best picture at its new place
_PRINT_PX, _SAME = 32, 0.5  # a tile's picture, and the correlation from which it is the same one
_LIES = 0.3  # part of the tiles that must be
_RATIO = 0.75  # of the distances to the best and the next keypoint
_AGREE = 0.6  # part of the tiles that must show their print at their new places


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """``grid`` (3, 3): the motion, px to px, of most tiles. ``poses`` are all tiles' new ones, ``astray`` those that
    do not show their print there. ``camera`` says that what lies around the board moved alike."""

    grid: Array
    poses: Mapping[Square, Array]
    astray: frozenset[Square]
    camera: bool


def find_moved(before: Image, now: Image, poses: Mapping[Square, Array], state: GameState,
               reader: PlacementReader) -> Moved | None:
    """How the tiles moved between two pictures, or None when they did not or it cannot be told."""
    scale = min(1.0, _WIDTH_PX / before.shape[1])
    a, b = (cv2.cvtColor(cv2.resize(i, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), cv2.COLOR_BGR2GRAY)
            for i in (before, now))
    mask = np.zeros(a.shape, np.uint8)
    for pose in poses.values():
        cv2.fillConvexPoly(mask, (apply(pose, UNIT) * scale).round().astype(np.int32), 255)
    points = [_followed(a, b, mask, scale), _slid(a, b, poses, scale)]
    moved = _moved(before, now, _joined(points), poses, state, reader)
    if far := moved is None:  # too far, or turned too much, to be followed
        moved = _moved(before, now, _joined([*points, _matched(a, b, mask, scale)]), poses, state, reader)
    if moved is None:
        return None
    around = 255 - cv2.dilate(mask, np.ones((9, 9), np.uint8))
    moves = any(step_of(pose, moved.grid @ pose) > MOVED for pose in poses.values())
    camera = moves and _alike(*(_matched if far else _followed)(a, b, around, scale), moved.grid)
    return replace(moved, camera=camera)


def _moved(before: Image, now: Image, points: tuple[Array, Array], poses: Mapping[Square, Array], state: GameState,
           reader: PlacementReader) -> Moved | None:
    """What these points say, if enough tiles show at their new places what they showed before or are known to show."""
    start, end = points
    groups = _groups(start, end)
    if not groups:
        return None
    member = {at: _group_of(pose, groups, start) for at, pose in poses.items()}
    counts = np.bincount([g for g in member.values() if g is not None], minlength=len(groups))
    main = int(counts.argmax())
    new = {at: groups[main if g is None else g][0] @ pose for at, g in member.items() for pose in (poses[at],)}
    if max(step_of(poses[at], pose) for at, pose in new.items()) < MOVED:
        return None
    settled, astray, right = {}, set(), 0
    for at, pose in new.items():
        placed = state.tiles.get(at)
        if placed is None or placed.tile not in reader.ids:
            settled[at] = pose
            continue
        found = reader.settler.settle(now, pose)
        own = float(found.scores[reader.ids.index(placed.tile), placed.rot])
        fits = own > FLOOR and own > found.best - _LIKE
        alike = fits or print_alike(before, poses[at], now, pose) > _SAME  # nobody may have taught this artwork
        settled[at] = found.pose if fits else pose if alike else groups[main][0] @ poses[at]
        if alike:
            right += 1
        else:
            astray.add(at)
    if right < _AGREE * len(new):
        return None
    return Moved(grid=groups[main][0], poses=settled, astray=frozenset(astray), camera=False)


def lies_there(seen: Mapping[Square, tuple[Image, Array]], now: Image, poses: Mapping[Square, Array]) -> bool:
    """Whether tiles look as they did before, in whatever light: the board lies where it lay. ``seen`` has a picture of
    each and its pose in that. Arms and figures may hide most of them."""
    alike = [print_alike(*seen[at], now, pose) > _SAME for at, pose in poses.items()]
    return sum(alike) >= _LIES * len(alike)


def print_alike(before: Image, lay: Array, now: Image, lies: Array) -> float:
    """Correlation of what is seen at a tile's pose in one picture with what is seen at its pose in the other; 0 when
    its middle half is not in the picture there."""
    middle = apply(lies, UNIT * 0.5 + 0.25)
    if (middle < 0).any() or (middle >= now.shape[1::-1]).any():
        return 0.0
    a, b = (cv2.cvtColor(rectify(image, pose, _PRINT_PX), cv2.COLOR_BGR2GRAY)
            for image, pose in ((before, lay), (now, lies)))
    return float(cv2.matchTemplate(a, b, cv2.TM_CCOEFF_NORMED)[0, 0])


def _joined(points: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    starts, ends = zip(*points, strict=True)
    return np.concatenate(starts), np.concatenate(ends)


def _matched(a: Image, b: Image, mask: npt.NDArray[np.uint8], scale: float) -> tuple[Array, Array]:
    """The same as `_followed` by keypoints that look alike (D. Lowe, IJCV 2004), wherever they are in the second
    view and however they are turned."""
    sift = cv2.SIFT_create(nfeatures=_POINTS)
    (one, first), (other, second) = sift.detectAndCompute(a, mask), sift.detectAndCompute(b, None)
    if first is None or second is None or len(second) < 2:
        return np.empty((0, 2)), np.empty((0, 2))
    pairs = [p for p in cv2.BFMatcher(cv2.NORM_L2).knnMatch(first, second, k=2) if len(p) == 2]
    good = [m for m, n in pairs if m.distance < _RATIO * n.distance]
    return (np.array([one[m.queryIdx].pt for m in good], float).reshape(-1, 2) / scale,
            np.array([other[m.trainIdx].pt for m in good], float).reshape(-1, 2) / scale)


def _followed(a: Image, b: Image, mask: npt.NDArray[np.uint8], scale: float) -> tuple[Array, Array]:
    """(N, 2) px of the whole picture in the first view, and where they are in the second."""
    points = cv2.goodFeaturesToTrack(a, _POINTS, 0.01, 6, mask=mask)
    if points is None:
        return np.empty((0, 2)), np.empty((0, 2))
    args = {"winSize": (25, 25), "maxLevel": 4}
    there, seen, _ = cv2.calcOpticalFlowPyrLK(a, b, points, None, **args)
    back, again, _ = cv2.calcOpticalFlowPyrLK(b, a, there, None, **args)
    good = (seen & again).ravel().astype(bool) & (np.abs(back - points).reshape(-1, 2).max(axis=1) < _BACK_PX)
    return points.reshape(-1, 2)[good] / scale, there.reshape(-1, 2)[good] / scale


def _slid(a: Image, b: Image, poses: Mapping[Square, Array], scale: float) -> tuple[Array, Array]:
    """The same as `_followed` for the middles of tiles that are seen further off than corners can be followed: a dozen
    points of each, (N, 2) px of the whole picture."""
    start, end = [], []
    for pose in poses.values():
        corners = apply(pose, UNIT) * scale
        side = float(np.linalg.norm(corners[1] - corners[0]))
        (x, y), half, reach = corners.mean(axis=0).round().astype(int), round(0.35 * side), round(_SLID * side)
        most = half + reach
        if half < 4 or x < most or y < most or x + most >= a.shape[1] or y + most >= a.shape[0]:
            continue
        print_ = a[y - half:y + half, x - half:x + half]
        likes = cv2.matchTemplate(b[y - most:y + most, x - most:x + most], print_, cv2.TM_CCOEFF_NORMED)
        _, like, _, (right, down) = cv2.minMaxLoc(likes)
        if like < _SLID_LIKE or np.hypot(right - reach, down - reach) < 0.1 * side:
            continue
        grid = np.stack(np.meshgrid(*[np.linspace(-half, half, 4)] * 2), axis=-1).reshape(-1, 2)[:_GROUP]
        start.append((grid + (x, y)) / scale)
        end.append((grid + (x + right - reach, y + down - reach)) / scale)
    if not start:
        return np.empty((0, 2)), np.empty((0, 2))
    return np.concatenate(start), np.concatenate(end)


def _groups(start: Array, end: Array) -> list[tuple[Array, npt.NDArray[np.bool_]]]:
    """Up to four motions (3, 3), each with the points that follow it, the largest group first."""
    left = np.ones(len(start), bool)
    out: list[tuple[Array, npt.NDArray[np.bool_]]] = []
    while left.sum() >= _GROUP and len(out) < 4:
        fit, inliers = cv2.estimateAffinePartial2D(start[left], end[left], method=cv2.RANSAC,
                                                   ransacReprojThreshold=_APART_PX, maxIters=2000, confidence=0.999)
        if fit is None or inliers.sum() < _GROUP:
            break
        mine = np.zeros(len(start), bool)
        mine[np.flatnonzero(left)[inliers.ravel().astype(bool)]] = True
        size = float(np.hypot(fit[0, 0], fit[1, 0]))
        if 0.9 < size < 1.1:
            out.append((np.vstack([fit, [0, 0, 1.0]]), mine))
        left &= ~mine
    return out


def _group_of(pose: Array, groups: list[tuple[Array, npt.NDArray[np.bool_]]], start: Array) -> int | None:
    """The group that most points on a tile belong to."""
    steps = apply(np.linalg.inv(pose), start)
    on = ((steps > 0) & (steps < 1)).all(axis=1)
    counts = [int((on & mine).sum()) for _, mine in groups]
    best = int(np.argmax(counts))
    return best if counts[best] >= _ON_TILE else None


def _alike(start: Array, end: Array, grid: Array) -> bool:
    """Whether most of these points follow that motion better than none."""
    if len(start) < _GROUP:
        return False
    off, still = np.linalg.norm(apply(grid, start) - end, axis=1), np.linalg.norm(start - end, axis=1)
    return bool((off < still).mean() > 0.6)


def step_of(old: Array, new: Array) -> float:
    """How many tiles a tile's centre or corners moved at most."""
    return float(np.abs(apply(np.linalg.inv(old) @ new, UNIT) - UNIT).max())
