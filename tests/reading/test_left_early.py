"""Figures that left before the tile was laid by which they would have scored: a block took them."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from piles import EAST, SETUP, SMALL, SOUTH, WEST, PilesTable, below_the_camera, top, with_a_foundation
from tables import figure

from reading.removals import _gone, _standing
from scoring.engine import fold
from scoring.events import TilePlaced, TurnEnded
from scoring.expansions.tower import Captured, TowerRaised

CITY, CLOSES = (0, 2), ((0, 3), "base.E", 0)
KNIGHT = figure("base.E", 2, "city", "S", "blue")
TAKEN = Captured(player=0, owner=1, figure="follower", at=CITY, feature="city", where="S")


def beside_a_tower() -> PilesTable:
    """Ben's knight stands beside a foundation, and Anna has laid a tile."""
    made = with_a_foundation()
    made.lays(EAST, "base.U", 0)
    made.lays(CITY, "base.E", 2, KNIGHT)
    made.lays((2, 0), "base.U", 0)
    return made


@pytest.fixture
def table() -> PilesTable:
    """She has just added a block there, too."""
    made = beside_a_tower()
    made.piles[SOUTH] = top(1)
    made.sees()
    return made


def scores(table: PilesTable) -> tuple[int, ...]:
    return fold(SETUP, [*table.events, TurnEnded()]).scores


def goes(table: PilesTable, looks: int) -> None:
    """The knight goes, and so many looks miss him before Ben closes his city."""
    table.figures[CITY] = ()
    table.sees(looks, 1.5)


@pytest.mark.parametrize("looks", [3, 0])
def test_he_was_taken_if_looks_miss_him_before_the_tile_lies(table: PilesTable, looks: int) -> None:
    goes(table, looks)
    table.lays(*CLOSES)
    table.sees(4)
    taken = looks > 0
    assert table.told(Captured) == [TAKEN] * taken and not table.book.questions
    assert scores(table) == ((0, 0) if taken else (0, 4))


def test_one_look_that_misses_him_before_it_is_not_enough(table: PilesTable) -> None:
    """A hand was over him, and then over his tile until the next one lay."""
    goes(table, 1)
    table.hidden = (CITY,)
    table.lays(*CLOSES)
    table.hidden = ()
    table.sees(6)
    assert not table.told(Captured) and scores(table) == (0, 4)


def test_he_stands_until_the_tile_by_which_he_scored_may_have_been_laid(table: PilesTable) -> None:
    """Some turns later, too. Ben's thief scored nothing: nothing but a move sends him home."""
    table.lays(*CLOSES)
    came_s = table.t_s - 10.0  # of three looks at it the first
    table.lays((3, 0), "base.U", 0)
    table.lays((4, 0), "base.U", 0)
    reader = table.reader
    log = reader._log(table.book.entries)
    states = reader._prefix.states([line.event for line in log.lines])
    until_s = {f.at: s for f, s in _standing(reader.belief, log, states, reader._steps, math.inf)}
    assert until_s == {WEST: math.inf, CITY: came_s}


def test_from_when_a_tile_may_have_lain_there(table: PilesTable) -> None:
    table.lays(*CLOSES)
    belief = table.reader.belief
    track = belief.squares[0, 3]
    assert track.laid is not None
    since_s = track.laid.since_s
    for changed, begun_s in (
            (track, since_s), (replace(track, laid=replace(track.laid, hidden_s=since_s - 9.0)), since_s - 9.0),
            (replace(track, laid=replace(track.laid, since_s=since_s + 40.0), past=(track.laid,)), since_s),
            (replace(track, laid=None, past=(track.laid,)), -math.inf)):
        assert replace(belief, squares={**belief.squares, (0, 3): changed}).begun_s((0, 3)) == begun_s
    assert belief.begun_s((9, 9)) == belief.begun_s(None) == -math.inf


@pytest.mark.parametrize(("missed_s", "until_s", "gone"), [
    ((100.0, 101.5, 103.0), math.inf, True), ((100.0, 101.5, 103.0), 105.0, True),
    ((100.0, 101.5, 103.0), 103.5, False),  # not for some seconds
    ((100.0, 101.5, 110.0), 101.0, False), ((100.0, 120.0, 125.0), 110.0, False),  # one look before it
    ((100.0, 101.5, 110.0), 106.0, False),  # two hardly new ones
    ((100.0, 100.3, 100.6), 105.0, False)])  # they are one look
def test_how_looks_have_to_miss_him_before_he_had_a_reason_to_go(
        table: PilesTable, missed_s: tuple[float, ...], until_s: float, gone: bool) -> None:
    belief = table.reader.belief
    track, = belief.by_square[CITY]
    left = replace(track, missed=1.5, missed_s=missed_s[0], misses=tuple((t_s, 0.5) for t_s in missed_s))
    knight = next(f for f in fold(SETUP, table.events).standing.values() if f.at == CITY)
    found = _gone(knight, until_s, replace(belief, figures={**belief.figures, track.id: left}), {"red": 0, "blue": 1})
    assert (found is not None) == gone


def test_people_may_say_that_turns_are_over(table: PilesTable) -> None:
    told = len(table.events)
    goes(table, 2)
    table.book.say(TurnEnded())
    table.sees(1, 1.5)
    table.lays(*CLOSES)
    table.book.say(TurnEnded())
    table.sees(4)
    assert [type(e) for e in table.events[told:]] == [Captured, TurnEnded, TilePlaced, TurnEnded]
    assert fold(SETUP, table.events).scores == (0, 0)


def test_nobody_knows_when_a_tile_was_laid_that_people_entered(table: PilesTable) -> None:
    table.book.say(TilePlaced(player=1, tile="base.E", at=(0, 3), rot=0))
    goes(table, 4)
    assert not table.told(Captured)
    table.lays(*CLOSES)
    table.sees(4)
    assert not table.told(Captured) and scores(table) == (0, 4)


@pytest.mark.parametrize("back", [True, False])
def test_a_tile_that_looks_lose_later_was_laid_when_it_was_first_seen(table: PilesTable, back: bool) -> None:
    table.lays(*CLOSES)
    goes(table, 4)
    del table.tiles[0, 3]
    table.sees(3)
    if back:
        table.lays(*CLOSES)
        table.sees(4)
    assert not table.told(Captured) and scores(table) == (0, 4)


@pytest.fixture
def below() -> PilesTable:
    """Anna's knight stands beside it, too, and Ben has laid a road."""
    made = below_the_camera()
    made.lays(CITY, "base.E", 2, figure("base.E", 2, "city", "S", "red"))
    made.lays((-3, 0), "base.U", 0)
    return made


@pytest.mark.parametrize("before", [True, False])
def test_he_betrays_a_block_that_is_hardly_seen(below: PilesTable, before: bool) -> None:
    """Anna closes her knight's city; if he was gone before, Ben had added a block."""
    told = len(below.told(TowerRaised))
    below.piles[SOUTH] = top(2, floor=SMALL, off=(0.007, 0.005), yaw=0.5)
    below.figures[CITY] = () if before else below.figures[CITY]
    below.sees(3, 1.5)
    below.figures[CITY] = ()
    below.lays(*CLOSES)
    below.sees(6)
    assert len(below.told(TowerRaised)) == told + before
    assert [(e.player, e.owner) for e in below.told(Captured)] == [(1, 0)] * before  # type: ignore[attr-defined]
