"""The tiles of a board by their corners in a picture, and the lattice through them, while the board grows."""

from __future__ import annotations

from collections.abc import Mapping

import cv2
import numpy as np

from scoring.tiles import Square
from vision.lattice import UNIT, Array, Lattice, apply

FEW = 6  # tiles, below which their corners do not determine the perspective


class BoardCorners:
    """Tiles by their corners (4, 2) px while a board grows, and the lattice through them."""

    def __init__(self, corners: dict[Square, Array], lattice: Lattice) -> None:
        self.corners = corners
        self.lattice = lattice
        self.asked: dict[Square, tuple[Array, float]] = {}  # the pose examined, and the probability of a tile there

    def fit(self) -> None:
        """The lattice that the corners lie on, each tile displaced and turned as it is."""
        if not self.corners:
            return
        grid = _fitted(self.corners)
        if grid is not None:
            self.lattice = Lattice(grid=grid)
        self.lattice.shifts = {at: self.lattice.shift_of(at, pose_of(c)) for at, c in self.corners.items()}


def pose_of(corners: Array) -> Array:
    """(3, 3) from a tile's unit square to its corners (4, 2) px."""
    return cv2.getPerspectiveTransform(UNIT.astype(np.float32), corners.astype(np.float32)).astype(float)


def _fitted(corners: Mapping[Square, Array]) -> Array | None:
    """(3, 3) from tile steps to pixels by least squares over all corners, outlying tiles left out. Few tiles give an
    affine map: their corners do not determine the perspective."""
    steps = np.concatenate([UNIT + at for at in corners])
    pixels = np.concatenate(list(corners.values()))
    wide = np.ptp(np.array(list(corners)), axis=0).min() if len(corners) > 1 else 0
    if len(corners) < FEW or wide < 1:
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
