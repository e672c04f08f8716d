"""What the rules have against a turn, and how far that can be trusted."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest
from tables import TWO

from reading.layings import Laying, Steps
from reading.logged_game import logged_game
from scoring.engine import fold
from scoring.events import FigurePlaced, TilePlaced
from scoring.log import LogEntry
from scoring.tiles import Square

BEFORE = (TilePlaced(player=0, tile="base.U", at=(1, 0), rot=0), FigurePlaced(player=0, figure="follower", at=(1, 0),
                                                                              feature="road", where="E W"),
          TilePlaced(player=1, tile="base.U", at=(2, 0), rot=0))
TURN = (TilePlaced(player=0, tile="base.U", at=(3, 0), rot=0),
        FigurePlaced(player=0, figure="follower", at=(3, 0), feature="road", where="E W"))  # on a claimed road


def weight(asked: Mapping[Square, float]) -> float:
    log = logged_game([LogEntry(seq=n, body=e, source="camera") for n, e in enumerate((*BEFORE, *TURN), 1)])
    laying = Laying(fold(TWO, BEFORE), None, log.groups[-1], 2, Steps(), {}, asked)
    laying.as_told({"red": 0, "blue": 1})
    found = laying.weight(0)
    assert found is not None
    return found


def test_the_rules_speak_against_a_second_follower_on_a_road() -> None:
    assert weight({}) < -4.0


@pytest.mark.parametrize("likely", [0.5, 0.8])
def test_they_lean_on_a_tile_asked_about_no_more_than_it_is_known(likely: float) -> None:
    assert weight({(2, 0): likely}) == pytest.approx(math.log(1.0 - likely))


def test_a_question_about_a_tile_elsewhere_changes_nothing() -> None:
    assert weight({(0, 1): 0.5, (5, 5): 0.5}) == weight({})
