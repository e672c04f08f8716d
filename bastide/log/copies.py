"""The log's two copies: an action of the journal carried out in the database, and whether both hold the same."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from bastide.log.examine import examine
from bastide.log.journal import Action, JournalContent, journal_of, read
from bastide.log.salvage import Salvaged, merged, salvage
from bastide.log.schema import checksum


def put(db: sqlite3.Connection, line: Action, number: int) -> None:
    """Apply an action of the journal to the database; ``number`` is that of its line."""
    game = line["game"]
    remember(db, "actions", str(number))
    if line["do"] == "entries":
        db.executemany("INSERT INTO entries (game, seq, body, crc) VALUES (?, ?, ?, ?)",
                       [(game, seq, body, checksum(game, seq, body))
                        for seq, body in enumerate(line["bodies"], line["first"])])
        db.execute("UPDATE games SET over = ? WHERE id = ? AND over != ?", (line["over"], game, line["over"]))
        return
    if line["do"] == "game":
        text = line["setup"]
        db.execute("INSERT INTO games (id, created_s, setup, crc) VALUES (?, ?, ?, ?)",
                   (game, line["created_s"], text, checksum(game, 0, text)))
    remember(db, "table", str(game))


def remember(db: sqlite3.Connection, key: str, value: str) -> None:
    """Store a value of the log's state."""
    db.execute("INSERT OR REPLACE INTO state (key, value) VALUES (?, ?)", (key, value))


def lags(found: Salvaged, told: JournalContent) -> bool:
    """Whether the journal is ahead of the database by more than the one action that a power cut may have
    interrupted."""
    return not same(merged(found, told), found) and not (
        not told.spoiled and same(found, told, but_newest=True))


def lost(path: Path, found: Salvaged, told: JournalContent | None) -> bool:
    """Whether the file holds whole entries that SQLite does not see (such as those behind a damaged part of the
    write-ahead log), or entries are known to be missing from both copies. Checked where the journal is damaged too."""
    if told is not None and not told.spoiled or told is None and not found.id:
        return False
    there = salvage(path)
    return any(seq not in found.entries.get(game, {}) for game, bodies in there.entries.items() for seq in bodies) or \
        told is not None and any(merged(found, told).missing(game) for game in found.games)


def same(found: Salvaged, told: Salvaged | JournalContent, *, but_newest: bool = False) -> bool:
    """Whether both copies hold the same games, entries and game on the table; with ``but_newest`` ignoring the
    journal's newest action."""
    if but_newest:
        assert isinstance(told, JournalContent)
        told = told.before_newest()
    return found.games == told.games and (found.table == told.table or found.table is None) and \
        all(found.entries.get(g, {}) == told.entries.get(g, {}) for g in {*found.games, *found.entries, *told.entries})


def difference(path: Path) -> str | None:
    """How a log and its journal differ, also while they are being written; None when both are whole and equal. Raises
    sqlite3.Error, UnicodeDecodeError or OSError."""
    for _ in range(3):
        told = read(journal_of(path))
        found = examine(path, told)
        again = read(journal_of(path))
        if found is None or again is None:
            return None  # of an earlier version
        if again.spoiled:
            return "its second copy has changed"
        if told is not None and (same(found, told) or same(found, told, but_newest=True) or same(found, again)):
            return None
        if told is not None and told.last == again.last:
            break
    return "its second copy says something else"
