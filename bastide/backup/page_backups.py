"""Backup and restore for the page: a file to download, a file to upload, verified before anything is changed.

Files in transfer are in ``DATA/.exchange``, which is not backed up and is emptied at every start. Uploads come in
pieces, each hardly larger than other requests. Restoring replaces everything, so the server stops, the contents of the
data folder are exchanged (`bastide.backup.restore_inside`), and it restarts in the same process.
"""

from __future__ import annotations

import logging
import secrets
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

from bastide.backup.backups import check_backup, write_backup
from bastide.backup.restore_inside import EXCHANGE
from bastide.backup.support import write_support
from bastide.backup.unpacking import Contents
from bastide.errors import Failure, UsageError
from bastide.files.incoming import add_piece
from web.machine_states import BackupState, CheckedBackup, ErrorRow, MadeBackup
from web.protocol import CommandError

MOST_BYTES = 1_000_000_000
KEPT_S = 900.0  # lifetime of a backup for download
_log = logging.getLogger("bastide.page_backups")


class PageBackups:
    """The backups of one data folder (`web.protocol.Backups`). Thread-safe; one operation at a time."""

    def __init__(self, data: Path, *, running: Callable[[], bool], again: Callable[[Path], None],
                 hold: Callable[[bool], None] = lambda held: None,
                 calibrations: tuple[Path, ...] = (), note: str = "", most: int = MOST_BYTES,
                 clock: Callable[[], float] = time.monotonic) -> None:
        """``running`` tells whether a game is being played, ``again`` restarts the server and restores the file,
        ``hold`` makes the session refuse moves and games meanwhile. ``note`` is the outcome of the previous restore."""
        self._folder, self._data, self._calibrations = data / EXCHANGE, data, calibrations
        self._hold = hold
        self._running, self._again, self._most, self._clock = running, again, most, clock
        self._lock = threading.RLock()
        self._busy = ""
        self._made: tuple[str, Contents | None, int, float] | None = None  # without contents: a support file
        self._checked: Contents | None = None
        self._error: ErrorRow | None = {"code": "restore", "text": note} if note else None
        shutil.rmtree(self._folder, ignore_errors=True)

    def state(self) -> BackupState:
        """The backup made, the upload, and whether a running game prevents a restore."""
        with self._lock:
            self._tidy()
            upload = self._upload.stat().st_size if self._upload.exists() else 0
            made = self._made
            return {"busy": self._busy or None, "game_runs": self._running(), "most": self._most, "upload": upload,
                    "error": self._error, "checked": _told(self._checked) if self._checked else None,
                    "file": _file(*made[:3]) if made else None}

    def make(self) -> BackupState:
        """Start writing a backup."""
        return self._do("make", lambda: self._make(self._backup))

    def support(self) -> BackupState:
        """Start writing a support file."""
        return self._do("support", lambda: self._make(self._support))

    def file(self, ticket: str) -> Path | None:
        """The backup that was made under this name, or None."""
        with self._lock:
            self._tidy()
            made = self._made
            return self._folder / f"{made[0]}.zip" if made and secrets.compare_digest(made[0].encode(),
                                                                                      ticket.encode()) else None

    def piece(self, at: int, data: bytes) -> BackupState:
        """The next bytes of an upload; offset 0 starts a new one. Raises CommandError."""
        with self._lock:
            self._free()
            add_piece(self._upload, at, data, most=self._most, what="a backup")
            self._checked = self._error = None
            return self.state()

    def check(self) -> BackupState:
        """Start verifying the upload."""
        with self._lock:
            if not self._upload.exists():
                raise CommandError("nothing_came", "no backup has been uploaded")
            return self._do("check", self._check)

    def restore(self) -> BackupState:
        """Replace all data by the verified backup; the server restarts with it. Raises CommandError."""
        with self._lock:
            self._free()
            if self._checked is None:
                raise CommandError("not_checked", "the backup must be checked first")
            self._hold(True)  # a game begun from here on would be lost
            if self._running():
                self._hold(False)
                raise CommandError("game_runs", "a game is being played: finish it or begin a new one first")
            self._busy = "restore"
            told = self.state()
        self._again(self._upload)
        return told

    def forget(self) -> BackupState:
        """Delete the backup made and the upload."""
        with self._lock:
            self._free()
            shutil.rmtree(self._folder, ignore_errors=True)
            self._made = self._checked = self._error = None
            return self.state()

    # -- internals --------------------------------------------------------------------------------------------------

    @property
    def _upload(self) -> Path:
        return self._folder / "upload.part"

    def _free(self) -> None:
        if self._busy:
            raise CommandError("busy", "something is being made or checked; wait for it")

    def _tidy(self) -> None:
        if self._made and self._clock() - self._made[3] > KEPT_S:
            (self._folder / f"{self._made[0]}.zip").unlink(missing_ok=True)
            self._made = None

    def _do(self, name: str, work: Callable[[], None]) -> BackupState:
        with self._lock:
            self._free()
            self._busy, self._error = name, None
        threading.Thread(target=self._run, args=(name, work), name="backups", daemon=True).start()
        return self.state()

    def _run(self, name: str, work: Callable[[], None]) -> None:
        error: ErrorRow | None = None
        try:
            work()
        except (UsageError, Failure, OSError) as e:
            error = {"code": "bad_backup" if name == "check" else "not_saved", "text": str(e)}
        except Exception as e:  # the next one must not be blocked
            _log.error("%s failed", name, exc_info=e)
            error = {"code": "failed", "text": "the program's log says why"}
        with self._lock:
            self._error, self._busy = error, ""

    def _backup(self, out: Path) -> Contents:
        return write_backup(self._data, out, calibrations=self._calibrations)

    def _support(self, out: Path) -> None:
        write_support(self._data, out)

    def _make(self, write: Callable[[Path], Contents | None]) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        if self._made:
            (self._folder / f"{self._made[0]}.zip").unlink(missing_ok=True)
            self._made = None
        ticket = secrets.token_urlsafe(24)
        out = self._folder / f"{ticket}.zip"
        contents = write(out)
        with self._lock:
            self._made = ticket, contents, out.stat().st_size, self._clock()

    def _check(self) -> None:
        contents = check_backup(self._upload)
        with self._lock:
            self._checked = contents


def _file(ticket: str, contents: Contents | None, size: int) -> MadeBackup:
    about: MadeBackup = {"address": f"/api/backup/{ticket}.zip", "bytes": size}
    return about if contents is None else {**about, **_told(contents)}


def _told(contents: Contents) -> CheckedBackup:
    return {"games": contents.games, "entries": contents.entries, "made_s": contents.made_s}
