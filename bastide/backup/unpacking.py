"""Unpacks a backup from an untrusted source: anything that our own backups never contain is refused before it is
written.

Names must stay inside the folder and be of the kinds that a backup has; sizes are bounded before and while unpacking;
the log must be a whole log and nothing else: no trigger, no view, no foreign table.
"""

from __future__ import annotations

import errno
import hashlib
import json
import shutil
import sqlite3
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TypedDict

from bastide.errors import UsageError
from bastide.files.keys import NAME as SECRETS
from bastide.files.keys import is_hash
from bastide.log.examine import ALL_TABLES, damage, foreign
from bastide.log.schema import SCHEMA_VERSION

FORMAT, VERSION = "bastide-backup", 1
LOG, SERVICE = "log.sqlite", "service.conf"
KEPT = (".json", ".png", ".jpg", ".jpeg", ".conf", ".webm")
DATABASES = (LOG, "log.pictures.sqlite")
MOST_FILES, MOST_BYTES, MANIFEST_BYTES = 20_000, 1_000_000_000, 8_000_000
MOST_OF_ONE = 50_000_000  # bytes of a file that is not a database: a tile book of hundreds of pictures has a tenth
MOST_TIMES = 60  # limit of the compression ratio; a log's is 10
FREE_BYTES = 1_000_000  # of a file are exempt from the limit
SPARE_BYTES = 100_000_000  # to remain free on the disk after unpacking
_PIECE = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """Summary of a backup's contents."""

    files: int
    size: int
    games: int
    entries: int
    made_s: float


def unpack(file: Path, into: Path) -> Contents:
    """Verify and extract everything: data/ without its prefix. Raises UsageError."""
    if file.exists() and not (file.is_file() or file.is_dir()):  # a device may be endless
        raise UsageError(f"{file}: is a device, not a backup")
    try:
        with zipfile.ZipFile(file) as archive:
            manifest = _manifest(file, archive)
            there = {i.filename: i for i in archive.infolist()}
            if set(there) != {*manifest["files"], "manifest.json"} or len(there) != len(archive.infolist()):
                raise UsageError(f"{file}: its list and its content differ; it is damaged or was changed")
            _bounded(file, there, into)
            for name, told in manifest["files"].items():
                if (there[name].external_attr >> 16) & 0o170000 not in (0, 0o100000):
                    raise UsageError(f"{file}: {name[:60]} is no plain file; nothing was restored")
                target = into / _inside(file, name)
                target.parent.mkdir(parents=True, exist_ok=True)
                digest, size = hashlib.sha256(), 0
                with archive.open(name) as packed, open(target, "wb") as out:
                    while piece := packed.read(_PIECE):
                        size += len(piece)
                        if size > told["size"]:
                            break
                        digest.update(piece)
                        out.write(piece)
                if size != told["size"] or digest.hexdigest() != told["sha256"]:
                    raise UsageError(f"{file}: {name[:60]} is damaged in it; take another backup")
    except FileNotFoundError:
        raise UsageError(f"{file}: there is no such file") from None
    except IsADirectoryError:
        raise UsageError(f"{file}: is a folder, not a backup") from None
    except (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, EOFError, RuntimeError, KeyError,
            ValueError, TypeError, RecursionError) as e:
        raise UsageError(f"{file}: is no whole backup of bastide ({_short(e)})") from None
    except Exception as e:  # zlib.error, lzma.LZMAError: each compression library has its own
        if isinstance(e, UsageError) or isinstance(e, OSError) and e.errno != errno.EINVAL:  # a place before the start
            raise
        raise UsageError(f"{file}: is no whole backup of bastide ({_short(e)})") from None
    return _counted(file, into, manifest)


class Packed(TypedDict):
    """A file in a backup."""

    size: int
    sha256: str


class Manifest(TypedDict):
    """A backup's manifest: its files by name, and when it was made (0: unknown)."""

    files: dict[str, Packed]
    made_s: float


def _manifest(file: Path, archive: zipfile.ZipFile) -> Manifest:
    info = archive.getinfo("manifest.json")
    if info.file_size > MANIFEST_BYTES:
        raise UsageError(f"{file}: is no whole backup of bastide (its list is too long)")
    with archive.open(info) as f:
        data = json.loads(f.read(MANIFEST_BYTES + 1))
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise UsageError(f"{file}: is no backup of bastide")
    if type(data.get("version")) is not int or data["version"] > VERSION:
        raise UsageError(f"{file}: was made by a newer version of bastide ({str(data.get('bastide'))[:20]}); "
                         "update bastide to restore it")
    files = data.get("files")
    if not isinstance(files, dict) or not all(
            isinstance(told, dict) and type(told.get("size")) is int and told["size"] >= 0
            and isinstance(told.get("sha256"), str) for told in files.values()):
        raise UsageError(f"{file}: is no whole backup of bastide (its list cannot be read)")
    if len(files) > MOST_FILES or sum(told["size"] for told in files.values()) > MOST_BYTES:
        raise UsageError(f"{file}: would come to more than {MOST_BYTES // 1_000_000_000} GB or {MOST_FILES} files, "
                         "which no backup does; nothing was restored")
    made = data.get("made_s")
    return {"files": files, "made_s": float(made) if isinstance(made, int | float) else 0.0}


def _bounded(file: Path, there: Mapping[str, zipfile.ZipInfo], into: Path) -> None:
    """Reject decompression bombs before unpacking anything. Raises UsageError."""
    for name, info in there.items():
        if info.file_size > FREE_BYTES + MOST_TIMES * info.compress_size or \
                info.file_size > MOST_OF_ONE and PurePosixPath(name).name not in DATABASES:
            raise UsageError(f"{file}: {name[:60]} would unpack to {info.file_size / 1e6:.0f} MB, which nothing in a "
                             "backup does; nothing was restored")
    total, free = sum(info.file_size for info in there.values()), shutil.disk_usage(into).free
    if total + SPARE_BYTES > free:
        raise UsageError(f"{file}: needs {(total + SPARE_BYTES) / 1e6:.0f} MB and {free / 1e6:.0f} MB are free; make "
                         "some room")


def _inside(file: Path, name: str) -> Path:
    """The target path of a file. Raises UsageError for a name outside the allowed ones (path traversal)."""
    path = PurePosixPath(name)
    plain = path.parts[:1] == ("data",) and len(path.parts) > 1 or name == "pins.json"
    if not plain or path.is_absolute() or "\\" in name or ":" in name or "\0" in name or \
            any(p in ("..", ".") or p.startswith(".") for p in path.parts) or path.name == SECRETS or \
            path.suffix.lower() not in KEPT and path.parts not in [("data", n) for n in DATABASES]:
        raise UsageError(f"{file}: {name[:60]!r} does not belong into a backup; nothing was restored")
    return Path(*path.parts[1:]) if path.parts[0] == "data" else Path(name)


def _counted(file: Path, into: Path, manifest: Manifest) -> Contents:
    """Check the log of an unpacked backup."""
    try:
        db = sqlite3.connect(f"file:{(into / LOG).as_posix()}?mode=ro", uri=True)
        try:
            version = db.execute("PRAGMA user_version").fetchone()[0]
            if (strange := foreign(db, ALL_TABLES)) is not None:
                raise sqlite3.DatabaseError(f"it has a {strange[:40]}, which no log has")
            if version > SCHEMA_VERSION:
                raise UsageError(f"{file}: was made by a newer version of bastide; update bastide to restore it")
            wrong = damage(db) if version == SCHEMA_VERSION else None
            if wrong is not None:
                raise sqlite3.DatabaseError(wrong)
            games = db.execute("SELECT count(*) FROM games").fetchone()[0]
            entries = db.execute("SELECT count(*) FROM entries").fetchone()[0]
        finally:
            db.close()
        if (into / DATABASES[1]).exists():
            db = sqlite3.connect(f"file:{(into / DATABASES[1]).as_posix()}?mode=ro", uri=True)
            try:
                if (strange := foreign(db, ALL_TABLES)) is not None:
                    raise sqlite3.DatabaseError(f"its pictures have a {strange[:40]}, which none have")
            finally:
                db.close()
    except (sqlite3.Error, UnicodeDecodeError) as e:
        raise UsageError(f"{file}: the log in it cannot be read ({e}); take another backup") from None
    sizes = [told["size"] for told in manifest["files"].values()]
    return Contents(files=len(sizes), size=sum(sizes), games=games, entries=entries, made_s=manifest["made_s"])


class Pins(TypedDict):
    """The PINs' hashes, with the series number of their sessions."""

    table: str | None
    admin: str | None
    series: int


def pins_in(file: Path, pins: Path) -> Pins:
    """The PINs in a backup. Raises UsageError."""
    try:
        data = json.loads(pins.read_text("utf-8"))
        hashes = data["table"], data["admin"]
        if set(data) == {"table", "admin", "series"} and type(data["series"]) is int and \
                all(h is None or is_hash(h) for h in hashes):
            return {"table": data["table"], "admin": data["admin"], "series": data["series"]}
    except (ValueError, TypeError, RecursionError):
        pass
    raise UsageError(f"{file}: the PINs in it cannot be read; nothing was restored")


def _short(error: Exception) -> str:
    text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)  # without its quotes
    return (text or type(error).__name__).splitlines()[0][:80]
