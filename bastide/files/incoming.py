"""A file uploaded from the page, in pieces that are each hardly larger than other requests."""

from __future__ import annotations

import shutil
from pathlib import Path

from web.protocol import CommandError

SPARE_BYTES = 300_000_000  # to remain free on the disk after an upload


def add_piece(path: Path, at: int, data: bytes, *, most: int, what: str) -> None:
    """Append the next bytes of a file of at most ``most`` bytes; offset 0 starts a new one. Raises CommandError.

    ``what`` is what the file should be, for people: "a backup".
    """
    there = path.stat().st_size if at and path.exists() else 0
    if at != there:
        raise CommandError("wrong_place", f"the next piece begins at {there}")
    if at + len(data) > most:
        raise CommandError("too_large", f"{what} has at most {most // 1_000_000} MB")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if shutil.disk_usage(path.parent).free < SPARE_BYTES + len(data):
            raise CommandError("not_saved", "there is no room for it on the disk; free some space")
        with open(path, "ab" if at else "wb") as f:
            f.write(data)
    except OSError as e:
        raise CommandError("not_saved", f"it cannot be saved ({e.strerror or e})") from e
