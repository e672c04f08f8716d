"""Where the tiles of a game lie in the picture: their poses, the squares around them, and what to do when they move."""

from __future__ import annotations

from collections.abc import Mapping

import cv2
import numpy as np

from scoring.engine import open_squares
from scoring.state import GameState
from scoring.tiles import Square
from vision.lattice import UNIT, Array, Lattice, apply
from vision.motion import Area, Mask, Motion

_AREAS = 1000  # that are kept


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
        """Fit the perspective of the whole board anew, so that far squares are predicted well."""
        poses = self.poses
        if len(poses) < 4:
            return
        steps = np.concatenate([UNIT + at for at in poses])
        pixels = np.concatenate([apply(pose, UNIT) for pose in poses.values()])
        grid, _ = cv2.findHomography(steps, pixels, 0)
        if grid is not None:
            self.lattice.grid = grid
            self.place(poses)

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
