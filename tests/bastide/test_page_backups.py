"""Backup and restore as the page asks for them: made, fetched, uploaded in pieces, refused, put in place."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest
from processes import Served
from test_serve import by_hand

from bastide.backup.backups import check_backup, write_backup
from bastide.backup.page_backups import PageBackups
from bastide.backup.restore_inside import BEFORE, EXCHANGE, NOTE, STAGED, finish, restore_inside
from bastide.errors import Failure
from bastide.files.keys import KeyFile, set_pins
from bastide.log.store import Store
from bastide.table.demo_game import demo_game
from bastide.table.session import TableSession
from scoring.events import to_json
from web.protocol import CommandError

PATIENCE = 2400  # looks, 50 ms apart


def played(data: Path, turns: int = 4) -> None:
    with Store(data / "log.sqlite") as store:
        session = TableSession(store, demo_game(3, turns=turns).setup)
        for event in demo_game(3, turns=turns).events:
            session.commit((event,), confidence=1.0, asked=False)


def settled(safe: PageBackups) -> dict[str, Any]:
    waited = threading.Event()
    for _ in range(PATIENCE):
        if not (state := safe.state())["busy"]:
            return state
        waited.wait(0.05)
    raise AssertionError("it never ended")


def entries(data: Path) -> int:
    with Store(data / "log.sqlite") as store:
        found = store.newest()
        return len(found.entries) if found else 0


def test_a_backup_is_made_fetched_uploaded_again_checked_and_given_on(tmp_path: Path) -> None:
    played(tmp_path / "data")
    runs, given, held = [True], list[Path](), [False]
    safe = PageBackups(tmp_path / "data", running=lambda: runs[0], again=given.append,
                hold=lambda now: held.__setitem__(0, now))
    safe.make()
    state = settled(safe)
    ticket = state["file"]["address"].removeprefix("/api/backup/").removesuffix(".zip")
    file = safe.file(ticket)
    assert file is not None and check_backup(file).games == state["file"]["games"] == 1
    assert len(ticket) >= 32 and safe.file(ticket[:-1]) is None and safe.file("../log") is None
    whole, at = file.read_bytes(), 0
    with pytest.raises(CommandError) as refused:
        safe.check()
    assert refused.value.code == "nothing_came"
    while at < len(whole):
        at = safe.piece(at, whole[at:at + 20_000])["upload"]
    with pytest.raises(CommandError) as refused:
        safe.piece(at - 5, b"again")
    assert refused.value.code == "wrong_place"
    with pytest.raises(CommandError) as refused:
        safe.restore()
    assert refused.value.code == "not_checked"
    safe.check()
    assert settled(safe)["checked"]["entries"] == check_backup(file).entries
    with pytest.raises(CommandError) as refused:
        safe.restore()
    assert refused.value.code == "game_runs" and not given and not held[0]
    runs[0] = False
    safe.restore()
    assert len(given) == 1 and held[0] and given[0].read_bytes() == whole


def test_what_would_be_gone_after_a_restore_is_not_acknowledged(tmp_path: Path) -> None:
    """Between the response to a restore and the end of the server other clients still reach it."""
    game = demo_game(2, turns=3)
    with Store(tmp_path / "log.sqlite") as store:
        session = TableSession(store, game.setup)
        session.hold(True)
        people = [{"name": "A", "colour": "red"}]
        for do in ({"do": "new_game", "setup": {"edition": "zman2012", "players": people}},
                   {"do": "open_game", "game": session.game}, to_json(game.events[0])):
            with pytest.raises(CommandError) as refused:
                session.command(do)
            assert refused.value.code == "restoring"
        with pytest.raises(Failure):
            session.commit((game.events[0],), confidence=1.0, asked=False)
        assert store.load(session.game).entries == () and len(store.games()) == 1
        session.hold(False)
        session.commit((game.events[0],), confidence=1.0, asked=False)
        assert len(store.load(session.game).entries) == 1


def test_what_is_spoiled_or_too_large_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    data = tmp_path / "data"
    played(data)
    write_backup(data, tmp_path / "b.zip")
    whole = bytearray((tmp_path / "b.zip").read_bytes())
    whole[len(whole) // 2] ^= 1
    safe = PageBackups(data, running=lambda: False, again=lambda _: None, most=len(whole))
    safe.piece(0, bytes(whole))
    safe.check()
    state = settled(safe)
    assert state["checked"] is None and state["error"]["code"] == "bad_backup" and "\n" not in state["error"]["text"]
    with pytest.raises(CommandError) as refused:
        safe.piece(len(whole), b"x")
    assert refused.value.code == "too_large"
    assert safe.forget()["upload"] == 0 and not (data / EXCHANGE).exists()
    assert PageBackups(data, running=lambda: False, again=lambda _: None, note="why").state()["error"]["text"] == "why"


@pytest.mark.parametrize("steps", range(0, 14))
def test_a_power_cut_during_the_exchange_leaves_one_or_the_other(tmp_path: Path, steps: int,
                                                                         monkeypatch: pytest.MonkeyPatch) -> None:
    data, other = tmp_path / "data", tmp_path / "other"
    played(data, 2)
    set_pins(KeyFile(data), table="2580")
    (data / "letter.txt").write_text("somebody's own", "utf-8")
    played(other, 6)
    write_backup(other, tmp_path / "b.zip")
    before, after = entries(data), entries(other)
    assert before != after
    pulled, count, real = OSError("pulled"), [0], os.replace

    def replace(source: Any, target: Any) -> None:
        inside = str(source).startswith(str(data)) and STAGED not in str(target)
        count[0] += inside
        if inside and count[0] > steps:
            raise pulled
        real(source, target)

    monkeypatch.setattr("bastide.backup.restore_inside.os.replace", replace)
    try:
        restore_inside(tmp_path / "b.zip", data)
    except Exception as e:
        assert "pulled" in repr(e) or e is pulled
    begun = (data / EXCHANGE / NOTE).exists()
    monkeypatch.undo()
    finish(data)
    assert not (data / EXCHANGE / NOTE).exists()
    done = entries(data)
    assert done == (after if begun or count[0] <= steps else before)
    assert (data / "letter.txt").read_text("utf-8") == "somebody's own"
    assert KeyFile(data).get().table is not None  # the backup has none, so those that were set stay
    if done == after:
        (aside,) = data.glob(f"{BEFORE}*")
        assert entries(aside) == before
        assert finish(data) is None


def test_the_server_begins_again_with_the_backup(tmp_path: Path) -> None:
    """The whole way through a real server: play, back up, begin anew, upload, check, restore. Then it is served anew,
    the game of the backup goes on, and its PINs are in force."""
    with Served("serve", "--port", 0, "--host", "127.0.0.1", "--data", tmp_path / "data") as served:
        by_hand(served, 3)
        before = served.get()["history"]
        write_backup(tmp_path / "data", tmp_path / "b.zip")
        set_pins(KeyFile(tmp_path / "data"), admin="907143")
        served.sign_in("907143")
        done = served.send("POST", "api/backup", {"do": "look"})
        assert done["game_runs"] and done["upload"] == 0
        served.send("PUT", "api/backup?at=0", (tmp_path / "b.zip").read_bytes())
        served.send("POST", "api/backup", {"do": "check"})
        waited = threading.Event()
        while (state := served.send("POST", "api/backup", {"do": "look"}))["busy"]:
            waited.wait(0.05)
        assert state["checked"]["games"] == 1
        assert served.send("POST", "api/backup", {"do": "restore"})["error"]["code"] == "game_runs"
        served.do(do="new_game", setup={"edition": "zman2012", "players": [{"name": "A", "colour": "red"}]})
        assert served.get()["history"] == []
        assert served.send("POST", "api/backup", {"do": "restore"})["busy"] == "restore"
        with suppress(OSError, HTTPException):  # it may have ended already; it must not say that a game was begun
            told = served.do(do="new_game", setup={"edition": "zman2012", "players": [{"name": "B", "colour": "red"}]})
            assert told["error"]["code"] == "restoring"
        served.begun_again()
        assert served.get()["history"] == before
        assert served.end() == 0
    assert any("restored: 1 games" in line for line in served.lines)
