"""What looks like a figure that no rule explains is asked about once, whatever paint it has next."""

from __future__ import annotations

import pytest
from tables import TWO, Table, figure
from test_neutral import EAST, FAR, WEST, PiecesTable

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


def test_who_came_in_another_turn_is_not_asked_about_again() -> None:
    """A follower through a portal, where print looked a little like him before: at a film's end he was asked about for
    ever as one of his tile's turn."""
    table = PiecesTable()
    table.lays(WEST, "base.U", 0)  # Anna
    table.lays(FAR, "base.U", 0, figure("base.U", 0, "road", "E W", "red", there=0.3))  # Ben
    table.lays(EAST, "dragon.08", 0)  # Anna: a portal
    for seq, event in effective(table.book.entries):
        table.book.say(Amended(seq=seq, body=event))
    table.book.say(FigurePlaced(player=0, figure="follower", at=FAR, feature="road", where="E W", portal=True))
    table.figures[FAR] = (figure("base.U", 0, "road", "E W", "red"),)
    answers = 0
    for x in range(2, 12):
        table.lays((x, 0), "base.U", 0)
        table.sees(4)
        for seq in sorted(open_questions(table.book.entries)):
            table.book.say(Retracted(seq=seq))
            answers += 1
    assert not answers and sum(isinstance(e, FigurePlaced) for e in table.events) == 1


def test_the_end_is_decided_once_although_nothing_of_it_is_saved() -> None:
    table = Table(TWO)
    table.tiles[1, 0] = "base.U", 0
    table.t_s += 5.0
    table.reader.look(table.look(), table.book.entries)
    told = [len(table.reader.finish(table.book.entries).decisions) for _ in range(4)]
    assert told == [1, 1, 0, 0]
