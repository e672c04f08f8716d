"""The looks at the game on the table, kept on disk while it is watched, so that a reading can be explained later.

    DATA/looks/GAME-first.jsonl.gz    the first looks
    DATA/looks/GAME-before.jsonl.gz   the newest looks, in two segments of which the older is dropped
    DATA/looks/GAME-newest.jsonl.gz

Each is a file of `reading.record` with players called by their colours, and without pictures. Only the game being
watched has them; their total size is bounded by `Limits`. They are not synced, and a disk error costs only the looks.
"""

from __future__ import annotations

import logging
import math
import os
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bastide.log.setup_json import setup_to_json, unnamed
from reading.record import Recorder
from scoring.events import Setup
from vision.looks import TableLook

FOLDER = "looks"
AGAIN_S = 60.0  # retry interval after a write error, in the looks' time
FIRST, BEFORE, NEWEST = "first", "before", "newest"
_KIND = ".jsonl.gz"
_BLOCK = b"\x1f\x8b\x08\0\0\0\0\0"  # gzip's header
_LARGEST = 20_000_000  # bytes of decompressed text in one file; a corrupt one may have more
_log = logging.getLogger("bastide.looks")


@dataclass(frozen=True, slots=True)
class Limits:
    """Bytes: of a game's first looks, and of each of the two segments with the newest; 190 kB in total. A table in play
    gave 4 kB a minute with 7 tiles on it and 6 with 17 (`benchmarks/evening.py`). ``spare`` in each is more than one
    block of the recorder, whose size is known only when it is written."""

    first: int = 50_000
    piece: int = 70_000
    spare: int = 10_000


LIMITS = Limits()


class KeptLooks:
    """Stores the looks of one table. Thread-safe."""

    def __init__(self, data: Path, limits: Limits = LIMITS) -> None:
        self._folder, self._limits = data / FOLDER, limits
        self._lock = threading.Lock()
        self._file: Recorder | None = None
        self._game, self._again_s, self._told = 0, 0.0, False
        self._about: Callable[[], dict[str, object]] = dict  # the header of a recording

    def begin(self, game: int, setup: Setup, entries: Callable[[], int]) -> Callable[[TableLook], None]:
        """Start watching a game; returns the sink of its looks. ``entries`` returns the number of entries in the game's
        log."""
        played = setup_to_json(unnamed(setup))
        with self._lock:
            self._flush()
            self._file, self._game, self._again_s, self._told = None, game, math.inf, False
            self._about = lambda: {"game": game, "entries": entries(), "setup": played}
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
                for path in self._folder.iterdir():
                    if path.is_file() and not path.name.startswith(f"{game}-"):
                        path.unlink()
                self._file = self._opened(game)
            except OSError as e:
                self._refused(e)

        def take(look: TableLook) -> None:
            self._take(game, look)

        return take

    def close(self) -> None:
        """Flush to disk."""
        with self._lock:
            self._flush()
            self._file, self._game = None, 0

    def _refused(self, e: OSError) -> None:
        """Writing looks has failed; reported once."""
        self._file, self._again_s = None, math.inf
        if not self._told:
            self._told = True
            _log.warning("looks are not being recorded: %s", e.strerror or e)

    def _take(self, game: int, look: TableLook) -> None:
        with self._lock:
            if game != self._game:
                return
            try:
                if self._file is None:
                    self._again_s = min(self._again_s, look.t_s + AGAIN_S)
                    if look.t_s < self._again_s:
                        return
                    self._folder.mkdir(parents=True, exist_ok=True)
                    self._file = self._opened(game)
                self._file(look)
                if self._file.failed is not None:
                    raise self._file.failed
                if not self._room(self._file.path):
                    self._file.flush()
                    self._file = self._opened(game)
            except OSError as e:
                self._refused(e)

    def _flush(self) -> None:
        if self._file is not None:
            with suppress(OSError):
                self._file.flush()

    def _opened(self, game: int) -> Recorder:
        """The file for the next looks."""
        first, newest = self._path(game, FIRST), self._path(game, NEWEST)
        if not newest.exists() and self._room(first):
            return Recorder(first, self._about())
        if not self._room(newest):
            os.replace(newest, self._path(game, BEFORE))
        return Recorder(newest, self._about())

    def _room(self, path: Path) -> bool:
        most = self._limits.first if path.name.endswith(f"-{FIRST}{_KIND}") else self._limits.piece
        return not path.exists() or path.stat().st_size <= most - self._limits.spare

    def _path(self, game: int, part: str) -> Path:
        return self._folder / f"{game}-{part}{_KIND}"


def kept_looks(data: Path, game: int) -> Iterator[tuple[str, bytes]]:
    """Names and texts of a game's stored looks, as far as intact: a block may be half written."""
    for part in (FIRST, BEFORE, NEWEST):
        path = data / FOLDER / f"{game}-{part}{_KIND}"
        if path.is_symlink():
            continue
        try:
            text = _unpacked(path.read_bytes())
        except OSError:
            continue
        if text:
            yield f"{FOLDER}/{part}.jsonl", text


def _unpacked(data: bytes) -> bytes:
    """The contents of the intact blocks of a compressed file, skipping anything between them."""
    out, at = b"", data.find(_BLOCK)
    while at >= 0 and len(out) < _LARGEST:
        block = zlib.decompressobj(wbits=31)
        try:
            text = block.decompress(data[at:], _LARGEST)
        except zlib.error:
            text = b""
        if block.eof:
            out += text
            at = data.find(_BLOCK, len(data) - len(block.unused_data))
        else:
            at = data.find(_BLOCK, at + 1)
    return out
