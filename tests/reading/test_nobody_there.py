"""What looks like a figure that no rule explains is asked about once, whatever paint it has next."""

from __future__ import annotations

import pytest
from tables import TWO, Table, figure

from scoring.events import FigurePlaced
from scoring.log import Amended, Retracted, effective, open_questions


def asked(table: Table) -> list[object]:
    known = dict(effective(table.book.entries))
    return [known[seq] for seq in sorted(open_questions(table.book.entries))]


@pytest.mark.parametrize("nobody", [True, False])
def test_where_people_say_that_nobody_stands_a_shadow_of_another_paint_is_nobody(nobody: bool) -> None:
    table = Table(TWO)
    table.lays((1, 0), "base.U", 0)  # Anna, with nobody
    table.lays((2, 0), "base.U", 0)  # Ben
    for seq, event in effective(table.book.entries):
        table.book.say(Amended(seq=seq, body=event))  # people say who laid them
    table.figures[1, 0] = (figure("base.U", 0, "field", "NL NR EL WR", "blue"),)  # a shadow: Ben's, on Anna's tile
    table.sees(8)
    (first,) = asked(table)
    assert isinstance(first, FigurePlaced) and (first.at, first.player) == ((1, 0), 1)
    seq, = open_questions(table.book.entries)
    if nobody:
        table.book.say(Retracted(seq=seq))
    table.figures[1, 0] = (figure("base.U", 0, "field", "NL NR EL WR", "red"),)
    table.sees(8)
    assert len(asked(table)) == (0 if nobody else 1)
