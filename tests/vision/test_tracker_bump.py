"""A bumped camera is noticed although some squares come to rest, and are read, before the others."""

from __future__ import annotations

from test_astray import BOARD, Table, moved, pose, table

from vision.frames import Frame
from vision.lattice import Lattice

BUMP = moved(0.35, 0.15)
BUMPED = table(BOARD, dict.fromkeys(BOARD, BUMP))


def in_place(watched: Table) -> bool:
    return all(watched.off(at, BUMP) < 0.05 for at in BOARD)


def test_the_first_square_at_rest_does_not_make_the_new_picture_the_one_of_the_old_places() -> None:
    watched = Table(BOARD)
    watched.tracker._look(Frame(id=99, t_s=watched.frames * 0.5, source="", bgr=BUMPED), [(0, 1)], whole=False)
    watched.show(BUMPED)
    assert in_place(watched)


def test_a_board_of_which_one_half_is_due_at_a_time_has_moved_as_a_whole() -> None:
    """What the tiles' keypoints cannot match is searched for as a new board is."""
    watched = Table(BOARD)
    watched.tracker.register.find = lambda bgr, board=(): None  # type: ignore[method-assign]
    away = pose((0, 0), BUMP)
    watched.tracker.search.find = lambda bgr: Lattice(grid=away.copy(), shifts=dict.fromkeys(BOARD, (0.0, 0.0, 0.0)))
    for n in range(12):  # something moves over the tiles on the right
        flicker = BUMPED.copy()
        flicker[200:420, 452:540] = 255 * (n % 2)
        watched.show(flicker, frames=1)
    assert in_place(watched)


def test_a_tile_first_seen_while_the_board_was_moving_is_named_again_after_the_bump() -> None:
    """It is not among the tiles that are looked for where they lay before."""
    laid = {**BOARD, (2, 1): ("base.J", 0)}
    watched, bumped = Table(BOARD), table(laid, dict.fromkeys(laid, BUMP))
    early = table(laid, dict.fromkeys(BOARD, BUMP))  # as if it lay on the old grid
    watched.tracker._look(Frame(id=99, t_s=watched.frames * 0.5, source="", bgr=early), [(0, 1), (2, 1)], whole=False)
    assert (2, 1) in watched.tracker.poses
    watched.show(bumped, frames=12)
    assert watched.tracker.poses.keys() == laid.keys()
    assert in_place(watched) and watched.off((2, 1), BUMP) < 0.05
