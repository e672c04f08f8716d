"""Integrity check of a log without changing it: header, schema, every page and every checksum."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from bastide.errors import Failure
from bastide.log.journal import JournalContent
from bastide.log.salvage import Salvaged, as_number
from bastide.log.schema import SCHEMA, SCHEMA_VERSION, checksum

_STATE = "state"
ALL_TABLES = frozenset({"games", "entries", "state", "crops", "stills"})  # of every version, and those of the pictures
# Of SQLite's file header (https://www.sqlite.org/fileformat2.html#the_database_header): offsets with the bytes of every
# file of ours. A changed one makes SQLite take the file for another kind, or refuse to write it.
_HEADER = ((0, b"SQLite format 3\0"), (16, b"\x10\0"), (20, b"\0\x40\x20\x20"), (44, b"\0\0\0\4"), (52, bytes(4)),
           (56, b"\0\0\0\1"), (64, bytes(8)), (72, bytes(20)))
_LATER = (44, 56)  # zeros until there is a table
_MODES = (b"\1\1", b"\2\2")


class Damaged(sqlite3.DatabaseError):
    """A fault of a log, in a few words."""


def examine(path: Path, journal: JournalContent | None) -> Salvaged | None:
    """The contents of a log of the current version; None if there is none yet, or one of an earlier version.

    Raises Failure for a log of a newer version, sqlite3.Error or UnicodeDecodeError for one that is damaged or cannot
    be read (`bastide.log.recovery.is_damage` distinguishes them).
    """
    if not path.is_file() or path.stat().st_size == 0:
        return None
    hot = Path(f"{path}-journal").exists()  # SQLite has to recover first, and may write
    with open(path, "rb") as f:
        head = f.read(100)
    wal = Path(f"{path}-wal")
    young = wal.exists() and wal.stat().st_size > 0  # a new log may still be there entirely
    if not hot and (head[18:20] not in _MODES or any(
            head[at:at + len(known)] not in (known, bytes(len(known)) if young and at in _LATER else known)
            for at, known in _HEADER)):
        raise Damaged("its header has changed")
    address = path.resolve().as_posix().replace("%", "%25").replace("?", "%3f")
    db = sqlite3.connect(f"file:{address}?mode={'rw' if hot else 'ro'}", uri=True)
    try:
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version > SCHEMA_VERSION and (journal is None or journal.schema > SCHEMA_VERSION):
            raise Failure(f"{path} was written by a newer version of bastide; update bastide to open it")
        if journal is None and version < SCHEMA_VERSION:
            return None
        if version != SCHEMA_VERSION:
            raise Damaged("its version has changed")
        return contents(db)
    finally:
        db.close()


def contents(db: sqlite3.Connection) -> Salvaged:
    """The contents of an open log of the current version. Raises Damaged unless every page and every entry is
    intact."""
    before, db.text_factory = db.text_factory, bytes
    try:
        _tables(db)
        told = db.execute("PRAGMA quick_check(1)").fetchone()[0]
        if told != b"ok":
            raise Damaged(told.decode("utf-8", "replace"))
        out = Salvaged()
        for game, created, setup, over, crc in db.execute("SELECT id, created_s, setup, over, crc FROM games"):
            if crc != checksum(game, 0, text := _text(setup)):
                raise Damaged(f"the set-up of game {game} has changed")
            out.games[game] = created, text, over
        last = (0, 0)
        for game, seq, body, crc in db.execute("SELECT game, seq, body, crc FROM entries ORDER BY game, seq"):
            if crc != checksum(game, seq, text := _text(body)):
                raise Damaged(f"entry {seq} of game {game} has changed")
            if seq != (last[1] + 1 if game == last[0] else 1) or game not in out.games:
                raise Damaged(f"an entry of game {game} is missing before {seq}")
            out.entries.setdefault(game, {})[seq] = text
            last = game, seq
        if db.execute("SELECT count(*) FROM sqlite_master WHERE name = ?", (_STATE,)).fetchone()[0]:
            state = {_text(key): _text(value) for key, value in db.execute("SELECT key, value FROM state")}
            out.id = state.get("journal", "")
            out.table = as_number(state.get("table", ""))
            out.actions = as_number(state.get("actions", "")) or 0
        return out
    finally:
        db.text_factory = before


def damage(db: sqlite3.Connection) -> str | None:
    """The fault of an open log of the current version; None when every page and every entry is intact."""
    try:
        contents(db)
    except Damaged as e:
        return str(e)
    return None


def foreign(db: sqlite3.Connection, allowed: frozenset[str] = frozenset()) -> str | None:
    """An object in a database that our logs do not have, such as a trigger: its kind and name. ``allowed`` are
    tables."""
    for kind, name in db.execute("SELECT type, name FROM sqlite_master"):
        if (kind, name) not in _expected() and not (kind == "table" and name in allowed) and \
                not (kind == "index" and name.startswith("sqlite_autoindex_")):
            return f"{kind} {name}"
    return None


def _tables(db: sqlite3.Connection) -> None:
    """Raises Damaged unless the log has its own tables and nothing else."""
    known = _expected()
    there = {(_text(kind), _text(name)): _text(sql or b"")
             for kind, name, sql in db.execute("SELECT type, name, sql FROM sqlite_master")}
    optional = {("table", _STATE)}
    if there.keys() - known.keys() or known.keys() - there.keys() - optional or \
            any(known[key] != sql for key, sql in there.items()):
        raise Damaged("its tables have changed")


def _expected() -> dict[tuple[str, str], str]:
    """The expected schema in SQLite: by kind and name the SQL statement."""
    db = sqlite3.connect(":memory:")
    try:
        db.executescript(SCHEMA)
        return {(kind, name): sql or "" for kind, name, sql in db.execute("SELECT type, name, sql FROM sqlite_master")}
    finally:
        db.close()


def _text(value: object) -> str:
    """A text value from SQLite. Raises Damaged for any other type."""
    try:
        return value.decode("utf-8") if isinstance(value, bytes) else str(value)
    except UnicodeDecodeError:
        raise Damaged("a text in it is corrupt") from None
