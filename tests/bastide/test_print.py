"""The printed sheets, rendered to pixels and read by detectors: every marker lies where calibration expects it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import cv2
import numpy as np
import pypdfium2
import pytest

from bastide.cli import main
from bastide.commands.print_command import WHAT, own_name
from bastide.export.sheets import SHEETS, sheet
from calibration.targets import CARDS, CELL_MM, CHARUCO, CHECK_LINES, MAT, PAPERS_MM, teaching_pages

PX_MM = 8.0
CLOSE_MM = 1.2 / PX_MM  # the renderer rounds boxes to whole pixels
MARKED = ("mat", "cards", "teaching-sheet")


@cache
def pages(what: str, paper: str, url: str = "http://table.local:8000/") -> list[np.ndarray]:
    """The grey pages of a sheet at PX_MM pixels per millimetre."""
    document = pypdfium2.PdfDocument(sheet(what, paper, products=("base",), url=url))
    out = []
    for page in document:
        width, height = page.get_size()
        assert (width * 25.4 / 72, height * 25.4 / 72) == pytest.approx(PAPERS_MM[paper], abs=0.01)
        out.append(page.render(scale=PX_MM * 25.4 / 72, grayscale=True).to_numpy().squeeze())
        page.close()
    document.close()
    return out


def mm(pixels: np.ndarray, image: np.ndarray) -> np.ndarray:
    """Positions measured from the middle of the sheet. Pixel centres are whole numbers, edges half ones."""
    return (pixels + 0.5 - np.array(image.shape[::-1]) / 2) / PX_MM


def found(image: np.ndarray) -> dict[int, np.ndarray]:
    parameters = cv2.aruco.DetectorParameters()
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    known = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_5X5_100)
    corners, ids, _ = cv2.aruco.ArucoDetector(known, parameters).detectMarkers(image)
    return {int(n): mm(c[0], image) for n, c in zip(ids.ravel(), corners, strict=True)}


@pytest.mark.parametrize("paper", PAPERS_MM)
@pytest.mark.parametrize("what", MARKED)
def test_every_marker_is_where_it_should_be(what: str, paper: str) -> None:
    base = [p for p in teaching_pages() if p.product == "base"]
    expected = {"mat": [MAT], "cards": [CARDS], "teaching-sheet": [p.markers for p in base]}[what]
    images = pages(what, paper)
    assert len(images) == len(expected)
    for image, markers in zip(images, expected, strict=True):
        seen = found(image)
        assert set(seen) == {m.id for m in markers}
        for marker in markers:
            assert np.abs(seen[marker.id] - marker.corners_mm).max() < CLOSE_MM, marker


@pytest.mark.parametrize("paper", PAPERS_MM)
def test_the_charuco_board_is_opencv_s_own(paper: str) -> None:
    (image,) = pages("charuco", paper)
    board = cv2.aruco.CharucoBoard((CHARUCO.columns, CHARUCO.rows), CHARUCO.square_mm, CHARUCO.marker_mm,
                                   cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, CHARUCO.dictionary)))
    corners, ids, _, marker_ids = cv2.aruco.CharucoDetector(board).detectBoard(image)
    assert len(ids) == (CHARUCO.columns - 1) * (CHARUCO.rows - 1)
    assert len(marker_ids) == CHARUCO.columns * CHARUCO.rows // 2
    expected = board.getChessboardCorners()[ids.ravel(), :2] - np.array(CHARUCO.size_mm) / 2
    assert np.abs(mm(corners[:, 0], image) - expected).max() < CLOSE_MM


@pytest.mark.parametrize("paper", PAPERS_MM)
@pytest.mark.parametrize("what", CHECK_LINES)
def test_the_check_line_is_a_hundred_millimetres(what: str, paper: str) -> None:
    image = pages(what, paper)[0]
    x0, x1, y = CHECK_LINES[what]
    height, width = image.shape
    row = image[round(height / 2 + y * PX_MM)]
    dark = np.flatnonzero(row[round(width / 2 + (x0 - 5) * PX_MM):round(width / 2 + (x1 + 5) * PX_MM)] < 128)
    assert (dark[-1] - dark[0] + 1) / PX_MM == pytest.approx(100.0, abs=0.2) and len(np.unique(
        np.diff(dark))) == 1


def test_the_teaching_sheet_names_and_outlines_every_kind() -> None:
    document = pypdfium2.PdfDocument(sheet("teaching-sheet", products=("base",)))
    base = [p for p in teaching_pages() if p.product == "base"]
    for page, printed in zip(base, document, strict=True):
        words = printed.get_textpage().get_text_range()
        assert all(cell.tile in words for cell in page.cells)
    document.close()
    image = pages("teaching-sheet", "A4")[0]
    for cell in base[0].cells:
        x, y = ((np.array(cell.centre_mm) + np.array(PAPERS_MM["A4"]) / 2) * PX_MM).round().astype(int)
        half = round(CELL_MM / 2 * PX_MM)
        inside = image[y - half + 4:y + half - 3, x - half + 4:x + half - 3]
        assert inside.min() == 255, "something is printed where a tile is photographed"
        assert image[y, x - half - 3:x - half + 4].min() < 230 and image[y, x + half - 3:x + half + 4].min() < 230


@pytest.mark.parametrize("paper", PAPERS_MM)
def test_the_qr_code_leads_to_the_page(paper: str) -> None:
    (image,) = pages("qr", paper, "http://192.168.178.20:8000/")
    assert cv2.QRCodeDetector().detectAndDecode(image)[0] == "http://192.168.178.20:8000/"


def test_the_sheets_are_lines_not_pixels() -> None:
    for what in SHEETS:
        pdf = sheet(what, url="http://table.local:8000/", products=("base",))
        assert pdf.startswith(b"%PDF-") and len(pdf) < 200_000
        assert (b"/Subtype /Image" in pdf) == (what == "teaching-sheet")  # its small pictures; targets are never pixels
        assert sheet(what, url="http://table.local:8000/", products=("base",)) == pdf


@pytest.mark.parametrize("what", WHAT)
def test_the_command_writes_the_file(what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / f"{what}.pdf"
    assert main(["print", what, "--paper", "Letter", "--out", str(out)]) == 0
    assert out.read_bytes().startswith(b"%PDF-")
    assert str(out) in capsys.readouterr().out
    assert own_name()


def test_options_of_another_sheet_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["print", "mat", "--url", "http://x/", "--out", str(tmp_path / "m.pdf")]) == 2
    assert main(["print", "mat", "--expansions", "inns", "--out", str(tmp_path / "m.pdf")]) == 2
    assert not (tmp_path / "m.pdf").exists() and "qr" in capsys.readouterr().err
