"""Draws detections onto a picture: the lattice, candidates, silhouettes with their base points, rejected candidates.

Nothing is detected here: everything drawn is passed in, in the picture's own pixels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import cv2
import numpy as np
import numpy.typing as npt

from vision.frames import Image
from vision.images import reduced
from vision.lattice import UNIT, Array, Lattice, apply
from vision.occupancy import FigureReading, Rejected
from vision.read import PhotoReading, TileReading
from vision.view import View

Colour = tuple[int, int, int]

SURE, DOUBTFUL, WRONG = (90, 255, 90), (0, 200, 255), (90, 90, 255)
GRID, REFUSED = (255, 240, 200), (255, 120, 255)
FIGURES = {"red": (60, 60, 255), "blue": (255, 160, 60), "green": (90, 210, 60), "yellow": (0, 235, 255),
           "black": (190, 190, 190), "white": (240, 240, 240), "grey": (190, 190, 190), "pink": (200, 140, 255),
           "purple": (230, 90, 200), "orange": (60, 170, 255), "brown": (70, 120, 180), "natural": (150, 200, 235)}
FIRMLY = 0.95  # confidence from which the runners-up are not shown
RUNNERS_UP = 2
_FONT = cv2.FONT_HERSHEY_SIMPLEX
_PAST = 0.5  # of a tile: how far the lattice is drawn past the tiles


def draw_reading(bgr: Image, reading: PhotoReading, *, long_side_px: int = 2000, view: View | None = None) -> Image:
    """The photograph, at most ``long_side_px`` long, with its reading drawn on it. The photograph is not changed.
    ``view`` is the one it was read with, if its lens distorts."""
    scale = min(1.0, long_side_px / max(bgr.shape[:2]))
    picture = reduced(bgr, long_side_px) if scale < 1 else bgr.copy()
    bend = view.bend if view is not None and view.bends else None
    draw_detected(picture, lattice=reading.lattice, tiles=reading.tiles, figures=reading.figures,
                  rejected=reading.rejected, scale=scale, bend=bend)
    for n, issue in enumerate(reading.issues):
        _write(picture, issue, (12, 26 + 26 * n), 0.6, DOUBTFUL)
    return picture


def draw_detected(picture: Image, *, lattice: Lattice | None = None, tiles: Sequence[TileReading] = (),
                  figures: Iterable[FigureReading] = (), rejected: Iterable[Rejected] = (), scale: float = 1.0,
                  bend: Callable[[Array], Array] | None = None) -> None:
    """Draw detections onto ``picture`` (H, W, 3), in place; they are in pixels of one ``1 / scale`` times as large.

    ``bend`` maps points of the lattice's undistorted picture to this one. Green is certain, orange doubtful, red likely
    wrong; pink was examined and rejected.
    """
    if lattice is not None:
        _draw_lattice(picture, lattice, [t.at for t in tiles], scale, bend)
    for refused in rejected:
        _draw_refused(picture, refused, scale)
    for tile in tiles:
        _draw_tile(picture, tile, scale)
    for figure in figures:
        _draw_figure(picture, figure, scale)


def _draw_lattice(picture: Image, lattice: Lattice, squares: Sequence[tuple[int, int]], scale: float,
                  bend: Callable[[Array], Array] | None) -> None:
    """The regular grid of the board as a whole; single tiles deviate a little."""
    if not squares:
        return
    low, high = np.min(squares, axis=0) - _PAST, np.max(squares, axis=0) + 1 + _PAST
    layer = picture.copy()
    for axis in (0, 1):
        along = np.linspace(low[1 - axis], high[1 - axis], 24)
        for step in range(int(np.ceil(low[axis])), int(np.floor(high[axis])) + 1):
            line = np.stack([np.full(24, step), along] if axis == 0 else [along, np.full(24, step)], axis=1)
            depth = np.column_stack([line, np.ones(24)]) @ lattice.grid[2]
            if np.any(depth * depth[0] <= 0):
                continue
            points = apply(lattice.grid, line)
            points = bend(points) if bend else points
            cv2.polylines(layer, [_int(points * scale)], False, GRID, 1, cv2.LINE_AA)
    cv2.addWeighted(layer, 0.6, picture, 0.4, 0, picture)


def _draw_tile(picture: Image, tile: TileReading, scale: float) -> None:
    corners = tile.corners_px * scale
    colour = SURE if tile.confidence > FIRMLY else DOUBTFUL if tile.confidence > 0.5 else WRONG
    middle = corners.mean(axis=0)
    cv2.polylines(picture, [_int(middle + (corners - middle) * 0.95)], True, colour, 2, cv2.LINE_AA)
    side = float(np.sqrt(cv2.contourArea(corners.astype(np.float32))))
    size = float(np.clip(side / 230, 0.3, 0.8))
    # The picture's own north: a tick from the middle towards the side that was upright when the tile was taught.
    pose = cv2.getPerspectiveTransform(UNIT.astype(np.float32), corners.astype(np.float32))
    north = {0: (0.5, 0.32), 1: (0.68, 0.5), 2: (0.5, 0.68), 3: (0.32, 0.5)}[tile.rot % 4]
    tick = _int(apply(pose.astype(float), [(0.5, 0.5), north]))
    for wide, paint in ((4, (0, 0, 0)), (2, colour)):
        cv2.arrowedLine(picture, tuple(tick[0].tolist()), tuple(tick[1].tolist()), paint, wide, cv2.LINE_AA,
                        tipLength=0.4)
    lines = [f"{_letter(tile.tile)} {_percent(tile.confidence)}"]
    if tile.confidence <= FIRMLY:
        lines += [f"{_letter(c.tile)}{c.rot} {_percent(float(np.exp(c.loglik)))} {c.score:.2f}"
                  for c in tile.candidates[1:1 + RUNNERS_UP]]
    elif tile.candidates:
        lines[0] += f" {tile.candidates[0].score:.2f}"
    at = apply(pose.astype(float), [(0.08, 0.08)])[0]
    left, top = max(2, round(float(at[0]))), round(float(at[1]))
    for n, text in enumerate(lines):
        _write(picture, text, (left, top + round(size * (24 + 32 * n))), size if n == 0 else 0.85 * size, colour)


def _draw_figure(picture: Image, figure: FigureReading, scale: float) -> None:
    """The silhouette, the point where the figure touches the table, and its segment."""
    colour = FIGURES.get(figure.colour, (200, 200, 200))
    base = _int(np.array([figure.px]) * scale)[0]
    if len(figure.outline_px):
        outline = _int(figure.outline_px * scale)
        cv2.polylines(picture, [outline], True, (0, 0, 0), 4, cv2.LINE_AA)
        cv2.polylines(picture, [outline], True, colour, 2, cv2.LINE_AA)
        middle = tuple(outline.mean(axis=0).astype(int).tolist())
        cv2.line(picture, middle, tuple(base.tolist()), (255, 255, 255), 1, cv2.LINE_AA)
    place = tuple(base.tolist())
    cv2.circle(picture, place, 6, (0, 0, 0), -1, cv2.LINE_AA)
    cv2.circle(picture, place, 4, (255, 255, 255), -1, cv2.LINE_AA)
    text = f"{figure.feature}{' lying' if figure.lying else ''} {_percent(figure.confidence)}"
    _write(picture, text, (place[0] + 8, place[1] + 14), 0.45, colour)


def _draw_refused(picture: Image, refused: Rejected, scale: float) -> None:
    outline = refused.outline_px * scale
    if not len(outline):
        return
    middle = outline.mean(axis=0)
    for a, b in zip(outline, np.roll(outline, -1, axis=0), strict=True):
        dashes = max(1, round(float(np.hypot(*(b - a))) / 12))
        for n in range(dashes):
            ends = _int(np.array([a + (b - a) * n / dashes, a + (b - a) * (n + 0.55) / dashes]))
            cv2.line(picture, tuple(ends[0].tolist()), tuple(ends[1].tolist()), REFUSED, 1, cv2.LINE_AA)
    height, width = picture.shape[:2]
    (wide, _), _ = cv2.getTextSize(refused.why, _FONT, 0.36, 1)
    x = int(np.clip(middle[0] - wide / 2, 2, max(2, width - wide - 2)))
    _write(picture, refused.why, (x, int(np.clip(middle[1], 12, height - 4))), 0.36, REFUSED)


def _letter(tile: str) -> str:
    return tile.partition(".")[2] or tile


def _percent(p: float) -> str:
    """Rounded, never 100 %: nothing is certain."""
    return ">99%" if p > 0.99 else f"{p:.0%}"


def _int(points: Array) -> npt.NDArray[np.int32]:
    return np.round(points).astype(np.int32)


def _write(picture: Image, text: str, at: tuple[int, int], size: float, colour: Colour) -> None:
    """Text on a darkened background, legible on any print."""
    (wide, high), base = cv2.getTextSize(text, _FONT, size, 1)
    x, y = at
    x0, y0, x1, y1 = max(0, x - 2), max(0, y - high - 3), x + wide + 2, y + base
    ground = picture[y0:y1, x0:x1]
    if ground.size:
        ground[:] = (ground * 0.3).astype(np.uint8)
    cv2.putText(picture, text, (x, y), _FONT, size, colour, 1, cv2.LINE_AA)
