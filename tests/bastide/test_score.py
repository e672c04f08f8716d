"""`bastide score` on whole recorded games: totals and every running score."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import recorded

from bastide.cli import main
from bastide.table.demo_game import demo_game
from scoring.transcript import write

OWN = Path(__file__).parent / "games"


def score(capsys: pytest.CaptureFixture[str], *argv: object) -> list[dict[str, Any]]:
    assert main(["score", "--json", *map(str, argv)]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    return [json.loads(line) for line in said.out.splitlines()]


def test_recorded_games_score_as_they_must(capsys: pytest.CaptureFixture[str]) -> None:
    results = score(capsys, *recorded.OWN)
    assert len(results) == len(recorded.OWN)
    wrong = []
    for path, result in zip(recorded.OWN, results, strict=True):
        game = recorded.load(path)
        assert result["file"] == str(path)
        if result["totals"] != game["expect"]["totals"]:
            wrong.append(f"{path.name}: totals {result['totals']}, not {game['expect']['totals']}")
        for n, (turn, now) in enumerate(zip(game["turns"], result["turns"], strict=True)):
            if now != turn["expect"]["score"]:
                wrong.append(f"{path.name}: turn {n}: {now}, not {turn['expect']['score']}")
    assert not wrong, "\n".join(wrong[:20])


def test_a_game_of_our_own_scores_as_counted_by_hand(capsys: pytest.CaptureFixture[str]) -> None:
    """A city of two (4), an open cloister with three neighbours (4), a farm at one city (3); a road of four (4)."""
    (result,) = score(capsys, OWN / "counted.json")
    told = json.loads((OWN / "counted.json").read_text("utf-8"))
    assert result["totals"] == told["expect"]["totals"]
    assert result["turns"] == [t["expect"]["score"] for t in told["turns"]]
    assert result["issues"] == []


def test_the_document_has_the_promised_shape(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "game.json.gz"
    path.write_bytes(gzip.compress(json.dumps(write(demo_game(2))).encode()))
    (result,) = score(capsys, path)
    assert list(result) == ["file", "totals", "turns", "final", "winners", "issues"]
    players = len(result["totals"])
    assert len(result["turns"]) == 71 and all(len(t) == players for t in result["turns"])
    for before, after in zip(result["turns"], result["turns"][1:], strict=False):
        assert all(a >= b for a, b in zip(after, before, strict=True)), "nobody loses points in the base game"
    ended = list(result["turns"][-1])
    for event in result["final"]:
        assert set(event) >= {"points", "feature", "tiles"}
        for share in event["points"]:
            assert set(share) == {"player", "points", "reason"}
            ended[share["player"]] += share["points"]
    assert ended == result["totals"]
    assert result["winners"] == [n for n, t in enumerate(result["totals"]) if t == max(result["totals"])]


def test_an_illegal_game_is_scored_and_its_issues_are_listed(capsys: pytest.CaptureFixture[str],
                                                             tmp_path: Path) -> None:
    game = write(demo_game(2, turns=6))
    game["turns"][3]["moves"][0]["at"] = [30, 30]
    (tmp_path / "game.json").write_text(json.dumps(game), "utf-8")
    (result,) = score(capsys, tmp_path / "game.json")
    assert result["issues"] and all(set(i) >= {"turn", "code", "text"} for i in result["issues"])
    assert main(["score", str(tmp_path / "game.json")]) == 0
    assert "turn 4: " in capsys.readouterr().out


@pytest.mark.parametrize("edition", ["rgg2006", "zman2012", "rgg_short", "wheel"])
def test_every_edition_can_be_asked_for(capsys: pytest.CaptureFixture[str], tmp_path: Path, edition: str) -> None:
    (tmp_path / "game.json").write_text(json.dumps(write(demo_game(2, turns=12))), "utf-8")
    (result,) = score(capsys, tmp_path / "game.json", "--edition", edition)
    assert len(result["turns"]) == 12


def test_what_the_transcript_expects_is_never_read(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    game = write(demo_game(2, turns=12))
    (tmp_path / "plain.json").write_text(json.dumps(game), "utf-8")
    game["expect"] = {"totals": ["nonsense"]}
    for turn in game["turns"]:
        turn["expect"] = {"score": [999, 999, 999]}
    (tmp_path / "told.json").write_text(json.dumps(game), "utf-8")
    one, two = score(capsys, tmp_path / "plain.json", tmp_path / "told.json")
    assert {**one, "file": ""} == {**two, "file": ""}
