"""A table's machine identity and start counter: a small file in the data folder.

States are ordered by (start, revision), so no clock has to be right. A cloned memory card has another network address,
so its table is another machine.
"""

from __future__ import annotations

import hashlib
import json
import logging
import secrets
import uuid
from pathlib import Path

from bastide.files.writing import write_whole

NAME = "club.json"
_MOST = 1_000_000_000
_log = logging.getLogger("bastide.club")


class Identity:
    """The device's name and its start counter, incremented now. A disk error is no obstacle: the counter continues from
    what the broker still has (`heard`)."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        kept = self._read()
        seed = kept.get("seed")
        self._seed = seed if isinstance(seed, str) and 8 <= len(seed) <= 64 else secrets.token_hex(8)
        node = uuid.getnode()
        address = 0 if node >> 40 & 1 else node  # without a network card Python returns a random one each time
        self.device = hashlib.sha256(f"{self._seed} {address}".encode()).hexdigest()[:12]
        before = kept.get("epoch")
        self.epoch = (before if type(before) is int and 0 <= before < _MOST else 0) + 1
        self._write()

    def heard(self, device: str, epoch: int) -> bool:
        """A received state has this start count. If it is ours and not lower, as after restoring an old backup, skip
        past it and return True."""
        if device != self.device or epoch <= self.epoch or epoch >= _MOST:
            return False
        self.epoch = epoch + 1
        self._write()
        return True

    def _read(self) -> dict[str, object]:
        try:
            found = json.loads(self._path.read_text("utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def _write(self) -> None:
        try:
            write_whole(self._path, json.dumps({"seed": self._seed, "epoch": self.epoch}).encode())
        except OSError as e:
            _log.warning("%s cannot be written (%s)", self._path, e.strerror)
