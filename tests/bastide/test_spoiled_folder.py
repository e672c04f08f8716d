"""A data folder with foreign changes: the game goes on, or one sentence names the obstacle."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import ExitStack, closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from bastide.club.game_round import GameRound
from bastide.club.identity import Identity
from bastide.errors import Failure
from bastide.files.keys import KeyFile, set_pins
from bastide.files.second_note import read_note
from bastide.files.writing import write_whole
from bastide.guide.guide import Guide
from bastide.log.reserve import BYTES
from bastide.log.store import Store
from bastide.table.demo_game import demo_game
from bastide.table.session import TableSession
from scoring.events import GameEnded
from web.app import create_app
from web.rights import Refused, Rights

JPEG = b"\xff\xd8picture"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder, game = tmp_path / "data", demo_game(3, turns=3)
    with Store(folder / "log.sqlite") as store:
        session = TableSession(store, game.setup)
        for event in game.events:
            session.commit((event,), confidence=0.9, asked=False, crop=JPEG)
    return folder


@pytest.mark.parametrize("content", [b"", b"garbage " * 900])
def test_a_spoiled_half_recovered_log_is_not_in_the_way(data: Path, content: bytes) -> None:
    (data / "log.sqlite.recovered").write_bytes(content)
    with Store(data / "log.sqlite") as store:
        session = TableSession.resume(store)
        assert session is not None and len(session.entries) > 3
    assert [p.read_bytes() for p in data.glob("log.sqlite.recovered.damaged-*")] == [content]


def test_an_emptied_log_is_told_and_its_pictures_do_not_show_up_in_another_game(data: Path) -> None:
    (data / "log.sqlite").write_bytes(b"")
    (data / "log.journal").unlink()
    with Store(data / "log.sqlite") as store:
        assert store.notice and "was damaged" in store.notice
        assert TableSession.resume(store) is None
        session = TableSession(store, demo_game(4, turns=1).setup)
        assert session.crop_png(1) is None


def test_what_was_only_in_the_write_ahead_log_of_an_emptied_log_is_recovered(tmp_path: Path,
                                                                             monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bastide.log.store.WAL_PAGES", 100_000)
    game = demo_game(3, turns=3)
    with Store(tmp_path / "a" / "log.sqlite") as store:
        session = TableSession(store, game.setup)
        for event in game.events:
            session.commit((event,), confidence=0.9, asked=False)
        (tmp_path / "b").mkdir()
        wal = (tmp_path / "a" / "log.sqlite-wal").read_bytes()  # nothing of it has been taken over yet
        (tmp_path / "b" / "log.sqlite-wal").write_bytes(wal)
        (tmp_path / "b" / "log.sqlite").write_bytes(b"")
        entries = session.entries
    with Store(tmp_path / "b" / "log.sqlite") as store:
        found = TableSession.resume(store)
        assert found is not None and found.entries == entries


@pytest.mark.parametrize("reserve", [0, BYTES])
def test_pictures_that_cannot_be_kept_end_no_game(data: Path, reserve: int) -> None:
    (data / "log.pictures.sqlite").unlink()
    (data / "log.pictures.sqlite").mkdir()
    with Store(data / "log.sqlite", reserve=reserve) as store:
        assert store.notice and "pictures" in store.notice
        session = TableSession.resume(store)
        assert session is not None and session.crop_png(1) is None
        before = len(session.entries)
        session.command({"do": "undo"})
        with pytest.raises(Failure, match="moves are"):
            session.commit(demo_game(3, turns=3).events[-1:], confidence=0.9, asked=False, crop=JPEG)
        assert len(session.entries) == before + 2


def test_a_pin_file_that_is_not_ours_is_one_sentence(data: Path) -> None:
    (data / "secrets.json").mkdir()
    with pytest.raises(Failure, match="secrets.json"):
        KeyFile(data)


@pytest.mark.parametrize("spoiled", [
    {"table": "4711"}, {"table": "foo$a$b"}, {"table": "scrypt:1073741824:8:1$aa$bb"}, {"table": "scrypt:x:8:1$aa$bb"},
    {"table": f"scrypt:32769:8:1$aa${'0' * 128}"}, {"admin": 3}, {"signing": "\ud800"}, {"overlay": ["x"]},
    {"set_from": {}}, {"set_at_s": float("nan")}, {"set_at_s": "x"},
])
def test_a_pin_file_with_something_odd_in_it_is_set_aside(tmp_path: Path, spoiled: dict[str, Any]) -> None:
    set_pins(KeyFile(tmp_path), table="2580")
    file = tmp_path / "secrets.json"
    file.write_text(json.dumps({**json.loads(file.read_text("utf-8")), **spoiled}), "utf-8")
    keys = KeyFile(tmp_path)
    assert keys.get().table is None and list(tmp_path.glob("secrets.damaged*"))
    with pytest.raises(Refused, match="no PIN"):
        Rights(keys).check("2580", "10.0.0.1")


DEEP = "[" * 90_000
ODD_STATE = [("walk", value) for value in (
    "5", '"x"', "[1]", "{}", DEEP, '{"gane": 1, "step": 2, "told": false, "lead": "", "by": ""}',
    '{"game": 1, "step": "x", "told": false, "lead": "", "by": ""}', '{"game": 1, "step": -50}',
    '{"game": 1, "step": 2, "told": "no", "lead": 5, "by": []}')] + [
    ("table", "9" * 5000), ("actions", "9" * 5000), ("described", DEEP)]


@pytest.mark.parametrize(("key", "value"), ODD_STATE, ids=lambda v: v[:40])
def test_an_odd_note_in_the_log_is_not_in_the_way(data: Path, key: str, value: str) -> None:
    """One flipped bit in the note of how far the final scoring was shown kept the program from starting."""
    with Store(data / "log.sqlite") as store:
        session = TableSession.resume(store)
        assert session is not None
        session.commit((GameEnded(),), confidence=0.9, asked=False)
        entries = session.entries
    with closing(sqlite3.connect(data / "log.sqlite")) as db, db:
        db.execute("INSERT OR REPLACE INTO state (key, value) VALUES (?, ?)", (key, value))
    with Store(data / "log.sqlite") as store:
        session = TableSession.resume(store)
        assert session is not None and session.entries == entries
        view = create_app(session).test_client().get("/api/state", headers={"Host": "localhost"})
        assert view.status_code == 200
        assert view.get_json()["reveal"]["told"] == (key in ("walk", "table"))  # nothing says how far: all is shown


@pytest.mark.parametrize("name", ["book.json", "book-games.json", "round.json", "club.json", "guide.json",
                                  "second.json"])
@pytest.mark.parametrize("text", [DEEP, "5", "null", '"\\ud800"', "[1]", "{}"], ids=lambda t: t[:10])
def test_an_odd_file_of_our_own_is_not_in_the_way(data: Path, name: str, text: str) -> None:
    (data / name).write_text(text, "utf-8")
    with Store(data / "log.sqlite") as store:
        session = TableSession.resume(store)
        assert session is not None
        assert session.book.overview()
    GameRound(data)
    assert Identity(data).epoch == 1
    Guide(data, {})
    assert read_note(data) is None


def test_a_link_that_leads_to_itself_is_an_error_of_the_disk(tmp_path: Path) -> None:
    (tmp_path / "used.json").symlink_to("used.json")
    with pytest.raises(OSError, match="symbolic links"):
        write_whole(tmp_path / "used.json", b"{}")


ODD_TEXTS = ("", "5", "null", "[5]", "{}", "[{}]", '[{"body": {}, "probability": "x"}]',
             '[{"body": 5, "probability": 1}]',
             '[{"body": null, "probability": NaN}]', '[{"body": {"do": "tile"}, "probability": 1}]',
             '[{"body": {"do": "tile", "tile": "base.ZZ", "at": [0, 1], "rot": 9}, "probability": 1}]',
             '[{"body": {"do": "tile", "tile": 5, "at": "x", "rot": []}, "probability": 1}]',
             "[[0, 0, 5]]", "[[0, 0, [[1, 0, 0], [0, 1, 0], [0, 0, null]]]]", "[" * 90_000)


def looked_at(folder: Path) -> list[tuple[str, int]]:
    """Start, look at everything with a picture, and undo; returns the requests that failed."""
    with ExitStack() as stack:
        copy = Path(stack.enter_context(TemporaryDirectory(dir=folder.parent)))
        shutil.copytree(folder, copy, dirs_exist_ok=True)
        store = stack.enter_context(Store(copy / "log.sqlite"))
        session = TableSession.resume(store)
        assert session is not None
        client, seqs = create_app(session).test_client(), [e.seq for e in session.entries]
        urls = ["/api/state", "/api/turns", "/api/turns/1/picture.jpg", "/api/turns/1/picture.jpg?part=0,0,1,1"]
        urls += [url for n in seqs for url in (f"/api/candidates/{n}", f"/api/crops/{n}.jpg")]
        states = [(url, client.get(url, headers={"Host": "localhost"}).status_code) for url in urls]
        session.command({"do": "undo"})
        assert len(session.entries) == len(seqs) + 1
    return [(url, state) for url, state in states if state >= 500]


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    """A game in which every entry was asked about, with a picture for each."""
    game = demo_game(3, turns=2)
    with Store(tmp_path / "log.sqlite") as store:
        session = TableSession(store, game.setup)
        for event in game.events:
            for seq in session.commit((event,), confidence=0.6, asked=True, crop=JPEG + bytes(500)):
                store.pictures.keep_still(session.game, seq, JPEG + bytes(5000), [(0, 0, [[1, 0, 0]] * 3)])
    return tmp_path


@pytest.mark.parametrize(("table", "column"), [("crops", "candidates"), ("stills", "poses"), ("crops", "jpeg"),
                                               ("stills", "jpeg")])
def test_a_damaged_picture_is_missing_and_ends_no_game(asked: Path, table: str, column: str) -> None:
    """Views are rendered with the candidates of open questions: one damaged row kept the program from starting."""
    for value in (5, b"", b"x") if column == "jpeg" else ODD_TEXTS:
        with closing(sqlite3.connect(asked / "log.pictures.sqlite")) as db, db:
            db.execute(f"UPDATE {table} SET {column} = ?", (value,))
        assert looked_at(asked) == [], value


def test_each_damage_is_logged_once(asked: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Every view reads the pictures of the open questions again."""
    with closing(sqlite3.connect(asked / "log.pictures.sqlite")) as db, db:
        db.execute("UPDATE crops SET candidates = '{'")
    with Store(asked / "log.sqlite") as store:
        seqs = sorted(store.pictures.stills(1))
        for _ in range(3):
            assert all(store.pictures.crop(1, seq) == (JPEG + bytes(500), []) for seq in seqs)
    assert len(caplog.messages) == len(seqs) > 1


def test_pictures_with_a_damaged_page_end_no_game(asked: Path) -> None:
    """Wherever it is; what is found at the start is set aside, the rest is missing when somebody looks."""
    whole = (asked / "log.pictures.sqlite").read_bytes()
    for page in range(0, len(whole), 4096):
        (asked / "log.pictures.sqlite").write_bytes(whole[:page] + b"\xff" * 4096 + whole[page + 4096:])
        assert looked_at(asked) == [], page
