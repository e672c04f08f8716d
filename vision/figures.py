"""Whose figure stands where on a photographed board.

A figure is a solid patch of a player's colour that is not print. Its top leans away from the point below the camera;
the lattice's perspective says how far, so the point where it touches the table can be taken back from the silhouette.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import cv2
import numpy as np
import numpy.typing as npt

from scoring.geometry import distance_to_segment
from scoring.tiles import Square, catalogue, where
from vision.evidence import table_colours
from vision.frames import Image
from vision.lattice import UNIT, Array, Lattice, apply
from vision.settle import Settled
from vision.view import View

BOARD_PX = 96  # pixels per tile in which figures are sought
HEIGHT = 0.36  # of a tile: a standing follower (16 mm on 45 mm)
THICK = 0.22  # of a tile: one that lies
SMALLEST, LARGEST = 0.035, 0.34  # of a tile's area: silhouettes of one figure
PRINT = 0.48  # correlation with the tile's picture above which a patch is print after all
CONTRAST = 15.0  # of Lab colour between a figure and the print around it
GREEN_CONTRAST = 30.0  # and for green ones, which a field in the shade resembles
NEXT_TO = 0.35  # of a tile: patches so near belong to one figure
_AROUND_PX = 20  # around a patch: what it is compared with
OFF_BOARD = 0.12  # of a tile: a base point further from every tile is not on the board
COLOURS = ("red", "blue", "green", "yellow", "black")
# Hue (0..180) from, to, and least saturation of painted wood. Print is less saturated, or is not foreign.
_HUES = {"red": [(0, 9), (166, 180)], "yellow": [(19, 38)], "green": [(39, 92)], "blue": [(93, 132)],
         "pink": [(145, 165)], "purple": [(133, 148)], "orange": [(10, 18)]}
_LEAST = {"red": 120, "yellow": 150, "green": 130, "blue": 90, "pink": 70, "purple": 60, "orange": 150}


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureReading:
    """One figure: ``px`` is where it touches the table, in the photograph; ``feature``, ``where`` name the segment."""

    colour: str
    figure: str
    at: Square
    feature: str
    where: str
    confidence: float
    px: tuple[float, float]
    lying: bool = False
    outline_px: Array = field(default_factory=lambda: np.zeros((0, 2)), compare=False)  # of the silhouette, (N, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """What was looked at and not taken: ``outline_px`` (N, 2) in the photograph, and ``why``."""

    outline_px: Array
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Blob:
    colour: str
    centre: Array  # (2,) working pixels
    size: float  # of a tile's area
    solid: float  # area over convex hull's
    outline: Array  # (N, 2) working pixels
    wrong: str = ""  # why it is no figure


def find_figures(photo: Image, strange: npt.NDArray[np.uint8], lattice: Lattice, squares: Mapping[Square, Settled],
                 tiles: Mapping[Square, tuple[str, int]], pictures: Mapping[Square, Image], *, scale: float = 1.0,
                 colours: Iterable[str] | None = None, view: View | None = None,
                 ) -> tuple[tuple[FigureReading, ...], tuple[Rejected, ...]]:
    """Figures on the board, and patches of a player's colour that are none. ``strange`` is 255 where colours are not
    print, ``pictures`` show each tile as it lies without a figure, ``scale`` is working pixels per photograph's."""
    if not squares:
        return (), ()
    known = None if view is None else np.diag([scale, scale, 1.0]) @ view.straight
    up = height_direction(lattice.grid, photo.shape, known)
    readings, rejected = [], []
    for blob in _blobs(photo, strange, lattice, squares, pictures, tuple(colours or COLOURS)):
        reading = None if blob.wrong else _stands(blob, lattice, squares, tiles, up, scale)
        if reading is not None:
            readings.append(reading)
        else:
            rejected.append(Rejected(outline_px=blob.outline / scale,
                                     why=f"{blob.colour}: {blob.wrong or 'not on the board'}"))
    return tuple(sorted(readings, key=lambda f: (f.at[1], f.at[0], f.colour))), tuple(rejected)


def height_direction(grid: Array, shape: tuple[int, ...], matrix: Array | None = None) -> Array:
    """(3,) homogeneous pixels gained per tile of height: a point p (homogeneous, on the table) rises to p + h * this.

    Two columns of the homography are two axes of the table seen by the camera; square pixels and the picture's middle
    as principal point give the focal length (R. Hartley and A. Zisserman, Multiple View Geometry, 8.8) and the third.
    A calibrated camera's ``matrix`` says both.
    """
    height, width = shape[:2]
    x, y = (width / 2, height / 2) if matrix is None else matrix[:2, 2]
    centred = np.array([[1, 0, -x], [0, 1, -y], [0, 0, 1.0]]) @ grid
    a, b = centred[:, 0], centred[:, 1]
    usual = float(max(height, width))
    squares = []
    if abs(a[2] * b[2]) > 1e-12:
        squares.append(-(a[0] * b[0] + a[1] * b[1]) / (a[2] * b[2]))
    if abs(b[2] ** 2 - a[2] ** 2) > 1e-12:
        squares.append((a[0] ** 2 + a[1] ** 2 - b[0] ** 2 - b[1] ** 2) / (b[2] ** 2 - a[2] ** 2))
    focal = [f for f in (np.sqrt(s) for s in squares if s > 0) if 0.6 * usual < f < 2.5 * usual]
    f = float(np.mean(focal)) if focal else 1.05 * usual
    f = f if matrix is None else float(matrix[0, 0])
    rays = np.stack([[a[0] / f, a[1] / f, a[2]], [b[0] / f, b[1] / f, b[2]]])
    step = np.sqrt(np.linalg.norm(rays[0]) * np.linalg.norm(rays[1]))
    normal = np.cross(rays[0], rays[1])
    normal *= -step / np.linalg.norm(normal)  # x east, y south, so the third axis points down: up is its opposite
    up = np.array([normal[0] * f, normal[1] * f, normal[2]])
    return np.array([[1, 0, x], [0, 1, y], [0, 0, 1.0]]) @ up


def _blobs(photo: Image, strange: npt.NDArray[np.uint8], lattice: Lattice, squares: Mapping[Square, Settled],
           pictures: Mapping[Square, Image], colours: tuple[str, ...]) -> list[_Blob]:
    places = np.array(list(squares))
    low, high = places.min(axis=0) - 0.6, places.max(axis=0) + 1.6
    size = np.ceil((high - low) * BOARD_PX).astype(int)
    to_board = np.array([[BOARD_PX, 0, -low[0] * BOARD_PX], [0, BOARD_PX, -low[1] * BOARD_PX], [0, 0, 1.0]])
    forward = to_board @ np.linalg.inv(lattice.grid)
    extent = (int(size[0]), int(size[1]))
    board = cv2.warpPerspective(photo, forward, extent, flags=cv2.INTER_LINEAR)
    odd = cv2.warpPerspective(strange, forward, extent, flags=cv2.INTER_LINEAR) > 127
    tiles = np.zeros(odd.shape, np.uint8)
    bare = np.zeros_like(board)
    for at, s in squares.items():
        corners = apply(forward, apply(s.pose, UNIT))
        cv2.fillConvexPoly(tiles, np.round(corners).astype(np.int32), 1)
        to_tile = forward @ s.pose @ np.diag([1 / pictures[at].shape[0], 1 / pictures[at].shape[0], 1.0])
        cv2.warpPerspective(pictures[at], to_tile, extent, dst=bare, flags=cv2.INTER_LINEAR,
                            borderMode=cv2.BORDER_TRANSPARENT)
    drawn, seen_drawing = _drawing(bare), _drawing(board)
    beside = cv2.dilate(tiles, np.ones((3, 3), np.uint8), iterations=BOARD_PX // 2) > 0
    gaps = (tiles == 0) & beside & (board.max(axis=2) > 0)
    odd &= (tiles > 0) | (beside & ~table_colours(board, gaps))
    hsv = cv2.cvtColor(cv2.GaussianBlur(board, (0, 0), 1.0), cv2.COLOR_BGR2HSV)
    level = float(np.median(hsv[..., 2][tiles > 0]))
    back = np.linalg.inv(forward)
    found = []
    lab = cv2.cvtColor(board, cv2.COLOR_BGR2LAB)
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (BOARD_PX // 10 | 1,) * 2)
    for colour in colours:
        seen = (_looks(colour, hsv, level) & odd).astype(np.uint8)
        closed = cv2.morphologyEx(seen, cv2.MORPH_CLOSE, np.ones((7, 7), np.uint8))
        mask = cv2.morphologyEx(closed, cv2.MORPH_OPEN, kernel)
        count, labels, stats, centres = cv2.connectedComponentsWithStats(mask)
        for n in range(1, count):
            part = float(stats[n, cv2.CC_STAT_AREA]) / BOARD_PX**2
            if part < SMALLEST / 3:
                continue
            x, y, w, h = (int(v) for v in stats[n, :4])
            x0, y0 = max(0, x - _AROUND_PX), max(0, y - _AROUND_PX)
            near = (slice(y0, y + h + _AROUND_PX), slice(x0, x + w + _AROUND_PX))
            patch = labels[near] == n
            grown = cv2.dilate(patch.astype(np.uint8), np.ones((7, 7), np.uint8))
            wrong = ""
            if not SMALLEST <= part <= LARGEST:
                wrong = "too small" if part < SMALLEST else "too large"
            elif _contrast(lab[near], patch, tiles[near]) < (GREEN_CONTRAST if colour == "green" else CONTRAST):
                wrong = "hardly differs from what is around it"
            elif _alike(drawn[near], seen_drawing[near], grown & tiles[near]) > PRINT:
                wrong = "print"
            outlines, _ = cv2.findContours(patch.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
            outline = max(outlines, key=cv2.contourArea).reshape(-1, 2) + (x0, y0)
            found.append(_Blob(colour=colour, centre=apply(back, centres[n])[0], size=part, wrong=wrong,
                               solid=_solidity(closed[near] & grown), outline=apply(back, outline)))
    return _without_shadows(found, lattice)


def figure_like(crops: Sequence[Image], colours: Iterable[str] = COLOURS) -> npt.NDArray[np.bool_]:
    """(N, S, S) where crops of single tiles show solid patches of a figure's size and of a player's colour.

    Print may have such patches too; but a colour that is seen nowhere else on a board is not its print's.
    """
    smooth = [cv2.GaussianBlur(c, (0, 0), 0.8) for c in crops]
    hsv = [cv2.cvtColor(c, cv2.COLOR_BGR2HSV) for c in smooth]
    level = float(np.median([h[..., 2] for h in hsv]))
    side = crops[0].shape[0]
    meadow = _usual_green(smooth, hsv)
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side // 10 | 1,) * 2)
    found = np.zeros((len(crops), side, side), bool)
    for n, picture in enumerate(hsv):
        for colour in colours:
            looks = _looks(colour, picture, level)
            if colour == "green" and meadow is not None:  # fields are green too, and would swallow what stands on them
                off = (cv2.cvtColor(smooth[n], cv2.COLOR_BGR2LAB).astype(np.float32) - meadow) * (0.5, 1.0, 1.0)
                looks &= np.linalg.norm(off, axis=2) > GREEN_CONTRAST / 2
            seen = cv2.morphologyEx(looks.astype(np.uint8), cv2.MORPH_OPEN, kernel)
            count, labels, stats, _ = cv2.connectedComponentsWithStats(seen)
            for k in range(1, count):
                if SMALLEST / 2 <= stats[k, cv2.CC_STAT_AREA] / side**2 <= LARGEST:
                    found[n] |= cv2.dilate((labels == k).astype(np.uint8), kernel) > 0
    return found


def _usual_green(crops: Sequence[Image], hsv: Sequence[Image]) -> npt.NDArray[np.float32] | None:
    """The Lab colour of the fields: the median of what is green; None without any."""
    low, high = _HUES["green"][0]
    pixels = [c[(h[..., 0] >= low) & (h[..., 0] <= high) & (h[..., 1] > 40)] for c, h in zip(crops, hsv, strict=True)]
    every = np.concatenate(pixels)
    if len(every) < 200:
        return None
    return np.median(cv2.cvtColor(every[None], cv2.COLOR_BGR2LAB)[0], axis=0).astype(np.float32)


def _contrast(lab: Image, patch: npt.NDArray[np.bool_], tiles: npt.NDArray[np.uint8]) -> float:
    """Difference of Lab colour between a patch and the tiles around it: light that changes slowly makes no figure."""
    near, far = (cv2.dilate(patch.astype(np.uint8), np.ones((n, n), np.uint8)) > 0 for n in (13, 27))
    ring = far & ~near & (tiles > 0)
    if ring.sum() < 50:
        return 255.0
    inner, outer = np.median(lab[patch], axis=0), np.median(lab[ring], axis=0)
    return float(np.linalg.norm((inner - outer) * (0.5, 1.0, 1.0)))


def _drawing(bgr: Image) -> npt.NDArray[np.float32]:
    """(H, W, 2) fine drawing: lightness and redness relative to their surroundings."""
    logs = cv2.log(cv2.GaussianBlur(bgr, (0, 0), BOARD_PX / 48).astype(np.float32) + 10.0)
    both = np.stack([logs.mean(axis=2), logs[..., 2] - logs[..., 1]], axis=-1)
    return both - cv2.GaussianBlur(both, (0, 0), BOARD_PX / 8)


def _alike(drawn: npt.NDArray[np.float32], seen: npt.NDArray[np.float32], patch: npt.NDArray[np.uint8]) -> float:
    """Correlation of the tiles' pictures with the photograph inside a patch: high where print shows, low under wood."""
    if not patch.any():
        return 0.0
    a, b = drawn[patch > 0], seen[patch > 0]
    a, b = a - a.mean(axis=0), b - b.mean(axis=0)
    return float((a * b).sum() / (np.sqrt((a * a).sum() * (b * b).sum()) + 1e-6))


def _solidity(patch: npt.NDArray[np.uint8]) -> float:
    """Area over the convex hull's: arms and legs of a follower that lies show, of one that stands hardly."""
    outlines, _ = cv2.findContours(patch, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    outline = max(outlines, key=cv2.contourArea)
    return float(cv2.contourArea(outline) / max(cv2.contourArea(cv2.convexHull(outline)), 1.0))


def _without_shadows(blobs: list[_Blob], lattice: Lattice) -> list[_Blob]:
    """A dark patch that touches a larger coloured one is its shaded side or its shadow."""
    back = np.linalg.inv(lattice.grid)
    places = [apply(back, b.centre)[0] for b in blobs]

    def shadow(n: int) -> bool:
        return blobs[n].colour == "black" and any(
            other.colour != "black" and not other.wrong and other.size > 0.8 * blobs[n].size
            and np.hypot(*(places[k] - places[n])) < NEXT_TO for k, other in enumerate(blobs))

    return [replace(b, wrong="a shadow") if not b.wrong and shadow(n) else b for n, b in enumerate(blobs)]


def _looks(colour: str, hsv: Image, level: float) -> npt.NDArray[np.bool_]:
    """Where the picture has a player's colour. ``level`` is how bright the board is."""
    hue, saturation, value = hsv[..., 0], hsv[..., 1], hsv[..., 2].astype(np.float32)
    dark = value < 0.42 * level
    if colour == "black":
        return dark & (saturation.astype(np.float32) * value < 110 * 0.32 * level)
    if colour in ("white", "grey"):
        pale = saturation < 45
        return pale & ((value > 1.1 * level) if colour == "white" else ((value > 0.5 * level) & (value <= 1.1 * level)))
    near = np.zeros(hue.shape, bool)
    for first, last in _HUES[colour]:
        near |= (hue >= first) & (hue <= last)
    return near & (saturation >= _LEAST[colour]) & (value > 0.18 * level)


def _stands(blob: _Blob, lattice: Lattice, squares: Mapping[Square, Settled], tiles: Mapping[Square, tuple[str, int]],
            up: Array, scale: float) -> FigureReading | None:
    """The likeliest segment under a silhouette, standing or lying."""
    options = []
    for lying in (False, True):
        base = _base(blob.centre, lattice, up, 0.5 * (THICK if lying else HEIGHT))
        place = _square(base, squares)
        if place is None:
            continue
        at, x, y = place
        tile, rot = tiles[at]
        kind = catalogue()[tile]
        for n, segment in enumerate(kind.segments):
            if segment.kind not in ("city", "road", "cloister", "field") or (segment.kind == "field") != lying:
                continue
            off = distance_to_segment(kind, n, x, y, rot)
            cost = (off / 8.0) ** 2 / 2
            if lying:
                cost += _LIES + max(0.0, blob.solid - 0.84) * 30
            options.append((cost, at, n, base, lying, kind, rot))
    if not options:
        return None
    options.sort(key=lambda o: o[0])
    best = options[0]
    weights = [np.exp(-min(o[0] - best[0], 50.0)) for o in options]
    _, at, n, base, lying, kind, rot = best
    return FigureReading(colour=blob.colour, figure="follower", at=at, feature=kind.segments[n].kind,
                         where=where(kind.segments[n], rot), confidence=float(_sure(blob) * weights[0] / sum(weights)),
                         px=(float(base[0] / scale), float(base[1] / scale)), lying=lying,
                         outline_px=blob.outline / scale)


_LIES = 0.7  # followers stand more often than they lie


def _sure(blob: _Blob) -> float:
    """That the patch is one figure: by its size alone."""
    usual = 0.11
    return float(np.exp(-0.5 * (np.log(blob.size / usual) / 0.9) ** 2))


def _base(centre: Array, lattice: Lattice, up: Array, height: float) -> Array:
    """The table point (pixels) below a point that is seen at ``centre`` and ``height`` tiles above the table."""
    raised = lattice.grid + height * np.outer(up, [0, 0, 1.0])
    steps = apply(np.linalg.inv(raised), centre)[0]
    return apply(lattice.grid, steps)[0]


def _square(base: Array, squares: Mapping[Square, Settled]) -> tuple[Square, float, float] | None:
    """The tile below a pixel and where on it, in drawing coordinates; None when no tile is there."""
    best: tuple[float, Square, float, float] | None = None
    for at, settled in squares.items():
        x, y = apply(np.linalg.inv(settled.pose), base)[0]
        off = max(abs(x - 0.5), abs(y - 0.5)) - 0.5
        if off < OFF_BOARD and (best is None or off < best[0]):
            best = (off, at, 100 * x, 100 * y)
    return None if best is None else best[1:]

