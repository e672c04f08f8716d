"""Figures that lie on the table beside the board: counted by their paint, and not lost while something hides them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import cv2
import numpy as np
import pytest
from drawings import drawing

from vision.beside import BesideSense, around
from vision.frames import Image
from vision.lattice import Array, apply
from vision.looks import BesideLook
from vision.paint import PAINTS

PX, SIZE = 40, (640, 400)  # a tile's side and the picture
COLOURS = ("red", "blue", "yellow")
CLOTHS = {"grey": (150, 150, 150), "wood": (70, 110, 150), "dark": (60, 50, 45)}
BOARD = {(6, 4): "base.D", (7, 4): "base.U", (7, 5): "base.E"}
STILL = np.zeros((10, 16), bool)
Place = tuple[float, float]


def pose(at: tuple[int, int]) -> Array:
    return np.array([[PX, 0, at[0] * PX], [0, PX, at[1] * PX], [0, 0, 1.0]])


POSES = [pose(at) for at in BOARD]


def picture(figures: Mapping[Place, str], cloth: str = "grey") -> Image:
    """A table with some tiles, and figures of these colours at places in tiles."""
    noise = np.random.default_rng(4).normal(0, 4, (SIZE[1], SIZE[0], 3))
    out = np.clip(cv2.GaussianBlur(noise, (0, 0), 1.5) + CLOTHS[cloth], 0, 255).astype(np.uint8)
    for (x, y), tile in BOARD.items():
        out[y * PX:(y + 1) * PX, x * PX:(x + 1) * PX] = drawing(tile, PX)
    for (u, v), colour in figures.items():
        cv2.circle(out, (round(u * PX), round(v * PX)), round(0.2 * PX), PAINTS[colour].rgb[::-1], -1, cv2.LINE_AA)
    return np.asarray(out, np.uint8)


def counted(seen: tuple[BesideLook, ...], near: Place, reach: float = 1.2) -> Counter[str]:
    """How many of each colour lie near a place."""
    out: Counter[str] = Counter()
    for b in seen:
        if np.hypot(b.at[0] - near[0], b.at[1] - near[1]) < reach:
            out[b.colour] += b.count
    return out


HEAP: dict[Place, str] = {(2.0, 2.0): "red", (2.35, 2.1): "red", (2.1, 2.9): "red", (2.8, 2.2): "blue"}
OTHER: dict[Place, str] = {(13.0, 7.0): "blue", (13.6, 7.3): "blue", (13.2, 7.6): "yellow"}


@pytest.mark.parametrize("cloth", CLOTHS)
def test_figures_of_several_paints_are_counted(cloth: str) -> None:
    seen = BesideSense(COLOURS).look(picture({**HEAP, **OTHER}, cloth), POSES, STILL)
    assert counted(seen, (2.3, 2.3)) == {"red": 3, "blue": 1}
    assert counted(seen, (13.3, 7.3)) == {"blue": 2, "yellow": 1}
    assert sum(b.count for b in seen) == 7


def test_figures_on_the_board_and_on_its_edge_are_none() -> None:
    seen = BesideSense(COLOURS).look(picture({(6.5, 4.5): "red", (6.0, 4.5): "blue", **OTHER}), POSES, STILL)
    assert sum(b.count for b in seen) == 3


def test_parts_of_something_larger_are_none() -> None:
    """A mug, a hand, and a score track with figures on it."""
    bgr = picture({})
    cv2.circle(bgr, (2 * PX, 2 * PX), round(0.9 * PX), PAINTS["red"].rgb[::-1], -1)
    cv2.rectangle(bgr, (12 * PX, 0), (13 * PX, 3 * PX), (140, 170, 220), -1)
    cv2.circle(bgr, (round(12.5 * PX), 3 * PX), round(0.2 * PX), PAINTS["yellow"].rgb[::-1], -1)
    cv2.rectangle(bgr, (round(1.2 * PX), 6 * PX), (round(4.8 * PX), 9 * PX), (60, 140, 190), -1)
    cv2.circle(bgr, (3 * PX, 7 * PX), round(0.2 * PX), PAINTS["blue"].rgb[::-1], -1)
    assert not BesideSense(COLOURS).look(bgr, POSES, STILL)


@pytest.mark.parametrize("paint", [(200, 60, 200), (90, 90, 90), (110, 60, 110)])
def test_things_of_no_players_paint_are_none(paint: tuple[int, int, int]) -> None:
    bgr = picture({})
    cv2.circle(bgr, (3 * PX, 3 * PX), round(0.2 * PX), paint, -1, cv2.LINE_AA)
    assert not BesideSense(COLOURS).look(bgr, POSES, STILL)


def test_what_a_hand_hides_still_lies_there_until_the_table_is_seen() -> None:
    sense = BesideSense(COLOURS)
    sense.look(picture({**HEAP, **OTHER}), POSES, STILL)
    covered = picture(OTHER)
    cv2.rectangle(covered, (0, PX), (4 * PX, 4 * PX), (140, 170, 220), -1)
    assert counted(sense.look(covered, POSES, STILL), (2.3, 2.3)) == {"red": 3, "blue": 1}
    moving = cv2.rectangle(np.zeros((400, 640), np.uint8), (0, PX), (4 * PX, 4 * PX), 1, -1) > 0
    assert counted(sense.look(picture(OTHER), POSES, moving), (2.3, 2.3)) == {"red": 3, "blue": 1}
    left = {place: colour for place, colour in HEAP.items() if colour != "blue"}
    assert counted(sense.look(picture({**left, **OTHER}), POSES, STILL), (2.3, 2.3)) == {"red": 3}
    assert counted(sense.look(picture(OTHER), POSES, STILL), (2.3, 2.3)) == {}


def test_where_a_tile_lies_now_none_is_hidden() -> None:
    sense = BesideSense(COLOURS)
    sense.look(picture({(8.7, 4.5): "red"}), POSES, STILL)
    assert sense.look(picture({}), POSES, STILL) == ()
    sense.look(picture({(8.7, 4.5): "red"}), POSES, STILL)
    assert sense.look(picture({(8.7, 4.5): "red"}), [*POSES, pose((8, 4))], STILL) == ()


def test_places_are_in_tiles_of_the_picture_whatever_its_resolution() -> None:
    seen = BesideSense(COLOURS).look(picture(HEAP), POSES, STILL)
    large = cv2.resize(picture(HEAP), None, fx=2, fy=2, interpolation=cv2.INTER_LINEAR)
    twice = BesideSense(COLOURS).look(np.asarray(large, np.uint8), [np.diag([2.0, 2.0, 1.0]) @ p for p in POSES], STILL)
    assert [b.colour for b in seen] == [b.colour for b in twice]
    assert np.allclose([b.at for b in seen], [b.at for b in twice], atol=0.05)


def test_the_square_around_a_place_has_it_in_its_middle() -> None:
    assert np.allclose(apply(around((2.0, 3.0), PX), [(0.5, 0.5), (1.0, 0.5)]), [(80, 120), (100, 120)])
