"""Figures that lie on the table beside the board: counted by their paint, and not lost while something hides them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import cv2
import numpy as np
import pytest
from drawings import drawing

from vision.beside import BesideSense, Mask
from vision.frames import Image
from vision.lattice import Lattice, apply
from vision.looks import BesideLook
from vision.paint import PAINTS

PX, SIZE = 40, (640, 400)  # a tile's side and the picture
COLOURS = ("red", "blue", "yellow")
CLOTHS = {"grey": (150, 150, 150), "wood": (70, 110, 150), "dark": (60, 50, 45)}
BOARD = {(6, 4): "base.D", (7, 4): "base.U", (7, 5): "base.E"}
STILL = np.zeros((10, 16), bool)
Place = tuple[float, float]


def board(*more: tuple[int, int], px: float = PX) -> Lattice:
    return Lattice(grid=np.diag([px, px, 1.0]), shifts={at: (0.0, 0.0, 0.0) for at in (*BOARD, *more)})


def picture(figures: Mapping[Place, str], cloth: str = "grey") -> Image:
    """A table with some tiles, and figures of these colours at places in tiles."""
    noise = np.random.default_rng(4).normal(0, 4, (SIZE[1], SIZE[0], 3))
    out = np.clip(cv2.GaussianBlur(noise, (0, 0), 1.5) + CLOTHS[cloth], 0, 255).astype(np.uint8)
    for (x, y), tile in BOARD.items():
        out[y * PX:(y + 1) * PX, x * PX:(x + 1) * PX] = drawing(tile, PX)
    for (u, v), colour in figures.items():
        cv2.circle(out, (round(u * PX), round(v * PX)), round(0.18 * PX), PAINTS[colour].rgb[::-1], -1, cv2.LINE_AA)
    return np.asarray(out, np.uint8)


class Sense:
    """Looks at one picture after the other, some seconds apart."""

    def __init__(self, colours: Sequence[str] = COLOURS) -> None:
        self.sense, self.now_s = BesideSense(colours), 0.0

    def look(self, bgr: Image, lies: Lattice | None = None, restless: Mask = STILL) -> tuple[BesideLook, ...]:
        self.now_s += 5.0
        seen = self.sense.look(bgr, lies or board(), restless, self.now_s)
        assert seen is not None
        return seen


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
    seen = Sense().look(picture({**HEAP, **OTHER}, cloth))
    assert counted(seen, (2.3, 2.3)) == {"red": 3, "blue": 1}
    assert counted(seen, (13.3, 7.3)) == {"blue": 2, "yellow": 1}
    assert sum(b.count for b in seen) == 7


def test_figures_on_the_board_and_on_its_edge_are_none() -> None:
    seen = Sense().look(picture({(6.5, 4.5): "red", (6.0, 4.5): "blue", **OTHER}))
    assert sum(b.count for b in seen) == 3


def test_parts_of_something_larger_are_none() -> None:
    """A mug, a hand, and a score track with figures on it."""
    bgr = picture({})
    cv2.circle(bgr, (2 * PX, 2 * PX), round(0.9 * PX), PAINTS["red"].rgb[::-1], -1)
    cv2.rectangle(bgr, (12 * PX, 0), (13 * PX, 3 * PX), (140, 170, 220), -1)
    cv2.circle(bgr, (round(12.5 * PX), 3 * PX), round(0.2 * PX), PAINTS["yellow"].rgb[::-1], -1)
    cv2.rectangle(bgr, (round(1.2 * PX), 6 * PX), (round(4.8 * PX), 9 * PX), (60, 140, 190), -1)
    cv2.circle(bgr, (3 * PX, 7 * PX), round(0.2 * PX), PAINTS["blue"].rgb[::-1], -1)
    assert not Sense().look(bgr)


@pytest.mark.parametrize("paint", [(200, 60, 200), (90, 90, 90), (110, 60, 110)])
def test_things_of_no_players_paint_are_none(paint: tuple[int, int, int]) -> None:
    bgr = picture({})
    cv2.circle(bgr, (3 * PX, 3 * PX), round(0.2 * PX), paint, -1, cv2.LINE_AA)
    assert not Sense().look(bgr)


def test_what_a_hand_hides_still_lies_there_until_the_table_is_seen() -> None:
    sense = Sense()
    sense.look(picture({**HEAP, **OTHER}))
    covered = picture(OTHER)
    cv2.rectangle(covered, (0, PX), (4 * PX, 4 * PX), (140, 170, 220), -1)
    assert counted(sense.look(covered), (2.3, 2.3)) == {"red": 3, "blue": 1}
    moving = cv2.rectangle(np.zeros((400, 640), np.uint8), (0, PX), (4 * PX, 4 * PX), 1, -1) > 0
    assert counted(sense.look(picture(OTHER), restless=moving), (2.3, 2.3)) == {"red": 3, "blue": 1}
    left = {place: colour for place, colour in HEAP.items() if colour != "blue"}
    assert counted(sense.look(picture({**left, **OTHER})), (2.3, 2.3)) == {"red": 3}
    assert counted(sense.look(picture(OTHER)), (2.3, 2.3)) == {}


def test_figures_that_are_seen_hide_no_others() -> None:
    """A heap is put in order: where one lay another one lies now."""
    sense = Sense()
    sense.look(picture({**HEAP, **OTHER}))
    moved: dict[Place, str] = {(2.8, 2.2): "red", (2.35, 2.1): "red", (2.1, 2.9): "red", (1.6, 2.0): "blue"}
    assert counted(sense.look(picture({**moved, **OTHER})), (2.3, 2.3)) == {"red": 3, "blue": 1}
    row: dict[Place, str] = {(1.5 + 0.36 * n, 2.0): "red" for n in range(3)}
    sense = Sense()
    sense.look(picture({(1.2 + 0.6 * n, 2.0): "red" for n in range(3)}))
    assert counted(sense.look(picture(row)), (2.0, 2.0), 2.0)["red"] == 3


def test_what_reaches_over_the_pictures_edge_is_an_arm() -> None:
    bgr = picture(OTHER)
    cv2.rectangle(bgr, (0, PX), (round(0.5 * PX), round(1.8 * PX)), PAINTS["blue"].rgb[::-1], -1)
    assert sum(b.count for b in Sense().look(bgr)) == 3


def test_it_does_not_look_more_often_than_needed_nor_without_paints_or_tiles() -> None:
    sense, bgr = BesideSense(COLOURS), picture(HEAP)
    assert sense.look(bgr, board(), STILL, 1.0) and sense.look(bgr, board(), STILL, 2.0) is None
    assert sense.look(bgr, board(), STILL, 5.0)
    assert sense.look(bgr, Lattice(grid=np.eye(3)), STILL, 9.0) is None
    assert BesideSense(()).look(bgr, board(), STILL, 9.0) is None


def test_a_camera_that_came_nearer_has_all_places_anew() -> None:
    sense = Sense()
    sense.look(picture(HEAP))
    moving = np.ones((10, 16), bool)
    assert sum(b.count for b in sense.look(picture({}), restless=moving)) == 4
    assert sum(b.count for b in sense.look(picture({}), board(px=1.02 * PX), moving)) == 4
    assert not sense.look(picture({}), board(px=1.3 * PX), moving)


def test_where_a_tile_lies_now_none_is_hidden() -> None:
    sense = Sense()
    sense.look(picture({(8.7, 4.5): "red"}))
    assert sense.look(picture({})) == ()
    sense.look(picture({(8.7, 4.5): "red"}))
    assert sense.look(picture({(8.7, 4.5): "red"}), board((8, 4))) == ()


def test_places_are_in_tiles_of_the_picture_whatever_its_resolution() -> None:
    seen = Sense().look(picture(HEAP))
    large = cv2.resize(picture(HEAP), None, fx=2, fy=2, interpolation=cv2.INTER_LINEAR)
    twice = Sense().look(np.asarray(large, np.uint8), board(px=2 * PX))
    assert [b.colour for b in seen] == [b.colour for b in twice]
    assert np.allclose([b.at for b in seen], [b.at for b in twice], atol=0.05)


def test_the_square_around_a_place_has_it_in_its_middle() -> None:
    sense = Sense()
    sense.look(picture(HEAP))
    assert np.allclose(apply(sense.sense.around((2.0, 3.0)), [(0.5, 0.5), (1.0, 0.5)]), [(80, 120), (100, 120)])
