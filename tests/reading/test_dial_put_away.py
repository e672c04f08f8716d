"""A tile that moves the piece of a dial was put away while nobody could see it."""

from __future__ import annotations

import pytest
from tables import figure
from test_dial import NORTH, PLAIN, SEGMENTS, SIGNED, WEST, DialTable

from scoring.expansions.wheel import WheelTurned
from scoring.log import Amended, Retracted, effective, open_questions

BENS = WheelTurned(player=1, steps=2)


def on(sections: int) -> str:
    """The section so many beyond that on which the piece begins."""
    return SEGMENTS[(SEGMENTS.index("fortune") + sections) % len(SEGMENTS)]


def asked(table: DialTable) -> list[object]:
    return [dict(effective(table.book.entries))[seq] for seq in open_questions(table.book.entries)]


def told_two(table: DialTable, section: str) -> DialTable:
    """Ben's tile with the sign came to sight, and the piece stands on a section; people say that it went two for it."""
    table.tiles[WEST], table.figures[WEST] = SIGNED, (figure("wheel.33", 0, "road", "W", "blue"),)
    table.turns_to(section)
    table.sees(10)
    for seq, event in effective(table.book.entries):
        if seq in open_questions(table.book.entries) and isinstance(event, WheelTurned):
            table.book.say(Amended(seq=seq, body=BENS))
    table.sees(8)
    return table


def with_annas_tile() -> DialTable:
    """Hers, without the sign, lies there, and no look was at it yet."""
    table = DialTable()
    table.tiles[NORTH], table.figures[NORTH] = PLAIN, (figure("wheel.32", 3, "road", "N", "red"),)
    return table


def test_what_is_lacking_to_where_it_stopped_is_asked_about() -> None:
    table = told_two(with_annas_tile(), on(5))
    assert asked(table) == [WheelTurned(player=0, steps=3)]
    table.book.say(Retracted(seq=next(iter(open_questions(table.book.entries)))))
    table.sees(8)
    assert not asked(table) and table.told(WheelTurned) == [BENS]


@pytest.mark.parametrize(("section", "between"), [(on(2), None), (on(5), on(0))])
def test_nothing_is_lacking_if_that_leads_there_or_it_was_seen_in_between(section: str, between: str | None) -> None:
    table = with_annas_tile()
    if between is not None:
        table.turns_to(between)
    told_two(table, section)
    assert not asked(table) and table.told(WheelTurned) == [BENS]


def test_where_another_tile_came_to_sight_too_nobody_knows_whose_move_is_lacking() -> None:
    table = with_annas_tile()
    table.tiles[2, -2] = "wheel.32", 0
    told_two(table, on(5))
    assert table.told(WheelTurned) == [BENS] and not any(isinstance(event, WheelTurned) for event in asked(table))
