"""A part of the board is pushed away from the rest while a hand covers some of its tiles."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from test_astray import SKIN, Table, moved, pose, table

from scoring.tiles import Square
from vision.frames import Image
from vision.lattice import Array, apply

KINDS = [f"base.{letter}" for letter in "DVKEUBJLOPQGHINRST"]
ROWS = {(x, y): (KINDS[2 * (x + 2) + y], 0) for x in range(-2, 3) for y in (0, 1)}
GRID = {(x, y): (KINDS[3 * (x + 2) + y + 1], 0) for x in range(-2, 4) for y in (-1, 0, 1)}


def shown(board: dict[Square, tuple[str, int]], pushed: set[Square], motion: Array, hidden: set[Square],
          part: float = 1.0) -> Image:
    """The board with its ``pushed`` tiles, and hands on a ``part`` of the ``hidden`` ones, from their western edge."""
    motions = dict.fromkeys(pushed, motion)
    picture = table(board, motions)
    for at in hidden:
        corners = np.array([(0, 0), (part, 0), (part, 1), (0, 1)])
        cv2.fillConvexPoly(picture, apply(pose(at, motions.get(at, np.eye(3))), corners).round().astype(np.int32), SKIN)
    return picture


def astray(watched: Table, board: dict[Square, tuple[str, int]], pushed: set[Square], motion: Array) -> set[Square]:
    """The tiles that are not where they lie."""
    assert watched.tracker.poses.keys() == board.keys()
    return {at for at in board if watched.off(at, motion if at in pushed else np.eye(3)) > 0.05}


@pytest.mark.parametrize("hidden", [{(2, 0)}, {(1, 0)}, {(2, 0), (2, 1)}])
@pytest.mark.parametrize("by", [0.45, 0.75, 0.95])
def test_what_a_hand_covers_is_pushed_along(hidden: set[Square], by: float) -> None:
    """Where it was before, it would be in the way of the others."""
    watched, pushed, motion = Table(ROWS), {at for at in ROWS if at[0] >= 1}, moved(by, 0.05)
    watched.show(shown(ROWS, pushed, motion, hidden))
    assert not astray(watched, ROWS, pushed, motion)
    bare = shown(ROWS, pushed, motion, set())
    watched.show(bare, frames=20)
    assert not astray(watched, ROWS, pushed, motion)
    assert watched.tracker.register.alike(bare, watched.tracker.poses).keys() == ROWS.keys()


@pytest.mark.parametrize(("pushed", "part"), [({(3, -1), (3, 0), (3, 1)}, 1.0), ({(3, -1), (3, 0), (3, 1)}, 0.78),
                                              ({(3, 0), (3, 1)}, 1.0)])
def test_what_a_hand_covers_stays_where_only_the_edge_was_pushed_away(pushed: set[Square], part: float) -> None:
    watched, motion = Table(GRID), moved(0.45, 0.05)
    hidden = {(x, y) for x in (1, 2) for y in (-1, 0, 1)}
    for covered in (hidden, set[Square]()):
        watched.show(shown(GRID, pushed, motion, covered, part), frames=12)
        assert not astray(watched, GRID, pushed, motion)
