"""Piles of blocks: a block that no look shows, and what people say of blocks."""

from __future__ import annotations

from dataclasses import replace

import pytest
from piles import FAR, FLOOR, SOUTH, PilesTable, top, with_a_foundation, with_a_tower
from tables import figure

from scoring.expansions.tower import Captured, TowerRaised
from scoring.log import Retracted, effective, open_questions

MONK = figure("base.B", 0, "cloister", "I", "blue")


@pytest.fixture
def table() -> PilesTable:
    return with_a_tower()


def takes_back(table: PilesTable, *kinds: type) -> None:
    for kind in kinds:
        table.book.say(Retracted(seq=max(s for s, e in effective(table.book.entries) if isinstance(e, kind))))


def added_unseen(table: PilesTable, moved_s: float = 2.0) -> None:
    """A monk vanishes beside a pile whose top is not seen since a hand was over it."""
    table.touched_s = moved_s
    table.piles[SOUTH] = top(1, there=-3.0)
    table.sees(1)
    table.touched_s = 0.0
    table.figures[1, 1] = ()
    table.sees(6, 1.2)


def test_a_block_that_was_told_unseen_is_the_one_that_is_seen_later(table: PilesTable) -> None:
    table.lays((1, 1), "base.B", 0, MONK)
    table.lays(FAR, "base.U", 0)
    added_unseen(table)
    assert table.told(TowerRaised)[1:] == [TowerRaised(player=0, at=SOUTH)] and len(table.told(Captured)) == 1
    table.lays((2, 0), "base.U", 0)
    table.touched_s, table.piles[SOUTH] = 0.0, top(2)
    table.sees(8)
    table.lays((3, 0), "base.U", 0)
    table.sees(8)
    assert len(table.told(TowerRaised)) == 2 and table.book.questions == 0


@pytest.mark.parametrize(("there", "blocks"), [(-0.3, 1), (-1.0, 0), (-6.0, 0)])
def test_a_first_block_behind_a_figure_is_betrayed_by_whom_it_took(there: float, blocks: int) -> None:
    """The looks that find nothing there say as little as those that miss the top of a known pile."""
    table = with_a_foundation()
    table.touched_s = 0.0
    table.lays((1, 1), "base.B", 0, MONK)
    table.piles[SOUTH] = top(0, there=there)
    table.lays(FAR, "base.U", 0)
    table.touched_s = 2.0
    table.sees(1)
    table.touched_s = 0.0
    table.figures[1, 1] = ()
    table.sees(6, 1.2)
    table.lays((2, 1), "base.U", 0)
    table.sees(6)
    assert len(table.told(TowerRaised)) == len(table.told(Captured)) == blocks


def test_a_place_that_a_figure_hides_makes_no_block_by_itself() -> None:
    table = with_a_foundation()
    table.touched_s = 0.0
    table.piles[SOUTH] = top(0, there=-0.3)
    for x in (2, 3, 4):
        table.touched_s = 2.0
        table.lays((x, 0) if x > 2 else FAR, "base.U", 0)
        table.touched_s = 0.0
        table.sees(8)
    assert not table.told(TowerRaised) and not open_questions(table.book.entries)


def test_who_stands_at_a_corner_of_the_tile_is_not_on_a_pile_that_nobody_sees() -> None:
    table = with_a_foundation()
    table.touched_s = 0.0
    table.lays((1, 1), "base.B", 0, MONK)
    table.piles[SOUTH] = top(0, there=-0.3)
    table.lays(FAR, "base.U", 0)
    table.touched_s = 2.0
    table.sees(1)
    table.touched_s = 0.0
    table.figures[1, 1] = ()
    table.figures[SOUTH] = (replace(figure("base.U", 0, "road", "E W", "red"), foot=(0.05, 0.05)),)
    table.sees(6, 1.2)
    table.lays((2, 1), "base.U", 0)
    table.sees(6)
    assert len(table.told(TowerRaised)) == len(table.told(Captured)) == 1


def test_a_hand_that_passes_adds_no_block_that_nobody_sees(table: PilesTable) -> None:
    table.lays((1, 1), "base.B", 0, MONK)
    table.lays(FAR, "base.U", 0)
    added_unseen(table, moved_s=0.2)
    assert len(table.told(TowerRaised)) == 1


def test_a_block_that_people_take_back_is_in_no_other_turn(table: PilesTable) -> None:
    table.lays((1, 1), "base.B", 0, MONK)
    for at in (FAR, (2, 0), (3, 0)):
        table.lays(at, "base.U", 0)
    added_unseen(table)
    assert len(table.told(TowerRaised)) == 2
    takes_back(table, Captured, TowerRaised)
    table.sees(4, 1.2)
    table.sees(8)
    assert len(table.told(TowerRaised)) == 1


def test_a_block_after_one_that_was_taken_back_is_of_its_own_turn(table: PilesTable) -> None:
    table.lays(FAR, "base.U", 0)
    table.lays((1, 1), "base.B", 0)
    table.lays((2, 0), "base.U", 0)
    table.book.say(TowerRaised(player=1, at=SOUTH))
    takes_back(table, TowerRaised)
    table.touched_s = 2.0
    table.sees(1)
    table.piles[SOUTH] = top(2)
    table.sees(1)
    table.touched_s = 0.0
    table.sees(8)
    assert table.told(TowerRaised)[1:] == [TowerRaised(player=1, at=SOUTH)]


def test_who_goes_onto_a_pile_adds_no_block(table: PilesTable) -> None:
    """His hand hides the top; that somebody else goes missing meanwhile does not say that a block was added."""
    table.lays(FAR, "base.U", 0)
    table.lays((1, 1), "base.B", 0, replace(MONK, colours={"red": 0.0, "blue": -7.0}))
    table.lays((2, 0), "base.U", 0)
    table.touched_s = 0.0
    table.sees(1)
    table.touched_s, table.piles[SOUTH] = 2.0, top(1, there=-3.0)
    table.lays((3, 0), "base.U", 0)
    table.sees(2, 2.0)
    table.touched_s = 0.0
    table.figures[SOUTH] = (replace(figure("base.U", 0, "road", "E W", "red"), foot=(0.53, 0.48)),)
    table.sees(2)
    table.figures[1, 1] = ()
    table.sees(3, 1.2)
    table.sees(4)
    assert len(table.told(TowerRaised)) == 1


def test_a_block_that_people_enter_before_it_lies_there_is_that_block(table: PilesTable) -> None:
    table.lays(FAR, "base.U", 0)
    table.lays((1, 1), "base.B", 0)
    table.touched_s = 0.0
    table.sees(1)
    table.book.say(TowerRaised(player=0, at=SOUTH))
    table.sees(1, 2.0)
    table.touched_s, table.piles[SOUTH] = 2.0, top(2)
    table.sees(1, 2.0)
    table.touched_s = 0.0
    table.sees(4)
    table.lays((2, 0), "base.U", 0)
    table.sees(6)
    assert len(table.told(TowerRaised)) == 2 and table.book.questions == 0


def test_a_block_that_people_enter_just_before_looks_show_it_is_that_block(table: PilesTable) -> None:
    """Earlier looks had its top where one block more need not be; that is not the one in the log."""
    table.lays(FAR, "base.U", 0, figure("base.U", 0, "field", "NL NR EL WR", "blue"))
    table.piles[SOUTH], table.touched_s = top(1, off=(0.3 * FLOOR[0], 0.3 * FLOOR[1])), 2.0
    table.sees(2)
    table.lays((1, 1), "base.B", 0)
    table.book.say(TowerRaised(player=0, at=SOUTH))
    table.piles[SOUTH] = top(2)
    table.sees(1, 2.0)
    pile = table.reader._stack_moves.tracks["tower", SOUTH].piles[0]
    assert (pile.height, pile.came_s[-1]) == (2, table.t_s)
    table.touched_s = 0.0
    table.sees(4)
    table.lays((2, 0), "base.U", 0)
    table.sees(6)
    assert len(table.told(TowerRaised)) == 2 and table.book.questions == 0


def test_who_left_in_a_later_turn_waits_for_a_block_of_that_turn(table: PilesTable) -> None:
    """Anna's block was known before Ben's tile came; the monk vanishes after that, and the next tile comes soon."""
    table.lays((1, 1), "base.B", 0, MONK)
    table.lays(FAR, "base.U", 0)
    table.touched_s, table.piles[SOUTH] = 2.0, top(2)
    table.sees(3)
    table.touched_s, table.hidden = 0.0, ((1, 1),)
    table.lays((2, 0), "base.U", 0)
    assert len(table.told(TowerRaised)) == 2
    table.figures[1, 1], table.hidden = (), ()
    table.sees(2, 1.2)
    table.lays((3, 0), "base.U", 0)
    assert not table.told(Captured)
    table.sees(4)
    assert len(table.told(Captured)) == 1
