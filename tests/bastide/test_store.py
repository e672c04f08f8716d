"""The log on disk: acknowledged entries are there, whatever happens to the program, the file or the disk."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from bastide.errors import Failure
from bastide.log.journal import journal_of
from bastide.log.pictures import CROPS
from bastide.log.schema import checksum
from bastide.log.store import Store, StoredGame, setup_from_json, setup_to_json
from bastide.table.demo_game import PLAYERS, demo_game
from bastide.table.session import TableSession
from scoring.events import Event, Setup, StartTile, TurnEnded
from scoring.log import LogEntry, Retracted
from scoring.rules import edition, with_options

SETUP = Setup(players=PLAYERS, rules=edition())


def entry(seq: int, body: Event | Retracted | None = None) -> LogEntry:
    return LogEntry(seq=seq, body=body or TurnEnded(), at_s=1.5, source="camera", confidence=0.9, asked=True, frame=7)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "log.sqlite"


def written(path: Path, entries: int = 3) -> StoredGame:
    with Store(path) as store:
        game = store.new_game(SETUP)
        for n in range(entries):
            store.append(game, [entry(n + 1)])
        return store.load(game)


def test_what_was_appended_comes_back_as_it_was(path: Path) -> None:
    events = demo_game(4, turns=6).events
    with Store(path) as store:
        game = store.new_game(SETUP)
        log = [entry(n + 1, e) for n, e in enumerate(events)]
        log.append(entry(len(log) + 1, Retracted(seq=2)))
        store.append(game, log)
    with Store(path) as store:
        found = store.unfinished()
    assert found == StoredGame(id=game, setup=SETUP, entries=tuple(log), over=False)


def test_setups_come_back(path: Path) -> None:
    rules = with_options(edition("rgg2006"), {"winner_tie": "replay"})
    setup = Setup(players=PLAYERS[:2], rules=rules, expansions=("base", "inns"),
                  start=StartTile(tile="base.D", at=(0, 0), rot=2))
    assert setup_from_json(setup_to_json(setup)) == setup


def test_the_newest_unfinished_game_goes_on(path: Path) -> None:
    with Store(path) as store:
        first, second, third = (store.new_game(SETUP) for _ in range(3))
        store.append(third, [entry(1)], over=True)
        assert store.unfinished().id == second  # type: ignore[union-attr]
        store.append(third, [entry(2, Retracted(seq=1))], over=False)
        assert store.unfinished().id == third  # type: ignore[union-attr]
        for game in (first, second):
            store.append(game, [entry(1)], over=True)
        store.append(third, [entry(3)], over=True)
        assert store.unfinished() is None


def test_entries_of_one_action_are_there_together_or_not_at_all(path: Path) -> None:
    with Store(path) as store:
        game = store.new_game(SETUP)
        store.append(game, [entry(1)])
        with pytest.raises(Failure):
            store.append(game, [entry(2), entry(1)])
        assert [e.seq for e in store.load(game).entries] == [1]


def test_pictures_are_kept_and_the_oldest_make_room(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bastide.log.pictures.CROPS", CROPS._replace(most=2))
    with Store(path) as store:
        game = store.new_game(SETUP)
        for n in (1, 2, 3):
            store.pictures.keep_crop(game, n, b"picture %d" % n, [{"body": None, "probability": 0.5}])
        assert store.pictures.crop(game, 1) is None
        assert store.pictures.crop(game, 3) == (b"picture 3", [{"body": None, "probability": 0.5}])


@pytest.mark.parametrize("journal", [True, False], ids=["with its journal", "alone"])
@pytest.mark.parametrize("damage", ["text", "header", "middle"])
def test_a_damaged_file_is_set_aside_and_a_person_is_told(path: Path, damage: str, journal: bool) -> None:
    before = written(path, 200)
    if not journal:
        journal_of(path).unlink()
    data = bytearray(path.read_bytes())
    if damage == "text":
        data = bytearray(b"this is no database at all, and long enough to be read as one" * 20)
    elif damage == "header":
        data[:100] = bytes(100)
    else:
        data[4096:] = b"\xa5" * (len(data) - 4096)
    path.write_bytes(data)
    with Store(path) as store:
        assert store.notice is not None and "damaged" in store.notice and "\n" not in store.notice
        found = store.unfinished()
        if damage == "header" or journal:  # the pages with the game in them are whole
            assert found == before and "200 entries of 1 games were recovered" in store.notice
        else:
            assert found is None and "nothing in it could be recovered" in store.notice
            assert store.new_game(SETUP) == 1
    aside = [p for p in path.parent.iterdir() if ".damaged-" in p.name]
    assert len(aside) == 1 and aside[0].name in store.notice
    assert aside[0].read_bytes() == bytes(data)


def test_a_file_of_a_newer_version_is_refused_and_left_alone(path: Path) -> None:
    written(path)
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 99")
    db.close()
    journal_of(path).unlink()  # it would be of that version too
    before = path.read_bytes()
    with pytest.raises(Failure, match="newer version"), Store(path):
        pass
    assert path.read_bytes() == before
    assert {p.name for p in path.parent.iterdir() if "damaged" in p.name} == set()


def test_a_game_that_cannot_be_understood_is_one_sentence(path: Path) -> None:
    game = written(path)
    db = sqlite3.connect(path)
    body = '{"seq": 1}'
    db.execute("UPDATE entries SET body = ?, crc = ? WHERE seq = 1", (body, checksum(game.id, 1, body)))
    db.commit()
    db.close()
    journal_of(path).unlink()  # it knows better
    with Store(path) as store, pytest.raises(Failure, match="cannot be read"):
        store.load(game.id)
    with Store(path) as store, pytest.raises(Failure, match="no game 77"):
        store.load(77)


def test_a_second_program_is_refused_until_the_first_ends(path: Path) -> None:
    with Store(path), pytest.raises(Failure, match="another bastide"), Store(path):
        pass
    with Store(path):
        pass


def test_a_full_disk_is_one_sentence_and_nothing_is_lost(path: Path) -> None:
    with Store(path) as store:
        game = store.new_game(SETUP)
        store.append(game, [entry(1)])
        used = store._db.execute("PRAGMA page_count").fetchone()[0]  # type: ignore[union-attr]
        store._db.execute(f"PRAGMA max_page_count = {used}")  # type: ignore[union-attr]
        there = 1
        with pytest.raises(Failure) as full:
            while True:
                store.append(game, [entry(there + 1)])
                there += 1
        assert "full" in str(full.value) and str(path) in str(full.value) and "\n" not in str(full.value)
        room = store.pictures._db.execute("PRAGMA page_count").fetchone()[0]  # type: ignore[union-attr]
        store.pictures._db.execute(f"PRAGMA max_page_count = {room}")  # type: ignore[union-attr]
        with pytest.raises(Failure, match="the game itself is on disk"):
            store.pictures.keep_crop(game, 1, bytes(100_000), [])
        assert [e.seq for e in store.load(game).entries] == list(range(1, there + 1))
        store._db.execute("PRAGMA max_page_count = 100000")  # type: ignore[union-attr]
        store.append(game, [entry(there + 1)])
        assert len(store.load(game).entries) == there + 1


def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", "utf-8")
    with pytest.raises(Failure, match="cannot be used"), Store(tmp_path / "file" / "log.sqlite"):
        pass
    (tmp_path / "log.sqlite").mkdir()
    with pytest.raises(Failure, match="cannot be opened"), Store(tmp_path / "log.sqlite"):
        pass


def test_a_closed_log_says_so(path: Path) -> None:
    with Store(path) as store:
        game = store.new_game(SETUP)
    with pytest.raises(Failure, match="closed"):
        store.append(game, [entry(1)])


def test_several_threads_may_write(path: Path) -> None:
    with Store(path) as store:
        games = [store.new_game(SETUP) for _ in range(4)]

        def write(game: int) -> None:
            for n in range(25):
                store.append(game, [entry(n + 1)])

        threads = [threading.Thread(target=write, args=(g,)) for g in games]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert [len(store.load(g).entries) for g in games] == [25] * 4


WRITER = """
import sys
from pathlib import Path
from bastide.table.session import TableSession
from bastide.log.store import Store
from bastide.table.demo_game import demo_game
game = demo_game(5, turns=4)
with Store(Path(sys.argv[1])) as store:
    session = TableSession.resume(store) or TableSession(store, game.setup)
    print("from", len(session.entries), flush=True)
    while True:
        for event in game.events:
            print(session.commit((event,), confidence=1.0, asked=False)[0], flush=True)
        session.command({"do": "retract", "seq": len(session.entries)})
        print(len(session.entries), flush=True)
"""


def test_what_was_acknowledged_survives_being_killed_at_any_moment(path: Path) -> None:
    rng = random.Random(11)
    there = 0
    for _ in range(6):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True,
                                  cwd=Path(__file__).parents[2])
        assert writer.stdout is not None
        assert writer.stdout.readline() == f"from {there}\n"
        acknowledged = there
        for _ in range(rng.randint(1, 40)):
            acknowledged = int(writer.stdout.readline())
        os.kill(writer.pid, signal.SIGKILL)
        rest = writer.stdout.read().split("\n")  # its output between our last read and its end
        writer.stdout.close()
        writer.wait()
        said = [int(line) for line in rest[:-1] if line]
        acknowledged = max([acknowledged, *said])
        with Store(path) as store:
            found = store.unfinished()
            assert found is not None and store.notice is None
            numbers = [e.seq for e in found.entries]
            assert numbers == list(range(1, len(numbers) + 1)), "none doubled, none missing"
            assert len(numbers) in (acknowledged, acknowledged + 1)  # at most the one that it had no time to tell
            session = TableSession.resume(store)
            assert session is not None and session.view()["version"] == len(numbers)
        there = len(numbers)
