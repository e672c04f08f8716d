"""The simulated camera: a pinhole with radial distortion above a table.

Table coordinates are millimetres: x to the right and y down as the camera sees the table, z up from its surface, the
origin on the table near the middle of the picture. Internally depth points downwards so that the rotation is proper.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Camera:
    """``focal_px`` and ``centre_px`` of a square-pixel pinhole, Brown-Conrady ``k1, k2``, and its pose.

    ``position_mm`` is (x, y, height); ``tilt`` are the two tilts and the roll in radians.
    """

    width: int
    height: int
    focal_px: float
    centre_px: tuple[float, float]
    k1: float
    k2: float
    position_mm: tuple[float, float, float]
    tilt: tuple[float, float, float]

    @property
    def matrix(self) -> Array:
        """(3, 3) intrinsic matrix in px."""
        return np.array([[self.focal_px, 0, self.centre_px[0]], [0, self.focal_px, self.centre_px[1]], [0, 0, 1.0]])

    @property
    def distortion(self) -> Array:
        """OpenCV's five coefficients."""
        return np.array([self.k1, self.k2, 0.0, 0.0, 0.0])

    @property
    def rotation(self) -> Array:
        """(3, 3) from table axes (x, y, depth) to camera axes."""
        return _rotation(self.tilt)

    def project(self, points_mm: npt.ArrayLike) -> Array:
        """(N, 2) px of (N, 3) table points (x, y, z up), lens distortion included."""
        p = np.asarray(points_mm, float).reshape(-1, 3)
        x, y, z = self.position_mm
        cam = (p * (1, 1, -1) - (x, y, -z)) @ self.rotation.T
        n = cam[:, :2] / cam[:, 2:3]
        r2 = (n * n).sum(1, keepdims=True)
        out: Array = n * (1 + self.k1 * r2 + self.k2 * r2 * r2) * self.focal_px + self.centre_px
        return out

    def undistort(self, points_px: npt.ArrayLike) -> Array:
        """(N, 2) undistorted px."""
        p = np.asarray(points_px, float).reshape(-1, 2)
        d = (p - self.centre_px) / self.focal_px
        far = np.linalg.norm(d, axis=1, keepdims=True)
        r = far.copy()
        for _ in range(8):  # Newton's method on the radius
            r2 = r * r
            r -= (r * (1 + self.k1 * r2 + self.k2 * r2 * r2) - far) / (1 + 3 * self.k1 * r2 + 5 * self.k2 * r2 * r2)
        out: Array = d * (r / np.maximum(far, 1e-12)) * self.focal_px + self.centre_px
        return out

    def homography(self, height_mm: float = 0.0) -> Array:
        """(3, 3) from table (x, y) in mm, at that height, to undistorted px."""
        x, y, z = self.position_mm
        r = self.rotation
        h = self.matrix @ np.column_stack([r[:, 0], r[:, 1], r @ np.array([-x, -y, z - height_mm])])
        out: Array = h / h[2, 2]
        return out

    def table_mm(self, points_px: npt.ArrayLike, height_mm: float = 0.0) -> Array:
        """(N, 2) mm where the rays through these distorted px meet the plane at that height."""
        h = np.linalg.inv(self.homography(height_mm))
        p = np.column_stack([self.undistort(points_px), np.ones(len(np.asarray(points_px).reshape(-1, 2)))]) @ h.T
        out: Array = p[:, :2] / p[:, 2:3]
        return out

    def scale(self, at_mm: tuple[float, float], height_mm: float = 0.0) -> float:
        """px per mm around a point."""
        x, y = at_mm
        q = self.project([(x - 5, y, height_mm), (x + 5, y, height_mm), (x, y - 5, height_mm), (x, y + 5, height_mm)])
        return float((np.linalg.norm(q[1] - q[0]) + np.linalg.norm(q[3] - q[2])) / 20)

    def table_map(self, step: int = 16) -> npt.NDArray[np.float32]:
        """(height, width, 2) float32: the table point in mm seen by each px (exact every ``step`` px, interpolated
        between)."""
        gx = np.arange(0, self.width + step, step)
        gy = np.arange(0, self.height + step, step)
        px = np.stack(np.meshgrid(gx, gy), -1).reshape(-1, 2)
        coarse = self.table_mm(px).reshape(len(gy), len(gx), 2).astype(np.float32)
        fx, fy = np.meshgrid(np.arange(self.width, dtype=np.float32) / step,
                             np.arange(self.height, dtype=np.float32) / step)
        return np.asarray(cv2.remap(coarse, fx, fy, cv2.INTER_LINEAR), np.float32)


def focal_of(width: int, horizontal_fov_deg: float) -> float:
    return width / 2 / math.tan(math.radians(horizontal_fov_deg) / 2)


@lru_cache(maxsize=64)  # every projection of a point asks for it
def _rotation(tilt: tuple[float, float, float]) -> Array:
    ax, ay, az = tilt
    rx = np.array([[1, 0, 0], [0, math.cos(ax), -math.sin(ax)], [0, math.sin(ax), math.cos(ax)]])
    ry = np.array([[math.cos(ay), 0, math.sin(ay)], [0, 1, 0], [-math.sin(ay), 0, math.cos(ay)]])
    rz = np.array([[math.cos(az), -math.sin(az), 0], [math.sin(az), math.cos(az), 0], [0, 0, 1]])
    out: Array = rz @ ry @ rx
    out.flags.writeable = False
    return out
