"""A board other than the specified one is identified, and wrong sizes are detected."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from calibration.apply import usual_lens
from calibration.board_check import instead, unlike
from calibration.boards import Pattern, find_board
from calibration.documents import CalibrationError
from calibration.lens import calibrate_lens
from calibration.rehearsal import charuco_sheet, flat, overhead, photograph
from calibration.table import find_table
from calibration.targets import Board
from vision.frames import Image

BOARD = Board(columns=7, rows=5, square_mm=30, marker_mm=22, dictionary="DICT_5X5_100")


@cache
def picture() -> Image:
    camera = overhead((960, 540), height_mm=600.0, tilt_deg=(8.0, 4.0, 0.0), off_px=(0.0, 0.0), k1=-0.08)
    x, y = camera.table_mm([[480, 270]])[0]
    return photograph(camera, [flat(charuco_sheet(BOARD), float(x), float(y), 25.0)], seed=2, noise=2.0)


def seen(board: Board) -> Pattern:
    found = find_board(picture(), board)
    assert found is not None
    return found


def test_the_board_itself_is_not_complained_about_nor_small_errors_of_a_ruler() -> None:
    assert unlike([picture()], [seen(BOARD)], BOARD) is None
    nearly = replace(BOARD, marker_mm=21.5)
    assert unlike([picture()], [seen(nearly)], nearly) is None


@pytest.mark.parametrize(("wrong", "why"), [
    (dict(marker_mm=17.0), "would be 0.57 of a square and the pictures show 0.7"),
    (dict(square_mm=25.0), "would be 0.88 of a square and the pictures show 0.7"),
    (dict(rows=4), "it has markers 0 to 13 and the pictures show 16 too")])
def test_wrong_sizes_are_refused_where_the_pictures_contradict_them(wrong: dict[str, float], why: str) -> None:
    board = replace(BOARD, **wrong)  # type: ignore[arg-type]
    assert why in str(unlike([picture()], [seen(board)], board))
    with pytest.raises(CalibrationError, match="--board charuco:7x"):
        find_table(picture(), usual_lens((960, 540)), ("charuco",), board=board)


@pytest.mark.parametrize(("wrong", "what"), [
    (dict(columns=8, rows=6), "a board of 7x5 squares with markers of DICT_5X5_50"),
    (dict(columns=5, rows=7), "a board of 7x5 squares"),
    (dict(dictionary="DICT_4X4_50"), "a board of 7x5 squares with markers of DICT_5X5_50")])
def test_another_board_is_named(wrong: dict[str, int | str], what: str) -> None:
    board = replace(BOARD, **wrong)  # type: ignore[arg-type]
    with pytest.raises(CalibrationError, match=f"seen in 0 of 1 pictures.*what is seen is {what}"):
        calibrate_lens([("a", picture())], board)


def test_nothing_is_named_where_there_is_nothing() -> None:
    assert instead([np.full((540, 960, 3), 120, np.uint8)], BOARD) == ""
