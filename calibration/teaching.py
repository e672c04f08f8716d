"""Detects the pages of the teaching sheet, and extracts the picture of the tile in every cell.

A page is identified by its four markers; their corners give the homography from the sheet's millimetres to pixels. A
tile lies in its outline with some play, so its own border is detected in the rectified cell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from calibration.targets import MARKER_DICTIONARY, TILE_MM, Cell, TeachingPage, teaching_pages
from vision.frames import Image
from vision.tileset import SIZE_PX

FEWEST_MARKERS = 3  # of a page's four: two neighbours hardly constrain the far side
_PX_MM = 6.0  # of the rectified cell
_AROUND_MM = 51.0  # its side: the cell and a margin
_SIZE_MM = (42.0, 48.0)  # limits of a detected tile's side
_TURN_DEG = 12.0
_PAPER = 30.0  # Lab distance from the paper's colour from which it is not paper
_EMPTY = 0.35  # fraction of the cell that must be covered


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenPage:
    """A page of the teaching sheet in a picture. ``to_px`` (3, 3) maps its millimetres to pixels."""

    page: TeachingPage
    to_px: npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenTile:
    """The tile in a cell: ``bgr`` (SIZE_PX, SIZE_PX, 3), upright as the sheet is. ``px_mm`` is the picture's resolution
    there: below about 1.5 it is too coarse to teach well."""

    tile: str
    bgr: Image
    px_mm: float


def find_pages(bgr: Image) -> tuple[SeenPage, ...]:
    """Every page of the teaching sheet with at least three markers in view, sorted by number."""
    parameters = cv2.aruco.DetectorParameters()
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    known = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, MARKER_DICTIONARY))
    corners, ids, _ = cv2.aruco.ArucoDetector(known, parameters).detectMarkers(bgr)
    seen = {} if ids is None else {int(n): c.reshape(4, 2) for n, c in zip(ids.ravel(), corners, strict=True)}
    pages = []
    for page in teaching_pages():
        markers = [m for m in page.markers if m.id in seen]
        if len(markers) < FEWEST_MARKERS:
            continue
        mm = np.concatenate([m.corners_mm for m in markers])
        to_px, _ = cv2.findHomography(mm, np.concatenate([seen[m.id] for m in markers]).astype(float), 0)
        if to_px is not None:
            pages.append(SeenPage(page=page, to_px=np.asarray(to_px, float)))
    return tuple(pages)


def tiles_on(bgr: Image, seen: SeenPage) -> tuple[SeenTile, ...]:
    """The tiles that lie in the cells of a page."""
    crops = {cell.tile: _rectified(bgr, seen, cell) for cell in seen.page.cells}
    paper = _paper(crops)
    out = []
    for cell in seen.page.cells:
        square = _tile_in(crops[cell.tile], paper)
        if square is not None:
            to_crop = cv2.getPerspectiveTransform(square, _corners(SIZE_PX))
            crop = cv2.warpPerspective(bgr, to_crop @ _to_cell(cell) @ np.linalg.inv(seen.to_px), (SIZE_PX, SIZE_PX),
                                       flags=cv2.INTER_AREA, borderMode=cv2.BORDER_REPLICATE)
            out.append(SeenTile(tile=cell.tile, bgr=np.asarray(crop, np.uint8), px_mm=_resolution(seen, cell)))
    return tuple(out)


def _to_cell(cell: Cell) -> npt.NDArray[np.float64]:
    """Millimetres of the sheet to pixels of the rectified cell (pixel centres at whole numbers)."""
    x, y = cell.centre_mm
    half = _AROUND_MM / 2
    return np.array([[_PX_MM, 0, (half - x) * _PX_MM - 0.5], [0, _PX_MM, (half - y) * _PX_MM - 0.5], [0, 0, 1.0]])


def _rectified(bgr: Image, seen: SeenPage, cell: Cell) -> Image:
    side = round(_AROUND_MM * _PX_MM)
    crop = cv2.warpPerspective(bgr, _to_cell(cell) @ np.linalg.inv(seen.to_px), (side, side), flags=cv2.INTER_LINEAR,
                               borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(crop, np.uint8)


def _paper(crops: Mapping[str, Image]) -> npt.NDArray[np.float32]:
    """The paper's Lab colour in this light: the brightest tenth of the pixels along the cells' borders."""
    rim = max(2, round(1.2 * _PX_MM))
    border = np.concatenate([np.concatenate([c[:rim].reshape(-1, 3), c[-rim:].reshape(-1, 3)]) for c in crops.values()])
    lab = cv2.cvtColor((border.reshape(1, -1, 3) / 255).astype(np.float32), cv2.COLOR_BGR2Lab)[0]
    bright = lab[lab[:, 0] >= np.percentile(lab[:, 0], 60)]
    return np.asarray(np.median(bright, axis=0), np.float32)


def _tile_in(crop: Image, paper: npt.NDArray[np.float32]) -> npt.NDArray[np.float32] | None:
    """(4, 2) corners of the tile in a rectified cell, from its top left clockwise; None when the cell is empty."""
    lab = cv2.cvtColor(crop.astype(np.float32) / 255, cv2.COLOR_BGR2Lab)
    # Shadows change the paper's lightness more than its colour.
    off = np.hypot(0.5 * (lab[..., 0] - paper[0]), np.hypot(*(lab[..., 1:] - paper[1:]).transpose(2, 0, 1)))
    other = (off > 0.4 * _PAPER).astype(np.uint8)
    thin = cv2.getStructuringElement(cv2.MORPH_RECT, (round(1.5 * _PX_MM), round(1.5 * _PX_MM)))
    solid = cv2.morphologyEx(other, cv2.MORPH_OPEN, thin)  # without the printed outline
    solid = cv2.morphologyEx(solid, cv2.MORPH_CLOSE, np.ones((25, 25), np.uint8))
    count, labels, stats, _ = cv2.connectedComponentsWithStats(solid)
    if count < 2:
        return None
    largest = 1 + int(np.argmax(stats[1:, cv2.CC_STAT_AREA]))
    if stats[largest, cv2.CC_STAT_AREA] < _EMPTY * (TILE_MM * _PX_MM) ** 2:
        return None
    points = cv2.findNonZero((labels == largest).astype(np.uint8))
    (x, y), _, turn = cv2.minAreaRect(points)
    turn = (turn + 45.0) % 90.0 - 45.0
    middle = (crop.shape[0] - 1) / 2
    square = _extent(other, (x, y), turn) if abs(turn) < _TURN_DEG else None
    if square is None:  # its border is not visible: assume the middle of the cell
        square, (x, y), turn = np.array([[-1, 1], [-1, 1]]) * TILE_MM * _PX_MM / 2, (middle, middle), 0.0
    cos, sin = np.cos(np.radians(turn)), np.sin(np.radians(turn))
    (left, right), (top, bottom) = square
    offsets = np.array([[left, top], [right, top], [right, bottom], [left, bottom]])
    out: npt.NDArray[np.float32] = (offsets @ np.array([[cos, sin], [-sin, cos]]) + (x, y)).astype(np.float32)
    return out


def _extent(other: npt.NDArray[np.uint8], centre: tuple[float, float], turn: float) -> npt.NDArray[np.float64] | None:
    """The tile's extent around ``centre`` along its own axes: ((left, right), (top, bottom)) in pixels.

    A line counts when half of it is not paper: so the outline beside the tile and a light corner of it do not matter.
    """
    size = other.shape[0]
    level = cv2.getRotationMatrix2D(centre, turn, 1.0)
    level[:, 2] += size / 2 - 0.5 - np.array(centre)
    straight = cv2.warpAffine(other, level, (size, size), flags=cv2.INTER_NEAREST)
    found = []
    for axis in (0, 1):
        band = straight[size // 4:-size // 4] if axis == 0 else straight[:, size // 4:-size // 4]
        edges = np.flatnonzero(np.diff(np.concatenate([[0], band.mean(axis=axis) > 0.5, [0]]).astype(np.int8)))
        spans: list[list[int]] = []
        for start, end in edges.reshape(-1, 2).tolist():
            if end - start < 0.6 * _PX_MM:
                continue  # the printed outline
            if spans and start - spans[-1][1] < 2.5 * _PX_MM:
                spans[-1][1] = end  # a light stripe of the print
            else:
                spans.append([start, end])
        if not spans:
            return None
        start, end = max(spans, key=lambda s: s[1] - s[0])
        if not _SIZE_MM[0] < (end - start) / _PX_MM < _SIZE_MM[1]:
            return None
        found.append([start - size / 2, end - size / 2])
    return np.array(found)


def _corners(size_px: int) -> npt.NDArray[np.float32]:
    return (np.array([[0, 0], [1, 0], [1, 1], [0, 1]]) * size_px - 0.5).astype(np.float32)


def _resolution(seen: SeenPage, cell: Cell) -> float:
    """Pixels per millimetre of the picture at a cell, in its coarser direction."""
    x, y = cell.centre_mm
    points = cv2.perspectiveTransform(np.array([[[x, y], [x + 1, y], [x, y + 1]]], float), seen.to_px)[0]
    return float(min(np.hypot(*(points[1] - points[0])), np.hypot(*(points[2] - points[0]))))
