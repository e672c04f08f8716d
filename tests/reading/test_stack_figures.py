"""Figures and piles of blocks: who was taken by a block, and who stands on a pile."""

from __future__ import annotations

from dataclasses import replace

import pytest
from piles import (
    EAST,
    FAR,
    FLOOR,
    SETUP,
    SMALL,
    SOUTH,
    PilesTable,
    below_the_camera,
    raised_again,
    top,
    with_a_foundation,
)
from tables import figure

from scoring.engine import fold
from scoring.events import FigurePlaced, TilePlaced
from scoring.expansions.tower import Captured, TowerRaised
from scoring.expansions.tower_state import towers
from scoring.log import Retracted, Settled, effective, open_questions


@pytest.fixture
def table() -> PilesTable:
    return with_a_foundation()


def test_who_vanished_beside_a_block_just_added_was_taken(table: PilesTable) -> None:
    table.lays(EAST, "base.U", 0)
    table.piles[SOUTH] = top(1)
    table.figures[SOUTH] = (figure("tower.02", 0, "field", "NL NR EL ER SL SR WL WR", "red"),)
    table.figures[SOUTH] = ()
    table.sees()
    assert not table.told(Captured)  # Ben's thief is out of reach
    table.tiles[(1, 1)] = ("base.B", 0)
    table.figures[(1, 1)] = (figure("base.B", 0, "cloister", "I", "blue"),)
    table.sees()
    table.tiles[FAR] = ("base.U", 0)
    table.sees()
    table.piles[SOUTH] = top(2)
    table.figures[(1, 1)] = ()
    table.sees(4)
    taken = table.told(Captured)
    assert [(e.player, e.owner, e.at) for e in taken] == [(0, 1, (1, 1))]
    assert towers(fold(SETUP, table.book.events())).prisoners == ((0, 1, "follower"),)


def test_a_block_below_somebody_who_was_told_first_is_told(table: PilesTable) -> None:
    """Ben has raised the tower; before that is told, people enter Anna's next turn, in which she closes it."""
    raised_again(table, top(2))
    table.sees(2, 1.2)
    assert len(table.told(TowerRaised)) == 1
    table.tiles[2, 0] = "base.U", 0
    table.book.say(TilePlaced(player=0, tile="base.U", at=(2, 0), rot=0))
    table.book.say(FigurePlaced(player=0, figure="follower", at=SOUTH, feature="tower", where="I"))
    table.figures[SOUTH] = (replace(figure("base.U", 0, "road", "E W", "red"), foot=(0.53, 0.48)),)
    table.piles[SOUTH] = top(2, there=-3.0)
    table.sees(8)
    assert [(e.player, e.at) for e in table.told(TowerRaised)] == [(0, SOUTH), (1, SOUTH)]


@pytest.mark.parametrize("second", [True, False])
def test_who_may_have_been_taken_in_either_of_two_turns_is_asked_about(table: PilesTable, second: bool) -> None:
    """His tile was not seen while Ben and Anna laid their tiles, and both may have added a block."""
    table.lays((1, 1), "base.B", 0, figure("base.B", 0, "cloister", "I", "red"))
    table.lays((2, 0), "base.U", 0)
    table.lays(EAST, "base.U", 0)
    table.hidden = ((1, 1),)
    table.lays(FAR, "base.U", 0)
    table.piles[SOUTH] = top(1)
    table.sees(3, 1.5)
    table.tiles[3, 0] = "base.U", 0
    table.sees(1, 1.5)
    table.figures[1, 1], table.hidden = (), ()
    table.sees(3, 1.5)
    assert len(table.told(TowerRaised)) == 1 and not table.told(Captured)
    if second:
        table.piles[SOUTH] = top(2)
    table.sees(20, 1.5)
    assert [e.player for e in table.told(TowerRaised)] == ([1, 0] if second else [1])
    taken, = (seq for seq, event in effective(table.book.entries) if isinstance(event, Captured))
    assert (taken in open_questions(table.book.entries)) == second


def test_a_follower_on_top_closes_it(table: PilesTable) -> None:
    table.lays(EAST, "base.U", 0)
    table.piles[SOUTH] = top(1)
    table.sees()
    table.lays(FAR, "base.U", 0)
    guard = replace(figure("base.U", 0, "road", "E W", "blue"), foot=(0.53, 0.48))
    table.figures[SOUTH] = (guard,)
    table.piles[SOUTH] = top(1, off=(0.03, 0.01), there=1.0)  # it covers half of the top
    table.sees(4)
    stands = [e for e in table.told(FigurePlaced) if e.feature == "tower"]  # type: ignore[attr-defined]
    assert [(e.player, e.at) for e in stands] == [(1, SOUTH)]  # type: ignore[attr-defined]
    assert len(table.told(TowerRaised)) == 1 and not fold(SETUP, table.book.events()).issues


def test_one_who_follows_another_of_the_same_player_on_top_is_another_one(table: PilesTable) -> None:
    """The camera sees the same figure in the same place as before the capture."""
    table.lays(EAST, "base.U", 0)
    table.piles[SOUTH] = top(1)
    table.sees()
    table.lays(FAR, "base.U", 0)
    guard = (replace(figure("base.U", 0, "road", "E W", "blue"), foot=(0.53, 0.48)),)
    table.figures[SOUTH], table.piles[SOUTH] = guard, top(1, off=(0.03, 0.01), there=1.0)
    table.sees(4)
    table.piles[0, 2] = top(0)
    table.lays((0, 2), "tower.03", 0)
    table.figures[SOUTH], table.piles[SOUTH], table.piles[0, 2] = (), top(1), top(1)
    table.sees(5)
    assert [e.at for e in table.told(Captured)] == [SOUTH]  # type: ignore[attr-defined]
    table.lays((-3, 0), "base.U", 0)
    table.figures[SOUTH], table.piles[SOUTH] = guard, top(1, off=(0.03, 0.01), there=1.0)
    table.sees(4)
    stands = [e for e in table.told(FigurePlaced) if e.feature == "tower"]  # type: ignore[attr-defined]
    assert [(e.player, e.at) for e in stands] == [(1, SOUTH)] * 2  # type: ignore[attr-defined]
    assert not table.book.questions and not fold(SETUP, table.book.events()).issues


def test_that_nobody_was_taken_is_believed(table: PilesTable) -> None:
    """People say so; who vanishes beside the block afterwards was not taken by it."""
    table.tiles[(1, 1)] = ("base.B", 0)
    table.figures[(1, 1)] = (figure("base.B", 0, "cloister", "I", "blue"),)
    table.lays(EAST, "base.U", 0)
    table.sees()
    table.lays(FAR, "base.U", 0)
    table.piles[SOUTH] = top(1)
    table.sees()
    tile = next(e.seq for e in table.book.entries if isinstance(e.body, TilePlaced) and e.body.at == FAR)
    raised = len(table.told(TowerRaised))
    table.book.say(Settled(seq=tile, code="capture"))
    table.figures[(1, 1)] = ()
    table.sees(5)
    assert raised == 1 and not table.told(Captured)


def test_a_figure_on_top_of_a_plain_top_is_a_block(table: PilesTable) -> None:
    table.lays(EAST, "base.U", 0)
    table.piles[SOUTH] = top(1)
    block = figure("tower.02", 0, "field", "NL NR EL ER SL SR WL WR", "red")
    table.figures[SOUTH] = (replace(block, foot=top(1).top),)
    table.sees()
    assert table.told(TowerRaised) == [TowerRaised(player=0, at=SOUTH)]


def test_whether_a_knight_that_scored_was_taken_before_is_asked(table: PilesTable) -> None:
    table.lays(EAST, "base.U", 0)
    table.figures[0, 2] = (figure("base.E", 2, "city", "S", "blue"),)
    table.lays((0, 2), "base.E", 2)
    table.piles[SOUTH] = top(1)
    table.figures[0, 2] = ()
    table.lays((0, 3), "base.E", 0)
    table.sees(4)
    taken = Captured(player=0, owner=1, figure="follower", at=(0, 2), feature="city", where="S")
    known = dict(effective(table.book.entries))
    assert table.told(Captured) == [taken]
    assert [known[seq] for seq in open_questions(table.book.entries)] == [taken]


@pytest.fixture
def below() -> PilesTable:
    return below_the_camera()


def test_who_vanished_betrays_a_block_that_is_hardly_seen(below: PilesTable) -> None:
    before = len(below.told(TowerRaised))
    below.piles[SOUTH] = top(2, floor=SMALL, off=(0.006, 0.004), yaw=0.5)
    below.sees(4)
    assert len(below.told(TowerRaised)) == before  # it may be noise
    below.piles[SOUTH] = top(2, floor=SMALL, off=(0.012, 0.008), yaw=0.55)
    below.figures[(1, 1)] = ()
    below.sees(6)
    assert len(below.told(TowerRaised)) == before + 1 and len(below.told(Captured)) == 1


@pytest.mark.parametrize(("there", "more"), [(4.0, 1), (1.3, 0)])
def test_what_may_have_been_print_betrays_no_block(table: PilesTable, there: float, more: int) -> None:
    """Something on the cloister, seen as badly, was told as Ben's monk, and looks miss it as the top seems to move."""
    table.lays(EAST, "base.U", 0)
    table.tiles[(1, 1)] = ("base.B", 0)
    table.figures[(1, 1)] = (figure("base.B", 0, "cloister", "I", "blue", there=there),)
    table.piles[SOUTH] = top(1, floor=SMALL)
    table.sees()
    table.lays(FAR, "base.U", 0)
    assert (1, 1) in {e.at for e in table.told(FigurePlaced)}  # type: ignore[attr-defined]
    before = len(table.told(TowerRaised))
    table.piles[SOUTH] = top(2, floor=SMALL, off=(0.006, 0.004), yaw=0.5)
    table.figures[(1, 1)] = ()
    table.sees(2)
    assert len(table.told(TowerRaised)) == before + more


def test_whoever_vanished_is_asked_about_once(below: PilesTable) -> None:
    """People say that no block was added: the figure that is gone is no reason to ask again."""
    below.piles[SOUTH] = top(2, floor=SMALL, off=(0.008, 0.006), yaw=0.5)
    below.figures[(1, 1)] = ()
    below.sees(6)
    newest = max(seq for seq, e in effective(below.book.entries) if isinstance(e, TowerRaised))
    told = len(below.told(TowerRaised))
    below.book.say(Retracted(seq=newest))
    below.sees(8)
    assert len(below.told(TowerRaised)) == told - 1


def test_whoever_a_known_block_may_have_taken_betrays_no_other(below: PilesTable) -> None:
    """Ben raises another pile in reach of his own monk. Nobody looks there again before Anna's tile lies; that the monk
    is gone says nothing of the pile that hardly moved then."""
    below.piles[1, 2] = top(0)
    below.lays((1, 2), "tower.03", 0)
    known, asked = len(below.told(TowerRaised)), below.book.questions
    below.piles[1, 2] = top(1)
    below.figures[(1, 1)] = ()
    below.sees(1)
    below.sees(1, every_s=0.9)
    below.hidden = ((1, 1),)
    below.sees(1, every_s=4.0)
    below.lays((-3, 0), "base.U", 0)
    below.piles[SOUTH] = top(1, floor=SMALL, off=(0.012, 0.009), yaw=0.55)
    below.sees(2)
    assert len(below.told(TowerRaised)) == known + 1 and below.book.questions == asked
    below.hidden = ()
    below.sees()
    assert [(e.player, e.at) for e in below.told(Captured)] == [(1, (1, 1))]  # type: ignore[attr-defined]


def test_a_top_that_a_follower_left_is_where_it_is_seen_first(table: PilesTable) -> None:
    """Somebody takes a follower off a tower by another one's block and knocks the pile. One look shows its top before
    the log says so; the same top in the next turn is no block."""
    table.lays(EAST, "base.U", 0)
    table.piles[SOUTH] = replace(top(1), tone=4.82)
    table.sees()
    table.lays(FAR, "base.U", 0)
    guard = replace(figure("base.U", 0, "road", "E W", "blue"), foot=(0.53, 0.48))
    table.figures[SOUTH] = (guard,)
    table.piles[SOUTH] = top(1, off=(0.03, 0.01), there=1.0)
    table.sees(4)
    assert len(table.told(FigurePlaced)) == 2 and len(table.told(TowerRaised)) == 1
    table.piles[0, 2] = top(0)
    table.lays((0, 2), "tower.03", 0)
    table.piles[0, 2] = top(1)
    table.figures[SOUTH] = ()
    knocked = table.piles[SOUTH] = replace(top(1, off=FLOOR), tone=4.82)
    table.sees(1)
    del table.piles[SOUTH]
    table.sees(4)
    assert [e.at for e in table.told(Captured)] == [SOUTH]  # type: ignore[attr-defined]
    table.lays((-3, 0), "base.U", 0)
    table.piles[SOUTH] = knocked
    table.sees(6)
    assert len(table.told(TowerRaised)) == 2 and not table.book.questions


@pytest.mark.parametrize("hidden", [False, True])
def test_one_who_came_with_the_next_tile_is_no_figure_of_an_older_turn(table: PilesTable, *, hidden: bool) -> None:
    """Anna takes Ben's monk, who has not been seen since; then Ben's next tile and a guard of his come into view, at
    once or the tile later."""
    table.lays(EAST, "base.U", 0)  # Anna
    table.piles[SOUTH] = top(1)
    table.sees()
    monk = figure("base.B", 0, "cloister", "I", "blue")
    table.lays((1, 1), "base.B", 0, monk)  # Ben
    table.lays(FAR, "base.U", 0)  # Anna
    table.piles[SOUTH], table.figures[1, 1] = top(2), ()
    table.sees(4)
    assert len(table.told(Captured)) == 1
    table.figures[SOUTH] = (replace(figure("base.U", 0, "road", "E W", "blue"), foot=(0.56, 0.46)),)
    table.piles[SOUTH] = top(2, there=1.0)
    if hidden:
        table.tiles[-3, 0], table.hidden = ("base.U", 0), ((-3, 0),)
        table.sees()
        table.hidden = ()
    table.lays((-3, 0), "base.U", 0)  # Ben
    table.sees()
    stands = [e.feature for e in table.told(FigurePlaced)]  # type: ignore[attr-defined]
    assert stands == ["road", "cloister", "tower"]
    assert [type(e).__name__ for e in table.events[-2:]] == ["TilePlaced", "FigurePlaced"]
    assert not table.book.questions and len(table.told(Captured)) == 1


@pytest.mark.parametrize("others", [False, True])
def test_one_who_came_before_the_next_tile_is_in_the_log_waits_for_it(table: PilesTable, *, others: bool) -> None:
    """It is not clear at once which tile that is. Without it he is of the turn in which nobody was put down."""
    table.lays(EAST, "base.U", 0)  # Anna
    table.piles[SOUTH] = top(1)
    table.sees()
    table.lays(FAR, "base.U", 0)  # Ben
    table.lays((2, 0), "base.U", 0)  # Anna
    table.figures[SOUTH] = (replace(figure("base.U", 0, "road", "E W", "blue"), foot=(0.53, 0.48)),)
    table.piles[SOUTH] = top(1, there=1.0)
    if others:
        table.doubts[-3, 0] = {("base.U", 0): 0.0, ("base.V", 2): -0.5}
        table.tiles[-3, 0] = "base.U", 0  # Ben
    table.sees(8)
    put, = [n for n, e in enumerate(table.events) if isinstance(e, FigurePlaced) and e.feature == "tower"]
    assert isinstance(tile := table.events[put - 1], TilePlaced) and tile.at == ((-3, 0) if others else FAR)
