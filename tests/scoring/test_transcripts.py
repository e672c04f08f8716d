"""Recorded games score exactly as they say: totals, after every turn, in hand, every event, every feature."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded import MORE, OWN, load, name

from scoring.engine import apply, new_game
from scoring.errors import InvalidNotation
from scoring.events import TurnEnded
from scoring.report import score_transcript
from scoring.state import Draft, named, supplies
from scoring.transcript import read, turns_of, write

SHORT: dict[str, Any] = {
    "format": "transcript/1",
    "setup": {"expansions": ["base"],
              "players": [{"name": "Anna", "colour": "red"}, {"name": "Ben", "colour": "blue"}]},
    "start": {"tile": "base.D", "at": [0, 0], "rot": 0},
    "turns": [
        {"player": 0, "part": 1, "moves": [
            {"do": "tile", "tile": "base.E", "at": [0, -1], "rot": 2},
            {"do": "deploy", "figure": "follower", "at": [0, -1], "feature": "city", "where": "S"}]},
        {"player": 1, "part": 1, "moves": [
            {"do": "discard", "tile": "base.C"},
            {"do": "tile", "tile": "base.A", "at": [1, 0], "rot": 1},
            {"do": "deploy", "figure": "follower", "at": [1, 0], "feature": "cloister", "where": "I"}]},
    ],
}


def rows(events: list[dict[str, Any]]) -> list[str]:
    return sorted(repr((p["player"], p["points"], p["reason"], e.get("feature") or None, e.get("tiles") or None,
                        sorted(map(tuple, e.get("places", ()))))) for e in events for p in e.get("points", ()))


@pytest.mark.parametrize("path", [*OWN, *MORE], ids=name)
def test_recorded_game(path: Path) -> None:
    data = load(path)
    scored = score_transcript(data)
    assert scored["turns"] == [t["expect"]["score"] for t in data["turns"]]
    assert scored["totals"] == data["expect"]["totals"]
    assert rows(scored["final"]) == rows(data["expect"]["final"])
    assert scored["issues"] == []


@pytest.mark.parametrize("path", OWN, ids=name)
def test_recorded_game_in_detail(path: Path) -> None:
    data = load(path)
    game = read(data)
    d = Draft(new_game(game.setup))
    for turn, raw in zip(game.turns, data["turns"], strict=True):
        before = len(d.score_events)
        for event in (*turn.events, TurnEnded()):
            apply(d, event)
        assert list(supplies(d)) == raw["expect"]["supply"]
        got = [{"points": [{"player": p, "points": n, "reason": e.reason} for p, n in e.points], "feature": e.feature,
                "tiles": e.tiles, "places": e.places} for e in d.score_events[before:]]
        assert rows(got) == rows(raw["expect"]["events"])
    left = {(f.player, f.figure, f.at, f.feature, f.where) for f in d.standing.values()}
    assert left == {(f["owner"], f["figure"], tuple(f["at"]), f["feature"], f["where"])
                    for f in data["expect"]["figures_left"]}
    kinds = {f["kind"] for f in data["expect"]["features"]} - {"river", "tower"}
    found = sorted((f.kind, named(d, f.places)) for f in d.features.values() if f.kind in kinds)
    assert found == sorted((f["kind"], tuple(sorted(map(tuple, f["places"])))) for f in data["expect"]["features"]
                           if f["kind"] in kinds)


@pytest.mark.parametrize("path", OWN[::3], ids=name)
def test_round_trip(path: Path) -> None:
    game = read(load(path))
    assert read(json.loads(json.dumps(write(game)))) == game


def test_short_game() -> None:
    scored = score_transcript(SHORT)
    assert scored["turns"] == [[4, 0], [4, 0]]
    assert scored["totals"] == [4, 3]
    assert scored["final"] == [{"points": [{"player": 1, "points": 3, "reason": "cloister.incomplete"}],
                                "feature": "cloister", "tiles": 1, "places": [[1, 0, "I"]]}]
    assert (scored["winners"], scored["issues"]) == ([0], [])
    assert score_transcript(SHORT, edition="rgg2006")["turns"][0] == [2, 0]
    assert score_transcript(SHORT, edition="rgg2006", rules={"two_tile_city": "normal"})["turns"][0] == [4, 0]


def test_turns_of_groups_the_log() -> None:
    game = read(SHORT)
    assert turns_of(game.setup, game.events) == game.turns


def broken(*path: Any, value: Any = None) -> Any:
    """The short game with one thing changed (or, for None, missing)."""
    data = copy.deepcopy(SHORT)
    at: Any = data
    for key in path[:-1]:
        at = at[key]
    if value is None:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return data


@pytest.mark.parametrize(("data", "message"), [
    (broken("format", value="transcript/2"), "format: must be 'transcript/1', not 'transcript/2'"),
    (broken("setup"), "setup: is missing"),
    (broken("setup", "players"), "setup.players: is missing"),
    (broken("setup", "players", value=[]), "setup.players: a game needs at least one player"),
    (broken("setup", "expansions", value=["moon"]), "setup.expansions: unknown expansion 'moon'; known are base, "),
    (broken("setup", "edition", value=5), "setup.edition: unknown edition '5'; known are rgg2006, "),
    (broken("setup", "rules", value=[1]), "setup.rules: must be an object, not list"),
    (broken("setup", "players", 0, "name", value=3), "setup.players[0].name: must be text that can be shown"),
    (broken("setup", "rules", value={"moon": 1}), "setup.rules: unknown rule 'moon'; known are farm_scoring, "),
    (broken("setup", "rules", value={"farm_scoring": "x"}), "setup.rules: rule farm_scoring cannot be 'x'; it may be "),
    (broken("start", "tile", value="base.Q9"), "start.tile: unknown tile 'base.Q9'"),
    (broken("start", "at", value=[0]), "start.at: must be two whole numbers, not [0]"),
    (broken("turns", value={}), "turns: must be a list, not dict"),
    (broken("turns", 1, "player"), "turns[1].player: must be 0 to 1, not None"),
    (broken("turns", 1, "player", value=2), "turns[1].player: must be 0 to 1, not 2"),
    (broken("turns", 1, "part", value=3), "turns[1].part: must be 1 or 2, not 3"),
    (broken("turns", 0, "moves"), "turns[0].moves: is missing"),
    (broken("turns", 0, "moves", 0, "do", value="fly"), "turns[0].moves[0].do: unknown move 'fly'; known are tile, "),
    (broken("turns", 0, "moves", 0, "at"), "turns[0].moves[0].at: is missing"),
    (broken("turns", 0, "moves", 0, "at", value=["a", 0]), "turns[0].moves[0].at: must be two whole numbers"),
    (broken("turns", 0, "moves", 0, "rot", value=4), "turns[0].moves[0].rot: must be a whole number from 0 to 3"),
    (broken("turns", 0, "moves", 1, "where", value="X"), "turns[0].moves[1].where: 'X' is no part of a tile"),
    (broken("turns", 0, "moves", 1, "figure", value="king"), "turns[0].moves[1].figure: unknown figure 'king'; known"),
    (broken("turns", 1, "moves", 0, "tile"), "turns[1].moves[0].tile: is missing"),
    ([], "the transcript: must be an object, not list"),
])
def test_a_broken_transcript_names_the_place(data: Any, message: str) -> None:
    with pytest.raises(InvalidNotation) as e:
        score_transcript(data)
    assert str(e.value).startswith(message)


def test_a_move_of_another_box_is_refused_by_name() -> None:
    data = broken("turns", 0, "moves", 1, value={"do": "tower", "at": [0, -1]})
    with pytest.raises(InvalidNotation) as e:
        score_transcript(data)
    assert str(e.value) == "turns[0].moves[1].do: 'tower' belongs to a box that is not among setup.expansions"


@settings(max_examples=150, deadline=None)
@given(st.randoms(use_true_random=False))
def test_any_broken_transcript_is_refused_in_one_sentence_or_scored(rng: random.Random) -> None:
    data = copy.deepcopy(SHORT)
    for _ in range(rng.randint(1, 4)):
        spoil(data, rng)
    try:
        scored = score_transcript(data)
    except InvalidNotation as e:
        assert str(e) and "\n" not in str(e)
    else:
        assert len(scored["turns"]) == len(data["turns"])


def test_a_start_board_of_another_box_is_just_a_tile() -> None:
    scored = score_transcript(broken("start", "tile", value="wheel.board"))
    assert scored["issues"][0]["code"] == "edge_mismatch"


JUNK: tuple[Any, ...] = (None, True, -1, 7, 10**9, 2.5, "", "N", "base.C", [], [1], [0, 0], ["x", "y"], {},
                         {"do": "tile"}, [[]], "transcript/1", "wheel.board")


def spoil(data: Any, rng: random.Random) -> None:
    """Put junk somewhere, or drop or double something."""
    while True:
        keys = list(data) if isinstance(data, dict) else list(range(len(data)))
        if not keys:
            return
        key = rng.choice(keys)
        if isinstance(data[key], dict | list) and data[key] and rng.random() < 0.8:
            data = data[key]
            continue
        what = rng.randrange(3)
        if what == 0:
            del data[key]
        elif what == 1 and isinstance(data, list):
            data.insert(rng.randrange(len(data) + 1), copy.deepcopy(data[key]))
        else:
            data[key] = copy.deepcopy(rng.choice(JUNK))
        return
