"""Moves in a turn whose player is in doubt."""

from __future__ import annotations

from dataclasses import replace

import pytest
from test_neutral import EAST, WEST, PiecesTable

from reading.logged_game import LoggedGame, logged_game
from reading.policy import Decision, Doubt
from reading.whose_turn import asked_first
from scoring.events import TilePlaced
from scoring.expansions.dragon_moves import DragonMoved
from scoring.log import LogEntry


@pytest.fixture
def log() -> LoggedGame:
    table = PiecesTable()
    table.lays(EAST, "base.U", 0)
    table.lays(WEST, "base.U", 0)
    return logged_game(table.book.entries)


def walk(**given: int | None) -> Decision:
    return Decision(events=(DragonMoved(player=1, path=(WEST,)),), confidence=1.0, asked=False, alternatives=(),
                    at=WEST, frame=1, **given)  # type: ignore[arg-type]


def doubt(log: LoggedGame, other: TilePlaced) -> Doubt:
    tile = log.groups[-1].tile
    assert tile is not None
    return Doubt(gain=0.7, due=False, decision=Decision(
        events=(tile.event,), confidence=0.5, asked=True, alternatives=(((tile.event,), 0.5), ((other,), 0.5)),
        at=WEST, frame=1, replaces=tile.seq))


def test_whose_turn_it_is_is_asked_before_a_move_in_it_is_told(log: LoggedGame) -> None:
    first, last = (g.tile for g in log.groups[-2:])
    assert first is not None and last is not None and isinstance(last.event, TilePlaced)
    whose = doubt(log, replace(last.event, player=0))
    assert asked_first([], {last.seq: whose}, log) == ()
    assert asked_first([walk()], {}, log) == (walk(),)
    assert asked_first([walk()], {last.seq: whose}, log) == (whose.decision,)
    assert asked_first([walk(after=first.seq)], {last.seq: whose}, log) == (walk(after=first.seq),)
    assert asked_first([walk()], {last.seq: doubt(log, replace(last.event, rot=1))}, log) == (walk(),)


def test_nothing_waits_for_the_answer_to_another_question(log: LoggedGame) -> None:
    last = log.groups[-1].tile
    assert last is not None and isinstance(last.event, TilePlaced)
    whose = doubt(log, replace(last.event, player=0))
    asked = logged_game([LogEntry(seq=line.seq, body=line.event, asked=line is not last, source="camera",
                                  confidence=0.5) for line in log.lines])
    assert asked.asked and asked_first([walk()], {last.seq: whose}, asked) == (walk(),)
