"""A picture of one tile while it is being painted, addressed in drawing units (100 = the tile's side)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.uint8]
Colour = tuple[int, int, int]  # blue, green, red
XY = tuple[float, float]

INK: Colour = (36, 42, 52)
_SHIFT = 3


class Canvas:
    """``pixels`` is a (side, side, 3) BGR image; every coordinate and size of a method is in drawing units."""

    def __init__(self, side_px: int) -> None:
        self.side_px = side_px
        self.unit = side_px / 100.0
        self.pixels: Image = np.zeros((side_px, side_px, 3), np.uint8)
        self._origin = 0.0, 0.0

    def about(self, x: float, y: float, scale: float) -> Canvas:
        """The same picture with a drawing transform: everything is scaled by ``scale`` about the fixed point (x, y)."""
        other = Canvas.__new__(Canvas)
        other.side_px, other.pixels, other.unit = self.side_px, self.pixels, self.unit * scale
        less = self.unit - other.unit
        other._origin = self._origin[0] + x * less, self._origin[1] + y * less
        return other

    def _fixed(self, points: Sequence[XY]) -> NDArray[np.int32]:
        return np.array([self._centre(x, y) for x, y in points], np.int32).reshape(-1, 1, 2)

    def _centre(self, x: float, y: float) -> tuple[int, int]:
        one = 1 << _SHIFT
        return round((x * self.unit + self._origin[0]) * one), round((y * self.unit + self._origin[1]) * one)

    def _thick(self, width: float) -> int:
        return max(1, round(width * self.unit))

    def poly(self, points: Sequence[XY], colour: Colour, outline: float = 0.0, ink: Colour = INK) -> None:
        fixed = self._fixed(points)
        cv2.fillPoly(self.pixels, [fixed], colour, cv2.LINE_AA, _SHIFT)
        if outline:
            cv2.polylines(self.pixels, [fixed], True, ink, self._thick(outline), cv2.LINE_AA, _SHIFT)

    def line(self, points: Sequence[XY], colour: Colour, width: float) -> None:
        cv2.polylines(self.pixels, [self._fixed(points)], False, colour, self._thick(width), cv2.LINE_AA, _SHIFT)

    def disc(self, x: float, y: float, radius: float, colour: Colour, outline: float = 0.0, ink: Colour = INK) -> None:
        self.oval(x, y, radius, radius, colour, outline, ink)

    def oval(self, x: float, y: float, rx: float, ry: float, colour: Colour, outline: float = 0.0,
             ink: Colour = INK, turn_deg: float = 0.0) -> None:
        one = self.unit * (1 << _SHIFT)
        centre, axes = self._centre(x, y), (max(1, round(rx * one)), max(1, round(ry * one)))
        cv2.ellipse(self.pixels, centre, axes, turn_deg, 0, 360, colour, -1, cv2.LINE_AA, _SHIFT)
        if outline:
            cv2.ellipse(self.pixels, centre, axes, turn_deg, 0, 360, ink, self._thick(outline), cv2.LINE_AA, _SHIFT)

    def arc(self, x: float, y: float, radius: float, from_deg: float, to_deg: float, colour: Colour,
            width: float) -> None:
        axis = round(radius * self.unit * (1 << _SHIFT))
        cv2.ellipse(self.pixels, self._centre(x, y), (axis, axis), 0, from_deg, to_deg, colour, self._thick(width),
                    cv2.LINE_AA, _SHIFT)

    def shade(self, mask: NDArray[np.uint8], strength: float, blur: float = 0.0, colour: Colour = (20, 35, 25)) -> None:
        """Blend a colour in where the mask (0..255) is set, blurred by ``blur`` units."""
        soft = as_image(cv2.GaussianBlur(mask, (0, 0), blur * self.unit)) if blur else mask
        self._mix(np.array(colour, np.float32), soft, strength)

    def blend(self, other: Image, mask: NDArray[np.uint8], strength: float = 1.0) -> None:
        """Blend another picture of the same size over this one where the mask (0..255) is set."""
        self._mix(other, mask, strength)

    def _mix(self, other: NDArray[Any], mask: NDArray[np.uint8], strength: float) -> None:
        left, top, width, height = cv2.boundingRect(mask)
        part = np.s_[top:top + height, left:left + width]
        weight = mask[part].astype(np.float32)[..., None] * (strength / 255.0)
        below = self.pixels[part].astype(np.float32)
        above = other[part] if other.ndim == 3 else other
        self.pixels[part] = np.round(below + (above - below) * weight).astype(np.uint8)

    def area_mask(self, lines: Sequence[Sequence[XY]]) -> NDArray[np.uint8]:
        mask: NDArray[np.uint8] = np.zeros((self.side_px, self.side_px), np.uint8)
        for line in lines:
            cv2.fillPoly(mask, [self._fixed(line)], 255, cv2.LINE_AA, _SHIFT)
        return mask

    def band_mask(self, lines: Sequence[Sequence[XY]], width: float) -> NDArray[np.uint8]:
        mask: NDArray[np.uint8] = np.zeros((self.side_px, self.side_px), np.uint8)
        for line in lines:
            cv2.polylines(mask, [self._fixed(line)], False, 255, self._thick(width), cv2.LINE_AA, _SHIFT)
        return mask


def noise(rng: np.random.Generator, side_px: int, grains: Sequence[tuple[int, float]]) -> NDArray[np.float32]:
    """Smooth value noise about 0, shape (side, side): the sum of one layer per (cells across the tile, amplitude)."""
    total = np.zeros((side_px, side_px), np.float32)
    for cells, amplitude in grains:
        layer = rng.standard_normal((cells + 2, cells + 2), dtype=np.float32) * amplitude
        total += cv2.resize(layer, (side_px, side_px), interpolation=cv2.INTER_CUBIC)
    return total


def ramp(heights: NDArray[np.float32], colours: Sequence[Colour]) -> Image:
    """Maps values to a colour gradient: the first colour at -1 and below, the last at +1 and above."""
    at = np.linspace(-128, 127, len(colours))
    steps = np.arange(-128, 128)
    table = np.stack([np.interp(steps, at, [c[k] for c in colours]) for k in range(3)], axis=1)
    grey = np.clip(heights * 128 + 128, 0, 255).astype(np.uint8)
    return as_image(cv2.applyColorMap(grey, table.round().astype(np.uint8).reshape(256, 1, 3)))


def as_image(array: NDArray[Any]) -> Image:
    """Narrows the type of OpenCV's result to 8 bit."""
    return array.astype(np.uint8, copy=False)


def mix(a: Colour, b: Colour, t: float) -> Colour:
    return (round(a[0] + (b[0] - a[0]) * t), round(a[1] + (b[1] - a[1]) * t), round(a[2] + (b[2] - a[2]) * t))
