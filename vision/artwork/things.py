"""Objects in the landscape: houses, trees, sheep, the cloister, walls. A position is the base of the object, in
units."""

from __future__ import annotations

import itertools
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

    c.oval(x + size * 0.12, y - size * 0.04, size * 0.58, size * 0.17, (58, 84, 92))
    c.poly([at(gable, 0), at(gable + long_x, long_y), at(gable + long_x, long_y - height), at(gable, -height)],
           mix(wall, INK, 0.28), 0.3)
    c.poly([at(0, -size * 0.05), at(gable, 0), at(gable, -height), at(gable / 2, -height - ridge),
            at(0, -height - size * 0.05)], wall, 0.3)
    eave = size * 0.05
    c.poly([at(gable / 2, -height - ridge), at(gable / 2 + long_x, long_y - height - ridge),
            at(gable + long_x + eave, long_y - height + eave), at(gable + eave, -height + eave)], roof, 0.3)
    c.line([at(gable / 2, -height - ridge), at(-size * 0.05, -height)], mix(roof, INK, 0.35), 0.7)
    for k in (0.3, 0.6, 0.85):  # tiles on the roof
        across, down = long_x * k, long_y * k - height
        top, foot = at(gable / 2 + across, down - ridge * 0.95), at(gable + across, down)
        c.line([top, foot], mix(roof, INK, 0.4), 0.22)
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
        a, r = rng.uniform(0, 2 * math.pi), rng.uniform(0, 0.55) * size
        px, py = x + r * math.cos(a), y - size * 0.95 + r * math.sin(a) * 0.8
        shade = (px - x + py - y + size * 0.95) / size
        c.disc(px, py, size * rng.uniform(0.26, 0.4), mix(leaf, INK, 0.1 + 0.34 * max(0.0, shade)))
    for _ in range(5):
        a, r = rng.uniform(2.6, 5.2), rng.uniform(0.1, 0.5) * size
        light = mix(leaf, (110, 205, 180), 0.45)
        c.disc(x + r * math.cos(a), y - size * 0.98 + r * math.sin(a) * 0.7, size * 0.18, light)


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
        dx, dy = size * (k - 1.5) * 0.34, -size * (0.22 + 0.16 * (k % 2))
        c.disc(x + dx, y + dy, size * 0.36, mix(leaf, INK, 0.12 * k))
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
    wall, roof, glass = (190, 216, 228), (48, 92, 204), (96, 72, 40)
    yard = [(left, top + h * 0.45), (right, top + h * 0.3), (right, bottom), (left, bottom)]
    c.poly(yard, (112, 168, 184), 0.5, WALL_DARK)
    for px, py in rng.uniform((left + 1, bottom - h * 0.16), (right - 1, bottom - 0.6), (9, 2)):
        c.disc(px, py, 0.5, (90, 136, 150))
    x, y, east = left + w * 0.28, bottom - h * 0.2, left + w * 0.94
    c.poly([(x, y), (east, y - h * 0.12), (east, y - h * 0.36), (x, y - h * 0.26)], mix(wall, INK, 0.16), 0.4)
    nave = [(x, y - h * 0.24), (east + 0.6, y - h * 0.34), (east - w * 0.1, y - h * 0.62), (x, y - h * 0.56)]
    c.poly(nave, roof, 0.4)
    for k in range(1, 7):  # tiles on the nave
        u, t = x + (east - x) * k / 7, k / 7
        c.line([(u, y - h * (0.24 + 0.1 * t)), (u - w * 0.1 * t, y - h * (0.56 + 0.06 * t))], mix(roof, INK, 0.3), 0.3)
    for k in range(3):
        u = x + (east - x) * (0.3 + 0.25 * k)
        c.poly([(u - 0.9, y - h * 0.09), (u + 0.9, y - h * 0.1), (u + 0.9, y - h * 0.2), (u, y - h * 0.25),
                (u - 0.9, y - h * 0.2)], glass)
    west, edge = left + w * 0.06, x + w * 0.08  # the tower
    mid, bend = (west + edge) / 2, west + (edge - west) * 0.62
    c.poly([(west, y + h * 0.06), (edge, y + h * 0.1), (edge, y - h * 0.5), (west, y - h * 0.5)], wall, 0.4)
    c.poly([(bend, y + h * 0.08), (edge, y + h * 0.1), (edge, y - h * 0.5), (bend, y - h * 0.5)], mix(wall, INK, 0.24))
    c.poly([(west - 0.9, y - h * 0.48), (edge + 0.9, y - h * 0.48), (mid, y - h * 0.92)], roof, 0.4)
    c.poly([(mid, y - h * 0.92), (edge + 0.9, y - h * 0.48), (mid + 1, y - h * 0.48)], mix(roof, INK, 0.3))
    c.line([(mid, y - h * 0.9), (mid, y - h * 1.0)], INK, 0.5)
    c.line([(mid - 1.2, y - h * 0.965), (mid + 1.2, y - h * 0.965)], INK, 0.5)
    c.poly([(mid - 1.6, y + h * 0.08), (mid + 1.4, y + h * 0.085), (mid + 1.4, y - h * 0.06), (mid, y - h * 0.12),
            (mid - 1.6, y - h * 0.06)], (44, 60, 84))
    upper, lower = y - h * 0.38, y - h * 0.26
    c.poly([(mid - 0.9, lower), (mid + 0.9, lower), (mid + 0.9, upper), (mid - 0.9, upper)], glass)


def along(line: Sequence[XY], step: float, start: float = 0.0) -> list[tuple[float, float, float, float]]:
    """Points every ``step`` units along a line, with its direction: (x, y, dx, dy)."""
    found, left = [], start
    for (x0, y0), (x1, y1) in itertools.pairwise(line):
        length = math.hypot(x1 - x0, y1 - y0)
        while left < length:
            t = left / length
            found.append((x0 + (x1 - x0) * t, y0 + (y1 - y0) * t, (x1 - x0) / length, (y1 - y0) / length))
            left += step
        left -= length
    return found


def town_wall(c: Canvas, line: Sequence[XY], thickness: float = 3.8) -> None:
    """A battlemented wall along a line, with round towers; its face looks down on the south side."""
    c.line([(x, y + 1.3) for x, y in line], INK, thickness + 0.4)
    c.line([(x, y + 1.1) for x, y in line], WALL_DARK, thickness - 0.4)
    for x, y, _, _ in along(line, 3.4, 1.2):
        c.line([(x, y + 1.6), (x, y + 2.8)], mix(WALL_DARK, INK, 0.4), 0.35)
    c.line(line, INK, thickness + 0.4)
    c.line(line, WALL, thickness - 0.4)
    c.line(line, (124, 156, 174), thickness * 0.34)
    for x, y, dx, dy in along(line, 2.7, 0.6):
        for side in (-1, 1):
            px, py = x - dy * side * thickness * 0.42, y + dx * side * thickness * 0.42
            c.line([(px - dx * 0.7, py - dy * 0.7), (px + dx * 0.7, py + dy * 0.7)], (214, 232, 238), 1.0)
            c.line([(px + dx * 0.9, py + dy * 0.9), (px + dx * 1.4, py + dy * 1.4)], (92, 116, 134), 0.9)
    for x, y, _, _ in along(line, 21.0, 10.0)[:7]:
        turret(c, x, y, thickness * 0.95)


def hedge(c: Canvas, rng: Random, points: Sequence[XY]) -> None:
    """A dense row of bushes on dry stone, through points from north to south."""
    for x, y in points:
        c.oval(x + 0.6, y + 1.2, 2.2, 1.0, (36, 80, 56))
    for n, (x, y) in enumerate(points):
        if n % 3 == 0:
            c.disc(x, y + 0.6, 1.0, (142, 156, 162), 0.25)
        leaf = mix((40, 92, 44), (52, 122, 84), float(rng.random()))
        c.disc(x + float(rng.uniform(-0.4, 0.4)), y - 0.3, 1.7, leaf)
        c.disc(x - 0.5, y - 0.9, 0.65, mix(leaf, (120, 205, 180), 0.5))


def gate(c: Canvas, x: float, y: float) -> None:
    c.poly([(x - 4.2, y + 2.8), (x + 4.2, y + 2.8), (x + 4.2, y - 3.0), (x - 4.2, y - 3.0)], WALL, 0.4)
    c.poly([(x - 2.6, y + 2.9), (x + 2.6, y + 2.9), (x + 2.6, y - 0.2), (x, y - 2.2), (x - 2.6, y - 0.2)], (40, 54, 74))
    for side in (-1, 1):
        turret(c, x + side * 4.6, y + 0.4, 2.5)


def tunnel_mouth(c: Canvas, x: float, y: float, dx: float, dy: float) -> None:
    """A stone arch at (x, y), where a road that runs along (dx, dy) goes under the ground."""

    def at(ahead: float, aside: float) -> XY:
        return x + dx * ahead - dy * aside, y + dy * ahead + dx * aside

    arch = [at(5.0 * math.sin(t), 6.6 * math.cos(t)) for t in np.linspace(0, math.pi, 13)]
    c.poly(arch, (150, 164, 172), 0.5)
    c.poly([at(3.2 * math.sin(t), 4.6 * math.cos(t)) for t in np.linspace(0, math.pi, 13)], (34, 42, 50), 0.4)
    for ax, ay in arch[1:-1:2]:
        c.line([(ax, ay), (x + (ax - x) * 0.72, y + (ay - y) * 0.72)], (84, 98, 106), 0.4)


def turret(c: Canvas, x: float, y: float, size: float) -> None:
    roof: Colour = (142, 92, 60)
    c.poly([(x - size * 0.7, y + size * 0.7), (x + size * 0.7, y + size * 0.7), (x + size * 0.7, y - size * 0.5),
            (x - size * 0.7, y - size * 0.5)], WALL, 0.35)
    c.poly([(x + size * 0.2, y + size * 0.7), (x + size * 0.7, y + size * 0.7), (x + size * 0.7, y - size * 0.5),
            (x + size * 0.2, y - size * 0.5)], WALL_DARK)
    c.poly([(x - size * 0.95, y - size * 0.4), (x + size * 0.95, y - size * 0.4), (x, y - size * 1.9)], roof, 0.35)
    eave = y - size * 0.4
    c.poly([(x, y - size * 1.9), (x + size * 0.95, eave), (x + size * 0.1, eave)], mix(roof, INK, 0.35))
