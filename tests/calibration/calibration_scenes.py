"""Rendered calibration pictures shared by the tests; small, so that they are quick."""

from __future__ import annotations

from functools import cache

import numpy as np

from calibration.documents import TableResult
from calibration.lens import LensCalibration, calibrate_lens
from calibration.plane import undistorted
from calibration.rehearsal import Lying, charuco_sheet, overhead, photograph, turned
from calibration.targets import CHARUCO
from vision.frames import Image
from vision.simulator.camera import Camera

SIZE = (1024, 576)
BENT = dict(size=SIZE, fov_deg=70.0, height_mm=560.0, tilt_deg=(5.0, -3.0, 2.0), k1=-0.14, k2=0.03)


def bent_camera() -> Camera:
    """A webcam that hangs crooked and has a bad lens."""
    return overhead(**BENT)  # type: ignore[arg-type]


@cache
def views() -> tuple[tuple[str, Image], ...]:
    camera, sheet, rng = bent_camera(), charuco_sheet(CHARUCO), np.random.default_rng(7)
    out = []
    for n in range(8):
        turn = turned(rng.uniform(0, 360), rng.uniform(-28, 28), rng.uniform(-28, 28))
        at = ((n % 4 - 1.5) * 150.0, (n // 4 - 0.5) * 170.0, 60.0)
        out.append((f"view{n}.png", photograph(camera, [Lying(sheet=sheet, rotation=turn, at_mm=at)], seed=n)))
    return tuple(out)


@cache
def lens() -> LensCalibration:
    return calibrate_lens(views(), CHARUCO)


def error_mm(table: TableResult, camera: Camera) -> tuple[float, float]:
    """Mean and largest mm by which points all over the picture are misplaced, after a rigid sheet's alignment."""
    px = grid_px((camera.width, camera.height))
    return apart_mm(table, px, camera.table_mm(px))


def grid_px(size: tuple[int, int]) -> np.ndarray:
    """(35, 2) px all over a picture."""
    x, y = np.meshgrid(np.linspace(0, size[0] - 1, 7), np.linspace(0, size[1] - 1, 5))
    return np.column_stack([x.ravel(), y.ravel()])


def apart_mm(table: TableResult, px: np.ndarray, true: np.ndarray) -> tuple[float, float]:
    """Mean and largest mm between where px lie by a calibration and where they truly lie, as rigid sheets. The truth's
    y may point up."""
    matrix = table.lens.matrix
    straight = undistorted(px, table.lens) @ matrix[:2, :2].T + matrix[:2, 2]
    back = np.column_stack([straight, np.ones(len(px))]) @ np.linalg.inv(np.reshape(table.px_from_mm, (3, 3))).T
    mine = back[:, :2] / back[:, 2:]
    a, b = mine.mean(axis=0), true.mean(axis=0)
    u, _, v = np.linalg.svd((mine - a).T @ (true - b))
    off = np.linalg.norm((mine - a) @ u @ v + b - true, axis=1)
    return float(off.mean()), float(off.max())
