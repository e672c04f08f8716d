"""Recovery and restore, interrupted at every step they take: nothing is lost, and the next start goes on."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import bastide.backup.backups as backups
import bastide.log.recovery as recovery
from bastide.backup.backups import restore_backup, write_backup
from bastide.errors import Failure
from bastide.log.salvage import salvage
from bastide.log.store import Store
from bastide.table.demo_game import demo_game
from bastide.table.session import TableSession
from scoring.log import LogEntry, Unread


class PowerCut(BaseException):
    """Nothing in the program catches it."""


class Steps:
    """Lets so many of some calls happen; the one after them is the power cut."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, calls: list[tuple[Any, str]]) -> None:
        self.left: int | None = None
        self.taken = 0
        for owner, name in calls:
            monkeypatch.setattr(owner, name, self._wrapped(getattr(owner, name)))

    def _wrapped(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def step(*args: Any, **kwargs: Any) -> Any:
            if self.left is not None:
                if self.left == 0:
                    raise PowerCut
                self.left -= 1
            self.taken += 1
            return call(*args, **kwargs)
        return step


game_of = cache(demo_game)  # many tables here have the same game


def played(folder: Path, seed: int = 4, turns: int = 8) -> tuple[LogEntry, ...]:
    game = game_of(seed, turns=turns)
    with Store(folder / "log.sqlite") as store:
        session = TableSession(store, game.setup)
        for event in game.events:
            session.commit((event,), confidence=1.0, asked=False, crop=b"jpeg")
        return session.entries


def entries(folder: Path) -> tuple[LogEntry, ...]:
    with Store(folder / "log.sqlite") as store:
        found = store.newest()
        return () if found is None else found.entries


@pytest.mark.parametrize("journal", [True, False], ids=["with its journal", "alone"])
@pytest.mark.parametrize("links", [True, False], ids=["links", "no links"])
def test_a_recovery_interrupted_at_any_step_is_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                            links: bool, journal: bool) -> None:
    """In the journal another entry has changed: together they have everything."""
    whole = played(tmp_path / "whole")
    second = bytearray((tmp_path / "whole" / "log.journal").read_bytes())
    second[second.index(b'"first": 3,') + 60] ^= 1
    data = bytearray((tmp_path / "whole" / "log.sqlite").read_bytes())
    data[40] ^= 0xFF  # in the file's own header: SQLite refuses all of it
    data[data.rindex(b'"hand"' if b'"hand"' in data else b'"camera"') + 2] ^= 1  # and one entry has changed
    (tmp_path / "other.sqlite").write_bytes(data)
    (spoiled,) = salvage(tmp_path / "other.sqlite").missing(1)
    assert spoiled != 3
    if not links:
        def no_links(*_: object) -> None:
            raise PermissionError("no links here")
        monkeypatch.setattr(os, "link", no_links)
    steps = Steps(monkeypatch, [(os, "replace"), (os, "fsync"), (recovery, "salvage"), (recovery, "_write"),
                                (Path, "unlink"), *([(os, "link")] if links else [])])
    n = 0
    while True:
        folder = tmp_path / f"cut{n}"
        folder.mkdir()
        (folder / "log.sqlite").write_bytes(data)
        if journal:
            (folder / "log.journal").write_bytes(second)
        steps.left = n
        store, done = Store(folder / "log.sqlite"), False
        try:
            store.__enter__()
            done = True
        except PowerCut:
            pass
        steps.left = None
        store.__exit__()  # the system lets go of its lock
        found = entries(folder)
        assert len(found) == len(whole) and all(e == was or isinstance(e.body, Unread) and e.seq == spoiled
                                                and not journal for e, was in zip(found, whole, strict=True)), n
        asides = [p for p in folder.glob("log.sqlite.damaged-*") if not p.name.endswith("-wal")]
        assert any(p.stat().st_size == len(data) for p in asides), n
        assert not list(folder.glob("*.part")) and not list(folder.glob("*.recovered"))
        if done:
            break
        n += 1
    assert n > 6


def test_a_restore_interrupted_at_any_step_leaves_the_old_games_or_the_backups(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = None, played(tmp_path / "new", seed=5)
    write_backup(tmp_path / "new", tmp_path / "b.zip")
    steps = Steps(monkeypatch, [(os, "replace"), (backups, "exchange"), (backups, "sync_folder")])
    n = seen_old = seen_new = 0
    while True:
        folder = tmp_path / f"cut{n}" / "data"
        old = played(folder)
        steps.left = n
        try:
            restore_backup(tmp_path / "b.zip", folder, swap=True)
            done = True
        except PowerCut:
            done = False
        steps.left = None
        found = entries(folder)  # there is a log under the old name at every moment
        assert found in (old, new)
        seen_old, seen_new = seen_old + (found == old), seen_new + (found == new)
        if done:
            break
        n += 1
    assert seen_old and seen_new >= 2


def test_old_games_stay_when_the_swap_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = played(tmp_path / "data")
    played(tmp_path / "new", seed=5)
    write_backup(tmp_path / "new", tmp_path / "b.zip")
    real = os.replace

    def refused(*_: Path) -> None:
        raise OSError(22, "Invalid argument")

    def refuses(source: Any, target: Any) -> None:
        if Path(target) == tmp_path / "data" and ".before-" not in str(source):
            raise OSError(5, "Input/output error")
        real(source, target)

    monkeypatch.setattr(backups, "exchange", refused)
    monkeypatch.setattr(os, "replace", refuses)
    with pytest.raises(Failure, match="cannot be restored"):
        restore_backup(tmp_path / "b.zip", tmp_path / "data", swap=True)
    assert entries(tmp_path / "data") == old
    assert not [p for p in tmp_path.iterdir() if p.name.startswith(".data.restore-")]


def test_without_an_exchange_the_swap_takes_two_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    played(tmp_path / "data")
    new = played(tmp_path / "new", seed=5)
    write_backup(tmp_path / "new", tmp_path / "b.zip")

    def unknown(*_: Path) -> None:
        raise OSError(22, "Invalid argument")

    monkeypatch.setattr(backups, "exchange", unknown)
    restore_backup(tmp_path / "b.zip", tmp_path / "data", swap=True)
    assert entries(tmp_path / "data") == new


def test_a_card_that_cannot_read_a_part_of_the_log_costs_that_part(tmp_path: Path,
                                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    played(tmp_path, turns=12)
    path, real, unreadable = tmp_path / "log.sqlite", os.pread, [-1]

    def pread(fd: int, count: int, at: int) -> bytes:
        if at == unreadable[0]:
            raise OSError(5, "Input/output error")
        return real(fd, count, at)

    monkeypatch.setattr(os, "pread", pread)
    whole, left = salvage(path).entries[1], list[int]()
    for at in range(4096, path.stat().st_size, 4096):
        unreadable[0] = at
        found = salvage(path)
        if found.games:
            assert found.entries.get(1, {}).items() <= whole.items()
            left.append(found.moves)
    assert len(set(left)) > 2 and 0 < min(left) < len(whole)
    error = sqlite3.OperationalError("disk I/O error")
    assert not recovery.is_damage(error)
    error.sqlite_errorname = "SQLITE_IOERR_READ"
    assert recovery.is_damage(error)


def test_an_unlinked_log_refuses_writes_that_would_be_lost(tmp_path: Path) -> None:
    game = demo_game(4, turns=8)
    folder, away = tmp_path / "data", tmp_path / "away"
    with Store(folder / "log.sqlite") as store:
        session = TableSession(store, game.setup)
        session.commit(game.events[:3], confidence=1.0, asked=False)
        shown = session.view()
        os.rename(folder, away)
        with pytest.raises(Failure, match="moved or removed"):
            session.commit(game.events[3:4], confidence=1.0, asked=False)
        folder.mkdir()
        (folder / "log.sqlite").write_bytes(b"")  # somebody else's
        with pytest.raises(Failure, match="moved or removed"):
            session.commit(game.events[3:4], confidence=1.0, asked=False)
        assert session.view() is shown
        (folder / "log.sqlite").unlink()
        folder.rmdir()
        os.rename(away, folder)
        session.commit(game.events[3:], confidence=1.0, asked=False)
    assert [e.body for e in entries(folder)] == list(game.events)
