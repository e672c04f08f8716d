"""Pieces that are nobody's and that looks find nowhere any more."""

from __future__ import annotations

from dataclasses import replace

import pytest
from test_neutral import FAR, PiecesTable, fairy_beside, questions

from scoring.expansions.dragon_moves import FairyMoved
from scoring.tiles import Square
from vision.looks import NeutralLook, TableLook


class PrintedTable(PiecesTable):
    """A table with ``prints`` that look like the fairy."""

    def __init__(self) -> None:
        self.prints: dict[Square, tuple[float, float]] = {}
        super().__init__()

    def look(self) -> TableLook:
        seen = super().look()
        squares = {at: replace(s, neutral={**s.neutral, "fairy": NeutralLook(there=3.0, foot=self.prints[at])})
                   if at in self.prints else s for at, s in seen.squares.items()}
        return replace(seen, squares=squares)


@pytest.fixture
def beside() -> PrintedTable:
    """Anna has a follower in the far west, and Ben has moved the fairy to his in the west."""
    made = PrintedTable()
    fairy_beside(made)
    return made


def test_one_that_the_last_looks_of_a_film_miss_is_asked_about(beside: PrintedTable) -> None:
    beside.sees(6)
    beside.lays((2, 0), "base.U", 0)  # Anna, with nobody
    del beside.stands["fairy"]
    beside.sees(2)
    assert not questions(beside)  # it is not known how the turn goes on
    for made in beside.reader.finish(beside.book.entries).decisions:
        beside.book.commit(made)
    asked, = questions(beside)
    assert isinstance(asked, FairyMoved) and (asked.player, asked.at) == (0, FAR)


def test_it_may_have_gone_where_print_was_taken_for_it(beside: PrintedTable) -> None:
    """It was seen where it stood at the same time. Looks miss it beside the follower there, and the print as well."""
    beside.prints[FAR] = 0.2, 0.8
    beside.sees(6)
    beside.lays((2, 0), "base.U", 0)  # Anna, with nobody
    del beside.stands["fairy"], beside.prints[FAR]
    beside.sees(6)
    beside.lays((3, 0), "base.U", 0)  # Ben
    asked, = questions(beside)
    assert isinstance(asked, FairyMoved) and (asked.player, asked.at) == (0, FAR)
