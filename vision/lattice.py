"""Where the tiles of a photograph lie: a deformable grid in perspective, since people lay tiles by hand.

A board is one homography from tile steps to pixels, and for every tile its own displacement from it. A tile is
predicted from its neighbours: errors add up along a row, so the far side of the board says little.

A *pose* is a homography (3, 3) from the unit square of a board square (x east, y south) to pixels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from scoring.tiles import Square
from vision.frames import Image

Array = npt.NDArray[np.float64]

UNIT = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
SAME_PLACE = 0.3  # tiles: how far a tile that nobody moved may be found from where it was found before (chosen)
SAME_SIZE = 0.2  # logarithm of the scale by which its size may differ there (chosen)
CARELESS = 0.2  # tiles: how far people lay a tile from its place beside another one: a fifth on photographs of tables
_AROUND = [(x, y) for x in (-2, -1, 0, 1, 2) for y in (-2, -1, 0, 1, 2) if x or y]


@dataclass(slots=True)
class Lattice:
    """``grid`` (3, 3) maps tile steps to pixels; ``shifts`` are the displacements (steps) and turns (radians) known.
    ``board`` are the squares of a start board that was found as a whole: no square of it is looked for by itself."""

    grid: Array
    shifts: dict[Square, tuple[float, float, float]] = field(default_factory=dict)
    board: frozenset[Square] = frozenset()

    def predict(self, at: Square) -> Array:
        """Pose of a square: with its own displacement if known, else extrapolated from its known neighbours."""
        return self.pose(at, self.shifts[at]) if at in self.shifts else self.expected(at)

    def expected(self, at: Square) -> Array:
        """Pose of a square extrapolated from its known neighbours, whatever is known of itself."""
        total, weights = np.zeros(3), 0.0
        for dx, dy in _AROUND:
            near = self.shifts.get((at[0] + dx, at[1] + dy))
            if near is not None:
                weight = 1.0 / (dx * dx + dy * dy) ** 3  # people lay a tile against what it touches
                cos, sin = np.cos(near[2]) - 1, np.sin(near[2])  # a rotated tile deflects its row
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
        out: Array = self.grid @ rigid
        return out

    def shift_of(self, at: Square, pose: Array) -> tuple[float, float, float]:
        """Displacement and turn of a pose from its square."""
        corners = apply(np.linalg.inv(self.grid) @ pose, UNIT) - at
        x, y = corners.mean(axis=0) - 0.5
        across = corners[1] + corners[2] - corners[0] - corners[3]
        down = corners[3] + corners[2] - corners[0] - corners[1]
        turn = 0.5 * (np.arctan2(across[1], across[0]) + np.arctan2(-down[0], down[1]))
        return float(x), float(y), float(turn)

    def side_px(self, at: Square) -> float:
        """Side of a tile on that square: the square root of its area."""
        return float(np.sqrt(abs(area(apply(self.pose(at, (0.0, 0.0, 0.0)), UNIT)))))

    def usual_side_px(self) -> float:
        """The median of that over the tiles."""
        return float(np.median([self.side_px(at) for at in self.shifts]))

    def refit(self, askew: float, straight: float) -> None:
        """Refit the perspective to the tiles' poses, so that far squares are predicted well. Corners that deviate by
        more than ``askew`` tiles are outliers: one object at the rim that is no tile would distort everything.
        Unchanged when less than the fraction ``straight`` of the corners are inliers, or most tiles lie by themselves.

        A part of the board that was pushed away from the largest one says nothing of the squares' places, but its
        tiles are as large, and as far from each other, as all others: its motion on the table is fitted, too. Poses
        keep the size that their tiles had before, so that a refit corrects it in part: spaces between tiles are not
        quite equal, and a perspective that follows them at once is wrong on small boards."""
        parts = self.parts()
        if sum(len(part) for part in parts if len(part) > 1) < 0.5 * len(self.shifts):
            return
        poses = {at: self.pose(at, self.shifts[at]) for part in parts for at in part}
        pixels = {at: apply(pose, UNIT) for at, pose in poses.items()}
        seen = {at: apply(np.linalg.inv(self.grid), corners) for at, corners in pixels.items()}
        if not np.isfinite([*seen.values()]).all():  # a corner on the horizon
            return
        moved = [_rigid(np.concatenate([UNIT + at for at in part]), np.concatenate([seen[at] for at in part]))
                 for part in parts]
        steps = [apply(np.linalg.inv(moved[0]) @ own, UNIT + at)
                 for part, own in zip(parts, moved, strict=True) for at in part]
        grid, fits = cv2.findHomography(np.concatenate(steps), np.concatenate([*pixels.values()]), cv2.RANSAC,
                                        askew * self.usual_side_px())
        if grid is None or fits.mean() < straight:
            return
        self.grid = np.asarray(grid, float)
        self.shifts.update({at: self.shift_of(at, pose) for at, pose in poses.items()})

    def parts(self) -> list[list[Square]]:
        """The parts of the board whose tiles lie as their neighbours do, largest first."""
        left, out = set(self.shifts), []
        while left:
            part, new = set[Square](), [left.pop()]
            while new:
                part.add(at := new.pop())
                beside = {n for n in neighbours([at]) & left if self._as(at, n)}
                left -= beside
                new += beside
            out.append(sorted(part))
        return sorted(out, key=lambda part: (-len(part), part))

    def _as(self, at: Square, other: Square) -> bool:
        """Whether two neighbouring tiles lie side by side, as far as people are careless."""
        (x, y, turn), (u, v, _) = self.shifts[at], self.shifts[other]
        dx, dy = other[0] - at[0], other[1] - at[1]
        cos, sin = np.cos(turn) - 1, np.sin(turn)  # a rotated tile deflects its row
        return float(np.hypot(u - x - cos * dx + sin * dy, v - y - sin * dx - cos * dy)) < CARELESS


def shown_twice(lattice: Lattice, poses: Mapping[Square, Array], apart: float) -> set[Square]:
    """Squares whose tile, as seen (``poses``), belongs to another square. Tiles never overlap: of two squares
    whose tiles have their centres within ``apart`` tiles, the one predicted nearer to there keeps it."""
    seen = {at: lattice.shift_of(at, pose) for at, pose in poses.items()}
    middle = {at: np.array((at[0] + x, at[1] + y)) for at, (x, y, _) in seen.items()}
    meant = {at: lattice.shift_of(at, lattice.predict(at)) for at in poses}
    off = {at: float(np.linalg.norm(np.subtract(seen[at], meant[at])[:2])) for at in poses}
    out: set[Square] = set()
    for at in sorted(poses, key=lambda at: (off[at], at)):
        if at in out:
            continue
        beside = ((at[0] + dx, at[1] + dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1) if dx or dy)
        out |= {n for n in beside if n in poses and off[n] >= off[at]
                and np.linalg.norm(middle[n] - middle[at]) < apart}
    return out


def _rigid(points: Array, target: Array) -> Array:
    """The motion (3, 3), without a change of size, of (N, 2) points nearest to their targets."""
    middle, goal = points.mean(axis=0), target.mean(axis=0)
    u, _, vt = np.linalg.svd((points - middle).T @ (target - goal))
    turn = (u @ np.diag([1.0, np.linalg.det(u @ vt)]) @ vt).T
    return np.vstack([np.column_stack([turn, goal - turn @ middle]), [0.0, 0.0, 1.0]])


def apply(homography: npt.NDArray[np.floating[Any]], points: npt.ArrayLike) -> Array:
    """(N, 2) points through a homography."""
    points = np.asarray(points, float).reshape(-1, 2)
    mapped = points @ homography[:, :2].T + homography[:, 2]
    out: Array = mapped[:, :2] / mapped[:, 2:]
    return out


def area(corners: Array) -> float:
    """Signed area of a polygon in pixels, positive when its corners run clockwise as seen."""
    (x, y), (u, v) = corners.T, corners[[*range(1, len(corners)), 0]].T
    return float(0.5 * (x @ v - u @ y))


def rectify(bgr: Image, pose: Array, size_px: float, margin: float = 0.0, smooth: bool = True) -> Image:
    """The square of a pose as (n, n, 3), ``size_px`` per tile, with ``margin`` tiles more on every side.

    Outside the photograph its border is replicated. A photograph much larger than the crop is averaged, not sampled.
    """
    return _warp(bgr, pose, size_px, margin, cv2.BORDER_REPLICATE, smooth)


def inside(shape: Sequence[int], pose: Array, size_px: float, margin: float = 0.0) -> npt.NDArray[np.float32]:
    """Mask of such a crop: 1.0 for pixels inside a photograph of that shape, else 0.0."""
    n = round(size_px * (1 + 2 * margin))
    corners = apply(pose, UNIT * (1 + 2 * margin) - margin)
    if (corners >= 0).all() and (corners <= (shape[1] - 1, shape[0] - 1)).all():
        return np.ones((n, n), np.float32)
    steps = (np.arange(n) + 0.5) / size_px - margin
    x, y = np.meshgrid(steps, steps)
    at = apply(pose, np.stack([x.ravel(), y.ravel()], axis=1))
    seen = (at[:, 0] >= 0) & (at[:, 0] <= shape[1] - 1) & (at[:, 1] >= 0) & (at[:, 1] <= shape[0] - 1)
    return seen.reshape(n, n).astype(np.float32)


def _warp(bgr: Image, pose: Array, size_px: float, margin: float, border: int, smooth: bool) -> Image:
    side = float(np.sqrt(abs(area(apply(pose, UNIT)))))
    times = max(1, min(4, round(side / size_px))) if smooth else 1
    n = round(size_px * (1 + 2 * margin))
    scale = size_px * times
    to_crop = np.array([[scale, 0, margin * scale - 0.5], [0, scale, margin * scale - 0.5], [0, 0, 1.0]])
    crop = cv2.warpPerspective(bgr, to_crop @ np.linalg.inv(pose), (n * times, n * times), flags=cv2.INTER_LINEAR,
                               borderMode=border)
    out: Image = np.asarray(crop if times == 1 else cv2.resize(crop, (n, n), interpolation=cv2.INTER_AREA), np.uint8)
    return out


def neighbours(squares: Iterable[Square]) -> set[Square]:
    """The squares adjacent to these by a side, without these."""
    taken = set(squares)
    return {(x + dx, y + dy) for x, y in taken for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))} - taken


def turned_square(at: Square, quarter: int) -> Square:
    """A square's name after the board's coordinates were rotated ``quarter`` turns clockwise."""
    x, y = at
    for _ in range(quarter % 4):
        x, y = -y, x
    return x, y


def names(quarter: int, shift: Square) -> Callable[[Square], Square]:
    """New names for a board's squares: `turned_square` by ``quarter``, and a shift."""
    def to(at: Square) -> Square:
        x, y = turned_square(at, quarter)
        return x + shift[0], y + shift[1]

    return to


def renamed(lattice: Lattice, to: Callable[[Square], Square], quarter: int) -> Lattice:
    """The same board with other names for its squares: ``to`` are `names` turned by ``quarter``."""
    zero = to((0, 0))
    back = np.linalg.inv(np.linalg.matrix_power(np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]]), quarter % 4))
    # the middle of square (x, y) is at (x + 0.5, y + 0.5): turn about the first square's middle
    middle = np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0, 1.0]])
    away = np.array([[1, 0, -0.5 - zero[0]], [0, 1, -0.5 - zero[1]], [0, 0, 1.0]])
    grid = lattice.grid @ middle @ back @ away
    out = Lattice(grid=grid, shifts={}, board=frozenset(map(to, lattice.board)))
    turn = np.linalg.matrix_power(np.array([[0.0, 1, 0], [-1, 0, 0], [0, 0, 1]]), quarter % 4)
    spin = middle @ turn @ np.linalg.inv(middle)
    for at, shift in lattice.shifts.items():
        out.shifts[to(at)] = out.shift_of(to(at), lattice.pose(at, shift) @ spin)
    return out


def named_as(found: Lattice, lay: Mapping[Square, Array]) -> tuple[int, Lattice] | None:
    """A board that was found anew with its squares named as before: ``lay`` are the poses of tiles known by those
    names. Most of the tiles that are found where one lay decide: how many they are, too; None if there is none."""
    votes: Counter[tuple[int, Square]] = Counter()
    back = {name: np.linalg.inv(pose) for name, pose in lay.items()}
    for at, shift in found.shifts.items():
        pose = found.pose(at, shift)
        for name, to_unit in back.items():
            (x, y), (u, v) = apply(to_unit @ pose, [(0.5, 0.5), (1.0, 0.5)])
            if np.hypot(x - 0.5, y - 0.5) < SAME_PLACE and (
                    abs(np.log(abs(area(apply(to_unit @ pose, UNIT)))) / 2) < SAME_SIZE):
                quarter = round(float(np.arctan2(v - y, u - x)) / (np.pi / 2)) % 4
                turned = turned_square(at, quarter)
                votes[quarter, (name[0] - turned[0], name[1] - turned[1])] += 1
    if not votes:
        return None
    (quarter, moved), count = min(votes.items(), key=lambda vote: (-vote[1], vote[0]))
    return count, renamed(found, names(quarter, moved), quarter)
