"""What looks like a figure that no rule explains is asked about once, whatever paint it has next."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tables import TWO, Table, figure
from test_neutral import EAST, FAR, WEST, PiecesTable

from reading.game import Decisions
from reading.policy import Decision
from scoring.events import FigurePlaced, GameEnded, Player, TilePlaced
from scoring.log import Amended, Inserted, LogEntry, Retracted, effective, open_questions
from vision.looks import FigureLook

RETRACTED = Decision(events=(), confidence=0.9, asked=False, alternatives=(), at=(0, 0), frame=0, replaces=5)


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
    both = replace(table.reader._once(Decisions()), decisions=2 * (RETRACTED,))
    assert [len(table.reader._once(both).decisions) for _ in range(3)] == [2, 2, 0]


THREE = replace(TWO, players=(*TWO.players, Player(name="Carl", colour="green")))


def shadow(paint: str) -> FigureLook:
    """What looks like a farmer of that paint on a road in the east."""
    seen = figure("base.U", 0, "field", "NL NR EL WR", "red")
    return replace(seen, colours={p.colour: 0.0 if p.colour == paint else -7.0 for p in THREE.players})


def with_a_shadow() -> Table:
    """Anna, Ben and Carl have laid a road each, and people say so; something on Anna's looks like Ben's farmer."""
    table = Table(THREE)
    for x in (1, 2, 3):
        table.lays((x, 0), "base.U", 0)
    for seq, event in effective(table.book.entries):
        table.book.say(Amended(seq=seq, body=event))
    table.figures[1, 0] = (shadow("blue"),)
    return table


def test_a_shadow_is_asked_about_for_one_paint() -> None:
    table = with_a_shadow()
    table.sees(8)
    (first,) = asked(table)
    assert isinstance(first, FigurePlaced) and first.player == 1
    table.book.say(Retracted(seq=max(open_questions(table.book.entries))))
    table.figures[1, 0] = (shadow("green"),)
    table.sees(12)
    assert not asked(table)


def test_the_question_goes_with_the_shadow() -> None:
    table = with_a_shadow()
    table.sees(8)
    assert len(asked(table)) == 1
    table.figures.clear()
    table.sees(8)
    assert not asked(table) and not any(isinstance(e, FigurePlaced) for e in table.events)


def test_what_people_entered_by_mistake_and_took_back_denies_nothing() -> None:
    """They had given him the wrong paint."""
    table = with_a_shadow()
    carl = FigurePlaced(player=2, figure="follower", at=(1, 0), feature="field", where="NL NR EL WR")
    table.book.say(Inserted(after=1, body=carl))
    table.book.say(Retracted(seq=table.book.entries[-1].seq))
    table.sees(8)
    (still,) = asked(table)
    assert isinstance(still, FigurePlaced) and still.player == 1


@pytest.mark.parametrize("where", [2, 3, 4])
def test_who_is_asked_about_goes_with_his_tile(where: int) -> None:
    """Tiles of the newest turns are taken up again, one with such a figure: no figure remains without a tile."""
    table = Table(TWO)
    for x in range(1, 6):
        table.lays((x, 0), "base.U", 0)
    for seq, event in effective(table.book.entries):
        if event.at != (where, 0):  # type: ignore[attr-defined]
            table.book.say(Amended(seq=seq, body=event))
    table.figures[where, 0] = (figure("base.U", 0, "field", "NL NR EL WR", ("blue", "red")[(where + 1) % 2]),)
    table.sees(8)
    for x in range(where, 6):
        table.tiles.pop((x, 0))
    table.figures.clear()
    table.sees(12)
    laid = {e.at for e in table.events if isinstance(e, TilePlaced)}
    assert all(e.at in laid for e in table.events if isinstance(e, FigurePlaced))


def test_the_end_of_a_game_is_decided_once_although_nothing_of_it_is_saved() -> None:
    table = Table(TWO)
    table.lays((1, 0), "base.U", 0)
    table.tiles[2, 0] = "base.U", 0
    table.t_s += 1.0
    table.reader.look(table.look(), table.book.entries)
    seq = len(table.book.entries) + 1
    ended = [*table.book.entries, LogEntry(seq=seq, body=GameEnded(), source="hand")]
    told = []
    for _ in range(4):
        table.t_s += 2.0
        told.append(len(table.reader.look(table.look(), ended).decisions))
    assert told == [1, 1, 0, 0]
    table.reader.look(table.look(), table.book.entries)  # it goes on after all
    assert table.reader.finish(table.book.entries).decisions
