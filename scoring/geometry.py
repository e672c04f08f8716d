"""Where the segments of a tile lie: areas, points and distances in drawing coordinates.

Drawing coordinates run from (0, 0) in the north-west corner of the tile to (100, 100) in the south-east. Functions that
take ``rot`` take their point as it lies on the board, i.e. after ``rot`` quarter turns clockwise, and turn it back.

Segments are painted in their order, so what is visible of a segment is its shape minus the shapes of all later ones.
Areas are closed paths (several subpaths add up). Bands are centre lines with a width, round at their ends and joints.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from functools import cache

from scoring.errors import InvalidNotation
from scoring.tiles import Point, Segment, Tile

Polyline = tuple[Point, ...]

_ARGUMENTS = {"M": 2, "L": 2, "Q": 4, "C": 6, "Z": 0}
_TOKEN = re.compile(r"[A-Za-z]|-?\d+(?:\.\d+)?|\S")
_STEPS = 10  # straight pieces per curve: the error stays below 0.1 units on shapes of this size
_CELLS = 2  # cells per unit of the grid that distances are taken on


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
    """Where a figure on that segment is drawn, on the turned tile."""
    return rotate_point(*tile.segments[index].spot, rot)


def flag_spot(tile: Tile, rot: int = 0) -> Point | None:
    """Where the tile's own symbol is drawn, or None: the one mark that no segment uses for its pennants
    and signs."""
    for s in tile.segments:
        taken = s.pennants + len(s.signs)
        if len(s.marks) > taken:
            return rotate_point(*s.marks[taken], rot)
    return None


def covers(segment: Segment, x: float, y: float) -> bool:
    """Whether the segment's shape, seen or hidden, contains the point of the unturned tile."""
    lines = flatten(segment.path)
    if segment.width:
        return any(_distance_to_line(line, x, y) <= segment.width / 2 for line in lines)
    return any(_inside(line, x, y) for line in lines)


def segment_at(tile: Tile, x: float, y: float, rot: int = 0) -> int:
    """Index of the top-most segment at a point of the turned tile; points off the tile count as on its border."""
    x, y = rotate_point(x, y, -rot)
    x, y = min(max(x, 0.01), 99.99), min(max(y, 0.01), 99.99)
    for index in range(len(tile.segments) - 1, -1, -1):
        if covers(tile.segments[index], x, y):
            return index
    return min(range(len(tile.segments)), key=lambda n: distance_to_segment(tile, n, x, y))


def distance_to_segment(tile: Tile, index: int, x: float, y: float, rot: int = 0) -> float:
    """Distance in drawing units (100 = the tile's side) from a point to a segment's visible area; 0 inside it.

    Taken on a grid, so right to half a unit; infinite for a segment of which nothing is visible.
    """
    x, y = rotate_point(x, y, -rot)
    column, row = math.floor(x * _CELLS), math.floor(y * _CELLS)
    size = 100 * _CELLS
    if 0 <= column < size and 0 <= row < size and labels(tile)[row][column] == index:
        return 0.0
    rim = _rims(tile)[index]
    return min((math.hypot(x - px, y - py) for px, py in rim), default=math.inf)


@cache
def labels(tile: Tile) -> tuple[bytes, ...]:
    """The visible segment's index in every cell of a grid over the unturned tile, two cells a unit, row by row.

    255 where no segment lies.
    """
    size = 100 * _CELLS
    rows = [bytearray(b"\xff" * size) for _ in range(size)]
    for index, segment in enumerate(tile.segments):
        for line in flatten(segment.path):
            for shape in _stroke(line, segment.width) if segment.width else (line,):
                _fill(rows, shape, index)
    return tuple(bytes(row) for row in rows)


@cache
def _rims(tile: Tile) -> tuple[tuple[Point, ...], ...]:
    """Centres of the cells along the border of each segment's visible area."""
    grid = labels(tile)
    rims: list[list[Point]] = [[] for _ in tile.segments]
    beyond = b"\xfe"
    edge = beyond * len(grid)
    for row, (above, here, below) in enumerate(zip((edge, *grid), grid, (*grid[1:], edge), strict=False)):
        left, right = beyond + here[:-1], here[1:] + beyond
        for column, (label, n, s, w, e) in enumerate(zip(here, above, below, left, right, strict=True)):
            if label != 255 and not n == s == w == e == label:
                rims[label].append(((column + 0.5) / _CELLS, (row + 0.5) / _CELLS))
    return tuple(tuple(rim) for rim in rims)


def _fill(rows: list[bytearray], line: Sequence[Point], value: int) -> None:
    """Fill a closed line (even-odd) into the grid, by scan lines through the middles of the cells."""
    size = len(rows)
    above, below = (f(y for _, y in line) for f in (min, max))
    for row in range(max(0, math.floor(above * _CELLS - 0.5)), min(size, math.ceil(below * _CELLS + 0.5))):
        y = (row + 0.5) / _CELLS
        crossings = sorted(_crossings(line, y))
        for left, right in zip(crossings[::2], crossings[1::2], strict=False):
            first = max(0, math.ceil(left * _CELLS - 0.5))
            last = min(size, math.ceil(right * _CELLS - 0.5))
            if last > first:
                rows[row][first:last] = bytes([value]) * (last - first)


def _crossings(line: Sequence[Point], y: float) -> list[float]:
    found = []
    for n, (x1, y1) in enumerate(line):
        x0, y0 = line[n - 1]
        if (y0 <= y) != (y1 <= y):
            found.append(x0 + (y - y0) / (y1 - y0) * (x1 - x0))
    return found


def _inside(line: Sequence[Point], x: float, y: float) -> bool:
    return sum(crossing > x for crossing in _crossings(line, y)) % 2 == 1


def _stroke(line: Polyline, width: float) -> list[Polyline]:
    """A band as closed shapes: a box along every piece and a disc at every point."""
    radius = width / 2
    turns = [2 * math.pi * k / 24 for k in range(24)]
    shapes: list[Polyline] = [tuple((x + radius * math.cos(a), y + radius * math.sin(a)) for a in turns)
                              for x, y in line]
    for (x0, y0), (x1, y1) in itertools.pairwise(line):
        length = math.hypot(x1 - x0, y1 - y0)
        if length:
            dx, dy = radius * (y0 - y1) / length, radius * (x1 - x0) / length
            shapes.append(((x0 + dx, y0 + dy), (x1 + dx, y1 + dy), (x1 - dx, y1 - dy), (x0 - dx, y0 - dy)))
    return shapes


def _distance_to_line(line: Sequence[Point], x: float, y: float) -> float:
    best = math.hypot(x - line[0][0], y - line[0][1])
    for (x0, y0), (x1, y1) in itertools.pairwise(line):
        dx, dy = x1 - x0, y1 - y0
        square = dx * dx + dy * dy
        t = min(1.0, max(0.0, ((x - x0) * dx + (y - y0) * dy) / square)) if square else 0.0
        best = min(best, math.hypot(x - x0 - t * dx, y - y0 - t * dy))
    return best
