"""Where figures may stand, what else a player may do with the one action of a turn, and when figures come home.

Each row names the rules it is about, the boxes in play, what happens, and the issues that it must raise.
"""

from __future__ import annotations

import pytest

from scoring.engine import apply, new_game
from scoring.events import Player, Setup, parse_event
from scoring.expansions.tower_state import towers
from scoring.rules import edition, with_options
from scoring.state import Draft, in_hand
from scoring.tiles import HALVES

MEADOW = "field " + ".".join(HALVES)
TOWER_FIELD = "field NL.NR.SL.SR.WL.WR"
GUARDED = ("tile 0 tower.01 0,1 1", "tower 0 0,1", "tile 1 base.B 0,2 0", "deploy 1 follower 0,1 tower I")
FARM = ("tile 0 tower.01 0,1 1", f"deploy 0 follower 0,1 {TOWER_FIELD}", "tile 1 base.U 1,0 0",
        "tile 0 base.B 0,2 0", f"deploy 0 pig 0,2 {MEADOW}", "tile 1 base.U 2,0 0", "tile 0 base.U 3,0 0",
        "tower 0 0,1")


def played(boxes: tuple[str, ...], *lines: str, **options: str) -> Draft:
    rules = with_options(edition("rgg2006"), options)
    d = Draft(new_game(Setup(players=(Player(name="Anna", colour="red"), Player(name="Ben", colour="blue")),
                             rules=rules, expansions=("base", *boxes))))
    for line in lines:
        apply(d, parse_event(line))
    return d


@pytest.mark.parametrize(("rules", "boxes", "lines", "codes"), [
    ("R-TURN-02 R-TURN-03", (), ("tile 0 base.B 0,1 0", "tile 1 base.B 0,2 0"), []),
    ("R-DEPLOY-03", (), ("tile 0 base.B 0,1 0", f"deploy 0 follower 0,1 {MEADOW}"), []),
    ("R-LARGE-01", ("inns",), ("tile 0 base.B 0,1 0", "deploy 0 large 0,1 cloister I"), []),
    ("R-TURN-04 R-TURN-05", ("inns",), ("tile 0 base.B 0,1 0", "deploy 0 large 0,1 cloister I",
                                        f"deploy 0 follower 0,1 {MEADOW}"), ["two_figures"]),
    ("R-BUILD-01 R-BUILD-02", ("traders",), ("tile 0 base.U 1,0 0", "deploy 0 builder 1,0 road E.W"), ["no_company"]),
    ("R-BUILD-01", ("traders",), ("tile 0 base.B 0,1 0", "deploy 0 builder 0,1 cloister I"),
     ["not_claimable", "no_company"]),
    ("R-BUILD-01 R-BUILD-03", ("traders",), (
        "tile 0 base.U 1,0 0", "deploy 0 follower 1,0 road E.W", "tile 1 base.B 0,1 0",
        "tile 0 base.U 2,0 0", "deploy 0 builder 2,0 road E.W"), []),
    ("R-PIG-01", ("traders",), ("tile 0 base.B 0,1 0", f"deploy 0 pig 0,1 {MEADOW}"), ["no_company"]),
    ("R-PIG-01", ("traders",), ("tile 0 base.B 0,1 0", "deploy 0 pig 0,1 cloister I"), ["not_claimable", "no_company"]),
    ("R-RIVER-04", ("river",), ("tile 0 base.B 0,1 0",), ["river_first"]),
    ("R-RIVER-06", ("river",), ("tile 0 river.07 1,0 0", "deploy 0 follower 1,0 river E.W"), ["not_claimable"]),
    ("R-RIVER-04 R-RIVER-03", ("river",), ("tile 0 river.02 1,0 0",), ["river_first"]),
    ("R-FAIRY-02", ("dragon",), ("tile 0 base.B 0,1 0", "fairy 0 0,1"), ["fairy_alone"]),
    ("R-FAIRY-02 R-TURN-05", ("dragon",), ("tile 0 base.B 0,1 0", "deploy 0 follower 0,1 cloister I", "fairy 0 0,1"),
     ["two_actions"]),
    ("R-TOWER-02", ("tower",), ("tile 0 base.B 0,1 0", "tower 0 0,1"), ["no_tower_place"]),
    ("R-TOWER-03", ("tower",), GUARDED, []),
    ("R-TOWER-03", ("tower",), ("tile 0 tower.01 0,1 1", "deploy 0 follower 0,1 tower I"), ["no_tower"]),
    ("R-TOWER-02 R-TOWER-03", ("tower",), (*GUARDED, "tile 0 base.B 0,3 0", "tower 0 0,1"), ["tower_closed"]),
    ("R-TOWER-04", ("tower", "traders"), (*FARM, f"capture 0 0 pig 0,2 {MEADOW}"), ["out_of_reach"]),
    ("R-TOWER-12", ("tower",), ("tile 0 base.B 0,1 0", "ransom 0 1 0/follower"), ["no_prisoner"]),
    ("R-WHEEL-12", ("wheel",), ("tile 0 base.B 0,1 0", "crown 0 follower tax", "tile 1 base.B 0,2 0",
                                "crown 1 follower tax", "tile 0 base.B 0,3 0", "crown 0 follower tax"),
     ["crown_taken"]),
    ("R-WHEEL-12 R-TURN-05", ("wheel",), ("tile 0 base.B 0,1 0", "deploy 0 follower 0,1 cloister I",
                                          "crown 0 follower tax"), ["two_actions"]),
    ("R-WHEEL-11", ("wheel",), ("plague 0 follower 0,1 cloister I", "tile 0 base.B 0,1 0"), ["no_such_figure"]),
])
def test_action(rules: str, boxes: tuple[str, ...], lines: tuple[str, ...], codes: list[str]) -> None:
    assert [i.code for i in played(boxes, *lines).issues] == codes


def test_without_farmers() -> None:
    """R-SETUP-08."""
    d = played((), "tile 0 base.B 0,1 0", f"deploy 0 follower 0,1 {MEADOW}", "end_game", farmers_enabled="false")
    assert [i.code for i in d.issues] == ["no_farmers"]
    assert d.scores == [0, 0]


def test_own_follower_comes_home_from_a_tower_and_the_pig_with_it() -> None:
    """R-TOWER-06, R-TOWER-07, R-PIG-03, R-RETURN-05, R-RETURN-06."""
    d = played(("tower", "traders"), *FARM, f"capture 0 0 follower 0,1 {TOWER_FIELD}")
    assert d.issues == []
    assert (in_hand(d, 0, "follower"), in_hand(d, 0, "pig"), dict(d.standing)) == (7, 1, {})
    assert towers(d).prisoners == ()


def test_a_guard_is_on_no_feature_and_can_be_captured() -> None:
    """R-TOWER-08, R-TOWER-09, R-END-08: from the next tower in reach."""
    d = played(("tower",), *GUARDED, "tile 0 tower.01 0,3 1", "tower 0 0,3", "end_turn")
    assert [f.segment for f in d.standing.values()] == [-1]
    for line in ("tile 1 base.B 0,4 0", "tower 1 0,3", "capture 1 1 follower 0,1 tower I", "end_game"):
        apply(d, parse_event(line))
    assert (in_hand(d, 1, "follower"), d.issues, d.scores) == (7, [], [0, 0])


def test_farmers_stay() -> None:
    """R-FIELD-03, R-RETURN-03: also when everything round them is complete, and the game is over."""
    d = played((), "tile 0 base.E 0,-1 2", "deploy 0 follower 0,-1 field NL.NR.EL.ER.WL.WR", "end_game")
    assert [f.feature for f in d.standing.values()] == ["field"]
    assert d.scores == [4, 0]
    assert [(e.reason, e.stage, len(e.cities)) for e in d.score_events] == [("field", "farms", 1)]


def test_the_wheel_board_is_land() -> None:
    """R-SETUP-07, R-PLACE-06, R-WHEEL-01: its road and the tile laid against it are a road of two tiles."""
    d = Draft(new_game(Setup(players=(Player(name="Anna", colour="red"), Player(name="Ben", colour="blue")),
                             rules=edition("wheel"), expansions=("wheel",))))
    for line in ("wheel 0 1", "tile 0 wheel.33 2,-1 0", "deploy 0 follower 2,-1 road S", "end_turn"):
        apply(d, parse_event(line))
    assert d.issues == []
    assert [(e.reason, e.points, e.tiles) for e in d.score_events] == [("road", ((0, 2),), 2)]
    assert d.score_events[0].places == ((2, -1, "S"), (2, 0, "N"))
