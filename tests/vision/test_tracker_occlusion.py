"""What stands beside a tile hides it also when only that tile is looked at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from test_figure_reading import BOARD, camera, stand, table
from test_tracker_light import LAID, START, OneTile, Table, picture

from scoring.tiles import Square, catalogue
from vision.board_search import BoardSearch
from vision.figures import Seen
from vision.frames import Image
from vision.lattice import Array, Lattice
from vision.looks import FigureLook
from vision.stillness import Stillness
from vision.tile_background import TileBackground
from vision.tracker import Tracker
from vision.tracking import make_tracker


class Sense(OneTile):
    """Remembers what was said to be hidden."""

    def __init__(self) -> None:
        self.hidden: Mapping[Square, Any] = {}

    def look_past(self, *given: Any) -> None:
        self.hidden = given[2]


def over_the_next(bgr: Image, poses: Mapping[Square, Array], lattice: Lattice) -> dict[Square, tuple[Seen, ...]]:
    """A figure on (1, 0) that reaches over the tile east of it."""
    mask = np.zeros((96, 96), bool)
    mask[40:50, 60:90] = True
    look = FigureLook(foot=(0.9, 0.5), spread=0.03, there=5.0, lying=0.0, colours={"red": 0.0})
    figure = Seen(look=look, px=(0.0, 0.0), outline_px=np.zeros((0, 2)), silhouette=mask, uvl=np.zeros(3))
    return {at: (figure,) if at == (1, 0) else () for at in poses}


def test_it_is_remembered_while_its_own_tile_is_not_looked_at() -> None:
    sense, seen = Sense(), Table()
    seen.tracker = Tracker(sense, BoardSearch(lambda bgr: None), over_the_next)  # type: ignore[arg-type]
    seen.tracker.stillness = Stillness(picture().shape)
    seen.tracker.begin(seen.frame(picture()), Lattice(grid=START, shifts=dict.fromkeys(LAID, (0.0, 0.0, 0.0))))
    assert sense.hidden[2, 0].any()
    seen.look(picture(), (2, 0))
    assert sense.hidden[2, 0].any()
    seen.tracker.figures = lambda bgr, poses, lattice: dict.fromkeys(poses, ())  # it has gone home
    seen.look(picture(), (1, 0))
    seen.look(picture(), (2, 0))
    assert (2, 0) not in sense.hidden


def test_it_is_no_background_of_the_next_tile(monkeypatch: pytest.MonkeyPatch) -> None:
    covered: list[Mapping[Square, Any]] = []
    monkeypatch.setattr(TileBackground, "update", lambda self, photo, poses, hidden: covered.append(dict(hidden)))
    eye = camera(0.45)
    bgr, poses = table(BOARD, eye)  # type: ignore[no-untyped-call]
    at = next(at for at in sorted(BOARD) if (at[0], at[1] - 1) in BOARD)
    beyond = at[0], at[1] - 1
    stand(bgr, eye, BOARD, at, (0.5, 0.12), "red")  # type: ignore[no-untyped-call]
    figures = make_tracker([catalogue()[tile] for tile, _ in BOARD.values()], None, ["red"], None).figures
    lattice = Lattice(grid=poses[at], shifts={})
    monkeypatch.setattr(Lattice, "pose", lambda self, square, shift: poses[square])
    lattice.shifts.update(dict.fromkeys(poses, (0.0, 0.0, 0.0)))
    figures(bgr, poses, lattice)
    figures(bgr, {beyond: poses[beyond]}, lattice)
    both, alone = covered
    assert both[beyond].any() and (alone[beyond] == both[beyond]).all()
