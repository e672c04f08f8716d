"""What is whole in a damaged log: its pages read one by one, whatever the rest of the file looks like.

SQLite refuses a file as soon as one page is wrong. Here every page that still looks like one (SQLite's file format,
https://www.sqlite.org/fileformat2.html) is read for rows of games and entries, first those of the file, then those of
the write-ahead log up to its last whole transaction. An entry counts when its checksum is right, and a game's entries
count up to the first that is missing: what came after it was played on a board that nobody knows any more.
"""

from __future__ import annotations

import errno
import json
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bastide.schema import checksum
from bastide.setup_json import setup_from_json
from scoring.errors import InvalidNotation
from scoring.log import entry_from_json

PAGE, WAL_HEADER, FRAME_HEADER = 4096, 32, 24
_TABLE_LEAF, _INDEX_LEAF, _INDEX_NODE = 0x0D, 0x0A, 0x02
_SIZES = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 7: 8, 8: 0, 9: 0}
Value = int | float | str | bytes | None


@dataclass(slots=True)
class Salvaged:
    """``games`` maps a number to (created_s, set-up as JSON, over), ``entries`` to bodies in order from entry 1.
    ``lost`` counts entries that were found and had to be left behind."""

    games: dict[int, tuple[float, str, int]] = field(default_factory=dict)
    entries: dict[int, list[str]] = field(default_factory=dict)
    lost: int = 0

    @property
    def moves(self) -> int:
        return sum(len(e) for e in self.entries.values())


def salvage(path: Path) -> Salvaged:
    """The games and entries that can still be read in a log and its ``-wal``. Raises OSError."""
    found: dict[int, dict[int, str]] = {}
    out = Salvaged()
    sure: set[int] = set()  # games whose set-up is as it was written
    for page in _pages(path):
        for row in _rows(page):
            match row:
                case [float(created) | int(created), str(setup), int(over), *crc, int(rowid)] if _is_setup(setup):
                    right = bool(crc) and crc == [checksum(rowid, 0, setup)]
                    if right or rowid not in sure:  # a set-up that has changed is better than none if it can be read
                        out.games[rowid] = (created, setup, int(bool(over)))
                    if right:
                        sure.add(rowid)
                case [int(game), int(seq), str(body), *crc] if seq > 0 and _is_whole(game, seq, body, crc):
                    found.setdefault(game, {})[seq] = body
    for game, bodies in found.items():
        whole: list[str] = []
        while len(whole) + 1 in bodies:
            whole.append(bodies[len(whole) + 1])
        if game in out.games:
            out.entries[game] = whole
            out.lost += len(bodies) - len(whole)
        else:
            out.lost += len(bodies)
    return out


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


def _pages(path: Path) -> Iterator[bytes]:
    """Every page of the file, then those of the write-ahead log that a whole transaction wrote."""
    data = _readable(path)
    for at in range(0, len(data), PAGE):
        yield data[at:at + PAGE]
    wal = Path(f"{path}-wal")
    if not wal.exists():
        return
    log = _readable(wal)
    salts, waiting = log[16:24], []
    for at in range(WAL_HEADER, len(log) - FRAME_HEADER - PAGE + 1, FRAME_HEADER + PAGE):
        if log[at + 8:at + 16] != salts:
            break
        waiting.append(log[at + FRAME_HEADER:at + FRAME_HEADER + PAGE])
        if log[at + 4:at + 8] != b"\0\0\0\0":  # the last page of a transaction
            yield from waiting
            waiting = []


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
    """The rows of a leaf or of an index's inner page; a table's rows end with their row id."""
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
    """The columns of one record. Raises IndexError, ValueError or struct.error when it is no whole record."""
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
