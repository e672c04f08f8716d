"""Our own picture of a start board with a dial: land along its edges, and the disc with its sections in the middle."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import cv2
import numpy as np

from scoring.contributions import Dial
from scoring.tiles import Square, Tile, catalogue
from vision.artwork.canvas import INK, Canvas, Colour, Image, noise, ramp
from vision.artwork.painter import draw_tile, segment_masks

_GRASS = ((34, 92, 60), (52, 122, 84), (66, 146, 108), (82, 164, 132), (104, 184, 160))
_ROAD: Colour = (198, 216, 224)
_ROAD_EDGE: Colour = (78, 112, 122)
_SECTIONS: Sequence[Colour] = ((94, 178, 226), (106, 164, 201), (61, 127, 196), (186, 158, 120), (92, 74, 150),
                               (104, 140, 116))  # clockwise
_SPACE: Colour = (214, 226, 232)
_RIM: Colour = (52, 84, 112)
_SPOKE = 0.035  # of a tile: width of the lines between sections
SPACES_AT = 0.77  # of the disc's radius: where figures stand
PIECE_AT = 0.4  # and the piece


def draw_dial_board(edges: Mapping[Square, str], dial: Dial, turns: int, square_px: int) -> Image:
    """The board from above as (rows * square_px, columns * square_px, 3) BGR, as it lies after ``turns`` quarter turns
    clockwise. ``edges`` are those of every square as it lies, north first. Equal arguments give equal pictures."""
    left, top = (min(at[axis] for at in edges) for axis in (0, 1))
    side = max(at[0] for at in edges) - left + 1
    size = side * square_px
    rng = np.random.default_rng([len(edges), turns])
    canvas = Canvas(size)
    unit = 100.0 / side  # drawing units per tile
    canvas.pixels[:] = ramp(noise(rng, size, ((3 * side, 0.3), (9 * side, 0.28), (30 * side, 0.2))), _GRASS)
    for (x, y), letters in edges.items():
        middle = ((x - left + 0.5) * unit, (y - top + 0.5) * unit)
        for n, letter in enumerate(letters):
            if letter == "R":
                out = math.sin(n * math.pi / 2), -math.cos(n * math.pi / 2)
                line = [(middle[0] + k * out[0] * unit, middle[1] + k * out[1] * unit) for k in (0.5, -0.4)]
                canvas.line(line, _ROAD_EDGE, 0.11 * unit)
                canvas.line(line, _ROAD, 0.085 * unit)
        if "C" in letters:
            tile, rot = _town(letters)
            print_, mask = draw_tile(tile, square_px, rot=rot), np.zeros((square_px, square_px), bool)
            for segment, area in zip(tile.segments, segment_masks(tile, square_px), strict=True):
                mask |= area if segment.kind == "city" else False
            part = np.s_[(y - top) * square_px:(y - top + 1) * square_px, (x - left) * square_px:
                         (x - left + 1) * square_px]
            wide = cv2.dilate(np.rot90(mask, -rot).astype(np.uint8), np.ones((5, 5), np.uint8)) > 0  # its wall
            canvas.pixels[part][wide] = print_[wide]
    _trees(canvas, rng, dial.reach * unit, unit)
    _disc(canvas, dial, turns, unit)
    inset = np.minimum(np.arange(size), np.arange(size)[::-1]).astype(np.float32) * (100.0 / square_px)
    dark = 0.62 + 0.38 * np.clip(np.minimum(inset[:, None], inset[None, :]) / 1.6, 0, 1)
    grain = rng.standard_normal((size, size, 1)) * 5.0
    return np.asarray(np.clip(canvas.pixels * dark[..., None] + grain, 0, 255), np.uint8)


def _town(edges: str) -> tuple[Tile, int]:
    """A kind of tile that has towns on the same sides and little else, and its quarter turns."""
    found = [(len(t.segments) + sum(s.pennants for s in t.segments), t.id, rot) for t in catalogue().values()
             for rot in range(4)
             if all((t.edges[(n - rot) % 4] == "C") == (edge == "C") for n, edge in enumerate(edges))]
    _, name, rot = min(found)
    return catalogue()[name], rot


def _trees(canvas: Canvas, rng: np.random.Generator, reach: float, unit: float) -> None:
    for x, y in rng.uniform(4, 96, (60, 2)):
        if math.hypot(x - 50, y - 50) < reach + 2.5:
            continue
        green = int(rng.integers(70, 110))
        canvas.disc(x, y, float(rng.uniform(0.03, 0.055)) * unit, (30, green, 36), 0.3, (26, 60, 30))


def _disc(canvas: Canvas, dial: Dial, turns: int, unit: float) -> None:
    radius, step = dial.reach * unit, 360.0 / len(dial.sections)

    def at(deg: float, r: float) -> tuple[float, float]:
        a = math.radians(deg)
        return 50 + r * math.sin(a), 50 - r * math.cos(a)

    canvas.disc(50, 50, radius, _RIM, 0.6)
    for n, section in enumerate(dial.sections):
        middle = dial.angle_deg(section) + 90.0 * turns
        ring = [at(middle + k * step / 16, 0.94 * radius) for k in range(-8, 9)]
        canvas.poly([(50.0, 50.0), *ring], _SECTIONS[n % len(_SECTIONS)])
        for angle, r in spaces_at(dial, section, turns):
            x, y = at(angle, r * unit)
            canvas.disc(x, y, 0.16 * unit, _SPACE, 0.25)
            canvas.poly([(x + u * unit, y + v * unit) for u, v in
                         ((-.08, .05), (-.09, -.05), (-.04, 0), (0, -.07), (.04, 0), (.09, -.05), (.08, .05))],
                        (60, 170, 222), 0.2)
        for k in range(n % 3 + 1):  # a mark that differs from section to section
            x, y = at(middle + 14 * (k - n % 3 / 2), 0.56 * radius)
            canvas.disc(x, y, 0.05 * unit, INK if n < 3 else (232, 236, 240))
    for n in range(len(dial.sections)):
        edge = dial.first_deg + 90.0 * turns + (n + 0.5) * step
        canvas.line([at(edge, 0.1 * radius), at(edge, 0.95 * radius)], _RIM, _SPOKE * unit)
    canvas.disc(50, 50, 0.13 * radius, (96, 138, 168), 0.4)


def spaces_at(dial: Dial, section: str, turns: int) -> list[tuple[float, float]]:
    """The places for figures of a section: degrees clockwise from north as the board lies, and tiles from its
    middle."""
    middle, count = dial.angle_deg(section) + 90.0 * turns, dial.spaces[section]
    apart = 0.45 * 360.0 / len(dial.sections)
    return [(middle + (n - (count - 1) / 2) * apart, SPACES_AT * dial.reach) for n in range(count)]
