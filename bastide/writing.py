"""Files that people name: there whole or as they were, whenever the power goes or the disk is full."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Put ``data`` in the place of a file, at once and on disk. A device or a pipe is written straight. Raises OSError;
    then what was there is still there."""
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
    """Have a folder's names on disk. Raises OSError."""
    there = os.open(folder.resolve(), os.O_RDONLY)
    try:
        os.fsync(there)
    finally:
        os.close(there)
