"""Any state of the table is recorded, scored and reported; only meaningless input is rejected."""

from __future__ import annotations

import json

import pytest
from case_tables import SHARED

from scoring.engine import (
    fits,
    fold,
    legal_claims,
    legal_placements,
    new_game,
    open_squares,
    step,
    tiles_left,
)
from scoring.errors import IllegalMove, InvalidNotation
from scoring.events import Player, Setup, TilePlaced, from_json, notation, parse_event
from scoring.rules import edition
from scoring.scores import Item, formula, leaders
from scoring.state import GameState
from scoring.tiles import HALVES, catalogue, product

SETUP = Setup(players=(Player(name="Anna", colour="red"), Player(name="Ben", colour="blue")), rules=edition())


def played(*lines: str, setup: Setup = SETUP) -> GameState:
    return fold(setup, map(parse_event, lines))


def codes(*lines: str) -> list[str]:
    return [i.code for i in played(*lines).issues]


CITY = ("tile 0 base.E 0,-1 2", "deploy 0 follower 0,-1 field NL.NR.EL.ER.WL.WR", "end_turn")


@pytest.mark.parametrize(("lines", "wanted"), [
    (("tile 0 base.E 0,-1 0",), ["edge_mismatch"]),
    (("tile 0 base.E 1,1 0",), ["corner_contact"]),
    (("tile 0 base.E 5,5 0",), ["no_neighbour"]),
    (("tile 0 base.B 0,1 0", "tile 1 base.B 0,1 0"), ["square_taken"]),
    (("tile 1 base.B 0,1 0",), ["wrong_player"]),
    (("tile 0 base.B 0,1 0 part=2",), ["no_second_part"]),
    (("tile 0 inns.02 0,1 0",), ["not_in_box"]),
    (("tile 0 base.B 0,1 0", "deploy 0 large 0,1 cloister I"), ["not_in_box"]),
    (("tile 0 base.B 0,1 0", "deploy 1 follower 0,1 cloister I"), ["wrong_player"]),
    (("tile 0 base.B 0,1 0", "deploy 0 follower 0,0 city N"), ["not_last_tile"]),
    (("tile 0 base.B 0,1 0", "deploy 0 follower 7,7 city N"), ["no_tile"]),
    (("tile 0 base.B 0,1 0", "deploy 0 follower 0,1 road N"), ["no_such_segment"]),
    (("tile 0 base.B 0,1 0", "deploy 0 follower 0,1 river N"), ["no_such_segment", "not_claimable"]),
    (("tile 0 base.B 0,1 0", "deploy 0 follower 0,1 cloister I", "deploy 0 follower 0,1 field " + ".".join(HALVES)),
     ["two_figures"]),
    ((*CITY, "tile 1 base.E 1,-1 0", "deploy 1 follower 1,-1 field EL.ER.SL.SR.WL.WR"), ["occupied"]),
    (("deploy 0 follower 0,0 city N",), ["not_last_tile"]),
    (("tile 0 base.C 0,-1 0", "end_turn", "tile 1 base.C 1,-1 0"), ["too_many"]),
    (("end_game", "tile 0 base.B 0,1 0"), ["after_the_end"]),
])
def test_issue(lines: tuple[str, ...], wanted: list[str]) -> None:
    """R-PLACE-01, R-PLACE-02, R-PLACE-03, R-PLACE-05, R-DEPLOY-02, R-DEPLOY-04, R-TURN-01, R-TURN-04, R-COMP-10."""
    assert codes(*lines) == wanted


def test_an_issue_says_what_where_and_when() -> None:
    (issue,) = played("tile 0 base.B 0,1 0", "end_turn", "tile 1 base.E 0,-1 0").issues
    assert issue.text == "The tile on 0,-1 does not match the one on 0,0."
    assert (issue.squares, issue.turn) == (((0, -1), (0, 0)), 1)


def test_mismatched_edges_are_closed_but_not_joined() -> None:
    """R-CITY-01: the test is the neighbour. A cap whose only edge faces a road is a complete city of one tile."""
    state = played("tile 0 base.E 1,0 3", "deploy 0 follower 1,0 city W", "end_turn")
    assert [i.code for i in state.issues] == ["edge_mismatch"]
    assert [(e.reason, e.points, e.tiles) for e in state.score_events] == [("city", ((0, 2),), 1)]


def test_what_a_tile_that_does_not_match_closes_is_scored() -> None:
    """R-ROAD-02, R-CITY-01: the test is the neighbour, whatever it shows. A road that ends at two fields, and
    a city cap with a field before it, are complete as they lie: paid at once and once, their figures go home."""
    lines = ("tile 0 base.U 1,0 0", "deploy 0 follower 1,0 road E.W", "end_turn", "tile 1 base.B 2,0 0", "end_turn")
    state = played(*lines)
    assert (state.scores, len(state.figures)) == ((0, 0), 1)
    state = played(*lines, "tile 0 base.B -1,0 0", "end_turn", "end_game")
    assert (state.scores, state.figures) == ((2, 0), ())
    assert [e.reason for e in state.score_events] == ["road"]
    cap = ("tile 0 base.E 0,1 2", "deploy 0 follower 0,1 city S", "end_turn", "tile 1 base.B 0,2 0", "end_turn")
    state = played(*cap, "tile 0 base.B 1,2 0", "end_turn", "end_game")
    assert state.scores == (2, 0) and not state.figures
    assert [(i.code, i.squares) for i in state.issues] == [("edge_mismatch", ((0, 2), (0, 1)))]


def test_too_many_figures_show_as_less_than_none_in_hand() -> None:
    """R-DEPLOY-01, R-SUPPLY-01."""
    lines = [f"tile 0 base.B {n},1 0" for n in range(4)] + [f"tile 0 base.B {n},2 0" for n in range(4)]
    laid = [x for n, line in enumerate(lines) for x in (line, f"deploy 0 follower {n % 4},{1 + n // 4} cloister I")]
    state = played(*laid)
    assert "no_supply" in [i.code for i in state.issues]
    assert state.supply[0]["follower"] == -1
    assert len(state.figures) == 8


@pytest.mark.parametrize("line", ["tile 2 base.B 0,1 0", "ransom 0 1 0/follower"])
def test_what_means_nothing_here_is_refused(line: str) -> None:
    with pytest.raises(IllegalMove):
        played(line)


@pytest.mark.parametrize(("text", "message"), [
    ("", "do: unknown move None"), ("fly 0", "do: unknown move 'fly'"), ("tile 0 base.B", "at is missing"),
    ("tile 0 base.ZZ 0,1 0", "tile: unknown tile 'base.ZZ'"), ("tile 0 base.B 0;1 0", "at: must be a whole number"),
    ("tile 0 base.B 0,1 0 7", "'7' is too much"), ("tile 0 base.B 0,1 0 portal=yes", "'portal' is too much"),
    ("deploy 0 follower 0,0 city N portal=maybe", "portal: must be true or false"),
])
def test_unreadable_text(text: str, message: str) -> None:
    with pytest.raises(InvalidNotation, match=message):
        parse_event(text)


def test_unreadable_json() -> None:
    for data in (None, [], {}, {"do": ["tile"]}, {"do": "tile", "player": True}, {"do": "deploy", "player": 0}):
        with pytest.raises(InvalidNotation):
            from_json(data)


def test_notation_is_short() -> None:
    event = TilePlaced(player=0, tile="base.V", at=(3, -2), rot=1)
    assert notation(event) == "tile 0 base.V 3,-2 1"


def test_start_and_legal_moves() -> None:
    """R-SETUP-01, R-COMP-03, R-PLACE-04, R-DEPLOY-06."""
    state = new_game(SETUP)
    assert {at: p.tile for at, p in state.tiles.items()} == {(0, 0): "base.D"}
    assert open_squares(state) == {(0, -1), (1, 0), (0, 1), (-1, 0)}
    assert sum(tiles_left(state).values()) == 71
    assert fits(state, "base.E", (0, -1), 2)
    assert not fits(state, "base.E", (0, -1), 0)
    assert legal_placements(state, "base.C") == (((0, -1), 0), ((0, -1), 1), ((0, -1), 2), ((0, -1), 3))
    assert legal_claims(state) == ()
    laid = step(state, parse_event("tile 0 base.E 0,-1 2"))
    assert [(c.feature, c.where) for c in legal_claims(laid)] == \
        [("field", "NL NR EL ER WL WR"), ("city", "S")] or len(legal_claims(laid)) == 2
    assert legal_claims(step(laid, parse_event("end_turn"))) == ()


def test_a_late_follower_counts_until_the_next_tile() -> None:
    state = played("tile 0 base.E 0,-1 2", "end_turn", "deploy 0 follower 0,-1 city S", "tile 1 base.B 0,1 0")
    assert [i.code for i in state.issues] == ["not_last_tile"]
    open_turn = played("tile 0 base.E 0,-1 2", "deploy 0 follower 0,-1 city S", "tile 1 base.B 0,1 0")
    assert (open_turn.issues, open_turn.scores) == ((), (4, 0))


def test_majority() -> None:
    assert leaders({}) == leaders({0: 0, 1: 0}) == ()
    assert leaders({0: 2, 1: 1, 2: 2}) == (0, 2)


def test_formula() -> None:
    assert formula([Item(what="tile", count=5, each=2), Item(what="pennant", count=1, each=2)]) == \
        "5 tiles x 2 + 1 pennant x 2 = 12"
    assert formula([Item(what="city", count=2, each=3), Item(what="pig", count=2, each=1, player=0)]) == \
        "2 cities x 3 = 6"
    assert formula([]) == "0 = 0"


def test_catalogue_topology_equals_the_facts() -> None:
    path = SHARED / "facts" / "tiles.json"
    if not path.exists():
        pytest.skip("../shared/facts/tiles.json is not here")
    facts = json.loads(path.read_text("utf-8"))
    assert set(facts["tiles"]) == set(catalogue())
    for name, start in facts["start"].items():
        assert product(name).start == start
    for name, fact in facts["tiles"].items():
        tile = catalogue()[name]
        assert (tile.product, tile.count, tile.edges, tile.flags) == \
            (fact["set"], fact["count"], fact["edges"], frozenset(fact["flags"])), name
        raw = fact["features"]

        def key(f: dict[str, object]) -> tuple[object, ...]:
            return f["kind"], tuple(sorted(f.get("edges", f.get("halves", ()))))  # type: ignore[call-overload]

        def signs(f: dict[str, object]) -> tuple[object, ...]:
            return tuple(f[s] if s == "goods" else s for s in ("inn", "cathedral", "goods", "princess") if f.get(s))

        want = sorted((*key(f), f.get("pennants", 0), signs(f), f.get("tunnel", False),
                       sorted(key(raw[c]) for c in f.get("cities", ()))) for f in raw)
        got = sorted((s.kind, tuple(sorted(s.atoms)), s.pennants, s.signs, s.tunnel,
                      sorted((tile.segments[c].kind, tuple(sorted(tile.segments[c].atoms))) for c in s.cities))
                     for s in tile.segments)
        assert got == want, name
