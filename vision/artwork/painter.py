"""Paint a whole tile from its catalogue geometry."""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from scoring import geometry
from scoring.tiles import Segment, Tile
from vision.artwork import symbols, things
from vision.artwork.canvas import INK, XY, Canvas, Image, mix, noise, ramp

Mask = NDArray[np.uint8]

_MEADOW = ((34, 92, 60), (52, 122, 84), (66, 146, 108), (82, 164, 132), (104, 184, 160))
_TOWN = ((60, 92, 132), (84, 124, 168), (104, 148, 190), (126, 170, 206), (146, 188, 216))
_WATER = ((140, 84, 30), (170, 112, 48), (192, 136, 66), (206, 160, 92))
_DIRT = ((150, 172, 184), (176, 198, 208), (198, 216, 224), (212, 228, 234))
_ROAD_EDGE = (78, 112, 122)
_DETAIL_TRIES = 260


@dataclass(slots=True)
class _Work:
    """One tile on the easel. ``kind`` draws what all copies share, ``copy`` what differs from copy to copy."""

    tile: Tile
    canvas: Canvas
    masks: list[Mask]
    kind: np.random.Generator
    copy: np.random.Generator
    taken: list[tuple[float, float, float]]

    def of(self, *kinds: str) -> list[tuple[Segment, Mask]]:
        return [(s, m) for s, m in zip(self.tile.segments, self.masks, strict=True) if s.kind in kinds]

    def visible(self, *kinds: str) -> Mask:
        total: Mask = np.zeros((self.canvas.side_px, self.canvas.side_px), np.uint8)
        for _, mask in self.of(*kinds):
            np.maximum(total, mask, out=total)
        return total

    def places(self, rng: np.random.Generator, room: Mask, radius: float, apart: float, most: int) -> list[XY]:
        """Random points that keep ``radius`` from the mask's border and ``apart`` from all that is taken."""
        small = cv2.resize(room, (200, 200), interpolation=cv2.INTER_AREA)
        deep = cv2.distanceTransform((np.pad(small, 1) > 127).astype(np.uint8), cv2.DIST_L2, 3)[1:-1, 1:-1] / 2
        found: list[XY] = []
        for x, y in rng.uniform(2, 98, (_DETAIL_TRIES, 2)):
            if len(found) == most:
                break
            if deep[int(y * 2), int(x * 2)] < radius:
                continue
            if all(math.hypot(x - tx, y - ty) > r + apart for tx, ty, r in self.taken):
                self.taken.append((x, y, apart))
                found.append((float(x), float(y)))
        return sorted(found, key=lambda p: p[1])


def draw_tile(tile: Tile, size_px: int, *, rot: int = 0, variant: int = 0, seed: int = 0) -> Image:
    """The tile as a (size_px, size_px, 3) BGR picture, lying ``rot`` quarter turns clockwise.

    Copies of a kind share land and walls; ``variant`` and ``seed`` change trees, sheep, gardens and grain. Equal
    arguments give equal pictures.
    """
    side = 512 if size_px <= 256 else 1024
    canvas = Canvas(side)
    work = _Work(
        tile=tile, canvas=canvas, masks=_visible(tile, canvas),
        kind=np.random.default_rng(zlib.crc32(tile.id.encode())),
        copy=np.random.default_rng(zlib.crc32(f"{tile.id}/{variant}/{seed}".encode())), taken=[],
    )
    _reserve(work)
    _land(work)
    for segment, mask in zip(tile.segments, work.masks, strict=True):
        if segment.kind in geometry.BANDS:
            _band(work, segment, mask)
    _meadow_life(work)
    _towns(work)
    _borders(work)
    _buildings(work)
    _signs(work)
    picture = cv2.resize(canvas.pixels, (size_px, size_px), interpolation=cv2.INTER_AREA)
    picture = _cardboard(work, picture)
    return np.ascontiguousarray(np.rot90(picture, -(rot % 4)))


def segment_masks(tile: Tile, size_px: int) -> list[NDArray[np.bool_]]:
    """Per segment its visible area on the unturned tile, (size_px, size_px) bool; the masks do not overlap."""
    return [mask > 127 for mask in _visible(tile, Canvas(size_px))]


def _visible(tile: Tile, canvas: Canvas) -> list[Mask]:
    masks: list[Mask] = []
    for segment in tile.segments:
        lines = geometry.flatten(segment.path)
        shape = canvas.band_mask(lines, segment.width) if segment.kind in geometry.BANDS else canvas.area_mask(lines)
        for earlier in masks:
            np.minimum(earlier, 255 - shape, out=earlier)
        masks.append(shape)
    return masks


def _reserve(work: _Work) -> None:
    """Keep decoration off the places that signs and villages need."""
    for segment in work.tile.segments:
        work.taken += [(x, y, 9.0) for x, y in segment.marks]
        if segment.cathedral:
            work.taken.append((50.0, 50.0, 24.0))
    village = _village(work.tile)
    if village:
        work.taken.append((*village, 9.0))


def _land(work: _Work) -> None:
    side, pixels = work.canvas.side_px, work.canvas.pixels
    land = noise(work.kind, side, ((3, 0.34), (7, 0.3), (18, 0.26), (60, 0.2), (150, 0.16)))
    pixels[:] = ramp(land, _MEADOW)
    town = work.visible("city", "cloister")
    if town.any():
        ground = noise(work.kind, side, ((3, 0.3), (9, 0.3), (34, 0.3), (110, 0.3)))
        for segment, mask in work.of("city"):
            work.canvas.blend(ramp(ground, _TOWN), mask)
            del segment


def _band(work: _Work, segment: Segment, mask: Mask) -> None:
    """A road or a river with its banks, also where it crosses another band."""
    c, river = work.canvas, segment.kind == "river"
    lines = geometry.flatten(segment.path)
    rim = c.band_mask(lines, segment.width + (3.4 if river else 2.0))
    hidden = np.zeros_like(rim)
    for later, cover in zip(work.tile.segments, work.masks, strict=True):
        if later.kind in ("city", "cloister"):
            np.maximum(hidden, cover, out=hidden)
    np.minimum(rim, 255 - hidden, out=rim)
    c.shade(rim, 0.9, 0.0, (104, 164, 180) if river else _ROAD_EDGE)
    texture = noise(work.kind, c.side_px, ((6, 0.35), (30, 0.35), (120, 0.4)))
    inner = np.minimum(c.band_mask(lines, segment.width - 0.6), 255 - hidden)
    c.blend(ramp(texture, _WATER if river else _DIRT), inner)
    for line in lines:
        for x, y, dx, dy in things.along(line, 3.1 if river else 2.3, 1.0):
            off = work.kind.uniform(-0.38, 0.38) * segment.width
            px, py = x - dy * off, y + dx * off
            if not 0 <= px < 100 or not 0 <= py < 100 or not mask[int(py * c.unit), int(px * c.unit)]:
                continue
            if river:
                c.line([(px - dx * 1.6, py - dy * 1.6), (px + dx * 1.6, py + dy * 1.6)], (232, 200, 150), 0.35)
            else:
                c.disc(px, py, float(work.kind.uniform(0.25, 0.5)), (140, 160, 170))


def _meadow_life(work: _Work) -> None:
    """Tufts and flowers everywhere, then trees, bushes, sheep and gardens where there is room."""
    c, field = work.canvas, work.visible("field")
    if not field.any():
        return
    tips = work.kind.uniform(0, 100, (420, 2))
    for n, (x, y) in enumerate(tips):
        if not field[int(y * c.unit), int(x * c.unit)]:
            continue
        colour = ((38, 96, 62), (120, 196, 176), (46, 110, 76))[n % 3]
        lean = work.kind.uniform(-0.7, 0.7)
        c.line([(x, y), (x + lean, y - 1.5)], colour, 0.35)
        if n % 3 == 0:
            c.line([(x + 0.5, y), (x + 0.9 + lean, y - 1.1)], colour, 0.35)
        if n % 14 == 0:
            c.disc(x, y, 0.55, ((230, 240, 244), (70, 214, 246), (90, 90, 220))[n // 14 % 3])
    for x, y in work.places(work.kind, field, 4.0, 4.5, 4):
        (things.tree if work.kind.random() < 0.7 else things.fir)(c, work.kind, x, y + 2.5, 5.6)
    for x, y in work.places(work.kind, field, 2.6, 3.2, 5):
        things.bush(c, work.kind, x, y, 3.2)
    rng = work.copy
    for x, y in work.places(rng, field, 8.0, 7.0, int(rng.integers(0, 2))):
        things.patch(c, rng, x, y, 11.0)
    for x, y in work.places(rng, field, 3.4, 3.4, int(rng.integers(1, 5))):
        things.sheep(c, rng, x, y, 2.8)
    for x, y in work.places(rng, field, 2.6, 3.0, int(rng.integers(1, 6))):
        (things.rock if rng.random() < 0.3 else things.bush)(c, rng, x, y, 2.6)


def _towns(work: _Work) -> None:
    c = work.canvas
    for segment, mask in work.of("city"):
        for x, y in work.kind.uniform(0, 100, (260, 2)):  # cobbles
            if mask[int(y * c.unit), int(x * c.unit)] > 200:
                c.oval(x, y, 0.6, 0.4, mix((70, 104, 140), (160, 196, 220), float(work.kind.random())))
        for n, (x, y) in enumerate(work.places(work.kind, mask, 4.4, 3.9, 40)):
            if n % 9 == 4:
                things.tree(c, work.kind, x, y + 2.5, 4.6)
            else:
                things.house(c, work.kind, x, y + 3.0, float(work.kind.uniform(7.0, 9.0)))
        del segment


def _borders(work: _Work) -> None:
    """Town walls where a city meets land, hedges where two fields meet without a road between."""
    c = work.canvas
    fields = [mask for _, mask in work.of("field")]
    if len(fields) > 1:
        grown = [cv2.dilate(mask, np.ones((5, 5), np.uint8)) for mask in fields]
        seam = np.zeros_like(fields[0])
        for n, one in enumerate(grown):
            for other in grown[n + 1:]:
                np.maximum(seam, np.minimum(one, other), out=seam)
        ys, xs = np.nonzero(np.minimum(seam, work.visible("field")) > 127)
        village = _village(work.tile)
        for k in work.kind.permutation(len(xs))[:len(xs) // 22]:
            x, y = xs[k] / c.unit, ys[k] / c.unit
            if village is None or math.hypot(x - village[0], y - village[1]) > 12:
                things.bush(c, work.kind, x, y + 0.5, 1.9)
    for segment, _ in work.of("city"):
        for line in _inner_lines(segment):
            foot = c.band_mask([[(x + 0.6, y + 2.2) for x, y in line]], 3.0)
            c.shade(np.minimum(foot, work.visible("field")), 0.45, 0.8)
            things.town_wall(c, line)
    for segment, _ in work.of("road"):
        for x, y in _gates(work, segment):
            c.poly([(x - 4.4, y + 3.2), (x + 4.4, y + 3.2), (x + 4.4, y - 3.4), (x - 4.4, y - 3.4)], things.WALL, 0.4)
            c.poly([(x - 2.6, y + 3.2), (x + 2.6, y + 3.2), (x + 2.6, y - 0.4), (x, y - 2.4), (x - 2.6, y - 0.4)], (40, 54, 74))
            for side in (-1, 1):
                things.turret(c, x + side * 4.8, y + 0.6, 2.9)


def _inner_lines(segment: Segment) -> list[list[XY]]:
    """The parts of an area's outline that do not run along the tile's edge."""
    runs: list[list[XY]] = []
    for line in geometry.flatten(segment.path):
        run: list[XY] = []
        for a, b in zip(line, line[1:], strict=False):
            outside = any(a[k] == b[k] and a[k] in (0.0, 100.0) for k in (0, 1))
            if outside or a == b:
                if len(run) > 1:
                    runs.append(run)
                run = []
                continue
            run = run or [a]
            run.append(b)
        if len(run) > 1:
            runs.append(run)
    return runs


def _gates(work: _Work, road: Segment) -> list[XY]:
    """Where a road runs into a city: the last visible points of its centre line."""
    town = work.visible("city")
    found: list[XY] = []
    for line in geometry.flatten(road.path):
        steps = [(x, y, 2 <= x <= 98 and 2 <= y <= 98 and town[int(y * work.canvas.unit), int(x * work.canvas.unit)] > 127)
                 for x, y, _, _ in things.along(line, 0.5)]
        found += [(a[0], a[1]) for a, b in zip(steps, steps[1:], strict=False) if a[2] != b[2]]
    return found


def _village(tile: Tile) -> XY | None:
    """Where roads meet without a cloister, city or tower: the middle of their ends."""
    if "tower" in tile.flags or any(s.kind == "cloister" for s in tile.segments):
        return None
    ends = [geometry.flatten(s.path)[0] for s in tile.segments if s.kind == "road" and len(s.atoms) == 1]
    inner = [max((line[0], line[-1]), key=lambda p: min(p[0], p[1], 100 - p[0], 100 - p[1])) for line in ends]
    cities = [s for s in tile.segments if s.kind == "city"]
    inner = [p for p in inner if not any(geometry.covers(s, *p) for s in cities)]
    if len(inner) < 2:
        return None
    return sum(p[0] for p in inner) / len(inner), sum(p[1] for p in inner) / len(inner)


def _buildings(work: _Work) -> None:
    c = work.canvas
    village = _village(work.tile)
    if village:
        x, y = village
        c.oval(x, y, 8.6, 7.4, (120, 170, 186), 0.5, _ROAD_EDGE)
        c.oval(x, y, 6.4, 5.4, (142, 190, 204))
        for dx, dy in ((-5.5, -4.0), (5.0, -4.4), (-5.4, 6.0), (5.6, 6.4)):
            things.house(c, work.kind, x + dx, y + dy, 8.4)
        things.tree(c, work.kind, x, y - 5.5, 3.6)
        c.disc(x, y + 0.6, 1.5, symbols.STONE, 0.4)
        c.disc(x, y + 0.6, 0.8, (150, 96, 40))
    for segment, mask in work.of("cloister"):
        xs, ys = zip(*geometry.flatten(segment.path)[0], strict=True)
        c.shade(mask, 0.4, 2.0)
        things.cloister(c, work.kind, (min(xs), min(ys), max(xs), max(ys)))


def _signs(work: _Work) -> None:
    c = work.canvas
    for segment in work.tile.segments:
        marks = list(segment.marks)
        for _ in range(segment.pennants):
            things.shield(c, *marks.pop(0), 13.0)
        if segment.inn:
            symbols.inn(c, work.kind, *marks.pop(0))
        if segment.cathedral:
            symbols.cathedral(c, *marks.pop(0))
        if segment.goods:
            symbols.GOODS[segment.goods](c, *marks.pop(0))
        if segment.princess:
            symbols.princess(c, *marks.pop(0))
    place = geometry.flag_spot(work.tile)
    if place is None:
        return
    if "volcano" in work.tile.flags:
        symbols.volcano(c, work.kind, *place)
    for flag, draw in (("dragon", symbols.dragon), ("portal", symbols.portal), ("tower", symbols.tower_base),
                       ("wheel_icon", symbols.wheel)):
        if flag in work.tile.flags:
            draw(c, *place)


def _cardboard(work: _Work, picture: Image) -> Image:
    """Print grain, and the darker edge of die-cut board."""
    size = len(picture)
    grain = cv2.resize(work.copy.standard_normal((256, 256), dtype=np.float32), (size, size), interpolation=cv2.INTER_AREA)
    out = picture.astype(np.float32) + grain[..., None] * 6.0
    at = np.minimum(np.arange(size), np.arange(size)[::-1]).astype(np.float32) * (100.0 / size)
    inset = np.minimum(at[:, None], at[None, :])
    out *= (0.62 + 0.38 * np.clip(inset / 1.6, 0, 1))[..., None]
    return np.clip(np.round(out), 0, 255).astype(np.uint8)


__all__ = ["INK", "draw_tile", "segment_masks"]
