"""The log over a disk that misbehaves: crash images, full and failing disks, damaged files, files of older versions."""

from __future__ import annotations

import random
import shutil
import sqlite3
from pathlib import Path

import pytest
from faulty_disk import FULL, IOERR_FSYNC, IOERR_WRITE, OK, READONLY, Act, Disk, Said, available, faulty
from storage_trials import crash_images, disk_that_fails

from bastide.errors import Failure
from bastide.log.journal import journal_of
from bastide.log.salvage import salvage
from bastide.log.schema import SCHEMA_VERSION, checksum
from bastide.log.store import Store
from bastide.table.demo_game import demo_game
from bastide.table.session import TableSession
from scoring.events import to_json
from scoring.log import Unread

needs_vfs = pytest.mark.skipif(not available, reason="this Python brings a SQLite of its own, closed to us")
STORES = Path(__file__).parent / "stores"


@needs_vfs
def test_after_a_power_cut_everything_acknowledged_is_there(tmp_path: Path) -> None:
    """A checkpoint that was torn in the file's header looks like damage; all of it comes back from the journal."""
    found = crash_images(tmp_path, images=24, seed=1)
    assert set(found.honest) <= {"whole", "set aside, all of it recovered"} and found.honest["whole"] >= 20


@needs_vfs
def test_a_disk_that_lies_about_syncing_loses_the_end_but_nothing_else(tmp_path: Path) -> None:
    """After the power cut there is a prefix of the game, or the file is set aside."""
    found = crash_images(tmp_path, images=24, seed=2, lies=True)
    assert found.lying and set(found.lying) <= {"whole", "the end is lost", "set aside, the rest recovered",
                                                "set aside, all of it recovered"}


@needs_vfs
@pytest.mark.parametrize("code", [FULL, IOERR_WRITE, IOERR_FSYNC, READONLY])
def test_a_failing_disk_refuses_and_keeps_what_it_took(tmp_path: Path, code: int) -> None:
    found = disk_that_fails(tmp_path, code, seed=3)
    assert found["refused"] > 3 and found["acknowledged"] > 20
    assert found["missing"] == found["doubled"] == 0


@needs_vfs
def test_a_disk_that_is_read_only_from_the_start_is_one_sentence(tmp_path: Path) -> None:
    with faulty(Disk(fault=lambda act: READONLY)), pytest.raises(Failure, match="check the disk") as e, \
            Store(tmp_path / "log.sqlite"):
        pass
    assert "\n" not in str(e.value)


@needs_vfs
def test_the_faulty_disk_is_really_under_the_log(tmp_path: Path) -> None:
    seen: list[Act] = []

    def note(act: Act) -> int:
        seen.append(act)
        return OK

    with faulty(Disk(fault=note)), Store(tmp_path / "log.sqlite") as store:
        store.new_game(demo_game(1, turns=1).setup)
    assert {type(a).__name__ for a in seen} >= {"Write", "Sync"} and not any(isinstance(a, Said) for a in seen)
    count = len(seen)
    with Store(tmp_path / "log.sqlite"):
        pass
    assert len(seen) == count  # and gone again afterwards


# -- damaged files --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("journal", [True, False], ids=["with its journal", "alone"])
def test_any_damage_leaves_a_log_that_opens(tmp_path: Path, journal: bool) -> None:
    """Bytes overwritten, bits flipped, files cut: the log opens, and each game in it is what it was. Without its
    journal what is whole is there in its place, and what is not is said."""
    games = {}
    with Store(tmp_path / "whole.sqlite") as store:
        for seed in range(3):
            game = demo_game(seed, turns=30)
            session = TableSession(store, game.setup)
            for event in game.events:
                session.commit((event,), confidence=1.0, asked=False)
            games[session.game] = session.entries
    whole = (tmp_path / "whole.sqlite").read_bytes()
    rng = random.Random(5)
    recovered = noticed = 0
    for n in range(24):
        data = bytearray(whole)
        match n % 4:
            case 0:
                for _ in range(rng.randint(1, 40)):
                    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            case 1:
                at = rng.randrange(len(data))
                data[at:at + 4096] = rng.randbytes(len(data[at:at + 4096]))
            case 2:
                del data[rng.randrange(len(data)):]
            case 3:
                at = rng.randrange(len(data))
                data[at:at + 20_000] = bytes(len(data[at:at + 20_000]))
        path = tmp_path / str(n) / "log.sqlite"
        path.parent.mkdir()
        path.write_bytes(data)
        if journal:
            shutil.copy(tmp_path / "whole.journal", path.with_name("log.journal"))
        with Store(path) as store:
            noticed += store.notice is not None
            for line in store.games():
                entries = store.load(line.id).entries
                kept = [e for e in entries if not isinstance(e.body, Unread)]
                assert kept == [games[line.id][e.seq - 1] for e in kept]
                assert len(kept) == len(entries) or store.notice and "please look" in store.notice
                recovered += len(kept)
            assert not journal or {g.id: g.entries for g in store.games()} == {g: len(e) for g, e in games.items()}
            if store.notice:
                (aside,) = [p for p in path.parent.iterdir() if ".damaged-" in p.name]
                assert aside.read_bytes() == bytes(data)
                assert store.new_game(demo_game(1, turns=1).setup) > 0
    most = 24 * sum(map(len, games.values()))
    assert noticed > 12 and (recovered == most if journal else recovered > most / 2)


def test_moves_still_in_the_write_ahead_log_are_salvaged_too(tmp_path: Path,
                                                             monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bastide.log.store.WAL_PAGES", 100_000)
    game = demo_game(4, turns=12)
    path = tmp_path / "log.sqlite"
    with Store(path) as store:
        session = TableSession(store, game.setup)
        for event in game.events:
            session.commit((event,), confidence=1.0, asked=False)
        entries = session.entries
        for suffix in ("", "-wal"):
            shutil.copy(f"{path}{suffix}", f"{tmp_path / 'killed.sqlite'}{suffix}")
    (tmp_path / "killed.sqlite").write_bytes(b"rubbish" * 2000)
    found = salvage(tmp_path / "killed.sqlite")
    assert found.moves == len(entries) and not found.missing(1) and len(found.games) == 1


@pytest.mark.parametrize("journal", [True, False], ids=["with its journal", "alone"])
def test_a_changed_or_missing_entry_is_noticed(tmp_path: Path, journal: bool) -> None:
    for n, damage in enumerate(("UPDATE entries SET body = replace(body, 'camera', 'hand') WHERE seq = 5",
                                "DELETE FROM entries WHERE seq = 5")):
        path = tmp_path / f"{n}.sqlite"
        game = demo_game(4, turns=6)
        with Store(path) as store:
            session = TableSession(store, game.setup)
            for event in game.events:
                session.commit((event,), confidence=1.0, asked=False)
            whole = session.entries
        db = sqlite3.connect(path)
        db.execute(damage)
        db.commit()
        db.close()
        if not journal:
            journal_of(path).unlink()
        with Store(path) as store:
            assert store.notice and f"{len(whole)} entries of 1 games were recovered" in store.notice
            found = TableSession.resume(store)
            assert found is not None
            told = [i for i in found.view()["issues"] if i["code"] == "unread_moves"]
            if journal:
                assert found.entries == whole and not told and "could not be read" not in store.notice
                continue
            assert "1 move of turn 2 could not be read: please look" in store.notice
            assert found.entries[:4] + found.entries[5:] == whole[:4] + whole[5:]
            assert isinstance(found.entries[4].body, Unread) and found.entries[4].seq == 5
            (row,) = told
            assert row["text"] == "1 move of turn 2 could not be read: please look." and row["parts"]["n"] == 1
            # A person restores the entry, and the game is as it was.
            body = {k: v for k, v in to_json(whole[4].body).items() if k != "player"}  # type: ignore[arg-type]
            view = found.command({"do": "amend", "seq": 5, "body": body})
            assert not [i for i in view["issues"] if i["code"] == "unread_moves"]
            again = TableSession.resume(store)
            assert again is not None and again.view()["issues"] == view["issues"]


@pytest.mark.parametrize("byte", [0x80, 0xFF])
def test_a_log_whose_tables_lost_their_names_is_set_aside_too(tmp_path: Path, byte: int) -> None:
    """SQLite's message names the unreadable table in undecodable bytes."""
    game, path = demo_game(1, turns=5), tmp_path / "log.sqlite"
    with Store(path) as store:
        session = TableSession(store, game.setup)
        for event in game.events:
            session.commit((event,), confidence=1.0, asked=False)
    data = bytearray(path.read_bytes())
    for word, place in ((b"tableentriesentries", 7), (b"CREATE TABLE entries", 9)):
        assert (at := data.find(word)) >= 0
        data[at + place] = byte
    path.write_bytes(data)
    with pytest.raises(UnicodeDecodeError):
        sqlite3.connect(path).execute("PRAGMA journal_mode=WAL").fetchone()
    with Store(path) as store:
        assert store.notice and "was damaged" in store.notice


def test_damaged_pictures_cost_no_move(tmp_path: Path) -> None:
    path = tmp_path / "log.sqlite"
    with Store(path) as store:
        session = TableSession(store, demo_game(4, turns=2).setup)
        for event in demo_game(4, turns=2).events:
            session.commit((event,), confidence=1.0, asked=False, crop=b"jpeg")
        whole = session.entries
    store.pictures.path.write_bytes(b"no pictures here" * 1000)
    with Store(path) as store:
        assert store.notice and "the log is whole" in store.notice
        found = store.newest()
        assert found is not None and found.entries == whole
        assert store.pictures.crop(found.id, 1) is None
        store.pictures.keep_crop(found.id, 1, b"another", [])
        assert store.pictures.crop(found.id, 1) == (b"another", [])


# -- files of older versions ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", range(1, SCHEMA_VERSION + 1))
def test_a_file_of_every_version_opens_with_all_that_is_in_it(tmp_path: Path, version: int) -> None:
    """The fixtures hold the same two games: 15 entries that came to 4, 5 and 3 points, and 20 of a running one."""
    path = tmp_path / "log.sqlite"
    shutil.copy(STORES / f"v{version}.sqlite", path)
    if version > 1:
        shutil.copy(STORES / f"v{version}.pictures.sqlite", tmp_path / "log.pictures.sqlite")
    for again in range(2):
        with Store(path) as store:
            assert bool(store.notice) == (version < SCHEMA_VERSION and not again)
            assert [(g.entries, g.over) for g in store.games()] == [(20, False), (15, True)]
            session = TableSession.resume(store)
            assert session is not None and list(session.state.scores) == [2, 0, 4]
            assert list(TableSession(store, store.load(1).setup, game=1, entries=store.load(1).entries).state.scores) \
                == [4, 5, 3]
            assert store.pictures.stills(2) == {2} and store.pictures.crop(1, 3) is not None
            assert store.load(1).aid == "score"
    assert (tmp_path / f"log.sqlite.v{version}").exists() == (version < SCHEMA_VERSION)


def test_a_checksum_knows_where_an_entry_belongs() -> None:
    assert len({checksum(1, 2, "a"), checksum(2, 1, "a"), checksum(1, 2, "b"), checksum(12, 2, "a")}) == 4
