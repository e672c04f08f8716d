"""Drawing primitives of invented editions: ground, houses, walls, cloisters, shields, in drawing units (100 a side)."""

from __future__ import annotations

import math

import cv2
import numpy as np
from numpy.typing import NDArray

from training.editions import Colour, Edition, Random, hsv, mix

Image = NDArray[np.uint8]

SIDE = 96  # pixels of a painted tile
UNIT = SIDE / 100.0
FINE = 4  # fractional bits of OpenCV's drawing coordinates


class Builder:
    """Draws single objects of one edition into ``image`` (SIDE, SIDE, 3) BGR."""

    def __init__(self, edition: Edition, rng: Random) -> None:
        self.e = edition
        self.rng = rng
        self.image: Image = np.zeros((SIDE, SIDE, 3), np.uint8)

    def _fixed(self, points: object) -> NDArray[np.int32]:
        return np.round(np.asarray(points, np.float32) * (UNIT * (1 << FINE))).astype(np.int32).reshape(-1, 1, 2)

    def _poly(self, points: object, colour: Colour, outline: bool = False) -> None:
        fixed = self._fixed(points)
        cv2.fillPoly(self.image, [fixed], colour, cv2.LINE_AA, FINE)
        if outline:
            cv2.polylines(self.image, [fixed], True, mix(colour, (15, 20, 25), self.e.ink), 1, cv2.LINE_AA, FINE)

    def _disc(self, x: float, y: float, r: float, colour: Colour, stretch: float = 1.0) -> None:
        one = UNIT * (1 << FINE)
        cv2.ellipse(
            self.image,
            (round(x * one), round(y * one)),
            (max(1, round(r * one)), max(1, round(r * stretch * one))),
            0,
            0,
            360,
            colour,
            -1,
            cv2.LINE_AA,
            FINE,
        )

    def _noise(self, *grains: tuple[int, float]) -> NDArray[np.float32]:
        total = np.zeros((SIDE, SIDE), np.float32)
        for cells, amplitude in grains:
            layer = self.rng.standard_normal((cells + 2, cells + 2), dtype=np.float32) * amplitude
            total += cv2.resize(layer, (SIDE, SIDE), interpolation=cv2.INTER_LINEAR)
        return total

    def _ground(self, one: Colour, other: Colour) -> Image:
        g = self.e.grain
        t = np.clip(0.35 + self._noise((2, 0.25), (5, 0.3 * g), (14, 0.25 * g), (48, 0.25 * g)), 0, 1)[..., None]
        light = 1 + 0.12 * g * self._noise((30, 0.6), (90, 0.5))[..., None]
        return np.clip((np.array(one, np.float32) * (1 - t) + np.array(other, np.float32) * t) * light, 0, 255).astype(
            np.uint8
        )

    def _house(self, x: float, y: float, size: float) -> None:
        rng, e = self.rng, self.e
        roof, wall = e.roofs[int(rng.integers(len(e.roofs)))], e.plaster[int(rng.integers(2))]
        turn, w, h = rng.uniform(-0.9, 0.9), size * rng.uniform(0.5, 0.8), size * rng.uniform(0.3, 0.5)
        cos, sin = math.cos(turn), math.sin(turn)

        def at(dx: float, dy: float) -> tuple[float, float]:
            return x + cos * dx - sin * dy * 0.3, y + sin * dx * 0.5 + dy

        self._poly([at(-w, 0), at(w, 0), at(w, h), at(-w, h)], wall, e.ink > 0.4)
        self._poly(
            [at(-w, 0.1 * h), at(-w * 0.6, -h), at(w * 0.8, -h), at(w, 0.1 * h)],
            mix(roof, (0, 0, 0), rng.uniform(0, 0.35)),
            e.ink > 0.3,
        )

    def _wall_line(self, line: NDArray[np.float32]) -> None:
        rng, e = self.rng, self.e
        fixed = [self._fixed(line)]
        wide = max(1, round(e.wall_width * UNIT))
        if rng.random() < 0.8:
            shade = [self._fixed(line + rng.uniform(0, 3, 2))]
            cv2.polylines(self.image, shade, False, mix(e.field, (10, 20, 10), 0.6), wide + 1, cv2.LINE_AA, FINE)
        cv2.polylines(self.image, fixed, False, e.wall_dark, wide + 1, cv2.LINE_AA, FINE)
        cv2.polylines(self.image, fixed, False, e.wall, max(1, wide - (1 if wide > 2 else 0)), cv2.LINE_AA, FINE)
        if e.wall_style in (1, 2):
            for x, y in line[:: 1 if e.wall_style == 1 else 2]:
                self._disc(
                    float(x),
                    float(y),
                    e.wall_width * 0.3,
                    e.wall_dark if e.wall_style == 1 else mix(e.wall, e.wall_dark, 0.5),
                )
        if e.tower is not None:
            for n in range(int(rng.integers(2, 6)), len(line), int(rng.integers(4, 9))):
                x, y = line[n].tolist()
                r = e.wall_width * rng.uniform(0.5, 0.9) + 0.6
                self._poly([(x - r, y - 2 * r), (x + r, y - 2 * r), (x + r, y + r), (x - r, y + r)], e.wall, True)
                if e.wall_style != 3:
                    self._poly([(x - 1.2 * r, y - 1.8 * r), (x, y - 4 * r), (x + 1.2 * r, y - 1.8 * r)], e.tower, True)

    def _cloister(self) -> None:
        rng, e = self.rng, self.e
        size = e.cloister_size * rng.uniform(0.85, 1.15)
        x, y = 50 + rng.normal(0, 3), 50 + rng.normal(0, 3)
        if rng.random() < 0.6:
            self._disc(
                x,
                y,
                size * rng.uniform(0.5, 0.8),
                mix(e.field, hsv(rng.uniform(30, 90), 0.4, rng.uniform(0.3, 0.9)), rng.uniform(0.2, 0.8)),
                rng.uniform(0.6, 1),
            )
        for _ in range(int(rng.integers(0, 14))):
            a = rng.uniform(0, 6.3)
            self._disc(
                x + size * 0.55 * math.cos(a),
                y + size * 0.5 * math.sin(a),
                rng.uniform(1.5, 4),
                mix(e.field, (15, 40, 15), rng.uniform(0.2, 0.8)),
            )
        if rng.random() < 0.35:
            w, h = size * rng.uniform(0.4, 0.6), size * rng.uniform(0.3, 0.5)
            self._poly(
                [(x - w, y - h * 0.6), (x + w, y - h), (x + w * 1.1, y + h * 0.7), (x - w * 0.9, y + h)],
                mix(e.plaster[0], e.field, rng.uniform(0, 0.5)),
                True,
            )
        self._disc(x + size * 0.1, y + size * 0.25, size * 0.45, mix(e.field, (10, 20, 10), 0.6), 0.35)
        roof = e.roofs[int(rng.integers(min(3, len(e.roofs))))]
        wall = e.plaster[0]
        side = rng.choice([-1.0, 1.0])
        for n in range(int(rng.integers(1, 4))):
            dx, dy = (0.0, 0.0) if n == 0 else rng.uniform(-0.25, 0.25, 2) * size
            w, h = size * rng.uniform(0.22, 0.45), size * rng.uniform(0.12, 0.25)
            cx, cy, lean = x + dx, y + dy, side * size * rng.uniform(-0.1, 0.12)
            self._poly(
                [
                    (cx - w, cy - h * 0.2 + lean),
                    (cx + w, cy - h * 0.2 - lean),
                    (cx + w, cy + h - lean),
                    (cx - w, cy + h + lean),
                ],
                wall,
                True,
            )
            self._poly(
                [
                    (cx - w, cy - h * 0.2 + lean),
                    (cx - w * 0.7, cy - h * 1.3 + lean),
                    (cx + w * 0.7, cy - h * 1.3 - lean),
                    (cx + w, cy - h * 0.2 - lean),
                ],
                mix(roof, (0, 0, 0), rng.uniform(0, 0.3)),
                True,
            )
            for k in np.linspace(-0.7, 0.7, 4):
                self._disc(cx + k * w, cy + h * 0.4 - lean * k, 0.8, (40, 40, 50))
        if rng.random() < 0.75:
            r, tall = size * rng.uniform(0.06, 0.13), size * rng.uniform(0.3, 0.55)
            tx = x + rng.uniform(-0.35, 0.35) * size
            self._poly(
                [
                    (tx - r, y - tall * 0.6),
                    (tx + r, y - tall * 0.6),
                    (tx + r, y + tall * 0.4),
                    (tx - r, y + tall * 0.4),
                ],
                wall,
                True,
            )
            self._poly(
                [(tx - 1.3 * r, y - tall * 0.6), (tx, y - tall * 1.1), (tx + 1.3 * r, y - tall * 0.6)], roof, True
            )

    def _shield(self, x: float, y: float, size: float) -> None:
        e, rng = self.e, self.rng
        w, h = size * 0.5, size * 0.58
        turn = rng.normal(0, 0.15)
        cos, sin = math.cos(turn), math.sin(turn)
        outline = [
            (-w, -h),
            (w, -h),
            (w, h * 0.15),
            (w * 0.65, h * 0.65),
            (0, h),
            (-w * 0.65, h * 0.65),
            (-w, h * 0.15),
        ]

        def place(points: list[tuple[float, float]], grow: float = 1.0) -> list[tuple[float, float]]:
            return [(x + grow * (cos * a - sin * b), y + grow * (sin * a + cos * b)) for a, b in points]

        one, two = e.shield if rng.random() < 0.5 else e.shield[::-1]
        border = (25, 25, 30) if rng.random() < 0.6 else e.shield[1]
        self._poly(place(outline, rng.uniform(1.08, 1.3)), border)
        self._poly(place(outline), two)
        if e.shield_style == 0:
            self._poly(place([(-w, -h), (0, -h), (0, 0), (-w, 0)]), one)
            self._poly(place([(0, 0), (w, 0), (w, h * 0.15), (w * 0.65, h * 0.65), (0, h)]), one)
        elif e.shield_style == 1:
            self._poly(place(outline), e.shield[0])
            self._poly(place([(-w * 0.2, -h), (w * 0.2, -h), (w * 0.2, h * 0.9), (-w * 0.2, h * 0.9)]), e.shield[1])
            self._poly(place([(-w, -h * 0.35), (w, -h * 0.35), (w, 0), (-w, 0)]), e.shield[1])
        else:
            self._poly(place(outline), e.shield[0])
            self._poly(place([(-w * 0.5, -h * 0.5), (w * 0.5, -h * 0.5), (0, h * 0.5)]), e.shield[1])
