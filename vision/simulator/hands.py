"""An arm as a height field: sleeve, forearm and a hand that pinches something at its fingertips."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from vision.frames import Image
from vision.simulator.camera import Camera
from vision.simulator.draw import Roi, around, darken, part

REACH_MM = 1500.0  # from the fingertips to the end of the sleeve, out of view
PER_MM = 1.0  # sprite px per mm
_HALF_MM = 120.0
_SKIN = ((118, 152, 212), (96, 132, 196), (70, 98, 154), (142, 172, 226), (52, 72, 112))
_SLEEVES = ((92, 60, 44), (60, 60, 66), (70, 84, 150), (150, 150, 156), (58, 92, 62), (130, 96, 50))
# Capsules (x0, y0, r0, x1, y1, r1, lift) in mm: x from the fingertips along the arm, y across, lift of the axis.
_HAND = (
    (4, -6, 6.5, 30, -16, 8.0, 8), (30, -16, 8.0, 78, -26, 10.5, 22),  # index finger
    (2, 4, 6.8, 28, 0, 8.4, 12), (28, 0, 8.4, 80, -6, 11.0, 26),  # middle finger
    (12, 14, 6.2, 36, 14, 7.8, 10), (36, 14, 7.8, 82, 14, 10.5, 22),  # ring finger
    (26, 24, 5.4, 46, 26, 6.6, 6), (46, 26, 6.6, 86, 30, 9.0, 16),  # little finger
    (6, -14, 7.4, 34, -38, 9.4, 2), (34, -38, 9.4, 78, -40, 13.0, 8), (78, -40, 13, 112, -26, 15, 12),  # thumb
    (84, -22, 20, 138, -12, 25, 14), (84, 6, 20, 138, 6, 25, 14), (86, 22, 18, 138, 12, 24, 12),  # back of the hand
    (138, 0, 26, 172, 0, 24, 12), (172, 0, 25, 430, 4, 38, 12),  # wrist, forearm
)
_KNEE = ((80, 0, 76, 500, 6, 92, 0),)
_NAILS = ((2, -7, -20), (0, 4, 0), (4, -16, -40))


class Hand:
    """One player's arm, or a ``knee`` in trousers. Call ``pose`` once per visit, then ``draw`` at each position of its
    fingertips."""

    def __init__(self, rng: np.random.Generator, knee: bool = False) -> None:
        w, h = int(REACH_MM * PER_MM), int(2 * _HALF_MM * PER_MM)
        self._tip = (20 * PER_MM, h / 2)
        yy, xx = np.mgrid[0:h, 0:int(470 * PER_MM)].astype(np.float32)
        x, y = (xx - self._tip[0]) / PER_MM, (yy - self._tip[1]) / PER_MM
        size = rng.uniform(0.88, 1.08)
        x, y = x / size, y / size
        field = np.full(x.shape, -1e3, np.float32)
        for capsule in _KNEE if knee else _HAND:
            field = np.maximum(field, _capsule(x, y, *capsule))
        cuff = 0.0 if knee else rng.uniform(190, 300)
        sleeve = _capsule(x, y, cuff, 0, 44, 480, 4, 58, 14)
        sleeve += 1.2 * _smooth(rng, x.shape, 9) * (x > cuff - 30)
        is_sleeve = (sleeve > field) & (sleeve > 0) & (x > cuff - 4 + 3 * _smooth(rng, x.shape, 25))
        if knee:
            is_sleeve = field > 0
        field = np.where(is_sleeve & (sleeve > field), sleeve, field)
        skin = np.array(_SKIN[int(rng.integers(len(_SKIN)))], np.float32)
        cloth = np.array(_SLEEVES[int(rng.integers(len(_SLEEVES)))], np.float32)
        mottle = (1 + 0.03 * _smooth(rng, x.shape, 6) + 0.02 * _smooth(rng, x.shape, 1.5))[..., None]
        colour = np.where(is_sleeve[..., None], cloth * (1 + 0.05 * _smooth(rng, x.shape, 1.2))[..., None],
                          skin * mottle)
        for nx, ny, deg in () if knee else _NAILS:
            c, s = np.cos(np.radians(deg)), np.sin(np.radians(deg))
            u, v = (x - nx) * c + (y - ny) * s, -(x - nx) * s + (y - ny) * c
            nail = np.clip(1.6 - (u / 5) ** 2 - (v / 3.6) ** 2, 0, 1)[..., None] * 0.5
            colour = colour * (1 - nail) + (skin * 1.1 + (22, 16, 14)) * nail
        solid = cv2.GaussianBlur(np.clip(field, 0, None), (0, 0), 1.1)
        gx, gy = np.gradient(solid, axis=1), np.gradient(solid, axis=0)
        self._normal = np.dstack([-gx, -gy, np.full_like(gx, 1.0)])
        self._normal /= np.linalg.norm(self._normal, axis=2, keepdims=True)
        self._colour = colour
        crease = cv2.GaussianBlur(solid, (0, 0), 5) - solid
        self._crease = 1 - 0.035 * np.clip(crease, 0, 8)
        mask = cv2.GaussianBlur((field > 0).astype(np.float32), (0, 0), 0.8)
        self._alpha = np.zeros((h, w), np.uint8)
        self._alpha[:, :x.shape[1]] = (mask * 255).astype(np.uint8)
        self._alpha[:, x.shape[1]:] = self._alpha[:, x.shape[1] - 1:x.shape[1]]
        self._soft = cv2.GaussianBlur(self._alpha, (0, 0), 11)
        self._weave = (1 + 0.04 * _smooth(rng, (h, w), 1.2) + 0.07 * _smooth(rng, (h, w), 40)).astype(np.float32)
        self._sprite: Image = np.zeros((h, w, 3), np.uint8)

    def pose(self, direction_deg: float, lamp_mm: npt.NDArray[np.float64]) -> None:
        """Shade the arm for a visit that comes from that direction (degrees, clockwise from the right)."""
        a = np.radians(direction_deg)
        lamp = lamp_mm / np.linalg.norm(lamp_mm)
        c, s = np.cos(a), np.sin(a)
        light = np.array([c * lamp[0] + s * lamp[1], -s * lamp[0] + c * lamp[1], lamp[2]])
        shade = 0.42 + 0.62 * np.clip(self._normal @ light.astype(np.float32), 0, 1)
        image = np.clip(self._colour * (shade * self._crease)[..., None], 0, 255).astype(np.uint8)
        known, w = image.shape[1], self._sprite.shape[1]
        self._sprite[:, :known] = image
        tail = cv2.GaussianBlur(image[:, -60:], (0, 0), 6).mean(axis=1, keepdims=True)
        weave = self._weave[:, :w - known, None] * tail
        fade = np.minimum(1, np.arange(w - known, dtype=np.float32) / 40)[None, :, None]
        rest = image[:, ::-1][:, :w - known] if w - known <= known else np.tile(image[:, -200:][:, ::-1], (1, 8, 1))
        self._sprite[:, known:] = np.clip(weave * fade + rest[:, :w - known] * (1 - fade), 0, 255).astype(np.uint8)

    def _affine(self, tip_mm: npt.NDArray[np.float64], direction_deg: float, camera: Camera,
                drop_mm: tuple[float, float] = (0.0, 0.0), height_mm: float = 35.0) -> npt.NDArray[np.float64]:
        a = np.radians(direction_deg)
        along, across = np.array([np.cos(a), np.sin(a)]), np.array([-np.sin(a), np.cos(a)])
        base = tip_mm[:2] + drop_mm
        world = [(*base, height_mm), (*(base + along * 150), height_mm), (*(base + across * 100), height_mm)]
        src = np.array([self._tip, (self._tip[0] + 150 * PER_MM, self._tip[1]),
                        (self._tip[0], self._tip[1] + 100 * PER_MM)], np.float32)
        return np.asarray(cv2.getAffineTransform(src, camera.project(world).astype(np.float32)), float)

    def region(self, tip_mm: npt.NDArray[np.float64], direction_deg: float, camera: Camera,
               lamp_mm: npt.NDArray[np.float64]) -> Roi | None:
        """The px that the arm or its shadow may touch."""
        h, w = self._alpha.shape
        corners = np.array([(0, 0, 1), (w, 0, 1), (w, h, 1), (0, h, 1)], float)
        size = (camera.width, camera.height)
        here = corners @ self._affine(tip_mm, direction_deg, camera).T
        there = corners @ self._affine(tip_mm, direction_deg, camera, _drop(tip_mm, lamp_mm), 0.0).T
        return around(np.vstack([here, there]), size)

    def shadow(self, canvas: Image, roi: Roi, tip_mm: npt.NDArray[np.float64], direction_deg: float, camera: Camera,
               lamp_mm: npt.NDArray[np.float64]) -> None:
        m = self._affine(tip_mm, direction_deg, camera, _drop(tip_mm, lamp_mm), 0.0)
        m[:, 2] -= roi[:2]
        view = part(canvas, roi)
        cover = cv2.warpAffine(self._soft, m, (view.shape[1], view.shape[0]))
        darken(view, cover.astype(np.float32) * np.float32(0.5 / 255))

    def draw(self, canvas: Image, roi: Roi, tip_mm: npt.NDArray[np.float64], direction_deg: float,
             camera: Camera) -> None:
        m = self._affine(tip_mm, direction_deg, camera)
        m[:, 2] -= roi[:2]
        view = part(canvas, roi)
        size = (view.shape[1], view.shape[0])
        alpha = cv2.warpAffine(self._alpha, m, size).astype(np.float32) * np.float32(1 / 255)
        colour = cv2.warpAffine(self._sprite, m, size, borderMode=cv2.BORDER_REPLICATE)
        view[:] = cv2.blendLinear(colour, np.ascontiguousarray(view), alpha, np.float32(1) - alpha)


def _drop(tip_mm: npt.NDArray[np.float64], lamp_mm: npt.NDArray[np.float64]) -> tuple[float, float]:
    away = (tip_mm[:2] - lamp_mm[:2]) / lamp_mm[2] * 75
    return float(away[0]), float(away[1])


def _capsule(x: np.ndarray, y: np.ndarray, x0: float, y0: float, r0: float, x1: float, y1: float, r1: float,
             lift: float) -> npt.NDArray[np.float32]:
    """Height of a tapered capsule over the ground; negative outside of it."""
    dx, dy = x1 - x0, y1 - y0
    t = np.clip(((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy), 0, 1)
    d = np.hypot(x - x0 - t * dx, y - y0 - t * dy)
    r = r0 + (r1 - r0) * t
    inside = r * r - d * d
    return np.where(inside > 0, lift + np.sqrt(np.maximum(inside, 0)), -1e3).astype(np.float32)


def _smooth(rng: np.random.Generator, shape: tuple[int, ...], cell: float) -> npt.NDArray[np.float32]:
    small = rng.standard_normal((max(2, int(shape[0] / cell)), max(2, int(shape[1] / cell))), np.float32)
    return np.asarray(cv2.resize(small, (shape[1], shape[0]), interpolation=cv2.INTER_CUBIC), np.float32)
