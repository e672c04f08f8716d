"""The tracker's background model when the light has changed and an arm occludes a square."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from scoring.tiles import Square, catalogue
from vision.board_search import BoardSearch
from vision.frames import Frame, Image
from vision.lattice import Array, Lattice
from vision.looks import SquareLook
from vision.senses import TileEvidence
from vision.stillness import Stillness
from vision.tracker import Tracker

SIDE = 60  # px
START = np.array([[SIDE, 0, 4 * SIDE], [0, SIDE, 4 * SIDE], [0, 0, 1.0]])
TABLE, ARM = (70, 75, 130), (120, 115, 118)  # BGR
WARM = (0.75, 0.9, 1.15)


class OneTile:
    """A sense that sees a tile at the board's origin and none elsewhere."""

    kinds = (catalogue()["base.D"],)

    def look(self, bgr: Image, poses: Mapping[Square, Array]) -> dict[Square, TileEvidence]:
        return {at: TileEvidence(pose=pose, there=7.0 if at in LAID else -7.0, loglik=np.zeros((1, 4)), seen=1.0)
                for at, pose in poses.items()}

    def look_past(self, *given: object) -> None:
        pass


LAID = {(0, 0), (1, 0), (2, 0)}


def picture(light: tuple[float, float, float] = (1.0, 1.0, 1.0), arm: Square | None = None) -> Image:
    bgr = np.full((9 * SIDE, 12 * SIDE, 3), TABLE, float)
    for x, y in LAID:
        bgr[(4 + y) * SIDE:(5 + y) * SIDE, (4 + x) * SIDE:(5 + x) * SIDE] = (60, 150, 90)
    if arm is not None:
        x, y = arm
        bgr[(4 + y) * SIDE - 5:(5 + y) * SIDE + 5, (4 + x) * SIDE - 5:] = ARM
    return np.clip(bgr * light, 0, 255).astype(np.uint8)


class Table:
    def __init__(self) -> None:
        self.tracker = Tracker(OneTile(), BoardSearch(lambda bgr: None), lambda *given: {})  # type: ignore[arg-type]
        self.tracker.stillness = Stillness(picture().shape)
        self.tracker.begin(self.frame(picture()), Lattice(grid=START, shifts=dict.fromkeys(LAID, (0.0, 0.0, 0.0))))

    @staticmethod
    def frame(bgr: Image) -> Frame:
        return Frame(id=1, t_s=1.0, source="", bgr=bgr)

    def look(self, bgr: Image, *squares: Square) -> Mapping[Square, SquareLook]:
        return self.tracker._look(self.frame(bgr), squares or list(self.tracker.places()), whole=False).squares


@pytest.mark.parametrize("squares", [(), ((3, 0), (2, 0))], ids=["the whole board", "two squares of it"])
def test_an_arm_hides_a_square_also_when_the_light_has_changed(squares: tuple[Square, ...]) -> None:
    """In the new light the arm has the colour that the bare square had in the old one."""
    table = Table()
    told = table.look(picture(WARM, arm=(3, 0)), *squares)
    assert told[3, 0].seen < 0.35
    assert all(s.seen > 0.9 for at, s in told.items() if at != (3, 0) and at not in LAID)


def test_a_table_in_another_light_is_bare(squares: tuple[Square, ...] = ((3, 0),)) -> None:
    table = Table()
    for light in (WARM, (1.2, 1.1, 0.8), (1.0, 1.0, 1.0)):
        assert table.look(picture(light), *squares)[3, 0].seen > 0.9


def test_what_moves_over_the_bare_squares_is_no_light() -> None:
    """An arm and its sleeve cross most of the bare squares while another square is read: the table is not taken for
    what they look like."""
    table = Table()
    bare = sorted(set(table.tracker.places()) - LAID)
    crossed = picture()
    for (x, y), colour in zip(bare[1:7], [ARM] * 3 + [(200, 190, 100)] * 3, strict=True):
        crossed[(4 + y) * SIDE:(5 + y) * SIDE, (4 + x) * SIDE:(5 + x) * SIDE] = colour
    still = table.tracker.stillness
    assert still is not None and len(bare) == 8
    still.last_s[:] = still.now_s
    table.look(crossed, bare[0])
    still.last_s[:] = -np.inf
    told = table.look(picture())
    assert {at: round(told[at].seen, 1) for at in bare} == dict.fromkeys(bare, 1.0)


def test_what_covers_a_square_that_was_never_seen_bare_is_not_the_table() -> None:
    table = Table()
    LAID.add((3, 0))
    try:
        assert table.look(picture(arm=(4, 0)), (3, 0))[3, 0].there > 0  # a tile is laid, with an arm beyond it
        assert table.look(picture(arm=(4, 0)), (4, 0))[4, 0].seen < 0.35
        assert table.look(picture(), (4, 0))[4, 0].seen > 0.9
    finally:
        LAID.discard((3, 0))
