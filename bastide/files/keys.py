"""A table's secrets: one file in the data folder, readable by its owner only.

It holds the PINs as scrypt hashes, the key that signs sessions and the overlay's read-only key; never a PIN itself.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path

from bastide.errors import Failure, UsageError
from bastide.files.writing import write_whole
from web.rights import COMMAND_LINE, Refused, Rights, Secrets, new_secrets

NAME = "secrets.json"
_VERSION = 1
_HASH = re.compile(r"scrypt:(\d{1,5}):8:1\$[A-Za-z0-9]{1,64}\$[0-9a-f]{128}")
_MOST_N = 65536  # with r 8 hashing a PIN takes 64 MB
SESSIONS = "sessions.json"
DAMAGED = "secrets.damaged.json"
PRIVATE = (NAME, SESSIONS, DAMAGED)  # files that never leave the machine
_MOST_SESSIONS = 200_000  # bytes


class KeyFile:
    """The secrets in a data folder (`web.rights.Keys`). Thread-safe; changes by another process take effect at once.

    A file that cannot be parsed is moved aside and a new one made: everybody signs in again, with a new PIN. Raises
    Failure if that fails.
    """

    def __init__(self, folder: str | Path) -> None:
        self.path = Path(folder) / NAME
        self._lock = threading.Lock()
        self._seen: tuple[int, int, int] | None = None
        with self._lock:
            try:
                if self.path.exists():
                    self._read()
                else:
                    self._write(new_secrets())
            except OSError as e:
                raise Failure(f"{self.path}: the PINs in it cannot be read or kept ({e.strerror or e}); check the "
                              "disk, and whose file it is") from e

    def get(self) -> Secrets:
        """The secrets as the file has them now."""
        with self._lock:
            try:
                if self._stamp() != self._seen:
                    self._read()
            except (OSError, Failure):
                pass  # keep the secrets read before
            return self._kept

    def put(self, kept: Secrets) -> None:
        with self._lock:
            self._write(kept)

    def _stamp(self) -> tuple[int, int, int]:
        there = self.path.stat()
        return there.st_mtime_ns, there.st_ino, there.st_size

    def _read(self) -> None:
        stamp = self._stamp()
        try:
            data = json.loads(self.path.read_text("utf-8"))
            version = data.pop("version")
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
            return self._begin_anew()
        if type(version) is int and version > _VERSION:
            raise Failure(f"{self.path}: was written by a newer version of bastide; update it")
        known = {f.name for f in fields(Secrets)}
        try:
            kept = Secrets(**{k: v for k, v in data.items() if k in known})
        except TypeError:
            return self._begin_anew()
        texts = (kept.signing, kept.overlay, "" if kept.set_from is None else kept.set_from)
        if not all(isinstance(t, str) and t.isprintable() for t in texts) or not kept.signing or \
                not all(h is None or is_hash(h) for h in (kept.table, kept.admin)) or type(kept.series) is not int or \
                not (kept.set_at_s is None or type(kept.set_at_s) in (int, float) and abs(kept.set_at_s) < 1e12):
            return self._begin_anew()
        if self.path.stat().st_mode & 0o077:
            os.chmod(self.path, 0o600)
        self._kept, self._seen = kept, stamp

    def _begin_anew(self) -> None:
        os.replace(self.path, self.path.with_name(DAMAGED))
        self._write(new_secrets())

    def _write(self, kept: Secrets) -> None:
        write_private(self.path, json.dumps({"version": _VERSION, **asdict(kept)}))
        self._kept, self._seen = kept, self._stamp()


class SessionFile:
    """The sessions in a data folder (`web.devices.Keeper`), readable by the owner only, like the secrets."""

    def __init__(self, folder: str | Path) -> None:
        self.path = Path(folder) / SESSIONS

    def load(self) -> list[Mapping[str, object]]:
        """The stored sessions; empty when they cannot be read: then everybody signs in again."""
        try:
            if self.path.stat().st_size > _MOST_SESSIONS:
                return []
            data = json.loads(self.path.read_text("utf-8"))
        except (OSError, ValueError, RecursionError):
            return []
        rows = data.get("sessions") if isinstance(data, dict) else None
        return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []

    def save(self, rows: Sequence[Mapping[str, object]]) -> None:
        write_private(self.path, json.dumps({"version": _VERSION, "sessions": rows}))


def write_private(path: Path, text: str) -> None:
    """Write a file readable by its owner only, atomically: after a power cut there is the old file or the new one.
    Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text.encode(), mode=0o600, durable=True)


def is_hash(value: object) -> bool:
    """Whether this is a PIN's hash as we write them (RFC 7914, N a power of two): anything else would fail, or take all
    memory, when it is used."""
    found = _HASH.fullmatch(value) if isinstance(value, str) else None
    n = int(found[1]) if found else 0
    return 2 <= n <= _MOST_N and n.bit_count() == 1


def set_pins(keys: KeyFile, *, table: str | None = None, admin: str | None = None) -> None:
    """Set PINs from the command line. Raises UsageError for an invalid PIN, Failure when it cannot be stored."""
    try:
        Rights(keys).set_pins(table, admin, by=COMMAND_LINE)
    except Refused as e:
        raise UsageError(f"--pin: {e.text}") from e
    except OSError as e:
        raise Failure(f"{keys.path}: the PIN cannot be kept ({e.strerror})") from e
