"""Damaged storage, a small run of benchmarks/damage.py; checks of its judge; and the messages."""

from __future__ import annotations

import json
import sqlite3
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import damage  # noqa: E402

from bastide.backup.support import replay, write_support  # noqa: E402
from bastide.log.copies import difference  # noqa: E402
from bastide.log.journal import journal_of, parsed, read  # noqa: E402
from bastide.log.store import Store  # noqa: E402
from bastide.machine.health import storage  # noqa: E402
from bastide.table.demo_game import demo_game  # noqa: E402
from bastide.table.session import TableSession  # noqa: E402
from scoring.events import TurnEnded  # noqa: E402
from scoring.log import LogEntry, Unread  # noqa: E402

GAME = demo_game(4, turns=20)


def played(folder: Path) -> tuple[LogEntry, ...]:
    """A game as it is on disk when the program is killed: the copies lie in ``folder / "left"``."""
    (folder / "left").mkdir(parents=True)
    with Store(folder / "log.sqlite") as store:
        session = TableSession(store, GAME.setup)
        for event in GAME.events:
            session.commit((event,), confidence=1.0, asked=False)
        for file in folder.glob("log.*"):
            if file.suffix != ".lock":
                (folder / "left" / file.name).write_bytes(file.read_bytes())
        return session.entries


def flip(path: Path, at: int, bit: int = 1) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= bit
    path.write_bytes(data)


def test_no_damage_is_silent_and_none_stops_the_program(tmp_path: Path) -> None:
    found = damage.run(45, seed=700, both=0.2)
    assert found.bad == 0, found.why
    assert found.outcomes["whole"] >= 30 and found.said > 15


def test_the_check_sees_what_must_not_happen(tmp_path: Path) -> None:
    def judged(seen: dict[int, list[LogEntry]], table: int = 1) -> str:
        store = Store(tmp_path / "log.sqlite")
        store.__enter__()
        return damage.judge("a", "b", "", damage.Table(games=seen, table=table), store, damage.Result())

    log = [LogEntry(seq=n, body=TurnEnded(), at_s=1.0) for n in (1, 2)]
    with Store(tmp_path / "log.sqlite") as store:
        store.append(store.new_game(GAME.setup), log)
    assert judged({1: [*log, LogEntry(seq=3, body=TurnEnded()), LogEntry(seq=4, body=TurnEnded())]}) == "SILENT"
    assert judged({1: log, 2: []}) == "SILENT"
    assert judged({1: [LogEntry(seq=1, body=Unread()), log[1]]}) == "WRONG"
    assert judged({1: log}, table=2) == "whole" and judged({1: log[:1]}) == "WRONG" and judged({}) == "WRONG"
    assert damage.judge("a", "b", "", damage.Table(), None, damage.Result()) == "NO START"


@pytest.mark.parametrize("bit", [1, 0x80], ids=["a bit", "a high bit"])
def test_a_flipped_bit_in_the_write_ahead_log_takes_no_move(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                            bit: int) -> None:
    monkeypatch.setattr("bastide.log.store.WAL_PAGES", 100_000)  # everything is still in it
    entries = played(tmp_path)
    flip(tmp_path / "left" / "log.sqlite-wal", 32 + 12 * 4120 + 24 + 1000, bit)
    with Store(tmp_path / "left" / "log.sqlite") as store:
        again = TableSession.resume(store)
        assert again is not None and again.entries == entries
        assert store.notice and f"{len(entries)} entries of 1 games were recovered" in store.notice
        (aside,) = (tmp_path / "left").glob("log.sqlite.damaged-*-wal")
        assert aside.stat().st_size > 32 + 12 * 4120


def test_a_high_bit_in_the_text_of_an_entry_stops_nothing(tmp_path: Path) -> None:
    entries = played(tmp_path)
    path = tmp_path / "log.sqlite"
    flip(path, path.read_bytes().rindex(b'"confidence"'), 0x80)
    with Store(path) as store:
        again = TableSession.resume(store)
        assert again is not None and again.entries == entries and store.notice


def test_damage_behind_which_both_copies_are_whole_costs_what_was_spoiled_in_both(tmp_path: Path) -> None:
    """Entries 9 and 10 cannot be read anywhere: they keep their places, what came after them counts, one sentence says
    where to look, on the page too, until somebody says what stood there."""
    entries = played(tmp_path)
    path, journal = tmp_path / "log.sqlite", tmp_path / "log.journal"
    for seq in (9, 10):
        flip(path, path.read_bytes().index(b'{"seq": %d,' % seq) + 30)
        flip(journal, journal.read_bytes().index(b'"first": %d,' % seq) + 60)
    with Store(path) as store:
        again = TableSession.resume(store)
        assert again is not None and store.notice and "\n" not in store.notice
        assert [e.seq for e in again.entries if isinstance(e.body, Unread)] == [9, 10]
        assert [e for e in again.entries if e.seq not in (9, 10)] == [e for e in entries if e.seq not in (9, 10)]
        told_rows = [i for i in again.view()["issues"] if i["code"] == "unread_moves"]
        assert sum(i["parts"]["n"] for i in told_rows) == 2
        for row in told_rows:
            assert row["text"].removesuffix(".") in store.notice and row["text"].endswith("please look.")
        again.command({"do": "retract", "seq": 9})
        again.command({"do": "retract", "seq": 10})
        assert not [i for i in again.view()["issues"] if i["code"] == "unread_moves"]
    with Store(path) as store:
        assert store.notice is None  # reported once; the page keeps showing it until it is resolved


def test_a_database_that_breaks_in_play_is_recovered_and_the_game_goes_on(tmp_path: Path) -> None:
    with Store(tmp_path / "log.sqlite") as store:
        session = TableSession(store, GAME.setup)
        for event in GAME.events[:6]:
            session.commit((event,), confidence=1.0, asked=False)
        store._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # type: ignore[union-attr]
        store._db.execute("PRAGMA cache_size=0")  # type: ignore[union-attr]
        with open(tmp_path / "log.sqlite", "r+b") as f:
            f.seek(4096)
            f.write(b"\xa5" * 40_000)
        for event in GAME.events[6:]:
            session.commit((event,), confidence=1.0, asked=False)
        entries = session.entries
    with Store(tmp_path / "log.sqlite") as store:
        again = TableSession.resume(store)
        assert again is not None and again.entries == entries


def test_an_action_that_only_the_journal_has_is_carried_out(tmp_path: Path) -> None:
    """The power went between the two."""
    entries = played(tmp_path)
    path = tmp_path / "log.sqlite"
    db = sqlite3.connect(path)
    db.execute("DELETE FROM entries WHERE seq = ?", (len(entries),))
    db.commit()
    db.close()
    with Store(path) as store:
        again = TableSession.resume(store)
        assert again is not None and again.entries == entries and store.notice is None
    assert not list(tmp_path.glob("*.damaged-*"))


def test_a_write_that_the_power_cut_off_was_never_acknowledged(tmp_path: Path) -> None:
    entries = played(tmp_path)
    path = journal_of(tmp_path / "log.sqlite")
    with open(path, "ab") as f:
        f.write(b'0123456789abcdef {"n": 99, "after": "')
    with Store(tmp_path / "log.sqlite") as store:
        assert store.notice is None
        again = TableSession.resume(store)
        assert again is not None and again.entries == entries
        again.command({"do": "undo"})
    found = read(path)
    assert found is not None and not found.spoiled and not found.torn and found.entries[1].keys() == set(
        range(1, len(again.entries) + 1))


def test_a_journal_knows_how_much_there_must_be() -> None:
    lines = []
    with_head = {"n": 1, "after": "", "before": [0, 0], "do": "journal", "id": "x", "schema": 2}
    from bastide.log.journal import digest
    after, text = "", b""
    for n, line in enumerate([with_head, {"do": "game", "game": 1, "created_s": 1.0, "setup": "{}"},
                              *({"do": "entries", "game": 1, "first": k, "bodies": ["b"], "over": 0}
                                for k in range(1, 9))], 1):
        before = [1, n - 3] if n > 3 else [0, 0]
        text = json.dumps({**line, "n": n, "after": after, "before": before}).encode()
        text = json.dumps({"n": n, "after": after, "before": before,
                           **{k: v for k, v in line.items() if k not in ("n", "after", "before")}}).encode()
        after = digest(text)
        lines.append(after.encode() + b" " + text + b"\n")
    whole = parsed(b"".join(lines))
    assert not whole.spoiled and not whole.gaps and whole.most == {1: 8}
    gap = parsed(b"".join(lines[:6] + lines[8:]))
    assert gap.spoiled and gap.gaps == 2 and gap.most == {1: 8} and sorted(gap.entries[1]) == [1, 2, 3, 4, 7, 8]
    moved = parsed(b"".join([*lines[:5], lines[6], lines[5], *lines[7:]]))
    assert moved.spoiled and moved.entries == whole.entries


def test_the_doctor_compares_the_copies(tmp_path: Path) -> None:
    played(tmp_path)
    path = tmp_path / "log.sqlite"
    assert difference(path) is None and {x.what: x.state for x in storage(tmp_path)}["log"] == "ok"
    db = sqlite3.connect(path)
    db.execute("DELETE FROM entries WHERE seq > 20")
    db.commit()
    db.close()
    line = next(x for x in storage(tmp_path) if x.what == "log")
    assert line.state == "fail" and "second copy" in line.text


def test_a_journal_of_another_log_is_set_aside(tmp_path: Path) -> None:
    entries = played(tmp_path / "a")
    with Store(tmp_path / "b" / "log.sqlite") as store:
        TableSession(store, demo_game(9, turns=2).setup)
    journal_of(tmp_path / "b" / "log.sqlite").replace(tmp_path / "a" / "log.journal")
    with Store(tmp_path / "a" / "log.sqlite") as store:
        assert store.notice and "belonged to another" in store.notice
        again = TableSession.resume(store)
        assert again is not None and again.entries == entries and len(store.games()) == 1


def test_a_support_file_is_made_of_a_damaged_log_too(tmp_path: Path) -> None:
    entries = played(tmp_path)
    path = tmp_path / "log.sqlite"
    flip(path, path.read_bytes().rindex(b'"confidence"'), 0x80)
    out = tmp_path / "support.zip"
    write_support(tmp_path, out)
    assert replay(out)["entries"] == len(entries) and replay(out)["same"]
