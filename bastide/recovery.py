"""A damaged log gives way to a new one with what is whole in it, in steps that may be interrupted anywhere.

1. the damaged file and its write-ahead log get a second name, ``NAME.damaged-...``; the first stays for now
2. what is whole is written to ``NAME.part``, synced, and renamed to ``NAME.recovered``
3. the old write-ahead log goes, and ``NAME.recovered`` becomes ``NAME``

A start that finds ``NAME.recovered`` goes on with 3, one that finds less begins again: whoever loses power once often
loses it again.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path

from bastide.pictures import Pictures, free_name
from bastide.salvage import Salvaged, salvage
from bastide.schema import SCHEMA, SCHEMA_VERSION, checksum, pictures_of

UNREADABLE = ("SQLITE_IOERR_READ", "SQLITE_IOERR_SHORT_READ", "SQLITE_IOERR_CORRUPTFS")


def is_damage(error: sqlite3.DatabaseError) -> bool:
    """Whether an error says that the file itself is damaged or cannot be read, and not that the disk refuses now."""
    if isinstance(error, sqlite3.OperationalError):
        return getattr(error, "sqlite_errorname", "") in UNREADABLE
    return True


def recover(path: Path) -> str:
    """Put a new log in the place of a damaged one; what a person should know. Raises OSError or sqlite3.Error."""
    aside = _second_name(path)
    found = salvage(aside)
    _write(found, path.with_name(f"{path.name}.part"), _recovered(path))
    finish(path)
    kept = f"{found.moves} entries of {len(found.games)} games were recovered" if found.games else \
        "nothing in it could be recovered"
    lost = f", {found.lost} more were there but what came before them is gone" if found.lost else ""
    return f"the log {path} was damaged and is kept as {aside.name}; {kept}{lost}."


def finish(path: Path) -> str | None:
    """The last step of a recovery, also of one that was interrupted; None when there is none to finish."""
    new = _recovered(path)
    if not new.exists():
        return None
    db = sqlite3.connect(f"file:{new.resolve().as_posix()}?mode=ro", uri=True)
    try:
        games = frozenset(game for (game,) in db.execute("SELECT id FROM games"))
    except (sqlite3.DatabaseError, UnicodeDecodeError) as e:
        if isinstance(e, sqlite3.Error) and not is_damage(e) and "no such table" not in str(e):
            raise
        os.replace(new, free_name(new))  # the storage has spoiled it meanwhile; what it was made of is kept
        return None
    finally:
        db.close()
    pictures = Pictures(pictures_of(path))
    pictures.open()
    pictures.forget(games)  # another game will have the number
    pictures.close()
    for suffix in ("-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    os.replace(new, path)
    sync_folder(path.parent)
    return f"the log {path} was damaged; what was whole in it was recovered, and the damaged file is kept beside it."


def emptied(path: Path) -> bool:
    """Whether a log is there that has nothing in it and had: SQLite would take it for a new one."""
    return path.is_file() and path.stat().st_size == 0 and \
        (pictures_of(path).is_file() or Path(f"{path}-wal").is_file() and Path(f"{path}-wal").stat().st_size > 0)


def sync_folder(folder: Path) -> None:
    """Have a folder's names on disk. Raises OSError."""
    there = os.open(folder.resolve(), os.O_RDONLY)
    try:
        os.fsync(there)
    finally:
        os.close(there)


def _recovered(path: Path) -> Path:
    return path.with_name(f"{path.name}.recovered")


def _second_name(path: Path) -> Path:
    for there in path.parent.glob(f"{path.name}.damaged-*"):
        if there.samefile(path):  # from a recovery that was interrupted
            return there
    aside = free_name(path)
    for suffix in ("-wal", ""):
        old, new = Path(f"{path}{suffix}"), Path(f"{aside}{suffix}")
        if old.exists():
            try:
                os.link(old, new)
            except OSError:  # a file system without links
                shutil.copyfile(old, new)
                with open(new, "rb+") as f:
                    os.fsync(f.fileno())
    sync_folder(path.parent)
    return aside


def _write(found: Salvaged, part: Path, new: Path) -> None:
    for suffix in ("", "-journal", "-wal", "-shm"):
        Path(f"{part}{suffix}").unlink(missing_ok=True)
    db = sqlite3.connect(part)
    try:
        db.execute("PRAGMA synchronous=FULL")
        with db:
            for statement in filter(str.strip, SCHEMA.split(";")):
                db.execute(statement)
            db.executemany("INSERT INTO games (id, created_s, setup, over, crc) VALUES (?, ?, ?, ?, ?)",
                           [(game, *row, checksum(game, 0, row[1])) for game, row in found.games.items()])
            db.executemany("INSERT INTO entries (game, seq, body, crc) VALUES (?, ?, ?, ?)",
                           [(game, n, body, checksum(game, n, body)) for game, bodies in found.entries.items()
                            for n, body in enumerate(bodies, 1)])
            db.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
    finally:
        db.close()
    os.replace(part, new)
    sync_folder(new.parent)
