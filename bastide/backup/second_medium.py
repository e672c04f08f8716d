"""A backup on a second medium after each game: a USB stick or a mounted share, verified by restoring it.

A thread waits for games to end (or to be replaced by another one). Then it writes a backup to the folder, restores it
into a scratch folder, and compares the result with the games. A backup that fails this is removed; of the others this
table's newest KEPT are kept, in order of creation: a Pi's clock may go back, and other tables may share the folder. A
missing medium is retried until it is there; the outcome, and the names of the backups made, are in
``DATA/second.json``, which the doctor reads.
"""

from __future__ import annotations

import json
import logging
import re
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from itertools import count
from pathlib import Path

from bastide.backup.backups import restore_backup, write_backup
from bastide.backup.unpacking import LOG
from bastide.errors import Failure, UsageError
from bastide.files.second_note import NOTE, Note, read_note
from bastide.files.writing import part_of, write_whole
from bastide.log.examine import contents
from bastide.log.schema import open_read_only
from web.protocol import LiveSession

KEPT = 10  # backups on the medium; 20 to 80 MB each
MOST_NAMES = 20 * KEPT
AGAIN_S = 60.0  # retry interval while the medium is missing
_OURS = re.compile(r"bastide-\d{8}-\d{6}(-\d+)?\.zip")
_log = logging.getLogger("bastide.second")


class SecondMedium:
    """Backups of one data folder into ``folder``, which must lie on another medium. A context manager."""

    def __init__(self, data: Path, folder: Path, session: LiveSession, *, again_s: float = AGAIN_S,
                 device: Callable[[Path], int] = lambda p: p.stat().st_dev,
                 calibrations: tuple[Path, ...] = ()) -> None:
        """``device`` returns the medium of a folder."""
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
        before = read_note(self._data)
        done = before.state if before is not None else ""
        last: tuple[int, int] | None = None
        due_s: float | None = None
        while not self._stop.is_set():
            view = self._views.get(1.0 if due_s is None else max(0.0, min(1.0, due_s - time.monotonic())))
            if view is not None:
                ended = view["phase"] == "over" and f"{view['game']}:{view['version']}" != done
                left = last is not None and view["game"] != last[0] and (
                    last[1] > 0 and f"{last[0]}:{last[1]}" != done  # views are skipped while a backup is made:
                    or view["game"] > last[0] + 1)  # a whole game may have begun and been left meanwhile
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
        before = read_note(self._data) or Note()
        names = [name for name in before.made if _OURS.fullmatch(name)]
        note = Note(folder=str(self._folder), at_s=round(time.time(), 1), made=tuple(names))
        try:
            self._usable()
            out = self._fresh()
            self._keep(replace(before, made=(*names, out.name)))  # so that a partial file left by a power cut is known
            made = write_backup(self._data, out, calibrations=self._calibrations)
            try:
                tried(out, made.games, made.entries)
            except BaseException:
                out.unlink(missing_ok=True)
                raise
            note = replace(note, made=tuple(self._tidied([*names, out.name])), ok=True, file=out.name, games=made.games,
                           entries=made.entries, state=state)
        except (UsageError, Failure, OSError) as e:
            note = replace(note, why=str(e))
            if note.why != before.why:
                _log.warning("no backup on the second medium: %s", e)
        except Exception as e:  # an error of a backup must not affect the game
            note = replace(note, why=f"{type(e).__name__}: {e}")
            _log.error("no backup on the second medium", exc_info=e)
        self._keep(note)
        return note.ok

    def _keep(self, note: Note) -> None:
        try:
            write_whole(self._data / NOTE, json.dumps(asdict(note)).encode())
        except OSError as e:
            _log.warning("%s cannot be written: %s", self._data / NOTE, e)

    def _fresh(self) -> Path:
        """An unused name: another table, or this one before its clock went back, may have used the same second.
        """
        name = f"bastide-{time.strftime('%Y%m%d-%H%M%S')}"
        names = (f"{name}{f'-{n}' if n > 1 else ''}.zip" for n in count(1))
        return next(path for n in names if not (path := self._folder / n).exists())

    def _usable(self) -> None:
        """Raises Failure unless the folder is there, on another medium than the games."""
        if not self._folder.is_dir():
            raise Failure(f"{self._folder}: is not there; plug the stick in, or mount the share")
        if self._device(self._folder) == self._device(self._data):
            raise Failure(f"{self._folder}: is on the same medium as the games; plug the stick in, or mount the share")

    def _tidied(self, names: list[str]) -> list[str]:
        """Remove all but the newest of these backups, and partial files; returns the remaining names. Missing ones may
        be on another stick used in turn."""
        here = [n for n in names if (self._folder / n).exists()]
        for old in here[:-KEPT]:
            (self._folder / old).unlink()
        for name in set(names) - set(here):
            part_of(self._folder / name).unlink(missing_ok=True)
        return [n for n in names if n not in here[:-KEPT]][-MOST_NAMES:]


def tried(file: Path, games: int, entries: int) -> None:
    """Restore a backup into a scratch folder and count its contents. Raises UsageError or Failure."""
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
