"""The whole chain: a game from a seed through camera, vision, rules, log and page."""

from __future__ import annotations

import pytest

from bastide.cli import main
from bastide.demo_game import demo_game
from scoring.report import score_game
from scoring.transcript import write


def test_a_short_demo_ends_with_the_games_own_totals(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--once", "--turns", "8", "--seed", "1"]) == 0
    out = capsys.readouterr().out.splitlines()
    totals = score_game(demo_game(1, turns=8))["totals"]
    assert [line.split()[1:] for line in out if line.startswith("total ")] == [[str(t) for t in totals]]
    assert out[-1].startswith("the totals equal those of the game that was played")


@pytest.mark.parametrize("seed", range(1, 6))
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
