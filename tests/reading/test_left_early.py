"""Figures that left before the tile was laid by which they would have scored: a block took them."""

from __future__ import annotations

import pytest
from piles import EAST, FAR, SETUP, SOUTH, PilesTable, top, with_a_foundation
from tables import figure

from scoring.engine import fold
from scoring.events import TilePlaced, TurnEnded
from scoring.expansions.tower import Captured, TowerRaised

CITY, CLOSES = (0, 2), ((0, 3), "base.E", 0)
KNIGHT = figure("base.E", 2, "city", "S", "blue")
TAKEN = Captured(player=0, owner=1, figure="follower", at=CITY, feature="city", where="S")


@pytest.fixture
def table() -> PilesTable:
    """Ben's knight stands beside Anna's tower, to which she has just added a block."""
    made = with_a_foundation()
    made.lays(EAST, "base.U", 0)
    made.lays(CITY, "base.E", 2, KNIGHT)
    made.lays((2, 0), "base.U", 0)
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


def test_it_may_be_told_some_turns_after_he_scored(table: PilesTable) -> None:
    """His tile is not looked at again until Anna and Ben have laid tiles, too."""
    goes(table, 3)
    table.hidden = (CITY, SOUTH)
    table.book.say(TilePlaced(player=1, tile="base.U", at=(3, 0), rot=0))  # Ben's turn, before he closes the city
    table.tiles[3, 0] = "base.U", 0
    table.tiles[FAR] = "base.U", 0
    table.sees(1, 1.5)
    table.lays(*CLOSES)
    table.lays((4, 0), "base.U", 0)
    table.hidden = ()
    table.sees(6)
    assert [type(e) for e in table.events].index(Captured) < len(table.events) - 3


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


SMALL = (0.004, 0.0)  # by which a block displaces the top right below the camera: less than the noise


@pytest.fixture
def below() -> PilesTable:
    """A tower of one right below the camera, between Ben's monk and Anna's knight; Ben has laid a road."""
    made = with_a_foundation()
    made.lays(EAST, "base.U", 0)
    made.tiles[(1, 1)] = ("base.B", 0)
    made.figures[(1, 1)] = (figure("base.B", 0, "cloister", "I", "blue"),)
    made.piles[SOUTH] = top(1, floor=SMALL)
    made.sees()
    made.lays(FAR, "base.U", 0)
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
