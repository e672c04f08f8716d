"""Neutral pieces that no look finds: hidden where they were never seen, missed where they were."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from unittest.mock import Mock

import pytest
from tables import figure
from test_neutral import FAR, WEST, PiecesTable, fairy_beside, questions

from scoring.expansions.dragon_moves import FairyMoved
from scoring.log import Retracted, open_questions
from scoring.tiles import Square
from vision.looks import NeutralLook, TableLook


class PrintTable(PiecesTable):
    """A table on which the print of a tile may look like a piece."""

    print_there: float | None = None

    def look(self) -> TableLook:
        seen = super().look()
        if self.print_there is None:
            return seen
        far = seen.squares[FAR]
        piece = NeutralLook(there=self.print_there, foot=(0.8, 0.3))
        return replace(seen, squares={**seen.squares, FAR: replace(far, neutral={**far.neutral, "fairy": piece})})


@pytest.fixture
def table() -> PrintTable:
    """Ben has moved the fairy to his follower in the west; Anna, whose turn it is, has one in the far west."""
    made = PrintTable()
    fairy_beside(made)
    made.lays((2, 0), "base.U", 0)
    return made


def looks_miss(table: PrintTable, looks: Callable[[], None]) -> list[FairyMoved]:
    """What is asked about after these looks in Anna's turn miss the piece, once Ben has laid a tile."""
    del table.stands["fairy"]
    looks()
    table.lays((3, 0), "base.U", 0)
    table.sees()
    return [e for e in questions(table) if isinstance(e, FairyMoved)]


@pytest.mark.parametrize("there", [None, 5.0])
def test_print_seen_while_the_piece_stood_elsewhere_does_not_say_that_looks_would_find_it_there(
        table: PrintTable, there: float | None) -> None:
    table.print_there = there
    table.sees(1)
    table.print_there = None
    table.sees(2)
    asked, = looks_miss(table, lambda: table.sees(6))
    assert (asked.player, asked.at) == (0, FAR)


def test_where_the_piece_never_was_seen_a_look_would_rather_show_it(table: PrintTable) -> None:
    """Few looks have missed it where it stood, and they had to miss it in either case."""
    def few() -> None:
        table.sees(3, every_s=1.0)
        table.hidden = (WEST,)
        table.sees(6)

    assert not looks_miss(table, few)


def test_one_that_left_before_several_quick_turns_is_asked_about(table: PrintTable) -> None:
    del table.stands["fairy"]
    table.sees(2, every_s=1.0)
    farmer = figure("base.U", 0, "field", "NL NR EL WR", "blue")
    for x in (3, 4, 5):
        table.tiles[x, 0] = "base.U", 0
        if x == 3:
            table.figures[x, 0] = (farmer,)
        table.sees(3, every_s=1.5)
    table.sees(10)
    asked, = questions(table)
    assert isinstance(asked, FairyMoved) and (asked.player, asked.at) == (0, FAR)


@pytest.mark.parametrize(("laid", "moved"), [(1, (0, FAR)), (2, (1, (3, 0)))])
def test_one_that_left_is_asked_about_though_people_denied_another_turns_move(
        table: PrintTable, laid: int, moved: tuple[int, Square]) -> None:
    there = table.stands["fairy"]
    table.figures[3, 0] = (figure("base.U", 0, "field", "NL NR EL WR", "blue"),)  # Ben, with the next tile
    denied, = looks_miss(table, lambda: table.sees(6))  # a hand lies over it
    assert (denied.player, denied.at) == (0, FAR)
    table.book.say(Retracted(seq=max(open_questions(table.book.entries))))
    table.stands["fairy"] = there
    table.sees(6)
    for x in range(laid):  # Anna, and Ben
        table.lays((4 + x, 0), "base.U", 0)
    del table.stands["fairy"]
    table.sees(6)
    table.lays((4 + laid, 0), "base.U", 0)
    table.sees()
    asked, = questions(table)
    assert isinstance(asked, FairyMoved) and (asked.player, asked.at) == moved


def test_one_that_may_have_left_in_either_of_two_turns_is_asked_about_for_one_after_the_other(
        table: PrintTable) -> None:
    commit = Mock(side_effect=table.book.commit)
    table.book.commit = commit
    table.lays((3, 0), "base.U", 0, figure("base.U", 0, "field", "NL NR EL WR", "blue"))  # Ben
    table.lays((4, 0), "base.U", 0)  # Anna
    table.hidden = (WEST,)
    del table.stands["fairy"]
    table.lays((5, 0), "base.U", 0)  # Ben
    table.hidden = ()
    table.sees(6)
    table.lays((6, 0), "base.U", 0)  # Anna
    table.sees()
    first, = questions(table)
    assert isinstance(first, FairyMoved) and (first.player, first.at) == (1, (3, 0))
    offered = commit.call_args.args[0].alternatives
    assert [events for events, _ in offered] == [(first,)]
    table.book.say(Retracted(seq=max(open_questions(table.book.entries))))
    table.sees()
    second, = questions(table)
    assert isinstance(second, FairyMoved) and (second.player, second.at) == (0, FAR)
    table.book.say(Retracted(seq=max(open_questions(table.book.entries))))
    table.sees(6)
    assert not questions(table)


def test_one_that_was_seen_after_the_next_tile_came_had_not_left_before(table: PrintTable) -> None:
    table.lays((3, 0), "base.U", 0)  # Ben has none but the one it stands beside
    del table.stands["fairy"]
    table.sees(6)
    farmer = figure("base.U", 0, "field", "NL NR EL WR", "red")
    table.lays((4, 0), "base.U", 0, farmer)  # Anna has put one down, and does not move it in the same turn
    table.sees(6)
    table.lays((5, 0), "base.U", 0)
    table.sees(6)
    assert not questions(table)
