"""Renders the printed sheets as seen by a camera over a table: for tests, benchmarks and the documentation.

A sheet is a texture in millimetres from its centre; every pixel of the camera is ray-traced, with lens distortion, to
the sheet's plane, and supersampled. The light is uneven, the sensor adds noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
import numpy.typing as npt

from calibration.boards import opencv_board
from calibration.targets import CARD_MM, CARDS, MAT, MAT_MM, Board, Marker, marker_bits
from vision.frames import Image
from vision.simulator.camera import Camera, focal_of

Array = npt.NDArray[np.float64]
PX_PER_MM = 8.0  # of textures
_TWICE = 2  # samples per pixel each way
_STEP = 4  # px between the points at which a lens is evaluated and a sheet is searched for


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sheet:
    """A printed sheet: ``texture`` (h, w) grey at PX_PER_MM, its centre the sheet's origin."""

    texture: Image

    @property
    def size_mm(self) -> tuple[float, float]:
        return self.texture.shape[1] / PX_PER_MM, self.texture.shape[0] / PX_PER_MM


@dataclass(frozen=True, slots=True, kw_only=True)
class Lying:
    """A sheet in space: ``rotation`` (3, 3) maps its axes (x, y, into the paper) to the table's (x, y, down), and
    ``at_mm`` is its centre (x, y, height over the table)."""

    sheet: Sheet
    rotation: Array
    at_mm: tuple[float, float, float]


def flat(sheet: Sheet, x_mm: float, y_mm: float, angle_deg: float = 0.0) -> Lying:
    """A sheet flat on the table."""
    return Lying(sheet=sheet, rotation=turned(angle_deg), at_mm=(x_mm, y_mm, 0.0))


def turned(angle_deg: float, about_x_deg: float = 0.0, about_y_deg: float = 0.0) -> Array:
    """Rotation in the sheet's plane, then tilts about the table's x and y."""
    a, b, c = np.radians([about_x_deg, about_y_deg, angle_deg])
    rz = np.array([[np.cos(c), -np.sin(c), 0], [np.sin(c), np.cos(c), 0], [0, 0, 1]])
    rx = np.array([[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]])
    ry = np.array([[np.cos(b), 0, np.sin(b)], [0, 1, 0], [-np.sin(b), 0, np.cos(b)]])
    return np.asarray(ry @ rx @ rz)


def charuco_sheet(board: Board, border_mm: float = 8.0) -> Sheet:
    """A ChArUco board on white paper."""
    width, height = (round(n * PX_PER_MM) for n in board.size_mm)
    border = round(border_mm * PX_PER_MM)
    inner = opencv_board(board).generateImage((width, height))
    whole = cv2.copyMakeBorder(inner, border, border, border, border, cv2.BORDER_CONSTANT, value=255)
    return Sheet(texture=np.asarray(whole, np.uint8))


def marker_sheet(markers: Sequence[Marker], size_mm: tuple[float, float]) -> Sheet:
    """White paper with markers."""
    texture = np.full((round(size_mm[1] * PX_PER_MM), round(size_mm[0] * PX_PER_MM)), 255, np.uint8)
    middle = np.array(texture.shape[::-1]) / 2
    for marker in markers:
        side = round(marker.size_mm * PX_PER_MM)
        bits = np.where(marker_bits(marker.id), 0, 255).astype(np.uint8)
        x, y = (round(float(v)) for v in middle + marker.corners_mm[0] * PX_PER_MM)
        texture[y:y + side, x:x + side] = cv2.resize(bits, (side, side), interpolation=cv2.INTER_NEAREST)
    return Sheet(texture=texture)


def mat_sheet() -> Sheet:
    """The mat."""
    return marker_sheet(MAT, (MAT_MM[0] + 10, MAT_MM[1] + 10))


def card_sheets() -> tuple[Sheet, ...]:
    """The four corner cards, cut out."""
    return tuple(marker_sheet([Marker(id=m.id, centre_mm=(0.0, 0.0), size_mm=m.size_mm)], (CARD_MM, CARD_MM))
                 for m in CARDS)


def overhead(size: tuple[int, int] = (1536, 864), *, fov_deg: float = 66.0, height_mm: float = 800.0,
             tilt_deg: tuple[float, float, float] = (1.5, -1.0, 0.5), k1: float = 0.0, k2: float = 0.0,
             off_px: tuple[float, float] = (6.0, -4.0)) -> Camera:
    """A camera on an arm. ``off_px`` is the offset of the principal point from the picture's centre."""
    w, h = size
    a, b, c = (float(v) for v in np.radians(tilt_deg))
    return Camera(width=w, height=h, focal_px=focal_of(w, fov_deg), centre_px=(w / 2 + off_px[0], h / 2 + off_px[1]),
                  k1=k1, k2=k2, position_mm=(height_mm * np.tan(b), -height_mm * np.tan(a), height_mm), tilt=(a, b, c))


def photograph(camera: Camera, things: Sequence[Lying], *, seed: int = 0, noise: float = 3.0, light: float = 0.25,
               blur_px: float = 0.6, table_bgr: tuple[int, int, int] = (96, 128, 150), under: Image | None = None,
               ) -> Image:
    """(height, width, 3) BGR. ``under`` is the picture of the table itself (default: plain), ``light`` the darkening of
    the corners relative to the centre, ``noise`` in grey levels."""
    rng = np.random.default_rng(seed)
    size = (camera.width, camera.height)
    if under is None:
        grain = cv2.resize(rng.normal(0, 1, (camera.height // 3 + 1, camera.width // 9 + 1)).astype(np.float32), size)
        picture = np.clip(np.array(table_bgr, np.float32) * (1 + 0.05 * grain[..., None]), 0, 255)
    else:
        picture = under.astype(np.float32)
    for thing in things:
        seen = _seen(camera, _rays(camera), thing)
        if seen is not None:
            part, value, alpha = seen
            picture[part] = picture[part] * (1 - alpha[..., None]) + (value * alpha)[..., None]
    yy, xx = np.mgrid[0:camera.height, 0:camera.width].astype(np.float32)
    far = np.hypot(xx / size[0] - rng.uniform(0.35, 0.65), yy / size[1] - rng.uniform(0.35, 0.65))
    picture = cv2.GaussianBlur(picture * (1 - light * far[..., None]), (0, 0), blur_px)
    out: Image = np.clip(picture + rng.normal(0, noise, picture.shape), 0, 255).astype(np.uint8)
    return out


@lru_cache(maxsize=1)  # most pictures of a series are of one camera
def _rays(camera: Camera) -> npt.NDArray[np.float32]:
    """(2 h, 2 w, 3) directions in table axes (depth down) of the samples of every pixel."""
    step = _STEP
    xs = np.arange(-step, camera.width + 2 * step, step)
    ys = np.arange(-step, camera.height + 2 * step, step)
    px = np.stack(np.meshgrid(xs, ys), -1).reshape(-1, 2).astype(float)
    straight = (camera.undistort(px) - camera.centre_px) / camera.focal_px
    coarse = straight.reshape(len(ys), len(xs), 2)
    # OpenCV's remap interpolates in steps of 1/32, too coarse here
    across, down = _between(camera.width, len(xs), step), _between(camera.height, len(ys), step)
    fine = np.stack([down @ coarse[..., axis] @ across.T for axis in range(2)], axis=-1).astype(np.float32)
    rays = np.concatenate([fine, np.ones((*fine.shape[:2], 1), np.float32)], axis=-1)
    return np.asarray(rays @ camera.rotation.astype(np.float32), np.float32)


def _between(length: int, count: int, step: int) -> Array:
    """(samples, count) weights of linear interpolation from points every ``step`` px, the first one step outside."""
    at = ((np.arange(length * _TWICE) + 0.5) / _TWICE - 0.5 + step) / step
    first = np.clip(np.floor(at).astype(int), 0, count - 2)
    out = np.zeros((len(at), count))
    rows = np.arange(len(at))
    out[rows, first], out[rows, first + 1] = 1 - (at - first), at - first
    return out


def _seen(camera: Camera, rays: npt.NDArray[np.float32], thing: Lying
          ) -> tuple[tuple[slice, slice], npt.NDArray[np.float32], npt.NDArray[np.float32]] | None:
    """Where a sheet is in the picture, and its grey value and coverage there (height, width); None when it is not."""
    part = _where(camera, rays, thing)
    if part is None:
        return None
    top, bottom, left, right = part
    half = np.array(thing.sheet.size_mm) / 2
    u, v, depth = _on_sheet(camera, rays[_TWICE * top:_TWICE * bottom, _TWICE * left:_TWICE * right], thing)
    h, w = thing.sheet.texture.shape
    value = cv2.remap(_inked(thing.sheet), u * np.float32(PX_PER_MM) + np.float32(w / 2 - 0.5),
                      v * np.float32(PX_PER_MM) + np.float32(h / 2 - 0.5),
                      cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    inside = ((np.abs(u) < half[0]) & (np.abs(v) < half[1]) & (depth > 0)).astype(np.float32)
    size = (right - left, bottom - top)
    return (np.s_[top:bottom, left:right],
            np.asarray(cv2.resize(value, size, interpolation=cv2.INTER_AREA), np.float32),
            np.asarray(cv2.resize(inside, size, interpolation=cv2.INTER_AREA), np.float32))


def _where(camera: Camera, rays: npt.NDArray[np.float32], thing: Lying) -> tuple[int, int, int, int] | None:
    """Rows and columns (top, bottom, left, right) outside which nothing of a sheet is seen; None when it is not seen.

    The picture is divided into cells of _STEP pixels. A cell shows what is between its corners on the sheet's plane,
    so the sheet is in those cells where the box around the corners meets it, and, as a lens bends lines a little
    between them, in their neighbours.
    """
    rows, columns = (np.append(np.arange(0, n, _STEP * _TWICE), n - 1) for n in rays.shape[:2])
    points = _on_sheet(camera, rays[np.ix_(rows, columns)], thing)
    corners = np.stack([points[:, :-1, :-1], points[:, :-1, 1:], points[:, 1:, :-1], points[:, 1:, 1:]])
    low, high = corners.min(axis=0), corners.max(axis=0)
    half = np.array(thing.sheet.size_mm).reshape(2, 1, 1) / 2
    horizon = (low[2] <= 0) & (high[2] > 0)  # such a cell is without bounds on the plane
    meets = horizon | (low[2] > 0) & ((low[:2] < half) & (high[:2] > -half)).all(axis=0)
    if not meets.any():
        return None
    down, across = (np.flatnonzero(meets.any(axis=axis)) for axis in (1, 0))
    return (_STEP * max(int(down[0]) - 1, 0), min(_STEP * (int(down[-1]) + 2), camera.height),
            _STEP * max(int(across[0]) - 1, 0), min(_STEP * (int(across[-1]) + 2), camera.width))


def _on_sheet(camera: Camera, rays: npt.NDArray[np.float32], thing: Lying) -> npt.NDArray[np.float32]:
    """(3, h, w) float32: where rays meet a sheet's plane, in mm from its centre, and how far along the ray."""
    x, y, z = camera.position_mm
    eye = np.array([x, y, -z]) - np.array([thing.at_mm[0], thing.at_mm[1], -thing.at_mm[2]])
    local = rays @ thing.rotation.astype(np.float32)
    start = (eye @ thing.rotation).astype(np.float32)
    depth = -start[2] / np.where(np.abs(local[..., 2]) < 1e-6, np.float32(1e-6), local[..., 2])
    return np.stack([start[0] + depth * local[..., 0], start[1] + depth * local[..., 1], depth])


@lru_cache(maxsize=8)
def _inked(sheet: Sheet) -> npt.NDArray[np.float32]:
    """The texture as ink on paper, softer than the drawing, which also avoids aliasing."""
    return np.asarray(cv2.GaussianBlur(sheet.texture.astype(np.float32), (0, 0), 0.15 * PX_PER_MM), np.float32)
