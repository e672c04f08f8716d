"""Rules that need no board of their own: box contents, initial states, and negative cases.

Each row or docstring names the rules it is about; docs/rules/README.md lists them all.
"""

from __future__ import annotations

import pytest
from random_games import random_game
from test_figures import MEADOW, played

from scoring.box import box_for
from scoring.engine import apply, new_game, states, tiles_left
from scoring.events import Player, Setup, TurnEnded, parse_event
from scoring.expansions import KNOWN
from scoring.expansions.dragon_moves import beasts
from scoring.expansions.tower_state import towers
from scoring.rules import edition, with_options
from scoring.state import Draft, in_hand
from scoring.tiles import product
from scoring.track import SPACES, marker

ROAD = ("tile 0 base.U 1,0 0", "deploy 0 follower 1,0 road E.W", "tile 1 base.B 0,1 0")
HILL = ("tile 0 dragon.01 0,1 0", "tile 1 dragon.02 1,0 0")


@pytest.mark.parametrize(("rules", "boxes", "lines", "codes"), [
    ("R-PORTAL-03", ("dragon", "traders"), (*ROAD, "tile 0 dragon.02 2,0 0",
                                            "deploy 0 builder 1,0 road E.W portal=yes"),
     ["not_last_tile"]),
    ("R-VOLCANO-04", ("dragon",), (*HILL, "deploy 1 follower 0,1 field {hill} portal=yes"), ["on_dragon"]),
    ("R-PRINCESS-01", ("dragon",), ("tile 0 {lady} 1,0 {turned}",), ["edge_mismatch"]),
    ("R-RIVER-02", ("river",), ("deploy 0 follower 0,0 field {spring}",), ["not_last_tile"]),
    ("R-BUILD-04 R-BUILD-03", ("traders",), (*ROAD, "tile 0 base.U 2,0 0", "deploy 0 builder 2,0 road E.W",
                                             "tile 1 base.B 0,2 0", "tile 0 base.U 3,0 0",
                                             "deploy 0 builder 3,0 road E.W"), ["no_supply"]),
])
def test_what_is_reported(rules: str, boxes: tuple[str, ...], lines: tuple[str, ...], codes: list[str]) -> None:
    state = new_game(played(boxes).setup)
    names = {"hill": state.box.shape("dragon.01", 0).where[0], "spring": state.box.shape("river.01", 0).where[0]}
    names = {k: where.replace(" ", ".") for k, where in names.items()}
    for lady in (t for t in product("dragon").tiles if any("princess" in s.signs for s in t.segments)):
        names |= {"lady": lady.id, "turned": next(str(r) for r in range(4) if lady.edges[(3 - r) % 4] == "C")}
    assert [i.code for i in played(boxes, *(line.format(**names) for line in lines)).issues] == codes


def test_builders_weigh_nothing() -> None:
    """R-BUILD-09, R-RETURN-04: follower and builder against one follower of the other is a tie; all go home."""
    d = played(("traders",), *ROAD, "tile 0 base.U 2,0 0", "deploy 0 builder 2,0 road E.W", "tile 1 base.A 4,0 1",
               "deploy 1 follower 4,0 road W", "tile 0 base.U 3,0 0", "tile 0 base.A -1,0 3 part=2", "end_turn")
    (road,) = d.score_events
    assert (road.majority, road.points) == (((0, 1), (1, 1)), ((0, 6), (1, 6)))
    assert dict(d.standing) == {}
    assert in_hand(d, 0, "builder") == 1


def test_a_large_follower_goes_home_or_stays_like_a_small_one() -> None:
    """R-LARGE-04."""
    d = played(("inns",), "tile 0 base.E 0,-1 2", "deploy 0 large 0,-1 city S", "end_turn")
    assert (in_hand(d, 0, "large"), dict(d.standing)) == (1, {})
    d = played(("inns",), "tile 0 base.E 0,-1 2", "deploy 0 large 0,-1 field NL.NR.EL.ER.WL.WR", "end_turn")
    assert (in_hand(d, 0, "large"), [f.figure for f in d.standing.values()]) == (0, ["large"])


def test_no_figure_prevents_a_pig() -> None:
    """R-PIG-02: farms with farmers and pigs of both players have joined."""
    d = played(("traders",), "tile 0 base.B 0,1 0", f"deploy 0 follower 0,1 {MEADOW}", "tile 1 base.B 2,1 0",
               f"deploy 1 follower 2,1 {MEADOW}", "tile 0 base.B 1,1 0", f"deploy 0 pig 1,1 {MEADOW}",
               "tile 1 base.B 1,2 0", f"deploy 1 pig 1,2 {MEADOW}")
    assert {i.code for i in d.issues} == {"no_neighbour"}  # the second tile, laid apart so that both may have farmers
    assert [f.figure for f in d.standing.values()] == ["follower", "follower", "pig", "pig"]


@pytest.mark.parametrize(("name", "changes", "points"), [
    ("rgg2006", {}, 1), ("rgg2006", {"fairy_turn": "per_follower"}, 2), ("zman2012", {}, 2), ("wheel", {}, 2),
    ("rgg_short", {}, 2), ("zman2012", {"fairy_turn": "per_player"}, 1),
    ("zman2012", {"fairy_mode": "follower"}, 0)])
def test_several_followers_at_the_fairy(name: str, changes: dict[str, object], points: int) -> None:
    """R-FAIRY-05, A-25: once a player where the booklet says so, for each follower where the edition has no dragon."""
    players = (Player(name="Anna", colour="red"), Player(name="Ben", colour="blue"))
    d = Draft(new_game(Setup(players=players, rules=with_options(edition(name), changes),
                             expansions=("base", "dragon"))))
    for line in ROAD:
        apply(d, parse_event(line))
    apply(d, parse_event("deploy 0 follower 1,0 field NL.NR.EL.WR"))
    for line in ("end_turn", "tile 0 base.B 0,2 0", "fairy 0 1,0", "tile 1 base.B 0,3 0", "tile 0 base.B 0,4 0"):
        apply(d, parse_event(line))
    assert d.scores == [points, 0]


def test_the_fairy() -> None:
    """R-FAIRY-01, R-FAIRY-03, R-FAIRY-07, R-SETUP-06: from beside the board to a tile; she stays when others go."""
    d = played(("dragon",))
    assert (beasts(d).fairy, beasts(d).dragon) == (None, None)
    d = played(("dragon",), "tile 0 base.E 0,-1 2", "deploy 0 follower 0,-1 field NL.NR.EL.ER.WL.WR",
               "tile 1 base.A 1,0 1", "tile 0 base.A -1,0 3", "fairy 0 0,-1", "end_turn")
    assert (beasts(d).fairy, beasts(d).fairy_of, d.issues) == ((0, -1), None, [])
    d = played(("dragon",), "tile 0 base.U 1,0 0", "deploy 0 follower 1,0 road E.W", "tile 1 base.A -1,0 3",
               "tile 0 base.B 0,1 0", "fairy 0 1,0", "tile 1 base.A 2,0 1", "end_turn")
    assert [e.reason for e in d.score_events] == ["road", "fairy.completed"]
    assert (beasts(d).fairy, dict(d.standing)) == ((1, 0), {})
    bound = played(("dragon",), "tile 0 base.U 1,0 0", "deploy 0 follower 1,0 road E.W", "tile 1 base.B 0,1 0",
                   "tile 0 base.B 0,2 0", "fairy 0 1,0", fairy_mode="follower")
    assert beasts(bound).fairy_of == next(iter(bound.standing))


def test_a_ransomed_follower_may_be_put_down_at_once() -> None:
    """R-TURN-21, R-TRACK-04: and the payer's marker goes back over the start of the track."""
    d = played(("tower",), "tile 0 base.B 0,1 0")
    d.ext["tower"] = type(towers(d))(prisoners=((1, 0, "follower"),) * 7)
    d.scores[:] = [51, 48]
    d.player = 0
    assert in_hand(d, 0, "follower") == 0
    for line in ("ransom 0 1 0/follower", "deploy 0 follower 0,1 cloister I"):
        apply(d, parse_event(line))
    assert (d.scores, d.issues) == ([48, 51], [])
    before, after = marker(51, edition("rgg2006")), marker(48, edition("rgg2006"))
    assert ((before.space, before.cards), (after.space, after.cards)) == ((1, (50,)), (48, ()))
    assert marker(51, edition("zman2012")).lying
    assert not marker(48, edition("zman2012")).lying


def test_the_track() -> None:
    """R-COMP-11: a ring of fifty; R-SETUP-03: where it begins is the edition's."""
    assert [marker(n, edition("rgg2006")).space for n in (0, 49, SPACES, 99)] == [0, 49, 0, 49]
    corners = {name: edition(name).track_start_corner for name in ("rgg2006", "zman2012")}
    assert corners == {"rgg2006": "lower_left", "zman2012": "lower_right"}


def test_what_the_boxes_give_a_player() -> None:
    """R-SETUP-05, R-COMP-12: the dragon, the fairy and the towers belong to nobody's hand."""
    rules = edition("rgg2006")
    assert new_game(played(()).setup).supply[0] == {"follower": 7}
    assert new_game(played(("inns",)).setup).supply[0] == {"follower": 7, "large": 1}
    assert new_game(played(("inns", "traders")).setup).supply[0] == \
        {"follower": 7, "large": 1, "builder": 1, "pig": 1}
    box = box_for(("base", "dragon", "tower"), rules, 2)
    assert {n for n in box.counts if box.pieces[n].stands} == {"follower"}


def test_all_tiles_are_one_stock() -> None:
    """R-SETUP-09, R-COMP-04: whatever is chosen lies in the box together, less what lies already."""
    boxes = ("inns", "traders", "dragon", "tower")
    want = sum(t.count for b in ("base", *boxes) for t in product(b).tiles) - 1
    assert sum(tiles_left(played(boxes)).values()) == want == 72 + 18 + 24 + 30 + 18 - 1
    assert sum(t.count for t in product("river").tiles) == 12


def test_only_signs_turn_the_wheel() -> None:
    """R-COMP-09, R-WHEEL-02: 19 of its 72 tiles."""
    tiles = product("wheel").tiles
    signs = sum(t.count for t in tiles if "wheel_icon" in t.flags)
    assert (sum(t.count for t in tiles), signs) == (72, 19)
    setup = Setup(players=(Player(name="Anna", colour="red"),), rules=edition("wheel"), expansions=("wheel",))
    d = played(())
    assert "wheel" not in d.ext
    plain = next(t for t in tiles if "wheel_icon" not in t.flags)
    *_, last = states(setup, (parse_event(f"tile 0 {plain.id} 2,-1 0"), TurnEnded()))
    assert "wheel_not_turned" not in {i.code for i in last.issues}


def test_followers_leave_the_board_by_scoring_only() -> None:
    """R-DEPLOY-08: in the base game whoever is gone after a turn stood on a feature that this turn completed."""
    for seed in range(4):
        setup, events = random_game(seed, "base", tiles=30)
        before = new_game(setup)
        for after in states(setup, events):
            for gone in set(before.standing) - set(after.standing):
                figure = before.standing[gone]
                paid = after.score_events[len(before.score_events):]
                assert any((*figure.at, figure.where) in e.places for e in paid)
            before = after


def test_everything_that_can_happen_at_a_table_is_an_event() -> None:
    """R-TURN-23: what is not among them (set-aside tiles, goods, scores, who comes home) follows from them."""
    known = {h.event.DO for e in KNOWN.values() for h in e.handlers}
    assert {"tile", "discard", "deploy", "wheel", "fairy", "princess", "tower", "capture", "exchange", "ransom",
            "dragon", "end_turn", "end_game"} <= known
