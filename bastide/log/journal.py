"""The second copy of the log: an append-only file with one line per action, on disk before SQLite has it.

    DIGEST {"n": 7, "after": "DIGEST of line 6", "before": [2, 14], "do": "entries", "game": 2, "first": 15, ...}

Each line carries a digest of its own text and of the previous line (a hash chain), and its number. So an intact line is
verifiable whatever surrounds it, and a missing line is detected. ``before`` is the subject of the previous line (a game
and its last entry), so a gap also shows how many entries were in it. The journal and SQLite are independent: neither
relies on the other.

    journal   the first line: an id, which the database has too, and the version of its tables
    game      a game was begun, with its set-up; it is on the table from then on
    entries   entries of a game, from number ``first`` on, and whether the game is over with them; now and then with
              the set-up repeated, without which they would be meaningless
    table     another game was put on the table

``log.sqlite`` has its journal in ``log.journal``.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Literal, NotRequired, TypedDict

from bastide.files.writing import sync_folder
from bastide.log.schema import SCHEMA_VERSION

_HEAD = re.compile(rb'[0-9a-f]{16} \{"n": \d+, "after": "')
_SPOILED = re.compile(rb'"game": (\d{1,6}), "first": (\d{1,6}), "bodies": \[')
_GUESSED = 16  # entries beyond those that are known
_DIGITS = 16
SETUP_EVERY = 16  # entries
_LONGEST = 8192  # bytes; an action is a few hundred, one with many entries a few thousand


class JournalLine(TypedDict):
    """The first line: the log that it belongs to, and the version of its tables."""

    do: Literal["journal"]
    id: str
    schema: int


class GameLine(TypedDict):
    """A game was begun."""

    do: Literal["game"]
    game: int
    created_s: float
    setup: str


class EntriesLine(TypedDict):
    """Entries of one action, from the number ``first`` on; ``over`` is 1 when the game is over with them. Now and then
    also when the game began, and its set-up."""

    do: Literal["entries"]
    game: int
    first: int
    bodies: Sequence[str]
    over: int
    created_s: NotRequired[float]
    setup: NotRequired[str]


class TableLine(TypedDict):
    """A game was put on the table."""

    do: Literal["table"]
    game: int


Action = GameLine | EntriesLine | TableLine
Line = JournalLine | Action


def journal_of(log: Path) -> Path:
    """The file with a log's second copy."""
    return log.with_name(f"{log.stem}.journal")


def digest(text: bytes) -> str:
    """The digest of a line's text, which includes the previous line's digest."""
    return blake2b(text, digest_size=_DIGITS // 2).hexdigest()


@dataclass(slots=True)
class JournalContent:
    """The readable content of a journal. ``games`` maps a game's number to (created_s, set-up as JSON, over),
    ``entries`` to its bodies by number; ``most`` is the last entry that a game is known to have had, readable or not.

    ``gaps`` counts missing lines, ``spoiled`` says whether anything is corrupt, ``torn`` is the number of
    bytes at the end that are not a complete line: an action interrupted by a power failure.
    """

    id: str = ""
    schema: int = 0  # the version of the tables that the log had then (`bastide.log.schema`)
    games: dict[int, tuple[float, str, int]] = field(default_factory=dict)
    entries: dict[int, dict[int, str]] = field(default_factory=dict)
    most: dict[int, int] = field(default_factory=dict)
    table: int | None = None
    actions: int = 0
    gaps: int = 0
    spoiled: bool = False
    end_lost: bool = False  # an unknown number of lines is missing after the newest
    torn: int = 0
    last: tuple[int, str, tuple[int, int]] = (0, "", (0, 0))  # number, digest and subject of the newest line
    newest: Action | None = None  # what the newest line says was done
    table_sure: bool = False  # no line is missing since it was put there
    table_before: int | None = None  # what the newest line changed
    over_before: int = 0

    def before_newest(self) -> JournalContent:
        """The content before the newest action."""
        out = JournalContent(id=self.id, games=dict(self.games), entries=dict(self.entries), table=self.table_before)
        match self.newest:
            case {"do": "game", "game": int(game)}:
                out.games.pop(game, None)
            case {"do": "entries", "game": int(game), "first": int(first)}:
                out.entries[game] = {seq: body for seq, body in self.entries[game].items() if seq < first}
                if game in out.games:
                    out.games[game] = (*out.games[game][:2], self.over_before)
        return out

    def take(self, line: Mapping[str, object]) -> None:
        """Apply a complete line."""
        self.table_before = self.table
        match line:
            case {"do": "journal", "id": str(name), "schema": int(schema)}:
                self.id, self.schema = name, schema
            case {"do": "game", "game": int(game), "created_s": float(created) | int(created), "setup": str(setup)}:
                over = line.get("over")
                self.games[game] = (created, setup, over if isinstance(over, int) else 0)
                self.most.setdefault(game, 0)
                self.table, self.table_sure = game, True
            case {"do": "entries", "game": int(game), "first": int(first), "bodies": list(bodies), "over": int(over)}:
                match line:
                    case {"created_s": float(created) | int(created), "setup": str(setup)} if game not in self.games:
                        self.games[game] = (created, setup, over)
                self.entries.setdefault(game, {}).update(enumerate(bodies, first))
                if game in self.games:
                    self.over_before = self.games[game][2]
                    self.games[game] = (*self.games[game][:2], over)
                self.most[game] = max(self.most.get(game, 0), first + len(bodies) - 1)
            case {"do": "table", "game": int(game)}:
                self.table, self.table_sure = game, True
            case _:
                return
        self.actions += 1


def read(path: Path) -> JournalContent | None:
    """The readable content of a journal; None if there is no journal. Raises OSError."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    return parsed(data)


def parsed(data: bytes) -> JournalContent:
    """The content of a journal's bytes. Lines count wherever they are, in the order of their numbers."""
    lines: dict[int, tuple[str, Mapping[str, object], int]] = {}
    heads = [m.start() for m in _HEAD.finditer(data)]
    covered = 0
    for at, following in zip(heads, [*heads[1:], len(data)], strict=False):  # no head, no line
        end = data.find(b"\n", at, following)
        end = following if end < 0 else end
        text = data[at + _DIGITS + 1:end]
        name = data[at:at + _DIGITS].decode("ascii")
        if digest(text) != name or data[end:end + 1] != b"\n":
            continue
        try:
            line = json.loads(text)
            number = int(line["n"])
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
        lines[number] = name, line, end + 1
        covered += end + 1 - at
    out = JournalContent()
    place = 0
    for number in sorted(lines):
        name, line, end = lines[number]
        before, earlier, _ = out.last
        missing = number - before - 1
        if missing > 0:
            out.gaps += missing
            out.table_sure = False
            game, seq = _subject(line.get("before"))
            if game:
                out.most[game] = max(out.most.get(game, 0), seq)
        elif line["after"] != earlier:
            out.spoiled = True  # two histories of one log in one file
        out.spoiled |= end < place
        place = end
        out.take(line)
        out.last, out.newest = (number, name, _about(line)), _action(line)
    tail = len(data) - place
    out.torn = tail if covered + tail == len(data) else 0
    lost = covered + tail != len(data) or _was_whole(data[place:], out.last[0] + 1)
    out.end_lost = lost
    if lost:
        _guess(data[place:], out)
    out.table_sure &= not lost
    out.spoiled |= bool(out.gaps) or lost
    return out


def _was_whole(rest: bytes, number: int) -> bool:
    """Whether the text at the end was once one or more complete lines: then they were acknowledged and are damaged. A
    write cut off by a power loss has no line end and is a single line."""
    return rest.endswith(b"\n") and b'"n": %d,' % number in rest[:64] or b"\n" in rest[:-1] or len(rest) > _LONGEST


def _guess(rest: bytes, out: JournalContent) -> None:
    """The number and subject that damaged lines at the end still show; only used to tell how much is missing."""
    for game, first in ((int(m[1]), int(m[2])) for m in _SPOILED.finditer(rest)):
        known = out.most.get(game)
        if known is not None and known < first <= known + _GUESSED:
            out.most[game] = first


def _action(line: Mapping[str, object]) -> Action | None:
    match line:
        case {"do": "game", "game": int(game), "created_s": float(created) | int(created), "setup": str(setup)}:
            return {"do": "game", "game": game, "created_s": created, "setup": setup}
        case {"do": "entries", "game": int(game), "first": int(first), "bodies": list(bodies), "over": int(over)}:
            return {"do": "entries", "game": game, "first": first, "bodies": bodies, "over": over}
        case {"do": "table", "game": int(game)}:
            return {"do": "table", "game": game}
    return None


def _subject(value: object) -> tuple[int, int]:
    match value:
        case [int(game), int(seq)]:
            return game, seq
    return 0, 0


def _about(line: Mapping[str, object] | Line) -> tuple[int, int]:
    match line:
        case {"do": "entries", "game": int(game), "first": int(first), "bodies": list(bodies)}:
            return game, first + len(bodies) - 1
        case {"do": "game" | "table", "game": int(game)}:
            return game, 0
    return 0, 0


class File:
    """The file under a journal, opened to be added to. A disk that fails takes its place in tests. Raises OSError."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)

    def size(self) -> int:
        return os.fstat(self._fd).st_size

    def there(self) -> bool:
        """Whether the file still has its name."""
        try:
            found, mine = self.path.stat(), os.fstat(self._fd)
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == (mine.st_dev, mine.st_ino)

    def write(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._fd, data):]

    def sync(self) -> None:
        os.fdatasync(self._fd)

    def cut(self, size: int) -> None:
        os.ftruncate(self._fd, size)

    def close(self) -> None:
        os.close(self._fd)


class Journal:
    """An open journal. Not thread safe: the log that it belongs to has a lock. Every method raises OSError."""

    def __init__(self, path: Path, known: JournalContent) -> None:
        """``known`` is the content of the file, which is intact except for a torn end."""
        self._file = File(path)
        self._last = known.last
        self._stale: int | None = self._file.size() - known.torn if known.torn else None
        self._before: list[tuple[int, tuple[int, str, tuple[int, int]]]] = []

    @property
    def there(self) -> bool:
        """Whether the file still has its name."""
        return self._file.there()

    @property
    def following(self) -> int:
        """The number of the next line."""
        return self._last[0] + 1

    def add(self, line: Line) -> None:
        """Append one action and fsync it."""
        if self._stale is not None:  # remains of a failed action
            self._file.cut(self._stale)
            self._stale = None
        size, (number, earlier, subject) = self._file.size(), self._last
        data, name = _line(number + 1, earlier, subject, line)
        self._stale = size  # until all of it is there
        self._file.write(data)
        self._file.sync()
        self._stale = None
        self._before = [(size, self._last)]
        self._last = number + 1, name, _about(line)

    def take_back(self) -> None:
        """Remove the newest action, which failed in the database. If that fails too, it is removed before the next one
        is appended."""
        if self._before:
            self._stale, self._last = self._before.pop()
            self._file.cut(self._stale)
            self._file.sync()
            self._stale = None

    def close(self) -> None:
        self._file.close()


def written(path: Path, name: str, games: Mapping[int, tuple[float, str, int]],
            entries: Mapping[int, Mapping[int, str]], table: int | None) -> None:
    """Replace the journal by a new one with the complete contents of a log. Raises OSError."""
    part = path.with_name(f"{path.name}.part")
    number, earlier, subject = 0, "", (0, 0)
    with open(part, "wb") as f:
        def put(line: Line) -> None:
            nonlocal number, earlier, subject
            data, earlier = _line(number + 1, earlier, subject, line)
            number, subject = number + 1, _about(line)
            f.write(data)

        put({"do": "journal", "id": name, "schema": SCHEMA_VERSION})
        for game, (created, setup, over) in sorted(games.items()):
            put({"do": "game", "game": game, "created_s": created, "setup": setup})
            bodies = sorted(entries.get(game, {}).items())
            for seq, body in bodies:
                put({"do": "entries", "game": game, "first": seq, "bodies": [body], "over": over})
            if over and not bodies:
                put({"do": "entries", "game": game, "first": 1, "bodies": [], "over": over})
        if table is not None:
            put({"do": "table", "game": table})
        f.flush()
        os.fsync(f.fileno())
    os.replace(part, path)
    sync_folder(path.parent)


def _line(number: int, earlier: str, subject: tuple[int, int], line: Line) -> tuple[bytes, str]:
    text = json.dumps({"n": number, "after": earlier, "before": list(subject), **line}).encode()
    name = digest(text)
    return name.encode() + b" " + text + b"\n", name
