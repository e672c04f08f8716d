"""Events entered in any order by the page's commands: their player, and their position in the log."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from bastide.log.store import Store
from bastide.table.session import TableSession
from scoring.engine import next_player
from scoring.events import Player, Setup, TilePlaced, notation
from scoring.log import effective
from scoring.rules import edition, with_options
from web.protocol import CommandError

ANNA_BEN = (Player(name="Anna", colour="red"), Player(name="Ben", colour="blue"))


def begin(store: Store, *boxes: str, name: str = "rgg2006") -> TableSession:
    setup = Setup(players=ANNA_BEN, rules=edition(name), expansions=boxes)
    return TableSession(store, setup, clock=itertools.count(1000.0).__next__)


def tile(kind: str, x: int, y: int, rot: int = 0) -> dict[str, Any]:
    return {"do": "tile", "tile": kind, "at": [x, y], "rot": rot}


def deploy(x: int, y: int, feature: str, where: str, figure: str = "follower", **more: Any) -> dict[str, Any]:
    return {"do": "deploy", "figure": figure, "at": [x, y], "feature": feature, "where": where, **more}


def told(session: TableSession, *commands: dict[str, Any]) -> dict[str, Any]:
    view: dict[str, Any] = {}
    for command in commands:
        view = session.command(command)
    return view


def log(session: TableSession) -> list[str]:
    """The state of the log."""
    return [notation(e) for _, e in effective(session.entries)]


def rows(view: dict[str, Any]) -> list[tuple[str, int, int]]:
    return [(h["kind"], h.get("player"), h["turn"]) for h in view["history"]]


def asked(view: dict[str, Any], code: str) -> list[dict[str, Any]]:
    return [q for q in view["open_questions"] if q["code"] == code]


END = {"do": "end_turn"}


# -- what comes before the tile ---------------------------------------------------------------------------------------


def test_a_discarded_tile_does_not_shift_the_turn(store: Store) -> None:
    """R-DRAW-03: the same player draws again, with or without an end of the turn before."""
    session = begin(store, "base")
    view = told(session, tile("base.U", 1, 0), {"do": "discard", "tile": "base.C"}, tile("base.U", 2, 0))
    assert rows(view) == [("tile", 0, 0), ("discard", 1, 1), ("tile", 1, 1)] and not view["issues"]
    view = told(session, END, {"do": "discard", "tile": "base.X"})
    assert view["next_tile"] == {"player": 0, "part": 1, "waiting": True}
    view = told(session, tile("base.U", 3, 0), tile("base.U", 4, 0))
    assert [r[1] for r in rows(view)] == [0, 1, 1, 0, 0, 1] and not view["issues"]


def test_the_camera_gives_the_next_tile_to_whoever_discarded_one(store: Store) -> None:
    """The watcher asks the same function whose tile comes next."""
    session = begin(store, "base")
    told(session, tile("base.U", 1, 0))
    assert next_player(session.state) == 1
    told(session, {"do": "discard", "tile": "base.C"})
    assert next_player(session.state) == 1


def test_the_pig_of_the_wheel_does_not_shift_the_turn(store: Store) -> None:
    """R-WHEEL-03."""
    session = begin(store, "wheel", name="wheel")
    view = told(session, {"do": "wheel", "steps": 3}, tile("wheel.29", 1, -1, 2), {"do": "wheel", "steps": 1},
                tile("wheel.29", -1, 1))
    assert [r[1:] for r in rows(view)] == [(0, 0), (0, 0), (1, 1), (1, 1)]
    assert not view["issues"]


TAKEN = (tile("tower.02", 0, 1), deploy(0, 1, "field", "NL NR EL ER SL SR WL WR"), tile("base.U", 1, 0),
         {"do": "tower", "at": [0, 1]})  # Anna's farmer stands beside a tower that Ben raises


def ransom_game(store: Store, *more: str) -> TableSession:
    """Ben holds Anna's follower, Anna has 4 points, and it is Ben's turn."""
    session = begin(store, "base", "tower", *more, name="zman2012")
    (capture,) = asked(told(session, *TAKEN), "capture")
    view = told(session, {"do": "answer", "question": capture["id"], "choice": 0},
                tile("base.E", 0, -1, 2), deploy(0, -1, "city", "S"))
    assert [p["score"] for p in view["players"]] == [4, 0] and not view["issues"]
    return session


RANSOM = {"do": "ransom", "jailer": 1, "released": {"owner": 0, "figure": "follower"}}


def test_a_ransom_before_the_tile_does_not_shift_the_turn(store: Store) -> None:
    """R-TOWER-12: whoever gets the follower back pays, and then lays the tile."""
    session = ransom_game(store)
    view = told(session, tile("base.U", 2, 0), RANSOM, tile("base.U", 3, 0), tile("base.U", 4, 0))
    assert rows(view)[-4:] == [("tile", 1, 3), ("ransom", 0, 4), ("tile", 0, 4), ("tile", 1, 5)]
    assert not view["issues"] and [p["score"] for p in view["players"]] == [1, 3]


def test_a_ransom_out_of_turn_ends_no_turn(store: Store) -> None:
    session = ransom_game(store)
    view = told(session, {"do": "discard", "tile": "base.C"}, RANSOM, tile("base.U", 2, 0))
    assert rows(view)[-3:] == [("discard", 1, 3), ("ransom", 0, 3), ("tile", 1, 3)], "Ben had begun his turn"
    assert [i["code"] for i in view["issues"]] == ["wrong_player"]


# -- the builder ------------------------------------------------------------------------------------------------------

BUILT = (tile("base.U", 1, 0), deploy(1, 0, "road", "E W"), tile("base.B", 0, 1), tile("base.U", 2, 0),
         deploy(2, 0, "road", "E W", "builder"), tile("base.B", 0, 2), tile("base.U", 3, 0))


def test_the_second_tile_of_a_builder_needs_no_end_of_turn(store: Store) -> None:
    """R-BUILD-05, R-BUILD-06."""
    session = begin(store, "base", "traders")
    view = told(session, *BUILT)
    assert view["next_tile"] == {"player": 0, "part": 2, "waiting": False}
    view = told(session, tile("base.U", 4, 0))
    assert (view["turn"]["player"], view["turn"]["part"]) == (0, 2) and not view["issues"]
    view = told(session, tile("base.B", 0, 3))
    assert [r[1] for r in rows(view) if r[0] == "tile"] == [0, 1, 0, 1, 0, 0, 1] and not view["issues"]


def test_whose_tile_it_was_says_whether_it_is_a_second_one(store: Store) -> None:
    """Anna's second tile was missed, so that Ben's, told next, was taken for it."""
    session = begin(store, "base", "traders")
    view = told(session, *BUILT, tile("base.B", 0, 3))
    last, bens = (view["history"][n]["seq"] for n in (-2, -1))
    view = told(session, {"do": "insert", "after": last, "body": tile("base.U", 4, 0)})
    assert [i["code"] for i in view["issues"]] == ["wrong_player"], "a third tile of Anna's"
    view = told(session, {"do": "amend", "seq": bens, "body": {**tile("base.B", 0, 3), "player": 1, "part": 2}})
    assert not view["issues"] and view["next_tile"] == {"player": 0, "part": 1, "waiting": False}
    assert [r[:2] for r in rows(view)[-3:]] == [("tile", 0), ("tile", 0), ("tile", 1)]


def test_a_tile_given_to_who_extended_the_builders_road_is_the_second_one(store: Store) -> None:
    """Otherwise the builder would bring a third one."""
    session = begin(store, "base", "traders")
    told(session, *BUILT)
    session.commit((TilePlaced(player=1, tile="base.U", at=(4, 0), rot=0),), confidence=0.9, asked=False)
    seq = session.view()["history"][-1]["seq"]
    view = told(session, {"do": "amend", "seq": seq, "body": {**tile("base.U", 4, 0), "player": 0, "part": 1}})
    assert not view["issues"] and view["next_tile"] == {"player": 1, "part": 1, "waiting": False}


def test_a_ransom_after_the_tile_ends_no_part(store: Store) -> None:
    """R-TURN-21, A-39: a ransomed follower may be put down at once, in the builder's first part as well."""
    session = ransom_game(store, "traders")
    view = told(session, tile("base.B", 1, 1), tile("base.U", 2, 0), deploy(2, 0, "road", "E W"),
                tile("base.B", 1, 2), tile("base.U", 3, 0), deploy(3, 0, "road", "E W", "builder"),
                tile("base.B", 1, 3), tile("base.U", 4, 0))
    assert view["next_tile"] == {"player": 0, "part": 2, "waiting": False}
    view = told(session, RANSOM)
    assert (view["turn"]["player"], view["turn"]["part"], view["turn"]["open"]) == (0, 1, True)
    view = told(session, deploy(4, 0, "field", "NL NR EL WR"))
    assert [p["score"] for p in view["players"]] == [1, 3] and not view["issues"]
    view = told(session, tile("base.B", 1, 4))
    assert (view["turn"]["player"], view["turn"]["part"]) == (0, 2) and not view["issues"]


# -- the wheel told after the tile ------------------------------------------------------------------------------------


def test_the_wheel_told_after_its_tile_stands_before_it(store: Store) -> None:
    """R-WHEEL-03: not in the turn before, and paid once."""
    session = begin(store, "wheel", name="wheel")
    told(session, tile("wheel.29", 1, -1, 2))
    view = session.view()
    assert [i["code"] for i in view["issues"]] == ["wheel_not_turned"]
    (question,) = asked(view, "wheel_steps")
    view = told(session, END, {"do": "answer", "question": question["id"], "choice": 2})  # storm: 7 in hand each
    assert log(session) == ["wheel 0 3", "tile 0 wheel.29 1,-1 2", "end_turn"] and not view["issues"]
    assert [p["score"] for p in view["players"]] == [7, 7]
    view = told(session, tile("wheel.29", -1, 1))
    (question,) = asked(view, "wheel_steps")
    view = told(session, {"do": "answer", "question": question["id"], "choice": 0})
    assert log(session)[2:] == ["end_turn", "wheel 1 1", "tile 1 wheel.29 -1,1 0"], "after the end of the turn before"
    with pytest.raises(CommandError) as again:
        session.command({"do": "answer", "question": question["id"], "choice": 0})
    assert again.value.code == "unknown_question" and [p["score"] for p in view["players"]] == [7, 7]


def test_the_wheel_told_plainly_after_its_tile_stands_before_it(store: Store) -> None:
    session = begin(store, "wheel", name="wheel")
    view = told(session, tile("wheel.29", 1, -1, 2), {"do": "wheel", "steps": 3})
    assert log(session) == ["wheel 0 3", "tile 0 wheel.29 1,-1 2"] and not view["issues"]
    view = told(session, {"do": "wheel", "steps": 1})
    assert log(session)[-1] == "wheel 1 1", "turned for this tile already: it is the next player's"


def test_the_plague_told_after_the_tile_is_asked_and_stands_before_it(store: Store) -> None:
    """R-WHEEL-11: whose followers it took is known though the game went on."""
    session = begin(store, "wheel", name="wheel")
    told(session, {"do": "wheel", "steps": 3}, tile("wheel.29", 1, -1, 2), deploy(1, -1, "road", "N E"))
    place = session.view()["history"][-1]
    view = told(session, {"do": "wheel", "steps": 2}, tile("wheel.29", -1, 1))
    assert "plague_open" in [i["code"] for i in view["issues"]]
    (question,) = asked(view, "plague")
    assert question["player"] == 0 and len(question["answers"]) == 1
    view = told(session, END, {"do": "answer", "question": question["id"], "choice": 0})
    assert [line.split()[0] for line in log(session)] == \
        ["wheel", "tile", "deploy", "wheel", "plague", "tile", "end_turn"]
    assert not asked(view, "plague") and "plague_open" not in [i["code"] for i in view["issues"]]
    assert view["players"][0]["supply"]["follower"] == 7 and place["kind"] == "deploy"


def test_the_plague_told_plainly_names_the_follower_only(store: Store) -> None:
    session = begin(store, "wheel", name="wheel")
    view = told(session, {"do": "wheel", "steps": 3}, tile("wheel.29", 1, -1, 2),
                deploy(1, -1, "road", "N E"), {"do": "wheel", "steps": 2}, tile("wheel.29", -1, 1))
    (question,) = asked(view, "plague")
    body = {k: v for k, v in question["answers"][0].items() if k != "player"}
    view = told(session, body)
    assert log(session)[-2].startswith("plague 0 ") and not asked(view, "plague")


def test_the_plague_can_be_answered_although_the_wheel_was_turned_again_for_that_tile(store: Store) -> None:
    """R-WHEEL-11: one of the two turns is a mistake, and nobody knows yet which."""
    session = begin(store, "wheel", name="wheel")
    told(session, {"do": "wheel", "steps": 3}, tile("wheel.29", 1, -1, 2), deploy(1, -1, "road", "N E"))
    view = told(session, {"do": "wheel", "steps": 2}, {"do": "wheel", "steps": 3}, tile("wheel.29", -1, 1))
    (question,) = asked(view, "plague")
    view = told(session, {"do": "answer", "question": question["id"], "choice": 0})
    codes = [i["code"] for i in view["issues"]]
    assert not asked(view, "plague") and "wheel_twice" in codes
    assert not {"plague_open", "no_plague", "no_such_figure"} & {*codes}
    assert view["players"][0]["supply"]["follower"] == 7


def test_turning_the_wheel_for_a_tile_without_its_sign_is_reported(store: Store) -> None:
    """R-WHEEL-02."""
    session = begin(store, "wheel", name="wheel")
    view = told(session, {"do": "wheel", "steps": 1}, tile("wheel.01", 1, -1))
    assert "wheel_without_sign" in [i["code"] for i in view["issues"]]
    session = begin(store, "wheel", name="wheel")
    view = told(session, {"do": "wheel", "steps": 1}, {"do": "wheel", "steps": 1})
    assert "wheel_twice" in [i["code"] for i in view["issues"]]


# -- what comes after the tile ----------------------------------------------------------------------------------------


def test_a_follower_told_after_the_end_of_the_turn_stands_in_it(store: Store) -> None:
    session = begin(store, "base")
    view = told(session, tile("base.E", 0, -1, 2), END, deploy(0, -1, "city", "S"))
    assert log(session)[1:] == ["deploy 0 follower 0,-1 city S", "end_turn"] and not view["issues"]
    assert view["players"][0]["score"] == 2 and view["players"][0]["supply"]["follower"] == 7


def test_a_follower_told_when_the_next_player_has_discarded_is_whose_tile_it_stands_on(store: Store) -> None:
    session = begin(store, "base")
    view = told(session, tile("base.U", 1, 0), {"do": "discard", "tile": "base.C"}, deploy(1, 0, "road", "E W"),
                tile("base.U", 2, 0))
    assert [line.split()[:2] for line in log(session)] == [["tile", "0"], ["deploy", "0"], ["discard", "1"],
                                                           ["tile", "1"]]
    assert not view["issues"]


def test_a_follower_told_after_the_dragons_walk_stood_there_before(store: Store) -> None:
    """R-TURN-01, R-TURN-22: the dragon eats it."""
    session = begin(store, "base", "dragon")
    view = told(session, tile("dragon.01", 0, 1), tile("dragon.16", 1, 0), {"do": "dragon", "path": [[0, 0], [1, 0]]})
    view = told(session, deploy(1, 0, **next(p for p in places(view, (1, 0)))))
    assert [line.split()[0] for line in log(session)] == ["tile", "tile", "deploy", "dragon"]
    assert not view["board"]["figures"]


def places(view: dict[str, Any], at: tuple[int, int]) -> list[dict[str, str]]:
    return [{"feature": f["kind"], "where": where} for f in view["features"] for x, y, where in f["places"]
            if (x, y) == at and f["kind"] in ("road", "city", "field", "cloister")]


def test_a_tile_that_was_missed_belongs_to_whose_turn_it_was_there(store: Store) -> None:
    """After the builder's tile the same player comes again."""
    session = begin(store, "base", "traders")
    told(session, *BUILT)
    seq = session.view()["history"][-1]["seq"]
    view = told(session, {"do": "insert", "after": seq, "body": tile("base.U", 4, 0)})
    assert (view["history"][-1]["player"], view["turn"]["part"]) == (0, 2)


def test_by_which_follower_the_fairy_stands_is_asked(store: Store) -> None:
    """R-FAIRY-03: of several on her tile none is taken unasked, and the answer leaves no issue."""
    setup = Setup(players=ANNA_BEN, rules=with_options(edition("rgg2006"), {"fairy_mode": "follower"}),
                  expansions=("base", "dragon"))
    session = TableSession(store, setup, clock=itertools.count(1000.0).__next__)
    told(session, tile("dragon.02", 1, 0, 1), deploy(1, 0, "road", "N E"), tile("base.B", 0, 1),
         tile("base.B", 0, 2))
    own = session.view()["board"]["figures"]
    assert len(own) == 1
    fairy = next(m for m in session.moves()["moves"] if m["code"] == "fairy")
    assert fairy["answers"][0]["beside"]["feature"] == own[0]["feature"], "the only one is named"
    view = told(session, deploy(1, 0, "field", "NR EL", portal=True), END,
                tile("base.B", 0, 3), tile("base.B", 0, 4), {"do": "fairy", "at": [1, 0]})
    (question,) = asked(view, "fairy_beside")
    assert {a["beside"]["feature"] for a in question["answers"]} == {f["feature"] for f in view["board"]["figures"]}
    before = [i["code"] for i in view["issues"]]
    view = told(session, END, {"do": "answer", "question": question["id"], "choice": 1})
    assert before[-1] == "fairy_beside" and [i["code"] for i in view["issues"]] == before[:-1]
    assert view["board"]["fairy_beside"]["feature"] == question["answers"][1]["beside"]["feature"]


def test_the_wheel_told_plainly_after_the_end_of_its_turn_is_that_turns(store: Store) -> None:
    session = begin(store, "wheel", name="wheel")
    view = told(session, tile("wheel.29", 1, -1, 2), END, {"do": "wheel", "steps": 3})
    assert log(session) == ["wheel 0 3", "tile 0 wheel.29 1,-1 2", "end_turn"] and not view["issues"]
    view = told(session, {"do": "wheel", "steps": 1}, tile("wheel.29", -1, 1))
    assert log(session)[3:] == ["wheel 1 1", "tile 1 wheel.29 -1,1 0"] and not view["issues"]
    named = begin(store, "wheel", name="wheel")
    told(named, tile("wheel.29", 1, -1, 2), END, {"do": "wheel", "steps": 3, "player": 1})
    assert log(named)[-1] == "wheel 1 3", "somebody said whose it was"


def test_what_was_missed_in_a_turn_stands_where_the_rules_put_it_there(store: Store) -> None:
    session = begin(store, "wheel", "dragon", name="wheel")
    told(session, tile("wheel.29", 1, -1, 2), END, tile("wheel.29", -1, 1), END)
    turn = session.view()["board"]["tiles"][-1]["turn"]
    view = told(session, {"do": "insert", "turn": turn, "body": {"do": "wheel", "steps": 3}},
                {"do": "insert", "turn": turn, "body": deploy(-1, 1, "road", "S W")},
                {"do": "insert", "turn": 0, "body": {"do": "discard", "tile": "wheel.01"}})
    assert log(session) == ["discard 0 wheel.01", "tile 0 wheel.29 1,-1 2", "end_turn", "wheel 1 3",
                            "tile 1 wheel.29 -1,1 0", "deploy 1 follower -1,1 road S.W", "end_turn"]
    assert [i["code"] for i in view["issues"]] == ["wheel_not_turned"], "Anna's wheel was not told"
    for nonsense in (7, -1, None, "1", True):
        with pytest.raises(CommandError) as refused:
            session.command({"do": "insert", "turn": nonsense, "body": {"do": "wheel", "steps": 3}})
        assert refused.value.code == "unknown_entry"
    goods = begin(store, "base", "traders")
    told(goods, tile("base.U", 1, 0), END, tile("base.U", 2, 0),
         {"do": "insert", "turn": 0, "body": {"do": "goods", "goods": "wine", "count": 1}})
    assert log(goods)[1:3] == ["goods 0 wine 1", "end_turn"]
