"""Atomic file writes: after a power cut or on a full disk the file is whole or as it was before."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Atomically replace a file by ``data`` and fsync it. A device or a pipe is written to directly. Raises OSError;
    then the previous contents are still there."""
    path = path.resolve()
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    part = path.with_name(f".{path.name[:200]}.part")
    try:
        with open(part, "wb") as f:
            f.write(data)
            f.flush()
            os.fsync(f.fileno())
        if path.exists():
            shutil.copymode(path, part)
        os.replace(part, path)
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """fsync a folder, so that its names are on disk. Raises OSError."""
    there = os.open(folder.resolve(), os.O_RDONLY)
    try:
        os.fsync(there)
    finally:
        os.close(there)
