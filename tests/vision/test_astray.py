"""Tiles that lie up to half a tile beside their places are found there."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from drawings import base_set, drawing

from scoring.tiles import Square, catalogue
from vision.astray import ASTRAY
from vision.attention import Attention
from vision.background import BareTable, Levels, alike, appearance
from vision.frames import Frame, Image
from vision.lattice import UNIT, Array, Lattice, apply
from vision.senses import TileEvidence
from vision.tracker import Tracker
from vision.tracking import make_tracker

PX, SIZE = 72, (960, 600)
GRID = np.array([[PX, 0, 350.0], [0, PX, 220.0], [0, 0, 1.0]])
BOARD = {(0, 0): ("base.D", 0), (1, 0): ("base.V", 0), (0, 1): ("base.U", 0), (-1, 0): ("base.D", 2),
         (0, -1): ("base.E", 2), (1, 1): ("base.K", 1)}
KINDS = [tile for name, tile in catalogue().items() if name.startswith("base.")]
SKIN, CLOTH, GRASS, TOWN = (120, 150, 200), (60, 70, 120), (62, 128, 108), (94, 127, 161)  # BGR


def moved(x: float, y: float, turn_deg: float = 0.0) -> Array:
    """A step in tiles, turned about the tile's middle, in the tile's own coordinates."""
    a = np.radians(turn_deg)
    about = np.array([[1, 0, 0.5 + x], [0, 1, 0.5 + y], [0, 0, 1.0]])
    rotation = np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1.0]])
    return np.asarray(about @ rotation @ np.array([[1, 0, -0.5], [0, 1, -0.5], [0, 0, 1.0]]))


def pose(at: Square, motion: Array) -> Array:
    return np.asarray(GRID @ np.array([[1, 0, at[0]], [0, 1, at[1]], [0, 0, 1.0]]) @ motion)


def table(board: dict[Square, tuple[str, int]], motions: dict[Square, Array], hand: Square | None = None,
          cloth: tuple[int, int, int] = CLOTH) -> Image:
    """A picture of the board, some tiles moved, with a hand over one square."""
    noise = np.random.default_rng(4).normal(0, 6, (SIZE[1], SIZE[0], 3)).astype(np.float32)
    out = np.clip(cv2.GaussianBlur(noise, (0, 0), 2) * 2 + cloth, 0, 255).astype(np.uint8)
    for at, (tile, rot) in board.items():
        art = np.rot90(drawing(tile, PX), -rot)
        full = pose(at, motions.get(at, np.eye(3))) @ np.diag([1 / PX, 1 / PX, 1.0])
        warped = cv2.warpPerspective(art, full, SIZE, flags=cv2.INTER_LINEAR)
        mask = cv2.warpPerspective(np.full(art.shape[:2], 255, np.uint8), full, SIZE)
        out = np.where(mask[..., None] > 127, warped, out)
    if hand is not None:
        cv2.fillConvexPoly(out, apply(pose(hand, np.eye(3)), UNIT * 1.5 - 0.25).astype(np.int32), SKIN)
    return np.asarray(out, np.uint8)


class Table:
    """A tracker that follows the board."""

    def __init__(self, board: dict[Square, tuple[str, int]], cloth: tuple[int, int, int] = CLOTH) -> None:
        self.tracker: Tracker = make_tracker(KINDS, base_set(), ("red", "blue"), None)
        self.frames = 0
        self.tracker.search.find = lambda bgr: Lattice(grid=GRID.copy(), shifts=dict.fromkeys(board, (0.0, 0.0, 0.0)))
        self.show(table(board, {}, cloth=cloth))
        self.tracker.search.find = lambda bgr: None

    def show(self, bgr: Image, frames: int = 6) -> None:
        """Half a second each."""
        for _ in range(frames):
            self.tracker.feed(Frame(id=self.frames, t_s=self.frames * 0.5, source="", bgr=bgr))
            self.frames += 1

    def off(self, at: Square, motion: Array) -> float:
        """How far a corner of the square's tile is from where it lies, in tiles."""
        return float(np.abs(apply(self.tracker.poses[at], UNIT) - apply(pose(at, motion), UNIT)).max()) / PX


BESIDE = [moved(0.1, 0.45), moved(0.48, -0.1), moved(0.3, 0.3, 14.0), moved(-0.1, 0.2, -20.0)]


@pytest.mark.parametrize("motion", BESIDE)
def test_a_tile_laid_beside_its_row_is_found(motion: Array) -> None:
    watched = Table(BOARD)
    watched.show(table({**BOARD, (2, 1): ("base.J", 0)}, {(2, 1): motion}), frames=20)
    assert watched.tracker.poses.keys() == {*BOARD, (2, 1)}
    assert watched.off((2, 1), motion) < 0.05
    later = {**BOARD, (2, 1): ("base.J", 0), (3, 1): ("base.L", 2)}  # and the next one, laid against it
    watched.show(table(later, {(2, 1): motion, (3, 1): motion}), frames=20)
    assert watched.tracker.poses.keys() == later.keys()


def test_a_tile_laid_beside_a_row_that_was_pushed_belongs_to_that_row() -> None:
    watched, row = Table(BOARD), moved(0.0, 0.35)
    watched.show(table(BOARD, {(1, 1): row}))
    laid = {**BOARD, (2, 1): ("base.J", 0)}
    lies = moved(-0.05, 0.6)  # on the grid it is nearer to the next square
    watched.show(table(laid, {(1, 1): row, (2, 1): lies}), frames=20)
    assert watched.tracker.poses.keys() == laid.keys() and watched.off((2, 1), lies) < 0.05


@pytest.mark.parametrize("motion", BESIDE[:3])  # the last one is seen from its place
def test_a_tile_that_a_hand_holds_beside_the_board_does_not_lie_there_yet(motion: Array) -> None:
    watched, held = Table(BOARD), {**BOARD, (2, 1): ("base.J", 0)}
    watched.show(table(held, {(2, 1): motion}))
    assert watched.tracker.poses.keys() == BOARD.keys()
    watched.show(table(held, {}))
    assert watched.tracker.poses.keys() == held.keys() and watched.off((2, 1), np.eye(3)) < 0.05


def test_a_tile_under_the_hand_that_pushed_its_neighbours_is_found_with_them() -> None:
    watched, pushed = Table(BOARD), moved(0.4, 0.1)
    watched.show(table(BOARD, {(1, 0): pushed}, hand=(1, 1)))
    watched.show(table(BOARD, dict.fromkeys([(1, 0), (1, 1)], pushed)))
    assert watched.off((1, 0), pushed) < 0.05 and watched.off((1, 1), pushed) < 0.05
    assert watched.off((0, 1), np.eye(3)) < 0.05


def test_a_tile_of_the_colours_of_the_table_is_found_where_it_was_pushed() -> None:
    watched, pushed = Table(BOARD, GRASS), moved(0.25, 0.2)
    both = dict.fromkeys([(1, 0), (1, 1)], pushed)
    watched.show(table(BOARD, {(1, 0): pushed}, hand=(1, 1), cloth=GRASS))
    watched.show(table(BOARD, both, cloth=GRASS))
    assert all(watched.off(at, pushed) < 0.05 for at in both)


@pytest.mark.parametrize("motion", [moved(0.1, 0.45), moved(0.3, 0.3), moved(0.35, -0.2, 12.0)])
def test_a_new_tile_of_the_colours_of_the_table_is_found_by_its_texture(motion: Array) -> None:
    watched, laid = Table(BOARD, TOWN), {**BOARD, (2, 0): ("base.C", 0)}
    watched.show(table(laid, {(2, 0): motion}, cloth=TOWN), frames=20)
    assert watched.tracker.poses.keys() == laid.keys() and watched.off((2, 0), motion) < 0.05


def test_joints_of_a_bare_table_are_not_taken_for_a_printed_tile() -> None:
    boards = table({}, {}, cloth=TOWN)
    at_joint = pose((3, 3), moved(0.0, 0.0))
    plain = appearance(boards, {(0, 0): at_joint})[0, 0]
    cv2.line(boards, (0, 470), (SIZE[0], 470), (30, 45, 60), 3)
    cv2.line(boards, (600, 0), (600, SIZE[1]), (30, 45, 60), 3)  # crosses the other one there
    assert alike(appearance(boards, {(0, 0): at_joint})[0, 0], np.median(plain, axis=(0, 1)), 16.0) > ASTRAY.all_bare
    town = table({(3, 3): ("base.C", 0)}, {}, cloth=TOWN)
    assert alike(appearance(town, {(0, 0): at_joint})[0, 0], np.median(plain, axis=(0, 1)), 16.0) < ASTRAY.bare


def test_a_patterned_cloth_that_was_pushed_looks_bare() -> None:
    stripes = np.where(np.arange(SIZE[0]) // 35 % 2, 60, 0)[None, :, None] + np.array(CLOTH)
    cloth = cv2.GaussianBlur(np.repeat(stripes, SIZE[1], axis=0).astype(np.uint8), (0, 0), 1.0)
    before, now = (appearance(cloth, {(0, 0): pose((3, 3), moved(x, 0.0))})[0, 0] for x in (0.0, 0.08))
    assert alike(now, before, 16.0) > ASTRAY.all_bare


def test_what_is_no_tile_is_not_found_beside_the_board() -> None:
    watched = Table(BOARD)
    watched.show(table(BOARD, {}, hand=(2, 1)))
    assert watched.tracker.poses.keys() == BOARD.keys()


def test_no_tile_is_found_where_the_table_is_bare() -> None:
    tracker, bgr, asked = Table(BOARD, GRASS).tracker, table(BOARD, {}, cloth=GRASS), []
    assert tracker.astray is not None and tracker.lattice is not None

    def bare_last(cells: Levels) -> bool:
        """Only where the tile that was found was pulled to."""
        asked.append(cells)
        return len(asked) == places

    places = 0
    assert tracker.astray(bgr, tracker.lattice, (1, 1), bare_last) is not None
    places, asked = len(asked), []
    assert tracker.astray(bgr, tracker.lattice, (1, 1), bare_last) is None
    assert tracker.astray(bgr, tracker.lattice, (1, 1), lambda cells: True) is None


def test_what_is_found_beside_the_board_is_no_tile_if_it_has_the_tables_texture(
        monkeypatch: pytest.MonkeyPatch) -> None:
    watched, laid = Table(BOARD), {**BOARD, (2, 1): ("base.J", 0)}
    monkeypatch.setattr(BareTable, "texture_odds", lambda self, at, cells, a: a.bare_odds if at == (2, 1) else 0.0)
    watched.show(table(laid, {(2, 1): BESIDE[0]}), frames=20)
    assert watched.tracker.poses.keys() == BOARD.keys()


@pytest.mark.parametrize("odds", [0.0, -6.0])
def test_nor_is_what_is_found_beside_the_place_of_a_tile_that_lay(monkeypatch: pytest.MonkeyPatch, odds: float) -> None:
    tracker, bgr, at = Table(BOARD).tracker, table(BOARD, {}), (1, 1)
    beside = pose(at, moved(0.3, 0.0))
    seen = {}

    def texture(self: BareTable, square: Square, cells: Levels, a: Attention) -> float:
        seen[square] = cells
        return odds

    monkeypatch.setattr(BareTable, "texture_odds", texture)
    unseen, found = (TileEvidence(pose=p, there=there, loglik=np.zeros((1, 4)), seen=1.0)
                     for p, there in ((pose(at, np.eye(3)), -5.0), (beside, 3.0)))
    tracker.astray = lambda *_: found
    told = list(tracker._astray(bgr, {at: unseen}, appearance(bgr, {at: unseen.pose}), {at}))
    assert [square for square, _ in told] == [at] * (odds == 0.0)
    assert (seen[at] == appearance(bgr, {at: beside})[at]).all()
