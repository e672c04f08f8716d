"""The games that the demo plays; the demo itself, through camera, vision, rules, log and page, is in test_serve.py."""

from __future__ import annotations

import pytest

from bastide.table.demo_game import demo_game
from scoring.report import score_game
from scoring.transcript import write


@pytest.mark.parametrize("seed", (1, 2))
def test_demo_games_are_whole_legal_and_the_same_each_time(seed: int) -> None:
    game = demo_game(seed)
    result = score_game(game)
    assert result["issues"] == []
    assert len(game.turns) == 71
    assert write(game) == write(demo_game(seed))
    reasons = {p["reason"] for e in result["final"] for p in e["points"]}
    assert "field" in reasons
    assert min(result["totals"]) > 20


def test_other_seeds_are_other_games() -> None:
    assert write(demo_game(1)) != write(demo_game(2))
