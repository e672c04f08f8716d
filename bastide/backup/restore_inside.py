"""Restores a backup inside the data folder: a service may not write anywhere else.

The new files are staged in ``DATA/.exchange/staged``. Then the old ones move to ``DATA/.before-TIME``, and the new ones
move in. A note on disk records the progress, so that after a power cut `finish`, called first at start, completes or
undoes it: the old games or the backup, never a mixture.
"""

from __future__ import annotations

import os
import shutil
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from bastide.backup.backups import stage
from bastide.backup.external_files import CALIBRATIONS, PLAYERS, TAUGHT
from bastide.backup.external_files import NOTE as NOTED
from bastide.backup.unpacking import SERVICE, Contents
from bastide.errors import Failure
from bastide.files.keys import PRIVATE, KeyFile
from bastide.files.writing import sync_folder, write_whole
from bastide.log.kept_looks import FOLDER as LOOKS

EXCHANGE, STAGED, NOTE = ".exchange", "staged", "moving"
BEFORE = ".before-"
_LOGS = ("log.sqlite", "log.pictures", "log.journal")
_OUT, _IN = "out", "in"
_MOVES = (*PRIVATE, SERVICE, NOTED, LOOKS, "tiles", "calibration", CALIBRATIONS, PLAYERS, TAUGHT)  # beside the log's


def restore_inside(file: Path, data: Path) -> Contents:
    """Replace the contents of a data folder by a backup; the old ones are kept inside it. Existing PINs stay if the
    backup has none. Raises UsageError or Failure; then nothing has changed."""
    staged = data / EXCHANGE / STAGED
    try:
        shutil.rmtree(staged, ignore_errors=True)
        staged.parent.mkdir(parents=True, exist_ok=True)
        contents = stage(file, staged, data)
        before, after = KeyFile(data).get(), KeyFile(staged)
        if after.get().table is None and before.table is not None:
            after.put(replace(after.get(), table=before.table, admin=before.admin, series=before.series + 1))
        _note(data, f"{_OUT} {BEFORE}{time.strftime('%Y%m%d-%H%M%S')}-{os.urandom(2).hex()}")
    except OSError as e:
        raise Failure(f"{data}: cannot be restored ({e.strerror or e}); check the disk and its permissions") from e
    finish(data)
    return contents


def finish(data: Path) -> str | None:
    """Finish an interrupted exchange; returns the folder of the previous games, or None. Raises Failure."""
    note = data / EXCHANGE / NOTE
    try:
        way, _, name = note.read_text("utf-8").partition(" ")
    except (OSError, UnicodeDecodeError):
        return None
    if way not in (_OUT, _IN) or not name.startswith(BEFORE) or "/" in name:
        note.unlink(missing_ok=True)
        return None
    aside, staged = data / name, data / EXCHANGE / STAGED
    try:
        if way == _OUT:
            aside.mkdir(exist_ok=True)
            ours = {p.name for p in staged.iterdir()} | set(_MOVES)  # other files are not ours
            for path in [p for p in data.iterdir() if p.name in ours or p.name.startswith(_LOGS)]:
                os.replace(path, aside / path.name)
            sync_folder(aside)
            sync_folder(data)
            _note(data, f"{_IN} {name}")
        for path in list(staged.iterdir()) if staged.is_dir() else []:
            os.replace(path, data / path.name)
        sync_folder(data)
        note.unlink()
        with suppress(OSError):
            staged.rmdir()
    except OSError as e:
        why = f"{data}: a restore could not be finished ({e.strerror or e}); check its rights and start again"
        raise Failure(why) from e
    return name


def _note(data: Path, text: str) -> None:
    """Record the progress on disk."""
    note = data / EXCHANGE / NOTE
    write_whole(note, text.encode(), durable=True)
    sync_folder(data)
