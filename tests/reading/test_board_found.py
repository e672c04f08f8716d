"""The board is looked for again when what was taken for it is none."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np
import pytest
from tables import START, TWO, figure, look

from reading.belief import SquareTrack
from reading.game import GameReader
from reading.watcher import TableWatcher
from scoring.events import TilePlaced
from scoring.log import LogEntry
from scoring.tiles import Square
from vision.attention import Followed
from vision.frames import Frame
from vision.looks import FigureLook, TableLook
from vision.tracker import Tracker

STACK = {(0, 0): ("base.B", 2)}  # face-down tiles: their print looks like a cloister


def test_one_tile_that_is_not_the_start_tile_is_no_board() -> None:
    reader = GameReader(TWO)
    assert reader.look(look(1.0, START), ()).status == "watching"
    assert reader.look(look(5.0, STACK), ()).status == "no_board"
    tiles = {(0, 0): ("base.U", 0), (1, 0): ("base.D", 0)}  # counted from another tile now
    told = [reader.look(look(t_s, tiles), ()) for t_s in (9.0, 13.0, 17.0)]
    assert [t.status for t in told] == 3 * ["watching"] and told[-1].decisions[0].at == (-1, 0)


@pytest.mark.parametrize("claimed", [(0, 0), (1, 0), None])
def test_which_of_two_alike_is_the_start_tile_a_figure_may_tell(claimed: Square | None) -> None:
    """The board was lost when the first tile was laid, which is of the start tile's kind."""
    reader = GameReader(TWO)
    assert reader.look(look(1.0, START), ()).status == "watching"
    assert reader.look(look(5.0, STACK), ()).status == "no_board"
    tiles = {(0, 0): ("base.D", 0), (1, 0): ("base.D", 0)}
    assert reader.look(look(6.0, tiles), ()).status == "unsure"
    figures = {} if claimed is None else {claimed: (figure("base.D", 0, "city", "N", "red"),)}
    told = reader.look(look(12.0, tiles, figures), ())
    assert told.status == ("watching" if figures else "unsure")
    told = reader.look(look(30.0, tiles, figures), ())
    assert told.status == "watching"
    laid = next(e for d in told.decisions for e in d.events if isinstance(e, TilePlaced))
    assert claimed is None or laid.at == ((-1, 0) if claimed == (0, 0) else (1, 0))


def test_a_hand_over_the_start_tile_is_no_other_board() -> None:
    reader = GameReader(TWO)
    assert reader.look(look(1.0, START), ()).status == "watching"
    assert reader.look(look(5.0, STACK, hidden=((0, 0),)), ()).status == "watching"


def test_a_board_that_is_seen_again_after_a_stack_is_known_by_its_names() -> None:
    """The first tile laid is of the start tile's kind, and nothing tells them apart but where they lie."""
    reader = GameReader(TWO)
    assert reader.look(replace(look(1.0, START), board_number=1), ()).status == "watching"
    assert reader.look(replace(look(5.0, STACK), board_number=2), ()).status == "no_board"
    tiles = {(0, 0): ("base.D", 0), (-1, 0): ("base.D", 0)}
    assert reader.look(replace(look(6.0, tiles), board_number=1), ()).status == "watching"
    told = reader.look(replace(look(12.0, tiles), board_number=1), ())
    assert next(e for d in told.decisions for e in d.events if isinstance(e, TilePlaced)).at == (-1, 0)


def test_a_tile_like_the_first_one_that_is_taken_for_the_board_is_another_board() -> None:
    """A tile of the start tile's kind is held over the table, and laid beside it."""
    reader = GameReader(TWO)
    for t_s, board in ((1.0, 1), (5.0, 2)):
        assert reader.look(replace(look(t_s, START), board_number=board), ()).status == "watching"
    tiles = {(0, 0): ("base.D", 0), (-1, 0): ("base.D", 0)}
    figures = {(-1, 0): (figure("base.D", 0, "city", "N", "red"),)}
    told = reader.look(replace(look(9.0, tiles, figures), board_number=1), ())
    told = reader.look(replace(look(14.0, tiles, figures), board_number=1), ())
    assert next(e for d in told.decisions for e in d.events if isinstance(e, TilePlaced)).at == (-1, 0)
    reader = GameReader(TWO)  # named from the tile that was held
    for t_s, board in ((1.0, 1), (5.0, 2)):
        reader.look(replace(look(t_s, START), board_number=board), ())
    tiles, figures = {(0, 0): ("base.D", 0), (1, 0): ("base.D", 0)}, {(0, 0): figures[-1, 0]}
    for t_s in (9.0, 14.0):
        told = reader.look(replace(look(t_s, tiles, figures), board_number=3), ())
    assert next(e for d in told.decisions for e in d.events if isinstance(e, TilePlaced)).at == (-1, 0)


def test_what_turned_out_wrong_of_a_board_is_not_taken_up_again() -> None:
    reader = GameReader(TWO)
    for t_s, tiles, board in ((1.0, START, 1), (5.0, STACK, 2), (6.0, START, 1), (9.0, STACK, 1)):
        status = reader.look(replace(look(t_s, tiles), board_number=board), ()).status
    assert status == "no_board"
    told = reader.look(replace(look(10.0, {(1, 0): ("base.D", 0)}, whole=False), board_number=1), ())
    assert told.alignment is not None and told.alignment.square((1, 0)) == (0, 0)


class Fake:
    """A tracker that shows what it is given, and counts the boards that it has to refuse."""

    def __init__(self) -> None:
        self.shows, self.refused, self.stillness, self.lattice = look(0.0, {}), 0, None, None
        self.again: set[Square] = set()

    def feed(self, frame: Frame) -> Followed:
        return Followed(status="following" if self.shows.squares else "searching",
                        look=self.shows if self.shows.squares else None)

    def refuse(self) -> None:
        self.refused += 1

    def look_again(self, squares: list[Square]) -> None:
        self.again = set(squares)


def test_where_a_figure_is_no_longer_seen_another_look_is_taken_until_it_is_gone() -> None:
    """It may have been in a hand over that tile, and nothing moves there any more."""
    tracker = Fake()
    watcher = TableWatcher(TWO, cast(Tracker, tracker))
    tiles = {**START, (1, 0): ("base.A", 1)}
    held = {(1, 0): (figure("base.A", 1, "road", "W", "red"),)}

    def again(t_s: float, figures: dict[Square, tuple[FigureLook, ...]]) -> set[Square]:
        tracker.shows = look(t_s, tiles, figures)
        watcher.feed(Frame(id=1, t_s=t_s, source="", bgr=np.zeros((8, 8, 3), np.uint8)), ())
        return tracker.again

    assert again(1.0, {}) == set()
    assert again(4.0, held) == set()
    assert again(5.0, {}) == again(6.5, {}) == {(1, 0)}
    for t_s in (8.5, 10.5, 12.5):
        again(t_s, {})
    assert tracker.again == set()


def test_a_board_that_is_none_is_refused_though_one_was_known() -> None:
    tracker = Fake()
    watcher = TableWatcher(TWO, cast(Tracker, tracker))

    def sees(shows: TableLook) -> int:
        tracker.shows = shows
        watcher.feed(Frame(id=shows.frame, t_s=shows.t_s, source="", bgr=np.zeros((8, 8, 3), np.uint8)), ())
        return tracker.refused

    assert sees(look(1.0, START)) == 0
    assert sees(look(5.0, STACK)) == 1
    assert sees(look(9.0, START)) == 1


def test_a_board_on_which_two_tiles_may_be_the_first_is_not_refused() -> None:
    tracker = Fake()
    watcher = TableWatcher(TWO, cast(Tracker, tracker))
    tracker.shows = look(1.0, {(0, 0): ("base.D", 0), (1, 0): ("base.D", 0)})
    watcher.feed(Frame(id=1, t_s=1.0, source="", bgr=np.zeros((8, 8, 3), np.uint8)), ())
    assert tracker.refused == 0
    tracker.shows = look(5.0, STACK)
    watcher.feed(Frame(id=2, t_s=5.0, source="", bgr=np.zeros((8, 8, 3), np.uint8)), ())
    assert tracker.refused == 1


def running(board: int) -> tuple[GameReader, tuple[LogEntry, ...], dict[Square, tuple[str, int]]]:
    """A reader that has seen a game of four tiles on a board of that number, its log, and its tiles."""
    tiles = {**START, (1, 0): ("base.U", 0), (-1, 0): ("base.U", 0), (0, 1): ("base.E", 2)}
    log = tuple(LogEntry(seq=n, source="camera", confidence=0.9, body=TilePlaced(
        player=(n - 1) % 2, tile=tile, at=at, rot=rot)) for n, (at, (tile, rot)) in enumerate([*tiles.items()][1:], 1))
    reader = GameReader(TWO)
    assert reader.look(replace(look(1.0, tiles), board_number=board), log).status == "watching"
    return reader, log, tiles


def test_partial_looks_of_another_board_are_no_looks_at_this_one() -> None:
    reader, log, tiles = running(1)
    stray = {(0, 0): ("base.B", 0), (1, 0): ("base.B", 1), (2, 0): ("base.B", 0)}
    assert reader.look(replace(look(5.0, stray), board_number=2), log).status == "lost"
    for t_s in (7.0, 9.0, 11.0):
        told = reader.look(replace(look(t_s, {(2, 0): ("base.B", 0)}, whole=False), board_number=2), log)
        assert told.status == "lost" and not told.decisions
    assert not reader.belief.squares.get((2, 0), SquareTrack()).laid
    assert reader.look(replace(look(13.0, tiles), board_number=1), log).status == "watching"


def test_a_board_that_is_found_under_an_arm_is_known_as_soon_as_the_arm_is_gone() -> None:
    reader, log, tiles = running(1)
    there = {(x + 3, y + 5): reading for (x, y), reading in tiles.items()}
    whole = look(5.0, {at: there[at] for at in ((3, 5),)})
    assert reader.look(replace(whole, board_number=2), log).status == "lost"
    rest = look(7.0, {at: there[at] for at in ((4, 5), (2, 5))}, whole=False)
    assert reader.look(replace(rest, board_number=2), log).status == "watching"
    laid = look(9.0, {(5, 5): ("base.U", 0)}, whole=False)
    told = [reader.look(replace(laid, t_s=t_s, board_number=2), log) for t_s in (9.0, 11.0, 13.0)]
    assert told[-1].decisions[0].events == (TilePlaced(player=1, tile="base.U", at=(2, 0), rot=0),)


def test_what_a_board_showed_before_it_was_known_again_is_not_lost() -> None:
    """A tile was laid while an arm was over the others."""
    reader, log, tiles = running(1)
    there = {(x + 3, y + 5): reading for (x, y), reading in tiles.items()}
    for shown, whole in (({(3, 5): there[3, 5]}, True), ({(5, 5): ("base.U", 0)}, False)):
        assert reader.look(replace(look(5.0, shown, whole=whole), board_number=2), log).status == "lost"
    rest = look(9.0, {at: there[at] for at in ((4, 5), (2, 5))}, whole=False)
    assert reader.look(replace(rest, board_number=2), log).status == "watching"
    laid = reader.belief.squares[2, 0].laid
    assert laid is not None and laid.since_s == 9.0


def test_what_is_taken_for_the_board_of_a_running_game_is_refused() -> None:
    """One tile is logged: two lie, and no more are seen of a stack."""
    laid = TilePlaced(player=0, tile="base.U", at=(1, 0), rot=0)
    tracker, log = Fake(), (LogEntry(seq=1, body=laid, source="camera", confidence=0.9),)
    watcher = TableWatcher(TWO, cast(Tracker, tracker))

    def sees(shows: TableLook) -> str:
        tracker.shows = shows
        return watcher.feed(Frame(id=shows.frame, t_s=shows.t_s, source="", bgr=np.zeros((8, 8, 3), np.uint8)),
                            log).status

    tiles = {**START, (1, 0): ("base.U", 0)}
    assert sees(look(1.0, tiles)) == "watching" and tracker.refused == 0
    assert sees(look(5.0, STACK)) == "adrift" and tracker.refused == 1
    assert sees(look(6.0, {})) == "adrift"  # while it is searched for
    assert sees(replace(look(9.0, tiles), board_number=1)) == "watching" and tracker.refused == 1
    assert sees(replace(look(11.0, STACK), board_number=7)) == "adrift"
    assert sees(replace(look(12.0, {(0, 0): ("base.B", 2)}, whole=False), board_number=7)) == "adrift"
    known = look(13.0, {(4, 4): ("base.D", 0), (5, 4): ("base.U", 0)}, whole=False)
    assert sees(replace(known, board_number=7)) == "watching"


def test_a_film_that_ends_while_the_board_is_searched_for_loses_no_move() -> None:
    tracker = Fake()
    watcher = TableWatcher(TWO, cast(Tracker, tracker))
    for t_s, tiles in ((1.0, START), (5.0, {**START, (1, 0): ("base.U", 0)})):
        tracker.shows = look(t_s, tiles, doubts={(1, 0): {("base.U", 0): 0.0, ("base.D", 0): -1.0}})
        frame = Frame(id=tracker.shows.frame, t_s=t_s, source="", bgr=np.zeros((8, 8, 3), np.uint8))
        assert not watcher.feed(frame, ()).proposals
    tracker.lattice = None
    made = watcher.finish(frame, ())
    assert [d.decision.events for d in made] == [(TilePlaced(player=0, tile="base.U", at=(1, 0), rot=0),)]
