"""Reads what is intact in a damaged log, page by page, whatever the rest of the file looks like.

SQLite rejects a file as soon as one page is damaged. Here every page that still parses (SQLite's file format,
https://www.sqlite.org/fileformat2.html) is searched for rows of games and entries, first those of the file, then those
of the write-ahead log, in any order. An entry counts if its checksum is right, wherever it is found; it carries its own
number. `merged` adds what the journal (`bastide.log.journal`) has.
"""

from __future__ import annotations

import errno
import json
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bastide.log.gaps import placeholder
from bastide.log.journal import JournalContent
from bastide.log.schema import checksum
from bastide.log.setup_json import setup_from_json
from scoring.errors import InvalidNotation
from scoring.log import entry_from_json

PAGE, WAL_HEADER, FRAME_HEADER = 4096, 32, 24
_TABLE_LEAF, _INDEX_LEAF, _INDEX_NODE = 0x0D, 0x0A, 0x02
_SIZES = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 7: 8, 8: 0, 9: 0}
_DIGITS = 18  # the most that always fit into SQLite's integers
Value = int | float | str | bytes | None


@dataclass(slots=True)
class Salvaged:
    """``games`` maps a number to (created_s, set-up as JSON, over), ``entries`` to the bodies by their number, ``most``
    to the last entry that a game is known to have had. ``table`` is the game on the table, ``id`` the log's own,
    ``actions`` the number of the journal's line that was carried out last.
    ``maybe`` are whole entries of transactions that may not have ended: they count only where one is missing.
    """

    games: dict[int, tuple[float, str, int]] = field(default_factory=dict)
    entries: dict[int, dict[int, str]] = field(default_factory=dict)
    maybe: dict[int, dict[int, str]] = field(default_factory=dict)
    most: dict[int, int] = field(default_factory=dict)
    table: int | None = None
    id: str = ""
    actions: int = 0

    @property
    def moves(self) -> int:
        return sum(len(e) for e in self.entries.values())

    @property
    def unknown(self) -> tuple[int, ...]:
        """Games with entries whose set-up is missing."""
        return tuple(sorted({g for g in (*self.entries, *self.most) if g not in self.games and self.most_of(g)}))

    def most_of(self, game: int) -> int:
        """The last entry that a game is known to have had."""
        return int(max([self.most.get(game, 0), *self.entries.get(game, ())]))

    def missing(self, game: int) -> list[int]:
        """The missing entries of a game."""
        there = self.entries.get(game, {})
        return [seq for seq in range(1, self.most_of(game) + 1) if seq not in there]


def merged(one: Salvaged, other: JournalContent | None) -> Salvaged:
    """The union of the database and the journal. Where they differ the journal counts, which is written first, unless
    it only says that the entry was lost. Its statements about a game's end and the table count as long as nothing after
    them is missing from it."""
    other = other or JournalContent()
    newer = other.table_sure and other.last[0] >= one.actions
    table = other.table if other.table is not None and (newer or one.table is None) else one.table
    out = Salvaged(games={**one.games, **other.games}, table=table, id=other.id or one.id,
                   most={g: max(one.most_of(g), other.most.get(g, 0))
                         for g in {*one.games, *one.entries, *other.most}})
    for game in one.games.keys() & other.games.keys():
        if max(one.entries.get(game, ()), default=0) > max(other.entries.get(game, ()), default=0):
            out.games[game] = (*out.games[game][:2], one.games[game][2])
    for game in {*one.entries, *other.entries}:
        here, there = one.entries.get(game, {}), other.entries.get(game, {})
        out.entries[game] = {seq: there[seq] if seq in there and (seq not in here or there[seq] != placeholder(seq))
                             else here[seq] for seq in sorted({*here, *there})}
    for game, bodies in one.maybe.items():
        for seq in out.missing(game):
            if seq in bodies:
                out.entries.setdefault(game, {})[seq] = bodies[seq]
    return out


def salvage(path: Path) -> Salvaged:
    """The games and entries that can still be read in a log and its ``-wal``. Raises OSError."""
    out = Salvaged()
    sure: set[int] = set()  # games with an intact set-up
    for page, sound in _pages(path):
        for row in _rows(page):
            match row:
                case [int(game), int(seq), str(body), *crc] if seq > 0 and _is_whole(game, seq, body, crc):
                    (out.entries if sound else out.maybe).setdefault(game, {})[seq] = body
                case _ if not sound:
                    continue
                case [float(created) | int(created), str(setup), int(over), *crc, int(rowid)] if _is_setup(setup):
                    right = bool(crc) and crc == [checksum(rowid, 0, setup)]
                    if right or rowid not in sure:  # a corrupt set-up is better than none if it can be read
                        out.games[rowid] = (created, setup, int(bool(over)))
                    if right:
                        sure.add(rowid)
                case ["table", str(value)] if (number := as_number(value)) is not None:
                    out.table = number
                case ["journal", str(value)]:
                    out.id = value
                case ["actions", str(value)]:
                    out.actions = max(out.actions, as_number(value) or 0)
    return out


def as_number(text: str) -> int | None:
    """A number of the log's state; None if it is none, or longer than SQLite's integers."""
    return int(text) if text.isdecimal() and len(text) <= _DIGITS else None


def _is_setup(text: str) -> bool:
    try:
        return bool(setup_from_json(json.loads(text)).players)
    except (InvalidNotation, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return False


def _is_whole(game: int, seq: int, body: str, crc: list[Value]) -> bool:
    """An entry with the right checksum; one of a version without checksums when it can be understood."""
    if crc:
        return crc == [checksum(game, seq, body)]
    try:
        return entry_from_json(json.loads(body)).seq == seq
    except (InvalidNotation, ValueError, KeyError, TypeError, RecursionError):
        return False


def _pages(path: Path) -> Iterator[tuple[bytes, bool]]:
    """Every page of the file, then those of the write-ahead log; each with whether a complete transaction wrote it.
    Others may contain rolled-back or older data."""
    data = _readable(path) if path.exists() else b""
    for at in range(0, len(data), PAGE):
        yield data[at:at + PAGE], True
    wal = Path(f"{path}-wal")
    if not wal.exists():
        return
    log = _readable(wal)
    frames = [(log[at:at + FRAME_HEADER], log[at + FRAME_HEADER:at + FRAME_HEADER + PAGE])
              for at in range(WAL_HEADER, len(log) - FRAME_HEADER - PAGE + 1, FRAME_HEADER + PAGE)]
    salts = [head[8:16] for head, _ in frames]
    valid = log[16:24] if log[16:24] in salts else max(salts, key=salts.count, default=b"")  # the header may be corrupt
    own = [n for n, salt in enumerate(salts) if salt == valid]
    last = max((n for n in own if frames[n][0][4:8] != bytes(4)), default=-1)  # the last page of a transaction
    for n, (_, page) in enumerate(frames):
        yield page, salts[n] == valid and n <= last


def _readable(path: Path) -> bytes:
    """A file with zeros where the disk cannot read it. Raises OSError when it cannot be opened."""
    out = bytearray()
    with open(path, "rb", buffering=0) as f:
        size = os.fstat(f.fileno()).st_size
        for at in range(0, size, PAGE):
            try:
                out += os.pread(f.fileno(), min(PAGE, size - at), at)
            except OSError as e:
                if e.errno != errno.EIO:
                    raise
            out.extend(bytes(min(size, at + PAGE) - len(out)))
    return bytes(out)


def _rows(page: bytes) -> Iterator[list[Value]]:
    """The rows of a table leaf or index interior page; a table's rows end with their row id."""
    head = 100 if page[:16] == b"SQLite format 3\0" else 0
    if len(page) < head + 12 or page[head] not in (_TABLE_LEAF, _INDEX_LEAF, _INDEX_NODE):
        return
    kind = page[head]
    count = struct.unpack_from(">H", page, head + 3)[0]
    first = head + (12 if kind == _INDEX_NODE else 8)
    for n in range(min(count, (len(page) - first) // 2)):
        try:
            at = struct.unpack_from(">H", page, first + 2 * n)[0] + (4 if kind == _INDEX_NODE else 0)
            size, at = _varint(page, at)
            rowid = None
            if kind == _TABLE_LEAF:
                rowid, at = _varint(page, at)
            values = _record(page[at:at + size])
            if rowid is not None:  # the id's own column is stored as NULL
                values = [*values[1:], rowid] if values and values[0] is None else []
            yield values
        except (IndexError, ValueError, struct.error):
            continue


def _record(data: bytes) -> list[Value]:
    """The columns of one record. Raises IndexError, ValueError or struct.error for an incomplete record."""
    end, at = _varint(data, 0)
    if end > len(data) or end > 64:
        raise ValueError("no record of ours")
    kinds = []
    while at < end:
        kind, at = _varint(data, at)
        kinds.append(kind)
    out: list[Value] = []
    for kind in kinds:
        size = _SIZES[kind] if kind in _SIZES else (kind - 12) // 2
        part = data[at:at + size]
        if kind in (10, 11) or len(part) != size:
            raise ValueError("cut off, or continued on another page")
        at += size
        if kind == 0:
            out.append(None)
        elif kind == 7:
            out.append(float(struct.unpack(">d", part)[0]))
        elif kind in (8, 9):
            out.append(kind - 8)
        elif kind < 7:
            out.append(int.from_bytes(part, "big", signed=True))
        else:
            out.append(part.decode("utf-8") if kind % 2 else part)
    return out


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for n in range(9):
        byte = data[at + n]
        if n == 8:
            return value << 8 | byte, at + 9
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + n + 1
    raise ValueError("no number")
