"""Paint a whole tile from its catalogue geometry."""

from __future__ import annotations

import itertools
import math
import zlib
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from scoring import geometry
from scoring.tiles import Segment, Tile
from vision import shapes
from vision.artwork import symbols, things
from vision.artwork.canvas import INK, XY, Canvas, Image, as_image, mix, noise, ramp

Mask = NDArray[np.uint8]

_MEADOW = ((34, 92, 60), (52, 122, 84), (66, 146, 108), (82, 164, 132), (104, 184, 160))
_TOWN = ((60, 92, 132), (84, 124, 168), (104, 148, 190), (126, 170, 206), (146, 188, 216))
_WATER = ((140, 84, 30), (170, 112, 48), (192, 136, 66), (206, 160, 92))
_DIRT = ((150, 172, 184), (176, 198, 208), (198, 216, 224), (212, 228, 234))
_ROAD_EDGE = (78, 112, 122)
_DETAIL_TRIES = 260
_NEIGHBOURS = ((np.s_[1:, :], np.s_[:-1, :]), (np.s_[:, 1:], np.s_[:, :-1]))  # pairs of adjacent cells


@dataclass(slots=True)
class _Work:
    """A tile that is being drawn. ``kind`` draws what all copies share, ``copy`` what differs from copy to copy."""

    tile: Tile
    canvas: Canvas
    masks: list[Mask]
    grid: Mask  # index of the visible segment in 200 x 200 cells: places do not depend on the picture's size
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

    def on(self, x: float, y: float) -> int:
        return int(self.grid[min(199, int(y * 2)), min(199, int(x * 2))])

    def room(self, *kinds: str) -> Mask:
        """Cells (200 x 200) of 1 where a segment of these kinds is seen, 0 elsewhere and along their seams."""
        wanted = [n for n, s in enumerate(self.tile.segments) if s.kind in kinds]
        inside = np.isin(self.grid, wanted)
        for ahead, behind in _NEIGHBOURS:
            inside[ahead] &= self.grid[ahead] == self.grid[behind]
        return inside.astype(np.uint8)

    def places(self, rng: np.random.Generator, room: Mask, radius: float, apart: float, most: int) -> list[XY]:
        """Random points at least ``radius`` from the border of the cells and ``apart`` from all points in use."""
        deep = cv2.distanceTransform(np.pad(room, 1), cv2.DIST_L2, 3)[1:-1, 1:-1] / 2
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
        grid=shapes.labels(tile),
        kind=np.random.default_rng(zlib.crc32(tile.id.encode())),
        copy=np.random.default_rng(zlib.crc32(f"{tile.id}/{variant}/{seed}".encode())), taken=[],
    )
    _reserve(work)
    _land(work)
    for index, segment in enumerate(tile.segments):
        if segment.width:
            _band(work, index, segment)
    _meadow_life(work)
    _towns(work)
    _borders(work)
    _buildings(work)
    _signs(work)
    picture = _cardboard(work, as_image(cv2.resize(canvas.pixels, (size_px, size_px), interpolation=cv2.INTER_AREA)))
    return np.ascontiguousarray(np.rot90(picture, -(rot % 4)))


def segment_masks(tile: Tile, size_px: int) -> list[NDArray[np.bool_]]:
    """Per segment its visible area on the unturned tile, (size_px, size_px) bool; the masks do not overlap."""
    return [mask > 127 for mask in _visible(tile, Canvas(size_px))]


def _visible(tile: Tile, canvas: Canvas) -> list[Mask]:
    masks: list[Mask] = []
    for segment in tile.segments:
        lines = geometry.flatten(segment.path)
        shape = canvas.band_mask(lines, segment.width) if segment.width else canvas.area_mask(lines)
        for earlier in masks:
            np.minimum(earlier, 255 - shape, out=earlier)
        masks.append(shape)
    return masks


def _reserve(work: _Work) -> None:
    """Reserve the places of signs and villages, so that decoration avoids them."""
    room = max((sign.room for sign in _flags(work.tile)), default=9.0)
    for segment in work.tile.segments:
        work.taken += [(x, y, room) for x, y in segment.marks]
        spots = segment.marks[segment.pennants:]
        work.taken += [(*spot, symbols.SIGNS[sign].room) for sign, spot in zip(segment.signs, spots, strict=False)
                       if sign in symbols.SIGNS and symbols.SIGNS[sign].room > room]
    village = _village(work.tile)
    if village:
        work.taken.append((*village, 9.0))


def _land(work: _Work) -> None:
    side, pixels = work.canvas.side_px, work.canvas.pixels
    land = noise(work.kind, side, ((3, 0.34), (7, 0.3), (18, 0.26), (60, 0.2), (150, 0.16)))
    pixels[:] = ramp(land, _MEADOW)
    if work.of("city"):
        ground = noise(work.kind, side, ((3, 0.3), (9, 0.3), (34, 0.3), (110, 0.3)))
        for segment, _ in work.of("city"):  # the whole shape: a cloister may stand in a town
            work.canvas.blend(ramp(ground, _TOWN), work.canvas.area_mask(geometry.flatten(segment.path)))


def _band(work: _Work, index: int, segment: Segment) -> None:
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
    below = [s for s in work.tile.segments[:index] if s.width]
    for line in lines:
        bridge = [p for p in things.along(line, 0.5) if any(shapes.covers(s, p[0], p[1]) for s in below)]
        for side in (-0.5, 0.5) if bridge else ():
            reach = side * (segment.width + 0.8)
            wall = [(x - dy * reach, y + dx * reach) for x, y, dx, dy in bridge]
            c.line([(x + 0.5, y + 1.0) for x, y in wall], (50, 62, 60), 2.4)
            c.line(wall, INK, 2.4)
            c.line(wall, things.WALL, 1.6)
            for x, y, _, _ in things.along(wall, 2.2):
                c.line([(x - 0.5, y - 0.5), (x + 0.5, y + 0.5)], things.WALL_DARK, 0.5)
        for x, y, dx, dy in things.along(line, 3.1 if river else 2.3, 1.0):
            off = work.kind.uniform(-0.38, 0.38) * segment.width
            px, py = x - dy * off, y + dx * off
            if not 0 <= px < 100 or not 0 <= py < 100 or work.on(px, py) != index:
                continue
            if river:
                c.line([(px - dx * 1.6, py - dy * 1.6), (px + dx * 1.6, py + dy * 1.6)], (232, 200, 150), 0.35)
            else:
                c.disc(px, py, float(work.kind.uniform(0.25, 0.5)), (140, 160, 170))
    if river and len(segment.atoms) == 1:  # stones around the spring or the lake
        x, y = max((lines[0][0], lines[0][-1]), key=_depth)
        ahead = 1.0 if x > 50 else -1.0
        for angle in (-1.2, -0.75, -0.2, 0.3, 0.85, 1.3):
            reach = max(r for r in np.arange(4, 24, 0.5) if shapes.covers(
                segment, x + ahead * r * math.cos(angle), y + r * math.sin(angle)) or r == 4)
            things.rock(c, work.kind, x + ahead * (reach + 0.8) * math.cos(angle),
                        y + (reach + 0.8) * math.sin(angle) + 0.8, float(work.kind.uniform(1.4, 2.4)))


def _meadow_life(work: _Work) -> None:
    """Tufts and flowers everywhere, then trees, bushes, sheep and gardens where there is room."""
    c, field = work.canvas, work.room("field")
    if not field.any():
        return
    for n, (x, y, lean) in enumerate(work.kind.uniform((0, 0, -0.7), (100, 100, 0.7), (420, 3))):
        if not field[int(y * 2), int(x * 2)]:
            continue
        colour = ((38, 96, 62), (120, 196, 176), (46, 110, 76))[n % 3]
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
    for index, segment in enumerate(work.tile.segments):
        if segment.kind != "city":
            continue
        for x, y, shade in work.kind.uniform((0, 0, 0), (100, 100, 1), (260, 3)):  # cobbles
            if work.on(x, y) == index:
                c.oval(x, y, 0.6, 0.4, mix((70, 104, 140), (160, 196, 220), float(shade)))
        room = (work.grid == index).astype(np.uint8)
        for n, (x, y) in enumerate(work.places(work.kind, room, 4.4, 3.9, 40)):
            if n % 9 == 4:
                things.tree(c, work.kind, x, y + 2.5, 4.6)
            else:
                things.house(c, work.kind, x, y + 3.0, float(work.kind.uniform(7.0, 9.0)))


def _borders(work: _Work) -> None:
    """Town walls where a city meets land, hedges where two fields meet without a road between, gates and tunnels."""
    c = work.canvas
    village = _village(work.tile)
    things.hedge(c, work.kind, [p for p in _seams(work) if village is None or math.dist(p, village) > 11])
    for segment, _ in work.of("city"):
        for line in _inner_lines(segment):
            foot = c.band_mask([[(x + 0.6, y + 2.6) for x, y in line]], 3.0)
            c.shade(np.minimum(foot, work.visible("field")), 0.45, 0.8)
            things.town_wall(c, line)
    for segment, _ in work.of("road"):
        if segment.tunnel:
            for ends in geometry.flatten(segment.path):
                (x0, y0), (x1, y1) = sorted((ends[0], ends[-1]), key=_depth)
                length = math.dist((x0, y0), (x1, y1))
                things.tunnel_mouth(c, x1, y1, (x1 - x0) / length, (y1 - y0) / length)
        else:
            for x, y in _gates(work, segment):
                things.gate(c, x, y)


def _seams(work: _Work) -> list[XY]:
    """Points two units apart along the lines where two fields meet, from north to south."""
    field = np.isin(work.grid, [n for n, s in enumerate(work.tile.segments) if s.kind == "field"])
    seam = np.zeros_like(field)
    for ahead, behind in _NEIGHBOURS:
        seam[ahead] |= field[ahead] & field[behind] & (work.grid[ahead] != work.grid[behind])
    found: list[XY] = []
    for row, column in np.argwhere(seam):
        point = (float(column) / 2, float(row) / 2)
        if all(math.dist(point, other) > 1.7 for other in found[-40:]):
            found.append(point)
    return found


def _inner_lines(segment: Segment) -> list[list[XY]]:
    """The parts of an area's outline that do not run along the tile's edge."""
    runs: list[list[XY]] = []
    for line in geometry.flatten(segment.path):
        run: list[XY] = []
        for a, b in itertools.pairwise(line):
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
    """Where a road enters a city: the last visible points of its centre line."""
    towns = work.room("city")
    found: list[XY] = []
    for line in geometry.flatten(road.path):
        steps = [(x, y, bool(towns[int(y * 2), int(x * 2)])) for x, y, _, _ in things.along(line, 0.5)
                 if 2 <= x <= 98 and 2 <= y <= 98]
        found += [(b[0], b[1]) for a, b in itertools.pairwise(steps) if a[2] != b[2]]
    return found


def _village(tile: Tile) -> XY | None:
    """Where roads meet and nothing else stands: the middle of their ends."""
    if any(sign.ground for sign in _flags(tile)) or any(s.kind == "cloister" for s in tile.segments):
        return None
    ends = [geometry.flatten(s.path)[0] for s in tile.segments if s.kind == "road" and len(s.atoms) == 1]
    cities = [s for s in tile.segments if s.kind == "city"]
    inner = [max((line[0], line[-1]), key=_depth) for line in ends]
    inner = [p for p in inner if not any(shapes.covers(s, *p) for s in cities)]
    if len(inner) < 2:
        return None
    return sum(p[0] for p in inner) / len(inner), sum(p[1] for p in inner) / len(inner)


def _depth(point: XY) -> float:
    """Distance from the tile's edge."""
    x, y = point
    return min(x, y, 100 - x, 100 - y)


def _buildings(work: _Work) -> None:
    c = work.canvas
    village = _village(work.tile)
    if village:
        x, y = village
        c.oval(x, y, 9.6, 8.6, (120, 170, 186), 0.5, _ROAD_EDGE)
        for _ in range(40):
            a, r = work.kind.uniform(0, 2 * math.pi), math.sqrt(work.kind.uniform(0, 1))
            c.oval(x + 9 * r * math.cos(a), y + 8 * r * math.sin(a), 0.6, 0.4, (150, 196, 208))
        for dx, dy in ((-7.0, -5.0), (6.6, -5.6), (-7.2, 8.4), (7.4, 8.0)):
            things.house(c, work.kind, x + dx, y + dy, 8.6)
        things.tree(c, work.kind, x - 0.5, y - 6.5, 3.8)
        c.disc(x, y + 0.6, 1.9, symbols.STONE, 0.4)
        c.disc(x, y + 0.6, 1.0, (150, 96, 40))
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
        for sign in segment.signs:
            if sign in symbols.SIGNS:
                symbols.SIGNS[sign].draw(c, work.kind, *marks.pop(0))
    place = geometry.flag_spot(work.tile)
    if place is None:
        return
    c = c.about(*place, _flag_scale(work.tile, place))
    for flag in _flags(work.tile):
        flag.draw(c, work.kind, *place)


def _flags(tile: Tile) -> list[symbols.Sign]:
    """The signs of the tile as a whole that we can draw."""
    return [sign for flag, sign in symbols.SIGNS.items() if flag in tile.flags]


def _flag_scale(tile: Tile, place: XY) -> float:
    """Smaller where the segment under a symbol is narrow, so that the symbol does not cover other segments."""
    if any(sign.ground for sign in _flags(tile)) and not any(s.kind == "city" for s in tile.segments):
        return 1.0
    under = shapes.segment_at(tile, *place)
    others = [shapes.distance_to_segment(tile, n, *place) for n in range(len(tile.segments)) if n != under]
    return min(1.0, max(0.6, min(others, default=10.0) / 10.0))


def _cardboard(work: _Work, picture: Image) -> Image:
    """Print grain, and the darker edge of die-cut board."""
    size = len(picture)
    fine = work.copy.standard_normal((256, 256), dtype=np.float32)
    grain = np.asarray(cv2.resize(fine, (size, size), interpolation=cv2.INTER_AREA), np.float32)
    out = picture.astype(np.float32) + grain[..., None] * 6.0
    at = np.minimum(np.arange(size), np.arange(size)[::-1]).astype(np.float32) * (100.0 / size)
    inset = np.minimum(at[:, None], at[None, :])
    out *= (0.62 + 0.38 * np.clip(inset / 1.6, 0, 1))[..., None]
    return np.clip(np.round(out), 0, 255).astype(np.uint8)

