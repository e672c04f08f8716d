"""The colours and drawing style of a random invented edition."""

from __future__ import annotations

import colorsys
from dataclasses import dataclass

import numpy as np

Colour = tuple[float, float, float]  # blue, green, red, 0 .. 255
Random = np.random.Generator


def hsv(hue_deg: float, saturation: float, value: float) -> Colour:
    r, g, b = colorsys.hsv_to_rgb((hue_deg % 360) / 360, float(np.clip(saturation, 0, 1)), float(np.clip(value, 0, 1)))
    return b * 255, g * 255, r * 255


def mix(a: Colour, b: Colour, t: float) -> Colour:
    return a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t, a[2] + (b[2] - a[2]) * t


@dataclass(frozen=True, slots=True, kw_only=True)
class Edition:
    """The colours and drawing style common to all tiles of one invented edition."""

    field: Colour
    field_other: Colour
    town: Colour
    town_other: Colour
    grain: float
    roofs: tuple[Colour, ...]
    plaster: tuple[Colour, ...]
    houses: float  # 0 .. 1: density of houses in towns
    house_size: float
    wall: Colour
    wall_dark: Colour
    wall_width: float
    wall_style: int
    tower: Colour | None
    road: Colour
    road_rim: Colour
    road_width: float
    water: Colour
    shield: tuple[Colour, Colour]
    shield_size: float
    shield_style: int
    bend: float
    cap_depth: float  # depth of towns on one side, relative to the catalogue's
    wander: float
    clutter: float
    cloister_size: float
    ink: float
    rim: Colour
    rim_width: float


def invent(rng: Random) -> Edition:
    """A random edition."""
    u = rng.uniform
    hue, sat, val = u(68, 125), u(0.35, 0.9), u(0.35, 0.85)
    town_hue, town_sat, town_val = u(2, 42), u(0.25, 0.75), u(0.45, 0.95)
    roofs = [hsv(u(-10, 28), u(0.5, 0.95), u(0.4, 0.95)) for _ in range(3)]
    if rng.random() < 0.5:
        roofs.append(hsv(u(200, 250), u(0.3, 0.9), u(0.3, 0.8)))
    if rng.random() < 0.3:
        roofs.append(hsv(u(0, 360), u(0, 0.3), u(0.3, 0.9)))
    wall = hsv(u(15, 60), u(0.0, 0.5), u(0.55, 1.0)) if rng.random() < 0.7 else hsv(u(15, 40), u(0.3, 0.8), u(0.3, 0.6))
    tower = None
    if rng.random() < 0.75:
        tower = hsv(u(200, 250), u(0.4, 0.9), u(0.3, 0.8)) if rng.random() < 0.5 else roofs[0]
    blue = hsv(u(200, 240), u(0.5, 1.0), u(0.35, 0.85))
    return Edition(
        field=hsv(hue, sat, val),
        field_other=hsv(hue + u(-22, 22), sat * u(0.7, 1.2), val * u(0.55, 1.2)),
        town=hsv(town_hue, town_sat, town_val),
        town_other=hsv(town_hue + u(-14, 14), town_sat * u(0.6, 1.4), town_val * u(0.5, 1.1)),
        grain=u(0.2, 1.0),
        roofs=tuple(roofs),
        plaster=tuple(hsv(u(20, 60), u(0.0, 0.4), u(0.6, 1)) for _ in range(2)),
        houses=float(rng.choice([0.05, 0.15, 0.3, 0.6, 1.0, 1.0])),
        house_size=u(5, 11),
        wall=wall,
        wall_dark=mix(wall, (20, 30, 40), u(0.3, 0.8)),
        wall_width=u(2.0, 9.5),
        wall_style=int(rng.integers(4)),
        tower=tower,
        road=hsv(u(25, 60), u(0.0, 0.28), u(0.75, 1.0)),
        road_rim=mix(hsv(u(25, 70), u(0.1, 0.6), u(0.2, 0.5)), (30, 40, 40), 0.3),
        road_width=u(4.0, 10.5),
        water=hsv(u(190, 230), u(0.35, 0.9), u(0.45, 0.9)),
        shield=(blue, hsv(u(0, 60), u(0, 0.15), u(0.85, 1.0))),
        shield_size=u(9.5, 15),
        shield_style=int(rng.choice([0, 0, 0, 1, 2])),
        bend=u(0.3, 1.0),
        cap_depth=u(0.5, 1.15),
        wander=u(0.0, 3.0),
        clutter=u(0.0, 1.0),
        cloister_size=u(26, 52),
        ink=u(0.15, 0.8),
        rim=hsv(u(30, 120), u(0.1, 0.6), u(0.2, 1.0)),
        rim_width=float(rng.choice([0, 0, 0.6, 1.2])),
    )
