"""A board that is found anew keeps the names of its squares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pytest
from test_tracker_hands import BLANK, HAND, SIDE, START, TILES, TwoTiles, picture, watched

from scoring.tiles import Square
from vision.board_search import BoardSearch
from vision.frames import Frame, Image
from vision.lattice import Array, Lattice, apply, named_as, names, renamed
from vision.registration import Registration
from vision.senses import TileEvidence
from vision.stillness import Stillness
from vision.tracker import Tracker

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


@pytest.mark.parametrize(("scale", "same"), [(0.87, True), (0.77, False), (1.15, True), (1.3, False)])
def test_a_thing_of_another_size_in_a_tiles_place_has_not_its_name(scale: float, same: bool) -> None:
    one = board(((0, 0),))
    about = np.array([[scale, 0, 0.5 - 0.5 * scale], [0, scale, 0.5 - 0.5 * scale], [0, 0, 1.0]])
    thing = Lattice(grid=GRID @ about, shifts=dict(one.shifts))
    assert (named_as(thing, poses(one)) is not None) == same


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
    search.carry(half)
    small = Lattice(grid=half @ GRID, shifts={(0, 0): BOARD[0, 0], (1, 0): BOARD[1, 0]})
    again = search.track(renamed(small, lambda at: (at[0] + 3, at[1]), 0), {})
    assert search.number == number and again.shifts.keys() == {(0, 0), (1, 0)}


def test_a_board_that_was_pushed_has_its_names_where_it_lies_now() -> None:
    """By one tile: what lies in the places of before is another tile of it."""
    search = Finds().search
    search.track(board(), {})
    number = search.number
    search.track(elsewhere(board(((0, 0),)), 500.0), poses(board()))  # a tile in a hand
    pushed = np.linalg.inv(GRID @ np.array([[1, 0, 1], [0, 1, 0], [0, 0, 1.0]]) @ np.linalg.inv(GRID))
    search.carry(pushed)
    there = Lattice(grid=pushed @ GRID, shifts=dict(BOARD))
    again = search.track(renamed(there, lambda at: (at[0] + 2, at[1]), 0), {})
    assert search.number == number and again.shifts.keys() == BOARD.keys()


def test_a_tracker_moves_the_names_with_a_table_that_it_follows() -> None:
    tracker = watched(0.5)[1]
    number, frame = tracker.search.number, Frame(id=1, t_s=1.0, source="", bgr=BLANK)
    held = elsewhere(Lattice(grid=START, shifts={(0, 0): (0.0, 0.0, 0.0)}), 5.0 * SIDE)
    assert tracker.begin(frame, held).look is not None and tracker.search.number != number
    away = np.array([[1, 0, 1.0 * SIDE], [0, 1, 0], [0, 0, 1]])
    tracker.register.find = lambda bgr, board=(): Registration(  # type: ignore[method-assign]
        poses={at: away @ pose for at, pose in tracker.poses.items()}, seen=frozenset(tracker.poses), moved=away)
    tracker._register(frame)
    found = Lattice(grid=away @ START, shifts=dict.fromkeys(((3, 0), (4, 0)), (-3.0, 0.0, 0.0)))
    tracker.begin(frame, found)
    assert tracker.search.number == number and tracker.poses.keys() == {(0, 0), (1, 0)}


def held_beside(tracked: tuple[Square, ...]) -> tuple[BoardSearch, Lattice]:
    """A board is known; a tile over the square to the right of its first one is taken for a board, and these squares
    are tracked with it afterwards."""
    search = Finds().search
    search.track(board(((0, 0), (-1, 0))), {})
    held = renamed(board(((1, 0), *tracked)), lambda at: (at[0] - 1, at[1]), 0)
    search.track(Lattice(grid=held.grid, shifts={(0, 0): held.shifts[0, 0]}), poses(board(((0, 0), (-1, 0)))))
    return search, held


@pytest.mark.parametrize(("tracked", "known"), [
    (((0, 0),), True), (((0, 0), (-1, 0)), True), (((1, 1),), False), (((1, 1), (0, 0)), False)])
def test_a_board_has_its_names_as_soon_as_half_of_its_tiles_lie_as_before(tracked: tuple[Square, ...],
                                                                          known: bool) -> None:
    search, held = held_beside(tracked)
    number, again = search.number, search.known_before(held)
    assert (again is not None) == known and (search.number < number) == known
    if again is not None:
        assert again.shifts.keys() == {(1, 0), *tracked}


def test_what_was_rejected_does_not_name_a_board_later() -> None:
    """A tile in a hand was taken for the board first, and is laid now where it was held."""
    search = Finds().search
    search.track(board(((1, 0),)), {})
    search.refuse(poses(board(((1, 0),))))
    assert search.elsewhere(BLANK) is None  # whereupon it is searched for everywhere again
    search.track(board(((0, 0),)), {})
    number = search.number
    assert search.known_before(board(((0, 0), (1, 0)))) is None and search.number == number


class TilesAt(TwoTiles):
    """A sense that sees tiles at these places (px, of their middles), whatever their squares are called."""

    def __init__(self, *middles: tuple[float, float]) -> None:
        super().__init__()
        self.middles = list(middles)

    def look(self, bgr: Image, poses: Mapping[Square, Array]) -> dict[Square, TileEvidence]:
        there = {at for at, pose in poses.items()
                 if any(np.hypot(*(apply(pose, [(0.5, 0.5)])[0] - middle)) < SIDE / 4 for middle in self.middles)}
        return {at: replace(e, there=7.0 if at in there else -7.0) for at, e in super().look(bgr, poses).items()}


MIDDLE, RIGHT = (4.5 * SIDE, 4.5 * SIDE), (5.5 * SIDE, 4.5 * SIDE)  # of the start tile, and of the one beside it


def begun() -> tuple[TilesAt, Tracker, Iterator[Frame]]:
    """A tracker that has found a start tile, its sense, and the frames that follow: they show a tile beside it, too."""
    sense = TilesAt(MIDDLE)
    tracker = Tracker(sense, BoardSearch(lambda bgr: None), lambda bgr, poses, lattice: {})  # type: ignore[arg-type]
    tracker.stillness = Stillness(BLANK.shape)
    frames = (Frame(id=n, t_s=n / 4, source="", bgr=picture(TILES)) for n in range(100))
    tracker.begin(replace(next(frames), bgr=picture({(0, 0): TILES[0, 0]})),
                  Lattice(grid=START, shifts={(0, 0): (0.0, 0.0, 0.0)}))
    return sense, tracker, frames


def jumps(tracker: Tracker, frame: Frame) -> None:
    """The start tile's snapshot matches one tile to its right."""
    away = np.array([[1, 0, 1.0 * SIDE], [0, 1, 0], [0, 0, 1]])
    found = Registration(poses={(0, 0): away @ START}, seen=frozenset({(0, 0)}), moved=away)
    tracker.register.find = lambda bgr, board=(): found  # type: ignore[method-assign]
    tracker._register(frame)


def test_a_tracker_names_a_board_anew_when_older_tiles_come_to_sight() -> None:
    """A tile was held where it is laid now, and taken for the board. The look has the names of the board."""
    sense, tracker, frames = begun()
    number, sense.middles = tracker.search.number, [RIGHT]  # an arm is over the start tile
    held = renamed(Lattice(grid=START, shifts={(1, 0): (0.0, 0.0, 0.0)}), lambda at: (at[0] - 1, at[1]), 0)
    tracker.begin(replace(next(frames), bgr=picture({**TILES, (0, 0): HAND})), held)
    assert tracker.search.number != number and tracker.poses.keys() == {(0, 0)}
    sense.middles = [MIDDLE, RIGHT]
    look = next(look for frame in frames if (look := tracker.feed(frame).look) is not None
                and any(s.there > 0 for at, s in look.squares.items() if at != (0, 0)))
    assert look.board_number == number and look.whole and look.squares[1, 0].there > 0
    assert tracker.poses.keys() == {(0, 0), (1, 0)}


def test_a_start_tile_whose_print_is_seen_in_a_hand_beside_it_keeps_its_name() -> None:
    """The hand was over it, and the tile in it, of the same kind, matched its snapshot: it was laid there then."""
    sense, tracker, frames = begun()
    number, sense.middles = tracker.search.number, [RIGHT]
    jumps(tracker, next(frames))
    assert tracker.search.number != number and tracker.poses.keys() == {(0, 0)}
    sense.middles = [MIDDLE, RIGHT]
    while len(tracker.poses) < 2:
        tracker.feed(next(frames))
    assert tracker.search.number == number and tracker.poses.keys() == {(0, 0), (1, 0)}
    assert np.allclose(apply(tracker.poses[0, 0], [(0.5, 0.5)]), MIDDLE, atol=0.1 * SIDE)


@pytest.mark.parametrize("hidden", [True, False])
def test_a_start_tile_that_was_pushed_from_where_the_bare_table_is_seen_is_the_same(hidden: bool) -> None:
    _, tracker, frames = begun()
    number = tracker.search.number
    jumps(tracker, replace(next(frames), bgr=picture({(1, 0): TILES[1, 0], **({(0, 0): HAND} if hidden else {})})))
    assert (tracker.search.number != number) == hidden


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
