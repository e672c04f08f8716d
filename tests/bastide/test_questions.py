"""What the camera was unsure of: questions, answers, later evidence, candidates."""

from __future__ import annotations

from typing import Any

import pytest
from sessions import JPEG, SETUP, error, history, played, seen

from bastide.log.store import Store
from bastide.table.session import TableSession
from scoring.engine import fits, fold
from scoring.events import Player, Setup, TilePlaced, parse_event, to_json
from scoring.log import Amended, Inserted, Retracted
from scoring.rules import edition

TOWERS = Setup(players=(Player(name="Anna", colour="red"), Player(name="Ben", colour="blue")), rules=edition(),
               expansions=("base", "tower"))

# -- questions ------------------------------------------------------------------------------------------------------


@pytest.fixture
def asked(session: TableSession) -> int:
    """The number of a tile that the camera was unsure of, after two turns that it was sure of."""
    played(session, 2)
    state = session.state
    best = TilePlaced(player=2, tile="base.V", at=free(session, "base.V")[0], rot=free(session, "base.V")[1])
    other = TilePlaced(player=2, tile="base.U", at=best.at, rot=0)
    assert best.at not in state.tiles
    return seen(session, best, asked=True, crop=JPEG, frame=44,
                alternatives=(((best,), 0.6), ((other,), 0.3), ((), 0.1)))[0]


def free(session: TableSession, tile: str) -> tuple[tuple[int, int], int]:
    from scoring.engine import legal_placements

    return legal_placements(session.state, tile)[0]


def test_an_unsure_reading_is_in_the_game_and_asked_about(session: TableSession, asked: int) -> None:
    view = session.view()
    (question,) = view["questions"]
    assert question["id"] == question["seq"] == asked and question["kind"] == "tile"
    assert question["crop"] == f"/api/crops/{asked}.jpg" and session.crop_png(asked) == JPEG
    assert [c["probability"] for c in question["candidates"]] == [0.6, 0.3, 0.1]
    assert question["candidates"][0]["body"]["tile"] == "base.V" and question["candidates"][2]["body"] is None
    tile = next(t for t in view["board"]["tiles"] if t["seq"] == asked)
    assert tile["asked"] and tile["tile"] == "base.V"
    session.set_status("watching")
    assert session.view()["status"]["chip"] == "check"


def test_who_laid_a_tile_is_asked_where_only_that_is_unknown(session: TableSession) -> None:
    """No score is uncertain because of it: the tile has no figure. The answer is the player's number."""
    played(session, 2)
    at, rot = free(session, "base.V")
    mine, theirs = (TilePlaced(player=n, tile="base.V", at=at, rot=rot) for n in (2, 0))
    (seq,) = seen(session, mine, asked=True, crop=JPEG, frame=44, alternatives=(((mine,), 0.6), ((theirs,), 0.4)))
    view = session.view()
    (question,) = view["questions"]
    assert question["text_key"] == "whose_tile" and question["kind"] == "tile"
    assert [c["body"]["player"] for c in question["candidates"]] == [2, 0]
    assert not any(p["uncertain"] for p in view["players"])
    assert [c["tile"] for c in session.candidates(seq)].count("base.V") <= 4  # each way round once
    view = session.command({"do": "answer", "question": seq, "choice": 1})
    assert view["questions"] == [] and session.state.tiles[at].player == 0


def test_choosing_the_best_candidate_settles_the_question(session: TableSession, asked: int) -> None:
    view = session.command({"do": "answer", "question": asked, "choice": 0})
    assert view["questions"] == []
    assert next(t for t in view["board"]["tiles"] if t["seq"] == asked)["tile"] == "base.V"
    assert error(session, {"do": "answer", "question": asked, "choice": 0}).code == "unknown_question"


def test_choosing_another_candidate_changes_the_board(session: TableSession, asked: int) -> None:
    view = session.command({"do": "answer", "question": asked, "choice": 1})
    assert view["questions"] == []
    assert next(t for t in view["board"]["tiles"] if t["seq"] == asked)["tile"] == "base.U"


def test_choosing_nothing_takes_the_reading_back(session: TableSession, asked: int) -> None:
    view = session.command({"do": "answer", "question": asked, "choice": 2})
    assert view["questions"] == [] and asked not in history(session)


def test_answering_with_something_else(session: TableSession, asked: int) -> None:
    at, rot = free_body = next((t["at"], t["rot"]) for t in session.view()["board"]["tiles"] if t["seq"] == asked)
    body = {"do": "tile", "tile": "base.K", "at": at, "rot": rot}
    view = session.command({"do": "answer", "question": asked, "choice": "other", "body": body})
    assert view["questions"] == [] and free_body
    changed = next(t for t in view["board"]["tiles"] if t["seq"] == asked)
    assert changed["tile"] == "base.K" and changed["player"] == 2, "whose tile it was has not changed"


def test_a_figure_that_was_put_there_later_goes_to_its_own_turn(store: Store) -> None:
    """Somebody seems to stand on Anna's old tile. It is Ben, who stands on its tower since his last turn."""
    session = TableSession(store, TOWERS)
    for line in ("tile 0 tower.02 0,1 0", "tile 1 base.B 0,2 0", "tile 0 base.U -1,0 0", "tower 0 0,1",
                 "tile 1 base.U -2,0 0"):
        seen(session, parse_event(line))
    (seq,) = seen(session, parse_event("deploy 0 follower 0,1 field NL.NR.EL.ER.SL.SR.WL.WR"), asked=True, after=1,
                  crop=JPEG, alternatives=(((), 0.5),))
    body = {"do": "deploy", "player": 1, "figure": "follower", "at": [0, 1], "feature": "tower", "where": "I"}
    view = session.command({"do": "answer", "question": seq, "choice": "other", "body": body})
    assert not view["questions"] and not view["issues"]
    assert [t["player"] for t in view["board"]["tiles"] if t["at"] == [0, 1]] == [0]
    assert [e.body for e in session.entries[-2:]] == [Retracted(seq=seq), parse_event("deploy 1 follower 0,1 tower I")]


def test_of_the_later_turns_that_may_be_his_he_goes_to_the_newest(store: Store) -> None:
    session = TableSession(store, TOWERS)
    for line in ("tile 0 tower.02 0,1 0", "tower 0 0,1", "tile 1 base.B 0,2 0", "tile 0 base.U -1,0 0",
                 "tile 1 base.U -2,0 0", "tile 0 base.U -3,0 0"):
        seen(session, parse_event(line))
    (seq,) = seen(session, parse_event("deploy 0 follower 0,1 field NL.NR.EL.ER.SL.SR.WL.WR"), asked=True, after=1,
                  crop=JPEG, alternatives=(((), 0.5),))
    told = parse_event("deploy 1 follower 0,1 tower I")
    newest = next(e.seq for e in session.entries if e.body == parse_event("tile 1 base.U -2,0 0"))
    session.command({"do": "answer", "question": seq, "choice": "other", "body": to_json(told)})
    assert session.entries[-1].body == Inserted(after=newest, body=told)


def test_a_figure_that_is_allowed_in_the_turn_that_was_asked_about_stays_there(store: Store) -> None:
    session = TableSession(store, TOWERS)
    for line in ("tile 0 tower.02 0,1 0", "tower 0 0,1", "tile 1 base.B 0,2 0", "tile 0 base.U -1,0 0",
                 "tile 1 base.U -2,0 0"):
        seen(session, parse_event(line))
    (seq,) = seen(session, parse_event("deploy 1 follower 0,2 cloister I"), asked=True, after=3, crop=JPEG,
                  alternatives=(((), 0.5),))
    told = parse_event("deploy 1 follower 0,1 tower I")  # as he might also do in his later turn
    session.command({"do": "answer", "question": seq, "choice": "other", "body": to_json(told)})
    assert session.entries[-1].body == Amended(seq=seq, body=told)


@pytest.mark.parametrize("where, player", [("field NL.NR.EL.ER.SL.SR.WL.WR", 1), ("tower I", 0)])
def test_a_figure_that_no_other_turn_explains_stays_in_the_one_that_was_asked_about(
        store: Store, where: str, player: int) -> None:
    session = TableSession(store, TOWERS)
    for line in ("tile 0 tower.02 0,1 0", "tile 1 base.U -1,0 0"):
        seen(session, parse_event(line))
    (seq,) = seen(session, parse_event("deploy 0 follower 0,1 cloister I"), asked=True, after=1, crop=JPEG,
                  alternatives=(((), 0.5),))
    told = parse_event(f"deploy {player} follower 0,1 {where}")
    session.command({"do": "answer", "question": seq, "choice": "other", "body": to_json(told)})
    assert session.entries[-1].body == Amended(seq=seq, body=told)


@pytest.mark.parametrize("settle", ["retract", "amend"])
def test_a_correction_by_hand_settles_the_question_too(session: TableSession, asked: int, settle: str) -> None:
    body = to_json(next(e.body for e in session.entries if e.seq == asked))
    session.command({"do": settle, "seq": asked, "body": body})
    assert session.view()["questions"] == []
    session.command({"do": "undo"})
    assert [q["id"] for q in session.view()["questions"]] == [asked], "an answer that was undone was never given"


def test_a_question_survives_a_restart(session: TableSession, store: Store, asked: int) -> None:
    again = TableSession.resume(store)
    assert again is not None
    assert again.view()["questions"] == session.view()["questions"] != []
    again.command({"do": "answer", "question": asked, "choice": 1})
    assert again.view()["questions"] == []


@pytest.mark.parametrize("choice", [3, -1, "first", None, True, 1.0])
def test_a_choice_that_is_none(session: TableSession, asked: int, choice: Any) -> None:
    assert error(session, {"do": "answer", "question": asked, "choice": choice}).code == "malformed"
    assert session.view()["questions"] != []


# -- later evidence -------------------------------------------------------------------------------------------------


def test_a_surer_reading_replaces_an_earlier_one_and_its_question(session: TableSession, asked: int) -> None:
    at = next(e.body for e in session.entries if e.seq == asked).at  # type: ignore[union-attr]
    better = TilePlaced(player=2, tile="base.U", at=at, rot=1)
    seen(session, better, replaces=asked, crop=b"later", alternatives=(((better,), 0.99),))
    view = session.view()
    tile = next(t for t in view["board"]["tiles"] if tuple(t["at"]) == at)
    assert (tile["tile"], tile["rot"], tile["seq"]) == ("base.U", 1, asked)
    assert view["questions"] == [] and session.crop_png(asked) == b"later"


def test_a_correction_that_is_unsure_itself_is_asked_about_until_answered(session: TableSession, asked: int) -> None:
    at = next(e.body for e in session.entries if e.seq == asked).at  # type: ignore[union-attr]
    seen(session, TilePlaced(player=2, tile="base.U", at=at, rot=1), asked=True, replaces=asked)
    view = session.view()
    assert [q["id"] for q in view["questions"]] == [asked]
    assert [p["index"] for p in view["players"] if p["uncertain"]] == [1, 2]  # not Anna
    view = session.command({"do": "answer", "question": asked, "choice": 0})
    assert view["questions"] == [] and not any(p["uncertain"] for p in view["players"])
    assert not any(t["asked"] for t in view["board"]["tiles"])


@pytest.mark.parametrize("command", [{"do": "retract"}, {"do": "amend"}, {"do": "answer", "choice": 0}])
def test_a_later_reading_never_overrides_a_person(session: TableSession, asked: int, command: dict[str, Any]) -> None:
    body = next(e.body for e in session.entries if e.seq == asked)
    session.command({**command, "seq": asked, "question": asked, "body": to_json(body)})  # type: ignore[arg-type]
    settled = session.view()
    better = TilePlaced(player=2, tile="base.U", at=body.at, rot=1)  # type: ignore[union-attr]
    assert seen(session, better, replaces=asked) == ()
    assert session.view() == settled


def test_a_proposal_of_nothing_is_nothing(session: TableSession) -> None:
    assert seen(session) == () and session.view()["version"] == 0


# -- candidates -----------------------------------------------------------------------------------------------------


def test_candidates_are_the_readings_best_first_then_all_that_fit(session: TableSession, asked: int) -> None:
    found = session.candidates(asked)
    at = next(e.body for e in session.entries if e.seq == asked).at  # type: ignore[union-attr]
    assert [(c["tile"], c["probability"]) for c in found[:2]] == [("base.V", 0.6), ("base.U", 0.3)]
    assert [c["probability"] for c in found] == sorted((c["probability"] for c in found), reverse=True)
    before = fold(SETUP, [e.body for e in session.entries if e.seq < asked])  # type: ignore[misc]
    assert all(c["legal"] == fits(before, c["tile"], at, c["rot"]) for c in found)
    assert len({(c["tile"], c["rot"]) for c in found}) == len(found)
    fitting = {(t, r) for t in before.left for r in range(4) if before.left[t] > 0 and fits(before, t, at, r)}
    assert fitting <= {(c["tile"], c["rot"]) for c in found}


def test_there_are_no_candidates_for_what_does_not_exist(session: TableSession) -> None:
    assert session.candidates(5) == [] and session.crop_png(5) is None
