"""Detects the printed targets in a picture, with sub-pixel precision."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from calibration.documents import CalibrationError
from calibration.targets import MARKER_DICTIONARY, Board
from vision.frames import Image

Array = npt.NDArray[np.float64]
_SPEC = re.compile(r"charuco:(\d+)x(\d+):(\d+(?:\.\d+)?):(\d+(?:\.\d+)?):(DICT_\w+)")
_ENOUGH = 0.5  # fraction of a board's corners below which detection is repeated on an enlarged picture
_LARGEST_PX = 2600  # limit of enlargement
_HARDER = ((2, True), (4, False))  # enlarged and sharpened, when single markers were seen but no board
_LARGEST_HARDER_PX = 10_000  # and its limit then
_AROUND = 0.45  # of a square: window around a corner for refining it
_SQUARE_PX = 80  # of a square in the board's ideal picture
_NEIGHBOURS = 21  # nearest corners that determine the local mapping
_SHIFTED_PX = 2.0  # larger corrections are rejected


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """Points of one rigid flat object: ``mm`` (N, 2) on it, x right and y down, and ``px`` (N, 2) in the picture.

    ``weight`` below 1 is for an object whose shape is less exact than print.
    """

    mm: Array
    px: Array
    weight: float = 1.0


def parse_board(spec: str) -> Board:
    """``charuco:COLSxROWS:SQUARE_MM:MARKER_MM:DICT``. Raises CalibrationError."""
    match = _SPEC.fullmatch(spec.strip())
    if match is None:
        raise CalibrationError(f"--board {spec}: must look like charuco:11x8:20:15:DICT_4X4_50 (squares across and "
                               "down, square and marker in mm, dictionary)")
    columns, rows = int(match[1]), int(match[2])
    square, marker = float(match[3]), float(match[4])
    known = getattr(cv2.aruco, match[5], None)
    if not isinstance(known, int):
        raise CalibrationError(f"--board {spec}: {match[5]} is not an ArUco dictionary; DICT_4X4_50 is the usual one")
    if not (2 <= columns <= 60 and 2 <= rows <= 60):
        raise CalibrationError(f"--board {spec}: a board has 2 to 60 squares each way")
    if not 0 < marker < square <= 1000:
        raise CalibrationError(f"--board {spec}: the marker must be smaller than its square, both in mm")
    holds = len(cv2.aruco.getPredefinedDictionary(known).bytesList)
    if columns * rows // 2 > holds:
        raise CalibrationError(f"--board {spec}: {match[5]} has only {holds} markers, and the board needs "
                               f"{columns * rows // 2}")
    return Board(columns=columns, rows=rows, square_mm=square, marker_mm=marker, dictionary=match[5])


def opencv_board(board: Board) -> cv2.aruco.CharucoBoard:
    """The board as an OpenCV object."""
    dictionary = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, board.dictionary))
    return cv2.aruco.CharucoBoard((board.columns, board.rows), board.square_mm, board.marker_mm, dictionary)


def find_board(picture: Image, board: Board) -> Pattern | None:
    """The inner corners of a ChArUco board, measured from the board's centre. None when none is seen.

    Boards printed by OpenCV before 4.6 start with a white square; they are recognised too.
    """
    grey = as_grey(picture)
    total = (board.columns - 1) * (board.rows - 1)
    best: tuple[Array, npt.NDArray[np.int32], cv2.aruco.CharucoBoard] | None = None
    markers = False
    for times, sharp, old in ((*t, old) for t in _tries(grey) for old in (False, True)):
        if (times, sharp) in _HARDER and not markers:
            break  # no marker at all: further attempts cost seconds
        known = opencv_board(board)
        known.setLegacyPattern(old)
        detector = cv2.aruco.CharucoDetector(known, cv2.aruco.CharucoParameters(), _parameters())
        corners, ids, _, seen = detector.detectBoard(_sharp(_enlarged(grey, times), times) if sharp else
                                                     _enlarged(grey, times))
        markers = markers or seen is not None
        if ids is not None and (best is None or len(ids) > len(best[1])):
            best = (corners.reshape(-1, 2).astype(float) + 0.5) / times - 0.5, np.asarray(ids.ravel(), np.int32), known
        if best is not None and len(best[1]) >= _ENOUGH * total:
            break
    if best is None:
        return None
    px, ids, known = best
    mm = np.asarray(known.getChessboardCorners(), float)[ids, :2]
    return Pattern(mm=mm - np.array(board.size_mm) / 2, px=_placed(grey, board, known, mm, px))


def _placed(grey: Image, board: Board, known: cv2.aruco.CharucoBoard, mm: Array, px: Array) -> Array:
    """Corners refined by aligning the print around them with the picture (enhanced correlation coefficient): three
    times as accurate as the crossing alone. ``mm`` are from the board's own corner."""
    if len(px) < _NEIGHBOURS // 2:
        return px
    near = [_around(mm, px, n) for n in range(len(px))]
    density, edge = _SQUARE_PX / board.square_mm, _SQUARE_PX
    texture = cv2.copyMakeBorder(_texture(board, known), edge, edge, edge, edge, cv2.BORDER_CONSTANT, value=255.0)
    steps = [abs(np.linalg.det(at(np.eye(2)) - at(np.zeros((2, 2))))) for at in near]
    scale = float(1 / np.sqrt(np.median(steps) + 1e-12))  # px per mm
    soft = cv2.GaussianBlur(texture, (0, 0), max(0.6 * density / scale, 0.5))
    reach = int(np.clip(round(_AROUND * board.square_mm * scale), 4, 40))
    y, x = np.mgrid[-reach:reach + 1, -reach:reach + 1].astype(float)
    grid = np.column_stack([x.ravel(), y.ravel()])
    values = cv2.copyMakeBorder(grey.astype(np.float32), *(reach + 4,) * 4, cv2.BORDER_REPLICATE)
    enough = (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 30, 1e-4)
    out = px.copy()
    for n, seen in enumerate(px):
        middle = np.round(seen)
        lying = near[n](grid + (middle - seen))
        u, v = (lying.T * density + edge - 0.5).reshape(2, *x.shape)
        ideal = cv2.remap(soft, u.astype(np.float32), v.astype(np.float32), cv2.INTER_LINEAR)
        left, top = (int(m) + reach + 4 - reach - 3 for m in middle)
        if left < 0 or top < 0:
            continue
        window = values[top:top + 2 * reach + 7, left:left + 2 * reach + 7]
        if window.shape != (2 * reach + 7,) * 2:
            continue
        start = np.array([[1, 0, 3], [0, 1, 3]], np.float32)
        try:
            _, warp = cv2.findTransformECC(  # OpenCV's type stub does not allow a missing mask
                ideal, window, start, cv2.MOTION_TRANSLATION, enough, None, 1)  # type: ignore[call-overload]
        except cv2.error:  # it did not converge: keep the crossing
            continue
        if np.abs(warp[:, 2] - 3).max() < _SHIFTED_PX:
            out[n] = seen + warp[:, 2] - 3
    return out


def _texture(board: Board, known: cv2.aruco.CharucoBoard) -> npt.NDArray[np.float32]:
    """(rows, columns) * _SQUARE_PX grey values of the print, anti-aliased by area: rounding the marker's cells to
    pixels would bias the corners, and OpenCV cannot draw every board."""
    dictionary = known.getDictionary()
    cells = dictionary.markerSize + 2
    side = _SQUARE_PX * board.marker_mm / board.square_mm
    ends = (_SQUARE_PX - side) / 2 + np.linspace(0, side, cells + 1)
    pixels = np.arange(_SQUARE_PX)[:, None]
    share = np.clip(np.minimum(ends[1:], pixels + 1) - np.maximum(ends[:-1], pixels), 0, 1)  # (pixels, cells)
    out = np.zeros((board.rows * _SQUARE_PX, board.columns * _SQUARE_PX), np.float32)
    for corners, marker in zip(known.getObjPoints(), np.ravel(known.getIds()), strict=True):
        column, row = (int(v) for v in np.asarray(corners)[:, :2].mean(axis=0) // board.square_mm)
        ink = 1 - dictionary.generateImageMarker(int(marker), cells).astype(float) / 255
        out[row * _SQUARE_PX:(row + 1) * _SQUARE_PX, column * _SQUARE_PX:(column + 1) * _SQUARE_PX] = \
            255 * (1 - share @ ink @ share.T)
    return out


def _around(mm: Array, px: Array, n: int) -> Callable[[Array], Array]:
    """Maps (N, 2) px relative to corner ``n`` to the board, fitted to the corners around it: perspective plus the local
    lens distortion, which one homography for the board would miss by pixels. The corner itself is fixed."""
    near = np.argsort(((mm - mm[n]) ** 2).sum(axis=1), kind="stable")[:_NEIGHBOURS]
    d = px[near] - px[n]
    found = cv2.findHomography(d, mm[near])[0]
    if found is None:
        found = cv2.findHomography(px - px[n], mm)[0]
    plane: Array = np.full((3, 3), np.nan) if found is None else np.asarray(found, float)  # nan: collinear
    far = float(np.abs(d).max())
    bends: Array = np.zeros((6, 2))
    if len(near) == _NEIGHBOURS:
        bends = np.asarray(np.linalg.lstsq(_powers(d / far), mm[near] - _through(plane, d), rcond=None)[0], float)
    start = _through(plane, np.zeros((1, 2))) - mm[n]
    bends[0] = 0.0
    return lambda at: _through(plane, at) - start + _powers(at / far) @ bends


def _through(plane: Array, points: Array) -> Array:
    """(N, 2) points through a homography."""
    out = np.column_stack([points, np.ones(len(points))]) @ plane.T
    return np.asarray(out[:, :2] / out[:, 2:])


def _powers(points: Array) -> Array:
    """(N, 6) terms of a quadratic polynomial."""
    x, y = points.T
    return np.column_stack([np.ones(len(points)), x, y, x * x, x * y, y * y])


def board_px_to_mm(pattern: Pattern, n: int) -> Callable[[Array], Array]:
    """Maps (N, 2) px, relative to a board's corner ``n``, to mm on the board."""
    return _around(pattern.mm, pattern.px, n)


def marker_corners(grey: Image, dictionary: str) -> dict[int, Array]:
    """Every marker detected at this scale: id to (4, 2) px of its corners."""
    known = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, dictionary))
    corners, ids, _ = cv2.aruco.ArucoDetector(known, _parameters()).detectMarkers(grey)
    return {} if ids is None else {int(n): c.reshape(4, 2).astype(float)
                                   for n, c in zip(ids.ravel(), corners, strict=True)}


def find_markers(picture: Image, dictionary: str = MARKER_DICTIONARY) -> dict[int, Array]:
    """Every marker seen: id to (4, 2) px of its corners top left, top right, bottom right, bottom left."""
    parameters = _parameters()
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_NONE
    detector = cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, dictionary)), parameters)
    grey = as_grey(picture)
    for times in _enlargements(grey):
        corners, ids, _ = detector.detectMarkers(_enlarged(grey, times))
        if ids is not None:
            values = grey.astype(np.float32)
            return {int(n): _sharpened(values, (c.reshape(4, 2).astype(float) + 0.5) / times - 0.5)
                    for n, c in zip(ids.ravel(), corners, strict=True)}
    return {}


def _sharpened(grey: npt.NDArray[np.float32], corners: Array) -> Array:
    """Corners of a dark square as the intersections of its sides: blur rounds a corner itself inwards."""
    middle = corners.mean(axis=0)
    lines = []
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        along = b - a
        out = np.array([along[1], -along[0]]) / max(float(np.linalg.norm(along)), 1e-6)
        if out @ ((a + b) / 2 - middle) < 0:
            out = -out
        reach = float(np.clip(0.07 * np.linalg.norm(along), 1.5, 4.0))
        t = np.linspace(0.12, 0.88, 24)
        s = np.linspace(-reach, reach, 33)
        points = a + t[:, None, None] * along + s[None, :, None] * out
        profile = _sampled(grey, points)
        rise = np.clip(np.diff(profile, axis=1), 0, None)
        weight = rise**2
        total = weight.sum(axis=1)
        place = (weight * (s[:-1] + s[1:]) / 2).sum(axis=1) / np.maximum(total, 1e-6)
        keep = total > 0.2 * float(np.median(total)) + 1e-6
        if keep.sum() < 6:
            return corners
        for _ in range(2):
            fit = np.polyfit(t[keep], place[keep], 1)
            off = np.abs(np.polyval(fit, t) - place)
            keep &= off <= max(3 * float(np.median(off[keep])), 0.02)
        lines.append((a + np.polyval(fit, 0) * out, b + np.polyval(fit, 1) * out))
    sharp = np.array([_crossing(lines[n - 1], lines[n]) for n in range(4)])
    return sharp if np.abs(sharp - corners).max() < 4.0 else corners


def _sampled(grey: npt.NDArray[np.float32], points: Array) -> Array:
    """Bilinearly interpolated grey values; the border is replicated."""
    h, w = grey.shape
    x, y = np.clip(points[..., 0], 0, w - 1.001), np.clip(points[..., 1], 0, h - 1.001)
    i, j = x.astype(int), y.astype(int)
    u, v = x - i, y - j
    above, below = (1 - u) * grey[j, i] + u * grey[j, i + 1], (1 - u) * grey[j + 1, i] + u * grey[j + 1, i + 1]
    return np.asarray((1 - v) * above + v * below)


def _crossing(first: tuple[Array, Array], second: tuple[Array, Array]) -> Array:
    (a, b), (c, d) = first, second
    along, other = b - a, d - c
    step = ((c - a)[0] * other[1] - (c - a)[1] * other[0]) / (along[0] * other[1] - along[1] * other[0])
    return np.asarray(a + step * along)


def as_grey(picture: Image) -> Image:
    """The picture as a single grey channel."""
    return picture if picture.ndim == 2 else np.asarray(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), np.uint8)


def _parameters() -> cv2.aruco.DetectorParameters:
    parameters = cv2.aruco.DetectorParameters()
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    return parameters


def _enlargements(grey: Image) -> tuple[int, ...]:
    return (1, 2) if 2 * max(grey.shape) <= _LARGEST_PX else (1,)


def _tries(grey: Image) -> list[tuple[int, bool]]:
    """The enlargements of a picture, sharpened or not, in which to search for a board, in order."""
    return [(t, False) for t in _enlargements(grey)] + [
        (t, sharp) for t, sharp in _HARDER if t * max(grey.shape) <= _LARGEST_HARDER_PX]


def _sharp(grey: Image, times: int) -> Image:
    """An enlarged and sharpened copy, for markers of 15 px under a wide lens, whose bits blur together."""
    return np.asarray(cv2.addWeighted(grey, 2.5, cv2.GaussianBlur(grey, (0, 0), 2.0 * times), -1.5, 0), np.uint8)


def _enlarged(grey: Image, times: int) -> Image:
    return grey if times == 1 else np.asarray(cv2.resize(grey, None, fx=times, fy=times,
                                                         interpolation=cv2.INTER_CUBIC), np.uint8)


def outline(pattern: Pattern) -> list[list[int]]:
    """The convex hull of the detected corners, in whole pixels, for a page to draw."""
    hull = cv2.convexHull(pattern.px.astype(np.float32))
    return [[round(float(x)), round(float(y))] for x, y in hull.reshape(-1, 2)]
