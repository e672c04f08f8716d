"""The point below the camera, from boards that an exact pinhole camera sees."""

from __future__ import annotations

import math

import cv2
import numpy as np
import pytest

from scoring.tiles import Square
from vision.lattice import UNIT, Array
from vision.nadir import board_grid, height_direction, upright
from vision.simulator.camera import Camera
from vision.view import View

SHAPE = (1080, 1920, 3)
FOCAL, TILE_MM, HIGH_MM = 1728.0, 45.0, 900.0


def camera(tilt_deg: float, centre: tuple[float, float] = (960.0, 540.0)) -> Camera:
    """One that looks at the origin of the table from a distance of ``HIGH_MM``."""
    tilt = math.radians(tilt_deg)
    made = Camera(width=SHAPE[1], height=SHAPE[0], focal_px=FOCAL, centre_px=centre, k1=0.0, k2=0.0,
                  position_mm=(0.0, 0.0, HIGH_MM * math.cos(tilt)), tilt=(tilt, 0.0, 0.0))
    _, y = made.table_mm([centre])[0]
    return Camera(width=SHAPE[1], height=SHAPE[0], focal_px=FOCAL, centre_px=centre, k1=0.0, k2=0.0,
                  position_mm=(0.0, -float(y), HIGH_MM * math.cos(tilt)), tilt=(tilt, 0.0, 0.0))


def board(seen_by: Camera, bent: float = 0.0, noise_px: float = 0.3) -> dict[Square, Array]:
    """Six by five tiles, displaced together as by a perspective, and less regularly besides: by ``bent`` tiles at most,
    and 0.3 of that."""
    rng, out = np.random.default_rng(1), {}
    for x in range(6):
        for y in range(5):
            u, v = (x - 3.0) / 3.0, (y - 2.5) / 2.5
            off = bent * np.array([u * u + 0.3 * math.sin(5 * v), u * v + 0.3 * math.sin(5 * u)])
            mm = (UNIT + (x - 3.0, y - 2.5) + off) * TILE_MM
            px = seen_by.project(np.column_stack([mm, np.zeros(4)])) + rng.normal(0.0, noise_px, (4, 2))
            out[x, y] = np.asarray(cv2.getPerspectiveTransform(UNIT.astype(np.float32), px.astype(np.float32)), float)
    return out


def errors(seen_by: Camera, poses: dict[Square, Array], view: View | None = None) -> tuple[float, float]:
    """Of the perspective alone and of `upright`, in picture widths."""
    x, y, _ = seen_by.position_mm
    foot = seen_by.homography() @ (x, y, 1.0)
    grid = board_grid(poses)
    return tuple(math.dist(up[:2] / up[2], foot[:2] / foot[2]) / SHAPE[1]  # type: ignore[return-value]
                 for up in (height_direction(grid, SHAPE), upright(grid, poses, SHAPE, view)))


@pytest.mark.parametrize("tilt_deg", [0.0, 20.0, 35.0])
def test_a_board_that_is_an_exact_lattice_tells_where_the_camera_is(tilt_deg: float) -> None:
    seen_by = camera(tilt_deg)
    _, both = errors(seen_by, board(seen_by))
    assert both < 0.03


def test_a_bent_board_below_a_camera_is_no_view_from_a_side() -> None:
    seen_by = camera(3.0)
    alone, both = errors(seen_by, board(seen_by, bent=0.25))
    assert alone > 0.3 and both < 0.1


def test_a_known_lens_looks_straight_down_at_its_principal_point() -> None:
    centre = 1080.0, 460.0
    seen_by = camera(0.0, centre)
    view = View(size=(SHAPE[1], SHAPE[0]), matrix=seen_by.matrix, distortion=np.zeros(5))
    _, unknown = errors(seen_by, board(seen_by, bent=0.05))
    _, known = errors(seen_by, board(seen_by, bent=0.05), view)
    assert known < 0.02 < unknown
