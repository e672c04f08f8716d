"""Histories side by side: margins and the answers that a question offers."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from tables import TWO

from reading.comparing import alternatives, margins
from reading.histories import History
from reading.layings import COSTS, Turn
from reading.limits import LIMITS
from reading.logged_game import LoggedEvent, LoggedTurn
from scoring.engine import new_game, step
from scoring.events import Event, FigurePlaced, TilePlaced
from vision.looks import probability

AT = (1, 0)
ROAD = TilePlaced(player=0, tile="base.U", at=AT, rot=0)
BEND = TilePlaced(player=0, tile="base.V", at=AT, rot=0)
THIEF = FigurePlaced(player=0, figure="follower", at=AT, feature="road", where="E W")


def turn(tile: TilePlaced, figure: FigurePlaced | None = None, *, told: bool = False,
         others: tuple[tuple[TilePlaced, FigurePlaced | None, float], ...] = (),
         log: tuple[Event, ...] = ()) -> Turn:
    tile_line, *rest = (LoggedEvent(seq=n, event=e, pinned=False, asked=False)
                        for n, e in enumerate(log or (tile,), 1))
    group = LoggedTurn(tile=tile_line, rest=tuple(rest)) if told or log else None
    return Turn(at=AT, tile=tile, figure=figure, group=group, weight=0.0,
                laying=SimpleNamespace(all=others))  # type: ignore[arg-type]


def history(score: float, *turns: Turn) -> History:
    dropped = frozenset() if turns else frozenset({AT})
    return History(state=new_game(TWO), turns=turns, score=score, weight=score, dropped=dropped)


def test_that_no_tile_lies_there_is_an_answer() -> None:
    mine = turn(ROAD)
    found = alternatives([history(0.0, mine), history(-1.0)], mine, figure=False)
    assert [events for events, _ in found] == [(ROAD,), ()]
    assert sum(p for _, p in found) == pytest.approx(1.0) and found[1][1] == pytest.approx(1 / (1 + 2.71828), abs=1e-3)


def test_where_a_tile_is_none_nobody_is_asked_who_stands_on_it() -> None:
    mine = turn(ROAD, THIEF)
    found = alternatives([history(0.0, mine), history(-1.0, turn(ROAD)), history(-0.5)], mine, figure=True)
    assert [events for events, _ in found] == [(THIEF,), ()]


def test_every_explanation_with_the_same_tile_speaks_for_it() -> None:
    """The likeliest history is not the told one, but both have that tile: no doubt of it."""
    mine = turn(ROAD, told=True)
    told = history(-1.5, mine)
    tile, _ = margins([history(0.0, turn(ROAD, THIEF, told=True)), told, history(-4.0, turn(BEND))], told, mine)
    assert tile == pytest.approx(4.0 - LIMITS.logged)


def test_a_figure_that_is_in_the_log_is_no_evidence_of_the_tile_with_a_place_for_it() -> None:
    """The other tile has no such segment, so nothing that stands on it can be as it is logged."""
    log, guard = (ROAD, THIEF), replace(THIEF, where="S W")
    mine = turn(ROAD, THIEF, log=log)
    others = ((ROAD, THIEF, 0.0), (BEND, guard, -3.0), (ROAD, None, -4.0))
    told, bent = history(0.0, mine), history(-3.0, turn(BEND, guard, log=log))
    margin = 3.0 - 2 * LIMITS.logged
    assert margins([told, bent], told, mine)[0] == pytest.approx(margin)
    alone = replace(mine, laying=SimpleNamespace(all=others))  # type: ignore[arg-type]
    only = replace(told, turns=(alone,))
    assert margins([only], only, alone) == (pytest.approx(margin), pytest.approx(4.0 - LIMITS.logged))
    for histories, one in (([told, bent], mine), ([only], alone)):
        assert alternatives(histories, one, figure=False)[0] == ((ROAD,), pytest.approx(probability(margin)))


def test_what_the_log_has_is_not_held_against_what_amends_it() -> None:
    """The reported history has another figure than the log: the log's gains from that, and no look says so."""
    log = (ROAD, THIEF)
    mine, logged = turn(ROAD, log=log), turn(ROAD, THIEF, log=log)
    told = history(0.0, mine)
    assert margins([told, history(-2.0, logged)], told, mine)[1] == pytest.approx(2.0 + LIMITS.logged)


def test_a_figure_is_held_against_those_on_the_same_tile() -> None:
    mine = turn(ROAD, THIEF)
    told = history(-0.5, mine)
    histories = [history(0.0, turn(ROAD, THIEF)), told, history(-0.7, turn(BEND)), history(-3.0, turn(ROAD))]
    tile, figure = margins(histories, told, mine)
    assert (tile, figure) == (pytest.approx(0.7), pytest.approx(3.0))


def test_what_a_reading_comes_to_later_counts_and_not_only_its_own_turn() -> None:
    """The bend is as likely for its turn alone, and what came after speaks against it; the field is in no history."""
    mine = turn(ROAD, others=((BEND, None, -1.0), (ROAD, THIEF, -2.5)))
    told = history(0.0, mine)
    tile, figure = margins([told, history(-6.0, turn(BEND))], told, mine)
    assert (tile, figure) == (pytest.approx(6.0), pytest.approx(2.5))


def test_a_reading_that_no_history_has_any_more_is_held_against_its_later_neighbours() -> None:
    """Its histories have been pruned because of them; its own turn alone would leave a doubt."""
    mine = turn(ROAD, told=True, others=((BEND, None, -1.0),))
    next_one = TilePlaced(player=1, tile="base.U", at=(2, 0), rot=0)
    beside = Turn(at=next_one.at, tile=next_one, figure=None, group=None, weight=0.0)
    told = replace(history(0.0, mine, beside), state=step(step(new_game(TWO), ROAD), next_one))
    assert margins([told], told, mine)[0] == pytest.approx(1.0 + COSTS["edge_mismatch"] - LIMITS.logged)
    assert alternatives([told], mine, figure=False)[0][1] > 0.999
    first = replace(told, turns=(beside, mine))  # what lay there before was counted in the tile's own turn
    assert margins([first], first, mine)[0] == pytest.approx(1.0 - LIMITS.logged)
    odd = replace(told, state=step(step(new_game(TWO), BEND), next_one))  # the told tile is the one that does not fit
    bent = turn(BEND, others=((ROAD, None, -7.5),))
    assert margins([replace(odd, turns=(bent, beside))], replace(odd, turns=(bent, beside)), bent)[0] == pytest.approx(
        0.0)
