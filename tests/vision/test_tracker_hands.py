"""A piece in a hand beside a tile: the tracker's evidence of a figure there."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest

from scoring.tiles import Square, catalogue
from vision.board_search import BoardSearch
from vision.figurenet import CROP_PX
from vision.figures import Seen
from vision.frames import Frame, Image
from vision.lattice import Array, Lattice
from vision.looks import FigureLook, TableLook
from vision.registration import Registration
from vision.senses import TileEvidence
from vision.stillness import Stillness
from vision.tracker import Tracker

SIDE = 60  # px
START = np.array([[SIDE, 0, 4 * SIDE], [0, SIDE, 4 * SIDE], [0, 0, 1.0]])
LAID = ((0, 0), (1, 0))
BLANK = np.full((9 * SIDE, 12 * SIDE, 3), 90, np.uint8)


class TwoTiles:
    """A sense that sees two tiles, except those that are ``covered``."""

    kinds = (catalogue()["base.D"],)

    def __init__(self) -> None:
        self.covered: set[Square] = set()

    def look(self, bgr: Image, poses: Mapping[Square, Array]) -> dict[Square, TileEvidence]:
        return {at: TileEvidence(pose=pose, there=7.0 if at in LAID and at not in self.covered else -7.0,
                                 loglik=np.zeros((1, 4)), seen=1.0) for at, pose in poses.items()}

    def look_past(self, *given: object) -> None:
        pass


def picture(colours: Mapping[Square, tuple[int, int, int]]) -> Image:
    """A grey table with squares of these BGR colours."""
    out = np.full((9 * SIDE, 12 * SIDE, 3), 90, np.uint8)
    for (x, y), colour in colours.items():
        out[(4 + y) * SIDE:(5 + y) * SIDE, (4 + x) * SIDE:(5 + x) * SIDE] = colour
    return out


TILES = dict.fromkeys(LAID, (60, 140, 90))
HAND = (130, 160, 220)


def told(tracker: Tracker, bgr: Image, *squares: Square) -> float:
    """The log-odds of the figure on the first tile, after a look at some squares."""
    frame = Frame(id=1, t_s=1.0, source="", bgr=bgr)
    figures = tracker._look(frame, squares, whole=False).squares[0, 0].figures
    assert figures is not None
    return figures[0].there


@pytest.mark.parametrize(("foot", "doubted"), [(0.9, True), (0.6, True), (0.2, False)])
def test_a_figure_at_a_covered_tile_may_be_a_piece_in_the_hand(foot: float, doubted: bool) -> None:
    sense, tracker = watched(foot)
    covered = picture({**TILES, (1, 0): HAND})
    assert told(tracker, picture(TILES), *LAID) == 6.0
    sense.covered.add((1, 0))
    assert (told(tracker, covered, *LAID) < 1.0) == doubted
    assert (told(tracker, covered, (0, 0)) < 1.0) == doubted  # nothing has moved over the other one since
    sense.covered.clear()
    assert told(tracker, picture(TILES), *LAID) == 6.0


def test_a_figure_where_a_tile_was_taken_up_beside_it_is_one() -> None:
    """The bare table shows that no hand is there, although the tracker still knows the tile's place."""
    sense, tracker = watched(0.9)
    assert told(tracker, picture(TILES), *LAID) == 6.0
    sense.covered.add((1, 0))
    taken_up = picture({(0, 0): TILES[0, 0]})
    assert told(tracker, taken_up, *LAID) == 6.0
    assert told(tracker, taken_up, (0, 0)) == 6.0
    assert told(tracker, picture({(0, 0): TILES[0, 0], (1, 0): HAND}), *LAID) < 1.0


def watched(foot: float) -> tuple[TwoTiles, Tracker]:
    """Two tiles that are tracked, with a figure on the first one, so far from its western border."""
    sense = TwoTiles()
    figure = Seen(look=FigureLook(foot=(foot, 0.5), spread=0.03, there=6.0, lying=-4.0, colours={"red": 0.0}),
                  px=(0.0, 0.0), outline_px=np.zeros((0, 2)), silhouette=np.zeros((CROP_PX, CROP_PX), bool),
                  uvl=np.zeros(3))
    tracker = Tracker(sense, BoardSearch(lambda bgr: None),  # type: ignore[arg-type]
                      lambda bgr, poses, lattice: {at: (figure,) if at == (0, 0) else () for at in poses})
    tracker.stillness = Stillness((9 * SIDE, 12 * SIDE))
    tracker.begin(Frame(id=0, t_s=0.0, source="", bgr=picture(TILES)),
                  Lattice(grid=START, shifts=dict.fromkeys(LAID, (0.0, 0.0, 0.0))))
    return sense, tracker


def matched_beside(by: float, *squares: Square) -> tuple[TwoTiles, Tracker, Callable[[], TableLook]]:
    """A tracker that follows the two tiles, of which these squares' snapshots match that many tiles to the right of
    where they lie; its looks when it registers them."""
    sense, frame = TwoTiles(), Frame(id=0, t_s=0.0, source="", bgr=np.zeros((9 * SIDE, 12 * SIDE, 3), np.uint8))
    tracker = Tracker(sense, BoardSearch(lambda bgr: None), lambda bgr, poses, lattice: {})  # type: ignore[arg-type]
    tracker.stillness = Stillness((9 * SIDE, 12 * SIDE))
    tracker.begin(frame, Lattice(grid=START, shifts=dict.fromkeys(LAID, (0.0, 0.0, 0.0))))
    away = np.array([[1, 0, by * SIDE], [0, 1, 0.0], [0, 0, 1.0]])
    poses = {at: away @ pose if at in squares else pose for at, pose in tracker.poses.items()}
    tracker.register.find = lambda bgr, board=(): Registration(  # type: ignore[method-assign]
        poses=poses, seen=frozenset(LAID), moved=np.eye(3))

    def registered() -> TableLook:
        followed = tracker._register(frame)
        assert followed is not None and followed.look is not None
        return followed.look

    return sense, tracker, registered


def shifts(tracker: Tracker) -> dict[Square, tuple[float, float, float]]:
    assert tracker.lattice is not None
    return {at: pytest.approx(shift, abs=1e-6) for at, shift in tracker.lattice.shifts.items()}


def test_a_tile_that_went_with_a_hand_stays_where_it_was() -> None:
    """Its snapshot showed the hand, which has moved: there is no tile where it matches now."""
    sense, tracker, registered = matched_beside(0.4, (1, 0))
    sense.covered.add((1, 0))
    assert (1, 0) not in registered().squares
    assert shifts(tracker)[1, 0] == (0.0, 0.0, 0.0)
    sense.covered.clear()  # a tile that was pushed is seen where it went
    assert (1, 0) in registered().squares
    assert shifts(tracker)[1, 0] == (0.4, 0.0, 0.0)


def test_a_tile_does_not_go_with_a_hand_to_where_another_one_lies() -> None:
    """The hand lay over both. The first one is seen where it went, which is the place of the second one."""
    sense, tracker, registered = matched_beside(0.95, *LAID)
    sense.covered.add((1, 0))
    assert not {*LAID} & registered().squares.keys()
    assert shifts(tracker) == dict.fromkeys(LAID, (0.0, 0.0, 0.0))
    assert all(tracker._squares[at].covered for at in LAID)  # by the hand


def test_a_tile_whose_print_matches_another_one_does_not_vanish() -> None:
    """What is seen there is the other one, in its place."""
    _, tracker, registered = matched_beside(-1.0, (1, 0))
    assert (1, 0) not in registered().squares
    assert shifts(tracker) == dict.fromkeys(LAID, (0.0, 0.0, 0.0))


def followed(t_s: float) -> Tracker:
    """A tracker that follows the two tiles from then on; they do not move."""
    tracker = Tracker(TwoTiles(), BoardSearch(lambda bgr: None), lambda bgr, poses, lattice: {})  # type: ignore[arg-type]
    tracker.stillness = Stillness(BLANK.shape)
    tracker.begin(Frame(id=0, t_s=t_s, source="", bgr=BLANK),
                  Lattice(grid=START, shifts=dict.fromkeys(LAID, (0.0, 0.0, 0.0))))
    tracker.register.alike = lambda bgr, poses: {}  # type: ignore[assignment,method-assign]
    return tracker


@pytest.mark.parametrize("fps", [4, 15])
def test_how_long_something_moved_over_a_square_is_measured_between_looks(fps: int) -> None:
    """At any frame rate; what moves over one square says nothing about another."""
    tracker, looks = followed(0.0), list[TableLook]()
    for n in range(1, 6 * fps):
        bgr, t_s = BLANK.copy(), n / fps
        if 2.0 <= t_s < 3.5:  # a hand goes down over the second tile, and stays
            top = 4 * SIDE + round((t_s - 2.0) * 0.6 * SIDE)
            bgr[top:top + SIDE // 4, 5 * SIDE + 15:6 * SIDE - 15] = 220
        told = tracker.feed(Frame(id=n, t_s=t_s, source="", bgr=bgr)).look
        looks += [told] if told is not None else []
    touched = {at: [s for look in looks if (s := look.squares[at].touched_s if at in look.squares else 0.0) > 0.5]
               for at in (*LAID, (-1, 0))}
    assert touched[0, 0] == touched[-1, 0] == []
    assert touched[1, 0] == [pytest.approx(1.6, abs=0.3)]


def test_times_without_frames_are_in_the_next_look() -> None:
    tracker, looks = followed(100.0), list[TableLook]()
    times = [100.0 + n / 4 for n in (*range(8), *range(20, 28))]  # three seconds are missing
    for n, t_s in enumerate(times):
        bgr = BLANK.copy()
        bgr[4 * SIDE:5 * SIDE, 4 * SIDE:5 * SIDE] += np.uint8(100 * (t_s > 105.4))
        told = tracker.feed(Frame(id=n, t_s=t_s, source="", bgr=bgr)).look
        looks += [told] if told is not None else []
    assert [g for look in looks for g in look.gaps_s] == [(101.75, 105.0)]
