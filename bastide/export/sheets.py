"""The printable sheets as vector PDF, drawn from the same calibration/targets.py that the detectors use.

Every sheet carries a line of 100 mm: printers that "fit to page" spoil a target, and a ruler on that line shows it.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from calibration.targets import (
    CARD_MM,
    CARDS,
    CELL_MM,
    CHARUCO,
    CHECK_LINES,
    LABEL_MM,
    MAT,
    PAPERS_MM,
    TILE_MM,
    Marker,
    TeachingPage,
    marker_bits,
    teaching_pages,
)
from scoring.tiles import catalogue
from vision.artwork import draw_tile
from vision.images import encode_jpeg

SHEETS = ("mat", "cards", "charuco", "teaching-sheet", "qr")
_PT = 72 / 25.4  # points per millimetre
_THUMB_MM = 8.0  # ends outside the part of the cell that teaching evaluates
_QR_MM = 110.0
_GREY, _PALE = 0.45, 0.75


class _Sheet:
    """One PDF, with the coordinates of targets.py: from the middle of the paper, x to the right and y down, in
    millimetres."""

    def __init__(self, paper: str, title: str) -> None:
        from reportlab.pdfgen.canvas import Canvas

        self._width, self._height = PAPERS_MM[paper]
        self._out = io.BytesIO()
        self._c: Any = Canvas(self._out, pagesize=(self._width * _PT, self._height * _PT), invariant=1,
                              pageCompression=1)
        self._c.setTitle(title)
        self._c.setCreator("bastide")

    def _x(self, x: float) -> float:
        return (x + self._width / 2) * _PT

    def _y(self, y: float) -> float:
        return (self._height / 2 - y) * _PT

    def boxes(self, boxes: Iterable[tuple[float, float, float, float]], white: bool = False) -> None:
        """Filled boxes (left, top, width, height) as one path: renderers show no seams within a path."""
        path = self._c.beginPath()
        for left, top, width, height in boxes:
            path.rect(self._x(left), self._y(top + height), width * _PT, height * _PT)
        self._c.setFillGray(1 if white else 0)
        self._c.drawPath(path, stroke=0, fill=1, fillMode=1)  # overlapping boxes are merged

    def modules(self, black: npt.NDArray[np.bool_], left: float, top: float, size: float) -> None:
        """A grid of black and white squares, ``size`` the width of all."""
        side = size / black.shape[1]
        runs = []
        for y, row in enumerate(black):
            edges = np.flatnonzero(np.diff(np.concatenate(([0], row.astype(np.int8), [0]))))
            runs += [(left + a * side, top + y * side, (b - a) * side, side) for a, b in edges.reshape(-1, 2)]
        self.boxes(runs)

    def marker(self, marker: Marker, dictionary: str | None = None) -> None:
        x, y = marker.centre_mm
        half = marker.size_mm / 2
        bits = marker_bits(marker.id, dictionary) if dictionary else marker_bits(marker.id)
        # A black square with white modules cut out instead of adjacent black modules: no seams in the border.
        self.boxes([(x - half, y - half, marker.size_mm, marker.size_mm)])
        side = marker.size_mm / bits.shape[0]
        self.boxes([(x - half + c * side, y - half + r * side, side, side) for r, c in np.argwhere(~bits)], white=True)

    def outline(self, centre: tuple[float, float], size: float, dash: bool = False) -> None:
        self._c.setStrokeGray(_PALE)
        self._c.setLineWidth(0.25 * _PT)
        self._c.setDash(*((2 * _PT, 2 * _PT) if dash else ()))
        self._c.rect(self._x(centre[0] - size / 2), self._y(centre[1] + size / 2), size * _PT, size * _PT)
        self._c.setDash()

    def text(self, x: float, y: float, text: str, size_mm: float = 3.0, *, middle: bool = False,
             bold: bool = False) -> None:
        """Text with its baseline at ``y``."""
        self._c.setFillGray(_GREY)
        self._c.setFont("Helvetica-Bold" if bold else "Helvetica", size_mm * _PT)
        (self._c.drawCentredString if middle else self._c.drawString)(self._x(x), self._y(y), text)

    def check_line(self, kind: str) -> None:
        """The line of 100 mm with its ticks and its instruction."""
        x0, x1, y = CHECK_LINES[kind]
        self._c.setStrokeGray(0)
        self._c.setLineWidth(0.3 * _PT)
        # The ticks are inside the line, so that it is exactly as long as stated.
        self.boxes([(x0, y - 0.15, x1 - x0, 0.3), (x0, y - 1, 0.3, 2), (x1 - 0.3, y - 1, 0.3, 2)])
        self.text((x0 + x1) / 2, y + 3.2, f"print at 100 %, not fitted to the page: this line is {x1 - x0:g} mm long",
                  2.4, middle=True)

    def picture(self, bgr: npt.NDArray[np.uint8], left: float, top: float, size: float) -> None:
        from reportlab.lib.utils import ImageReader

        image = ImageReader(io.BytesIO(encode_jpeg(bgr)))
        self._c.drawImage(image, self._x(left), self._y(top + size), size * _PT, size * _PT)

    def next_page(self) -> None:
        self._c.showPage()

    def pdf(self) -> bytes:
        self._c.save()
        return self._out.getvalue()


def sheet(what: str, paper: str = "A4", *, products: Sequence[str] | None = None, url: str = "") -> bytes:
    """One of SHEETS as a PDF file's bytes. ``products`` are the boxes of a teaching sheet (all when None), ``url`` is
    the address in a QR code. ``paper`` is a key of PAPERS_MM; that every sheet fits is checked by a test."""
    drawn = _Sheet(paper, f"bastide {what}")
    if what == "mat":
        _mat(drawn)
    elif what == "cards":
        _cards(drawn)
    elif what == "charuco":
        _charuco(drawn)
    elif what == "qr":
        _qr(drawn, url)
    else:
        pages = [p for p in teaching_pages() if products is None or p.product in products]
        for n, page in enumerate(pages):
            if n:
                drawn.next_page()
            _teaching(drawn, page)
    return drawn.pdf()


def _mat(drawn: _Sheet) -> None:
    for marker in MAT:
        drawn.marker(marker)
    drawn.outline((0.0, 0.0), TILE_MM)
    drawn.text(0, -36, "bastide mat", 5, middle=True, bold=True)
    drawn.text(0, -30, "lay it flat in the middle of the table, take the picture, take it away again", 2.6, middle=True)
    drawn.text(0, -25.6, "the start tile may lie in the outline", 2.6, middle=True)
    drawn.check_line("mat")


def _cards(drawn: _Sheet) -> None:
    for number, marker in enumerate(CARDS, 1):
        drawn.outline(marker.centre_mm, CARD_MM, dash=True)
        drawn.marker(marker)
        x, y = marker.centre_mm
        drawn.text(x, y + CARD_MM / 2 - 4, f"bastide corner card {number}: cut out, lay flat towards a corner of the "
                   "table", 2.2, middle=True)
    drawn.check_line("cards")


def _charuco(drawn: _Sheet) -> None:
    board, square = CHARUCO, CHARUCO.square_mm
    left, top = -board.size_mm[0] / 2, -board.size_mm[1] / 2
    places = [(x, y) for y in range(board.rows) for x in range(board.columns)]
    drawn.boxes([(left + x * square, top + y * square, square, square) for x, y in places if (x + y) % 2 == 0])
    for number, (x, y) in enumerate(p for p in places if sum(p) % 2):
        centre = left + (x + 0.5) * square, top + (y + 0.5) * square
        drawn.marker(Marker(id=number, centre_mm=centre, size_mm=board.marker_mm), board.dictionary)
    drawn.check_line("charuco")
    drawn.text(-110, 98, str(board), 2.2)


def _teaching(drawn: _Sheet, page: TeachingPage) -> None:
    for marker in page.markers:
        drawn.marker(marker)
    for cell in page.cells:
        x, y = cell.centre_mm
        drawn.outline(cell.centre_mm, CELL_MM)
        tile = catalogue()[cell.tile]
        under = y + CELL_MM / 2 + LABEL_MM
        left = x - CELL_MM / 2 + 2
        drawn.picture(draw_tile(tile, 96), left, under - _THUMB_MM / 2, _THUMB_MM)
        drawn.text(left + _THUMB_MM + 2, under - 0.4, tile.id, 3.0, bold=True)
        drawn.text(left + _THUMB_MM + 2, under + 2.8, tile.name[:26], 2.3)
    drawn.check_line("teaching-sheet")
    drawn.text(-126, -97, f"bastide teaching sheet {page.number + 1}: {page.product}", 4.0, bold=True)
    drawn.text(-126, -93, "lay each tile upright in its outline as in its small picture; photograph the whole sheet",
               2.4)


def _qr(drawn: _Sheet, url: str) -> None:
    import segno

    black = np.array(segno.make(url, error="m", micro=False).matrix, bool)
    drawn.modules(black, -_QR_MM / 2, -_QR_MM / 2 - 12, _QR_MM)
    drawn.text(0, 62, "The scores of this table", 9, middle=True, bold=True)
    drawn.text(0, 74, url, 7, middle=True)
