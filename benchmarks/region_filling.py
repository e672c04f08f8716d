"""Rasterising the shapes of tiles: ours (vision/shapes.py) against OpenCV's fillPoly.

    ./run bench region_filling

For every kind of tile: the time for its cells, the number of different cells, and how much of its drawing, 128 pixels
wide, changes with them. OpenCV is used in three ways: at the grid's own size with sub-cell precision; the same without
the cells that the line itself touches; and on a grid eight times as fine of which only the cells' centres are kept.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import cv2
import numpy as np

sys.path[:0] = [str(Path(__file__).parents[1])]

from scoring.tiles import Point, Tile, catalogue  # noqa: E402
from vision import shapes  # noqa: E402
from vision.artwork import draw_tile  # noqa: E402

SHIFT = 8  # fractional bits of fillPoly's coordinates
FINER = 8
Fill = Callable[[np.ndarray, Sequence[Point], int], None]


def points(line: Sequence[Point], scale: float) -> np.ndarray:
    """A line for fillPoly, whose pixel centres are at whole numbers."""
    return np.round((np.array(line) * scale - 0.5) * (1 << SHIFT)).astype(np.int32)


def plain(grid: np.ndarray, line: Sequence[Point], value: int) -> None:
    cv2.fillPoly(grid, [points(line, shapes.CELLS)], value, cv2.LINE_8, SHIFT)


def without_line(grid: np.ndarray, line: Sequence[Point], value: int) -> None:
    inside, given = np.zeros(grid.shape, np.uint8), [points(line, shapes.CELLS)]
    cv2.fillPoly(inside, given, 1, cv2.LINE_8, SHIFT)
    cv2.polylines(inside, given, True, 0, 1, cv2.LINE_8, SHIFT)
    grid[inside > 0] = value


def finer(grid: np.ndarray, line: Sequence[Point], value: int) -> None:
    fine = np.zeros((grid.shape[0] * FINER, grid.shape[1] * FINER), np.uint8)
    cv2.fillPoly(fine, [points(line, shapes.CELLS * FINER)], 1, cv2.LINE_8, SHIFT)
    grid[fine[FINER // 2::FINER, FINER // 2::FINER] > 0] = value


def made(tiles: Sequence[Tile], fill: Fill) -> tuple[float, list[np.ndarray], list[np.ndarray]]:
    """Seconds of processor time for all cells, the cells, and the resulting drawings."""
    ours, shapes._fill = shapes._fill, fill
    shapes.labels.cache_clear()
    try:
        begun = time.process_time()
        cells = [shapes.labels(tile) for tile in tiles]
        took = time.process_time() - begun
        return took, cells, [draw_tile(tile, 128) for tile in tiles]
    finally:
        shapes._fill = ours
        shapes.labels.cache_clear()


def main() -> int:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    tiles = list(catalogue().values())
    took, cells, drawings = made(tiles, shapes._fill)
    print(f"{len(tiles)} kinds: ours {1000 * took / len(tiles):.1f} ms a tile")
    for name, fill in (("fillPoly", plain), ("without its line", without_line), (f"{FINER} times finer", finer)):
        took, other, drawn = made(tiles, fill)
        differ = [int((a != b).sum()) for a, b in zip(cells, other, strict=True)]
        changed = [float((a != b).any(axis=2).mean()) for a, b in zip(drawings, drawn, strict=True)]
        print(f"{name:18} {1000 * took / len(tiles):6.1f} ms a tile; "
              f"cells that differ: {100 * np.mean(differ) / cells[0].size:.2f} % in {sum(map(bool, differ))} kinds; "
              f"pixels of drawings: {100 * np.mean(changed):.1f} % in {sum(map(bool, changed))} kinds, "
              f"at most {100 * max(changed):.0f} %")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
