"""The live session: commits, questions, corrections, and that everything shown was on disk before."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bastide.demo_game import PLAYERS, demo_game
from bastide.history import last_action
from bastide.session import TableSession
from bastide.store import Store
from scoring.engine import fits, fold, new_game
from scoring.events import Event, FigurePlaced, Setup, TilePlaced, to_json
from scoring.rules import edition
from scoring.tiles import catalogue
from web.protocol import CommandError, StaleView

SETUP = Setup(players=PLAYERS, rules=edition())

JPEG = b"\xff\xd8 a picture"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "log.sqlite") as opened:
        yield opened


@pytest.fixture
def session(store: Store) -> TableSession:
    return TableSession(store, SETUP, clock=itertools.count(1000.0).__next__)


def seen(session: TableSession, *events: Event, asked: bool = False, **how: Any) -> tuple[int, ...]:
    return session.commit(events, confidence=0.6 if asked else 0.99, asked=asked, **how)


def played(session: TableSession, turns: int, seed: int = 3) -> list[tuple[int, Event]]:
    """The first turns of a demo game as a camera sees them: tiles and figures, no ends of turns."""
    out = []
    for turn in demo_game(seed, turns=turns).turns:
        for event in turn.events:
            out.append((seen(session, event)[0], event))
    return out


def error(session: TableSession, command: Any) -> CommandError:
    with pytest.raises(CommandError) as raised:
        session.command(command)
    assert raised.value.text and "\n" not in raised.value.text
    return raised.value


def history(session: TableSession) -> list[int]:
    return [h["seq"] for h in session.view()["history"]]


# -- what is shown --------------------------------------------------------------------------------------------------


def test_a_committed_move_is_on_disk_and_shown(session: TableSession, store: Store) -> None:
    before = session.view()
    log = played(session, 8)
    view = session.view()
    assert view["version"] == len(log) == len(session.entries)
    assert view["update"] > before["update"] and before["version"] == 0
    assert len(view["board"]["tiles"]) == 9
    found = store.unfinished()
    assert found is not None and found.entries == session.entries
    assert session.state.tiles == fold(SETUP, [e for _, e in log]).tiles


def test_a_view_that_was_handed_out_never_changes(session: TableSession) -> None:
    played(session, 3)
    old = session.view()
    kept = repr(old)
    played(session, 2, seed=5)
    session.command({"do": "undo"})
    assert repr(old) == kept


def test_a_resumed_session_shows_the_same(session: TableSession, store: Store) -> None:
    played(session, 6)
    session.command({"do": "undo"})
    seen(session, session.entries[0].body, asked=True, crop=JPEG, alternatives=())  # nonsense, but it happened
    again = TableSession.resume(store)
    assert again is not None
    own = {"update", "status"}
    assert {k: v for k, v in again.view().items() if k not in own} == \
        {k: v for k, v in session.view().items() if k not in own}
    assert again.entries == session.entries and again.state == session.state


def test_a_game_that_is_over_is_not_resumed_unless_its_end_is_undone(session: TableSession, store: Store) -> None:
    played(session, 3)
    view = session.command({"do": "end_game"})
    assert view["phase"] == "over" and view["status"]["chip"] == "ended" and view["final"]["totals"]
    assert TableSession.resume(store) is None
    view = session.command({"do": "undo"})
    assert view["phase"] == "playing" and view["final"] is None
    assert len(view["board"]["tiles"]) == 4
    assert TableSession.resume(store) is not None


def test_the_camera_status_is_published_once_per_change(session: TableSession) -> None:
    first = session.view()["update"]
    for _ in range(3):
        session.set_status("hand")
    assert session.view()["status"] == {"chip": "hand", "text": ""}
    assert session.view()["update"] == first + 1
    session.set_status("camera_lost", "the camera is gone")
    assert session.view()["status"] == {"chip": "camera_lost", "text": "the camera is gone"}


# -- subscriptions --------------------------------------------------------------------------------------------------


def test_a_subscription_begins_with_the_present_and_skips_what_nobody_fetched(session: TableSession) -> None:
    mine = session.subscribe()
    assert mine.get(0.0) == session.view()
    assert mine.get(0.0) is None
    played(session, 6)
    newest = mine.get(0.0)
    assert newest is session.view() and mine.get(0.0) is None
    mine.close()
    mine.close()
    played(session, 1, seed=8)
    assert mine.get(0.0) is None


def test_a_subscriber_is_woken_by_a_change(session: TableSession) -> None:
    mine = session.subscribe()
    mine.get(0.0)
    got: list[Any] = []
    waiting = threading.Thread(target=lambda: got.append(mine.get(30.0)))
    waiting.start()
    seen(session, demo_game(3, turns=1).turns[0].events[0])
    waiting.join(30.0)
    assert got and got[0]["version"] == 1


def test_commands_from_many_threads_are_all_kept_in_one_order(session: TableSession) -> None:
    body = {"do": "end_turn"}
    threads = [threading.Thread(target=lambda: [session.command(body) for _ in range(10)]) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert [e.seq for e in session.entries] == list(range(1, 41))


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
    assert [q["id"] for q in view["questions"]] == [asked] and view["players"][0]["uncertain"]
    view = session.command({"do": "answer", "question": asked, "choice": 0})
    assert view["questions"] == [] and not view["players"][0]["uncertain"]
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


# -- corrections ----------------------------------------------------------------------------------------------------


def first_claim(log: list[tuple[int, Event]]) -> tuple[int, TilePlaced, int, FigurePlaced]:
    for (tile_seq, tile), (seq, figure) in itertools.pairwise(log):
        if isinstance(tile, TilePlaced) and isinstance(figure, FigurePlaced):
            return tile_seq, tile, seq, figure
    raise AssertionError("nobody claims anything in this game")


def test_amending_an_old_tile_takes_its_figure_along_and_scores_anew(session: TableSession) -> None:
    log = played(session, 20)
    tile_seq, tile, seq, figure = first_claim(log)
    other = next(t.id for t in catalogue().values() if t.product == "base" and t.id != tile.tile
                 and figure.feature in [s.kind for s in t.segments])
    view = session.command({"do": "amend", "seq": tile_seq,
                            "body": {"do": "tile", "tile": other, "at": list(tile.at), "rot": tile.rot}})
    row = next(h for h in view["history"] if h["seq"] == tile_seq)
    assert row["tile"] == other and row["amended"] and row["player"] == tile.player
    moved = next(h for h in view["history"] if h["seq"] == seq)
    places = [s for s in catalogue()[other].segments if s.kind == figure.feature]
    assert moved["at"] == list(tile.at) and moved["feature"] == figure.feature and places
    corrected = {**dict(log), tile_seq: TilePlaced(player=tile.player, tile=other, at=tile.at, rot=tile.rot)}
    corrected[seq] = FigurePlaced(player=figure.player, figure=figure.figure, at=figure.at, feature=figure.feature,
                                  where=moved["where"])
    assert session.state.scores == fold(SETUP, corrected.values()).scores
    view = session.command({"do": "undo"})
    assert session.state.tiles == fold(SETUP, dict(log).values()).tiles, "undo takes the whole correction back"
    assert next(h for h in view["history"] if h["seq"] == seq)["where"] == figure.where


def test_moving_a_tile_moves_what_stands_on_it(session: TableSession) -> None:
    log = played(session, 6)
    tile_seq, tile, seq, _figure = first_claim(log)
    view = session.command({"do": "amend", "seq": tile_seq,
                            "body": {"do": "tile", "tile": tile.tile, "at": [9, 9], "rot": tile.rot}})
    assert next(h for h in view["history"] if h["seq"] == seq)["at"] == [9, 9]
    assert view["issues"], "what cannot be is kept and reported"


def test_retracting_and_inserting(session: TableSession) -> None:
    log = played(session, 10)
    tile_seq, tile, seq, figure = first_claim(log)
    session.command({"do": "retract", "seq": seq})
    assert seq not in history(session)
    rest = [e for n, e in log if n != seq]
    assert session.state.figures == fold(SETUP, rest).figures
    view = session.command({"do": "insert", "after": tile_seq, "body": {
        "do": "deploy", "figure": "follower", "at": list(figure.at), "feature": figure.feature,
        "where": figure.where}})
    assert history(session).index(view["version"]) == history(session).index(tile_seq) + 1
    assert session.state.scores == fold(SETUP, [e for _, e in log]).scores
    assert view["history"][history(session).index(view["version"])]["player"] == tile.player


def test_a_tile_that_was_missed_is_the_next_players(session: TableSession) -> None:
    log = played(session, 4)
    tiles = [(n, e) for n, e in log if isinstance(e, TilePlaced)]
    session.command({"do": "retract", "seq": tiles[2][0]})
    before = [n for n, _ in log if n < tiles[2][0]][-1]
    body = {k: v for k, v in to_json(tiles[2][1]).items() if k != "player"}
    view = session.command({"do": "insert", "after": before, "body": body})
    row = next(h for h in view["history"] if h["seq"] == view["version"])
    assert row["player"] == tiles[2][1].player == 2


def test_moves_by_hand_take_the_player_whose_turn_it_is(session: TableSession) -> None:
    events = demo_game(3, turns=5).turns
    for turn in events:
        tile = next(e for e in turn.events if isinstance(e, TilePlaced))
        session.command({"do": "tile", "tile": tile.tile, "at": list(tile.at), "rot": tile.rot})
    assert [h["player"] for h in session.view()["history"]] == [0, 1, 2, 0, 1]
    assert all(h["source"] == "hand" for h in session.view()["history"])


# -- undo -----------------------------------------------------------------------------------------------------------


def test_undo_after_undo_goes_back_to_the_beginning(session: TableSession) -> None:
    log = played(session, 5)
    for n in range(len(log), 0, -1):
        assert history(session) == [seq for seq, _ in log[:n]]
        session.command({"do": "undo"})
    assert history(session) == [] and session.state == new_game(SETUP)
    assert error(session, {"do": "undo"}).code == "nothing"
    again = seen(session, log[0][1])
    assert history(session) == list(again)


def test_undo_takes_back_a_turn_that_was_ended_by_hand(session: TableSession) -> None:
    played(session, 1)
    session.command({"do": "end_turn"})
    assert not session.view()["turn"]["open"]
    view = session.command({"do": "undo"})
    assert view["turn"]["open"] and len(view["board"]["tiles"]) == 2


def test_undo_brings_back_an_older_move_that_was_taken_back(session: TableSession) -> None:
    log = played(session, 5)
    session.command({"do": "retract", "seq": log[0][0]})
    assert log[0][0] not in history(session)
    session.command({"do": "undo"})
    assert history(session) == [seq for seq, _ in log]
    session.command({"do": "undo"})
    assert history(session) == [seq for seq, _ in log[:-1]]


def test_what_undo_takes_back_survives_a_restart(session: TableSession, store: Store) -> None:
    log = played(session, 4)
    session.command({"do": "undo"})
    again = TableSession.resume(store)
    assert again is not None and last_action(again.entries) == (log[-2][0],)


# -- commands that mean nothing -------------------------------------------------------------------------------------


def test_a_command_based_on_an_old_view_is_refused(session: TableSession) -> None:
    played(session, 2)
    old = session.view()["version"]
    session.command({"do": "undo", "based_on": old})
    with pytest.raises(StaleView) as stale:
        session.command({"do": "undo", "based_on": old})
    assert stale.value.view == session.view()


@pytest.mark.parametrize(("command", "code"), [
    ([], "malformed"), ("undo", "malformed"), ({}, "malformed"), ({"do": None}, "malformed"),
    ({"do": "fly"}, "malformed"), ({"do": "tile"}, "malformed"),
    ({"do": "tile", "tile": "base.Q99", "at": [1, 0], "rot": 0}, "malformed"),
    ({"do": "tile", "tile": "base.D", "at": [1], "rot": 0}, "malformed"),
    ({"do": "tile", "tile": "base.D", "at": [1, 0], "rot": 9}, "malformed"),
    ({"do": "tile", "tile": "base.D", "at": [1, 0], "rot": 0, "player": 3}, "malformed"),
    ({"do": "tile", "tile": "base.D", "at": [1, 0], "rot": 0, "player": -1}, "malformed"),
    ({"do": "tile", "tile": "river.1", "at": [1, 0], "rot": 0}, "malformed"),
    ({"do": "deploy", "figure": "king", "at": [0, 0], "feature": "city", "where": "N"}, "malformed"),
    ({"do": "fairy", "at": [0, 0]}, "malformed"),
    ({"do": "amend"}, "unknown_entry"), ({"do": "amend", "seq": 99, "body": {}}, "unknown_entry"),
    ({"do": "amend", "seq": 1}, "malformed"), ({"do": "amend", "seq": 1, "body": {"do": "x"}}, "malformed"),
    ({"do": "amend", "seq": True, "body": {"do": "end_turn"}}, "unknown_entry"),
    ({"do": "retract", "seq": "1"}, "unknown_entry"), ({"do": "retract", "seq": -1}, "unknown_entry"),
    ({"do": "insert", "after": 99, "body": {"do": "end_turn"}}, "unknown_entry"),
    ({"do": "insert", "after": 1}, "malformed"), ({"do": "insert", "after": False, "body": {}}, "unknown_entry"),
    ({"do": "answer", "question": 1, "choice": 0}, "unknown_question"),
    ({"do": "answer", "question": [], "choice": 0}, "unknown_question"),
])
def test_a_malformed_command_changes_nothing(session: TableSession, command: Any, code: str) -> None:
    played(session, 2)
    before = session.view()
    assert error(session, command).code == code
    assert session.view() is before


def test_what_lies_on_the_table_is_never_refused(session: TableSession) -> None:
    view = session.command({"do": "tile", "tile": "base.D", "at": [40, 40], "rot": 0})
    assert view["issues"] and len(view["board"]["tiles"]) == 2
    view = session.command({"do": "tile", "tile": "base.D", "at": [40, 40], "rot": 1})
    assert view["version"] == 2


def test_what_the_disk_does_not_take_is_not_shown(session: TableSession, store: Store) -> None:
    played(session, 2)
    before = session.view()
    pages = store._db.execute("PRAGMA page_count").fetchone()[0]  # type: ignore[union-attr]
    store._db.execute(f"PRAGMA max_page_count = {pages}")  # type: ignore[union-attr]
    with pytest.raises(CommandError) as refused:
        for _ in range(200):
            before = session.view()
            session.command({"do": "end_turn", "who": "x" * 40})
    assert refused.value.code == "not_saved" and "full" in refused.value.text
    assert session.view() is before and len(session.entries) == before["version"]
    store._db.execute("PRAGMA max_page_count = 100000")  # type: ignore[union-attr]
    assert session.command({"do": "end_turn"})["version"] == before["version"] + 1


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
