"""Every score can be told as a sentence."""

from __future__ import annotations

import pytest
from random_games import random_game

from scoring.engine import fold
from scoring.events import GameEnded
from scoring.explain import ENGLISH, explain, in_english
from scoring.scores import Item, ScoreEvent

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
            assert {p["key"] for p in phrases} <= set(ENGLISH)
            assert scored.rule.startswith("R-")
            assert in_english(phrases, names).endswith(f"({scored.rule})")
