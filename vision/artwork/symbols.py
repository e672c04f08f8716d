"""Drawings of the signs that have a meaning in the rules: `SIGNS` by the catalogue's names for them, on segments and as
flags of whole tiles. Centred on (x, y), in drawing units.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from vision.artwork.canvas import INK, XY, Canvas, Colour, mix
from vision.artwork.things import Random, house

STONE: Colour = (150, 164, 172)


def _badge(c: Canvas, x: float, y: float, radius: float) -> None:
    c.disc(x + 0.5, y + 0.7, radius, (40, 56, 74))
    c.disc(x, y, radius, (196, 226, 238), 0.6)


def grain(c: Canvas, _: Random, x: float, y: float) -> None:
    _badge(c, x, y, 7.0)
    for k in range(-2, 3):
        tip = (x + k * 2.0, y - 4.6 + abs(k) * 0.7)
        c.line([(x + k * 0.5, y + 5), tip], (40, 150, 214), 0.8)
        c.oval(tip[0], tip[1] + 1.0, 0.9, 2.0, (52, 178, 236), 0.25, turn_deg=k * 14.0)
    c.line([(x - 2, y + 1.6), (x + 2, y + 1.6)], (40, 60, 150), 1.2)


def wine(c: Canvas, _: Random, x: float, y: float) -> None:
    _badge(c, x, y, 7.0)
    c.line([(x, y - 5.4), (x + 0.6, y - 3)], (52, 96, 60), 0.9)
    for row, count in enumerate((3, 4, 3, 2, 1)):
        for k in range(count):
            c.disc(x + (k - (count - 1) / 2) * 2.2, y - 2.6 + row * 1.75, 1.25, (120, 38, 96), 0.25)
    c.oval(x + 2.2, y - 4.4, 1.9, 1.1, (60, 130, 70), 0.25)


def cloth(c: Canvas, _: Random, x: float, y: float) -> None:
    _badge(c, x, y, 7.0)
    rolls: tuple[tuple[float, Colour], ...] = ((1.8, (64, 64, 178)), (-1.6, (150, 96, 44)))
    for dy, fill in rolls:
        top, foot = y + dy - 1.5, y + dy + 1.7
        c.poly([(x - 4.4, top), (x + 3.6, top), (x + 3.6, foot), (x - 4.4, foot)], fill, 0.3)
        c.oval(x + 3.6, y + dy, 1.2, 1.7, mix(fill, (255, 255, 255), 0.4), 0.3)
        c.oval(x + 3.6, y + dy, 0.5, 0.8, fill)


def princess(c: Canvas, _: Random, x: float, y: float) -> None:
    c.oval(x + 0.6, y + 6.4, 4.4, 1.4, (40, 56, 74))
    c.poly([(x, y - 2), (x + 4.2, y + 6.4), (x - 4.2, y + 6.4)], (150, 84, 196), 0.5)
    c.poly([(x, y - 2), (x + 1.6, y + 6.4), (x - 1.6, y + 6.4)], (206, 160, 236))
    c.line([(x - 3.4, y + 1.8), (x, y - 0.6), (x + 3.4, y + 1.8)], (150, 84, 196), 1.4)
    c.disc(x, y - 3.4, 3.0, (40, 130, 200), 0.4)
    c.disc(x, y - 3.2, 2.0, (176, 206, 240), 0.3)
    crown = [(-2.4, -5.2), (-2.4, -8.0), (-1.1, -6.4), (0.0, -8.4), (1.1, -6.4), (2.4, -8.0), (2.4, -5.2)]
    c.poly([(x + dx, y + dy) for dx, dy in crown], (60, 208, 246), 0.4)


def inn(c: Canvas, rng: Random, x: float, y: float) -> None:
    """A house by a lake."""
    shore: tuple[tuple[float, Colour], ...] = ((1.14, (120, 178, 196)), (1.0, (198, 138, 62)), (0.7, (212, 160, 88)))
    for grow, fill in shore:
        points = [(x + 8.0 * grow * (1 + 0.12 * math.sin(3 * a + 1)) * math.cos(a),
                   y + 1.5 + 5.6 * grow * (1 + 0.12 * math.sin(2 * a)) * math.sin(a)) for a in np.linspace(0, 6.1, 24)]
        c.poly(points, fill)
    for k in range(3):
        c.arc(x - 2.5 + 2.6 * k, y + 3.4 - k, 1.2, 200, 340, (236, 208, 160), 0.35)
    house(c, rng, x - 1.0, y + 0.6, 8.5, (40, 48, 172))


def cathedral(c: Canvas, _: Random, x: float, y: float) -> None:
    wall, roof = (196, 218, 228), (150, 96, 62)
    c.oval(x + 1, y + 15, 22, 5, (60, 92, 124))
    c.poly([(x - 11, y + 15), (x + 11, y + 15), (x + 11, y - 2), (x, y - 12), (x - 11, y - 2)], wall, 0.6)
    c.poly([(x - 12, y - 2), (x, y - 13), (x + 12, y - 2), (x + 10, y - 1), (x, y - 10), (x - 10, y - 1)], roof, 0.4)
    for side in (-1, 1):
        tx = x + side * 14
        c.poly([(tx - 4.6, y + 16), (tx + 4.6, y + 16), (tx + 4.6, y - 8), (tx - 4.6, y - 8)], mix(wall, INK, 0.1), 0.6)
        c.poly([(tx - 5.4, y - 8), (tx + 5.4, y - 8), (tx, y - 23)], roof, 0.6)
        c.poly([(tx, y - 23), (tx + 5.4, y - 8), (tx + 1, y - 8)], mix(roof, INK, 0.35))
        for dy in (-3, 3, 9):
            foot, top = y + dy + 3, y + dy
            c.poly([(tx - 1.1, foot), (tx + 1.1, foot), (tx + 1.1, top), (tx, top - 1.4), (tx - 1.1, top)], INK)
    c.disc(x, y + 1, 4.2, (176, 92, 50), 0.6)
    for k in range(8):
        a = k * math.pi / 4
        c.line([(x, y + 1), (x + 4 * math.cos(a), y + 1 + 4 * math.sin(a))], (70, 190, 232), 0.5)
    c.poly([(x - 3, y + 15), (x + 3, y + 15), (x + 3, y + 10), (x, y + 7), (x - 3, y + 10)], (44, 62, 96), 0.4)


def volcano(c: Canvas, rng: Random, x: float, y: float) -> None:
    foot = [(x + r * math.cos(a), y + 3 + r * 0.78 * math.sin(a))
            for a, r in zip(np.linspace(0, 2 * math.pi, 19)[:-1], rng.uniform(11.5, 14.0, 18), strict=True)]
    c.poly(foot, (58, 76, 92), 0.6)
    for k in range(26):
        a = k * 2 * math.pi / 26 + rng.uniform(-0.1, 0.1)
        c.line([(x + 4 * math.cos(a), y + 3 * math.sin(a)), (x + 11 * math.cos(a), y + 3 + 8.6 * math.sin(a))],
               mix((50, 62, 74), (110, 130, 146), float(rng.random())), 1.0)
    for a in (0.5, 1.7, 3.0, 5.2):
        c.line([(x + 3 * math.cos(a), y + 2 * math.sin(a)), (x + 7 * math.cos(a + 0.2), y + 2 + 5 * math.sin(a + 0.2)),
                (x + 10 * math.cos(a), y + 3 + 8 * math.sin(a))], (30, 96, 236), 1.5)
    c.oval(x, y, 5.4, 4.0, (24, 50, 150), 0.6)
    c.oval(x, y, 4.0, 2.8, (36, 120, 250))
    c.oval(x - 0.5, y, 2.0, 1.4, (120, 220, 255))


def dragon(c: Canvas, _: Random, x: float, y: float) -> None:
    """A red serpent on a pale disc."""
    c.disc(x + 0.5, y + 0.7, 8.2, (40, 70, 54))
    c.disc(x, y, 8.2, (170, 214, 226), 0.6)
    coil = [(5.4 * (1 - 0.06 * t), t) for t in np.linspace(0.4, 5.2, 24)]
    body = [(x + r * math.cos(t), y + r * math.sin(t)) for r, t in coil]
    c.line(body, INK, 3.2)
    c.line(body, (44, 44, 186), 2.3)
    for px, py in body[2:-2:3]:
        c.line([(px, py), (px + (px - x) * 0.32, py + (py - y) * 0.32)], (44, 44, 186), 0.9)
    hx, hy = body[-1]
    c.poly([(hx - 1.6, hy - 2.2), (hx + 3.4, hy - 0.2), (hx + 3.0, hy + 1.4), (hx - 1.2, hy + 1.8)], (44, 44, 186), 0.4)
    c.disc(hx + 0.6, hy - 0.4, 0.5, (90, 230, 250))
    c.poly([(x - 3.2, y + 0.6), (x + 1.2, y - 3.0), (x + 1.6, y + 1.4)], (60, 96, 214), 0.4)


def portal(c: Canvas, _: Random, x: float, y: float) -> None:
    c.oval(x + 0.5, y + 1.4, 9.4, 7.6, (40, 70, 54))
    c.oval(x, y, 9.2, 7.2, STONE, 0.6)
    for k in range(14):
        a = k * math.pi / 7
        dx, dy = math.cos(a), math.sin(a)
        c.line([(x + 6.2 * dx, y + 4.6 * dy), (x + 9.2 * dx, y + 7.2 * dy)], (84, 98, 106), 0.5)
    glow: tuple[Colour, ...] = ((150, 60, 96), (190, 96, 130), (226, 150, 176), (250, 216, 226))
    for k, fill in enumerate(glow):
        c.oval(x, y, 6.2 - 1.5 * k, 4.6 - 1.1 * k, fill, 0.5 if k == 0 else 0.0)


def tower_base(c: Canvas, _: Random, x: float, y: float) -> None:
    def diamond(r: float, dy: float = 0.0) -> list[XY]:
        low, tip = y + dy, r * 0.2
        return [(x - r, low - tip), (x + tip, low - r), (x + r, low + tip), (x - tip, low + r)]

    c.poly(diamond(10.6, 1.2), (44, 72, 60))
    c.poly(diamond(10.2), STONE, 0.6)
    for k in range(4):
        a, b = diamond(10.2)[k], diamond(10.2)[(k + 1) % 4]
        for t in (0.2, 0.4, 0.6, 0.8):
            px, py = a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t
            c.line([(px, py), (x + (px - x) * 0.66, y + (py - y) * 0.66)], (86, 100, 110), 0.5)
    c.poly(diamond(6.7), (70, 82, 92), 0.6)
    c.poly(diamond(5.2, 0.6), (46, 54, 62))


def wheel(c: Canvas, _: Random, x: float, y: float) -> None:
    c.disc(x + 0.5, y + 0.8, 8.4, (40, 70, 54))
    c.disc(x, y, 8.4, (40, 54, 150), 0.6)
    c.disc(x, y, 6.4, (180, 216, 230), 0.5)
    for k in range(8):
        a = k * math.pi / 4 + 0.2
        c.line([(x, y), (x + 8.2 * math.cos(a), y + 8.2 * math.sin(a))], (56, 150, 214), 1.1)
    c.disc(x, y, 2.2, (60, 190, 240), 0.5)


@dataclass(frozen=True, slots=True)
class Sign:
    """How a sign is drawn, and the distance that decoration keeps from its centre. A ``ground`` sign may be on a
    crossing and then replaces the village."""

    draw: Callable[[Canvas, Random, float, float], None]
    room: float = 9.0
    ground: bool = False


SIGNS: Mapping[str, Sign] = {  # those of tiles that may have several are drawn in this order
    "inn": Sign(inn), "cathedral": Sign(cathedral, room=24.0), "grain": Sign(grain), "wine": Sign(wine),
    "cloth": Sign(cloth), "princess": Sign(princess), "volcano": Sign(volcano, room=12.0), "dragon": Sign(dragon),
    "portal": Sign(portal), "tower": Sign(tower_base, ground=True), "wheel_icon": Sign(wheel),
}
