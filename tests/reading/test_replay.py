"""Turns of the log replayed at once cost and lead to what they do one by one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tables import TWO

sys.path.insert(0, str(Path(__file__).parents[1] / "scoring"))
from random_games import random_game  # noqa: E402

from reading import replay
from reading.layings import Laying, Steps
from reading.logged_game import LoggedTurn, logged_game
from reading.replay import Replay
from scoring.engine import fold, step
from scoring.errors import IllegalMove
from scoring.events import Event, FigurePlaced, TilePlaced, TurnEnded
from scoring.expansions.traders import GoodsCounted
from scoring.log import LogEntry
from scoring.state import GameState


def turns(events: list[Event]) -> tuple[LoggedTurn, ...]:
    return logged_game([LogEntry(seq=n, body=e, source="camera") for n, e in enumerate(events, 1)]).groups


def one_by_one(state: GameState, groups: tuple[LoggedTurn, ...]) -> tuple[float, GameState]:
    """What the search does with turns that it weighs, one after the other: as they are logged."""
    weight = 0.0
    for group in groups:
        laying = Laying(state, None, group, 0, Steps(), {}, {})
        laying.as_told({})
        as_logged = next(n for n in range(3) if laying.outcome(n).turns[0].tile == group.tile.event) \
            if group.tile is not None else 0
        own = laying.weight(as_logged)
        assert own is not None
        weight, state = weight + own, laying.outcome(as_logged).state
    return weight, state


@pytest.mark.parametrize("boxes", [("base",), ("base", "inns", "traders", "dragon", "tower")])
@pytest.mark.parametrize("seed", [3, 4])
def test_after_any_state_it_costs_what_the_turns_cost_one_by_one(boxes: tuple[str, ...], seed: int) -> None:
    """After the log's own state and after one in which the first tile was another player's, without its figure."""
    setup, events = random_game(seed, *boxes, tiles=40, name="zman2012")
    groups = turns(list(events))
    first = groups[0].tile
    assert first is not None and isinstance(first.event, TilePlaced)
    other = TilePlaced(player=1, tile=first.event.tile, at=first.event.at, rot=(first.event.rot + 2) % 4)
    for start in (fold(setup, [line.event for line in groups[0].lines]), fold(setup, [other])):
        done = Replay(start, groups[1:], 1, frozenset((7,)), Steps(), {})
        weight, state = one_by_one(start, groups[1:])
        assert done.weight(0) == pytest.approx(weight)
        outcome = done.outcome(0)
        assert outcome.state == state
        assert [t.group for t in outcome.turns] == list(groups[1:]) and all(t.replayed for t in outcome.turns)
        assert outcome.tracks == {7} and done.bound(0) == 0.0 and done.bound(1) is None


def test_the_states_of_the_log_are_not_worked_out_again(monkeypatch: pytest.MonkeyPatch) -> None:
    setup, events = random_game(5, "base", tiles=20, name="zman2012")
    steps, groups = Steps(most=1), turns(list(events))
    state = start = fold(setup, [])
    for event in events:
        after = step(state, event)
        steps.keep(state, event, after)
        state = after
    monkeypatch.setattr(replay, "apply", None)  # no draft is needed
    done = Replay(start, groups, 0, frozenset(), steps, {})
    done.weight(0)
    assert done.outcome(0).state is state


def test_an_event_without_a_meaning_changes_nothing() -> None:
    """Goods are no part of the game: the draft that it would spoil is not used."""
    tile = TilePlaced(player=0, tile="base.U", at=(1, 0), rot=0)
    follower = FigurePlaced(player=0, figure="follower", at=(1, 0), feature="road", where="E W")
    goods = GoodsCounted(player=0, goods="wine", count=1)
    with pytest.raises(IllegalMove):
        fold(TWO, [tile, goods])
    done = Replay(fold(TWO, []), turns([tile, follower, goods, TurnEnded()]), 0, frozenset(), Steps(), {})
    assert done.weight(0) == 0.0 and done.outcome(0).state == fold(TWO, [tile, follower, TurnEnded()])


def test_what_the_rules_have_against_a_turn_counts() -> None:
    """The log's second tile does not fit if the first one was turned."""
    first, second = (TilePlaced(player=n, tile="base.U", at=(n + 1, 0), rot=0) for n in (0, 1))
    turned = TilePlaced(player=0, tile="base.V", at=(1, 0), rot=1)
    log = turns([first, second])
    assert Replay(fold(TWO, [first]), log[1:], 1, frozenset(), Steps(), {}).weight(0) == 0.0
    against = Replay(fold(TWO, [turned]), log[1:], 1, frozenset(), Steps(), {}).weight(0)
    assert against is not None and against < -5.0
