"""The tables of the log on disk, version by version, and the migration of older files.

    1  entries without a checksum, pictures in the same file
    2  every entry and set-up carries a checksum; pictures have a file of their own, the log is small and read at once;
       ``state``, which earlier programs do not miss: the game on the ``table``, the id of the ``journal``, what the
       command line ``described``
"""

from __future__ import annotations

import sqlite3
import zlib
from pathlib import Path

SCHEMA_VERSION = 2
SCHEMA = """
CREATE TABLE IF NOT EXISTS games (id INTEGER PRIMARY KEY, created_s REAL NOT NULL, setup TEXT NOT NULL,
                                  over INTEGER NOT NULL DEFAULT 0, crc INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS entries (game INTEGER NOT NULL REFERENCES games(id), seq INTEGER NOT NULL,
                                    body TEXT NOT NULL, crc INTEGER NOT NULL, PRIMARY KEY (game, seq)) WITHOUT ROWID;
"""
STATE = "CREATE TABLE IF NOT EXISTS state (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID"
SCHEMA += STATE + ";"
PICTURES = """
CREATE TABLE IF NOT EXISTS crops (id INTEGER PRIMARY KEY, game INTEGER NOT NULL, seq INTEGER NOT NULL,
                                  jpeg BLOB NOT NULL, candidates TEXT NOT NULL,
                                  UNIQUE (game, seq) ON CONFLICT REPLACE);
CREATE TABLE IF NOT EXISTS stills (id INTEGER PRIMARY KEY, game INTEGER NOT NULL, seq INTEGER NOT NULL,
                                   jpeg BLOB NOT NULL, poses TEXT NOT NULL, UNIQUE (game, seq) ON CONFLICT REPLACE);
"""


def checksum(game: int, seq: int, body: str) -> int:
    """The CRC-32 of an entry's place and text, which its row carries: finds bit rot on memory cards. A game's set-up
    counts as its entry 0."""
    return zlib.crc32(f"{game}:{seq}:{body}".encode())


def open_read_only(path: Path) -> sqlite3.Connection:
    """A database that may be in use, to read it. Raises sqlite3.Error."""
    return sqlite3.connect(f"file:{path.resolve().as_posix().replace('%', '%25').replace('?', '%3f')}?mode=ro",
                           uri=True)


def pictures_of(log: Path) -> Path:
    """The file with a log's pictures."""
    return log.with_name(f"{log.stem}.pictures{log.suffix}")


def prepare(db: sqlite3.Connection, path: Path, version: int) -> str | None:
    """Migrate an open log of that version to the current one; returns a message for people.

    A copy is kept beside it under ``.vN`` before anything changes. It can be repeated after an interruption. Raises
    sqlite3.Error.
    """
    notice = None
    if version == 1:
        kept = path.with_name(f"{path.name}.v1")
        if not kept.exists():
            part = path.with_name(f"{path.name}.v1.part")
            part.unlink(missing_ok=True)
            db.execute("VACUUM INTO ?", (str(part),))
            part.replace(kept)
        _from_1(db, path)
        notice = f"the log {path} came from an older version and was brought up to date; it is kept as {kept.name} too"
    with db:
        for statement in filter(str.strip, SCHEMA.split(";")):
            db.execute(statement)
        db.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
    return notice


def _from_1(db: sqlite3.Connection, path: Path) -> None:
    tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    pictures = sqlite3.connect(pictures_of(path))
    try:
        with pictures:
            pictures.executescript(PICTURES)
            for table, text in (("crops", "candidates"), ("stills", "poses")):
                if table in tables:
                    pictures.executemany(f"INSERT INTO {table} (game, seq, jpeg, {text}) VALUES (?, ?, ?, ?)",
                                         db.execute(f"SELECT game, seq, jpeg, {text} FROM {table} ORDER BY rowid"))
    finally:
        pictures.close()
    with db:
        db.execute("BEGIN IMMEDIATE")
        rows = db.execute("SELECT game, seq, body FROM entries").fetchall()
        games = db.execute("SELECT id, created_s, setup, over FROM games").fetchall()
        db.execute("DROP TABLE entries")
        db.execute("DROP TABLE games")
        for statement in filter(str.strip, SCHEMA.split(";")):
            db.execute(statement)
        db.executemany("INSERT INTO entries (game, seq, body, crc) VALUES (?, ?, ?, ?)",
                       [(*row, checksum(*row)) for row in rows])
        db.executemany("INSERT INTO games (id, created_s, setup, over, crc) VALUES (?, ?, ?, ?, ?)",
                       [(*row, checksum(row[0], 0, row[2])) for row in games])
        for table in tables & {"crops", "stills"}:
            db.execute(f"DROP TABLE {table}")
        db.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
    db.execute("VACUUM")
