"""Checks whether the board in a picture is the specified one, and if not, which one it is."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from calibration.boards import Array, Pattern, as_grey, board_px_to_mm, find_board, marker_corners
from calibration.targets import Board
from vision.frames import Image

_FAMILIES = (("DICT_4X4", (50, 100, 250, 1000)), ("DICT_5X5", (50, 100, 250, 1000)), ("DICT_6X6", (50, 100, 250, 1000)),
             ("DICT_7X7", (50, 100, 250, 1000)), ("DICT_APRILTAG_36h11", ()), ("DICT_ARUCO_ORIGINAL", ()))
_FEWEST = 6  # least number of markers that is not accidental
_MOST_SIDE = 30  # most squares along a side of a guessed board
_UNLIKE = 0.06  # tolerance of the ratio of marker to square: print, blur and ink spread stay below
_BLUR_PX = 1.5  # measurement error of a marker's side
_LOOK_AT = 4  # number of pictures checked


def unlike(pictures: Sequence[Image], patterns: Sequence[Pattern], board: Board) -> str | None:
    """The error in the specified sizes, from pictures in which the board was found; None if there is none."""
    shares, sides, foreign = [], [], set[int]()
    for picture, pattern in list(zip(pictures, patterns, strict=True))[:_LOOK_AT]:
        seen = marker_corners(as_grey(picture), board.dictionary)
        foreign |= {n for n in seen if n >= board.columns * board.rows // 2}
        for n, corners in seen.items():
            near = int(np.argmin(np.linalg.norm(pattern.px - corners.mean(axis=0), axis=1)))
            if n not in foreign and len(pattern.px) >= _FEWEST:
                on = board_px_to_mm(pattern, near)(corners - pattern.px[near])
                shares.append(_side(on) / board.square_mm)
                sides.append(_side(corners))
    said = board.marker_mm / board.square_mm
    share = float(np.median(shares)) if len(shares) >= _FEWEST else said
    if abs(share / said - 1) > max(_UNLIKE, _BLUR_PX / float(np.median(sides or [1.0]))):
        return (f"--board {board}: its markers would be {said:.2f} of a square and the pictures show {share:.2f}; "
                "measure a square and a marker again")
    if len(foreign) >= 3:
        return (f"--board {board}: it has markers 0 to {board.columns * board.rows // 2 - 1} and the pictures show "
                f"{max(foreign)} too; the board is larger, count its squares")
    return None


def instead(pictures: Sequence[Image], board: Board) -> str:
    """The end of a sentence that names the board seen instead of the specified one; empty if none is."""
    for picture in pictures[:_LOOK_AT]:
        grey = as_grey(picture)
        families = sorted(_FAMILIES, key=lambda f: not board.dictionary.startswith(f[0]))
        for family, sizes in families:
            seen = marker_corners(grey, f"{family}_{sizes[-1]}" if sizes else family)
            if len(seen) < _FEWEST:
                continue
            dictionary = next((f"{family}_{s}" for s in sizes if max(seen) < s), family)
            squares = _squares(grey, board, dictionary, max(seen))
            if squares is not None:
                return f"; what is seen is a board of {squares[0]}x{squares[1]} squares with markers of {dictionary}"
            if not board.dictionary.startswith(family):
                return f"; what is seen are markers of {dictionary}"
    return ""


def _squares(grey: Image, board: Board, dictionary: str, last: int) -> tuple[int, int] | None:
    """Columns and rows of the board with these markers, if the last one is seen."""
    best: tuple[int, tuple[int, int]] | None = None
    for count in range(2 * last + 2, 2 * last + 4):
        for columns in range(2, _MOST_SIDE + 1):
            if count % columns or not 2 <= count // columns <= _MOST_SIDE:
                continue
            tried = Board(columns=columns, rows=count // columns, square_mm=board.square_mm, marker_mm=board.marker_mm,
                          dictionary=dictionary)
            found = find_board(grey, tried)
            if found is not None and (best is None or len(found.px) > best[0]):
                best = len(found.px), (tried.columns, tried.rows)
    return None if best is None or best[0] < _FEWEST else best[1]


def _side(corners: Array) -> float:
    """The side of a square of the same area."""
    x, y = corners.T
    return float(np.sqrt(abs(cv2.contourArea(np.column_stack([x, y]).astype(np.float32)))))
