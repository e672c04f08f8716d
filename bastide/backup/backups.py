"""Everything in one file: games, pictures, learned tiles, calibrations, settings; and back again, checked.

    manifest.json   {"format": "bastide-backup", "version": 1, "made_s", "bastide", "files": {name: {"size", "sha256"}}}
    data/...        contents of the data folder: the log and its pictures as database copies, tiles/, *.json
    data/service.conf     the service's options without passwords
    data/calibrations/, data/taught/, data/players/   what the table used from other folders (`external_files`)
    pins.json       the PINs as scrypt hashes; session keys are not included and generated again

A backup can be made while the table is watched. It is read back and verified before it gets its final name, and
verified again before anything of it is restored. A restore builds a complete folder beside the old one; then the two
are exchanged atomically.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import json
import logging
import os
import shutil
import sqlite3
import tempfile
import time
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from bastide import __version__
from bastide.backup.external_files import files, used
from bastide.backup.unpacking import FORMAT, KEPT, LOG, SERVICE, VERSION, Contents, pins_in, unpack
from bastide.errors import Failure, UsageError
from bastide.files.keys import NAME as SECRETS
from bastide.files.keys import PRIVATE, KeyFile
from bastide.files.logs import clean
from bastide.files.writing import replacing, sync_folder
from bastide.log.examine import damage
from bastide.log.recovery import is_damage, rescue
from bastide.log.schema import SCHEMA_VERSION, pictures_of
from bastide.log.store import Store
from bastide.settings.page_settings import NAME as PAGE_SETTINGS
from bastide.settings.page_settings import without_passwords

_log = logging.getLogger("bastide.backup")
OURS = (LOG, SECRETS, "logs", "tiles", "reserve", "used.json", SERVICE)
SETTINGS = Path("/etc/bastide/bastide.conf")
LEFT_S = 3600.0
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2  # linux/fcntl.h, linux/fs.h


def write_backup(data: Path, out: Path, *, settings: Path = SETTINGS, calibrations: Sequence[Path] = (),
                 tiles: Sequence[Path] = ()) -> Contents:
    """Everything in a data folder into one file, with the service's ``settings`` (without passwords) and what the table
    used from other folders or the caller names. Raises UsageError or Failure; then there is no file of that name.
    """
    if not (data / LOG).is_file():
        raise UsageError(f"{data}: there is no log in it to back up; --data says where bastide keeps its games")
    if out.exists() and not out.is_file() or not out.parent.is_dir():  # renaming would replace a device by a file
        raise UsageError(f"{out}: must be a file in a folder that exists")
    try:
        with replacing(out, durable=True) as part:
            with tempfile.TemporaryDirectory(prefix="bastide-backup-") as scratch, \
                    zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as archive:
                listed: dict[str, dict[str, Any]] = {}
                elsewhere = _from_elsewhere(data, settings, calibrations, tiles, Path(scratch))
                for name, path in {**dict(_sources(data, Path(scratch))), **dict(elsewhere)}.items():
                    archive.write(path, name)
                    listed[name] = {"size": path.stat().st_size, "sha256": _digest(path)}
                manifest = {"format": FORMAT, "version": VERSION, "made_s": round(time.time(), 1),
                            "bastide": __version__, "files": listed}
                archive.writestr("manifest.json", json.dumps(manifest, indent=1))
            contents = check_backup(part)
    except OSError as e:
        raise Failure(f"{out}: the backup cannot be written ({e.strerror or e}); free some space or choose another "
                      "place with --out") from e
    return contents


def check_backup(file: Path) -> Contents:
    """Read a complete backup and verify its checksums. Raises UsageError naming the fault."""
    with tempfile.TemporaryDirectory(prefix="bastide-check-") as scratch:
        return unpack(file, Path(scratch))


def restore_backup(file: Path, data: Path, *, swap: bool = False) -> Contents:
    """Restore a backup to a data folder. One that contains games is replaced with ``swap`` only, and kept under another
    name.

    Raises UsageError or Failure; then the folder is as it was.
    """
    data = data.resolve()  # a symbolic link to another disk stays
    if data.is_dir() and (other := _strange(data)):
        raise UsageError(f"{data}: is a folder with other things in it ({other[:60]}); --data says where the games go")
    try:
        data.parent.mkdir(parents=True, exist_ok=True)
        _swept(data)
        with tempfile.TemporaryDirectory(prefix=f".{data.name}.restore-", dir=data.parent) as scratch:
            staged = Path(scratch) / "data"
            contents = stage(file, staged, data)
            _swap(staged, data, swap)
    except OSError as e:
        if e.errno == errno.EBUSY:
            raise Failure(f"{data}: is where a disk is mounted, which cannot change its name; restore into a folder on "
                          "it and have --data say so") from e
        raise Failure(f"{data}: cannot be restored ({e.strerror or e}); check the disk and its permissions") from e
    return contents


def _swept(data: Path) -> None:
    """Remove leftovers of restores that lost power, unless one may still be running."""
    for left in data.parent.glob(f".{data.name}.restore-*"):
        with suppress(OSError):
            if left.is_dir() and not left.is_symlink() and time.time() - left.stat().st_mtime > LEFT_S:
                shutil.rmtree(left, ignore_errors=True)


def _strange(data: Path) -> str | None:
    """A file in the folder that is not part of a data folder; None for an empty folder or a data folder."""
    there = sorted(p.name for p in data.iterdir() if not p.name.startswith("."))
    return None if not there or any(n in OURS for n in there) else there[0]


def stage(file: Path, staged: Path, data: Path) -> Contents:
    """Make a new folder of a backup, whole and on disk, to take the place of ``data``. Raises UsageError or OSError."""
    staged.mkdir()
    contents = unpack(file, staged)
    pins = staged / "pins.json"
    kept = pins_in(file, pins) if pins.exists() else None
    pins.unlink(missing_ok=True)
    for name in PRIVATE:  # backups of earlier versions have some of it
        (staged / name).unlink(missing_ok=True)
    with Store(staged / LOG):  # migrates an older version, and fails now if it is unusable
        pass
    (staged / f"{LOG}.lock").unlink(missing_ok=True)
    if kept is not None:
        keys = KeyFile(staged)
        keys.put(replace(keys.get(), **kept))
    _like(data if data.exists() else data.parent, staged)
    _synced(staged)
    return contents


def _sources(data: Path, scratch: Path) -> list[tuple[str, Path]]:
    """Name in the backup and file, for all its contents."""
    out = []
    for source in (data / LOG, pictures_of(data / LOG)):
        if source.exists():
            copy = scratch / source.name
            if not copy_database(source, copy):
                continue
            if source.name == LOG:
                _whole_or_what_is(source, copy)
            out.append((f"data/{source.name}", copy))
    for path in sorted(data.rglob("*")):
        inside = path.relative_to(data)
        if path.is_file() and not path.is_symlink() and path.suffix.lower() in KEPT and path.name not in PRIVATE \
                and not any(p.startswith(".") for p in inside.parts) and inside.parts[0] != "logs" \
                and not inside.name.startswith("settings."):
            out.append((f"data/{inside.as_posix()}", path))
    if (text := without_passwords(data)) is not None:
        (scratch / PAGE_SETTINGS).write_text(text, "utf-8")
        out.append((f"data/{PAGE_SETTINGS}", scratch / PAGE_SETTINGS))
    if (data / SECRETS).exists():
        kept = KeyFile(data).get()
        pins = scratch / "pins.json"
        pins.write_text(json.dumps({"table": kept.table, "admin": kept.admin, "series": kept.series}), "utf-8")
        out.append(("pins.json", pins))
    return out


def _whole_or_what_is(log: Path, copy: Path) -> None:
    """Of a damaged log everything intact in it and its journal is backed up."""
    with suppress(OSError, sqlite3.Error, UnicodeDecodeError):
        db = sqlite3.connect(copy)
        try:
            damaged = db.execute("PRAGMA user_version").fetchone()[0] == SCHEMA_VERSION and damage(db) is not None
        except (sqlite3.Error, UnicodeDecodeError) as e:
            damaged = is_damage(e)
        finally:
            db.close()
        if damaged:
            copy.unlink()
            rescue(log, copy)


def _from_elsewhere(data: Path, settings: Path, calibrations: Sequence[Path], tiles: Sequence[Path],
                    scratch: Path) -> list[tuple[str, Path]]:
    """The same for what the service uses and what lies in other folders."""
    out, text = [], ""
    with suppress(OSError):
        text = settings.read_text("utf-8", "replace")
        kept = scratch / SERVICE
        kept.write_text("\n".join(clean(line) for line in text.splitlines()) + "\n", "utf-8")
        out.append((f"data/{SERVICE}", kept))
    return out + files(data, used(data, text, calibrations, tiles))


def copy_database(source: Path, copy: Path) -> bool:
    """A whole copy of a database that may be in use. A damaged log is copied as far as it is intact; damaged pictures
    are left out (False), since the games are whole without them. Raises Failure."""
    try:
        there = sqlite3.connect(f"file:{source.resolve().as_posix().replace('?', '%3f')}?mode=ro", uri=True)
        here = sqlite3.connect(copy)
        try:
            there.backup(here, pages=1000)
            here.execute("PRAGMA journal_mode=DELETE")
        finally:
            here.close()
            there.close()
    except sqlite3.Error as e:
        if is_damage(e):
            copy.unlink(missing_ok=True)
            if source.name == LOG:
                rescue(source, copy)
                return True
            _log.warning("the pictures %s are damaged (%s) and left out", source, e)
            return False
        raise Failure(f"{source} cannot be copied ({e}); bastide doctor says what is wrong with it") from e
    return True


def _swap(staged: Path, data: Path, wanted: bool) -> None:
    if data.exists():
        if (data / LOG).exists():
            with Store(data / LOG) as store:  # fails while another process uses it
                played = store.newest() is not None
            if played and not wanted:
                raise UsageError(f"{data}: there are games in it; --replace puts the backup in their place and keeps "
                                 "them in a folder beside it")
        aside = Path(tempfile.mkdtemp(prefix=f"{data.name}.before-{time.strftime('%Y%m%d-%H%M%S')}-",
                                      dir=data.parent))
        os.replace(staged, aside)
        try:
            exchange(aside, data)  # the atomic step: before it the old games are there, after it the backup
        except OSError:  # the file system or kernel does not support it
            os.replace(aside, staged)
            os.replace(data, aside)
            try:
                os.replace(staged, data)
            except OSError:
                os.replace(aside, data)
                raise
    else:
        os.replace(staged, data)
    sync_folder(data.parent)


def exchange(one: Path, other: Path) -> None:
    """Atomically swap the names of two folders (renameat2 with RENAME_EXCHANGE). Raises OSError."""
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    if call(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _synced(folder: Path) -> None:
    """fsync a folder with everything in it."""
    for path in folder.rglob("*"):
        if path.is_file():
            with open(path, "rb+") as f:
                os.fsync(f.fileno())
        else:
            sync_folder(path)
    sync_folder(folder)


def _like(model: Path, folder: Path) -> None:
    """Give a folder the owner and permissions of the one it replaces: the service may run as another user."""
    if os.geteuid() == 0:
        owner = model.stat()
        for path in (folder, *folder.rglob("*")):
            os.chown(path, owner.st_uid, owner.st_gid)
    if model.name == folder.name:
        shutil.copymode(model, folder)


def _digest(path: Path) -> str:
    with open(path, "rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()
