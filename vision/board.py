"""Where the tiles of a game lie in the picture: their poses, the squares around them, and what to do when they move."""

from __future__ import annotations

from collections.abc import Mapping

import cv2
import numpy as np

from scoring.state import GameState
from scoring.tiles import Square
from vision.lattice import UNIT, Array, Lattice, apply
from vision.motion import Mask, Motion


class Board:
    """A lattice with a pose for exactly the tiles that lie, seen on the small picture of ``motion``."""

    def __init__(self, lattice: Lattice, motion: Motion) -> None:
        self.lattice = lattice
        self._motion = motion
        self.dropped: set[Square] = set()  # where people said that no tile lies

    @property
    def poses(self) -> dict[Square, Array]:
        """Pose of every tile found so far."""
        return {at: self.lattice.pose(at, shift) for at, shift in self.lattice.shifts.items()}

    def follow(self, state: GameState) -> None:
        """Poses for exactly the tiles that lie: people correct the game by hand too."""
        shifts = self.lattice.shifts
        if shifts.keys() == state.tiles.keys():
            return
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
        for at, pose in poses.items():
            self.lattice.shifts[at] = self.lattice.shift_of(at, pose)

    def shift(self, moved: Array, poses: Mapping[Square, Array]) -> None:
        """The whole grid moved in the picture, (3, 3) px to px, and its tiles lie at these poses now."""
        self.lattice.grid = moved @ self.lattice.grid
        self.place(poses)

    def area(self, pose: Array, grow: float) -> Mask:
        """A square on the small picture, larger by ``grow`` tiles on every side."""
        out = np.zeros(self._motion.size[::-1], np.uint8)
        corners = apply(pose, UNIT * (1 + 2 * grow) - grow) * self._motion.scale
        cv2.fillConvexPoly(out, corners.round().astype(np.int32), 1)
        return out.astype(bool)

    def watched(self) -> Mask:
        """The area in which movement matters: the board and two tiles around it."""
        out = np.zeros(self._motion.size[::-1], np.uint8)
        for pose in self.poses.values():
            corners = apply(pose, UNIT * 5.0 - 2.0) * self._motion.scale
            cv2.fillConvexPoly(out, corners.round().astype(np.int32), 1)
        return out.astype(bool)
