"""What a screen is told."""

from __future__ import annotations

import copy
import json
import random

import pytest
from flood import Flood
from random_games import random_game

from scoring.engine import fold, new_game, step
from scoring.errors import IllegalMove
from scoring.events import FigurePlaced, GameEnded, Player, Setup, TurnEnded, parse_event
from scoring.log import Amended, Body, Inserted, LogEntry, Retracted, state_of
from scoring.projection import ViewCache, final_scoring, live_view
from scoring.rules import edition

SETUP = Setup(players=(Player(name="Anna", colour="red"), Player(name="Ben", colour="blue")), rules=edition())
LINES = ("tile 0 base.E 0,-1 2", "deploy 0 follower 0,-1 city S", "end_turn", "tile 1 base.A 1,0 1",
         "deploy 1 follower 1,0 cloister I")


def log(*lines: str) -> list[LogEntry]:
    return [LogEntry(seq=n, body=parse_event(line), source="camera", confidence=0.9, asked=n == 4)
            for n, line in enumerate(lines, 1)]


def test_live_view() -> None:
    entries = log(*LINES)
    view = json.loads(json.dumps(live_view(state_of(SETUP, entries), entries, 7)))
    assert (view["version"], view["edition"], view["phase"], view["final"]) == (7, "zman2012", "playing", None)
    assert view["turn"] == {"number": 2, "player": 1, "part": 1, "open": True}
    anna, ben = view["players"]
    assert (anna["score"], anna["projected"], anna["supply"], anna["active"]) == (4, 4, {"follower": 7}, False)
    assert (ben["score"], ben["projected"], ben["supply"], ben["active"]) == (0, 3, {"follower": 6}, True)
    assert view["left"]["total"] == 69
    assert view["board"]["tiles"][-1] == {"at": [1, 0], "tile": "base.A", "rot": 1, "seq": 4, "turn": 1, "player": 1,
                                          "asked": True, "last": True}
    assert view["board"]["tiles"][0]["seq"] is None
    (monk,) = view["board"]["figures"]
    assert {k: monk[k] for k in ("player", "feature", "where", "lying", "seq")} == \
        {"player": 1, "feature": "cloister", "where": "I", "lying": False, "seq": 5}
    assert len(monk["spot"]) == 2
    (fed,) = view["feed"]
    assert fed["formula"] == "2 tiles x 2 = 4"
    assert fed["points"] == [{"player": 0, "points": 4}]
    assert (fed["player"], fed["rule"], fed["places"]) == (0, "R-CITY-03", [[0, -1, "S"], [0, 0, "N"]])
    cloister = next(f for f in view["features"] if f["kind"] == "cloister")
    assert (cloister["owners"], cloister["points_now"], cloister["points_complete"], cloister["open"]) == ([1], 3, 9, 6)
    ends = view["projected_final"]
    assert [s["name"] for s in ends["stages"]] == ["incomplete", "cloisters", "farms"]
    assert ends["totals"] == [4, 3]
    assert {r["category"]: r["points"] for r in ends["table"]} == \
        {"road": [0, 0], "city": [4, 0], "cloister": [0, 3], "field": [0, 0]}
    assert [h["seq"] for h in view["history"]] == [1, 2, 4, 5]
    assert view["history"][2]["asked"] and view["history"][2]["tile"] == "base.A"


def test_a_corrected_log_shows_what_it_comes_to() -> None:
    entries = log(*LINES)
    entries.append(LogEntry(seq=6, body=Amended(seq=4, body=parse_event("tile 1 base.A 1,0 0"))))
    entries.append(LogEntry(seq=7, body=Retracted(seq=2)))
    view = live_view(state_of(SETUP, entries), entries, 1)
    assert [i["code"] for i in view["issues"]] == ["edge_mismatch"]
    assert [h["amended"] for h in view["history"]] == [False, True, False]
    assert view["players"][0]["score"] == 0


def test_final_is_the_projection_of_the_last_moment() -> None:
    for seed in range(6):
        setup, events = random_game(seed, "base", "inns", "traders", "dragon", "tower", tiles=30)
        before = fold(setup, events)
        ended = step(before, GameEnded())
        assert final_scoring(before).totals == ended.scores == final_scoring(ended).totals
        shown, done = live_view(before, (), 1), live_view(ended, (), 2)
        assert shown["projected_final"]["table"] == done["final"]["table"]
        assert [p["projected"] for p in shown["players"]] == [p["score"] for p in done["players"]]
        rows = [[{**e, "turn": None} for s in stages for e in s["events"]]
                for stages in (shown["projected_final"]["stages"], done["final"]["stages"])]
        assert rows[0] == rows[1] and rows[0]


def test_an_open_turn_counts_as_if_it_ended_now() -> None:
    state = new_game(SETUP)
    for line in LINES[:2]:
        state = step(state, parse_event(line))
    assert live_view(state, (), 1)["players"][0]["score"] == 4
    assert state.scores == (0, 0)
    assert step(state, TurnEnded()).scores == (4, 0)


BOXES = (("base",), ("base", "inns", "traders"), ("base", "inns", "traders", "dragon", "tower"), ("wheel",))
MORE_BOXES = (*BOXES, ("base", "river"), ("base", "river", "traders", "dragon"), ("base", "tower"))


@pytest.mark.parametrize("seed", range(14))
def test_a_memory_changes_no_view(seed: int) -> None:
    """Rows worked out for earlier views are used again only while they are still true: over a whole game, step by step
    as it is played, with things corrected, inserted and taken back on the way, and a look back at an old state."""
    rng = random.Random(seed)
    boxes = MORE_BOXES[seed % 7]
    setup, events = random_game(seed, *boxes, tiles=24, name="wheel" if boxes == ("wheel",) else None)
    entries: list[LogEntry] = []
    memory, state = ViewCache(), new_game(setup)
    first = state
    for event in [*events, GameEnded()]:
        body: Body = event
        if entries and rng.random() < 0.12:
            target = rng.choice(entries).seq
            body = rng.choice((Retracted(seq=target), Amended(seq=target, body=rng.choice(events)),
                               Inserted(after=target, body=event)))
        entry = LogEntry(seq=len(entries) + 1, body=body, asked=rng.random() < 0.2,
                         source=rng.choice(("camera", "hand")), confidence=rng.random())
        entries.append(entry)
        corrected = isinstance(body, Retracted | Amended | Inserted)
        try:
            state = state_of(setup, entries) if corrected else step(state, body)
        except IllegalMove:
            entries.pop()
            continue
        seen = live_view(state, entries, 1, memory)
        assert seen == live_view(state, entries, 1)
        if rng.random() < 0.05:
            assert live_view(first, (), 0, memory) == live_view(first, (), 0)


@pytest.mark.parametrize("seed", range(14))
def test_a_memory_may_be_shown_another_line_of_play(seed: int) -> None:
    """Two lines of play that part on the way, after which the same numbers stand for other figures and features, seen
    by turns with the same memory: nothing of one is shown in the other."""
    rng = random.Random(seed)
    boxes = MORE_BOXES[seed % 7]
    setup, events = random_game(seed + 20, *boxes, tiles=22, name="wheel" if boxes == ("wheel",) else None)
    memory, one, differ = ViewCache(), new_game(setup), 0
    other = one
    for n, event in enumerate(events):
        before, one = one, step(one, event)
        if n < 20 and other is before:
            other = one
        elif not isinstance(event, FigurePlaced) or rng.random() < 0.5:
            other = step(other, event)
        for state in (one, other):
            if rng.random() < 0.6:
                assert live_view(state, (), n, memory) == live_view(state, (), n)
        differ += one.standing != other.standing
    assert differ


@pytest.mark.parametrize("seed", range(10))
def test_projected_is_what_ending_now_would_score(seed: int) -> None:
    """After every event, with one memory for the game: the projected scores are those of the same events folded from
    the first one and ended there; in the base game also those of the board flooded from scratch."""
    boxes = BOXES[seed % 4]
    setup, events = random_game(seed + 50, *boxes, tiles=26, name="wheel" if boxes == ("wheel",) else None)
    flood = Flood(len(setup.players), ("base.D", 0)) if boxes == ("base",) else None
    memory, state = ViewCache(), new_game(setup)
    for n, event in enumerate(events, 1):
        state = step(state, event)
        ended = fold(setup, (*events[:n], GameEnded()))
        view = live_view(state, (), n, memory)
        assert [p["projected"] for p in view["players"]] == list(ended.scores) == view["projected_final"]["totals"]
        columns = zip(*(row["points"] for row in view["projected_final"]["table"]), strict=True)
        assert list(map(sum, columns)) == list(ended.scores)
        if flood:
            flood.follow(event, setup.rules)
            again = copy.deepcopy(flood)
            again.end_turn(setup.rules)
            again.end_game(setup.rules)
            assert again.scores == list(ended.scores)
