"""Pictures behind the log's entries, in a database of their own, which may be lost without losing the game.

Bounded: only the newest of each kind over all games are kept. Not synced one by one, to spare the card; a power cut may
lose the newest few. A damaged file is moved aside and a new one made; a damaged row in an intact one reads as missing.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from bastide.errors import Failure
from bastide.log.schema import PICTURES
from scoring.errors import InvalidNotation
from scoring.events import from_json, to_json
from web.views import CandidateView

_log = logging.getLogger("bastide.store")
TilePose = tuple[int, int, list[list[float]]]  # column, row, and the homography of a tile in a picture, 3 x 3


class Kind(NamedTuple):
    """A kind of pictures: its table, the column with what is kept beside each (as JSON), and how many are kept."""

    table: str
    about: str
    most: int


CROPS = Kind("crops", "candidates", 2000)  # pieces of the table, one with each reading: about 20 MB
STILLS = Kind("stills", "poses", 200)  # of the whole table: about 50 MB


class Pictures:
    """Open and closed by the log that they belong to. Safe to use from several threads. Writing raises Failure; a
    picture that cannot be read is logged and missing, because views of the game are rendered with it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.notice: str | None = None
        self.refused = False  # the remaining disk space is for the log
        self._without = False  # there is no file to keep them in
        self._lock = threading.Lock()
        self._logged: set[str] = set()  # every view reads the pictures again: each damage is logged once
        self._db: sqlite3.Connection | None = None

    def open(self) -> None:
        """Ready for use. Raises sqlite3.OperationalError or OSError when the disk does not do its part."""
        try:
            self._db = self._opened()
        except sqlite3.OperationalError:
            raise
        except (sqlite3.DatabaseError, UnicodeDecodeError):  # the second: from corrupt names in SQLite's message
            aside = set_aside(self.path)
            self.notice = f"the pictures in {self.path} were damaged and are kept as {aside.name}; the log is whole"
            self._db = self._opened()

    def do_without(self, why: str) -> None:
        """Disable storing pictures, because of ``why``; a game goes on without."""
        self._db = sqlite3.connect(":memory:", check_same_thread=False)
        self._db.executescript(PICTURES)
        self._without = True
        self.notice = f"the pictures {self.path} cannot be kept ({why}); check the disk and whose file it is; the " \
                      "log is whole."

    def close(self) -> None:
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None

    def keep_crop(self, game: int, seq: int, jpeg: bytes, candidates: Sequence[CandidateView]) -> None:
        """Keep the picture and the candidates behind an entry; the oldest pictures make room."""
        self._keep(CROPS, game, seq, jpeg, candidates)

    def crop(self, game: int, seq: int) -> tuple[bytes, list[CandidateView]] | None:
        """The picture (JPEG) and the candidates behind an entry."""
        kept = self._kept(CROPS, game, seq)
        return None if kept is None else (kept[0], _candidates(kept[1]))

    def keep_still(self, game: int, seq: int, jpeg: bytes, poses: Sequence[TilePose]) -> None:
        """Keep the picture of the whole table at an entry, with the poses of its tiles; the oldest make room."""
        self._keep(STILLS, game, seq, jpeg, poses)

    def still(self, game: int, seq: int) -> tuple[bytes, list[TilePose]] | None:
        """The picture of the table (JPEG) kept with an entry, and the poses of its tiles."""
        kept = self._kept(STILLS, game, seq)
        return None if kept is None else (kept[0], _poses(kept[1]))

    def stills(self, game: int) -> frozenset[int]:
        """The entries of a game with which a picture of the table is kept."""
        rows = self._rows("SELECT seq FROM stills WHERE game = ?", game)
        return frozenset(seq for (seq,) in rows if isinstance(seq, int))

    def forget(self, games: frozenset[int]) -> None:
        """Drop the pictures of games that are not among these: a new log counts from 1 again."""
        with self._transaction() as db:
            for table, _, _ in (CROPS, STILLS):
                there = {game for (game,) in db.execute(f"SELECT DISTINCT game FROM {table}")}
                db.executemany(f"DELETE FROM {table} WHERE game = ?", [(game,) for game in there - games])

    def _keep(self, kind: Kind, game: int, seq: int, jpeg: bytes, about: object) -> None:
        self._welcome()
        with self._transaction() as db:
            db.execute(f"INSERT INTO {kind.table} (game, seq, jpeg, {kind.about}) VALUES (?, ?, ?, ?)",
                       (game, seq, jpeg, json.dumps(about)))
            db.execute(f"DELETE FROM {kind.table} WHERE id <= (SELECT max(id) FROM {kind.table}) - ?", (kind.most,))

    def _kept(self, kind: Kind, game: int, seq: int) -> tuple[bytes, object] | None:
        """The picture and what is kept beside it; None for that if it is damaged."""
        match self._rows(f"SELECT jpeg, {kind.about} FROM {kind.table} WHERE game = ? AND seq = ?", game, seq):
            case [(bytes(jpeg), str(about)), *_]:
                try:
                    return jpeg, json.loads(about)
                except (ValueError, RecursionError) as e:
                    self._warn(f"what is kept with the picture of entry {seq} is damaged ({e})")
                    return jpeg, None
        return None

    def _rows(self, query: str, *values: int) -> list[tuple[object, ...]]:
        """The rows of a query; none where the file is damaged."""
        try:
            with self._transaction() as db:
                return db.execute(query, values).fetchall()
        except Failure as e:
            if e.__cause__ is None:
                raise
            self._warn(str(e))
            return []

    def _warn(self, damage: str) -> None:
        if damage not in self._logged:
            self._logged.add(damage)
            _log.warning("%s", damage)

    def _welcome(self) -> None:
        if self._without:
            raise Failure(f"the pictures {self.path} cannot be saved; moves are")
        if self.refused:
            raise Failure("the disk is full: moves are kept, their pictures are not; free some space")

    def _opened(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.path, check_same_thread=False)
        try:
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=NORMAL")
            db.executescript(PICTURES)
            for table, _, _ in (CROPS, STILLS):
                db.execute(f"SELECT max(id), count(*) FROM {table}").fetchone()
        except BaseException:
            db.close()
            raise
        return db

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            if self._db is None:
                raise Failure("the log is closed")
            try:
                with self._db:
                    yield self._db
            except sqlite3.Error as e:
                raise Failure(f"the pictures {self.path} cannot be used ({e}); free some space or check the disk; "
                              "the game itself is on disk") from e


def _candidates(kept: object) -> list[CandidateView]:
    """The candidates kept with a picture; without those that are damaged."""
    out: list[CandidateView] = []
    for one in kept if isinstance(kept, list) else ():
        match one:
            case {"body": dict() | None as body, "probability": int(p) | float(p)} if 0 <= p <= 1:
                with suppress(InvalidNotation):
                    out.append({"body": body and to_json(from_json(body)), "probability": p})
    return out


def _poses(kept: object) -> list[TilePose]:
    """The poses of the tiles in a picture of the table; without those that are damaged."""
    out: list[TilePose] = []
    for one in kept if isinstance(kept, list) else ():
        match one:
            case [int(x), int(y), [[*a], [*b], [*c]]] if len(a) == len(b) == len(c) == 3 and \
                    all(type(v) in (int, float) for v in (*a, *b, *c)):
                out.append((x, y, [a, b, c]))
    return out


def set_aside(path: Path) -> Path:
    """Rename a damaged SQLite file and its companions; returns the new name. Raises OSError."""
    aside = free_name(path)
    for suffix in ("", "-wal"):
        old = Path(f"{path}{suffix}")
        if old.exists():
            os.replace(old, f"{aside}{suffix}")
    Path(f"{path}-shm").unlink(missing_ok=True)  # only an index of the -wal, rebuilt by whoever opens it
    return aside


def free_name(path: Path) -> Path:
    """The name under which a damaged file is kept."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    aside, n = path.with_name(f"{path.name}.damaged-{stamp}"), 1
    while aside.exists() or Path(f"{aside}-wal").exists():
        n += 1
        aside = path.with_name(f"{path.name}.damaged-{stamp}-{n}")
    return aside
