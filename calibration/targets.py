"""The layout of the printed targets, in millimetres. Frozen: sheets already printed must stay valid.

Every sheet is landscape and measured from its centre, x to the right and y down, so that A4 and Letter carry the same
drawing. ChArUco uses DICT_4X4_50; everything else uses DICT_5X5_100, so that sheets cannot be confused:
markers 0 to 3 are the corner cards, 4 to 17 the mat, 20 + 4 n to 23 + 4 n page n of the teaching sheet.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np
import numpy.typing as npt

from scoring.tiles import product, products

PAPERS_MM = {"A4": (297.0, 210.0), "Letter": (279.4, 215.9)}  # landscape: width, height
TILE_MM = 45.0
MARKER_DICTIONARY = "DICT_5X5_100"


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """A ChArUco board, as in cv2.aruco.CharucoBoard (the pattern of OpenCV 4.6 and later).

    Its origin is the outer top left corner of its first square, which is black; squares with x + y even are black,
    the others hold the markers, numbered row by row from 0.
    """

    columns: int = 11
    rows: int = 8
    square_mm: float = 20.0
    marker_mm: float = 15.0
    dictionary: str = "DICT_4X4_50"

    @property
    def size_mm(self) -> tuple[float, float]:
        return self.columns * self.square_mm, self.rows * self.square_mm

    def __str__(self) -> str:
        return f"charuco:{self.columns}x{self.rows}:{self.square_mm:g}:{self.marker_mm:g}:{self.dictionary}"


CHARUCO = Board()
"""The default board, centred on the sheet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """A square marker of MARKER_DICTIONARY, upright on its sheet. ``size_mm`` is the outer edge of the black border."""

    id: int
    centre_mm: tuple[float, float]
    size_mm: float

    @property
    def corners_mm(self) -> npt.NDArray[np.float64]:
        """(4, 2) top left, top right, bottom right, bottom left: the order of the detectors."""
        return np.array([[-1, -1], [1, -1], [1, 1], [-1, 1.0]]) * self.size_mm / 2 + self.centre_mm


CARD_MM = 90.0
CARDS: tuple[Marker, ...] = tuple(
    Marker(id=n, centre_mm=(x, y), size_mm=60.0)
    for n, (x, y) in enumerate([(-46.0, -46.0), (46.0, -46.0), (46.0, 46.0), (-46.0, 46.0)]))
"""The four corner cards as they lie on their sheet; each is cut out as a square of CARD_MM around its marker.

On the table they lie anywhere near the corners, at any angle: a card's size is known, its position is estimated.
"""

_MAT_X, _MAT_Y = (-108.0, -54.0, 0.0, 54.0, 108.0), (-75.0, -25.0, 25.0, 75.0)
MAT_MM = (250.0, 184.0)
MAT: tuple[Marker, ...] = tuple(
    Marker(id=4 + n, centre_mm=at, size_mm=30.0)
    for n, at in enumerate([(x, y) for y in _MAT_Y for x in _MAT_X if abs(x) == 108.0 or abs(y) == 75.0]))
"""The mat: fourteen markers around its border. In its centre is the outline of a tile, where the start tile may lie."""

CHECK_LINES: dict[str, tuple[float, float, float]] = {
    "charuco": (-50.0, 50.0, 92.0), "cards": (-50.0, 50.0, 96.0), "mat": (-50.0, 50.0, 40.0),
    "teaching-sheet": (-50.0, 50.0, 94.0),
}
"""Per sheet the check line: from x, to x, at y."""

CELL_MM = 47.0  # the outline in which a tile of TILE_MM is laid
CELL_COLUMNS, CELL_ROWS = 4, 3
_PITCH_MM = (52.0, 58.0)
_CELL_UP_MM = -4.0  # offset of cells upwards in the grid; the label is below the outline
LABEL_MM = 6.0  # distance of the label's centre below the outline
TEACHING_MARKER_MM = 20.0
_TEACHING_FIRST_ID = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """The place of a tile kind, upright as on the catalogue sheets (rot 0)."""

    tile: str
    centre_mm: tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class TeachingPage:
    """One page of the teaching sheet: up to twelve kinds of one box and four markers that identify the page."""

    number: int
    product: str
    markers: tuple[Marker, ...]
    cells: tuple[Cell, ...]


@cache
def teaching_pages() -> tuple[TeachingPage, ...]:
    """All pages; every box starts a new one; the base game has the first two. The order is frozen."""
    pages: list[TeachingPage] = []
    for box in sorted(map(product, products()), key=lambda box: box.sheet):
        kinds = [t.id for t in box.tiles]
        each = CELL_COLUMNS * CELL_ROWS
        for start in range(0, len(kinds), each):
            pages.append(_page(len(pages), box.name, kinds[start:start + each]))
    return tuple(pages)


def marker_bits(identity: int, dictionary: str = MARKER_DICTIONARY) -> npt.NDArray[np.bool_]:
    """(n, n) modules of a marker from its top row, True where black; the black border, one module wide, is included."""
    known = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, dictionary))
    side = known.markerSize + 2
    return np.asarray(cv2.aruco.generateImageMarker(known, identity, side, borderBits=1) < 128)


def _page(number: int, name: str, kinds: list[str]) -> TeachingPage:
    dx, dy = _PITCH_MM
    places = [((c - (CELL_COLUMNS - 1) / 2) * dx, (r - (CELL_ROWS - 1) / 2) * dy + _CELL_UP_MM)
              for r in range(CELL_ROWS) for c in range(CELL_COLUMNS)]
    corners = [(-116.0, -80.0), (116.0, -80.0), (116.0, 80.0), (-116.0, 80.0)]
    return TeachingPage(
        number=number, product=name,
        markers=tuple(Marker(id=_TEACHING_FIRST_ID + 4 * number + n, centre_mm=at, size_mm=TEACHING_MARKER_MM)
                      for n, at in enumerate(corners)),
        cells=tuple(Cell(tile=tile, centre_mm=at) for tile, at in zip(kinds, places, strict=False)))
