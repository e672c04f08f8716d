"""Where the tiles of a game lie in the picture: their poses, the squares around them, and what to do when they move."""

from __future__ import annotations

from collections.abc import Mapping

import cv2
import numpy as np

from scoring.engine import open_squares
from scoring.state import GameState
from scoring.tiles import EDGES, Square, neighbour
from vision.lattice import UNIT, Array, Lattice, apply
from vision.motion import Area, Mask, Motion

_AREAS = 1000  # that are kept
_OFF, _OFF_MOST = 0.1, 0.45  # of a tile: what lies off its square by less is found anyway, by more is on another one
_SIDE, _DENSE = (0.8, 1.25), 0.5  # of a tile: what is one, and how much of it must have changed
_CRACK, _FEW = 0.15, 8  # of a tile, from which two do not join; fewer tiles say little about the perspective


class Board:
    """A lattice with a pose for exactly the tiles that lie, seen on the small picture of ``motion``."""

    def __init__(self, lattice: Lattice, motion: Motion) -> None:
        self.lattice = lattice
        self._motion = motion
        self._areas: dict[tuple[bytes, float], Area] = {}
        self._poses: dict[Square, Array] | None = None  # these four are made anew when anything has moved
        self._watched: Mask | None = None
        self._expected: Mask | None = None
        self._squares: tuple[Mapping[Square, object], dict[Square, Array]] | None = None
        self.dropped: set[Square] = set()  # where people said that no tile lies

    @property
    def poses(self) -> dict[Square, Array]:
        """Pose of every tile found so far."""
        if self._poses is None:
            self._poses = {at: self.lattice.pose(at, shift) for at, shift in self.lattice.shifts.items()}
        return dict(self._poses)

    def open_squares(self, state: GameState) -> dict[Square, Array]:
        """Where a tile may come, with the pose that it would have."""
        if self._squares is None or self._squares[0] is not state.tiles:
            self._expected = None
            self._squares = state.tiles, {at: self.lattice.predict(at) for at in sorted(open_squares(state))}
        return dict(self._squares[1])

    def expected(self, state: GameState) -> Mask:
        """Where a tile may come, and a little around it."""
        squares = self.open_squares(state)
        if self._expected is None:
            self._expected = np.zeros(self._motion.size[::-1], bool)
            for pose in squares.values():
                self.area(pose, 0.12).put(self._expected, True)
        return self._expected

    def _moved(self) -> None:
        self._poses = self._watched = self._squares = self._expected = None

    def follow(self, state: GameState) -> None:
        """Poses for exactly the tiles that lie: people correct the game by hand too."""
        shifts = self.lattice.shifts
        if shifts.keys() == state.tiles.keys():
            return
        self._moved()
        for at in [at for at in shifts if at not in state.tiles and len(shifts) > 1]:
            del shifts[at]
            self.dropped.add(at)
        for at in state.tiles:
            if at not in shifts:
                shifts[at] = self.lattice.shift_of(at, self.lattice.predict(at))

    def bend(self) -> None:
        """Fit the perspective of the whole board anew, so that far squares are predicted well. A board that was pushed
        in two is no larger for its gap: the larger part says how the grid lies, the other is displaced."""
        poses = self.poses
        if len(poses) < 4:
            return
        whole = self._unbroken(poses)
        steps = np.concatenate([UNIT + at for at in whole])
        pixels = np.concatenate([apply(poses[at], UNIT) for at in whole])
        grid, _ = cv2.findHomography(steps, pixels, 0)
        if grid is not None:
            self.lattice.grid = grid
            self.place(poses)

    def _unbroken(self, poses: Mapping[Square, Array]) -> list[Square]:
        """The most tiles that join each other without a gap; all of them when they are few."""
        if len(poses) < _FEW:
            return list(poses)
        left, most = set(poses), list[Square]()
        while left:
            part = [left.pop()]
            for at in part:  # grows as it goes
                for side in EDGES:
                    beside = neighbour(at, side)
                    if beside in left and _gap(at, poses[at], beside, poses[beside]) < _CRACK:
                        left.remove(beside)
                        part.append(beside)
            most = max(most, part, key=len)
        return most

    def place(self, poses: Mapping[Square, Array]) -> None:
        """These tiles lie there."""
        self._moved()
        for at, pose in poses.items():
            self.lattice.shifts[at] = self.lattice.shift_of(at, pose)

    def shift(self, moved: Array, poses: Mapping[Square, Array]) -> None:
        """The whole grid moved in the picture, (3, 3) px to px, and its tiles lie at these poses now."""
        self.lattice.grid = moved @ self.lattice.grid
        self.place(poses)

    def apart(self, lattice: Lattice) -> float:
        """How many tiles the tiles lie from where another lattice has them, at most."""
        return max(float(np.abs(apply(np.linalg.inv(pose) @ lattice.predict(at), UNIT) - UNIT).max())
                   for at, pose in self.poses.items())

    def nearer(self, pose: Array, changed: Mask) -> Array | None:
        """The pose of an empty square, moved to where something of a tile's size lies, if that is well off it: people
        leave gaps, and a board that was pushed in two has one that nothing shows."""
        off = self.lying(pose, changed)
        if off is None or np.abs(off).max() < _OFF:
            return None
        return np.asarray(pose @ np.array([[1, 0, off[0]], [0, 1, off[1]], [0, 0, 1.0]]), float)

    def lying(self, pose: Array, changed: Mask) -> Array | None:
        """How far (2,) from the place of an empty square what has ``changed`` there lies, in tiles; None when it is
        not of a tile's size or belongs to another square."""
        area = self.area(pose, 0.5)
        fresh = np.zeros_like(changed)
        area.put(fresh, True)
        fresh &= changed
        for lies in self.poses.values():
            self.area(lies, 0.0).put(fresh, False)
        y, x = np.nonzero(cv2.morphologyEx(fresh.astype(np.uint8), cv2.MORPH_OPEN, np.ones((3, 3), np.uint8)))
        if len(x) < _DENSE * area.inside.sum() / 4:  # the area is two tiles wide
            return None
        steps = apply(np.linalg.inv(pose), np.column_stack([x, y]) / self._motion.scale)
        low, high = np.percentile(steps, (1, 99), axis=0)
        off, side = (low + high) / 2 - 0.5, high - low
        if np.abs(off).max() > _OFF_MOST or (side < _SIDE[0]).any() or (side > _SIDE[1]).any():
            return None
        return np.asarray(off, float)

    def area(self, pose: Array, grow: float) -> Area:
        """A square on the small picture, larger by ``grow`` tiles on every side. Kept, since most tiles stay."""
        key = pose.tobytes(), grow
        if key not in self._areas:
            if len(self._areas) > _AREAS:
                self._areas.clear()
            self._areas[key] = self._drawn(pose, grow)
        return self._areas[key]

    def _drawn(self, pose: Array, grow: float) -> Area:
        corners = (apply(pose, UNIT * (1 + 2 * grow) - grow) * self._motion.scale).round().astype(np.int32)
        low = np.clip(corners.min(axis=0), 0, self._motion.size)
        high = np.clip(corners.max(axis=0) + 1, 0, self._motion.size)
        inside = np.zeros(np.maximum(high - low, 0)[::-1], np.uint8)
        if inside.size:
            cv2.fillConvexPoly(inside, corners - low.astype(np.int32), 1)
        return Area(rows=slice(int(low[1]), int(high[1])), columns=slice(int(low[0]), int(high[0])),
                    inside=inside.astype(bool))

    def watched(self) -> Mask:
        """The area in which movement matters: the board and two tiles around it."""
        if self._watched is None:
            out = np.zeros(self._motion.size[::-1], np.uint8)
            for pose in self.poses.values():
                corners = apply(pose, UNIT * 5.0 - 2.0) * self._motion.scale
                cv2.fillConvexPoly(out, corners.round().astype(np.int32), 1)
            self._watched = out.astype(bool)
        return self._watched


def _gap(at: Square, pose: Array, beside: Square, other: Array) -> float:
    """How many tiles the middle of a tile's neighbour lies from where it would if they joined."""
    centre = apply(np.linalg.inv(pose), apply(other, [[0.5, 0.5]]))[0] - 0.5
    return float(np.hypot(*(centre - (beside[0] - at[0], beside[1] - at[1]))))
