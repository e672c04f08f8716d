"""Draw what was read onto a photograph: the lattice, what each tile was taken for, where each figure stands."""

from __future__ import annotations

import cv2
import numpy as np

from vision.frames import Image
from vision.lattice import UNIT, apply
from vision.read import PhotoReading, TileReading

SURE, DOUBTFUL, WRONG = (80, 220, 80), (0, 190, 255), (60, 60, 255)
FIGURES = {"red": (40, 40, 230), "blue": (230, 120, 30), "green": (60, 160, 30), "yellow": (0, 220, 240),
           "black": (30, 30, 30), "white": (240, 240, 240), "grey": (150, 150, 150), "pink": (190, 120, 240),
           "purple": (160, 50, 130), "orange": (20, 140, 250)}


def draw_reading(bgr: Image, reading: PhotoReading, *, long_side_px: int = 2000) -> Image:
    """The photograph, at most ``long_side_px`` long, with its reading drawn on it. The photograph is not changed."""
    scale = min(1.0, long_side_px / max(bgr.shape[:2]))
    picture = cv2.resize(bgr, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA) if scale < 1 else bgr.copy()
    for tile in reading.tiles:
        _draw_tile(picture, tile, scale)
    for figure in reading.figures:
        place = (round(figure.px[0] * scale), round(figure.px[1] * scale))
        colour = FIGURES.get(figure.colour, (200, 200, 200))
        cv2.drawMarker(picture, place, (255, 255, 255), cv2.MARKER_CROSS, 22, 5)
        cv2.drawMarker(picture, place, colour, cv2.MARKER_CROSS, 20, 2)
        text = f"{figure.feature} {figure.where}{' lying' if figure.lying else ''} {figure.confidence:.0%}"
        _write(picture, text, (place[0] + 8, place[1] + 14), 0.42, colour)
    for n, issue in enumerate(reading.issues):
        _write(picture, issue, (12, 26 + 24 * n), 0.6, DOUBTFUL)
    return picture


def _draw_tile(picture: Image, tile: TileReading, scale: float) -> None:
    corners = tile.corners_px * scale
    colour = SURE if tile.confidence > 0.95 else DOUBTFUL if tile.confidence > 0.5 else WRONG
    middle = corners.mean(axis=0)
    inner = middle + (corners - middle) * 0.96
    cv2.polylines(picture, [np.round(inner).astype(np.int32)], True, colour, 2, cv2.LINE_AA)
    side = float(np.hypot(*(corners[1] - corners[0])))
    size = max(0.32, side / 240)
    # The picture's own north: a tick from the middle towards the side that was upright when the tile was taught.
    pose = cv2.getPerspectiveTransform(UNIT.astype(np.float32), corners.astype(np.float32))
    north = {0: (0.5, 0.3), 1: (0.7, 0.5), 2: (0.5, 0.7), 3: (0.3, 0.5)}[tile.rot % 4]
    tick = apply(pose.astype(float), [(0.5, 0.5), north])
    cv2.arrowedLine(picture, *(tuple(int(v) for v in np.round(p)) for p in tick), colour, 2, cv2.LINE_AA, tipLength=0.4)
    left = corners[:, 0].min() + 0.06 * side
    top = corners[:, 1].min() + 0.2 * side
    _write(picture, f"{tile.tile.partition('.')[2]} {tile.confidence:.0%}", (round(left), round(top)), size, colour)
    if tile.confidence <= 0.95 and len(tile.candidates) > 1:
        others = " ".join(f"{c.tile.partition('.')[2]}{c.rot}:{np.exp(c.loglik):.0%}" for c in tile.candidates[1:3])
        _write(picture, others, (round(left), round(top + 34 * size)), 0.8 * size, colour)


def _write(picture: Image, text: str, at: tuple[int, int], size: float, colour: tuple[int, int, int]) -> None:
    cv2.putText(picture, text, at, cv2.FONT_HERSHEY_SIMPLEX, size, (0, 0, 0), 4, cv2.LINE_AA)
    cv2.putText(picture, text, at, cv2.FONT_HERSHEY_SIMPLEX, size, colour, 1, cv2.LINE_AA)
