"""Very rare turns: their complete scores, reports and remaining figures, computed by hand.

Each row names the rules (and rulings, as A-nn) it is about, the boxes, what happens under the 2006 rules with these
options, the scores, the issues, and the figures that still stand.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from test_figures import MEADOW, played

from scoring.engine import apply, legal_claims, new_game, questions
from scoring.events import Player, Setup, StartTile, parse_event
from scoring.expansions.tower_state import towers
from scoring.expansions.wheel import wheel
from scoring.rules import edition
from scoring.state import Draft, in_hand

END = "end_turn"
ROAD = ("tile 0 base.U 1,0 0", "deploy 0 follower 1,0 road E.W")
BUILDER = (*ROAD, "tile 1 base.B 0,1 0", "tile 0 base.U 2,0 0", "deploy 0 builder 2,0 road E.W")
DRAGON_TILE = (*ROAD, "tile 1 dragon.17 2,0 0", "tile 0 base.U 3,0 0", "deploy 0 builder 3,0 road E.W",
               "tile 1 base.B 0,1 0", "tile 0 dragon.16 4,0 0")
DRAGON_CLOSES = (*ROAD, "tile 1 base.A -1,0 3", "tile 0 dragon.01 0,1 0", "tile 1 dragon.07 2,0 0",
                 "dragon 1 0,0>1,0>2,0", END)
JOINING = (*ROAD, "tile 1 base.A -1,0 3", "tile 0 tower.02 1,1 0", "tile 1 base.A 2,1 2",
           "deploy 1 follower 2,1 road N", "tile 0 base.V 2,0 0")
GUARD = ("tile 0 tower.02 0,1 0", "tower 0 0,1", "tile 1 base.B 0,2 0", "deploy 1 follower 0,1 tower I",
         "tile 0 dragon.01 1,1 0")
GATE = ("tile 0 base.E 0,-1 2", "tile 1 base.B 0,1 0", "tile 0 base.U 1,0 0", "tile 1 base.A -1,0 3",
        "tile 0 dragon.08 2,0 0")
KNIGHT = "follower 0,-1 city E.S.W"
LADY = ("tile 0 base.R 0,-1 2", f"deploy 0 {KNIGHT}", "tile 1 base.E -1,-1 1", "tile 0 dragon.09 1,-1 3")
RING = ("tile 0 base.V 0,1 3", "deploy 0 follower 0,1 road E.S", "tile 1 {} 1,1 0", "tile 0 base.V 0,2 2",
        "tile 1 base.V 1,2 1", END)
LOOP = ("tile 0 base.W 1,0 0", "deploy 0 follower 1,0 road E", "tile 1 dragon.08 -1,0 2",
        "deploy 1 follower 1,0 road S portal=yes", "tile 0 base.V 2,0 0", "tile 1 base.V 1,1 2", "tile 0 base.B 0,1 0",
        "fairy 0 1,0", "tile 1 base.V 2,1 1", END)
FARMS = ("tile 0 base.E 0,-1 2", "deploy 0 {} 0,-1 field NL.NR.EL.ER.WL.WR", "tile 1 base.U 1,0 0",
         "deploy 1 follower 1,0 field NL.NR.EL.WR")
PIG = (*FARMS, "tile 0 base.B 0,-2 0", f"deploy 0 pig 0,-2 {MEADOW}")
BRIDGE = ("tile 0 base.V 1,0 0", "deploy 0 follower 1,0 road S.W", "tile 1 base.V 1,1 1", "tile 0 base.V 0,1 2",
          "tile 1 base.A -1,0 3")
CATHEDRAL = ("tile 0 base.E 0,-1 2", "deploy 0 follower 0,-1 city S", "tile 1 base.E 1,0 3", "tile 0 base.E 0,1 0",
             "fairy 0 0,-1")

TWO_KNIGHTS = ("tile 0 base.R 0,-1 2", f"deploy 0 {KNIGHT}", "tile 1 base.U 1,0 0", "tile 0 base.E -1,-1 1",
               "tile 1 base.U 2,0 0", "tile 0 base.B 0,-2 0", "tile 1 base.E 2,-1 3", "deploy 1 follower 2,-1 city W",
               "tile 0 base.E 1,-2 2", "{}", "tile 1 dragon.11 1,-1 0")
HIGH = ("tile 0 tower.02 0,1 0", "tower 0 0,1", "tile 1 base.B 0,2 0", "tile 0 base.B 0,3 0", "{}",
        "tile 1 base.B 0,4 0", "deploy 1 follower 0,4 cloister I", "tile 0 tower.03 0,5 0", "tower 0 0,1",
        "capture 0 1 follower 0,4 cloister I", END)
WALK = ("tile 0 dragon.01 0,1 0", "tile 1 base.B 0,2 0", "tile 0 base.B 0,3 0", "tile 1 tower.02 1,1 0",
        "tile 0 base.B 1,2 0", "tile 1 base.B 1,3 0", "tile 0 dragon.16 1,0 0")
CAPS = ("tile 0 base.B -1,-1 0", "tile 1 base.E -1,0 1", "deploy 1 follower -1,0 city E", "tile 0 base.B 1,-1 0",
        "tile 1 base.E 1,0 3", "tile 0 base.B 1,1 0", "tile 1 base.E 0,1 0", "deploy 1 follower 0,1 city N")


def row(rules: str, boxes: str, lines: tuple[str, ...], scores: list[int], codes: str = "", stands: str = "",
        start: str = "", fill: str = "follower", **options: str) -> Any:
    lines = tuple(line.format(fill) for line in lines)
    return pytest.param(boxes.split(), lines, scores, codes.split(), stands.split(), start, options,
                        id=f"{rules} {options or ''}".replace(" ", "_"))


ROWS = [
    # the dragon takes a builder, or the follower and so the builder; the second part was earned when the tile lay
    row("R-DRAGON-06 A-16", "traders dragon", (*DRAGON_TILE, "dragon 0 3,0>4,0", END), [0, 0], stands="follower"),
    row("R-DRAGON-06 R-RETURN-05", "traders dragon", (*DRAGON_TILE, "dragon 0 1,0>0,0>0,1", END), [0, 0]),
    row("R-DRAGON-05 R-DRAGON-04", "traders dragon", (*DRAGON_TILE, "dragon 0 1,0>0,0", END), [0, 0], "dragon_stopped"),
    row("R-BUILD-08 R-DRAGON-06", "traders dragon", (*DRAGON_TILE, "dragon 0 3,0>4,0", END,
        "tile 0 base.U 5,0 0 part=2", "deploy 0 builder 5,0 road E.W", END), [0, 0], stands="follower builder"),
    row("R-TURN-22 A-20", "dragon", DRAGON_CLOSES, [4, 0], dragon_timing="after_scoring"),
    row("R-TURN-22 A-20", "dragon", DRAGON_CLOSES, [0, 0], dragon_timing="before_scoring"),
    row("R-DRAGON-06 R-TOWER-08", "tower dragon", (*GUARD, "tile 1 dragon.16 1,0 0", "dragon 1 0,1>0,0>1,0", END),
        [0, 0]),
    row("R-FAIRY-04 R-FAIRY-05", "tower dragon", (*GUARD, "tile 1 base.B 0,3 0", "fairy 1 0,1",
        "tile 0 dragon.16 1,0 0", "dragon 0 1,0>0,0", END, "tile 1 base.B 1,2 0"), [0, 1], stands="follower"),
    row("R-DRAGON-03", "tower dragon", (*WALK, "dragon 0 0,2>0,3>1,3>1,2>1,1>1,0", END), [0, 0]),
    row("R-DRAGON-03", "tower dragon", (*WALK, "dragon 0 0,2>0,3>1,3>1,2>1,1>1,0>0,0", END), [0, 0], "dragon_step"),
    # a tower changes who is in the majority before the feature scores
    row("R-MAJ-02", "tower", (*JOINING, END), [5, 5]),
    row("R-TOWER-04 R-TURN-06", "tower", (*JOINING, "tower 0 1,1", "capture 0 1 follower 2,1 road N", END), [5, 0]),
    row("R-TOWER-06 R-TURN-06", "tower", (*JOINING, "tower 0 1,1", "capture 0 0 follower 1,0 road E.W", END), [0, 5]),
    row("R-TOWER-02 R-TOWER-05", "tower", (*ROAD, "tile 1 tower.02 1,1 0", "tower 1 1,1",
        "capture 1 0 follower 1,0 road E.W", END), [0, 0]),
    row("R-TOWER-04", "tower", (*ROAD, "tile 1 tower.02 1,1 0", "tower 1 1,1", "capture 1 0 follower 1,0 road E.W",
        "capture 1 0 follower 1,0 road E.W"), [0, 0], "no_such_figure"),
    row("R-TOWER-04", "tower", (*ROAD, "tile 1 tower.02 1,1 0", "capture 1 0 follower 1,0 road E.W"), [0, 0],
        "out_of_reach"),
    row("R-TOWER-05", "tower", HIGH, [0, 0], fill="tower 0 0,1"),
    row("R-TOWER-05", "tower", HIGH, [0, 0], "out_of_reach", "follower", fill="deploy 0 follower 0,3 cloister I"),
    row("R-TOWER-04 A-38", "tower dragon inns", ("tile 0 base.U 1,0 0", "deploy 0 large 1,0 road E.W",
        "tile 1 base.B 0,1 0", "tile 0 tower.02 1,1 0", "fairy 0 1,0", "tile 1 base.B 1,2 0", "tower 1 1,1",
        "capture 1 0 large 1,0 road E.W", END, "tile 0 base.B 0,2 0", END), [0, 0]),
    # through the portal: open features of older tiles, anything of the new one
    row("R-PORTAL-02 R-CLOI-01", "dragon", (*GATE, "deploy 0 follower 0,1 cloister I portal=yes"), [0, 0],
        stands="follower"),
    row("R-PORTAL-02 A-29", "dragon", (*GATE, "deploy 0 follower 2,0 road W portal=yes", END), [4, 0]),
    row("R-PORTAL-02", "dragon", (*GATE, "deploy 0 follower 1,0 road E.W portal=yes"), [0, 0], "not_last_tile",
        "follower"),
    # the princess whose tile closes the city: she comes before the scoring
    row("R-PRINCESS-02 R-TURN-06", "dragon", (*LADY, f"princess 0 0 {KNIGHT}", END), [0, 0]),
    row("R-PRINCESS-02", "dragon", (*LADY, END), [8, 0], "princess_ignored", dragon_timing="after_scoring"),
    row("R-PRINCESS-02", "dragon", (*LADY, END), [8, 0], "princess_ignored", dragon_timing="before_scoring"),
    row("R-PRINCESS-02", "dragon", (*LADY, END), [8, 0], princess_removal="may"),
    row("R-PRINCESS-03", "dragon", (*LADY, "deploy 0 follower 1,-1 road N", END), [8, 0],
        "princess_first princess_ignored", "follower"),
    row("R-PRINCESS-03 A-28", "dragon", (*LADY, f"princess 0 0 {KNIGHT}", "fairy 0 0,-1"), [0, 0],
        "two_actions fairy_alone"),
    # and when it joins two knights' parts, it is she who decides
    row("R-PRINCESS-02 R-MAJ-01", "dragon", (*TWO_KNIGHTS, f"princess 1 0 {KNIGHT}", END), [0, 12],
        fill="fairy 0 0,-1"),
    row("R-PRINCESS-02 R-FAIRY-06", "dragon", (*TWO_KNIGHTS, "princess 1 1 follower 2,-1 city W", END), [15, 0],
        fill="fairy 0 0,-1"),
    row("R-PRINCESS-02 R-MAJ-02", "dragon", (*TWO_KNIGHTS, END), [15, 12], fill="fairy 0 0,-1", princess_removal="may"),
    # roads that come back to themselves
    row("R-ROAD-03", "", RING, [4, 0], fill="base.V"),
    row("R-ROAD-03 R-INN-02", "inns", RING, [8, 0], fill="inns.16"),
    row("R-ROAD-03", "", (*BRIDGE[:-1], END), [4, 0], start="base.X"),
    row("R-ROAD-04 R-TB-TILE-01", "traders", (*BRIDGE, "tile 0 base.A 0,-1 0", END), [6, 0], start="traders.24"),
    row("R-END-05 A-01", "traders", (*BRIDGE, "end_game"), [5, 0], stands="follower", start="traders.24",
        incomplete_unit="tile"),
    row("R-END-05 A-01", "traders", (*BRIDGE, "end_game"), [6, 0], stands="follower", start="traders.24",
        incomplete_unit="segment"),
    # both players stand with the fairy in one loop: blue's turn begins there too
    row("R-FAIRY-06 A-41", "dragon", LOOP, [7, 8], fairy_mode="tile"),
    row("R-FAIRY-06 R-FAIRY-03", "dragon", LOOP, [7, 4], fairy_mode="follower"),
    row("R-CATH-01 R-FAIRY-06", "inns dragon", (*CATHEDRAL, "tile 1 base.E -1,0 1", END), [18, 0], start="inns.01"),
    row("R-CATH-03 R-FAIRY-06", "inns dragon", (*CATHEDRAL, "end_game"), [3, 0], stands="follower", start="inns.01"),
    row("R-INN-01 R-INN-02", "inns", ("tile 0 base.A 1,0 1", "deploy 0 follower 1,0 road W", "tile 1 base.A -1,0 3",
                                      "deploy 1 follower -1,0 road E", END), [4, 2], start="inns.14"),
    row("R-END-02 R-END-03", "", (*CAPS[:5], "tile 0 base.C 0,0 0", "end_game"), [0, 5], stands="follower",
        start="base.E"),
    # two farms round one city
    row("R-FARM-11 R-FARM-12", "", (*FARMS, "end_game"), [4, 4], stands="follower follower"),
    row("R-FARM-11 R-LARGE-02", "inns", (*FARMS, "end_game"), [4, 0], stands="large follower", fill="large"),
    row("R-FARM-20", "inns", (*FARMS, "end_game"), [4, 4], stands="large follower", fill="large",
        farm_scoring="per_farm"),
    row("R-PIG-06 A-14", "traders", (*PIG, "end_game"), [5, 4], stands="follower follower pig"),
    row("R-PIG-07 A-15", "traders", (*PIG, "end_game"), [4, 3], stands="follower follower pig",
        farm_scoring="per_farm", farm_points_per_city="3"),
    # the builder's second part
    row("A-17", "traders", (*ROAD, "tile 1 base.A -1,0 3", "tile 0 base.A 2,0 1", "deploy 0 builder 2,0 road W", END,
                            "tile 1 base.B 0,1 0"), [4, 0]),
    row("R-BUILD-06 R-BUILD-05", "traders", (*BUILDER, "tile 1 base.A -1,0 3", "tile 0 base.U 3,0 0", END,
        "discard 0 base.C part=2", "tile 0 base.A 4,0 1 part=2", END, "tile 1 base.B 0,2 0"), [6, 0]),
    # what completed features pay, they pay once and in full, however late somebody is seen there
    row("R-DEPLOY-06 R-SCORE-01", "", ("tile 0 base.R 0,-1 2", "tile 1 base.E -1,-1 1", "tile 0 base.E 1,-1 3", END,
                                       "deploy 0 follower 0,-1 city E.S.W", "end_game"), [8, 0], "not_last_tile"),
    row("R-SCORE-01 R-RETURN-01", "", ("tile 0 base.E 0,-1 2", "deploy 0 follower 0,-1 city S", END,
                                       "deploy 0 follower 0,-1 city S", "tile 1 base.U 1,0 0", END), [2, 0],
        "two_figures not_last_tile scored_already"),
]


@pytest.mark.parametrize(("boxes", "lines", "scores", "codes", "stands", "start", "options"), ROWS)
def test_a_rare_turn(boxes: list[str], lines: tuple[str, ...], scores: list[int], codes: list[str], stands: list[str],
                     start: str, options: dict[str, str]) -> None:
    d = played(tuple(boxes), **options)
    if start:
        at = (0, -1) if start == "base.E" else (0, 0)
        d = Draft(new_game(replace(d.setup, start=StartTile(tile=start, at=at, rot=-2 * at[1]))))
    for line in lines:
        apply(d, parse_event(line))
    assert (d.scores, [i.code for i in d.issues]) == (scores, codes)
    if lines[-1].startswith("end"):
        assert [f.figure for f in d.standing.values()] == stands


@pytest.mark.parametrize(("told", "left", "codes"), [
    ("", ((1, 0, "follower"),), []),
    ("exchange 1 0/large", ((1, 0, "follower"),), []),
    ("exchange 1 0/follower", ((1, 0, "large"),), []),
    ("exchange 1 1/follower", ((1, 0, "follower"),), []),
    ("exchange 1 0/follower;1/follower", ((1, 0, "large"),), []),
    ("exchange 1 0/follower;0/large", ((1, 0, "large"),), ["no_prisoner"]),
    ("exchange 1 1/large", ((1, 0, "follower"),), ["no_prisoner"]),
])
def test_one_pair_is_exchanged_whatever_is_told_of_it(told: str, left: tuple[Any, ...], codes: list[str]) -> None:
    """R-TOWER-10, R-TOWER-11: one for one, also when only one of the two was named."""
    d = played(("tower", "inns"), "tile 0 tower.02 0,1 0")
    d.ext["tower"] = replace(towers(d), prisoners=((1, 0, "follower"), (1, 0, "large"), (0, 1, "follower")))
    for line in (told, END) if told else (END,):
        apply(d, parse_event(line))
    assert (towers(d).prisoners, [i.code for i in d.issues]) == (left, codes)


def test_a_ransom_is_offered_when_the_fairy_brings_the_last_point() -> None:
    """R-TOWER-12, R-FAIRY-05, R-TURN-21: the turn begins with the fairy's point, and three are enough."""
    d = played(("tower", "dragon"), *ROAD, "tile 1 tower.02 1,1 0", "tower 1 1,1", "capture 1 0 follower 1,0 road E.W",
               "tile 0 base.B 0,1 0", "deploy 0 follower 0,1 cloister I", "tile 1 base.B 0,2 0", "tile 0 base.B 0,3 0",
               "fairy 0 0,1", "tile 1 base.B 0,4 0", END)
    d.scores[:] = [1, 0]
    assert "ransom" not in {q.code for q in questions(d.freeze())}
    d.scores[:] = [2, 0]
    before = d.freeze()
    (offer,) = [q for q in questions(before) if q.code == "ransom"]
    assert before.scores == (2, 0)
    apply(d, offer.answers[0])
    assert (d.scores, d.issues, in_hand(d, 0, "follower")) == ([0, 3], [], 6)


def plague(*lines: str) -> Draft:
    """Anna's thief and builder and Ben's monk are on the table, and the next segment is the plague."""
    d = played(("wheel", "traders"), *ROAD, "tile 1 base.B 0,1 0", "deploy 1 follower 0,1 cloister I",
               "tile 0 base.U 2,0 0", "deploy 0 builder 2,0 road E.W")
    d.ext["wheel"] = replace(wheel(d), pig="inquisition")
    for line in ("wheel 1 1", *lines):
        apply(d, parse_event(line))
    return d


BEN, ANNA = "plague 1 follower 0,1 cloister I", "plague 0 follower 1,0 road E.W"


@pytest.mark.parametrize(("rules", "lines", "scores", "codes", "stands"), [
    ("R-WHEEL-11 R-RETURN-05", (BEN, ANNA, "tile 1 wheel.29 0,2 0"), [0, 0], [], []),
    ("R-WHEEL-11", (BEN, "plague 0 builder 2,0 road E.W", "tile 1 wheel.29 0,2 0"), [0, 0],
     ["not_for_plague", "plague_open"], ["follower"]),
    ("R-WHEEL-15 A-34", (BEN, ANNA, "discard 1 wheel.33", "wheel 1 1", "tile 1 wheel.29 0,2 0"), [0, 3], [], []),
    ("R-WHEEL-15 A-34", (ANNA, "discard 1 wheel.33", "wheel 1 1", "tile 1 wheel.29 0,2 0"), [0, 3], ["plague_open"],
     ["follower"]),
])
def test_the_plague(rules: str, lines: tuple[str, ...], scores: list[int], codes: list[str], stands: list[str]) -> None:
    d = plague(*lines)
    assert (d.scores, [i.code for i in d.issues], [f.figure for f in d.standing.values()]) == (scores, codes, stands)


@pytest.mark.parametrize(("name", "tile", "scores"), [
    ("rgg2006", "inns.03", [2, 4]), ("zman2012", "inns.03", [4, 8]), ("rgg_short", "inns.03", [4, 8]),
    ("wheel", "inns.03", [4, 8]), ("rgg2006", "base.C", [0, 12]), ("wheel", "base.C", [0, 12]),
])
def test_one_tile_closes_four_sides(name: str, tile: str, scores: list[int]) -> None:
    """R-CITY-06, R-SCORE-01, R-DEPLOY-06: four cities, one of them claimed at once; or one city with two knights."""
    d = Draft(new_game(Setup(players=(Player(name="Anna", colour="red"), Player(name="Ben", colour="blue")),
                             rules=edition(name), expansions=("base", "inns"),
                             start=StartTile(tile="base.E", at=(0, -1), rot=2))))
    claim = ("deploy 0 large 0,0 city N",) if tile == "inns.03" else ()
    for line in (*CAPS, f"tile 0 {tile} 0,0 0", *claim, END):
        apply(d, parse_event(line))
    assert (d.scores, d.issues, dict(d.standing)) == (scores, [], {})


@pytest.mark.parametrize("name", ["rgg2006", "zman2012", "rgg_short", "wheel"])
def test_a_crossing_that_closes_a_loop_and_a_stub(name: str) -> None:
    """R-ROAD-03, R-SCORE-01, R-DEPLOY-05: both are paid, and the loop's other end at the crossing is not free."""
    rules = edition(name)
    d = Draft(new_game(Setup(players=(Player(name="Anna", colour="red"), Player(name="Ben", colour="blue")),
                             rules=rules, start=StartTile(tile="base.B"))))
    for line in ("tile 0 base.B -1,0 0", "tile 1 base.B 1,0 0", "tile 0 base.V -1,1 3",
                 "deploy 0 follower -1,1 road E.S", "tile 1 base.A 1,1 1", "deploy 1 follower 1,1 road W",
                 "tile 0 base.V -1,2 2", "tile 1 base.V 0,2 1", "tile 0 base.W 0,1 0"):
        apply(d, parse_event(line))
    assert {c.feature for c in legal_claims(d)} == {"field"}
    apply(d, parse_event(END))
    assert (d.scores, d.issues, dict(d.standing)) == ([4, 2], [], {})
