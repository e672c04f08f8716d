"""The append-only event log on disk: SQLite, WAL, synchronous=FULL, one transaction per proposal or command.

What `append` has returned from is on disk, all of it or nothing. A file that is damaged is set aside under another
name, never deleted, and what is whole in it is taken over into a new one. Pictures are in a file of their own.
"""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypeVar

from bastide.errors import Failure
from bastide.pictures import Pictures
from bastide.recovery import emptied, finish, is_damage, recover, sync_folder
from bastide.reserve import Reserve, may_be_full
from bastide.schema import SCHEMA_VERSION, checksum, pictures_of, prepare
from bastide.setup_json import setup_from_json, setup_to_json
from scoring.errors import InvalidNotation
from scoring.events import Setup
from scoring.log import LogEntry, entry_from_json, entry_to_json

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredGame:
    """A game as it is on disk."""

    id: int
    setup: Setup
    entries: tuple[LogEntry, ...]
    over: bool
    aid: str = "coach"
    art: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameLine:
    """A game in the list of all: when it was begun, who plays, how many entries, whether it is over."""

    id: int
    created_s: float
    players: tuple[str, ...]
    entries: int
    over: bool


class Store:
    """Games and their logs in one file. Safe to use from several threads; a second process is refused.

    Entering and every method raise Failure, one sentence, when the disk does not do its part.
    """

    def __init__(self, path: Path, *, reserve: int = 0) -> None:
        """``reserve`` bytes are kept free for the log on a disk that gets full."""
        self.path = path
        self._reserve = Reserve(path.parent, reserve)
        self.notice: str | None = None  # what a person should know about the file, e.g. that it was set aside
        self.pictures = Pictures(pictures_of(path))
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None
        self._file = (0, 0)  # which file is open
        self._mine: int | None = None  # file descriptor of the lock that keeps other processes out

    def __enter__(self) -> Self:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._mine = self._claim()
            sync_folder(self.path.parent.resolve().parent)  # a new file in a folder that a power cut takes is no use
            try:
                self._opened()
            except sqlite3.Error as e:
                if not may_be_full(e) or not self._reserve.give():
                    raise
                self._opened()
            self._file = self._there()
            self._refill()
            low = f"the disk of {self.path.parent} is full; free some space, pictures are not kept until then." \
                if self._reserve.low else None
            self.notice = " ".join(filter(None, (self.notice, self.pictures.notice, low))) or None
        except sqlite3.Error as e:
            self.__exit__()
            raise Failure(f"the log {self.path} cannot be opened ({e}); check the disk and its rights") from e
        except OSError as e:
            self.__exit__()
            raise Failure(f"the folder {self.path.parent} cannot be used ({e.strerror})") from e
        except Failure:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        self.pictures.close()
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None
            self._release()

    def new_game(self, setup: Setup, *, aid: str = "coach", art: str = "") -> int:
        """Begin a game; its number. ``aid`` is how much the page may help the players, ``art`` the set of tile pictures
        that it is watched with (`bastide.art`)."""
        text = json.dumps({**setup_to_json(setup), "aid": aid, **({"art": art} if art else {})})

        def write(db: sqlite3.Connection) -> int:
            number = int(db.execute("SELECT coalesce(max(id), 0) + 1 FROM games").fetchone()[0])
            db.execute("INSERT INTO games (id, created_s, setup, crc) VALUES (?, ?, ?, ?)",
                       (number, time.time(), text, checksum(number, 0, text)))
            return number

        return self._written(write)

    def append(self, game: int, entries: Iterable[LogEntry], *, over: bool = False) -> None:
        """Put entries on disk in one transaction: what belongs together is there together or not at all.

        ``over`` is whether the game is over with them. Raises Failure when the disk does not take them.
        """
        bodies = [(e.seq, json.dumps(entry_to_json(e))) for e in entries]
        rows = [(game, seq, body, checksum(game, seq, body)) for seq, body in bodies]

        def write(db: sqlite3.Connection) -> None:
            db.executemany("INSERT INTO entries (game, seq, body, crc) VALUES (?, ?, ?, ?)", rows)
            db.execute("UPDATE games SET over = ? WHERE id = ? AND over != ?", (int(over), game, int(over)))

        self._written(write)

    def unfinished(self) -> StoredGame | None:
        """The newest game that is not over."""
        with self._transaction() as db:
            row = db.execute("SELECT id FROM games WHERE over = 0 ORDER BY id DESC LIMIT 1").fetchone()
        return self.load(row[0]) if row else None

    def newest(self) -> StoredGame | None:
        """The newest game in which something has happened, over or not."""
        with self._transaction() as db:
            row = db.execute("SELECT max(game) FROM entries").fetchone()
        return self.load(row[0]) if row and row[0] is not None else None

    def games(self) -> tuple[GameLine, ...]:
        """All games, newest first."""
        with self._transaction() as db:
            rows = db.execute("SELECT id, created_s, setup, over, (SELECT count(*) FROM entries WHERE game = id) "
                              "FROM games ORDER BY id DESC").fetchall()
        return tuple(GameLine(id=number, created_s=created, over=bool(over), entries=count,
                              players=tuple(str(p.get("name", "")) for p in json.loads(setup).get("players", ())))
                     for number, created, setup, over, count in rows)

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
                              aid=str(setup.get("aid", "coach")), art=str(setup.get("art", "")),
                              entries=tuple(entry_from_json(json.loads(line)) for (line,) in lines))
        except (InvalidNotation, KeyError, ValueError) as e:
            raise Failure(f"game {game} in {self.path} cannot be read ({e}); begin another with --new") from e

    def _opened(self) -> None:
        if self._db is not None:
            self._db.close()
        self.notice = finish(self.path)
        if emptied(self.path):
            self.notice = recover(self.path)
        try:
            self._db = self._open()
        except sqlite3.DatabaseError as e:
            if not is_damage(e):
                raise
            self.notice = recover(self.path)
            self._db = self._open()
        try:
            self.pictures.open()
        except (sqlite3.OperationalError, OSError) as e:
            if isinstance(e, sqlite3.Error) and may_be_full(e) and self._reserve.there:
                raise
            self.pictures.do_without(str(e))  # they may be lost, the game may not

    def _refill(self) -> None:
        self._reserve.fill()
        self.pictures.refused = self._reserve.low

    def _open(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.path, check_same_thread=False)
        try:
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=FULL")
            version = db.execute("PRAGMA user_version").fetchone()[0]
            if version > SCHEMA_VERSION:
                raise Failure(f"{self.path} was written by a newer version of bastide; update bastide to open it")
            if version < SCHEMA_VERSION:
                self.notice = prepare(db, self.path, version) or self.notice
            _check(db)
        except UnicodeDecodeError as e:  # of what SQLite says about a schema that is no text any more
            db.close()
            raise sqlite3.DatabaseError("its tables have no names any more") from e
        except BaseException:
            db.close()
            raise
        return db

    def _there(self) -> tuple[int, int]:
        """Which file has the log's name. Raises OSError."""
        found = self.path.stat()
        return found.st_dev, found.st_ino

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

    def _written(self, write: Callable[[sqlite3.Connection], _T]) -> _T:
        """One transaction that writes; on a full disk the reserve makes room for it."""
        try:
            with self._transaction() as db:
                found = write(db)
            if self.pictures.refused:
                self._refill()
            return found
        except Failure as e:
            if e.__cause__ is None or not may_be_full(e.__cause__) or not self._reserve.give():
                raise
        self.pictures.refused = True
        with self._transaction() as db:
            return write(db)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            if self._db is None:
                raise Failure("the log is closed")
            try:
                same = self._there() == self._file
            except OSError:
                same = False
            if not same:  # SQLite would go on writing to a file that nobody finds again
                raise Failure(f"the log {self.path} was moved or removed while bastide runs; put it back where it was, "
                              "or restart bastide")
            try:
                with self._db:
                    yield self._db
            except sqlite3.Error as e:
                text = f"the log {self.path} cannot be used ({e}); free some space or check the disk"
                raise Failure(text) from e


def damage(db: sqlite3.Connection) -> str | None:
    """What is wrong with an open log of the present version; None when every page and every entry is whole."""
    told = db.execute("PRAGMA quick_check(1)").fetchone()[0]
    if told != "ok":
        return str(told)
    for game, setup, crc in db.execute("SELECT id, setup, crc FROM games"):
        if crc != checksum(game, 0, setup):
            return f"the set-up of game {game} has changed"
    last = (0, 0)
    for game, seq, body, crc in db.execute("SELECT game, seq, body, crc FROM entries ORDER BY game, seq"):
        if crc != checksum(game, seq, body):
            return f"entry {seq} of game {game} has changed"
        if seq != (last[1] + 1 if game == last[0] else 1):
            return f"an entry of game {game} is missing before {seq}"
        last = game, seq
    return None


def _check(db: sqlite3.Connection) -> None:
    if (found := damage(db)) is not None:
        raise sqlite3.DatabaseError(found)
