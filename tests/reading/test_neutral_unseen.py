"""Neutral pieces that no look finds: hidden where they were never seen, missed where they were."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from tables import figure
from test_neutral import EAST, FAR, NORTH, WEST, PiecesTable, questions

from scoring.expansions.dragon_moves import FairyMoved
from scoring.log import Amended, effective
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
    made.lays(EAST, "dragon.17", 0)
    made.stands["dragon"] = EAST, (0.5, 0.5)
    made.lays(WEST, "base.U", 0, figure("base.U", 0, "road", "E W", "blue"))
    made.lays(FAR, "base.U", 0, figure("base.U", 0, "road", "E W", "red"))
    made.lays(NORTH, "base.E", 2)
    made.stands["fairy"] = WEST, (0.7, 0.3)
    made.sees()
    for seq, event in effective(made.book.entries):
        made.book.say(Amended(seq=seq, body=event))  # people say that all of it is right
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
