"""Visible areas of a tile's segments, and distances to them, in drawing coordinates (`scoring.geometry`).

Functions that take ``rot`` take their point as it lies on the board, i.e. after ``rot`` quarter turns clockwise, and
turn it back. Segments are painted in their order, so what is visible of a segment is its shape minus the shapes of all
later ones. Areas are closed paths (several subpaths add up). Bands are centre lines with a width, round at their ends
and joints.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from scoring.geometry import Polyline, distance_to_line, flatten, rotate_point
from scoring.tiles import Point, Segment, Tile

CELLS = 2  # cells per unit of the grid that areas and distances are taken on
NONE = 255  # in a cell where no segment lies


def covers(segment: Segment, x: float, y: float) -> bool:
    """Whether the segment's shape, seen or hidden, contains the point of the unturned tile."""
    lines = flatten(segment.path)
    if segment.width:
        return any(distance_to_line(line, x, y) <= segment.width / 2 for line in lines)
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

    Computed on a grid, so exact to half a unit; infinite for a segment of which nothing is visible.
    """
    x, y = rotate_point(x, y, -rot)
    grid = labels(tile)
    column, row = math.floor(x * CELLS), math.floor(y * CELLS)
    if 0 <= column < len(grid) and 0 <= row < len(grid) and grid[row, column] == index:
        return 0.0
    rows, columns = np.nonzero(grid == index)
    if not len(rows):
        return math.inf
    return float(np.hypot(x - (columns + 0.5) / CELLS, y - (rows + 0.5) / CELLS).min())


@cache
def labels(tile: Tile) -> npt.NDArray[np.uint8]:
    """(200, 200), read only: the index of the segment that is visible in each cell of the unturned tile, else NONE."""
    grid = np.full((100 * CELLS, 100 * CELLS), NONE, np.uint8)
    for index, segment in enumerate(tile.segments):
        for line in flatten(segment.path):
            for shape in _stroke(line, segment.width) if segment.width else (line,):
                _fill(grid, shape, index)
    grid.flags.writeable = False
    return grid


def _fill(grid: npt.NDArray[np.uint8], line: Sequence[Point], value: int) -> None:
    """Fill a closed line (even-odd): the cells whose middles are inside.

    Not OpenCV's fillPoly, which also fills the cells that the line itself touches: trees and houses of our drawings are
    placed by these cells.
    """
    above, below = (f(y for _, y in line) for f in (min, max))
    for row in range(max(0, math.floor(above * CELLS - 0.5)), min(len(grid), math.ceil(below * CELLS + 0.5))):
        crossings = sorted(_crossings(line, (row + 0.5) / CELLS))
        for left, right in zip(crossings[::2], crossings[1::2], strict=False):
            grid[row, max(0, math.ceil(left * CELLS - 0.5)):max(0, math.ceil(right * CELLS - 0.5))] = value


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
