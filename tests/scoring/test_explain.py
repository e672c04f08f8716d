"""Every score can be told as a sentence."""

from __future__ import annotations

import pytest
from random_games import random_game

from scoring.engine import apply, fold, new_game
from scoring.events import GameEnded, Player, Setup, parse_event
from scoring.expansions.wheel import segment_events
from scoring.explain import english, explain, in_english
from scoring.rules import edition, with_options
from scoring.scores import Item, ScoreEvent, category, formula
from scoring.state import Draft

NAMES = ("Anna", "Ben", "Cleo")


def event(**changes: object) -> ScoreEvent:
    values: dict[str, object] = {
        "turn": 3, "feature": "city", "reason": "city", "points": ((0, 14), (1, 14)), "majority": ((0, 2), (1, 2)),
        "items": (Item(what="tile", count=6, each=2), Item(what="pennant", count=1, each=2)),
        "places": (), "tiles": 6, "rule": "R-CITY-03", **changes}
    return ScoreEvent(**values)  # type: ignore[arg-type]


@pytest.mark.parametrize(("told", "sentence"), [
    (event(), "A city of 6 tiles is complete; Anna and Ben tie (Anna 2, Ben 2) and each get all of it; "
              "6 tiles x 2 + 1 pennant x 2 = 14; Anna 14; Ben 14 (R-CITY-03)"),
    (event(points=((1, 14),), majority=((0, 1), (1, 2))),
     "A city of 6 tiles is complete; Ben has the majority (Anna 1, Ben 2); 6 tiles x 2 + 1 pennant x 2 = 14; Ben 14 "
     "(R-CITY-03)"),
    (event(feature="field", reason="field", points=((2, 8),), majority=((2, 1),), rule="R-FARM-20", cities=((), ()),
           items=(Item(what="city", count=2, each=3), Item(what="pig", count=2, each=1, player=2))),
     "A farm borders 2 completed cities; Cleo stands there alone; 2 cities x 3 = 6; Cleo 2 pigs x 1 more; Cleo 8 "
     "(R-FARM-20)"),
])
def test_sentence(told: ScoreEvent, sentence: str) -> None:
    assert in_english(explain(told), NAMES) == sentence


def test_every_event_of_any_game_has_its_words() -> None:
    for seed in range(8):
        setup, events = random_game(seed, "base", "inns", "traders", "dragon", "tower", "wheel", tiles=50)
        names = [p.name for p in setup.players]
        for scored in fold(setup, [*events, GameEnded()]).score_events:
            phrases = explain(scored)
            assert {p["key"] for p in phrases} <= set(english())
            assert scored.rule.startswith("R-")
            assert in_english(phrases, names).endswith(f"({scored.rule})")


def at_wheel(*lines: str, **rules: object) -> list[ScoreEvent]:
    """What the wheel pays Anna, whose figures stand as the lines say."""
    players = (Player(name="Anna", colour="red"), Player(name="Ben", colour="blue"))
    d = Draft(new_game(Setup(players=players, rules=with_options(edition("wheel"), rules),
                             expansions=("base", "wheel"))))
    for line in lines:
        apply(d, parse_event(line))
    return [e for e in d.score_events if e.reason.startswith("wheel.")]


@pytest.mark.parametrize(("rule", "told"), [("per_knight", "1 pennant x 2 + 2 knights x 2 = 6"),
                                            ("per_city", "1 pennant x 1 + 2 knights x 1 = 3")])
def test_the_tax_names_pennants_and_knights(rule: str, told: str) -> None:
    """R-WHEEL-07, A-30."""
    d = Draft(new_game(Setup(players=(Player(name="Anna", colour="red"),), expansions=("base", "wheel"),
                             rules=with_options(edition("wheel"), {"wheel_tax": rule}))))
    apply(d, parse_event("tile 0 base.C 0,9 0"))
    for _ in range(2):
        apply(d, parse_event("deploy 0 follower 0,9 city N.E.S.W"))
    (paid,) = segment_events(d, "tax", 0)
    assert formula(paid) == told and paid.points[0][1] == int(told.rpartition(" ")[2])


def test_one_follower_on_two_crowns_and_two_followers() -> None:
    """R-WHEEL-13: both bring 6, and each says why."""
    turn = ("tile {0} wheel.01 {1},9 0", "crown {0} follower tax", "end_turn")
    lines = [line.format(n % 2, n) for n in range(3) for line in turn]
    (alone,) = at_wheel(*lines[:3], "wheel 1 1")
    assert (formula(alone), alone.points) == ("2 crowns x 3 = 6", ((0, 6),))
    (both,) = at_wheel(*lines[:3], lines[3], lines[5], *lines[6:], "wheel 1 1")
    assert (formula(both), both.points) == ("2 followers x 3 = 6", ((0, 6),))
    each = at_wheel(*lines[:6], "wheel 0 1")
    assert [(formula(e), e.points) for e in each] == [("1 crown x 3 = 3", ((0, 3),)), ("1 crown x 3 = 3", ((1, 3),))]


def test_points_of_the_wheel_by_where_it_stopped() -> None:
    assert {category(event(reason=r)) for r in ("city.tiny", "fairy.turn")} == {"city", "fairy"}
    paid = at_wheel("wheel 0 3", "discard 0 wheel.29", "wheel 0 3")
    assert {category(e) for e in paid} == {"wheel.storm", "wheel.fortune"}
