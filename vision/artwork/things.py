"""What stands on the land: houses, trees, sheep, the cloister, walls. Positions are the foot of the thing, in units."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from vision.artwork.canvas import INK, XY, Canvas, Colour, mix

ROOFS: tuple[Colour, ...] = ((48, 62, 178), (58, 84, 196), (44, 50, 150), (70, 104, 202), (86, 78, 112))
PLASTER: tuple[Colour, ...] = ((196, 220, 232), (170, 204, 222), (206, 214, 220))
WALL: Colour = (168, 196, 210)
WALL_DARK: Colour = (104, 128, 146)
Random = np.random.Generator


def house(c: Canvas, rng: Random, x: float, y: float, size: float, roof: Colour | None = None) -> None:
    """A gabled house seen from the south-east or south-west."""
    roof = roof or ROOFS[int(rng.integers(len(ROOFS)))]
    wall = PLASTER[int(rng.integers(len(PLASTER)))]
    side = 1.0 if rng.random() < 0.5 else -1.0
    gable, long_x, long_y = size * 0.42, size * rng.uniform(0.5, 0.75), -size * rng.uniform(0.16, 0.3)
    height, ridge = size * 0.34, size * 0.4
    left = x - side * (gable + long_x) / 2

    def at(dx: float, dy: float) -> XY:
        return left + side * dx, y + dy

    c.oval(x + size * 0.12, y - size * 0.02, size * 0.62, size * 0.2, (40, 60, 58))
    c.poly([at(gable, 0), at(gable + long_x, long_y), at(gable + long_x, long_y - height), at(gable, -height)],
           mix(wall, INK, 0.28), 0.3)
    c.poly([at(0, -size * 0.05), at(gable, 0), at(gable, -height), at(gable / 2, -height - ridge),
            at(0, -height - size * 0.05)], wall, 0.3)
    c.poly([at(gable / 2, -height - ridge), at(gable / 2 + long_x, long_y - height - ridge),
            at(gable + long_x + size * 0.05, long_y - height + size * 0.05), at(gable + size * 0.05, -height + size * 0.05)],
           roof, 0.3)
    c.line([at(gable / 2, -height - ridge), at(-size * 0.05, -height)], mix(roof, INK, 0.35), 0.7)
    for k in (0.3, 0.6, 0.85):  # tiles on the roof
        c.line([at(gable / 2 + long_x * k, long_y * k - height - ridge * 0.95), at(gable + long_x * k, long_y * k - height)],
               mix(roof, INK, 0.4), 0.22)
    c.poly([at(gable * 0.36, 0), at(gable * 0.64, 0), at(gable * 0.64, -height * 0.6), at(gable * 0.36, -height * 0.6)],
           (40, 62, 92))
    if size > 5:
        wx, wy = gable + long_x * 0.5, long_y * 0.5 - height * 0.5
        c.poly([at(wx - 0.4, wy - 0.5), at(wx + 0.4, wy - 0.6), at(wx + 0.4, wy + 0.5), at(wx - 0.4, wy + 0.6)], INK)


def tree(c: Canvas, rng: Random, x: float, y: float, size: float) -> None:
    leaf = mix((44, 98, 52), (58, 132, 92), float(rng.random()))
    c.oval(x + size * 0.3, y, size * 0.75, size * 0.28, (38, 84, 58))
    c.line([(x, y), (x, y - size * 0.7)], (44, 70, 100), size * 0.22)
    for _ in range(7):
        a, r = rng.uniform(0, 2 * math.pi), rng.uniform(0, 0.5) * size
        px, py = x + r * math.cos(a), y - size * 0.95 + r * math.sin(a) * 0.8
        shade = (px - x + py - y + size * 0.95) / size
        c.disc(px, py, size * rng.uniform(0.26, 0.4), mix(leaf, INK, 0.18 + 0.3 * max(0.0, shade)))
    for _ in range(5):
        a, r = rng.uniform(2.6, 5.2), rng.uniform(0.1, 0.5) * size
        c.disc(x + r * math.cos(a), y - size * 0.98 + r * math.sin(a) * 0.7, size * 0.15, mix(leaf, (110, 205, 180), 0.5))


def fir(c: Canvas, rng: Random, x: float, y: float, size: float) -> None:
    leaf = mix((62, 92, 40), (70, 112, 62), float(rng.random()))
    c.oval(x + size * 0.25, y, size * 0.55, size * 0.2, (38, 84, 58))
    for k in range(3):
        top, half = y - size * (0.65 + 0.5 * k), size * (0.5 - 0.12 * k)
        foot = y - size * (0.05 + 0.42 * k)
        c.poly([(x - half, foot), (x + half, foot), (x, top)], mix(leaf, INK, 0.25))
        c.poly([(x - half, foot), (x - half * 0.1, foot), (x, top)], mix(leaf, (120, 190, 150), 0.25))


def bush(c: Canvas, rng: Random, x: float, y: float, size: float) -> None:
    leaf = mix((46, 110, 62), (70, 150, 118), float(rng.random()))
    c.oval(x + size * 0.2, y + size * 0.1, size * 0.8, size * 0.35, (40, 92, 64))
    for k in range(4):
        c.disc(x + size * (k - 1.5) * 0.34, y - size * 0.22 - size * 0.16 * (k % 2), size * 0.36, mix(leaf, INK, 0.12 * k))
    c.disc(x - size * 0.3, y - size * 0.42, size * 0.15, mix(leaf, (130, 215, 200), 0.5))


def sheep(c: Canvas, rng: Random, x: float, y: float, size: float) -> None:
    side = 1.0 if rng.random() < 0.5 else -1.0
    c.oval(x, y + size * 0.42, size * 0.62, size * 0.18, (38, 92, 60))
    for dx in (-0.3, 0.3):
        c.line([(x + dx * size, y), (x + dx * size, y + size * 0.45)], INK, size * 0.14)
    for dx, dy in ((-0.3, 0.0), (0.3, 0.0), (0.0, -0.16), (0.0, 0.1)):
        c.disc(x + dx * size, y + dy * size, size * 0.32, (226, 236, 238))
    c.arc(x, y, size * 0.5, 20, 160, (160, 176, 182), 0.4)
    c.oval(x + side * size * 0.62, y - size * 0.12, size * 0.2, size * 0.16, INK)


def rock(c: Canvas, rng: Random, x: float, y: float, size: float) -> None:
    points = [(x + size * rng.uniform(0.7, 1.0) * math.cos(a), y - size * 0.3 + size * 0.55 * math.sin(a))
              for a in np.linspace(0, 2 * math.pi, 7)[:-1]]
    c.oval(x + size * 0.2, y + size * 0.1, size, size * 0.4, (40, 92, 64))
    c.poly(points, (150, 162, 166), 0.3)
    c.poly([*points[3:5], (x, y - size * 0.3)], (190, 200, 204))


def patch(c: Canvas, rng: Random, x: float, y: float, size: float) -> None:
    """A tilled garden patch."""
    colours: tuple[Colour, ...] = ((70, 150, 200), (60, 120, 90), (90, 170, 190), (70, 96, 150))
    lean = rng.uniform(-0.35, 0.35)
    half = size * 0.5

    def at(u: float, v: float) -> XY:
        return x + half * (u + lean * v), y + half * 0.7 * (v - lean * u)

    c.poly([at(-1, -1), at(1, -1), at(1, 1), at(-1, 1)], (66, 104, 136), 0.5)
    for k in range(6):
        u = -0.83 + k * 0.332
        c.line([at(u, -0.85), at(u, 0.85)], colours[int(rng.integers(4))], size * 0.1)


def shield(c: Canvas, x: float, y: float, size: float) -> None:
    """The pennant: blue and white quarters."""
    w, h = size * 0.46, size * 0.56

    def outline(grow: float) -> list[XY]:
        a, b = w * grow, h * grow
        return [(x - a, y - b), (x + a, y - b), (x + a, y + b * 0.15), (x + a * 0.6, y + b * 0.68), (x, y + b * 1.1),
                (x - a * 0.6, y + b * 0.68), (x - a, y + b * 0.15)]

    blue, white = (176, 88, 34), (240, 244, 244)
    c.poly([(px + 0.6, py + 0.8) for px, py in outline(1.2)], (40, 56, 74))
    c.poly(outline(1.22), (30, 34, 40))
    c.poly(outline(1.0), white)
    c.poly([(x - w, y - h), (x, y - h), (x, y), (x - w, y)], blue)
    c.poly([(x, y), (x + w, y), (x + w, y + h * 0.15), (x + w * 0.6, y + h * 0.68), (x, y + h * 1.1)], blue)


def cloister(c: Canvas, rng: Random, box: tuple[float, float, float, float]) -> None:
    """A church with a tower in a walled yard; ``box`` is left, top, right, bottom of its area."""
    left, top, right, bottom = box
    w, h = right - left, bottom - top
    x, y = left + w * 0.28, bottom - h * 0.2
    c.poly([(left, top + h * 0.45), (right, top + h * 0.3), (right, bottom), (left, bottom)], (112, 168, 184), 0.5, WALL_DARK)
    for k in range(9):
        c.disc(left + w * rng.uniform(0.05, 0.95), bottom - h * rng.uniform(0.02, 0.16), 0.5, (90, 136, 150))
    wall, roof = (190, 216, 228), (48, 92, 204)
    nx = left + w * 0.94  # the nave
    c.poly([(x, y), (nx, y - h * 0.12), (nx, y - h * 0.36), (x, y - h * 0.26)], mix(wall, INK, 0.16), 0.4)
    c.poly([(x, y - h * 0.24), (nx + 0.6, y - h * 0.34), (nx - w * 0.1, y - h * 0.62), (x, y - h * 0.56)], roof, 0.4)
    for k in range(1, 7):
        u = x + (nx - x) * k / 7
        c.line([(u, y - h * (0.24 + 0.1 * k / 7)), (u - w * 0.1 * k / 7, y - h * (0.56 + 0.06 * k / 7))], mix(roof, INK, 0.3), 0.3)
    for k in range(3):
        u = x + (nx - x) * (0.3 + 0.25 * k)
        c.poly([(u - 0.9, y - h * 0.09), (u + 0.9, y - h * 0.1), (u + 0.9, y - h * 0.2), (u, y - h * 0.25), (u - 0.9, y - h * 0.2)],
               (96, 72, 40))
    tx = left + w * 0.06  # the tower
    c.poly([(tx, y + h * 0.06), (x + w * 0.08, y + h * 0.1), (x + w * 0.08, y - h * 0.5), (tx, y - h * 0.5)], wall, 0.4)
    c.poly([(tx + (x + w * 0.08 - tx) * 0.62, y + h * 0.08), (x + w * 0.08, y + h * 0.1), (x + w * 0.08, y - h * 0.5),
            (tx + (x + w * 0.08 - tx) * 0.62, y - h * 0.5)], mix(wall, INK, 0.24))
    mid = (tx + x + w * 0.08) / 2
    c.poly([(tx - 0.9, y - h * 0.48), (x + w * 0.08 + 0.9, y - h * 0.48), (mid, y - h * 0.92)], roof, 0.4)
    c.poly([(mid, y - h * 0.92), (x + w * 0.08 + 0.9, y - h * 0.48), (mid + 1, y - h * 0.48)], mix(roof, INK, 0.3))
    c.line([(mid, y - h * 0.9), (mid, y - h * 1.0)], INK, 0.5)
    c.line([(mid - 1.2, y - h * 0.965), (mid + 1.2, y - h * 0.965)], INK, 0.5)
    c.poly([(mid - 1.6, y + h * 0.08), (mid + 1.4, y + h * 0.085), (mid + 1.4, y - h * 0.06), (mid, y - h * 0.12),
            (mid - 1.6, y - h * 0.06)], (44, 60, 84))
    c.poly([(mid - 0.9, y - h * 0.26), (mid + 0.9, y - h * 0.26), (mid + 0.9, y - h * 0.38), (mid - 0.9, y - h * 0.38)], (96, 72, 40))


def along(line: Sequence[XY], step: float, start: float = 0.0) -> list[tuple[float, float, float, float]]:
    """Points every ``step`` units along a line, with its direction: (x, y, dx, dy)."""
    found, left = [], start
    for (x0, y0), (x1, y1) in zip(line, line[1:], strict=False):
        length = math.hypot(x1 - x0, y1 - y0)
        while left < length:
            t = left / length
            found.append((x0 + (x1 - x0) * t, y0 + (y1 - y0) * t, (x1 - x0) / length, (y1 - y0) / length))
            left += step
        left -= length
    return found


def town_wall(c: Canvas, line: Sequence[XY], thickness: float = 3.6) -> None:
    """A battlemented wall along a line, with round towers; the outer face looks down on the south side."""
    lower = [(x, y + 1.0) for x, y in line]
    c.line(lower, WALL_DARK, thickness + 1.2)
    c.line(line, INK, thickness + 0.5)
    c.line(line, WALL, thickness - 0.3)
    for n, (x, y, dx, dy) in enumerate(along(line, 2.1, 0.6)):
        for side in (-1, 1):
            px, py = x - dy * side * thickness * 0.42, y + dx * side * thickness * 0.42
            c.disc(px, py, 0.75, (206, 226, 234) if n % 2 else (84, 106, 124))
    c.line(line, (142, 172, 190), thickness * 0.28)
    for x, y, _, _ in along(line, 23.0, 12.0)[:6]:
        turret(c, x, y, thickness * 0.95)


def turret(c: Canvas, x: float, y: float, size: float) -> None:
    roof: Colour = (142, 92, 60)
    c.poly([(x - size * 0.7, y + size * 0.7), (x + size * 0.7, y + size * 0.7), (x + size * 0.7, y - size * 0.5),
            (x - size * 0.7, y - size * 0.5)], WALL, 0.35)
    c.poly([(x + size * 0.2, y + size * 0.7), (x + size * 0.7, y + size * 0.7), (x + size * 0.7, y - size * 0.5),
            (x + size * 0.2, y - size * 0.5)], WALL_DARK)
    c.poly([(x - size * 0.95, y - size * 0.4), (x + size * 0.95, y - size * 0.4), (x, y - size * 1.9)], roof, 0.35)
    c.poly([(x, y - size * 1.9), (x + size * 0.95, y - size * 0.4), (x + size * 0.1, y - size * 0.4)], mix(roof, INK, 0.35))
