"""Who stands on a pile and is hardly seen is asked about, because its top is not found any more."""

from __future__ import annotations

from dataclasses import replace

import pytest
from piles import FAR, SOUTH, PilesTable, top, with_a_tower
from tables import figure

from reading.limits import LIMITS
from scoring.events import FigurePlaced
from scoring.expansions.tower import Captured, TowerRaised
from scoring.log import Retracted, effective, open_questions

MORE = (-3, 0)
GUARD = FigurePlaced(player=1, figure="follower", at=SOUTH, feature="tower", where="I")


@pytest.fixture
def table() -> PilesTable:
    """Anna has begun a tower in the south, which Ben may close in the turn of the newest tile."""
    made = with_a_tower()
    made.lays(FAR, "base.U", 0)
    assert made.told(TowerRaised) == [TowerRaised(player=0, at=SOUTH)]
    return made


def hidden(table: PilesTable, there: float) -> None:
    """The top is not found for long enough."""
    table.piles[SOUTH] = replace(top(1, off=(0.2, 0.1)), there=there)
    table.sees(int(LIMITS.ask_after_s / 2.0) + 2, 2.0)


def guards(table: PilesTable) -> list[FigurePlaced]:
    return [e for e in table.told(FigurePlaced) if e.feature == "tower"]  # type: ignore[misc, attr-defined]


def test_a_top_that_is_not_found_any_more_is_asked_about(table: PilesTable) -> None:
    hidden(table, -4.7)
    assert guards(table) == [GUARD] and table.book.questions == 1


def test_it_is_asked_about_in_the_turn_in_which_it_was_missed_first(table: PilesTable) -> None:
    table.piles[SOUTH] = replace(top(1, off=(0.2, 0.1)), there=-4.7)
    table.sees(2, 2.0)
    table.lays(MORE, "base.U", 0)
    hidden(table, -4.7)
    assert guards(table) == [GUARD] and table.book.questions == 1


@pytest.mark.parametrize("there", [-1.6, 0.5])
def test_a_top_that_is_seen_badly_is_not(table: PilesTable, there: float) -> None:
    hidden(table, there)
    assert not guards(table) and not table.book.questions


def test_a_hand_that_rests_there_is_not(table: PilesTable) -> None:
    table.piles[SOUTH] = replace(top(1, off=(0.2, 0.1)), there=-4.7)
    table.sees(6, 2.0)
    table.piles[SOUTH] = top(1)
    table.sees(12, 2.0)
    assert not guards(table) and not table.book.questions


def test_that_nobody_stands_there_is_believed(table: PilesTable) -> None:
    hidden(table, -4.7)
    table.book.say(Retracted(seq=max(open_questions(table.book.entries))))
    hidden(table, -4.7)
    assert not guards(table) and table.book.questions == 1


def test_what_looks_a_little_like_a_figure_on_a_hidden_top_is_asked_about(table: PilesTable) -> None:
    faint = replace(figure("tower.02", 0, "field", "NL NR EL ER SL SR WL WR", "blue"), there=0.8, foot=(0.53, 0.48))
    table.figures[SOUTH] = (faint,)
    hidden(table, -0.8)
    assert guards(table) == [GUARD] and table.book.questions == 1


def test_at_the_end_no_later_look_will_find_the_top(table: PilesTable) -> None:
    faint = replace(figure("tower.02", 0, "field", "NL NR EL ER SL SR WL WR", "blue"), there=0.8, foot=(0.53, 0.48))
    table.figures[SOUTH] = (faint,)
    table.piles[SOUTH] = replace(top(1, off=(0.2, 0.1)), there=-0.8)
    table.sees(4, 2.0)
    assert not guards(table)
    asked = [d for d in table.reader.finish(table.book.entries).decisions if d.events == (GUARD,)]
    assert len(asked) == 1 and asked[0].asked


def test_what_looks_a_little_like_a_figure_beside_a_plain_top_is_not(table: PilesTable) -> None:
    faint = replace(figure("tower.02", 0, "field", "NL NR EL ER SL SR WL WR", "blue"), there=0.8, foot=(0.53, 0.48))
    table.figures[SOUTH] = (faint,)
    table.sees(int(LIMITS.ask_after_s / 2.0) + 2, 2.0)
    assert not guards(table) and not table.book.questions


@pytest.fixture
def denied() -> PilesTable:
    """Whoever was in reach of Anna's tower is gone, a block that took him is told, and its top is not seen."""
    table = with_a_tower()
    table.lays((1, 1), "base.B", 0, figure("base.B", 0, "cloister", "I", "blue"))
    table.lays(FAR, "base.U", 0)
    table.touched_s = 2.0
    table.piles[SOUTH] = top(1, there=-1.8)
    table.sees(1)
    table.touched_s = 0.0
    table.figures[1, 1] = ()
    table.sees(6, 1.2)
    return table


def denies(table: PilesTable) -> None:
    """People say that nobody was taken, and that there is no block."""
    for kind in (Captured, TowerRaised):
        table.book.say(Retracted(seq=max(s for s, e in effective(table.book.entries) if isinstance(e, kind))))
    table.figures[1, 1] = (figure("base.B", 0, "cloister", "I", "blue"),)


def test_where_people_say_that_no_block_hides_the_top_they_are_asked_who_does(denied: PilesTable) -> None:
    denies(denied)
    assert not guards(denied)
    denied.sees(14, 2.0)
    assert guards(denied) == [replace(GUARD, player=0)] and denied.book.questions == 1


def test_they_are_asked_about_the_turn_in_which_it_was_hidden_though_others_followed(denied: PilesTable) -> None:
    for n in (3, 4, 5):
        denied.lays((-n, 0), "base.U", 0)
    denies(denied)
    denied.sees(14, 2.0)
    assert guards(denied) == [replace(GUARD, player=0)] and denied.book.questions == 1


def test_they_are_not_asked_once_the_top_is_seen_again(denied: PilesTable) -> None:
    denies(denied)
    denied.sees(2, 2.0)
    denied.piles[SOUTH] = top(1)
    denied.sees(14, 2.0)
    assert not guards(denied) and not denied.book.questions
