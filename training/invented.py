"""Draws tiles of invented editions: catalogue geometry, randomly deformed, in random colours and styles.

Only what all editions have in common is fixed: green land, towns of brown, tan or red behind a wall, pale roads, blue
water, a house in the middle of a cloister's tile, blue and white shields. Everything else is random, so that a network
trained on these tiles cannot depend on any artwork.
"""

from __future__ import annotations

import math
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from scoring.geometry import flatten
from scoring.tiles import Tile
from training.buildings import FINE, SIDE, UNIT, Image
from training.editions import Edition, Random, hsv, mix
from training.signs import UNSIGNED, SignPainter, Signs, emblem_by_lot


@cache
def _lines(tile: Tile) -> tuple[tuple[str, tuple[NDArray[np.float32], ...], float, tuple[str, ...]], ...]:
    return tuple(
        (s.kind, tuple(np.array(line, np.float32) for line in flatten(s.path)), s.width, s.atoms) for s in tile.segments
    )


def _shallow(line: NDArray[np.float32], side: str, depth: float) -> NDArray[np.float32]:
    """The outline of a town on one side only, as deep as ``depth`` times the catalogue's; one that reaches the opposite
    side is not changed."""
    axis, edge = {"N": (1, 0.0), "S": (1, 100.0), "W": (0, 0.0), "E": (0, 100.0)}[side]
    out = line.copy()
    if np.abs(line[:, axis] - edge).max() > 99:
        return out
    out[:, axis] = edge + (out[:, axis] - edge) * depth
    return out


def _swing(points: NDArray[np.float32], rng: Random) -> NDArray[np.float64]:
    """A road that ends on the tile swings aside on its way from the border, as to the door of a monastery."""
    steps = np.linspace(0, 1, len(points))
    if np.minimum(points[0], 100 - points[0]).min() > np.minimum(points[-1], 100 - points[-1]).min():
        steps = steps[::-1]
    ahead = points[-1] - points[0]
    aside = np.array([-ahead[1], ahead[0]]) / (np.linalg.norm(ahead) + 1e-6)
    off = rng.uniform(-18, 18) * steps**2 * (3 - 2 * steps) + rng.normal(0, 7) * np.sin(np.pi * steps)
    return off[:, None] * aside


class Painter(SignPainter):
    """Paints tiles of one edition. ``paint`` gives (SIDE, SIDE, 3) uint8 BGR, upright as at rot 0."""

    def __init__(self, edition: Edition, rng: Random) -> None:
        super().__init__(edition, rng)
        self.emblem = emblem_by_lot(rng)

    def paint(self, tile: Tile, signs: Signs = UNSIGNED) -> Image:
        e, rng = self.e, self.rng
        self._road_mask[:] = 0
        self.shown = []
        self.image = self._ground(e.field, e.field_other)
        self._bend()
        town = np.zeros((SIDE, SIDE), np.uint8)
        bands, towns = [], []
        for kind, lines, _, atoms in _lines(tile):
            if kind == "city":
                mask = np.zeros((SIDE, SIDE), np.uint8)
                deep = e.cap_depth * rng.uniform(0.85, 1.15)
                lines = tuple(_shallow(line, atoms[0], deep) for line in lines) if len(atoms) == 1 else lines
                cv2.fillPoly(mask, [self._fixed(line) for line in lines], 255, cv2.LINE_AA, FINE)
                mask = self._bent(mask)
                towns.append(mask)
                np.maximum(town, mask, out=town)
            elif kind in ("road", "river"):
                bands.append((kind, lines, atoms))
        self._clutter(town < 40)
        for kind, lines, atoms in bands:
            self._band(kind, lines, atoms)
        if towns:
            self._town(town)
            for mask in towns:
                self._wall(mask)
        self._bridge([lines[0] for kind, lines, _ in bands if kind == "road"])
        self._middle(tile, bands, bool(towns))
        if signs.inn:
            self.sign_inn(tile, town)
        if signs.cathedral:
            self.sign_cathedral()
        self._shields(tile, town)
        if signs.goods:
            self.sign_goods(tile, signs.goods, self.emblem, town)
        if e.rim_width and rng.random() < 0.8:
            colour = mix(e.rim, (30, 30, 30), rng.uniform(0, 0.6))
            cv2.rectangle(self.image, (0, 0), (SIDE - 1, SIDE - 1), colour, 1 if e.rim_width < 1 else 2)
        return self.image

    def _bend(self) -> None:
        """Deform the borders of towns; the ends on the tile's sides are fixed."""
        steps = (np.arange(SIDE, dtype=np.float32) + 0.5) / SIDE
        window = np.clip(np.minimum(steps, 1 - steps) / 0.3, 0.12, 1)
        window = np.minimum.outer(window, window)
        amplitude = 9.0 * UNIT * self.e.bend
        x, y = np.meshgrid(np.arange(SIDE, dtype=np.float32), np.arange(SIDE, dtype=np.float32))
        self._map = tuple(base + window * amplitude * self._noise((1, 0.6), (3, 0.6), (8, 0.22)) for base in (x, y))

    def _bent(self, mask: Image) -> Image:
        return cv2.remap(mask, self._map[0], self._map[1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)

    def _clutter(self, free: NDArray[np.bool_]) -> None:
        """Trees, bushes, sheep, stones, gardens, ponds, flowers, huts."""
        rng, e = self.rng, self.e
        for x, y in rng.uniform(2, 98, (int(rng.integers(0, 60) * e.clutter), 2)):
            dark = mix(e.field, (10, 30, 10) if rng.random() < 0.7 else (120, 230, 230), rng.uniform(0.1, 0.6))
            self._disc(x, y, rng.uniform(0.5, 1.3), dark, rng.uniform(0.4, 1.5))
        for _ in range(int(rng.integers(0, 5))):
            x, y = rng.uniform(6, 94, 2)
            if not free[int(y * UNIT), int(x * UNIT)]:
                continue
            what = rng.random()
            if what < 0.35:
                leaf = mix(e.field, (15, 50, 20), rng.uniform(0.2, 0.8))
                for _ in range(int(rng.integers(1, 6))):
                    self._disc(
                        x + rng.uniform(-4, 4),
                        y + rng.uniform(-3, 3),
                        rng.uniform(1.5, 5),
                        mix(leaf, e.field, rng.uniform(0, 0.5)),
                    )
            elif what < 0.5:
                for _ in range(int(rng.integers(1, 5))):
                    self._disc(
                        x + rng.uniform(-5, 5), y + rng.uniform(-4, 4), rng.uniform(1, 2.2), (225, 235, 240), 0.7
                    )
            elif what < 0.72:
                w, h, turn = rng.uniform(5, 16), rng.uniform(4, 10), rng.uniform(0, 3.1)
                colour = hsv(rng.uniform(10, 60), rng.uniform(0.2, 0.8), rng.uniform(0.4, 0.9))
                corners = np.array([[-w, -h], [w, -h], [w, h], [-w, h]]) / 2
                cos, sin = math.cos(turn), math.sin(turn)
                corners = corners @ np.array([[cos, sin], [-sin, cos]]) + (x, y)
                self._poly(corners, colour, True)
                for k in np.linspace(0.15, 0.85, int(rng.integers(2, 7))):
                    a, b = corners[0] + (corners[1] - corners[0]) * k, corners[3] + (corners[2] - corners[3]) * k
                    cv2.polylines(
                        self.image,
                        [self._fixed([a, b])],
                        False,
                        mix(colour, (20, 60, 30), rng.uniform(0.2, 0.7)),
                        1,
                        cv2.LINE_AA,
                        FINE,
                    )
            elif what < 0.8:
                self._disc(x, y, rng.uniform(2, 7), mix(e.water, e.field, rng.uniform(0, 0.5)), rng.uniform(0.4, 1))
            elif what < 0.93:
                self._house(x, y, rng.uniform(4, 8))
            else:
                self._disc(x, y, rng.uniform(1.5, 4), hsv(40, rng.uniform(0, 0.3), rng.uniform(0.4, 0.8)), 0.7)

    def _band(self, kind: str, lines: tuple[NDArray[np.float32], ...], atoms: tuple[str, ...]) -> None:
        rng, e = self.rng, self.e
        river = kind == "river"
        width = e.road_width * rng.uniform(0.85, 1.15) if not river else rng.uniform(12, 20)
        shift = self._map
        for line in lines:
            at = np.linspace(0, len(line) - 1, 24)
            points = np.stack([np.interp(at, np.arange(len(line)), line[:, k]) for k in (0, 1)], axis=1)
            deep = np.minimum(points, 100 - points).min(axis=1)
            loose = np.clip(deep / 25, 0, 1)[:, None]
            waves = np.cumsum(rng.standard_normal((24, 2)), axis=0)
            waves = cv2.GaussianBlur(waves.astype(np.float32), (1, 7), 0, None, rng.uniform(0.5, 2.5))
            waves -= waves.mean(axis=0)
            cell = np.clip((points * UNIT).astype(int), 0, SIDE - 1)
            drift = np.stack(
                [cell[:, 0] - shift[0][cell[:, 1], cell[:, 0]], cell[:, 1] - shift[1][cell[:, 1], cell[:, 0]]], axis=1
            )
            points = points + loose * (waves * e.wander * 0.9 + drift * 0.5)
            if len(atoms) == 1 and not river and rng.random() < 0.5:
                points = points + _swing(points, rng)
            fixed = [self._fixed(points)]
            if e.ink > 0.25 or river:
                cv2.polylines(
                    self.image,
                    fixed,
                    False,
                    mix(e.field if river else e.road_rim, e.road_rim, 0.6),
                    max(1, round((width + rng.uniform(1, 3)) * UNIT)),
                    cv2.LINE_AA,
                    FINE,
                )
            cv2.polylines(
                self.image, fixed, False, e.water if river else e.road, max(2, round(width * UNIT)), cv2.LINE_AA, FINE
            )
            if not river:
                cv2.polylines(self._road_mask, fixed, False, 255, max(2, round(width * UNIT)), cv2.LINE_8, FINE)
            if rng.random() < 0.5:
                for x, y in points[rng.integers(0, 24, 8)] + rng.uniform(-0.3, 0.3, (8, 2)) * width:
                    self._disc(
                        x, y, rng.uniform(0.4, 1.2), mix(e.water if river else e.road, e.road_rim, rng.uniform(0, 0.6))
                    )

    def _bridge(self, roads: list[NDArray[np.float32]]) -> None:
        """A bridge, where two roads cross and neither ends."""
        rng, e = self.rng, self.e
        for n, one in enumerate(roads):
            for other in roads[:n]:
                near = np.sqrt(((one[:, None] - other[None]) ** 2).sum(axis=2))
                a, b = np.unravel_index(int(near.argmin()), near.shape)
                through = [min(k, len(line) - 1 - k) > 0.12 * len(line) for k, line in ((a, one), (b, other))]
                if near[a, b] > 4 or not all(through):
                    continue
                over, k = (one, a) if rng.random() < 0.5 else (other, b)
                ahead = over[min(k + 2, len(over) - 1)] - over[max(k - 2, 0)]
                ahead = ahead / (np.linalg.norm(ahead) + 1e-6)
                aside = np.array([-ahead[1], ahead[0]])
                half, wide = rng.uniform(7, 13), e.road_width * rng.uniform(0.55, 0.8)
                middle = over[k] + rng.normal(0, 0.8, 2)
                stone = mix(e.wall, e.road, rng.uniform(0, 0.6))
                deck = [middle + ahead * x * half + aside * y * wide for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
                self._poly([p + (1.5, 2) for p in deck], mix(e.field, (10, 20, 10), 0.6))
                self._poly(deck, mix(e.road, stone, rng.uniform(0, 0.5)))
                for side in (-1, 1):
                    rail = [middle + ahead * x * half + aside * side * wide for x in (-1, 1)]
                    cv2.polylines(
                        self.image, [self._fixed(rail)], False, mix(stone, (20, 20, 25), e.ink), 2, cv2.LINE_AA, FINE
                    )
                    if e.tower is not None and rng.random() < 0.6:
                        r, roofed = rng.uniform(1.5, 3.5), rng.random() < 0.5
                        for x, y in np.array(rail).tolist():
                            if roofed:
                                self._poly([(x - r, y - 2 * r), (x + r, y - 2 * r), (x + r, y + r), (x - r, y + r)],
                                           stone, True)
                                self._poly([(x - 1.3 * r, y - 2 * r), (x, y - 4 * r), (x + 1.3 * r, y - 2 * r)],
                                           e.tower, True)
                            else:
                                self._disc(x, y, r, e.tower)

    def _town(self, town: Image) -> None:
        rng, e = self.rng, self.e
        ground = self._ground(e.town, e.town_other)
        weight = town[..., None].astype(np.float32) / 255
        before = self.image
        self.image = ground
        deep = np.minimum(cv2.distanceTransform((town > 127).astype(np.uint8), cv2.DIST_L2, 3), SIDE) / UNIT
        most = e.houses * (100 / e.house_size) ** 2 * 0.5
        spots = rng.uniform(2, 98, (int(min(most * rng.uniform(0.5, 1.2), 120)), 2))
        centre = rng.uniform(20, 80, 2)
        for x, y in sorted(spots.tolist(), key=lambda p: p[1]):
            near = e.houses > 0.5 or math.dist((x, y), centre) < 40
            if near and deep[int(y * UNIT), int(x * UNIT)] > 1:
                if rng.random() < 0.06:
                    self._disc(x, y, rng.uniform(2, 4), mix(e.field, (20, 60, 20), rng.uniform(0, 0.7)))
                else:
                    self._house(x, y, e.house_size * rng.uniform(0.7, 1.3))
        if rng.random() < 0.1:
            self._disc(*rng.uniform(10, 90, 2).tolist(), rng.uniform(5, 12), e.field, rng.uniform(0.5, 1))
        self.image = (before * (1 - weight) + self.image * weight).astype(np.uint8)

    def _wall(self, mask: Image) -> None:
        found, _ = cv2.findContours((mask > 127).astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
        for outline in found:
            points = outline[:, 0].astype(np.float32)
            inner = (points > 1.5).all(axis=1) & (points < SIDE - 2.5).all(axis=1)
            if inner.sum() < 6:
                continue
            start = int(np.argmin(inner))
            points, inner = np.roll(points, -start, axis=0), np.roll(inner, -start)
            ends = np.flatnonzero(np.diff(np.concatenate([[0], inner.astype(np.int8), [0]])))
            for a, b in zip(ends[::2], ends[1::2], strict=True):
                line = points[a:b:3]
                if len(line) >= 3:
                    self._wall_line(line / UNIT)

    def _village(self, x: float, y: float) -> None:
        """A few small houses where roads meet: in a ring around a square of bare earth, or clustered."""
        rng, e = self.rng, self.e
        earth = mix(mix(e.town, e.road, rng.uniform(0, 0.6)), e.field, rng.uniform(0, 0.6))
        wide = rng.uniform(7, 19)
        if rng.random() < 0.7:
            for _ in range(int(rng.integers(1, 6))):
                dx, dy = rng.normal(0, wide * 0.25, 2)
                self._disc(x + dx, y + dy, wide * rng.uniform(0.5, 1.0), earth, rng.uniform(0.5, 1.0))
        many = int(rng.integers(2, 10))
        if rng.random() < 0.6:
            turns = rng.uniform(0, 6.3) + np.arange(many) * 6.28 / many + rng.normal(0, 0.25, many)
            out = wide * rng.uniform(0.55, 1.1, many)
            spots = np.stack([x + out * np.cos(turns), y + out * np.sin(turns)], axis=1)
        else:
            spots = rng.normal((x, y), wide * 0.45, (many, 2))
        size = rng.uniform(5, 13)
        for at in sorted(spots.tolist(), key=lambda p: p[1]):
            if rng.random() < 0.25:
                bush = mix(e.field, (20, 60, 20), rng.uniform(0.2, 0.8))
                self._disc(at[0] + rng.normal(0, 4), at[1] + rng.normal(0, 4), rng.uniform(2, 5), bush)
            self._house(at[0], at[1], size * rng.uniform(0.75, 1.25))

    def _middle(self, tile: Tile, bands: list, towns: bool) -> None:
        rng, e = self.rng, self.e
        if any(s.kind == "cloister" for s in tile.segments):
            self._cloister()
            return
        ends = [
            line[n]
            for kind, lines, atoms in bands
            if kind == "road" and len(atoms) == 1
            for line in lines[:1]
            for n in (0, -1)
            if min(*line[n], *(100 - line[n])) > 3
        ]
        met = [math.dist(a, b) < 24 for n, a in enumerate(ends) for b in ends[:n]]
        if len([b for b in bands if b[0] == "road"]) >= 3 or any(met):
            x, y = rng.uniform(45, 55, 2)
            style = rng.random()
            if style < 0.15:
                self._disc(x, y, rng.uniform(3, 7), mix(e.road, e.road_rim, rng.uniform(0, 0.5)))
            elif style < 0.3:
                for _ in range(int(rng.integers(4, 12))):
                    self._disc(
                        x + rng.normal(0, 5),
                        y + rng.normal(0, 5),
                        rng.uniform(2, 4),
                        mix(e.field, (20, 60, 20), rng.uniform(0.2, 0.8)),
                    )
            else:
                self._village(float(x), float(y))
        elif ends and towns:
            x, y = ends[0]
            for dx in (-1, 1):
                r = rng.uniform(2, 4)
                x0 = float(x) + dx * rng.uniform(3, 6)
                self._poly([(x0 - r, y - 3 * r), (x0 + r, y - 3 * r), (x0 + r, y + r), (x0 - r, y + r)], e.wall, True)
                if e.tower is not None and rng.random() < 0.7:
                    self._poly(
                        [(x0 - 1.3 * r, y - 2.6 * r), (x0, y - 5 * r), (x0 + 1.3 * r, y - 2.6 * r)], e.tower, True
                    )

    def _shields(self, tile: Tile, town: Image) -> None:
        rng, e = self.rng, self.e
        deep = cv2.distanceTransform(np.pad((town > 127).astype(np.uint8), 1), cv2.DIST_L2, 3)[1:-1, 1:-1] / UNIT
        for segment in tile.segments:
            for n in range(segment.pennants):
                size = e.shield_size
                room = np.argwhere(deep > min(size * 0.5, deep.max() * 0.8))
                if rng.random() < 0.25 and len(segment.marks) > n:
                    x, y = np.array(segment.marks[n]) + rng.normal(0, 3, 2)
                elif len(room):
                    y, x = room[int(rng.integers(len(room)))] / UNIT
                else:
                    continue
                self._shield(
                    float(np.clip(x, size * 0.5, 100 - size * 0.5)),
                    float(np.clip(y, size * 0.55, 100 - size * 0.55)),
                    size,
                )
