"""Neutral pieces that no look finds: hidden where they were never seen, missed where they were."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from test_neutral import FAR, WEST, PiecesTable, fairy_beside, questions

from scoring.expansions.dragon_moves import FairyMoved
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
