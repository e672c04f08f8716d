"""A disk that misbehaves under the real log: SQLite's own file layer with writing and syncing in our hands.

SQLite reaches files through a table of functions (https://www.sqlite.org/vfs.html). Here the table of the library that
Python's sqlite3 itself uses is copied, and opening, writing, syncing and cutting go through Python. Everything above,
`bastide.log.store` with it, runs unchanged and knows nothing of it. Needs sqlite3 linked to a shared libsqlite3, as it
is everywhere but in a few portable builds of Python; `available` says so.
"""

from __future__ import annotations

import ctypes
import errno
import os
import random
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bastide.log import journal

OK, IOERR_WRITE, IOERR_FSYNC, FULL, READONLY, CANTOPEN = 0, 778, 1034, 13, 8, 14
SECTOR = 512
_P, _I, _L = ctypes.c_void_p, ctypes.c_int, ctypes.c_int64
_VFS_HEAD = [("iVersion", _I), ("szOsFile", _I), ("mxPathname", _I), ("pNext", _P), ("zName", ctypes.c_char_p),
             ("pAppData", _P)]
_VFS_CALLS = ("xOpen", "xDelete", "xAccess", "xFullPathname", "xDlOpen", "xDlError", "xDlSym", "xDlClose",
              "xRandomness", "xSleep", "xCurrentTime", "xGetLastError", "xCurrentTimeInt64", "xSetSystemCall",
              "xGetSystemCall", "xNextSystemCall")
_IO_CALLS = ("xClose", "xRead", "xWrite", "xTruncate", "xSync", "xFileSize", "xLock", "xUnlock", "xCheckReservedLock",
             "xFileControl", "xSectorSize", "xDeviceCharacteristics", "xShmMap", "xShmLock", "xShmBarrier",
             "xShmUnmap", "xFetch", "xUnfetch")


class _Vfs(ctypes.Structure):
    _fields_ = [*_VFS_HEAD, *((name, _P) for name in _VFS_CALLS)]


class _Io(ctypes.Structure):
    _fields_ = [("iVersion", _I), *((name, _P) for name in _IO_CALLS)]


class _File(ctypes.Structure):
    _fields_ = [("pMethods", ctypes.POINTER(_Io))]


_OPEN = ctypes.CFUNCTYPE(_I, _P, _P, _P, _I, _P)
_DELETE = ctypes.CFUNCTYPE(_I, _P, _P, _I)
_WRITE = ctypes.CFUNCTYPE(_I, _P, _P, _I, _L)
_TRUNCATE = ctypes.CFUNCTYPE(_I, _P, _L)
_SYNC = ctypes.CFUNCTYPE(_I, _P, _I)


@dataclass(frozen=True, slots=True)
class Write:
    file: str
    at: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Cut:
    file: str
    size: int


@dataclass(frozen=True, slots=True)
class Sync:
    file: str


@dataclass(frozen=True, slots=True)
class Gone:
    file: str


@dataclass(frozen=True, slots=True)
class Said:
    """Not an act of the disk: what the program had acknowledged by then."""

    what: int


Act = Write | Cut | Sync | Gone | Said


@dataclass(slots=True)
class Disk:
    """``acts`` is all that happened to files, in order. ``fault`` may answer a write or a sync with an error code."""

    acts: list[Act] = field(default_factory=list)
    fault: Callable[[Act], int] | None = None
    record: bool = True
    writes: int = 0
    written: int = 0
    syncs: int = 0

    def say(self, what: int) -> None:
        self.acts.append(Said(what))

    def did(self, act: Act) -> int:
        code = self.fault(act) if self.fault is not None else OK
        if code == OK:
            self.writes += isinstance(act, Write)
            self.written += len(act.data) if isinstance(act, Write) else 0
            self.syncs += isinstance(act, Sync)
            if self.record:
                self.acts.append(act)
        return code


def library() -> ctypes.CDLL | None:
    """The SQLite library that Python's sqlite3 has loaded."""
    sqlite3.connect(":memory:").close()
    try:
        maps = Path("/proc/self/maps").read_text("utf-8")
    except OSError:
        return None
    found = re.search(r"(/\S*libsqlite3\.so\S*)", maps)
    return ctypes.CDLL(found[1]) if found else None


available = library() is not None


class JournalFile(journal.File):
    """The file of a journal over the disk that is in force."""

    disk: Disk | None = None

    def _did(self, act: Act) -> None:
        assert self.disk is not None
        code = self.disk.did(act)
        if code != OK:
            number = {FULL: errno.ENOSPC, READONLY: errno.EROFS}.get(code, errno.EIO)
            raise OSError(number, os.strerror(number))

    def write(self, data: bytes) -> None:
        self._did(Write(self.path.name, self.size(), data))
        super().write(data)

    def sync(self) -> None:
        self._did(Sync(self.path.name))
        super().sync()

    def cut(self, size: int) -> None:
        self._did(Cut(self.path.name, size))
        super().cut(size)


@contextmanager
def faulty(disk: Disk) -> Iterator[Disk]:
    """Every database and every journal opened inside goes through the disk."""
    plain, JournalFile.disk = journal.File, disk
    journal.File = JournalFile  # type: ignore[misc]
    try:
        with _databases(disk):
            yield disk
    finally:
        journal.File = plain  # type: ignore[misc]


@contextmanager
def _databases(disk: Disk) -> Iterator[None]:
    lib = library()
    assert lib is not None
    lib.sqlite3_vfs_find.restype = ctypes.POINTER(_Vfs)
    real = lib.sqlite3_vfs_find(None).contents
    mine = _Vfs.from_buffer_copy(real)
    mine.zName = b"faulty"
    open_real, delete_real = _OPEN(real.xOpen), _DELETE(real.xDelete)
    files: dict[int, tuple[str, _Io]] = {}
    tables: list[_Io] = []  # SQLite keeps pointers into these

    def write(file: int, data: int, size: int, at: int) -> int:
        name, methods = files[file]
        code = disk.did(Write(name, at, ctypes.string_at(data, size)))
        return code or _WRITE(methods.xWrite)(file, data, size, at)

    def cut(file: int, size: int) -> int:
        name, methods = files[file]
        return disk.did(Cut(name, size)) or _TRUNCATE(methods.xTruncate)(file, size)

    def sync(file: int, flags: int) -> int:
        name, methods = files[file]
        return disk.did(Sync(name)) or _SYNC(methods.xSync)(file, flags)

    def delete(vfs: int, name: int, flags: int) -> int:
        code = delete_real(ctypes.addressof(real), name, flags)
        if code == OK:
            disk.did(Gone(Path(ctypes.string_at(name).decode()).name))
        return code

    calls = {"xWrite": _WRITE(write), "xTruncate": _TRUNCATE(cut), "xSync": _SYNC(sync)}

    def opened(vfs: int, name: int, file: int, flags: int, out: int) -> int:
        code = open_real(ctypes.addressof(real), name, file, flags, out)
        if code != OK or not name:
            return code
        handle = _File.from_address(file)
        methods = handle.pMethods.contents
        table = _Io.from_buffer_copy(methods)
        for call, function in calls.items():
            setattr(table, call, ctypes.cast(function, _P).value)
        files[file] = Path(ctypes.string_at(name).decode()).name, methods
        tables.append(table)
        handle.pMethods = ctypes.pointer(table)
        return code

    hold = _OPEN(opened), _DELETE(delete)
    mine.xOpen, mine.xDelete = (ctypes.cast(f, _P).value for f in hold)
    assert lib.sqlite3_vfs_register(ctypes.byref(mine), 1) == OK
    try:
        yield
    finally:
        assert lib.sqlite3_vfs_unregister(ctypes.byref(mine)) == OK
        assert lib.sqlite3_vfs_register(ctypes.byref(real), 1) == OK


def after_power_cut(acts: list[Act], rng: random.Random, *, lies: bool = False) -> dict[str, bytes]:
    """The files as they may be found after the power went away at the end of ``acts``.

    What was synced is there. Of what was not, each write may be there, not there, torn at sectors, or there with a
    sector of rubbish. A disk that ``lies`` has synced nothing.
    """
    files: dict[str, bytearray] = {}
    waiting: dict[str, list[Write | Cut]] = {}
    for act in acts:
        match act:
            case Write(file=name) | Cut(file=name):
                waiting.setdefault(name, []).append(act)  # type: ignore[arg-type]
            case Sync(file=name) if not lies:
                for one in waiting.pop(name, ()):
                    _apply(files, one)
            case Gone(file=name):
                files.pop(name, None)
                waiting.pop(name, None)
    for several in waiting.values():
        most = rng.random()  # from nearly nothing to nearly everything
        for one in several:
            fate = rng.random()
            if fate < most * 0.7:
                _apply(files, one)
            elif fate < most and isinstance(one, Write):
                data = bytearray()
                for at in range(0, len(one.data), SECTOR):
                    part = one.data[at:at + SECTOR]
                    there = files.get(one.file, bytearray())[one.at + at:one.at + at + len(part)]
                    how = rng.random()
                    data += part if how < 0.5 else there.ljust(len(part), b"\0") if how < 0.9 \
                        else rng.randbytes(len(part))
                _apply(files, Write(one.file, one.at, bytes(data)))
    return {name: bytes(data) for name, data in files.items()}


def _apply(files: dict[str, bytearray], act: Write | Cut) -> None:
    data = files.setdefault(act.file, bytearray())
    if isinstance(act, Cut):
        del data[act.size:]
        data.extend(bytes(max(0, act.size - len(data))))
        return
    if len(data) < act.at:
        data.extend(bytes(act.at - len(data)))
    data[act.at:act.at + len(act.data)] = act.data
