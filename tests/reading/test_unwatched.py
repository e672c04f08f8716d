"""Turns of which no look saw anything, and a piece that somebody may have moved in them."""

from __future__ import annotations

import pytest
from tables import figure
from test_neutral import FAR, SETUP, WEST, PiecesTable, questions, with_thief

from reading.game import GameReader
from scoring.expansions.dragon_moves import FairyMoved
from scoring.log import Retracted, open_questions

HERS, HIS = (-1, 1), (-1, -1)


@pytest.fixture
def table() -> PiecesTable:
    """Anna has a monk, Ben another one, and the fairy stands beside his thief."""
    made = with_thief()
    made.lays(HERS, "base.B", 0, figure("base.B", 0, "cloister", "I", "red"))
    made.lays(HIS, "base.B", 0, figure("base.B", 0, "cloister", "I", "blue"))
    made.lays((2, 0), "base.U", 0)
    made.lays((3, 0), "base.U", 0)
    made.stands["fairy"] = WEST, (0.4, 0.3)
    made.sees(6)
    assert [e.at for e in made.told(FairyMoved) if isinstance(e, FairyMoved)] == [WEST] and not questions(made)
    return made


def moved(table: PiecesTable) -> None:
    """The fairy stands beside Ben's monk now, and Ben's tile lies in the far west."""
    table.tiles[-3, 0] = "base.U", 0
    table.stands["fairy"] = HIS, (0.4, 0.3)
    table.sees(8)


def test_who_may_have_moved_it_while_nobody_saw_the_table_is_asked(table: PiecesTable) -> None:
    table.tiles[FAR] = "base.U", 0
    moved(table)
    asked, = questions(table)
    assert isinstance(asked, FairyMoved) and (asked.player, asked.at) == (0, HERS)
    seq, = open_questions(table.book.entries)
    table.book.say(Retracted(seq=seq))
    table.sees(8)
    assert not questions(table)
    table.lays((4, 0), "base.U", 0)
    table.stands["fairy"] = HERS, (0.4, 0.3)  # Anna does it now
    table.sees(8)
    assert not questions(table)


def test_in_a_turn_that_looks_saw_nobody_is_thought_to_have_moved_it(table: PiecesTable) -> None:
    table.lays(FAR, "base.U", 0)
    moved(table)
    assert not questions(table)


def test_a_turn_that_a_look_saw_was_watched_even_if_the_next_one_came_at_once(table: PiecesTable) -> None:
    table.tiles[FAR] = "base.U", 0
    table.sees(1)
    table.tiles[-3, 0] = "base.U", 0
    table.stands["fairy"] = HIS, (0.4, 0.3)
    table.sees(1, 2.0)
    table.sees(8)
    assert not questions(table)


def test_a_look_that_does_not_show_the_piece_watched_no_turn_of_it(table: PiecesTable) -> None:
    """An arm was over all the places where it may stand."""
    table.tiles[FAR] = "base.U", 0
    table.hidden = (WEST, HERS, HIS)
    del table.stands["fairy"]
    table.sees(1)
    table.hidden = ()
    table.tiles[-3, 0] = "base.U", 0
    table.stands["fairy"] = HIS, (0.4, 0.3)
    table.sees(1, 2.0)
    table.sees(8)
    assert len(questions(table)) == 1


def test_who_did_something_else_has_not_moved_it(table: PiecesTable) -> None:
    table.tiles[FAR] = "base.U", 0
    table.figures[FAR] = (figure("base.U", 0, "field", "NL NR EL WR", "red"),)
    moved(table)
    assert not questions(table)


def test_a_piece_that_stayed_is_not_asked_about(table: PiecesTable) -> None:
    table.tiles[FAR] = table.tiles[-3, 0] = "base.U", 0
    table.sees(8)
    assert not questions(table)


def test_tiles_that_lay_there_when_the_watching_began_were_watched_before(table: PiecesTable) -> None:
    """The program is started anew in the middle of a game."""
    table.lays(FAR, "base.U", 0)
    moved(table)
    table.reader = GameReader(SETUP)
    table.sees(8)
    assert not questions(table)


def test_nobody_is_asked_whether_it_was_moved_to_where_it_stood(table: PiecesTable) -> None:
    """It stands beside Anna's only figure when the table is hidden."""
    table.lays(FAR, "base.U", 0)
    table.stands["fairy"] = HERS, (0.4, 0.3)
    table.sees(6)
    table.lays((-3, 0), "base.U", 0)
    table.tiles[4, 0] = table.tiles[5, 0] = "base.U", 0
    table.stands["fairy"] = HIS, (0.4, 0.3)
    table.sees(8)
    assert [e.player for e in table.told(FairyMoved) if isinstance(e, FairyMoved)] == [1, 0, 1]
    assert not questions(table)
