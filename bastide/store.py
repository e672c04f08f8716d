"""The append-only event log on disk: SQLite, WAL, synchronous=FULL, one transaction per proposal or command.

What `append` has returned from is on disk, all of it or nothing. A file that cannot be read is set aside under another
name, never deleted.
"""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from bastide.errors import Failure
from scoring.errors import InvalidNotation
from scoring.events import Player, Setup, StartTile
from scoring.log import LogEntry, entry_from_json, entry_to_json
from scoring.rules import edition, with_options

SCHEMA_VERSION = 1
CROPS_KEPT = 400
STILLS_KEPT = 200  # pictures of the whole table, over all games: about 50 MB
_SCHEMA = """
CREATE TABLE IF NOT EXISTS games (id INTEGER PRIMARY KEY, created_s REAL NOT NULL, setup TEXT NOT NULL,
                                  over INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS entries (game INTEGER NOT NULL REFERENCES games(id), seq INTEGER NOT NULL,
                                    body TEXT NOT NULL, PRIMARY KEY (game, seq)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS crops (game INTEGER NOT NULL, seq INTEGER NOT NULL, jpeg BLOB NOT NULL,
                                  candidates TEXT NOT NULL, PRIMARY KEY (game, seq));
CREATE TABLE IF NOT EXISTS stills (id INTEGER PRIMARY KEY, game INTEGER NOT NULL, seq INTEGER NOT NULL,
                                   jpeg BLOB NOT NULL, poses TEXT NOT NULL, UNIQUE (game, seq) ON CONFLICT REPLACE);
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredGame:
    """A game as it is on disk."""

    id: int
    setup: Setup
    entries: tuple[LogEntry, ...]
    over: bool
    aid: str = "coach"


class Store:
    """Games and their logs in one file. Safe to use from several threads; a second process is refused.

    Entering and every method raise Failure, one sentence, when the disk does not do its part.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.notice: str | None = None  # what a person should know about the file, e.g. that it was set aside
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None
        self._mine: int | None = None  # file descriptor of the lock that keeps other processes out

    def __enter__(self) -> Self:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._mine = self._claim()
            try:
                self._db = self._open()
            except sqlite3.DatabaseError as e:
                if isinstance(e, sqlite3.OperationalError):
                    raise
                self._set_aside()
                self._db = self._open()
        except sqlite3.Error as e:
            self._release()
            raise Failure(f"the log {self.path} cannot be opened ({e}); check the disk and its rights") from e
        except OSError as e:
            self._release()
            raise Failure(f"the folder {self.path.parent} cannot be used ({e.strerror})") from e
        except Failure:
            self._release()
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None
            self._release()

    def new_game(self, setup: Setup, *, aid: str = "coach") -> int:
        """Begin a game; its number. ``aid`` is how much the page may help the players."""
        with self._transaction() as db:
            cursor = db.execute("INSERT INTO games (created_s, setup) VALUES (?, ?)",
                                (time.time(), json.dumps({**setup_to_json(setup), "aid": aid})))
            return int(cursor.lastrowid or 0)

    def append(self, game: int, entries: Iterable[LogEntry], *, over: bool = False) -> None:
        """Put entries on disk in one transaction: what belongs together is there together or not at all.

        ``over`` is whether the game is over with them. Raises Failure when the disk does not take them.
        """
        rows = [(game, e.seq, json.dumps(entry_to_json(e))) for e in entries]
        with self._transaction() as db:
            db.executemany("INSERT INTO entries (game, seq, body) VALUES (?, ?, ?)", rows)
            db.execute("UPDATE games SET over = ? WHERE id = ? AND over != ?", (int(over), game, int(over)))

    def keep_crop(self, game: int, seq: int, jpeg: bytes, candidates: object) -> None:
        """Keep the picture and the candidates behind an entry; the oldest pictures make room."""
        with self._transaction() as db:
            db.execute("INSERT OR REPLACE INTO crops VALUES (?, ?, ?, ?)", (game, seq, jpeg, json.dumps(candidates)))
            db.execute("DELETE FROM crops WHERE game = ? AND seq <= ?", (game, seq - CROPS_KEPT))

    def crop(self, game: int, seq: int) -> tuple[bytes, list[dict[str, object]]] | None:
        """The picture (JPEG) and the candidates behind an entry."""
        with self._transaction() as db:
            row = db.execute("SELECT jpeg, candidates FROM crops WHERE game = ? AND seq = ?", (game, seq)).fetchone()
        return (row[0], json.loads(row[1])) if row else None

    def keep_still(self, game: int, seq: int, jpeg: bytes, poses: object) -> None:
        """Keep the picture of the whole table at an entry, with the poses of its tiles; the oldest make room."""
        with self._transaction() as db:
            db.execute("INSERT INTO stills (game, seq, jpeg, poses) VALUES (?, ?, ?, ?)",
                       (game, seq, jpeg, json.dumps(poses)))
            db.execute("DELETE FROM stills WHERE id <= (SELECT max(id) FROM stills) - ?", (STILLS_KEPT,))

    def still(self, game: int, seq: int) -> tuple[bytes, list[Any]] | None:
        """The picture of the table (JPEG) kept with an entry, and the poses of its tiles."""
        with self._transaction() as db:
            row = db.execute("SELECT jpeg, poses FROM stills WHERE game = ? AND seq = ?", (game, seq)).fetchone()
        return (row[0], json.loads(row[1])) if row else None

    def stills(self, game: int) -> frozenset[int]:
        """The entries of a game with which a picture of the table is kept."""
        with self._transaction() as db:
            return frozenset(seq for (seq,) in db.execute("SELECT seq FROM stills WHERE game = ?", (game,)))

    def unfinished(self) -> StoredGame | None:
        """The newest game that is not over."""
        with self._transaction() as db:
            row = db.execute("SELECT id FROM games WHERE over = 0 ORDER BY id DESC LIMIT 1").fetchone()
        return self.load(row[0]) if row else None

    def load(self, game: int) -> StoredGame:
        """A game with all its entries. Raises Failure also when there is no such game."""
        with self._transaction() as db:
            row = db.execute("SELECT setup, over FROM games WHERE id = ?", (game,)).fetchone()
            lines = db.execute("SELECT body FROM entries WHERE game = ? ORDER BY seq", (game,)).fetchall()
        if row is None:
            raise Failure(f"there is no game {game} in {self.path}")
        try:
            setup = json.loads(row[0])
            return StoredGame(id=game, setup=setup_from_json(setup), over=bool(row[1]),
                              aid=str(setup.get("aid", "coach")),
                              entries=tuple(entry_from_json(json.loads(line)) for (line,) in lines))
        except (InvalidNotation, KeyError, ValueError) as e:
            raise Failure(f"game {game} in {self.path} cannot be read ({e}); begin another with --new") from e

    def _open(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.path, check_same_thread=False)
        try:
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=FULL")
            version = db.execute("PRAGMA user_version").fetchone()[0]
            if version > SCHEMA_VERSION:
                raise Failure(f"{self.path} was written by a newer version of bastide; update bastide to open it")
            if db.execute("PRAGMA quick_check").fetchone()[0] != "ok":
                raise sqlite3.DatabaseError("damaged")
            db.executescript(_SCHEMA)
            db.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
        except BaseException:
            db.close()
            raise
        return db

    def _set_aside(self) -> None:
        aside = self.path.with_name(f"{self.path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
        for suffix in ("", "-wal", "-shm"):
            old = Path(f"{self.path}{suffix}")
            if old.exists():
                os.replace(old, f"{aside}{suffix}")
        self.notice = f"the log {self.path} was damaged and is kept as {aside.name}; a new one was begun"

    def _claim(self) -> int:
        """Lock the file for this process; the system lets go of it when the process ends in whatever way."""
        mine = os.open(f"{self.path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(mine, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as e:
            os.close(mine)
            raise Failure(f"another bastide is writing {self.path}; stop it or choose another --data") from e
        return mine

    def _release(self) -> None:
        if self._mine is not None:
            os.close(self._mine)
            self._mine = None

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            if self._db is None:
                raise Failure("the log is closed")
            try:
                with self._db:
                    yield self._db
            except sqlite3.Error as e:
                text = f"the log {self.path} cannot be used ({e}); free some space or check the disk"
                raise Failure(text) from e


def setup_to_json(setup: Setup) -> dict[str, object]:
    """A game's set-up as JSON-ready data."""
    rules = {name: getattr(setup.rules, name) for name in type(setup.rules).__slots__ if name != "edition"}
    start = setup.start
    return {"players": [{"name": p.name, "colour": p.colour} for p in setup.players], "edition": setup.rules.edition,
            "rules": rules, "expansions": list(setup.expansions),
            "start": {"tile": start.tile, "at": list(start.at), "rot": start.rot} if start else None}


def setup_from_json(data: dict[str, object]) -> Setup:
    """The set-up that `setup_to_json` wrote. Raises KeyError or InvalidNotation."""
    start = data.get("start")
    return Setup(
        players=tuple(Player(name=p["name"], colour=p["colour"]) for p in data["players"]),  # type: ignore[attr-defined]
        rules=with_options(edition(str(data["edition"])), data["rules"]),  # type: ignore[arg-type]
        expansions=tuple(data["expansions"]),  # type: ignore[arg-type]
        start=StartTile(tile=start["tile"], at=tuple(start["at"]), rot=start["rot"]) if start else None,  # type: ignore
    )
