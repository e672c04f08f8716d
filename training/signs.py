"""Random drawings of signs with a meaning in the rules: an inn by a lake, a cathedral, the goods of a town.

They are put on random tiles too, whatever the box has: a network that detects signs must not learn which tiles have
them. Editions share only the idea: an emblem with a barrel or grapes, ears of corn, or rolled cloth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np

from scoring.tiles import Tile
from training.buildings import FINE, SIDE, UNIT, Builder, Image
from training.editions import Colour, Edition, Random, hsv, mix

_GOODS = ("wine", "grain", "cloth")
_SHARE_GOODS = 0.3  # fraction of tiles with a town
_SHARE_INNS = 0.2  # fraction of tiles with a road
_SHARE_CATHEDRALS = 0.5  # fraction of tiles that are all town


@dataclass(frozen=True, slots=True, kw_only=True)
class Signs:
    """The signs of a drawn tile; ``goods`` is empty, wine, grain or cloth."""

    inn: bool = False
    cathedral: bool = False
    goods: str = ""


UNSIGNED = Signs()


@dataclass(frozen=True, slots=True)
class Shown:
    """A drawn sign: its centre and half width, in drawing units (100 a side) of the upright tile."""

    sign: str  # of vision.signs.SIGNS
    x: float
    y: float
    half: float


def printed(tile: Tile) -> tuple[Shown, ...]:
    """The signs on bastide's own drawing of a kind."""
    out = [Shown("inn", *s.marks[0], 10.0) for s in tile.segments if "inn" in s.signs]
    out += [Shown("cathedral", 50.0, 50.0, 18.0) for s in tile.segments if "cathedral" in s.signs]
    return tuple(out + [Shown(sign, *s.marks[0], 7.0) for s in tile.segments for sign in s.signs if sign in _GOODS])


def by_lot(rng: Random, tile: Tile) -> Signs:
    """Random signs for a tile, independent of its box."""
    towns = [s for s in tile.segments if s.kind == "city"]
    roads = [s for s in tile.segments if s.kind == "road"]
    goods = _GOODS[int(rng.integers(3))] if towns and rng.random() < _SHARE_GOODS else ""
    full = any(len(s.atoms) == 4 for s in towns)
    cathedral = full and rng.random() < _SHARE_CATHEDRALS
    return Signs(inn=bool(roads) and rng.random() < _SHARE_INNS, cathedral=cathedral, goods="" if cathedral else goods)


@dataclass(frozen=True, slots=True, kw_only=True)
class Emblem:
    """How an edition frames its goods."""

    outline: str  # house, square, round, shield, hexagon or none
    fill: Colour
    rim: Colour
    rim_width: float
    size: float
    at_edge: bool  # at the tile's edge rather than inside its town


def emblem_by_lot(rng: Random) -> Emblem:
    u = rng.uniform
    outline = str(
        rng.choice(["house", "square", "round", "shield", "hexagon", "none"], p=[0.28, 0.2, 0.2, 0.14, 0.08, 0.1])
    )
    light = hsv(u(20, 70), u(0.0, 0.25), u(0.82, 1.0))
    fill = light if rng.random() < 0.75 else hsv(u(0, 360), u(0.1, 0.7), u(0.4, 0.95))
    rim = mix(fill, (20, 25, 30), u(0.3, 0.9)) if rng.random() < 0.6 else hsv(u(0, 360), u(0, 0.8), u(0.3, 1.0))
    return Emblem(
        outline=outline,
        fill=fill,
        rim=rim,
        rim_width=float(rng.choice([0.6, 1.0, 1.6])),
        size=u(13, 25),
        at_edge=rng.random() < 0.6,
    )


class SignPainter(Builder):
    """Draws signs of one edition. ``_road_mask`` (SIDE, SIDE) is the area of the tile's roads."""

    def __init__(self, edition: Edition, rng: Random) -> None:
        super().__init__(edition, rng)
        self._road_mask: Image = np.zeros((SIDE, SIDE), np.uint8)
        self.shown: list[Shown] = []  # of the tile drawn last

    def sign_goods(self, tile: Tile, goods: str, emblem: Emblem, town: Image) -> None:
        rng, size = self.rng, emblem.size * self.rng.uniform(0.92, 1.08)
        segments = [s for s in tile.segments if s.kind == "city"]
        marks = [m for s in segments for m in s.marks if set(_GOODS) & set(s.signs)]
        low, high = size * 0.5, 100 - size * 0.5
        edge = 1.0 + size * 0.5
        if marks and rng.random() < 0.4:
            x, y = np.array(marks[0]) + rng.normal(0, 4, 2)
        else:
            deep = cv2.distanceTransform(np.pad((town > 127).astype(np.uint8), 1), cv2.DIST_L2, 3)[1:-1, 1:-1] / UNIT
            if emblem.at_edge:  # the town's centre, moved outwards to a side or a corner that the town reaches
                inside = np.argwhere(town > 127)
                y, x = inside[int(rng.integers(len(inside)))] / UNIT
                near = min((x, 100 - x, y, 100 - y))
                if near in (x, 100 - x):
                    x = edge if near == x else 100 - edge
                else:
                    y = edge if near == y else 100 - edge
            else:
                room = np.argwhere(deep > min(size * 0.45, deep.max() * 0.8))
                if not len(room):
                    room = np.argwhere(town > 127)
                y, x = room[int(rng.integers(len(room)))] / UNIT
        x, y = float(np.clip(x, low, high)), float(np.clip(y, low, high))
        turn = float(rng.normal(0, 0.08)) + (float(rng.integers(4)) * math.pi / 2 if rng.random() < 0.25 else 0.0)
        self.shown.append(Shown(goods, x, y, size / 2))
        self._frame(x, y, size, turn, emblem)
        if emblem.outline == "none":
            size *= 1.15
        {"wine": self._wine, "grain": self._grain, "cloth": self._cloth}[goods](
            x, y, size * rng.uniform(0.7, 0.92), turn
        )

    def sign_inn(self, tile: Tile, town: Image) -> None:
        """A house by a lake, beside one of the tile's roads."""
        rng, e = self.rng, self.e
        roads = [np.argwhere(self._road_mask > 127) / UNIT]
        free = np.argwhere((town < 40) & (cv2.dilate(self._road_mask, np.ones((5, 5))) == 0)) / UNIT
        if not len(free) or not len(roads[0]):
            return
        marks = [m for s in tile.segments if "inn" in s.signs for m in s.marks]
        if marks and rng.random() < 0.35:
            x, y = np.array(marks[0]) + rng.normal(0, 4, 2)
        else:
            tried = free[rng.integers(len(free), size=24)]
            some = roads[0][rng.integers(len(roads[0]), size=60)]
            far = np.sqrt(((tried[:, None] - some[None]) ** 2).sum(axis=2)).min(axis=1)
            good = np.flatnonzero((far > 8) & (far < 24))
            y, x = tried[int(good[0]) if len(good) else int(np.argmin(np.abs(far - 14)))]
        wide = rng.uniform(7, 13)
        water = mix(
            e.water, hsv(rng.uniform(195, 235), rng.uniform(0.3, 0.8), rng.uniform(0.5, 0.95)), rng.uniform(0, 1)
        )
        angles = np.linspace(0, 2 * np.pi, 18)[:-1]
        radius = wide * (
            1 + 0.22 * np.sin(2 * angles + rng.uniform(0, 6)) + 0.14 * np.sin(3 * angles + rng.uniform(0, 6))
        )
        flat, turn = rng.uniform(0.5, 0.9), rng.uniform(0, 3.1)
        blob = np.stack([np.cos(angles) * radius, np.sin(angles) * radius * flat], axis=1)
        blob = blob @ np.array([[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]])
        towards = rng.uniform(0, 2 * np.pi)
        house = np.array([math.cos(towards), math.sin(towards) * 0.8]) * wide * rng.uniform(0.7, 1.25)
        x, y = float(np.clip(x, 9, 91)), float(np.clip(y, 9, 91))
        between = np.clip((x, y) + house / 2, 5, 95)
        self.shown.append(Shown("inn", float(between[0]), float(between[1]), wide))
        for grow in (rng.uniform(1.05, 1.25), 1.0):
            self._poly(blob * grow + (x, y), mix(water, e.field, 0.6) if grow > 1 else water)
        for _ in range(int(rng.integers(0, 5))):
            k = blob[int(rng.integers(len(blob)))] * rng.uniform(0.2, 0.7) + (x, y)
            self._disc(
                float(k[0]), float(k[1]), rng.uniform(0.5, 1.5), mix(water, (255, 255, 255), rng.uniform(0.2, 0.7)), 0.4
            )
        for _ in range(int(rng.integers(0, 4))):
            k = np.array([x, y]) + house + rng.normal(0, 6, 2)
            self._disc(float(k[0]), float(k[1]), rng.uniform(1.5, 4), mix(e.field, (15, 50, 20), rng.uniform(0.3, 0.8)))
        size = rng.uniform(8, 15)
        for n in range(int(rng.choice([1, 1, 2, 3]))):
            hx, hy = np.array([x, y]) + house + (rng.normal(0, 3, 2) if n else 0)
            self._house(float(np.clip(hx, 4, 96)), float(np.clip(hy, 5, 96)), size * (1 if n == 0 else 0.7))

    def sign_cathedral(self) -> None:
        """A large church on the square of a town."""
        rng, e = self.rng, self.e
        size = rng.uniform(55, 85)
        self.shown.append(Shown("cathedral", 50.0, 48.0, size * 0.3))
        if rng.random() < 0.5:
            self._disc(
                50,
                52,
                size * rng.uniform(0.4, 0.6),
                mix(e.town, e.plaster[0], rng.uniform(0, 0.7)),
                rng.uniform(0.7, 1),
            )
        roof, wall = e.roofs[int(rng.integers(len(e.roofs)))], e.plaster[0]
        turn = rng.uniform(-0.6, 0.6)
        cos, sin = math.cos(turn), math.sin(turn)

        def at(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
            return [(50 + cos * a - sin * b, 50 + sin * a * 0.7 + cos * b) for a, b in points]

        w, h = size * 0.45, size * rng.uniform(0.12, 0.2)
        self._poly(at([(-w, -h * 0.3), (w, -h * 0.3), (w, h * 1.6), (-w, h * 1.6)]), wall, True)
        self._poly(at([(-w * 1.05, 0.0), (-w * 0.8, -h * 1.7), (w * 0.8, -h * 1.7), (w * 1.05, 0.0)]), roof, True)
        t = size * rng.uniform(0.08, 0.14)
        for side in (-1, 1) if rng.random() < 0.6 else (1,):
            s = side * w * rng.uniform(0.5, 1.0)
            top = -size * rng.uniform(0.25, 0.45)
            self._poly(at([(s - t, top), (s + t, top), (s + t, h * 1.7), (s - t, h * 1.7)]), wall, True)
            self._poly(at([(s - t * 1.2, top), (s, top - t * 2.5), (s + t * 1.2, top)]), roof, True)
        if rng.random() < 0.6:  # a transept
            self._poly(
                at([(-t * 1.5, -h * 2), (t * 1.5, -h * 2), (t * 1.5, h * 2), (-t * 1.5, h * 2)]),
                mix(roof, (0, 0, 0), 0.15),
                True,
            )
        for k in np.linspace(-0.8, 0.8, 7):
            x, y = at([(k * w, h * 0.8)])[0]
            self._disc(x, y, 1.2, (45, 45, 55), 1.6)

    def _frame(self, x: float, y: float, size: float, turn: float, emblem: Emblem) -> None:
        h = size * 0.5
        shapes = {
            "house": [(-h * 0.85, h), (-h * 0.85, -h * 0.25), (0, -h), (h * 0.85, -h * 0.25), (h * 0.85, h)],
            "square": [(-h, -h), (h, -h), (h, h), (-h, h)],
            "shield": [(-h * 0.85, -h), (h * 0.85, -h), (h * 0.85, h * 0.2), (0, h), (-h * 0.85, h * 0.2)],
            "hexagon": [(h * math.cos(a), h * math.sin(a)) for a in np.arange(6) * math.pi / 3],
            "round": [(h * math.cos(a), h * math.sin(a)) for a in np.linspace(0, 6.2, 24)],
        }
        if emblem.outline == "none":
            return
        cos, sin = math.cos(turn), math.sin(turn)

        def placed(grow: float) -> list[tuple[float, float]]:
            return [(x + grow * (cos * a - sin * b), y + grow * (sin * a + cos * b)) for a, b in shapes[emblem.outline]]

        self._poly(placed(1 + 2 * emblem.rim_width / size), emblem.rim)
        self._poly(placed(1.0), emblem.fill)

    def _local(self, x: float, y: float, size: float, turn: float, points: object) -> list[tuple[float, float]]:
        cos, sin = math.cos(turn), math.sin(turn)
        return [(x + size * (cos * a - sin * b), y + size * (sin * a + cos * b)) for a, b in np.asarray(points, float)]

    def _line(self, points: list[tuple[float, float]], colour: Colour, width: float) -> None:
        cv2.polylines(self.image, [self._fixed(points)], False, colour, max(1, round(width * UNIT)), cv2.LINE_AA, FINE)

    def _wine(self, x: float, y: float, size: float, turn: float) -> None:
        rng = self.rng
        what = rng.random()
        if what < 0.5:  # a barrel
            wood = hsv(rng.uniform(12, 36), rng.uniform(0.4, 0.9), rng.uniform(0.3, 0.75))
            long, wide, belly = 0.5, rng.uniform(0.26, 0.34), rng.uniform(0.05, 0.1)
            if rng.random() < 0.35:
                turn += math.pi / 2
            side = [(wide + belly * math.cos(t * math.pi), t * 2 * long) for t in np.linspace(-0.5, 0.5, 9)]
            outline = side + [(-a, b) for a, b in side[::-1]]
            self._poly(self._local(x, y, size, turn, outline), wood, True)
            for k in np.linspace(-0.7, 0.7, int(rng.integers(2, 6))):  # staves
                self._line(
                    self._local(x, y, size, turn, [(k * wide, -long), (k * wide * 1.2, 0), (k * wide, long)]),
                    mix(wood, (10, 15, 25), rng.uniform(0.2, 0.6)),
                    0.5,
                )
            hoop = (
                mix(wood, (20, 20, 25), rng.uniform(0.3, 0.8))
                if rng.random() < 0.6
                else hsv(220, 0.1, rng.uniform(0.4, 0.8))
            )
            for t in ((-0.3, 0.3), (-0.38, 0.0, 0.38), (-0.4, -0.2, 0.2, 0.4))[int(rng.integers(3))]:
                a = wide + belly * math.cos(t * math.pi)
                self._line(
                    self._local(x, y, size, turn, [(-a, t * 2 * long), (0, t * 2 * long + 0.05), (a, t * 2 * long)]),
                    hoop,
                    rng.uniform(0.7, 1.5),
                )
            if rng.random() < 0.5:
                cx, cy = self._local(x, y, size, turn, [(0, -long)])[0]
                self._disc(cx, cy, wide * size * 0.9, mix(wood, (200, 220, 240), rng.uniform(0.1, 0.5)), 0.35)
        elif what < 0.85:  # grapes
            colour = hsv(
                rng.choice([rng.uniform(260, 330), rng.uniform(260, 330), rng.uniform(220, 260), rng.uniform(70, 100)]),
                rng.uniform(0.4, 0.9),
                rng.uniform(0.3, 0.7),
            )
            leaf = hsv(rng.uniform(80, 130), rng.uniform(0.4, 0.9), rng.uniform(0.3, 0.6))
            a, b = self._local(x, y, size, turn, [(rng.uniform(-0.25, 0.25), -0.4)])[0]
            self._disc(a, b, size * rng.uniform(0.12, 0.24), leaf, 0.7)
            r = rng.uniform(0.08, 0.12)
            rows = (3, 4, 3, 2, 1) if rng.random() < 0.5 else (4, 3, 2, 1)
            for row, count in enumerate(rows):
                for k in range(count):
                    p = self._local(x, y, size, turn, [((k - (count - 1) / 2) * 2 * r, -0.25 + row * 1.75 * r)])[0]
                    self._disc(p[0], p[1], size * r, mix(colour, (255, 255, 255), rng.uniform(0, 0.25)))
        else:  # a jug
            clay = hsv(rng.uniform(8, 36), rng.uniform(0.3, 0.9), rng.uniform(0.4, 0.85))
            side = [(0.12, -0.5), (0.1, -0.35), (0.3, -0.05), (0.26, 0.25), (0.14, 0.5)]
            self._poly(self._local(x, y, size, turn, side + [(-a, b) for a, b in side[::-1]]), clay, True)
            self._line(
                self._local(x, y, size, turn, [(0.12, -0.42), (0.4, -0.3), (0.28, -0.02)]),
                mix(clay, (10, 10, 20), 0.4),
                1.0,
            )

    def _grain(self, x: float, y: float, size: float, turn: float) -> None:
        rng = self.rng
        straw = hsv(rng.uniform(34, 56), rng.uniform(0.25, 0.9), rng.uniform(0.6, 0.98))
        if rng.random() < 0.2:
            straw = hsv(rng.uniform(20, 60), rng.uniform(0.05, 0.3), rng.uniform(0.5, 0.8))
        dark = mix(straw, (20, 40, 60), rng.uniform(0.2, 0.6))
        count, spread = int(rng.integers(3, 10)), rng.uniform(0.2, 0.45)
        droop = rng.uniform(0, 0.35)
        tied = rng.random() < 0.5
        for k in np.linspace(-1, 1, count):
            foot = (k * spread * (-0.55 if tied else 0.25), 0.5)
            tip = (k * spread * rng.uniform(0.9, 1.2), -0.5 + abs(k) * droop)
            mid = (k * spread * (0.05 if tied else 0.4), 0.1)
            line = [foot, mid, tip]
            self._line(
                self._local(x, y, size, turn, line), dark if rng.random() < 0.4 else straw, rng.uniform(0.6, 1.2)
            )
            ears = rng.uniform(0.03, 0.07)
            for t in np.linspace(0.35, 1, 5):
                p = np.array(mid) * (1 - t) + np.array(tip) * t
                a, b = self._local(x, y, size, turn, [p])[0]
                self._disc(a, b, size * ears, mix(straw, dark, rng.uniform(0, 0.6)), rng.uniform(0.9, 1.6))
        if tied:
            self._line(
                self._local(x, y, size, turn, [(-0.12, 0.12), (0.12, 0.12)]),
                hsv(rng.uniform(0, 40), 0.7, rng.uniform(0.3, 0.7)),
                rng.uniform(0.8, 2.0),
            )

    def _cloth(self, x: float, y: float, size: float, turn: float) -> None:
        rng = self.rng
        dye = hsv(
            rng.choice(
                [
                    rng.uniform(-12, 12),
                    rng.uniform(-12, 12),
                    rng.uniform(200, 250),
                    rng.uniform(270, 330),
                    rng.uniform(90, 150),
                ]
            ),
            rng.uniform(0.5, 1.0),
            rng.uniform(0.4, 0.9),
        )
        light, dark = mix(dye, (255, 255, 255), rng.uniform(0.15, 0.5)), mix(dye, (10, 10, 20), rng.uniform(0.2, 0.6))
        turn += rng.uniform(-0.6, 0.6)
        what = rng.random()
        if what < 0.5:  # rolls, stacked
            count = int(rng.choice([1, 1, 2, 3]))
            thick = 0.34 if count == 1 else 0.24
            for n in range(count):
                mid = (n - (count - 1) / 2) * thick * 1.3
                shade = (
                    dye if n % 2 == 0 or rng.random() < 0.5 else hsv(rng.uniform(0, 360), 0.7, rng.uniform(0.4, 0.9))
                )
                body = [
                    (-0.45, mid - thick / 2),
                    (0.4, mid - thick / 2),
                    (0.4, mid + thick / 2),
                    (-0.45, mid + thick / 2),
                ]
                self._poly(self._local(x, y, size, turn, body), shade, True)
                a, b = self._local(x, y, size, turn, [(0.4, mid)])[0]
                self._disc(a, b, size * thick * 0.5, mix(shade, (255, 255, 255), 0.35))
                self._disc(a, b, size * thick * 0.22, dark)
            if rng.random() < 0.5:
                self._poly(
                    self._local(x, y, size, turn, [(-0.45, 0.1), (0.35, 0.1), (0.5, 0.45), (-0.35, 0.5)]), light, True
                )
        elif what < 0.8:  # a bolt that unrolls
            self._poly(
                self._local(x, y, size, turn, [(-0.45, -0.4), (0.1, -0.5), (0.5, 0.3), (0.0, 0.5), (-0.2, 0.0)]),
                dye,
                True,
            )
            self._poly(self._local(x, y, size, turn, [(-0.45, -0.4), (-0.2, -0.5), (0.25, 0.4), (0.0, 0.5)]), light)
            a, b = self._local(x, y, size, turn, [(-0.3, -0.3)])[0]
            self._disc(a, b, size * rng.uniform(0.13, 0.22), dark, rng.uniform(0.6, 1))
        else:  # folded
            self._poly(
                self._local(x, y, size, turn, [(-0.45, -0.35), (0.45, -0.35), (0.45, 0.35), (-0.45, 0.35)]), dye, True
            )
            for k in np.linspace(-0.2, 0.25, int(rng.integers(2, 4))):
                self._line(
                    self._local(x, y, size, turn, [(-0.42, k), (0.42, k + rng.uniform(-0.08, 0.08))]),
                    dark if rng.random() < 0.5 else light,
                    rng.uniform(0.6, 1.4),
                )
