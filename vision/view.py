"""Calibration of the camera over the table: lens, pose, and the players' paints in this light.

Without a calibration a typical camera is assumed. Everything in vision works on *straight* (undistorted) pictures;
``straighten`` makes them and ``bend`` maps points back to the original.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import cv2
import numpy as np
import numpy.typing as npt

from vision.frames import Image

Array = npt.NDArray[np.float64]

USUAL_FOCAL = 0.9  # of the picture's width, for an unknown lens
_BENT_PX = 0.7  # smaller distortion is not corrected: undistorting costs time and sharpness
_SMALLEST = 0.7  # of the focal length: limit of the downscaling that keeps the corners in the picture


@dataclass(frozen=True, slots=True, kw_only=True)
class Eye:
    """Viewpoint of a straight picture: the table point below the camera (px) and the focal length (px)."""

    nadir_px: tuple[float, float]
    focal_px: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class View:
    """``matrix`` (3, 3) and OpenCV's five or eight ``distortion`` coefficients of pictures of ``size`` (width, height).

    ``rotation`` (3, 3) and ``translation`` (3,) map table points (mm; x, y as seen, z away from the camera) to camera
    axes. ``paints`` are the players' colours as sRGB (red, green, blue) as this camera sees them, ``shapes`` the shape
    of a colour's pieces (follower, disc, cube) where known.
    """

    size: tuple[int, int]
    matrix: Array
    distortion: Array
    rotation: Array | None = None
    translation: Array | None = None
    paints: Mapping[str, tuple[int, int, int]] = field(default_factory=dict)
    shapes: Mapping[str, str] = field(default_factory=dict)
    _kept: dict[tuple[int, int], tuple[npt.NDArray[np.int16], npt.NDArray[np.uint16]]] = field(
        default_factory=dict, repr=False)  # undistortion maps by size

    @property
    def bends(self) -> bool:
        """Whether the lens distorts enough to be worth correcting."""
        border = _border(self.size)
        same = rays_of(border, self.matrix, self.distortion) @ self.matrix[:2, :2].T + self.matrix[:2, 2]
        return bool(np.abs(same - border).max() > _BENT_PX)

    @property
    def straight(self) -> Array:
        """(3, 3) matrix of the straight pictures: they contain all of the original, unless the lens is very wide."""
        if not self.bends:
            return self.matrix
        rays = rays_of(_border(self.size), self.matrix, self.distortion)
        low, high = rays.min(axis=0), rays.max(axis=0)
        last = np.array(self.size) - 1.0
        full = float(self.matrix[0, 0])
        focal = max(min(full, *(last / (high - low))), _SMALLEST * full)
        centre = self.matrix[:2, 2]
        at_least, at_most = -low * focal, last - high * focal
        room = at_least <= at_most
        centre = np.where(room, np.clip(centre, at_least, np.maximum(at_least, at_most)), (at_least + at_most) / 2)
        return np.array([[focal, 0, centre[0]], [0, focal, centre[1]], [0, 0, 1.0]])

    def straighten(self, bgr: Image) -> Image:
        """The undistorted picture (or of a smaller copy, in colour or grey)."""
        if not self.bends:
            return bgr
        size = (bgr.shape[1], bgr.shape[0])
        if size not in self._kept:
            smaller = np.diag([size[0] / self.size[0], size[1] / self.size[1], 1.0])
            whole, parts = cv2.initUndistortRectifyMap(smaller @ self.matrix, self.distortion, np.eye(3),
                                                       smaller @ self.straight, size, cv2.CV_16SC2)
            self._kept[size] = np.asarray(whole, np.int16), np.asarray(parts, np.uint16)
        first, second = self._kept[size]
        return np.asarray(cv2.remap(bgr, first, second, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE), np.uint8)

    def bend(self, points_px: npt.ArrayLike) -> Array:
        """(N, 2) px of the original picture for points of the straight one."""
        points = np.asarray(points_px, float).reshape(-1, 2)
        if not self.bends:
            return points
        matrix = self.straight
        rays = np.column_stack([(points - matrix[:2, 2]) / matrix[[0, 1], [0, 1]], np.ones(len(points))])
        bent, _ = cv2.projectPoints(rays[:, None], np.zeros(3), np.zeros(3), self.matrix, self.distortion)
        return np.asarray(bent[:, 0], float)

    @property
    def eye(self) -> Eye:
        """Below the camera when its pose is known, else at the principal point."""
        matrix = self.straight
        if self.rotation is None:
            return Eye(nadir_px=(float(matrix[0, 2]), float(matrix[1, 2])), focal_px=float(matrix[0, 0]))
        below = matrix @ self.rotation[:, 2]
        return Eye(nadir_px=(float(below[0] / below[2]), float(below[1] / below[2])), focal_px=float(matrix[0, 0]))

    def table(self) -> Array | None:
        """(3, 3) from table millimetres to straight px; None when the camera's pose is not known."""
        if self.rotation is None or self.translation is None:
            return None
        grid = self.straight @ np.column_stack([self.rotation[:, :2], self.translation])
        return np.asarray(grid / grid[2, 2], float)


def matrix_of(view: View | None, shape: tuple[int, ...]) -> Array | None:
    """(3, 3) intrinsic matrix of straight pictures of that shape by a calibrated camera; None for another one."""
    return None if view is None else np.diag([shape[1] / view.size[0], shape[0] / view.size[1], 1.0]) @ view.straight


def rays_of(points_px: npt.ArrayLike, matrix: Array, distortion: npt.ArrayLike) -> Array:
    """(N, 2) directions (x and y at depth 1) of px of a picture, undistorted to full precision: OpenCV's default of
    five iterations is too few for a wide lens."""
    points = np.asarray(points_px, float).reshape(-1, 1, 2)
    enough = (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 50, 1e-9)
    return np.asarray(cv2.undistortPointsIter(points, matrix, np.asarray(distortion, float), np.eye(3), np.eye(3),
                                              enough)[:, 0], float)


def _border(size: tuple[int, int]) -> Array:
    """(N, 2) px along the picture's border."""
    w, h = size[0] - 1.0, size[1] - 1.0
    t = np.linspace(0, 1, 17)[:-1]
    zero, one = np.zeros_like(t), np.ones_like(t)
    return np.concatenate([np.column_stack(p) for p in ((t * w, zero), (one * w, t * h), ((1 - t) * w, one * h),
                                                        (zero, (1 - t) * h))])
