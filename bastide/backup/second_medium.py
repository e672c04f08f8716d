"""A backup on a second medium after each game: a USB stick or a mounted share, verified by restoring it.

A thread waits for games to end (or to give way to another one). Then it writes a backup to the folder, restores it into
a scratch folder, and compares the result with the games. The newest KEPT backups are kept. A missing medium is retried
until it is there; the outcome is in ``DATA/second.json``, which the doctor reads.
"""

from __future__ import annotations

import json
import logging
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bastide.backup.backups import restore_backup, write_backup
from bastide.backup.unpacking import LOG
from bastide.errors import Failure, UsageError
from bastide.files.second_note import NOTE, read_note
from bastide.files.writing import write_whole
from bastide.log.examine import contents
from bastide.log.schema import open_read_only
from web.protocol import LiveSession

KEPT = 10  # backups on the medium; 20 to 80 MB each
AGAIN_S = 60.0  # between two tries while the medium is not there
_PREFIX = "bastide-"
_log = logging.getLogger("bastide.second")


class SecondMedium:
    """Backups of one data folder into ``folder``, which must lie on another medium. A context manager."""

    def __init__(self, data: Path, folder: Path, session: LiveSession, *, again_s: float = AGAIN_S,
                 device: Callable[[Path], int] = lambda p: p.stat().st_dev,
                 calibrations: tuple[Path, ...] = ()) -> None:
        """``device`` tells on which medium a folder lies."""
        self._data, self._folder, self._session = data, folder, session
        self._again_s, self._device, self._calibrations = again_s, device, calibrations
        self._views = session.subscribe()
        self._stop, self.tried = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="second", daemon=True)

    def __enter__(self) -> SecondMedium:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._stop.set()
        self._views.close()
        self._thread.join(10.0)

    def _run(self) -> None:
        done = read_note(self._data).get("state", "")
        last: tuple[int, int] | None = None
        due_s: float | None = None
        while not self._stop.is_set():
            view = self._views.get(1.0 if due_s is None else max(0.0, min(1.0, due_s - time.monotonic())))
            if view is not None:
                ended = view["phase"] == "over" and f"{view['game']}:{view['version']}" != done
                left = last is not None and view["game"] != last[0] and last[1] > 0 and f"{last[0]}:{last[1]}" != done
                if (ended or left) and due_s is None:
                    due_s = time.monotonic()
                last = view["game"], view["version"]
            if due_s is not None and time.monotonic() >= due_s and last is not None:
                done_now = f"{last[0]}:{last[1]}"
                if self._backed_up(done_now):
                    done, due_s = done_now, None
                else:
                    due_s = time.monotonic() + self._again_s
                self.tried.set()

    def _backed_up(self, state: str) -> bool:
        note: dict[str, Any] = {"folder": str(self._folder), "at_s": round(time.time(), 1)}
        try:
            out = self._folder / f"{_PREFIX}{time.strftime('%Y%m%d-%H%M%S')}.zip"
            self._usable()
            made = write_backup(self._data, out, calibrations=self._calibrations)
            tried(out, made.games, made.entries)
            self._tidy()
            note |= {"ok": True, "file": out.name, "games": made.games, "entries": made.entries, "state": state}
        except (UsageError, Failure, OSError) as e:
            note |= {"ok": False, "why": str(e)}
            if note["why"] != read_note(self._data).get("why"):
                _log.warning("no backup on the second medium: %s", e)
        except Exception as e:  # the game goes on whatever happens to its copies
            note |= {"ok": False, "why": f"{type(e).__name__}: {e}"}
            _log.error("no backup on the second medium", exc_info=e)
        try:
            write_whole(self._data / NOTE, json.dumps(note).encode())
        except OSError as e:
            _log.warning("%s cannot be written: %s", self._data / NOTE, e)
        return bool(note["ok"])

    def _usable(self) -> None:
        """Raises Failure unless the folder is there, on another medium than the games."""
        if not self._folder.is_dir():
            raise Failure(f"{self._folder}: is not there; plug the stick in, or mount the share")
        if self._device(self._folder) == self._device(self._data):
            raise Failure(f"{self._folder}: is on the same medium as the games; plug the stick in, or mount the share")

    def _tidy(self) -> None:
        """Keep the newest. Whatever else lies there is somebody's own."""
        ours = sorted(p for p in self._folder.glob(f"{_PREFIX}[0-9]*-[0-9]*.zip") if p.is_file())
        for old in ours[:-KEPT]:
            old.unlink()


def tried(file: Path, games: int, entries: int) -> None:
    """Restore a backup into a scratch folder and count what came back. Raises UsageError or Failure."""
    with tempfile.TemporaryDirectory(prefix="bastide-tried-") as scratch:
        into = Path(scratch) / "data"
        restore_backup(file, into)
        db = open_read_only(into / LOG)
        try:
            found = contents(db)
        finally:
            db.close()
        if (len(found.games), found.moves) != (games, entries):
            raise Failure(f"{file}: {found.moves} of {entries} entries came back when it was restored in a trial")
