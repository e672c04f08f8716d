"""The rule cases about towers and their prisoners and about the wheel, one function each, named by the case's id."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from case_tables import COLOURS, Case
from flow_tables import CHECKS, ROWS, lying, of, play

from scoring.box import box_for
from scoring.engine import apply, fits, fold, legal_placements, questions
from scoring.events import GameEnded, Player, Setup, parse_event
from scoring.expansions.tower import mutual
from scoring.expansions.tower_state import Towers, towers
from scoring.expansions.wheel import Wheel, wheel
from scoring.rules import edition
from scoring.state import Draft, in_hand
from scoring.tiles import catalogue


@of("TOWER-05")
def capture(c: Case, name: str) -> None:
    d = raised(lying(name, ("blue", "follower", (1, 0)), boxes=("tower",)), 1)
    play(d, "capture 0 1 follower 1,0 cloister I")
    assert towers(d).prisoners == ((0, 1, "follower"),)
    assert (in_hand(d, 1, "follower"), d.issues) == (6, [])


def raised(d: Draft, storey: int) -> Draft:
    """A tower piece of that storey laid on the middle square in red's turn."""
    d.ext["tower"] = replace(towers(d), heights={(0, 0): storey}, raised=(0, 0), raised_turn=d.turn)
    return d


@of("TOWER-06")
def choice_of_prisoners(c: Case, name: str) -> None:
    d = raised(lying(name, *(("green", "follower", (0, -2)), ("blue", "follower", (-1, 0)),
                             ("yellow", "follower", (0, 2)), ("blue", "follower", (3, 0))), boxes=("tower",),
                     players=4), c.more["steps"][0]["storey"])
    (asked,) = questions(d)
    assert {COLOURS[a.owner] for a in asked.answers} == set(c.expect["capture_options"])
    apply(d, asked.answers[0])
    assert questions(d) == ()
    apply(d, asked.answers[1])
    assert [i.code for i in d.issues] == ["out_of_reach"]


@of("TOWER-07")
def ransom(c: Case, name: str) -> None:
    """R-TURN-21: once in a turn."""
    d = lying(name, boxes=("tower",))
    d.scores[:2] = [10, 4]
    d.ext["tower"] = replace(towers(d), prisoners=((1, 0, "follower"), (1, 0, "follower")))
    play(d, "ransom 0 1 0/follower")
    assert (d.scores[:2], in_hand(d, 0, "follower"), d.issues) == ([7, 7], 6, [])
    play(d, "ransom 0 1 0/follower")
    assert [i.code for i in d.issues] == ["ransom_twice"]


@of("TOWER-08")
def ransom_too_dear(c: Case, name: str) -> None:
    """R-TRACK-05: no score becomes negative."""
    d = lying(name, boxes=("tower",))
    d.scores[:2] = [2, 4]
    d.ext["tower"] = replace(towers(d), prisoners=((1, 0, "follower"),))
    play(d, "ransom 0 1 0/follower")
    assert (d.scores[:2], in_hand(d, 0, "follower")) == ([2, 4], 6)
    assert [i.code for i in d.issues] == ["ransom_unpaid"]


@of("TOWER-09")
def exchange(c: Case, name: str) -> None:
    d = raised(lying(name, ("blue", "follower", (1, 0)), boxes=("tower", "inns")), 1)
    d.ext["tower"] = replace(towers(d), prisoners=((1, 0, "follower"), (1, 0, "large")))
    play(d, "capture 0 1 follower 1,0 cloister I")
    assert mutual(d) == (0, 1)
    (asked,) = questions(d)
    assert (asked.code, asked.player, len(asked.answers)) == ("exchange", 0, 2)
    apply(d, asked.answers[0])
    assert towers(d).prisoners == ((1, 0, "large"),)
    assert (in_hand(d, 1, "follower"), d.issues) == (7, [])


@of("TOWER-10")
def tower_pieces(c: Case, name: str) -> None:
    rules = edition(name)
    for players, count in c.expect["pieces"].items():
        assert box_for(("base", "tower"), rules, int(players)).counts["tower_pieces"] == count
    assert isinstance(lying(name, boxes=("tower",)).ext["tower"], Towers)


def turn_wheel(d: Draft, to: str, player: int = 0) -> dict[str, int]:
    """Turn the wheel to a segment; what everybody gets for it."""
    from scoring.expansions.wheel import SEGMENTS

    d.player = player
    d.ext["wheel"] = Wheel(pig=SEGMENTS[SEGMENTS.index(to) - 1])
    play(d, f"wheel {player} 1")
    assert (wheel(d).pig, d.issues) == (to, [])
    return {COLOURS[p]: n for p, n in enumerate(d.scores) if n}


@of("WHEEL-03")
def fortune(c: Case, name: str) -> None:
    assert turn_wheel(before_tile(name), "fortune") == {"red": 3}


def before_tile(name: str, *figures: Any, players: int = 3) -> Draft:
    d = lying(name, *figures, boxes=("wheel",), players=players)
    d.turn_open = False
    return d


@of("WHEEL-08")
def storm(c: Case, name: str) -> None:
    d = before_tile(name, ("red", "follower", (1, 0)), players=2)
    play(d, "tile 0 base.B 1,1 0", "crown 0 follower plague", "end_turn")
    d.scores[:] = [0, 0]
    assert turn_wheel(d, "storm", 1) == {"red": c.more["supply"]["red"], "blue": c.more["supply"]["blue"]}


@of("WHEEL-09")
def inquisition(c: Case, name: str) -> None:
    d = before_tile(name, ("red", "follower", (1, 0)), ("red", "follower", (2, 0)), ("blue", "follower", (0, 2)))
    assert turn_wheel(d, "inquisition", 0) == c.expect["points"]


@of("WHEEL-10")
def plague(c: Case, name: str) -> None:
    d = before_tile(name, ("red", "follower", (1, 0)), ("red", "follower", (2, 0)), ("blue", "follower", (0, 2)),
                    ("yellow", "follower", (0, 1)))
    assert turn_wheel(d, "plague", 1) == c.expect["points"]
    assert [COLOURS[p] for p in wheel(d).plagued] == c.expect["order"]
    for asked in questions(d):
        apply(d, asked.answers[0])
    assert [in_hand(d, p, "follower") for p in range(3)] == [6, 7, 7]
    assert (wheel(d).plagued, d.issues) == ((), [])


@of("WHEEL-16")
def crowns_at_the_end(c: Case, name: str) -> None:
    d = before_tile(name)
    play(d, "tile 0 base.B 1,1 0", "crown 0 follower tax", "end_turn", "end_game")
    assert (d.scores, d.issues) == ([0, 0, 0], [])


@of("WHEEL-17")
def crowns_passed(c: Case, name: str) -> None:
    """R-WHEEL-05: only where the pig stops."""
    d = before_tile(name)
    play(d, "tile 0 base.B 1,1 0", "crown 0 follower tax", "end_turn", f"wheel 1 {c.more['steps'][0]['steps']}")
    assert (wheel(d).pig, d.scores, in_hand(d, 0, "follower")) == ("famine", [0, 0, 0], 6)


@of("WHEEL-18")
def wheel_before_tile(c: Case, name: str) -> None:
    slots = list(box_for(("wheel",), edition(name), 2).slots)
    assert slots == ["start", "draw", "wheel", "place", "wood", "score", "end"]
    setup = Setup(players=(Player(name="A", colour="red"), Player(name="B", colour="blue")), rules=edition(name),
                  expansions=("wheel",))
    state = fold(setup, [])
    sign = next(t for t in catalogue().values() if "wheel_icon" in t.flags and legal_placements(state, t.id))
    (x, y), rot = legal_placements(state, sign.id)[0]
    laid = f"tile 0 {sign.id} {x},{y} {rot}"
    assert fits(state, sign.id, (x, y), rot)
    assert fold(setup, map(parse_event, ("wheel 0 2", laid, "end_turn"))).issues == ()
    assert [i.code for i in fold(setup, [parse_event(laid), GameEnded()]).issues] == ["wheel_not_turned"]


HERE = [n for n in CHECKS if CHECKS[n].__module__ == __name__]


@pytest.mark.parametrize(("number", "name"), [(n, e) for n in HERE for e in ROWS[n].editions])
def test_case(number: str, name: str) -> None:
    CHECKS[number](ROWS[number], name)
