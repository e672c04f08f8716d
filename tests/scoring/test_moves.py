"""The possible moves reported to a client: every one is legal, and no legal one is missing."""

from __future__ import annotations

import json

import pytest
from random_games import random_game

from scoring.engine import fits, fitting, legal_placements, new_game, next_player, open_squares, step
from scoring.errors import InvalidNotation
from scoring.events import FigurePlaced, Player, Setup, TilePlaced, TurnEnded, parse_event, to_json
from scoring.moves import Move, gaps_json, kinds_json, moves, moves_json, places_json, turns_json
from scoring.rules import edition, with_options
from scoring.state import GameState

PLAYERS = (Player(name="Anna", colour="red"), Player(name="Ben", colour="blue"))


def game(*boxes: str, lines: tuple[str, ...] = (), name: str = "rgg2006", **rules: object) -> GameState:
    state = new_game(Setup(players=PLAYERS, rules=with_options(edition(name), rules), expansions=boxes))
    for line in lines:
        state = step(state, parse_event(line))
    return state


def found(state: GameState, code: str) -> list[Move]:
    return [m for m in moves(state) if m.code == code]


def test_before_and_after_the_tile() -> None:
    """R-TURN-01."""
    state = game("base")
    assert [(m.code, m.when, m.player) for m in moves(state)] == \
        [("tile", "before", 0), ("discard", "before", 0), ("end_game", "any", 0)]
    laid = step(state, parse_event("tile 0 base.E 0,-1 2"))
    assert [(m.code, m.when, m.player) for m in moves(laid)] == [
        ("deploy", "after", 0), ("end_turn", "any", 0), ("end_game", "any", 0),
        ("tile", "before", 1), ("discard", "before", 1)]
    (deploy,) = found(laid, "deploy")
    assert {a.feature for a in deploy.answers if isinstance(a, FigurePlaced)} == {"city", "field"}
    assert not found(step(laid, deploy.answers[0]), "deploy"), "one action a turn"
    assert not moves(step(laid, parse_event("end_game")))


@pytest.mark.parametrize("seed", range(7))
def test_every_answer_is_legal_and_every_event_of_a_legal_game_is_among_them(seed: int) -> None:
    boxes = (("wheel", "traders", "inns"), ("wheel", "dragon"))[seed % 2] if seed > 4 else \
        ("base", "inns", "traders", "dragon", "tower")
    setup, events = random_game(seed, *boxes, tiles=30, name="wheel" if seed > 4 else None)
    state = new_game(setup)
    for event in events:
        offered = moves(state)
        if isinstance(event, TilePlaced):
            assert [m.player for m in offered if m.code == "tile"] == [event.player] == [next_player(state)]
            assert (event.at, event.rot) in legal_placements(state, event.tile)
        elif event.DO not in ("discard", "fairy"):  # any tile may be put away in these games
            assert any(event in m.answers for m in offered), event
        for move in offered:
            if move.question and not state.turn_open:
                continue  # about the turn that is over: put there by its id
            for answer in move.answers[:2] + move.answers[-1:]:
                before = len(state.issues)
                ended = step(state, TurnEnded()) if move.when == "before" and state.turn_open and state.laid and \
                    not move.question else state
                after = step(ended, answer)
                codes = [i.code for i in after.issues[max(before, len(ended.issues)):]]
                assert move.code in ("goods", "end_turn", "end_game") or set(codes) <= LATE, (move.code, codes)
        state = step(state, event)


LATE = {"wheel_late", "plague_open", "princess_ignored", "dragon_stopped"}


def test_the_fairy_names_the_follower_where_she_belongs_to_one() -> None:
    """R-FAIRY-03."""
    lines = ("tile 0 base.U 1,0 0", "deploy 0 follower 1,0 road E.W", "tile 1 base.B 0,1 0", "tile 0 base.U 2,0 0")
    (move,) = found(game("base", "dragon", lines=lines), "fairy")
    assert [to_json(a) for a in move.answers] == [{"do": "fairy", "player": 0, "at": [1, 0]}]
    (move,) = found(game("base", "dragon", lines=lines, fairy_mode="follower"), "fairy")
    assert to_json(move.answers[0])["beside"] == {"owner": 0, "figure": "follower", "feature": "road", "where": "E W"}


def test_what_waits_is_answered_by_its_id() -> None:
    lines = ("tile 0 dragon.01 0,1 0", "tile 1 dragon.16 1,0 0")
    (move,) = found(game("base", "dragon", lines=lines), "dragon_path")
    assert move.must and move.question == "dragon_path.1.1" and move.when == "after"


def test_a_ransom_of_the_next_player_before_the_turn_is_over() -> None:
    """R-TOWER-12."""
    lines = ("tile 0 tower.02 0,1 0", "deploy 0 follower 0,1 field NL.NR.EL.ER.SL.SR.WL.WR", "tile 1 base.U 1,0 0",
             "tower 1 0,1", "capture 1 0 follower 0,1 field NL.NR.EL.ER.SL.SR.WL.WR", "tile 0 base.E 0,-1 2",
             "deploy 0 follower 0,-1 city S", "end_turn", "tile 1 base.U 2,0 0")
    (move,) = found(game("base", "tower", lines=lines, name="zman2012"), "ransom")
    assert (move.when, move.player) == ("before", 0)


def test_what_fits() -> None:
    """R-PLACE-01, R-PLACE-03."""
    state = game("base")
    told = kinds_json(state, (0, -1))
    assert told["total"] == 71 and told["fit"] == sum(k["left"] for k in told["kinds"])
    assert {k["tile"]: k["rots"] for k in told["kinds"]}["base.E"] == [2]
    assert "base.B" not in {k["tile"] for k in told["kinds"]}, "a city must go on there"
    gaps = gaps_json(state)["gaps"]
    assert {"at": [0, -1], "kinds": len(told["kinds"]), "fit": told["fit"]} in gaps and len(gaps) == 4
    river = game("base", "river")
    for gap in gaps_json(river)["gaps"]:
        assert all(k["tile"].startswith("river") for k in kinds_json(river, tuple(gap["at"]))["kinds"])
    for at in open_squares(state):
        assert fitting(state, at) == {kind: rots for kind in state.left if
                                      (rots := tuple(r for r in range(4) if fits(state, kind, at, r)))}
    places = places_json(state, "base.E")
    assert {"at": [0, -1], "rots": [2]} in places["places"] and places["left"] == 5
    assert sum(len(p["rots"]) for p in places["places"]) == len(legal_placements(state, "base.E"))
    turns = turns_json(state, "base.E", (0, -1))["turns"]
    assert [[o["code"] for o in t["objections"]] for t in turns] == [["edge_mismatch"], ["edge_mismatch"], [],
                                                                     ["edge_mismatch"]]
    with pytest.raises(InvalidNotation):
        places_json(state, "inns.01")
    json.dumps(moves_json(state))
