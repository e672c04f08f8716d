"""Rulings of bastide where the booklets leave a question open, played. Rulings that are options are in
test_rulings.py; docs/rules/rulings.md names the test of every one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from test_figures import played

from scoring.engine import apply, new_game, tiles_left
from scoring.events import Player, Setup, StartTile, parse_event
from scoring.expansions.dragon_moves import Beasts
from scoring.expansions.tower_state import towers
from scoring.rules import edition
from scoring.state import Draft, in_hand

ROAD = ("tile 0 base.U 1,0 0", "deploy 0 follower 1,0 road E.W")
BUILDER = (*ROAD, "tile 1 base.B 0,1 0", "tile 0 base.U 2,0 0", "deploy 0 builder 2,0 road E.W")
MONK = ("tile 0 base.B 0,1 0", "deploy 0 follower 0,1 cloister I")


@pytest.mark.parametrize(("ruling", "boxes", "lines", "codes"), [
    ("A-18", ("traders",), (*ROAD, "tile 1 base.B 0,1 0", "tile 0 base.U 2,0 0", "deploy 0 builder 2,0 road E.W",
                            "deploy 0 follower 2,0 field NL.NR.EL.WR"), ["two_figures"]),
    ("A-23 the fairy", ("dragon",), (*MONK, "tile 1 base.B 0,2 0", "tile 0 dragon.01 1,1 0", "fairy 0 0,1"), []),
    ("A-23 a storey", ("dragon", "tower"), ("tile 0 tower.02 0,1 0", "tile 1 dragon.01 1,1 0", "tower 1 0,1"), []),
    ("A-24", ("dragon", "traders"), (*ROAD, "tile 1 base.B 0,1 0", "tile 0 dragon.03 2,0 0",
                                     "deploy 0 builder 2,0 field {hill}"), ["on_volcano"]),
    ("A-27 a storey", ("dragon", "tower"), (*MONK, "tile 1 base.B 0,2 0", "tile 0 tower.02 1,1 0", "tower 0 1,1",
                                            "fairy 0 0,1"), ["two_actions"]),
    ("A-27 a builder", ("dragon", "traders"), (*BUILDER, "fairy 0 1,0"), ["two_actions"]),
    ("A-46", ("wheel", "traders"), (*BUILDER, "crown 0 follower tax"), ["two_actions"]),
])
def test_what_is_reported(ruling: str, boxes: tuple[str, ...], lines: tuple[str, ...], codes: list[str]) -> None:
    d = played(boxes)
    hill = d.box.shape("dragon.03", 0).where[0].replace(" ", ".") if "dragon" in boxes else ""
    got = [i.code for i in played(boxes, *(line.format(hill=hill) for line in lines)).issues]
    assert [c for c in got if c in ("two_figures", "two_actions", "on_volcano")] == codes
    assert codes or not got


def test_a_last_tile_that_fits_nowhere() -> None:
    """A-03: its discard is all that happens, and the game ends with the final scoring."""
    d = played((), *ROAD)
    d.left = {**dict.fromkeys(d.left, 0), "base.C": 1}
    for line in ("discard 1 base.C", "end_game"):
        apply(d, parse_event(line))
    assert (sum(tiles_left(d).values()), d.over, d.issues, d.scores) == (0, True, [], [2, 0])


def test_a_farm_without_farmers_adds_nobody() -> None:
    """A-11: the city between two farms is paid for the farmer of the one, once."""
    d = played((), "tile 0 base.E 0,-1 2", "deploy 0 follower 0,-1 field NL.NR.EL.ER.WL.WR", "tile 1 base.U 1,0 0",
               "end_game")
    assert d.scores == [4, 0]
    assert [(e.points, e.majority) for e in d.score_events if e.reason == "field"] == [(((0, 4),), ((0, 1),))]


def test_the_fairy_pays_for_followers_of_the_feature_only() -> None:
    """A-26, A-47: the monk beside her is in no city, and a builder is no follower."""
    d = played(("dragon",), *MONK, "tile 1 base.E 0,-1 2", "deploy 1 follower 0,-1 city S")
    d.ext["dragon"] = Beasts(fairy=(0, 1))
    apply(d, parse_event("end_turn"))
    assert [(e.reason, e.points) for e in d.score_events if e.reason.startswith("city")] == [("city.tiny", ((1, 2),))]
    assert "fairy.completed" not in [e.reason for e in d.score_events]


def test_a_builder_alone_earns_no_point_at_the_fairy() -> None:
    """A-47: the follower of the same road does, on its own tile."""
    for at, points in (((2, 0), 0), ((1, 0), 1)):
        d = played(("dragon", "traders"), *BUILDER, "end_turn")
        d.ext["dragon"] = Beasts(fairy=at)
        for line in ("tile 1 base.B 0,2 0", "end_turn", "tile 0 base.B 0,3 0"):
            apply(d, parse_event(line))
        assert d.scores == [points, 0]


def test_a_large_follower_is_one_follower() -> None:
    """A-45: for the storm, and as a prisoner."""
    d = Draft(new_game(Setup(players=(Player(name="Anna", colour="red"), Player(name="Ben", colour="blue")),
                             rules=edition("wheel"), expansions=("wheel", "inns"))))
    apply(d, parse_event("wheel 0 3"))
    assert d.scores == [8, 8]
    d = played(("tower", "inns"), "tile 0 base.U 1,0 0", "deploy 0 large 1,0 road E.W", "tile 1 tower.02 1,1 0",
               "tower 1 1,1", "capture 1 0 large 1,0 road E.W", "end_turn")
    assert (towers(d).prisoners, d.issues) == (((1, 0, "large"),), [])


def test_prisoners_stay_and_pay_nothing() -> None:
    """A-40."""
    d = played(("tower",), *ROAD, "tile 1 tower.02 1,1 0", "tower 1 1,1", "capture 1 0 follower 1,0 road E.W",
               "end_turn", "end_game")
    assert (d.scores, towers(d).prisoners, in_hand(d, 0, "follower")) == ([0, 0], ((1, 0, "follower"),), 6)


def test_the_plague_passes_whoever_stands_nowhere() -> None:
    """A-35: nothing is open for a player without a follower on a tile; A-36: a monk may be taken."""
    d = played(("wheel",), *MONK, start="start_tile")
    d.ext["wheel"] = replace(d.ext["wheel"], pig="inquisition")
    for line in ("wheel 1 1", "plague 0 follower 0,1 cloister I", "tile 1 base.B 0,2 0", "end_turn"):
        apply(d, parse_event(line))
    assert "plague_open" not in [i.code for i in d.issues]
    assert in_hand(d, 0, "follower") == 7


def test_the_dragon_eats_nothing_on_its_way_to_a_volcano() -> None:
    """A-48: it flies over the thief's tile."""
    d = played(("dragon",), "tile 0 dragon.01 0,1 0", "tile 1 base.U 1,0 0", "deploy 1 follower 1,0 road E.W",
               "tile 0 dragon.03 2,0 0")
    beasts = d.ext["dragon"]
    assert isinstance(beasts, Beasts) and beasts.dragon == (2, 0)
    assert [f.at for f in d.standing.values()] == [(1, 0)]


def test_every_square_of_the_wheels_board_is_a_tile() -> None:
    """A-33: a cloister beside it counts the squares round it, not the board."""
    d = Draft(new_game(Setup(players=(Player(name="Anna", colour="red"), Player(name="Ben", colour="blue")),
                             rules=edition("wheel"), expansions=("wheel",),
                             start=StartTile(tile="wheel.board"))))
    squares = set(d.tiles)
    assert len(squares) == 16
    x, y = max(squares)
    beside = sum((x + 1 + i, y + j) in squares for i in (-1, 0, 1) for j in (-1, 0, 1))
    cloister = next(t.id for t in map(d.box.tile, sorted(d.left)) if any(s.kind == "cloister" for s in t.segments))
    for line in (f"tile 0 {cloister} {x + 1},{y} 0", f"deploy 0 follower {x + 1},{y} cloister I", "end_game"):
        apply(d, parse_event(line))
    assert [(e.reason, e.points) for e in d.score_events if e.feature == "cloister"] \
        == [("cloister.incomplete", ((0, 1 + beside),))] and beside > 1



def test_a_game_has_one_start() -> None:
    """A-49: the spring takes the place of whatever else would begin the board, the wheel's board too."""
    for boxes, start in ((("base",), "base.D"), (("wheel",), "wheel.board"), (("base", "river"), "river.01"),
                         (("river", "wheel"), "river.01")):
        setup = Setup(players=(Player(name="Anna", colour="red"), Player(name="Ben", colour="blue")),
                      rules=edition("wheel" if "wheel" in boxes else "rgg2006"), expansions=boxes)
        assert new_game(setup).box.start().tile == start
