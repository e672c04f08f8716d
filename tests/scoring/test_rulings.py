"""Points that no booklet settles: each is a rule with a written ruling, and either way of playing it scores."""

from __future__ import annotations

import pytest
from random_games import random_game

from scoring.engine import apply, legal_placements, new_game
from scoring.events import GameEnded, Player, Setup, parse_event
from scoring.expansions.dragon_moves import dragon_steps
from scoring.expansions.wheel import for_plague, wheel
from scoring.rules import EDITIONS, citations, edition, options, with_options
from scoring.state import Draft, standing_at

PLAYERS = (Player(name="Anna", colour="red"), Player(name="Ben", colour="blue"))


def played(boxes: tuple[str, ...], rules: dict[str, object], *lines: str, name: str = "rgg2006") -> Draft:
    d = Draft(new_game(Setup(players=PLAYERS, rules=with_options(edition(name), rules), expansions=boxes)))
    for line in lines:
        apply(d, parse_event(line))
    return d


@pytest.mark.parametrize("name", ["rgg2006", "zman2012"])
@pytest.mark.parametrize(("value", "points"), [("pays", 3), ("nothing", 0)])
def test_a_farm_without_a_completed_city(name: str, value: str, points: int) -> None:
    """A-51, R-FAIRY-06."""
    d = played(("base", "dragon"), {"fairy_empty_farm": value}, "tile 0 base.B 0,1 0",
               "deploy 0 follower 0,1 field NL.NR.EL.ER.SL.SR.WL.WR", "tile 1 base.B 0,2 0", "tile 0 base.B 0,3 0",
               "fairy 0 0,1", name=name)
    apply(d, GameEnded())
    assert [e.points for e in d.score_events if e.reason == "fairy.completed"] == [((0, 3),)] * (points > 0)
    assert d.scores == [points, 0]


def test_a_farm_with_a_completed_city_pays_anyway() -> None:
    """A-51."""
    d = played(("base", "dragon"), {"fairy_empty_farm": "nothing"}, "tile 0 base.E 0,-1 2", "tile 1 base.B 0,1 0",
               "tile 0 base.B 0,2 0", "deploy 0 follower 0,2 field NL.NR.EL.ER.SL.SR.WL.WR", "tile 1 base.B 0,3 0",
               "tile 0 base.B 0,4 0", "fairy 0 0,2")
    apply(d, GameEnded())
    assert "fairy.completed" not in [e.reason for e in d.score_events], "the road parts it from the city"
    d = played(("base", "dragon"), {"fairy_empty_farm": "nothing"}, "tile 0 base.E 0,-1 2",
               "deploy 0 follower 0,-1 field NL.NR.EL.ER.WL.WR", "tile 1 base.B 0,1 0", "tile 0 base.B 0,2 0",
               "fairy 0 0,-1")
    apply(d, GameEnded())
    assert d.scores == [4 + 3, 0]


@pytest.mark.parametrize(("rules", "points"), [
    ({}, 3), ({"fairy_worthless": "nothing"}, 0),
    ({"fairy_worthless": "nothing", "unfinished_inn_cathedral": "plain"}, 5)])
def test_the_fairy_at_a_road_that_is_worth_nothing(rules: dict[str, object], points: int) -> None:
    """A-52, R-INN-04, R-FAIRY-06: an inn on a road that nobody finished."""
    d = Draft(new_game(Setup(players=PLAYERS, rules=with_options(edition("rgg2006"), rules),
                             expansions=("base", "inns", "dragon"))))
    kind, (at, rot), place = next(
        (t.id, (at, rot), d.box.shape(t.id, rot).where[n])
        for t in map(d.box.tile, sorted(d.left)) if t.product == "inns"
        for n, s in enumerate(t.segments) if "inn" in s.signs and s.kind == "road" and len(s.atoms) == 2
        for at, rot in legal_placements(d, t.id) if at == (1, 0))
    for line in (f"tile 0 {kind} {at[0]},{at[1]} {rot}", f"deploy 0 follower {at[0]},{at[1]} road "
                 + place.replace(" ", "."), "tile 1 base.B 0,1 0", "tile 0 base.B 0,2 0", f"fairy 0 {at[0]},{at[1]}",
                 "end_game"):
        apply(d, parse_event(line))
    assert not d.issues and d.scores == [points, 0]


@pytest.mark.parametrize(("value", "takes"), [("exempt", 0), ("counts", 1)])
def test_the_plague_and_a_tower(value: str, takes: int) -> None:
    """A-53, R-WHEEL-11, R-TOWER-08."""
    d = played(("base", "wheel", "tower"), {"plague_tower_guard": value, "start": "start_tile"},
               "tile 0 tower.02 0,1 0", "tower 0 0,1", "tile 1 base.B 0,2 0", "tile 0 base.B 0,3 0",
               "deploy 0 follower 0,1 tower I", name="wheel")
    assert not d.issues and len(for_plague(d, 0)) == takes
    apply(d, parse_event("wheel 1 3"))
    apply(d, parse_event("discard 1 wheel.29"))
    apply(d, parse_event("wheel 1 2"))
    assert wheel(d).plagued == (0,) * takes
    if takes:
        apply(d, parse_event("plague 0 follower 0,1 tower I"))
        assert not d.standing and not d.issues


@pytest.mark.parametrize(("rules", "points"), [
    ({"two_tile_city": "half"}, 2), ({"two_tile_city": "half", "wheel_board_tiny_city": "normal"}, 4), ({}, 4)])
def test_a_small_city_at_the_wheel(rules: dict[str, object], points: int) -> None:
    """A-54, R-CITY-06, R-WHEEL-01."""
    d = played(("wheel", "inns"), rules, name="wheel")
    kind, rot = next((k, rot) for k in sorted(d.left) for at, rot in legal_placements(d, k) if at == (4, 0)
                     and sum(len(s.atoms) for s in d.box.tile(k).segments if s.kind == "city") == 1)
    for line in (f"tile 0 {kind} 4,0 {rot}", "deploy 0 follower 4,0 city W", "end_turn"):
        apply(d, parse_event(line))
    assert [e.points for e in d.score_events if e.feature == "city"] == [((0, points),)]


@pytest.mark.parametrize("value", ["enters", "keeps_off"])
def test_the_dragon_and_the_wheels_board(value: str) -> None:
    """A-55, R-DRAGON-03."""
    d = played(("wheel", "dragon"), {"wheel_board_dragon": value}, name="wheel")
    kind, at, rot = next((k, at, rot) for k in sorted(d.left) if "volcano" in d.box.tile(k).flags
                         for at, rot in legal_placements(d, k) if at == (1, -1))
    apply(d, parse_event(f"tile 0 {kind} {at[0]},{at[1]} {rot}"))
    assert dragon_steps(d) == (((1, 0),) if value == "enters" else ())


@pytest.mark.parametrize(("value", "codes"), [("may_close", []), ("stays_open", ["on_dragon"])])
def test_a_tower_beside_the_dragon(value: str, codes: list[str]) -> None:
    """A-56, R-TOWER-03, R-VOLCANO-04."""
    lines = ("tile 0 tower.02 0,1 0", "tower 0 0,1", "tile 1 dragon.01 1,1 3", "tile 0 dragon.16 1,0 0",
             "dragon 0 1,0>0,0>0,1")
    d = played(("base", "dragon", "tower"), {"tower_at_dragon": value}, *lines)
    d.issues = []
    apply(d, parse_event("tile 1 base.B 0,2 0"))
    apply(d, parse_event("deploy 1 follower 0,1 tower I"))
    assert [i.code for i in d.issues if i.code == "on_dragon"] == codes
    assert len(standing_at(d, (0, 1))) == 1, "it stands there all the same"


def test_every_point_without_a_booklet_has_its_ruling() -> None:
    found = {n: o.ruling for n, o in options().items() if o.ruling}
    assert len(found) == 6 and all(text.startswith("A-5") and len(text) > 30 for text in found.values())
    for name in EDITIONS:
        said = citations(edition(name))
        assert all(said[n].source.endswith(f"ruling {text.partition(':')[0]}") for n, text in found.items())


def test_what_is_told_either_way_is_played_to_its_end() -> None:
    """Random games with all rulings inverted raise no exception and pay what their events state."""
    turned = {n: o.values[1] for n, o in options().items() if o.ruling}
    for seed in (3, 4):
        boxes = ("wheel", "inns", "traders", "dragon", "tower")
        setup, events = random_game(seed, *boxes, tiles=40, name="wheel")
        d = Draft(new_game(Setup(players=setup.players, rules=with_options(setup.rules, turned), expansions=boxes)))
        for event in (*events, GameEnded()):
            apply(d, event)
        sums = [sum(n for e in d.score_events for p, n in e.points if p == player) for player in range(len(d.scores))]
        assert sums == d.scores
