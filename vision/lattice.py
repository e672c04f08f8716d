"""Where the tiles of a photograph lie: a grid seen in perspective that bends, since people lay tiles by hand.

A board is one homography from tile steps to pixels, found by consensus among sightings, and for every tile its own
small displacement from it. What lies next to a tile is displaced like it: errors add up along a row, so predictions
follow the neighbours, not the far side of the board.

A *pose* is a homography (3, 3) from the unit square of a board square (x east, y south) to pixels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np
import numpy.typing as npt

from scoring.tiles import Square
from vision.frames import Image
from vision.keypoints import Sighting

Array = npt.NDArray[np.float64]

UNIT = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
STARTS = 15  # sightings from which a board is grown
ENOUGH = 0.7  # of all votes for one board: no other start finds a better one
NEAR = 0.3  # of a tile: how far a sighting may lie off its square
BEND = 0.22  # of a tile: the largest displacement that is believed
_AROUND = [(x, y) for x in (-2, -1, 0, 1, 2) for y in (-2, -1, 0, 1, 2) if x or y]


@dataclass(slots=True)
class Lattice:
    """``grid`` (3, 3) maps tile steps to pixels; ``shifts`` are the displacements (steps) and turns (radians) known."""

    grid: Array
    shifts: dict[Square, tuple[float, float, float]] = field(default_factory=dict)

    def predict(self, at: Square) -> Array:
        """Pose of a square: displaced as itself if known, else as its known neighbours are on average."""
        if at in self.shifts:
            return self.pose(at, self.shifts[at])
        total, weights = np.zeros(3), 0.0
        for dx, dy in _AROUND:
            near = self.shifts.get((at[0] + dx, at[1] + dy))
            if near is not None:
                weight = 1.0 / (dx * dx + dy * dy) ** 1.5
                cos, sin = np.cos(near[2]) - 1, np.sin(near[2])  # a turned tile points its row elsewhere
                total += weight * (np.array(near) - (cos * dx - sin * dy, sin * dx + cos * dy, 0.0))
                weights += weight
        x, y, turn = total / weights if weights else total
        return self.pose(at, (float(x), float(y), float(turn)))

    def pose(self, at: Square, shift: tuple[float, float, float]) -> Array:
        """Pose of a tile on that square, displaced and turned about its centre."""
        x, y, turn = shift
        cos, sin = np.cos(turn), np.sin(turn)
        cx, cy = at[0] + 0.5 + x, at[1] + 0.5 + y
        rigid = np.array([[cos, -sin, cx - 0.5 * cos + 0.5 * sin], [sin, cos, cy - 0.5 * sin - 0.5 * cos], [0, 0, 1]])
        return self.grid @ rigid

    def shift_of(self, at: Square, pose: Array) -> tuple[float, float, float]:
        """Displacement and turn of a pose from its square."""
        corners = apply(np.linalg.inv(self.grid) @ pose, UNIT) - at
        x, y = corners.mean(axis=0) - 0.5
        across = corners[1] + corners[2] - corners[0] - corners[3]
        down = corners[3] + corners[2] - corners[0] - corners[1]
        turn = 0.5 * (np.arctan2(across[1], across[0]) + np.arctan2(-down[0], down[1]))
        return float(x), float(y), float(turn)

    def side_px(self, at: Square) -> float:
        """Side of a tile on that square, as the root of its area."""
        return float(np.sqrt(abs(area(apply(self.pose(at, (0.0, 0.0, 0.0)), UNIT)))))


def apply(homography: Array, points: npt.ArrayLike) -> Array:
    """(N, 2) points through a homography."""
    points = np.asarray(points, float).reshape(-1, 2)
    mapped = points @ homography[:, :2].T + homography[:, 2]
    return mapped[:, :2] / mapped[:, 2:]


def area(corners: Array) -> float:
    """Signed area of a polygon in pixels, positive when its corners run clockwise as seen."""
    x, y = corners[:, 0], corners[:, 1]
    return float(0.5 * np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))


def rectify(bgr: Image, pose: Array, size_px: int, margin: float = 0.0, smooth: bool = True) -> Image:
    """The square of a pose as (n, n, 3), ``size_px`` per tile, with ``margin`` tiles more on every side.

    What lies outside the photograph repeats its border. A photograph much larger than the crop is averaged, not picked.
    """
    return _warp(bgr, pose, size_px, margin, cv2.BORDER_REPLICATE, smooth)


def inside(shape: Sequence[int], pose: Array, size_px: int, margin: float = 0.0) -> npt.NDArray[np.float32]:
    """Which pixels of such a crop lie in a photograph of that shape: 1.0 or 0.0."""
    n = round(size_px * (1 + 2 * margin))
    steps = (np.arange(n) + 0.5) / size_px - margin
    x, y = np.meshgrid(steps, steps)
    at = apply(pose, np.stack([x.ravel(), y.ravel()], axis=1))
    seen = (at[:, 0] >= 0) & (at[:, 0] <= shape[1] - 1) & (at[:, 1] >= 0) & (at[:, 1] <= shape[0] - 1)
    return seen.reshape(n, n).astype(np.float32)


def _warp(bgr: Image, pose: Array, size_px: int, margin: float, border: int, smooth: bool) -> Image:
    side = float(np.sqrt(abs(area(apply(pose, UNIT)))))
    times = max(1, min(4, round(side / size_px))) if smooth else 1
    n = round(size_px * (1 + 2 * margin))
    scale = size_px * times
    to_crop = np.array([[scale, 0, margin * scale - 0.5], [0, scale, margin * scale - 0.5], [0, 0, 1.0]])
    crop = cv2.warpPerspective(bgr, to_crop @ np.linalg.inv(pose), (n * times, n * times), flags=cv2.INTER_LINEAR,
                               borderMode=border)
    return crop if times == 1 else cv2.resize(crop, (n, n), interpolation=cv2.INTER_AREA)


def fit_lattice(sightings: Sequence[Sighting], shape: Sequence[int]) -> Lattice | None:
    """The board that most sightings agree on, or None when no two do. ``shape`` is the photograph's.

    The board's north is the side nearest to the photograph's top.
    """
    best: tuple[float, Array, Mapping[Square, Sighting]] | None = None
    for start in sorted(sightings, key=lambda s: -s.votes)[:STARTS]:
        grid, members = _grow(start, sightings)
        votes = sum(min(s.votes, 20) for s in members.values())
        if best is None or votes > best[0]:
            best = (votes, grid, members)
        if votes > ENOUGH * sum(min(s.votes, 20) for s in sightings):
            break
    if best is None or len(best[2]) < 2:
        return None
    lattice = Lattice(grid=best[1])
    for at, sighting in best[2].items():
        x, y, turn = lattice.shift_of(at, _upright(sighting.pose, lattice.pose(at, (0, 0, 0))))
        if np.hypot(x, y) < BEND + 0.1 and abs(turn) < 0.2:
            lattice.shifts[at] = (x, y, turn)
    return lattice


def _grow(start: Sighting, sightings: Sequence[Sighting]) -> tuple[Array, dict[Square, Sighting]]:
    """Board squares outwards from one sighting; the homography is fitted anew each time that it gains squares."""
    grid = _upright(start.pose, np.eye(3))
    members: dict[Square, Sighting] = {(0, 0): start}
    for _ in range(30):
        back = np.linalg.inv(grid)
        found: dict[Square, Sighting] = {}
        for s in sorted(sightings, key=lambda s: -s.votes):
            corners = apply(back, _corners(s))
            centre = corners.mean(axis=0)
            at = (int(np.floor(centre[0])), int(np.floor(centre[1])))
            off = np.hypot(*(centre - at - 0.5))
            side = np.sqrt(abs(area(corners)))
            known = any((at[0] + dx, at[1] + dy) in members for dx, dy in _AROUND) or at in members
            if known and off < NEAR and 0.75 < side < 1.33 and area(corners) > 0 and at not in found:
                found[at] = s
        if found.keys() == members.keys():
            break
        members = found or members
        fitted = _fit(members, grid)
        if fitted is None:
            break
        grid = fitted
    return grid, members


def _corners(sighting: Sighting) -> Array:
    return UNIT @ sighting.pose[:, :2].T + sighting.pose[:, 2]


def _fit(members: Mapping[Square, Sighting], grid: Array) -> Array | None:
    """Grid to pixels from the corners of all members; few of them give an affine map, which bends less."""
    steps, pixels = [], []
    for at, sighting in members.items():
        pose = _upright(sighting.pose, grid @ _moved(at))
        steps.append(UNIT + at)
        pixels.append(apply(pose, UNIT))
    source, target = np.concatenate(steps), np.concatenate(pixels)
    if len(members) < 5:
        affine, _ = cv2.estimateAffine2D(source, target, method=cv2.LMEDS)
        return None if affine is None else np.vstack([affine, [0, 0, 1]])
    limit = 0.2 * float(np.sqrt(abs(area(target[:4]))))
    fitted, _ = cv2.findHomography(source, target, cv2.RANSAC, limit, maxIters=2000, confidence=0.999)
    return fitted


def _moved(at: Square) -> Array:
    return np.array([[1, 0, at[0]], [0, 1, at[1]], [0, 0, 1.0]])


def _upright(pose: Array, like: Array) -> Array:
    """The same square with its corners numbered as those of another pose are: whole quarter turns taken out."""
    pose = pose if pose.shape == (3, 3) else np.vstack([pose, [0, 0, 1.0]])
    want = apply(like, UNIT)
    want = want - want.mean(axis=0)
    quarter = np.array([[0, -1, 1], [1, 0, 0], [0, 0, 1.0]])
    best, error = pose, np.inf
    for _ in range(4):
        corners = apply(pose, UNIT)
        off = np.linalg.norm(_unit(corners - corners.mean(axis=0)) - _unit(want))
        if off < error:
            best, error = pose, off
        pose = pose @ quarter
    return best


def _unit(corners: Array) -> Array:
    return corners / np.linalg.norm(corners)


def neighbours(squares: Iterable[Square]) -> set[Square]:
    """Squares with a side on one of these, these left out."""
    taken = set(squares)
    return {(x + dx, y + dy) for x, y in taken for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))} - taken
