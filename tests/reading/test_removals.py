"""Knights that a princess sent home: told by what vanished."""

from __future__ import annotations

import pytest
from tables import figure
from test_neutral import NORTH, SETUP, PiecesTable

from scoring.engine import fold
from scoring.events import FigurePlaced
from scoring.expansions.dragon_moves import PrincessRemoved
from scoring.log import Retracted, effective

CITY, PRINCESS = ("base.R", 1), ((1, -1), "dragon.20", 0)


@pytest.fixture
def table() -> PiecesTable:
    """Anna's knight stands in a city in the north."""
    made = PiecesTable()
    made.figures[NORTH] = (figure(*CITY, "city", "N E S", "red"),)
    made.lays(NORTH, *CITY)
    return made


def test_a_knight_that_vanished_was_sent_home(table: PiecesTable) -> None:
    table.lays(*PRINCESS)
    assert not any(isinstance(e, PrincessRemoved) for e in table.events)  # it stands there still
    table.figures.clear()
    table.sees(4)
    gone, = [e for e in table.events if isinstance(e, PrincessRemoved)]
    assert (gone.player, gone.owner, gone.at) == (1, 0, NORTH) and not fold(SETUP, table.events).standing


def test_it_may_be_noticed_turns_later(table: PiecesTable) -> None:
    """One look saw its tile without it, and then nobody touched that tile."""
    table.lays(*PRINCESS)
    table.figures.clear()
    table.sees(1, every_s=1.0)
    table.hidden = (NORTH,)
    for at in ((-1, 0), (-2, 0), (-3, 0)):
        table.lays(at, "base.U", 0)
    table.hidden = ()
    table.sees(4)
    gone, = [e for e in table.events if isinstance(e, PrincessRemoved)]
    assert (gone.player, gone.owner, gone.at) == (1, 0, NORTH)
    assert [type(e).__name__ for e in table.events].index("PrincessRemoved") == 3  # right after her tile


def test_a_hand_over_a_knight_for_a_moment_sends_nobody_home(table: PiecesTable) -> None:
    """Two looks half a second apart miss it, turns after the princess, and then the hand covers the tile."""
    table.lays(*PRINCESS)
    table.hidden = (NORTH,)
    for at in ((-1, 0), (-2, 0), (-3, 0)):
        table.lays(at, "base.U", 0)
    knight, table.hidden = dict(table.figures), ()
    table.figures.clear()
    table.sees(1, every_s=1.0)
    table.sees(1, every_s=0.5)
    table.figures.update(knight)
    table.hidden = (NORTH,)
    table.sees(5, every_s=1.0)
    table.hidden = ()
    table.sees()
    assert not any(isinstance(e, PrincessRemoved) for e in table.events)


def test_two_looks_after_the_touch_are_enough(table: PiecesTable) -> None:
    """Nobody touches her tile again, so there are no more looks at it."""
    table.lays(*PRINCESS)
    table.figures.clear()
    table.sees(1)
    table.sees(1, every_s=1.5)
    table.hidden = (NORTH,)
    table.sees(4, every_s=1.0)
    gone, = [e for e in table.events if isinstance(e, PrincessRemoved)]
    assert (gone.player, gone.owner, gone.at) == (1, 0, NORTH)


def test_whoever_put_a_figure_down_sent_nobody_home(table: PiecesTable) -> None:
    table.figures[PRINCESS[0]] = (figure(*PRINCESS[1:], "field", "EL ER SL SR", "blue"),)
    table.lays(*PRINCESS)
    assert len([e for e in table.events if isinstance(e, FigurePlaced)]) == 2
    del table.figures[NORTH]
    table.sees(4)
    assert not any(isinstance(e, PrincessRemoved) for e in table.events)


def test_what_people_took_back_is_not_told_again(table: PiecesTable) -> None:
    table.lays(*PRINCESS)
    table.figures.clear()
    table.sees(4)
    seq = next(s for s, e in effective(table.book.entries) if isinstance(e, PrincessRemoved))
    table.book.say(Retracted(seq=seq))
    table.sees(4)
    assert not any(isinstance(e, PrincessRemoved) for e in table.events)
