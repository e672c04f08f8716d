"""A board that is found anew keeps the names of its squares."""

from __future__ import annotations

import numpy as np
import pytest
from test_tracker_hands import watched

from scoring.tiles import Square
from vision.board_search import BoardSearch
from vision.frames import Frame, Image
from vision.lattice import Array, Lattice, apply, named_as, names, renamed

GRID = np.array([[60.0, 4, 300], [-3, 58, 260], [1e-4, 2e-4, 1]])
BOARD: dict[Square, tuple[float, float, float]] = {
    (0, 0): (0.0, 0.0, 0.0), (1, 0): (0.05, -0.03, 0.04), (1, 1): (0.0, 0.1, -0.1), (-1, 0): (0.0, 0.02, 0.02)}


def board(squares: tuple[Square, ...] = tuple(BOARD)) -> Lattice:
    return Lattice(grid=GRID.copy(), shifts={at: BOARD[at] for at in squares})


def poses(lattice: Lattice) -> dict[Square, Array]:
    return {at: lattice.pose(at, shift) for at, shift in lattice.shifts.items()}


def elsewhere(lattice: Lattice, px: float) -> Lattice:
    return Lattice(grid=np.array([[1, 0, px], [0, 1, 0], [0, 0, 1.0]]) @ lattice.grid, shifts=dict(lattice.shifts))


@pytest.mark.parametrize("quarter", range(4))
def test_a_board_counted_from_another_tile_in_another_direction_has_its_names_back(quarter: int) -> None:
    again = named_as(renamed(board(), names(quarter, (-7, 3)), quarter), poses(board()))
    assert again is not None and again[0] == len(BOARD) and again[1].shifts.keys() == BOARD.keys()
    for at, pose in poses(again[1]).items():
        corner = [(0.0, 0.0), (1.0, 0.0)]
        assert np.abs(apply(pose, corner) - apply(poses(board())[at], corner)).max() < 0.05


def test_most_of_its_tiles_name_a_board() -> None:
    """One of them was carried to where another one lay."""
    found = renamed(board(), lambda at: (at[0] + 1, at[1]), 0)
    found.shifts[5, 5] = found.shift_of((5, 5), board().pose((-1, 0), BOARD[-1, 0]))
    again = named_as(found, poses(board()))
    assert again is not None and again[1].shifts.keys() >= BOARD.keys()


@pytest.mark.parametrize(("px", "same"), [(12.0, True), (40.0, False)])
def test_where_no_tile_lies_in_its_place_there_are_no_names(px: float, same: bool) -> None:
    one = board(((0, 0),))
    assert (named_as(elsewhere(one, px), poses(one)) is not None) == same


class Finds:
    """A search that finds what it is given."""

    def __init__(self) -> None:
        self.next: Lattice | None = None
        self.given: list[Image] = []
        self.search = BoardSearch(self._find)

    def _find(self, bgr: Image) -> Lattice | None:
        self.given.append(bgr)
        return self.next


def test_what_was_taken_for_the_board_meanwhile_does_not_cost_it_its_names() -> None:
    finds = Finds()
    search = finds.search
    search.track(board(((0, 0),)), {})
    number = search.number
    for n in range(3):  # a stack, and tiles in hands
        other = search.track(elsewhere(board(((0, 0),)), 150.0 + 90 * n), poses(board(((0, 0),))) if n == 0 else {})
        assert search.number != number
        search.refuse(poses(other))
    found = renamed(board(((0, 0), (1, 0))), lambda at: (at[0] - 1, at[1]), 0)
    again = search.track(found, {})
    assert search.number == number and again.shifts.keys() == {(0, 0), (1, 0)}


def test_a_tile_in_a_hand_that_is_laid_beside_the_board_does_not_name_it() -> None:
    search = Finds().search
    search.track(board(((0, 0),)), {})
    number = search.number
    held = search.track(renamed(board(((1, 0),)), lambda at: (at[0] - 1, at[1]), 0), poses(board(((0, 0),))))
    assert search.number != number and held.shifts.keys() == {(0, 0)}
    again = search.track(board(((0, 0), (1, 0))), poses(held))
    assert search.number == number and again.shifts.keys() == {(0, 0), (1, 0)}


def test_a_board_that_was_refused_is_known_again_in_a_picture_of_another_size() -> None:
    search = Finds().search
    first = search.track(board(((0, 0),)), {})
    number = search.number
    search.refuse(poses(first))
    half = np.diag([0.5, 0.5, 1.0])
    search.resize(half)
    small = Lattice(grid=half @ GRID, shifts={(0, 0): BOARD[0, 0], (1, 0): BOARD[1, 0]})
    again = search.track(renamed(small, lambda at: (at[0] + 3, at[1]), 0), {})
    assert search.number == number and again.shifts.keys() == {(0, 0), (1, 0)}


def test_a_start_board_names_its_own_squares() -> None:
    search = Finds().search
    search.track(board(), {})
    whole = renamed(board(), lambda at: (at[0] + 1, at[1]), 0)
    whole.board = frozenset(whole.shifts)
    assert search.track(whole, poses(board())) is whole
    number = search.number
    part = renamed(board(), lambda at: (at[0] + 4, at[1]), 0)  # without the start board, which is occluded
    assert search.track(part, poses(whole)).shifts.keys() == whole.shifts.keys() and search.number == number


def test_a_tracker_tells_which_board_its_look_is_of() -> None:
    tracker = watched(0.5)[1]
    frame = Frame(id=1, t_s=1.0, source="", bgr=np.zeros((540, 720, 3), np.uint8))
    assert tracker.lattice is not None
    same = renamed(tracker.lattice, lambda at: (at[0] + 2, at[1]), 0)
    first = tracker._look(frame, [(0, 0)], whole=False).board_number
    look = tracker.begin(frame, same).look
    assert look is not None and look.board_number == first and (0, 0) in look.squares
    look = tracker.begin(frame, elsewhere(same, 400.0)).look
    assert look is not None and look.board_number != first
