"""Renders a whole board with our own drawn tiles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import cv2
import numpy as np
import numpy.typing as npt

from scoring.tiles import Square, Tile
from vision.artwork.painter import draw_tile
from vision.frames import Image
from vision.simulator.pieces import OUTLINES, colour_bgr

CLOTH_BGR = (43, 50, 58)
_MARGIN = 0.35  # of a tile
_SIZE = 1.5  # figures are drawn larger than life: pixels per hundredth of a tile and millimetre
_SHIFT = 4  # fractional bits of cv2's polygon points

Spot = tuple[Square, tuple[float, float]]  # a square, and a point of it in hundredths of a tile


def draw_board(tiles: Mapping[Square, tuple[Tile, int]], figures: Iterable[tuple[str, str, Spot, bool]],
               *, tile_px: int) -> Image:
    """The board from above, BGR uint8. ``figures`` are (figure, colour, where, whether it lies)."""
    xs, ys = [x for x, _ in tiles], [y for _, y in tiles]
    left, top, edge = min(xs, default=0), min(ys, default=0), round(_MARGIN * tile_px)
    size = [(max(v, default=0) - min(v, default=0) + 1) * tile_px + 2 * edge for v in (ys, xs)]
    board = np.full((*size, 3), CLOTH_BGR, np.uint8)
    for n, ((x, y), (tile, rot)) in enumerate(tiles.items()):
        row, column = (y - top) * tile_px + edge, (x - left) * tile_px + edge
        board[row:row + tile_px, column:column + tile_px] = draw_tile(tile, tile_px, rot=rot, variant=n)
    for figure, colour, ((x, y), spot), lying in figures:
        middle = np.array([x - left, y - top]) * tile_px + edge + np.array(spot) * tile_px / 100
        _figure(board, figure, colour, middle, tile_px, lying)
    return board


def _figure(board: Image, figure: str, colour: str, middle: npt.NDArray[np.float64], tile_px: int, lying: bool) -> None:
    half = np.array(OUTLINES.get(figure, OUTLINES["follower"]), float)
    outline = np.vstack([half, half[1:-1][::-1] * (-1, 1)]) - (0, half[:, 1].max() / 2)
    shape = outline * (1, -1)  # millimetres upwards become pixels downwards
    if lying:
        shape = shape[:, ::-1]
    points = np.round((middle + shape * _SIZE * tile_px / 100) * 2 ** _SHIFT).astype(np.int32)
    cv2.fillPoly(board, [points], colour_bgr(colour), cv2.LINE_AA, _SHIFT)
    cv2.polylines(board, [points], True, (20, 20, 20), max(1, tile_px // 50), cv2.LINE_AA, _SHIFT)
