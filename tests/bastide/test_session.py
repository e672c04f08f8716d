"""The live session: commits, corrections, undo, and that everything shown was on disk before."""

from __future__ import annotations

import itertools
import threading
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sessions import JPEG, SETUP, error, history, played, seen

from bastide.log.history import last_action
from bastide.log.store import Store
from bastide.table.demo_game import demo_game
from bastide.table.game import Game
from bastide.table.session import TableSession
from bastide.table.snapshot import GameSnapshot
from bastide.watching.notices import rows
from reading.noticing import Notice
from scoring.engine import fold, new_game
from scoring.events import Event, FigurePlaced, TilePlaced, to_json
from scoring.log import Amended, Unread
from scoring.log_position import spoken
from scoring.tiles import catalogue
from web.protocol import CommandError, StaleView

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


def test_a_published_view_never_changes(session: TableSession) -> None:
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


def test_a_game_that_was_ended_by_mistake_goes_on_after_a_restart(session: TableSession, store: Store) -> None:
    played(session, 3)
    view = session.command({"do": "end_game"})
    assert view["phase"] == "over" and view["status"]["chip"] == "ended" and view["final"]["totals"]
    session = TableSession.resume(store)  # type: ignore[assignment]
    assert session.view()["phase"] == "over" and session.view()["final"] == view["final"]
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


def test_undo_takes_back_the_end_rather_than_what_the_camera_adds_before_it(session: TableSession) -> None:
    """People have ended the game by mistake; a move that had waited for another look is logged then."""
    log = played(session, 4)
    session.command({"do": "end_game"})
    end = history(session)[-1]
    thief = FigurePlaced(player=0, figure="follower", at=(0, 0), feature="road", where="E W")
    session.commit((thief,), confidence=0.5, asked=True, after=log[-1][0])
    added = next(seq for seq in history(session) if seq not in [*(seq for seq, _ in log), end])
    session.command({"do": "undo"})
    assert not session.state.over and history(session)[-1] == added
    session.command({"do": "undo"})
    assert history(session) == [seq for seq, _ in log]


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


def test_a_correction_that_means_nothing_in_this_game_is_refused_and_nothing_is_written(session):
    session.command({"do": "tile", "tile": "base.V", "at": [1, 0], "rot": 0})
    session.command({"do": "tile", "tile": "base.A", "at": [0, 1], "rot": 0})
    before = len(session.entries)
    for command in ({"do": "amend", "seq": 1, "body": {"do": "tower", "at": [5, 5]}},
                    {"do": "insert", "after": 0, "body": {"do": "dragon", "path": [[0, 1]]}}):
        with pytest.raises(CommandError):
            session.command(command)
    assert len(session.entries) == before
    assert session.candidates(2)


def test_what_the_camera_asks_people_to_put_right_stands_beside_the_issues_until_it_is_done(
        session: TableSession) -> None:
    picture = np.zeros((8, 8, 3), np.uint8)
    told = [Notice(code="take_back", at=(1, 0), player=1, feature="city", where="N"),
            Notice(code="out_of_step", at=(0, 0), before=picture, now=picture)]
    before = session.view()["update"]
    for _ in range(2):
        session.set_notices(*rows(told, session.setup.players))
    view = session.view()
    assert view["update"] == before + 1
    astray, owed = view["issues"]
    name = session.setup.players[1].name
    assert owed["text"] == f"Take back {name}'s knight at 1, 0: it has been scored."
    assert owed["parts"]["role"] == "knight" and owed["squares"] == [[1, 0]]
    picture_name = astray["before"].removeprefix("/api/notices/").removesuffix(".jpg")
    assert (session.notice_picture(picture_name) or b"").startswith(b"\xff\xd8")
    session.set_notices([], {})
    assert not session.view()["issues"] and session.notice_picture(picture_name) is None


# -- concurrency ----------------------------------------------------------------------------------------------------


def test_views_and_previews_do_not_wait_for_writes(session: TableSession) -> None:
    played(session, 4)
    x, y = session.fits(None, None)["gaps"][0]["at"]
    asked = [session.view, session.moves, lambda: session.fits(None, None), lambda: session.fits("base.D", None),
             lambda: session.fits(None, (x, y)), lambda: session.fits("base.D", (x, y)), lambda: session.candidates(1),
             lambda: session.preview([{"do": "undo"}])]
    answers: list[object] = []
    with session._lock:  # as while the disk is slow
        others = [threading.Thread(target=lambda ask=ask: answers.append(ask()), daemon=True) for ask in asked]
        for other in others:
            other.start()
        for other in others:
            other.join(30.0)
        assert len(answers) == len(asked)


def test_what_is_said_of_an_unread_entry_is_said_of_its_own_moment(session: TableSession) -> None:
    """The player of the lost tile is unknown: it is the one whose turn it was then, not the current one."""
    log = played(session, 5)
    lost, tile = [(seq, event) for seq, event in log if isinstance(event, TilePlaced)][1]
    entries = tuple(replace(e, body=Unread()) if e.seq == lost else e for e in session.entries)
    body = {k: v for k, v in to_json(tile).items() if k not in ("player", "part")}
    now = GameSnapshot(game=Game.of(SETUP, entries))
    assert spoken(now.game.state, body) != tile  # said of the next tile it would be somebody else's
    bodies = now.meaning.bodies({"do": "amend", "seq": lost, "body": body})
    assert bodies == (Amended(seq=lost, body=tile),)
    _, then = now.game.tried(bodies)
    assert then.state.tiles == session.state.tiles
