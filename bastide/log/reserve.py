"""A ballast file that keeps room for the log: it is deleted when the disk fills up, so that a game can go on and the
program can start. Pictures are sacrificed first."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from contextlib import suppress
from pathlib import Path

NAME = "reserve"
BYTES = 8_000_000  # a write-ahead log of the usual size, and the entries of a hundred games
_FULL = ("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_CANTOPEN")  # on a full disk opening a log fails with any of these


class Reserve:
    """A ballast file of ``size`` bytes beside the log; 0 for none. ``low`` is True while it should exist and
    does not."""

    def __init__(self, folder: Path, size: int) -> None:
        self.path, self._size = folder / NAME, size
        self.low = False

    @property
    def there(self) -> bool:
        """Whether the ballast exists."""
        return bool(self._size) and self.path.is_file()

    def fill(self) -> None:
        """Create the ballast, unless it would fill the disk."""
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
        """Delete the ballast; False when there was none."""
        if not self._size:
            return False
        there = self.there
        with suppress(OSError):
            self.path.unlink(missing_ok=True)
        self.low = True
        return there


def may_be_full(error: BaseException) -> bool:
    """Whether the error may mean that the disk is full."""
    return isinstance(error, sqlite3.Error) and getattr(error, "sqlite_errorname", "").startswith(_FULL) or \
        isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
