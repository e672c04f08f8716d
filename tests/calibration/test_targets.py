"""The printed sheets: everything is on the paper, nothing overlaps, detectors know the markers."""

from __future__ import annotations

from itertools import combinations

import cv2
import numpy as np
import pytest

from calibration import targets
from calibration.targets import CARD_MM, CARDS, CELL_MM, CHARUCO, CHECK_LINES, MAT, PAPERS_MM, marker_bits
from scoring.tiles import product

MARGIN_MM = 6.0  # unprintable margin of ordinary printers
PAGES = targets.teaching_pages()


def _sheets() -> dict[str, list[tuple[float, float, float, float]]]:
    """Boxes (left, top, right, bottom) of everything on each sheet."""
    def box(centre: tuple[float, float], w: float, h: float) -> tuple[float, float, float, float]:
        return centre[0] - w / 2, centre[1] - h / 2, centre[0] + w / 2, centre[1] + h / 2

    sheets = {
        "charuco": [box((0, 0), *CHARUCO.size_mm)],
        "cards": [box(m.centre_mm, CARD_MM, CARD_MM) for m in CARDS],
        "mat": [box(m.centre_mm, m.size_mm, m.size_mm) for m in MAT] + [box((0, 0), 45, 45)],
    }
    for page in PAGES:
        sheets[f"teaching-sheet {page.number}"] = (
            [box(m.centre_mm, m.size_mm, m.size_mm) for m in page.markers]
            + [box(c.centre_mm, CELL_MM, CELL_MM) for c in page.cells])
    for name, boxes in sheets.items():
        x0, x1, y = CHECK_LINES[name.split()[0]]
        boxes.append((x0, y - 1, x1, y + 1))
    return sheets


@pytest.mark.parametrize("paper", PAPERS_MM)
def test_every_sheet_fits_the_paper_and_nothing_overlaps(paper: str) -> None:
    width, height = PAPERS_MM[paper]
    for name, boxes in _sheets().items():
        for left, top, right, bottom in boxes:
            assert left >= MARGIN_MM - width / 2 and right <= width / 2 - MARGIN_MM, name
            assert top >= MARGIN_MM - height / 2 and bottom <= height / 2 - MARGIN_MM, name
        for a, b in combinations(boxes, 2):
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1], (name, a, b)


def test_ids_are_of_one_sheet_each() -> None:
    ids = [m.id for m in (*CARDS, *MAT, *(m for page in PAGES for m in page.markers))]
    assert len(set(ids)) == len(ids) and max(ids) < 100


def test_every_kind_has_one_cell_and_the_base_game_the_first_two_pages() -> None:
    cells = [c.tile for page in PAGES for c in page.cells]
    order = ("base", "inns", "traders", "river", "dragon", "tower", "wheel")  # of the sheets that people have printed
    kinds = [t.id for name in order for t in product(name).tiles]
    assert cells[:len(kinds)] == kinds  # products that came later follow
    assert [p.product for p in PAGES[:3]] == ["base", "base", "inns"] and len(PAGES[0].cells) == 12


def test_detectors_find_the_markers_where_they_are_said_to_be() -> None:
    bits = marker_bits(CARDS[2].id)
    assert bits.shape == (7, 7) and bits[0].all() and bits[:, -1].all()
    picture = np.full((270, 270), 255, np.uint8)
    picture[30:240, 30:240] = np.kron(np.where(bits, 0, 255), np.ones((30, 30))).astype(np.uint8)
    detector = cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_5X5_100))
    corners, ids, _ = detector.detectMarkers(picture)
    assert ids.ravel().tolist() == [CARDS[2].id]
    want = CARDS[2].corners_mm - CARDS[2].corners_mm[0]
    assert np.abs((corners[0][0] - 30) * CARDS[2].size_mm / 210 - want).max() < 0.3
