"""Atomic file writes: after a power cut or on a full disk a file has either its new or its old contents."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def write_whole(path: Path, data: bytes, *, mode: int | None = None, durable: bool = False) -> None:
    """Atomically replace a file by ``data``, as `replacing` does. Without a ``mode`` a device or a pipe is written to
    directly; with one the file has it from its first byte. Raises OSError."""
    if mode is None and path.exists() and not path.is_file():
        path.write_bytes(data)
        return

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags, 0o666 if mode is None else mode)

    with replacing(path, mode=mode, durable=durable) as part, open(part, "xb", opener=opener) as f:
        if mode is not None:
            os.fchmod(f.fileno(), mode)  # regardless of the umask
        f.write(data)


@contextmanager
def replacing(path: Path, *, mode: int | None = None, durable: bool = False) -> Iterator[Path]:
    """Yields the temporary name for a file's new contents. If the block succeeds they are fsynced and replace the file;
    otherwise they are removed, and the file is unchanged.

    Without a ``mode`` a link is followed and the permissions stay; with one, which the caller must give the file, a
    link is replaced. ``durable`` fsyncs the folder too, so that after a power cut there is the new file, not the old
    one. Raises OSError; unless it is from syncing the folder, the previous contents are still there.
    """
    if mode is None:
        try:
            path = path.resolve()
        except RuntimeError as e:  # Python before 3.13 about links that lead in a circle
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from e
    part = part_of(path)
    try:
        part.unlink(missing_ok=True)  # left by a power cut
        yield part
        with open(part, "rb+") as f:
            os.fsync(f.fileno())
        if mode is None and path.exists():
            shutil.copymode(path, part)
        os.replace(part, path)
        if durable:
            sync_folder(path.parent)
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def part_of(path: Path) -> Path:
    """The temporary name of a file's new contents; a power cut may leave it behind."""
    return path.with_name(f".{path.name[:200]}.part")


def sync_folder(folder: Path) -> None:
    """fsync a folder, so that its directory entries are on disk. Raises OSError."""
    there = os.open(folder.resolve(), os.O_RDONLY)
    try:
        os.fsync(there)
    finally:
        os.close(there)
