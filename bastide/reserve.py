"""Room kept for the log on a disk that gets full: a file that is nothing but there, and goes when its place is needed.

With it a game goes on, and the program starts, on a card that somebody has filled. Pictures are given up first.
"""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from contextlib import suppress
from pathlib import Path

NAME = "reserve"
BYTES = 8_000_000  # a write-ahead log of the usual size, and the entries of a hundred games
_FULL = ("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_CANTOPEN")  # opening a log takes room too, and says so in many ways


class Reserve:
    """``size`` bytes beside the log; 0 keeps none. ``low`` is whether there is none where there should be one."""

    def __init__(self, folder: Path, size: int) -> None:
        self.path, self._size = folder / NAME, size
        self.low = False

    @property
    def there(self) -> bool:
        """Whether there is room to give."""
        return bool(self._size) and self.path.is_file()

    def fill(self) -> None:
        """Keep the room, unless the disk would be full with it."""
        if not self._size:
            return
        try:
            if self.path.is_file() and self.path.stat().st_size >= self._size:
                return
            self.low = True
            if shutil.disk_usage(self.path.parent).free < 3 * self._size:
                return
            with open(self.path, "wb") as f:
                os.posix_fallocate(f.fileno(), 0, self._size)
            self.low = False
        except OSError:
            self.give()

    def give(self) -> bool:
        """Make room; False when there was none to give."""
        if not self._size:
            return False
        there = self.there
        with suppress(OSError):
            self.path.unlink(missing_ok=True)
        self.low = True
        return there


def may_be_full(error: BaseException) -> bool:
    """Whether an error may be about room."""
    return isinstance(error, sqlite3.Error) and getattr(error, "sqlite_errorname", "").startswith(_FULL) or \
        isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
