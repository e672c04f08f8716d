"""The rule cases about the course of a turn and the set-up, one function each, named by the case's id."""

from __future__ import annotations

from dataclasses import replace

import pytest
import test_flow_off_board
from case_tables import Case
from flow_tables import CHECKS, ROWS, draft, lying, of, play
from random_games import random_game

from scoring.box import box_for
from scoring.engine import apply, legal_claims, legal_placements, new_game, questions, tiles_left
from scoring.events import TileDiscarded, TilePlaced
from scoring.expansions.base import FOLLOWERS
from scoring.expansions.dragon_moves import beasts, knights_of_princess
from scoring.expansions.traders import TOKENS
from scoring.rules import edition, with_options
from scoring.state import Draft, in_hand
from scoring.tiles import product
from scoring.turns import advance, open_turn


@of("FLOW-01")
def turn_order(c: Case, name: str) -> None:
    d = play(draft(name), "tile 0 base.E 0,-1 2", "deploy 0 follower 0,-1 city S")
    assert (d.scores, in_hand(d, 0, "follower")) == ([0, 0], 6)
    play(d, "end_turn")
    assert d.scores[0] == (2 if name == "rgg2006" else 4)
    assert (in_hand(d, 0, "follower"), d.player, d.issues) == (7, 1, [])


BUILDER = ("tile 0 base.U 1,0 0", "deploy 0 follower 1,0 road E.W", "tile 1 base.B 0,1 0",
           "tile 0 base.U 2,0 0", "deploy 0 builder 2,0 road E.W", "tile 1 base.A -1,0 3")


@of("FLOW-02")
def builder_second_part(c: Case, name: str) -> None:
    """R-TURN-20: a second part, never a third."""
    d = play(draft(name, "traders"), *BUILDER, "tile 0 base.U 3,0 0", "end_turn")
    assert (d.player, d.part) == (0, 2)
    play(d, "tile 0 base.U 4,0 0 part=2", "end_turn")
    assert (d.player, d.part, d.issues) == (1, 1, [])


@of("FLOW-03")
def builder_comes_and_goes(c: Case, name: str) -> None:
    """R-RETURN-04, R-BUILD-04: home with its road, and used again on a city."""
    d = play(draft(name, "traders"), *BUILDER, "tile 0 base.T 3,0 1", "deploy 0 follower 3,0 city N.E.S", "end_turn")
    assert d.scores == [5, 0]
    assert (in_hand(d, 0, "builder"), in_hand(d, 0, "follower"), d.player, d.part) == (1, 6, 0, 2)
    play(d, "tile 0 base.E 3,-1 2 part=2", "deploy 0 builder 3,-1 city S", "end_turn")
    assert [f.figure for f in d.standing.values()] == ["follower", "builder"]
    assert (d.player, d.issues) == (1, [])


@of("FLOW-04")
def fairy_once(c: Case, name: str) -> None:
    """R-TURN-20: nothing more in a second part."""
    d = lying(name, ("red", "follower", (1, 0)), boxes=("dragon",))
    d.ext["dragon"] = replace(beasts(d), fairy=(1, 0))
    d.turn_open = False
    for part in (1, 2):
        open_turn(d, 0, part)
        advance(d, "place")
    assert d.scores == [1, 0, 0]
    assert [e.reason for e in d.score_events] == ["fairy.turn"]


@of("FLOW-05")
def dragon_tiles_wait(c: Case, name: str) -> None:
    """R-VOLCANO-03: the first volcano brings them back."""
    d = draft(name, "dragon")
    walk = next(t.id for t in product("dragon").tiles if "dragon" in t.flags)
    hill = next(t.id for t in product("dragon").tiles if "volcano" in t.flags and legal_placements(d, t.id))
    before = tiles_left(d)[walk]
    assert legal_placements(d, walk) == ()
    (x, y), rot = legal_placements(d, hill)[0]
    play(d, f"tile 0 {hill} {x},{y} {rot}", "end_turn")
    assert legal_placements(d, walk)
    assert tiles_left(d)[walk] == before
    assert len(d.tiles) == 2


@of("FLOW-06")
def nobody_on_a_volcano(c: Case, name: str) -> None:
    d = draft(name, "dragon")
    hill = next(t.id for t in product("dragon").tiles if "volcano" in t.flags and legal_placements(d, t.id))
    (x, y), rot = legal_placements(d, hill)[0]
    play(d, f"tile 0 {hill} {x},{y} {rot}")
    assert beasts(d).dragon == (x, y)
    assert legal_claims(d) == ()


KNIGHT = "0,-1 city E.S.W"


def princess(name: str, rule: str = "must") -> Draft:
    """Red's knight stands in a city; red lays a princess tile that extends it."""
    d = play(draft(name, "dragon", "traders", princess_removal=rule), "tile 0 base.R 0,-1 2",
             f"deploy 0 follower {KNIGHT}", "tile 1 base.B 0,1 0", "end_turn")
    assert d.issues == []
    ladies = (t.id for t in product("dragon").tiles if any("princess" in s.signs for s in t.segments))
    for lady in ladies:
        for (x, y), rot in legal_placements(d, lady):
            trial = play(Draft(d.freeze()), f"tile 0 {lady} {x},{y} {rot}")
            if knights_of_princess(trial):
                return trial
    raise AssertionError("no princess tile fits")


@of("FLOW-07")
def princess_sends_home(c: Case, name: str) -> None:
    d = princess(name)
    assert legal_claims(d) == ()
    (asked,) = questions(d)
    assert (asked.code, len(asked.answers)) == ("princess", 1)
    apply(d, asked.answers[0])
    assert (in_hand(d, 0, "follower"), legal_claims(d), d.issues) == (7, (), [])
    ignored = play(princess(name), "end_turn")
    assert [i.code for i in ignored.issues] == ["princess_ignored"]
    free = princess(name, "may")
    assert legal_claims(free)
    assert play(free, "end_turn").issues == []


@of("FLOW-08")
def princess_without_knights(c: Case, name: str) -> None:
    d = draft(name, "dragon")
    lady = next(t.id for t in product("dragon").tiles if any("princess" in s.signs for s in t.segments))
    (x, y), rot = legal_placements(d, lady)[0]
    play(d, f"tile 0 {lady} {x},{y} {rot}")
    assert legal_claims(d)
    assert questions(d) == ()


@of("FLOW-09")
def builder_follows_the_last_knight(c: Case, name: str) -> None:
    d = princess(name)
    play(d, f"deploy 0 builder {KNIGHT}")
    d.issues.clear()
    d.actions = 0
    play(d, f"princess 0 0 follower {KNIGHT}")
    assert (in_hand(d, 0, "follower"), in_hand(d, 0, "builder"), dict(d.standing)) == (7, 1, {})


@of("FLOW-10")
def portal_reaches(c: Case, name: str) -> None:
    d = play(draft(name, "dragon"), "tile 0 base.E 0,-1 2", "tile 1 base.U 1,0 0", "deploy 1 follower 1,0 road E.W",
             "end_turn")
    gates = [t.id for t in product("dragon").tiles if "portal" in t.flags]
    gate, (x, y), rot = next((g, *p) for g in gates for p in legal_placements(d, g) if p[0] == (0, 1))
    play(d, f"tile 0 {gate} {x},{y} {rot}")
    places = {"0,0 field ER.SL.SR.WL": None, "1,0 road E.W": "occupied", "0,-1 city S": "not_last_tile"}
    for place, code in places.items():
        trial = Draft(d.freeze())
        play(trial, f"deploy 0 follower {place} portal=yes")
        assert [i.code for i in trial.issues] == ([code] if code else []), place


@of("FLOW-11")
def dragon_timing(c: Case, name: str) -> None:
    for timing, order in c.expect["by_option"].items():
        box = box_for(("base", "dragon"), with_options(edition(name), {"dragon_timing": timing}), 2)
        slots = {"score_completed": box.slots["score"], "dragon_journey": box.slots["dragon"]}
        assert sorted(slots, key=slots.__getitem__) == order


@of("FLOW-12")
def discarded(c: Case, name: str) -> None:
    d = draft(name)
    before = tiles_left(d)["base.C"]
    play(d, "discard 0 base.C")
    assert (d.player, d.turn_open, before - tiles_left(d)["base.C"]) == (0, True, 1)
    play(d, "tile 0 base.E 0,-1 2", "end_turn")
    assert (d.player, d.turn, d.issues) == (1, 0, [])


@of("FLOW-13")
def river_first_lake_last(c: Case, name: str) -> None:
    """R-RIVER-01, R-RIVER-02: the spring lies instead of the start tile."""
    state = new_game(draft(name, "river").setup)
    assert [p.tile for p in state.tiles.values()] == ["river.01"]
    assert tiles_left(state)["base.D"] == 3
    assert legal_placements(state, "base.B") == ()
    lakes = [t.id for t in product("river").tiles if t.edges.count("I") == 1 and t.id != "river.01"]
    assert legal_placements(state, lakes[0]) == ()
    for seed in range(20):
        _, events = random_game(seed, "base", "river", tiles=14, name=name)
        laid = [e.tile for e in events if isinstance(e, TilePlaced)]
        if len(laid) == 14 and not any(isinstance(e, TileDiscarded) for e in events):
            assert all(t.startswith("river.") and t not in lakes for t in laid[:10])
            assert (laid[10], laid[11].split(".")[0]) == (lakes[0], "base")
            return
    raise AssertionError("no river flowed to its end")


@of("FLOW-14")
def ties(c: Case, name: str) -> None:
    from scoring.projection import final_scoring

    final = final_scoring(new_game(draft(name).setup))
    assert (final.winners, final.tie) == ((0, 1), c.expect["by_edition"][name])


@of("SETUP-01")
def figures(c: Case, name: str) -> None:
    rules = edition(name)
    want = c.expect["by_edition"][name]
    assert (len(rules.colours), rules.max_players) == (want["colours"], want["colours"])
    assert want["followers"] == want["colours"] * (FOLLOWERS + 1)
    assert new_game(draft(name).setup).supply[0] == {"follower": c.expect["supply"]}


@of("SETUP-02")
def base_tiles(c: Case, name: str) -> None:
    assert sum(t.count for t in product("base").tiles) == c.expect["sum"]


@of("SETUP-03")
def boxes(c: Case, name: str) -> None:
    """R-COMP-04: twelve tiles of the river."""
    names = {"princess": "dragon"}
    for box, count in c.expect["tiles"].items():
        assert sum(t.count for t in product(names.get(box, box)).tiles) == count
    assert dict(TOKENS) == c.expect["tokens"]
    inns = product("inns").tiles
    assert sum(t.count for t in inns if any("inn" in s.signs for s in t.segments)) == 6
    assert sum(t.count for t in inns if any("cathedral" in s.signs for s in t.segments)) == 2
    dragon = product("dragon").tiles
    counts = {f: sum(t.count for t in dragon if f in t.flags) for f in ("volcano", "dragon", "portal")}
    assert counts == {"volcano": 6, "dragon": 12, "portal": 6}
    assert sum(t.count for t in dragon if any("princess" in s.signs for s in t.segments)) == 6
    assert all("tower" in t.flags for t in product("tower").tiles)


HERE = [n for n in CHECKS if n not in test_flow_off_board.HERE]


@pytest.mark.parametrize(("number", "name"), [(n, e) for n in HERE for e in ROWS[n].editions])
def test_case(number: str, name: str) -> None:
    CHECKS[number](ROWS[number], name)


def test_every_flow_case_is_checked() -> None:
    assert set(CHECKS) == set(ROWS)
