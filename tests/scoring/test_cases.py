"""The rule cases: our own rows in tests/cases, and the reference rows where they are at hand, by the same few lines."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from case_sources import FILE, shared_rows
from case_tables import COLOURS, Case, case, own_cases, place_of, table

from scoring.board import is_complete
from scoring.contributions import Attempt
from scoring.engine import fits
from scoring.expansions.dragon_moves import Beasts, DragonMoved, beasts, dragon_steps, movers, on_dragon
from scoring.expansions.river import may_bend
from scoring.expansions.tower_state import reach
from scoring.expansions.traders import GOODS, TOKENS, Goods, goods, goods_stage
from scoring.expansions.wheel import crown_points, knights_worth, moved, segment_events
from scoring.final import final_stages
from scoring.rules import edition, with_options
from scoring.state import Draft, feature_at, feature_of
from scoring.tiles import STEP
from scoring.track import marker
from scoring.turns import close_turn, score_completed
from scoring.view_cache import ViewCache

SHARED_CASES = [case(r) for r in shared_rows()] if FILE.exists() else []
ELSEWHERE = ("flow", "setup")  # in test_flow.py
RUN: dict[str, Any] = {}


def op(*names: str) -> Any:
    def add(check: Any) -> Any:
        RUN.update(dict.fromkeys(names, check))
        return check

    return add


def rows(cases: list[Case]) -> list[Any]:
    return [pytest.param(c, e, id=f"{c.id}-{e}") for c in cases if c.op not in ELSEWHERE for e in c.editions]


@pytest.mark.parametrize(("c", "name"), rows(own_cases()))
def test_own_case(c: Case, name: str) -> None:
    RUN[c.op](c, name)


@pytest.mark.skipif(not FILE.exists(), reason="../shared/rules/cases.json is not here")
@pytest.mark.parametrize(("c", "name"), rows(SHARED_CASES))
def test_shared_case(c: Case, name: str) -> None:
    RUN[c.op](c, name)


def test_every_shared_case_is_carried() -> None:
    if not FILE.exists():
        pytest.skip("../shared/rules/cases.json is not here")
    own = {c.id: c for c in own_cases()}
    for c in SHARED_CASES:
        assert (own[c.id].rules, own[c.id].editions) == (c.rules, c.editions)


def wanted(c: Case, name: str) -> dict[int, int]:
    points = c.expect.get("points", c.expect.get("by_edition", {}).get(name, {}))
    return {COLOURS.index(p): n for p, n in points.items() if n}


def gained(d: Draft) -> dict[int, int]:
    return {p: n for p, n in enumerate(d.scores) if n}


@op("completed")
def completed(c: Case, name: str) -> None:
    d = table(Case(**{**_fields(c), "more": {**c.more, "expansions": ["dragon"] if "fairy" in c.more else []}}), name)
    if "fairy" in c.more:
        d.ext["dragon"] = Beasts(fairy=tuple(c.more["fairy"]))
    before = Counter(COLOURS[f.player] for f in d.standing.values())
    score_completed(d)
    assert gained(d) == wanted(c, name)
    home = before - Counter(COLOURS[f.player] for f in d.standing.values())
    if "returned" in c.expect:
        assert home == c.expect["returned"]
    if "supply_delta_over_turn" in c.expect:
        assert before == home


def _fields(c: Case) -> dict[str, Any]:
    return {f: getattr(c, f) for f in Case.__slots__}


def final_points(d: Draft, *stages: str) -> dict[int, int]:
    out: dict[int, int] = {}
    for stage, events in final_stages(d):
        for event in events if not stages or stage in stages else ():
            for p, n in event.points:
                out[p] = out.get(p, 0) + n
    return {p: n for p, n in out.items() if n}


@op("incomplete")
def incomplete(c: Case, name: str) -> None:
    assert final_points(table(c, name), "incomplete", "cloisters") == wanted(c, name)


@op("farms")
def farms(c: Case, name: str) -> None:
    assert final_points(table(c, name), "farms") == wanted(c, name)


@op("final")
def final(c: Case, name: str) -> None:
    assert final_points(table(c, name)) == wanted(c, name)


@op("topology")
def topology(c: Case, name: str) -> None:
    d = table(c, name)
    for what, count in c.expect.items():
        if what == "farms_of_figures":
            assert len({f.id for s in d.standing.values() if (f := feature_of(d, s))}) == count
        elif what == "complete":
            assert sum(is_complete(d, f) for f in d.features.values()) == count
        else:
            assert sum(f.kind == what for f in d.features.values()) == count, what


@op("placement")
def placement(c: Case, name: str) -> None:
    tile, x, y, rot = c.more["tile"]
    assert fits(table(c, name), tile, (x, y), rot) == c.expect["legal"]


@op("deploy")
def deploy(c: Case, name: str) -> None:
    d = table(c, name)
    at = c.board[-1][1:3]
    tile, rot = c.board[-1][0], c.board[-1][3]
    d.last_tile = at
    who = COLOURS.index(c.more.get("player", "black"))
    d.player = who
    for choice in c.expect["choices"]:
        place = place_of(tile, rot, choice["on"], choice["at"])
        shape = d.box.shape(tile, rot)
        n = list(zip(shape.kinds, shape.where, strict=True)).index((choice["on"], place))
        problems = list(d.box.deploying(d, Attempt(player=who, figure="follower", at=at, feature=choice["on"],
                                                   where=place, segment=n)))
        assert (not problems) == choice["allowed"], choice


@op("track")
def track(c: Case, name: str) -> None:
    score = c.more["before"] + c.more["gain"]
    m = marker(score, edition(name))
    seen = {"score": score, "space": m.space, "laps": m.laps, "marker_laid": m.lying,
            "cards": [str(n) for n in m.cards]}
    assert {k: seen[k] for k in c.expect} == c.expect


@op("trade_take")
def trade_take(c: Case, name: str) -> None:
    d = table(c, name)
    d.player = COLOURS.index(c.more["completer"])
    score_completed(d)
    held = {COLOURS[p]: {g: n for g, n in zip(GOODS, h, strict=True) if n} for p, h in enumerate(goods(d).held)}
    assert {p: h for p, h in held.items() if h} == c.expect["tokens"]
    assert gained(d) == {}


@op("trade_final")
def trade_final(c: Case, name: str) -> None:
    d = table(Case(id=c.id, op=c.op, rules=c.rules, editions=c.editions, board=(("base.B", 0, 0, 0),),
                   more={"expansions": ["traders"]}), name)
    d.ext["traders"] = Goods(held=tuple(tuple(c.more["tokens"].get(p, {}).get(g, 0) for g in GOODS) for p in COLOURS))
    points: Counter[int] = Counter()
    for event in goods_stage(d, ViewCache()):
        points.update(dict(event.points))
    assert points == wanted(c, name)
    assert sum(TOKENS.values()) == 20


@op("river")
def river(c: Case, name: str) -> None:
    for window in ("consecutive_tiles", "next_bend"):
        assert with_options(edition(name), {"river_turn_window": window}).word("river_turn_window") == window
        bends = c.more["bends"]
        legal = all(may_bend(bends[:n], window) for n in range(1, len(bends) + 1))
        assert legal == c.expect[window], window


@op("wheel_move")
def wheel_move(c: Case, name: str) -> None:
    assert moved(c.more["from"], c.more["steps"]) == c.expect["segment"]


@op("wheel_crowns")
def wheel_crowns(c: Case, name: str) -> None:
    spaces = [COLOURS.index(p) if p else None for p in c.more["spaces"]]
    assert crown_points(spaces) == wanted(c, name)


@op("wheel_tax")
def wheel_tax(c: Case, name: str) -> None:
    for rule, points in c.expect["by_option"].items():
        paid: Counter[str] = Counter()
        for city in c.more["cities"]:
            for player, knights in city["knights"].items():
                paid[player] += knights_worth(knights, city["pennants"], rule)
        assert paid == points, rule
    if "value_of_one_knight" in c.expect:
        city = c.more["cities"][0]
        assert city["pennants"] + city["knights"]["blue"] == c.expect["value_of_one_knight"]


@op("wheel_famine")
def wheel_famine(c: Case, name: str) -> None:
    d = table(Case(**{**_fields(c), "more": {**c.more, "expansions": ["wheel"]}}), name)
    points: Counter[int] = Counter()
    for event in segment_events(d, "famine", 0):
        points.update(dict(event.points))
    assert points == wanted(c, name)


@op("tower_reach")
def tower_reach(c: Case, name: str) -> None:
    squares = reach((0, 0), c.more["height"])
    assert len(squares) == c.expect["cells"]
    for probe in c.more["probe"]:
        assert (tuple(probe["cell"]) in squares) == probe["in"]


@op("dragon")
def dragon(c: Case, name: str) -> None:
    """The cells hold tiles without edges to mind; the last one laid has the dragon's sign."""
    cells = [tuple(s) for s in c.more["cells"]]
    d = table(Case(id=c.id, op=c.op, rules=c.rules, editions=c.editions, more={"expansions": ["dragon"]},
                   board=tuple(("base.B", *s, 0) for s in cells) + (("dragon.13", 50, 50, 0),),
                   figures=tuple((p["player"], "follower", *p["cell"], "cloister", "I") for p in c.more["pieces"])),
              name, players=4)
    d.ext["dragon"] = Beasts(dragon=tuple(c.more["start"]), fairy=tuple(c.more["fairy"]) if "fairy" in c.more else None)
    at = tuple(c.more["start"])
    for n, move in enumerate(c.more["moves"]):
        options = (c.expect.get("options_before_move") or [])[n:n + 1]
        if options and options[0]:
            assert {(at[0] + STEP[m][0], at[1] + STEP[m][1]) for m in options[0]} == set(dragon_steps(d))
        at = at[0] + STEP[move][0], at[1] + STEP[move][1]
        on_dragon(d, DragonMoved(player=0, path=(at,)))
    assert (not d.issues) == c.expect["legal"]
    assert beasts(d).dragon == at
    if "dead_end" in c.expect:
        assert dragon_steps(d) == ()
        close_turn(d)
        assert not d.issues
    if "movers" in c.expect:
        seats = ["Anna", "Bob", "Chris", "David"]
        assert [seats[p] for p in movers(d, 0, len(c.more["moves"]))] == c.expect["movers"]
    if "removed" in c.expect:
        left = {COLOURS[f.player] for f in d.standing.values()}
        assert set(c.expect["removed"]) == {p["player"] for p in c.more["pieces"]} - left


def test_features_are_one_per_place() -> None:
    """Every segment of a case's board is in exactly one feature."""
    for c in own_cases():
        if c.board:
            d = table(c, c.editions[0])
            places = [p for f in d.features.values() for p in f.places]
            assert len(places) == len(set(places)) == d.next_segment
            assert all(p in feature_at(d, *p).places for p in places)
