"""The append-only event log on disk: SQLite, WAL, synchronous=FULL, one transaction per proposal or command.

What `append` has returned from is on disk twice, atomically: in the journal (`journal.py`), then in the database.
Opening compares the two; a damaged file is renamed, never deleted, and everything intact in either copy is recovered.
Pictures are in a file of their own.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from bastide.errors import Failure
from bastide.files.writing import sync_folder
from bastide.log import journal
from bastide.log.copies import lags, lost, put, remember, same
from bastide.log.examine import contents, examine
from bastide.log.pictures import Pictures, set_aside
from bastide.log.recovery import emptied, finish, is_damage, recover
from bastide.log.reserve import Reserve, may_be_full
from bastide.log.salvage import Salvaged, as_number
from bastide.log.schema import SCHEMA_VERSION, STATE, pictures_of, prepare
from bastide.log.setup_json import setup_from_json, setup_to_json
from bastide.log.stored import GameLine, NotUnderstood, StoredGame
from scoring.errors import InvalidNotation
from scoring.events import Setup
from scoring.log import LogEntry, entry_from_json, entry_to_json

_log = logging.getLogger("bastide.store")
WAL_PAGES = 16  # pages in the write-ahead log before a checkpoint: a handful of moves


class Store:
    """Games and their logs in one file. Safe to use from several threads; a second process is refused.

    Entering and every method raise Failure, one sentence, on disk errors.
    """

    def __init__(self, path: Path, *, reserve: int = 0) -> None:
        """``reserve`` bytes are kept free for the log on a disk that gets full."""
        self.path = path
        self._reserve = Reserve(path.parent, reserve)
        self.notice: str | None = None  # what a person should know about the file, e.g. that it was set aside
        self.pictures = Pictures(pictures_of(path))
        self._journal_path = journal.journal_of(path)
        self._journal: journal.Journal | None = None
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None
        self._file = (0, 0)  # which file is open
        self._mine: int | None = None  # file descriptor of the lock against other processes

    def __enter__(self) -> Self:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._mine = self._claim()
            sync_folder(self.path.parent.resolve().parent)  # a file without its folder entry is lost
            try:
                self._opened()
            except (sqlite3.Error, OSError) as e:
                if not may_be_full(e) or not self._reserve.give():
                    raise
                self._opened()
            self._refill()
            low = f"the disk of {self.path.parent} is full; free some space, pictures are not kept until then." \
                if self._reserve.low else None
            self.notice = " ".join(filter(None, (self.notice, self.pictures.notice, low))) or None
        except sqlite3.Error as e:
            self.__exit__()
            raise Failure(f"the log {self.path} cannot be opened ({e}); check the disk and its permissions") from e
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
            self._closed()
            self._release()

    def new_game(self, setup: Setup, *, aid: str = "coach", art: str = "") -> int:
        """Begin a game and put it on the table; its number. ``aid`` is how much the page may help the players, ``art``
        the set of tile pictures that it is watched with (`bastide.tiles.art`)."""
        text = json.dumps({**setup_to_json(setup), "aid": aid, **({"art": art} if art else {})})

        def line(db: sqlite3.Connection) -> journal.GameLine:
            number = int(db.execute("SELECT coalesce(max(id), 0) + 1 FROM games").fetchone()[0])
            return {"do": "game", "game": number, "created_s": time.time(), "setup": text}

        return self._written(line)["game"]

    def append(self, game: int, entries: Iterable[LogEntry], *, over: bool = False) -> None:
        """Write entries to disk in one transaction: all of them or none.

        ``over`` is whether the game is over with them. Raises Failure when they cannot be written.
        """
        entries = tuple(entries)
        first = entries[0].seq if entries else 1
        if [e.seq for e in entries] != list(range(first, first + len(entries))):
            raise Failure("entries of one action must follow each other")
        bodies = [json.dumps(entry_to_json(e)) for e in entries]
        again = any(e.seq % journal.SETUP_EVERY == 0 for e in entries)

        def line(db: sqlite3.Connection) -> journal.EntriesLine:
            row = db.execute("SELECT created_s, setup FROM games WHERE id = ?", (game,)).fetchone() if again else None
            made: journal.EntriesLine = {"do": "entries", "game": game, "first": first, "bodies": bodies,
                                         "over": int(over)}
            return {**made, "created_s": row[0], "setup": row[1]} if row else made
        self._written(line)

    def put_on_table(self, game: int) -> None:
        """Make this the game on the table, which the next start continues."""
        self._written(lambda _: {"do": "table", "game": game})

    def on_table(self) -> StoredGame | None:
        """The game on the table: begun or opened last, over or not, with or without a move."""
        found = as_number(self._state("table"))
        return None if found is None else self.load(found)

    @property
    def described(self) -> str:
        """The command line's description of the game at the last start; empty after an orderly end."""
        return self._state("described")

    def describe(self, text: str) -> None:
        """Store the command line's description of the game."""
        with self._transaction() as db:
            db.execute("INSERT OR REPLACE INTO state (key, value) VALUES ('described', ?)", (text,))

    def walk(self, text: str | None = None) -> str:
        """The stored progress of presenting the final scoring; empty at first."""
        if text is not None:
            with self._transaction() as db:
                db.execute("INSERT OR REPLACE INTO state (key, value) VALUES ('walk', ?)", (text,))
        return self._state("walk")

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

    def stamps(self) -> dict[int, str]:
        """For each game a fingerprint that changes with any of its data."""
        with self._transaction() as db:
            rows = db.execute("SELECT id, crc, (SELECT count(*) || '.' || coalesce(sum(crc), 0) FROM entries "
                              "WHERE game = id) FROM games").fetchall()
        return {game: f"{crc}.{entries}" for game, crc, entries in rows}

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
            raise NotUnderstood(f"game {game} in {self.path} cannot be read ({e})") from e

    def _opened(self) -> None:
        self._closed()
        self.notice = finish(self.path)
        told = self._told()
        try:
            found = examine(self.path, told)
            if found is None and (emptied(self.path) or told is not None and told.games):
                raise sqlite3.DatabaseError("it is gone")
            if found is not None and told is not None and told.id and found.id and told.id != found.id:
                self._tell(f"the journal beside the log belonged to another one and is kept as "
                           f"{set_aside(self._journal_path).name}.")
                told = None
            if found is not None and told is not None:
                told.end_lost |= found.actions > told.last[0]  # it was truncated: an acknowledged line is missing
                told.spoiled |= told.end_lost
            if found is not None and (told is not None and lags(found, told) or lost(self.path, found, told)):
                raise sqlite3.DatabaseError("entries are missing")
            self._db = self._open()
            found = contents(self._db)
        except (sqlite3.DatabaseError, UnicodeDecodeError) as e:
            if not is_damage(e):
                raise
            if self._db is not None:
                self._db.close()
            self._tell(recover(self.path, told))
            self._db = self._open()
            found = contents(self._db)
        self._take_up(found, told)
        self._file = self._there()
        try:
            self.pictures.open()
        except (sqlite3.OperationalError, OSError) as e:
            if isinstance(e, sqlite3.Error) and may_be_full(e) and self._reserve.there:
                raise
            self.pictures.do_without(str(e))  # pictures may be lost, the game may not

    def _told(self) -> journal.JournalContent | None:
        """What the journal says; one that cannot be read at all is set aside."""
        try:
            return journal.read(self._journal_path)
        except OSError as e:
            aside = set_aside(self._journal_path)
            self._tell(f"the second copy of the log, {self._journal_path.name}, could not be read ({e.strerror}) and "
                       f"is kept as {aside.name}; the log is whole.")
            return None

    def _take_up(self, found: Salvaged, told: journal.JournalContent | None) -> None:
        """Continue the journal, after carrying out its newest action if the power failed before that; rebuild it if it
        does not match the database."""
        assert self._db is not None
        if told and told.newest and not told.spoiled and not same(found, told) and same(found, told, but_newest=True):
            with self._db:
                put(self._db, told.newest, told.last[0])
            found = contents(self._db)
        if found.table is None and found.games:  # of a version without the game on the table
            found.table = max((g for g in found.games if found.entries.get(g)), default=max(found.games))
        known = told is not None and bool(told.id) and not told.spoiled
        if told is None or not known or not same(found, told) or told.id != found.id:
            if told is not None and told.spoiled:
                aside = set_aside(self._journal_path)
                whole = "" if self.notice else "; the log is whole"
                self._tell(f"the second copy of the log, {self._journal_path.name}, was damaged and is kept as "
                           f"{aside.name}{whole}.")
            elif told is None and found.id and not self.notice:
                self._tell(f"the second copy of the log, {self._journal_path.name}, was gone and was made again; the "
                           "log is whole.")
            found.id = found.id or (told.id if told else "") or secrets.token_hex(8)
            with self._db:
                remember(self._db, "journal", found.id)
                remember(self._db, "actions", "0")
                remember(self._db, "table", "" if found.table is None else str(found.table))
            journal.written(self._journal_path, found.id, found.games, found.entries, found.table)
            told = journal.read(self._journal_path)
            with self._db:
                remember(self._db, "actions", str(told.last[0] if told else 0))
            if told is None or told.spoiled or not same(found, told):
                raise OSError(5, "what was written to it is not what is read")
        self._journal = journal.Journal(self._journal_path, told)

    def _tell(self, text: str) -> None:
        self.notice = f"{self.notice} {text}" if self.notice else text

    def _closed(self) -> None:
        self.pictures.close()
        if self._db is not None:
            self._db.close()
            self._db = None
        if self._journal is not None:
            self._journal.close()
            self._journal = None

    def _refill(self) -> None:
        self._reserve.fill()
        self.pictures.refused = self._reserve.low

    def _open(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.path, check_same_thread=False)
        try:
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=FULL")
            db.execute(f"PRAGMA wal_autocheckpoint={WAL_PAGES}")
            version = db.execute("PRAGMA user_version").fetchone()[0]
            if version < SCHEMA_VERSION:
                notice = prepare(db, self.path, version)
                if notice:
                    self._tell(notice)
            with db:
                db.execute(STATE)
            with suppress(sqlite3.OperationalError):  # no room on a full card: the database alone must do
                db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except BaseException:
            db.close()
            raise
        return db

    def _there(self) -> tuple[int, int]:
        """Which file has the log's name. Raises OSError."""
        found = self.path.stat()
        return found.st_dev, found.st_ino

    def _claim(self) -> int:
        """Lock the file for this process; the system releases the lock when the process ends, however it ends."""
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

    def _written(self, line: Callable[[sqlite3.Connection], journal.Action]) -> journal.Action:
        """Write one action to disk, to the journal and the database; on a full disk the reserve is released, and a
        damaged database is recovered. Returns the action as written."""
        for last in (False, True):
            try:
                found = self._once(line)
                if self.pictures.refused and not last:
                    self._refill()
                return found
            except Failure as e:
                if last or e.__cause__ is None or not self._mended(e.__cause__):
                    raise
        raise AssertionError("unreachable")

    def _mended(self, error: BaseException) -> bool:
        """Whether the cause of a failure has been removed, so that a retry makes sense."""
        if may_be_full(error):
            if self._reserve.give():
                self.pictures.refused = True
                return True
            return False
        if not isinstance(error, sqlite3.Error | UnicodeDecodeError) or isinstance(error, sqlite3.IntegrityError) or \
                not is_damage(error):
            return False
        try:
            with self._lock:
                self._opened()
        except (sqlite3.Error, OSError, UnicodeDecodeError, Failure) as e:
            _log.error("the log could not be recovered while it is in use: %s", e)
            return False
        _log.warning("%s", self.notice)
        return True

    def _once(self, line: Callable[[sqlite3.Connection], journal.Action]) -> journal.Action:
        with self._transaction() as db:
            assert self._journal is not None
            found = line(db)
            written = False
            try:
                with db:
                    put(db, found, self._journal.following)
                    self._journal.add(found)
                    written = True
            except BaseException:
                if written:
                    with suppress(OSError):  # the next action begins with it then
                        self._journal.take_back()
                raise
            return found

    def _state(self, key: str) -> str:
        with self._transaction() as db:
            row = db.execute("SELECT value FROM state WHERE key = ?", (key,)).fetchone()
        return str(row[0]) if row else ""

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            if self._db is None or self._journal is None:
                raise Failure("the log is closed")
            try:
                same = self._there() == self._file and self._journal.there
            except OSError:
                same = False
            if not same:  # SQLite would go on writing to an unlinked file
                raise Failure(f"the log {self.path} was moved or removed while bastide runs; put it back where it was, "
                              "or restart bastide")
            try:
                with self._db:
                    yield self._db
            except (sqlite3.Error, OSError, UnicodeDecodeError) as e:
                text = f"the log {self.path} cannot be used ({e}); free some space or check the disk"
                raise Failure(text) from e
