"""After each game a backup lies on another medium, and has been restored in a trial."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from bastide.backup import second_medium
from bastide.backup.backups import restore_backup
from bastide.backup.second_medium import KEPT, SecondMedium
from bastide.files.second_note import NOTE, Note, read_note
from bastide.log.store import Store
from bastide.machine.health import storage
from bastide.table.demo_game import demo_game
from bastide.table.session import TableSession

GAME = demo_game(3, turns=4)
PATIENCE_S = 60.0


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def play(session: TableSession) -> None:
    for event in GAME.events:
        session.commit((event,), confidence=1.0, asked=False)


def played_to_its_end(data: Path, folder: Path, **how: Any) -> None:
    """A game with a second medium at ``folder``, until a backup there has been tried."""
    with Store(data / "log.sqlite") as store:
        session = TableSession(store, GAME.setup)
        with SecondMedium(data, folder, session, **how) as second:
            play(session)
            session.command({"do": "end_game"})
            assert second.tried.wait(PATIENCE_S)


def stick(path: Path) -> int:
    """Two media: whatever has a stick in its name, and the rest."""
    return int("stick" in path.name)


def lines(data: Path) -> dict[str, str]:
    return {x.what: x.state for x in storage(data)}


def test_a_game_that_ends_is_backed_up_and_the_backup_restored(data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "stick"
    folder.mkdir()
    with Store(data / "log.sqlite") as store:
        session = TableSession(store, GAME.setup)
        with SecondMedium(data, folder, session, device=stick) as second:
            play(session)
            assert not second.tried.is_set() and "backup" not in lines(data)
            session.command({"do": "end_game"})
            assert second.tried.wait(PATIENCE_S)
            second.tried.clear()
            (file,) = folder.glob("bastide-*.zip")
            assert lines(data)["backup"] == "ok" and read_note(data).file == file.name
            players = [{"name": p.name, "colour": p.colour} for p in GAME.setup.players]
            another = {"do": "new_game", "setup": {"players": players, "edition": GAME.setup.edition}}
            session.command(another)
            play(session)
            session.command(another)
            assert second.tried.wait(PATIENCE_S)  # a game that gives way to another one
        first = store.load(1)
    restore_backup(folder / read_note(data).file, tmp_path / "again")
    with Store(tmp_path / "again" / "log.sqlite") as store:
        assert store.load(1) == first and first.over
        assert [g.entries for g in store.games()] == [0, len(GAME.events), len(first.entries)]


def test_a_game_that_was_begun_and_left_while_nobody_looked_is_backed_up(
        data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "stick"
    folder.mkdir()
    with Store(data / "log.sqlite") as store:
        session = TableSession(store, GAME.setup)
        players = [{"name": p.name, "colour": p.colour} for p in GAME.setup.players]
        another = {"do": "new_game", "setup": {"players": players, "edition": GAME.setup.edition}}
        begun, go_on, checked = threading.Event(), threading.Event(), second_medium.tried

        def slow(file: Path, games: int, entries: int) -> None:
            checked(file, games, entries)
            begun.set()
            assert go_on.wait(PATIENCE_S)

        monkeypatch.setattr(second_medium, "tried", slow)
        with SecondMedium(data, folder, session, device=stick) as second:
            play(session)
            session.command({"do": "end_game"})
            assert begun.wait(PATIENCE_S)  # the first game is being backed up
            session.command(another)
            play(session)
            session.command(another)
            go_on.set()
            deadline = time.monotonic() + PATIENCE_S
            while (read_note(data) or Note()).games != 3 and time.monotonic() < deadline:
                second.tried.wait(0.02)
        assert read_note(data).games == 3


def test_a_stick_that_is_not_there_is_said_and_tried_again(data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "stick"
    with Store(data / "log.sqlite") as store:
        session = TableSession(store, GAME.setup)
        with SecondMedium(data, folder, session, again_s=0.05, device=stick) as second:
            play(session)
            session.command({"do": "end_game"})
            assert second.tried.wait(PATIENCE_S)
            assert lines(data)["backup"] == "warn" and "is not there" in read_note(data).why
            folder.mkdir()
            while not (read_note(data) or Note()).ok:
                second.tried.clear()
                assert second.tried.wait(PATIENCE_S)
    assert list(folder.glob("bastide-*.zip"))


def test_a_folder_on_the_same_medium_is_no_second_one(data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mount point"
    folder.mkdir()
    played_to_its_end(data, folder)
    assert not list(folder.iterdir()) and "same medium" in read_note(data).why


def test_a_backup_that_does_not_come_back_whole_is_said(data: Path, tmp_path: Path,
                                                        monkeypatch: pytest.MonkeyPatch) -> None:
    """A stick that corrupts written data."""
    folder = tmp_path / "stick"
    folder.mkdir()
    real = second_medium.write_backup

    def spoiled(data: Path, out: Path, **more: object) -> object:
        made = real(data, out, **more)  # type: ignore[arg-type]
        content = bytearray(out.read_bytes())
        content[len(content) // 3] ^= 1
        out.write_bytes(content)
        return made

    monkeypatch.setattr(second_medium, "write_backup", spoiled)
    played_to_its_end(data, folder, device=stick)
    assert lines(data)["backup"] == "warn"
    assert not list(folder.iterdir())  # a backup that is none takes the place of no other


def test_only_so_many_are_kept_and_nothing_of_anybody_else_goes(data: Path, tmp_path: Path) -> None:
    """The clock has gone back: earlier backups of this table have later dates than new ones."""
    folder = tmp_path / "stick"
    folder.mkdir()
    made = [f"bastide-20990101-1200{n:02}.zip" for n in range(KEPT + 3)]
    others = ["bastide-20200101-120000.zip", "bastide-20990601-120000.zip", "bastide-mine.zip"]
    for name in (*made, *others):
        (folder / name).write_bytes(b"old")
    data.mkdir()
    (data / NOTE).write_text(json.dumps({"made": [*made, "../log.sqlite", 7]}), "utf-8")
    played_to_its_end(data, folder, device=stick)
    newest = read_note(data).file
    assert sorted(p.name for p in folder.iterdir()) == sorted([*made[-KEPT + 1:], *others, newest])
    assert read_note(data).made[-1] == newest


def test_what_a_power_cut_left_of_a_backup_goes_with_the_next(data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "stick"
    folder.mkdir()
    cut, others = "bastide-20260101-120000.zip", "bastide-20260101-120001.zip"
    for name in (cut, others):
        (folder / f".{name}.part").write_bytes(b"half")
    data.mkdir()
    (data / NOTE).write_text(json.dumps({"made": [cut]}), "utf-8")
    played_to_its_end(data, folder, device=stick)
    assert sorted(p.name for p in folder.iterdir()) == [f".{others}.part", read_note(data).file]
