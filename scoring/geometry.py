"""Drawing geometry of a tile: paths as polylines, and positions of figures and marks.

Drawing coordinates run from (0, 0) in the north-west corner of the tile to (100, 100) in the south-east. The
visible area of each segment is computed by `vision.shapes`.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from functools import cache

from scoring.errors import InvalidNotation
from scoring.tiles import Point, Tile

Polyline = tuple[Point, ...]

_ARGUMENTS = {"M": 2, "L": 2, "Q": 4, "C": 6, "Z": 0}
_TOKEN = re.compile(r"[A-Za-z]|-?\d+(?:\.\d+)?|\S")
_STEPS = 10  # line segments per curve: the error stays below 0.1 units on shapes of this size


def parse_path(path: str) -> tuple[tuple[str, tuple[Point, ...]], ...]:
    """Split an SVG path of absolute ``M L Q C Z`` commands into (command, points). Raises InvalidNotation."""
    commands: list[tuple[str, tuple[Point, ...]]] = []
    tokens = _TOKEN.findall(path.replace(",", " "))
    n = 0
    while n < len(tokens):
        letter = tokens[n]
        if letter not in _ARGUMENTS:
            raise InvalidNotation(f"a tile's path has {letter!r}; known commands are M, L, Q, C and Z")
        if not commands and letter != "M":
            raise InvalidNotation(f"a tile's path starts with M, not {letter}")
        count, n = _ARGUMENTS[letter], n + 1
        try:
            numbers = [float(t) for t in tokens[n:n + count]]
        except ValueError:
            numbers = []
        if len(numbers) != count:
            raise InvalidNotation(f"a tile's path has {letter} with fewer than {count} numbers")
        commands.append((letter, tuple(zip(numbers[::2], numbers[1::2], strict=True))))
        n += count
    return tuple(commands)


@cache
def flatten(path: str) -> tuple[Polyline, ...]:
    """The path's subpaths as polylines; a ``Z`` repeats the first point. Raises InvalidNotation."""
    lines: list[list[Point]] = []
    for letter, points in parse_path(path):
        if letter == "M":
            lines.append([points[0]])
        elif letter == "Z":
            lines[-1].append(lines[-1][0])
        else:
            lines[-1].extend(_curve((lines[-1][-1], *points)))
    return tuple(tuple(line) for line in lines)


def _curve(control: Sequence[Point]) -> list[Point]:
    """Points after the first of a Bezier curve of degree 1 to 3."""
    degree = len(control) - 1
    if degree == 1:
        return [control[1]]
    points = []
    for step in range(1, _STEPS + 1):
        t = step / _STEPS
        weights = [math.comb(degree, k) * t**k * (1 - t) ** (degree - k) for k in range(degree + 1)]
        points.append((sum(w * p[0] for w, p in zip(weights, control, strict=True)),
                       sum(w * p[1] for w, p in zip(weights, control, strict=True))))
    return points


def rotate_point(x: float, y: float, rot: int) -> Point:
    """A point of the tile after ``rot`` quarter turns clockwise about the tile's centre (negative: back)."""
    for _ in range(rot % 4):
        x, y = 100.0 - y, x
    return x, y


def spot_of(tile: Tile, index: int, rot: int = 0) -> Point:
    """Where a figure on that segment is drawn, on the rotated tile."""
    return rotate_point(*tile.segments[index].spot, rot)


def flag_spot(tile: Tile, rot: int = 0) -> Point | None:
    """Where the symbol of the tile as a whole is drawn, or None: the one mark that no segment uses for its pennants
    and signs."""
    for s in tile.segments:
        taken = s.pennants + len(s.signs)
        if len(s.marks) > taken:
            return rotate_point(*s.marks[taken], rot)
    return None


def distance_to_line(line: Sequence[Point], x: float, y: float) -> float:
    """The distance of a point from a line of one or more points, in their unit."""
    best = math.hypot(x - line[0][0], y - line[0][1])
    for (x0, y0), (x1, y1) in itertools.pairwise(line):
        dx, dy = x1 - x0, y1 - y0
        square = dx * dx + dy * dy
        t = min(1.0, max(0.0, ((x - x0) * dx + (y - y0) * dy) / square)) if square else 0.0
        best = min(best, math.hypot(x - x0 - t * dx, y - y0 - t * dy))
    return best
