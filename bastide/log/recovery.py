"""Replaces a damaged log by a new one with everything intact in it, in steps that may be interrupted anywhere.

1. the damaged file and its write-ahead log get a second name, ``NAME.damaged-...``; the first stays for now
2. what is intact in it and in the journal is written to ``NAME.part``, synced, and renamed to ``NAME.recovered``
3. the old write-ahead log goes, and ``NAME.recovered`` becomes ``NAME``

A start that finds ``NAME.recovered`` continues with 3, otherwise it begins again: power cuts often come in series.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Mapping
from pathlib import Path

from bastide.errors import Failure
from bastide.files.writing import sync_folder
from bastide.log.gaps import placeholder, sentence, unread
from bastide.log.journal import JournalContent, journal_of
from bastide.log.journal import read as journal_told
from bastide.log.pictures import Pictures, free_name
from bastide.log.salvage import Salvaged, merged, salvage
from bastide.log.schema import SCHEMA, SCHEMA_VERSION, checksum, pictures_of
from bastide.log.setup_json import setup_from_json
from scoring.errors import InvalidNotation
from scoring.log import Unread, entry_from_json

END = "what was played last may be missing: please look"
REFUSES = ("SQLITE_IOERR", "SQLITE_FULL", "SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_BUSY", "SQLITE_LOCKED",
           "SQLITE_PERM", "SQLITE_NOMEM", "SQLITE_PROTOCOL", "SQLITE_INTERRUPT", "SQLITE_TOOBIG")
UNREADABLE = ("SQLITE_IOERR_READ", "SQLITE_IOERR_SHORT_READ", "SQLITE_IOERR_CORRUPTFS")


def is_damage(error: BaseException) -> bool:
    """Whether an error means that the file itself is damaged or unreadable, not that the disk is temporarily
    unavailable."""
    if not isinstance(error, sqlite3.OperationalError):
        return isinstance(error, sqlite3.DatabaseError | UnicodeDecodeError)
    name = getattr(error, "sqlite_errorname", "")
    if not name:  # from Python's layer: undecodable text
        return "decode" in str(error)
    return name in UNREADABLE or not name.startswith(REFUSES)


def recover(path: Path, journal: JournalContent | None = None) -> str:
    """Replace a damaged log by a new one with everything intact in it and its journal; returns a message for people.
    Raises OSError or sqlite3.Error."""
    aside = _second_name(path) if path.exists() or Path(f"{path}-wal").exists() else None
    there = salvage(path if aside is None else aside)
    found = merged(there, journal)
    lost = fill(found)
    if journal is None or journal.end_lost or journal.torn or there.actions > journal.last[0]:
        # the number of entries is unknown in both copies
        lost.append(END)
    _write(found, path.with_name(f"{path.name}.part"), _recovered(path))
    finish(path)
    what = f"was damaged and is kept as {aside.name}" if aside else "was gone"
    kept = f"{found.moves} entries of {len(found.games)} games were recovered" if found.games else \
        "nothing in it could be recovered"
    return f"the log {path} {what}; {'; '.join([kept, *lost])}."


def rescue(path: Path, copy: Path) -> None:
    """Make a new log of everything intact in a damaged one and its journal, which are not changed. Raises Failure when
    nothing is, OSError or sqlite3.Error."""
    found = merged(salvage(path), journal_told(journal_of(path)))
    fill(found)
    if not found.games:
        raise Failure(f"{path}: the log in it is damaged and nothing in it could be recovered")
    _write(found, copy.with_name(f"{copy.name}.part"), copy)


def fill(found: Salvaged) -> list[str]:
    """Put a placeholder where each lost entry stood, so that later entries keep their numbers and count; returns a
    sentence per turn."""
    said = []
    for game in [g for g in found.unknown if g not in found.games]:
        said.append(f"game {game} could not be read")
        found.entries.pop(game, None)
        found.most.pop(game, None)
    for game, (_, setup, _) in sorted(found.games.items()):
        bodies = found.entries.setdefault(game, {})
        missing = found.missing(game)
        bodies.update({seq: placeholder(seq) for seq in missing})
        if missing:
            of = f" (game {game})" if len(found.games) > 1 else ""
            said += [f"{sentence(turn, count)}{of}" for turn, count in turns(setup, bodies, frozenset(missing))]
    return said


def turns(setup: str, bodies: Mapping[int, str], missing: frozenset[int]) -> list[tuple[int, int]]:
    """The turns in which the entries ``missing`` of a game cannot be read, each with how many."""
    try:
        entries = [entry_from_json(json.loads(bodies[seq])) for seq in sorted(bodies)]
        return unread(setup_from_json(json.loads(setup)),
                      [e for e in entries if e.seq in missing or not isinstance(e.body, Unread)])
    except (InvalidNotation, ValueError, KeyError, TypeError):
        return [(1, len(missing))]


def finish(path: Path) -> str | None:
    """The last step of a recovery, even of an interrupted one; None when there is none to finish."""
    new = _recovered(path)
    if not new.exists():
        return None
    db = sqlite3.connect(f"file:{new.resolve().as_posix()}?mode=ro", uri=True)
    try:
        games = frozenset(game for (game,) in db.execute("SELECT id FROM games"))
    except (sqlite3.DatabaseError, UnicodeDecodeError) as e:
        if isinstance(e, sqlite3.Error) and not is_damage(e) and "no such table" not in str(e):
            raise
        os.replace(new, free_name(new))  # it was corrupted meanwhile; its sources are kept
        return None
    finally:
        db.close()
    pictures = Pictures(pictures_of(path))
    pictures.open()
    pictures.forget(games)  # its number will be reused
    pictures.close()
    for suffix in ("-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    os.replace(new, path)
    sync_folder(path.parent)
    return f"the log {path} was damaged; what was whole in it was recovered, and the damaged file is kept beside it."


def emptied(path: Path) -> bool:
    """Whether a log file was truncated to nothing: SQLite would take it for a new one."""
    return path.is_file() and path.stat().st_size == 0 and \
        (pictures_of(path).is_file() or Path(f"{path}-wal").is_file() and Path(f"{path}-wal").stat().st_size > 0)


def _recovered(path: Path) -> Path:
    return path.with_name(f"{path.name}.recovered")


def _second_name(path: Path) -> Path:
    for there in path.parent.glob(f"{path.name}.damaged-*"):
        if there.samefile(path):  # from a recovery that was interrupted
            return there
    aside = free_name(path)
    for suffix in ("-wal", ""):
        old, new = Path(f"{path}{suffix}"), Path(f"{aside}{suffix}")
        if old.exists() and (not suffix or old.stat().st_size):
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
                            if game in found.games for n, body in sorted(bodies.items())])
            state = {"journal": found.id, "table": "" if found.table is None else str(found.table)}
            db.executemany("INSERT INTO state (key, value) VALUES (?, ?)", [(k, v) for k, v in state.items() if v])
            db.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
    finally:
        db.close()
    os.replace(part, new)
    sync_folder(new.parent)
