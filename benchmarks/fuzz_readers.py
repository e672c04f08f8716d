"""Fuzzes every file reader of bastide with malformed files: each must be rejected clearly or read sensibly.

    ./run bench fuzz_readers                 3000 files for each reader
    ./run bench fuzz_readers --files 200 --only images

Valid files are corrupted at random (bytes changed, truncated, duplicated, removed; in JSON also values replaced by
others), and some are malicious: decompression bombs, deep nesting, other formats under the wrong name. Failures are:
any exception but the reader's own errors, an error message of several lines or none, a call slower than the limit,
memory that grows by more than half a gigabyte. Prints, for every reader, the number of files, of rejected and of
readable ones.
"""

from __future__ import annotations

import argparse
import copy
import gzip
import json
import random
import resource
import shutil
import struct
import sys
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "calibration")]
LIMIT_S = 20.0
GROWTH_KB = 500_000
ODD: tuple[Any, ...] = (None, True, -1, 0, 2**63, 10**400, 1e308, float("nan"), float("inf"), "", "\ud800", "\0",
                        "x" * 9000, [], {}, [[]], [None] * 50, {"": ""}, "base.D", "../../etc/passwd",
                        "2026-13-41T99:99:99+99:99")


@dataclass(slots=True)
class Reader:
    """``good`` are bytes that it can read, ``read`` takes a file's path, ``refusals`` are the errors it may raise."""

    name: str
    suffix: str
    good: list[bytes]
    read: Callable[[Path], object]
    refusals: tuple[type[Exception], ...]
    harmful: list[bytes] = field(default_factory=list)
    as_json: bool = False


@dataclass(slots=True)
class Found:
    files: int = 0
    refused: int = 0
    read: int = 0
    slowest_s: float = 0.0
    failures: list[str] = field(default_factory=list)


def spoiled(good: bytes, rng: random.Random) -> bytes:
    """Randomly corrupted bytes."""
    data = bytearray(good)
    for _ in range(rng.choice((1, 1, 2, 5, 30))):
        at = rng.randrange(len(data)) if data else 0
        match rng.randrange(6):
            case 0 if data:
                data[at] ^= 1 << rng.randrange(8)
            case 1:
                del data[at:]
            case 2:
                del data[at:at + rng.randrange(1, 60)]
            case 3:
                data[at:at] = rng.randbytes(rng.randrange(1, 20))
            case 4:
                data[at:at] = data[at:at + rng.randrange(1, 200)]
            case _:
                data[at:at + 4] = rng.choice((b"\xff\xff\xff\xff", b"\0\0\0\0", b"\x7f\xff\xff\xff", b"\x80\0\0\0"))
    return bytes(data)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path to every nested value."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from places(one, (*path, key))


def odd_json(good: bytes, rng: random.Random) -> bytes:
    """The document with some values replaced by unexpected ones."""
    data = json.loads(good)
    for _ in range(rng.choice((1, 1, 2, 4))):
        where = list(places(data))
        path = rng.choice(where)
        if not path:
            continue
        *above, last = path
        holder = data
        for key in above:
            holder = holder[key]
        match rng.randrange(5):
            case 0:
                del holder[last]
            case 1:
                other: Any = data
                for key in rng.choice(where):
                    other = other[key] if isinstance(other, dict) and key in other or \
                        isinstance(other, list) and isinstance(key, int) and key < len(other) else other
                holder[last] = copy.deepcopy(other)
            case 2 if isinstance(holder, list):
                holder.insert(last, copy.deepcopy(holder[last]))
            case _:
                holder[last] = copy.deepcopy(rng.choice(ODD))
    return json.dumps(data).encode()


def fuzz(reader: Reader, files: int, seed: int, folder: Path) -> Found:
    """Run a reader on ``files`` files."""
    rng, out = random.Random(f"{seed}{reader.name}"), Found()
    path = folder / f"file{reader.suffix}"
    for good in reader.good:
        path.write_bytes(good)
        reader.read(path)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for n in range(files + len(reader.harmful)):
        if n < len(reader.harmful):
            data = reader.harmful[n]
        elif reader.as_json and rng.random() < 0.6:
            data = odd_json(rng.choice(reader.good), rng)
        else:
            data = spoiled(rng.choice(reader.good), rng)
        path.write_bytes(data)
        out.files += 1
        begun, wrong = time.perf_counter(), ""
        try:
            reader.read(path)
            out.read += 1
        except reader.refusals as e:
            out.refused += 1
            if not str(e).strip() or "\n" in str(e) or len(str(e)) > 1000:
                wrong = f"says {str(e)[:200]!r}"
        except Exception as e:
            wrong = f"{type(e).__name__}: {str(e)[:200]}"
        took = time.perf_counter() - begun
        out.slowest_s = max(out.slowest_s, took)
        if took > LIMIT_S:
            wrong = f"took {took:.0f} s"
        if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before > GROWTH_KB:
            wrong, before = "takes too much memory", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        if wrong:
            kept = folder / f"failure-{reader.name.replace(' ', '-')}-{len(out.failures)}{reader.suffix}"
            kept.write_bytes(data)
            out.failures.append(f"{wrong} ({kept})")
    return out


# -- readers --------------------------------------------------------------------------------------------------------


def png_of(width: int, height: int, rows: int = 0) -> bytes:
    """A PNG with this size in its header, and ``rows`` rows of data."""
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    packer = zlib.compressobj(9)
    body = b"".join(packer.compress(bytes(1 + width * 3)) for _ in range(rows)) + packer.flush()
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) + \
        chunk(b"IDAT", body) + chunk(b"IEND", b"")


def harmful_pictures(good: dict[str, bytes]) -> list[bytes]:
    """Decompression bombs, and files that only look like pictures."""
    jpeg, bmp = bytearray(good[".jpg"]), bytearray(good[".bmp"])
    at = next(i for i in range(len(jpeg)) if jpeg[i] == 0xFF and jpeg[i + 1] in (0xC0, 0xC2))
    jpeg[at + 5:at + 9] = b"\xff\xff\xff\xff"
    bmp[18:26] = struct.pack("<ii", 30_000, 30_000)
    return [png_of(30_000, 30_000, 3000), png_of(65_000, 65_000), png_of(2**31 - 1, 2**31 - 1), png_of(0, 0),
            png_of(1, 60_000_001), bytes(jpeg), bytes(bmp), b"", b"\0" * 100_000, b"GIF89a" + b"\xff" * 40,
            b"P6\n30000 30000\n255\n" + bytes(1000), b"#?RADIANCE\n\n-Y 30000 +X 30000\n", b"<svg onload='x'/>",
            b"\0\0\0\x0cjP  \r\n\x87\n" + bytes(300), gzip.compress(good[".png"]), good[".png"][:40]]


def readers(scratch: Path) -> list[Reader]:
    """Every reader with valid files made here."""
    import cv2
    import numpy as np
    from test_documents import DOCUMENTS

    from bastide.backup.backups import check_backup, write_backup
    from bastide.backup.support import replay, write_support
    from bastide.camera.calibrated import load_calibrations, view_from
    from bastide.errors import Failure, UsageError
    from bastide.files.keys import KeyFile
    from bastide.inputs import players, read_json
    from bastide.log.store import Store
    from bastide.table.demo_game import demo_game
    from bastide.table.session import TableSession
    from bastide.tiles.tilebook import TileBook
    from hardware.folder import FolderSource
    from scoring.errors import InvalidNotation
    from scoring.report import score_game
    from scoring.tiles import catalogue
    from scoring.transcript import read, write
    from vision.frames import SourceError
    from vision.images import ImageError, read_image
    from vision.tileset import TileSetError, load_tileset

    said = (UsageError, Failure)
    games = [json.dumps(write(demo_game(seed, turns=turns, expansions=boxes))).encode() for seed, turns, boxes in (
        (1, 6, ("base",)), (2, 12, ("base", "inns", "traders")), (3, 8, ("base", "dragon", "tower", "river")))]
    nested = [b"[" * 200_000, b'{"a":' * 100_000, b"[" * 900 + b"]" * 900, gzip.compress(bytes(80_000_000)),
              b"1" * 100_000]
    picture = np.random.default_rng(1).integers(0, 255, (60, 60, 3), np.uint8)
    made = {kind: bytes(cv2.imencode(kind, picture)[1]) for kind in (".png", ".jpg", ".webp", ".bmp", ".tiff")}

    data = scratch / "data"
    with Store(data / "log.sqlite") as store:
        session = TableSession(store, demo_game(5, turns=6).setup)
        for event in demo_game(5, turns=6).events:
            session.commit((event,), confidence=1.0, asked=False)
    whole_log = (data / "log.sqlite").read_bytes()
    write_backup(data, scratch / "b.zip")
    write_support(data, scratch / "s.zip", scratch / "none")
    bomb = scratch / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("manifest.json", "game.json", "data/log.sqlite"):
            with archive.open(name, "w") as f:
                for _ in range(400):
                    f.write(bytes(1_000_000))

    def transcript(path: Path) -> object:
        try:
            return score_game(read(read_json(str(path))))
        except InvalidNotation as e:
            raise UsageError(f"{path}: {e}") from e

    def alone(path: Path, where: str, name: str) -> Path:
        """A new folder with only this file under that name."""
        folder = path.with_name(where)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        shutil.copy(path, folder / name)
        return folder

    def tiles(path: Path) -> object:
        folder = alone(path, "tiles", "base.D.png")
        (folder / ".hidden.png").write_bytes(b"x")
        return load_tileset(folder, catalogue())

    def book(path: Path) -> object:
        return TileBook(alone(path, "book", "book.json")).tileset()

    def keys(path: Path) -> object:
        return KeyFile(alone(path, "keys", "secrets.json")).get()

    def frames(path: Path) -> object:
        folder = alone(path, "frames", "1.png")
        with FolderSource(f"folder:{folder}", str(folder)) as source:
            return source.read()

    def log(path: Path) -> object:
        folder = alone(path, "log", "log.sqlite")
        with Store(folder / "log.sqlite") as store:
            return TableSession.resume(store)

    KeyFile(data)
    lessons = [{"file": "a.png", "tile": "base.D", "game": "1", "origin": "x", "version": 1}]
    a_book = json.dumps({"format": "bastide-tilebook/1", "version": 1, "lessons": lessons,
                         "versions": [{"version": 1}]}).encode()
    seats = json.dumps([{"name": "Anna", "colour": "red"}, {"name": "Ben", "colour": "blue"}]).encode()
    documents = [d.write().encode() for d in DOCUMENTS]
    return [
        Reader("transcripts", ".json", [*games, gzip.compress(games[0])], transcript, said, nested),
        Reader("transcripts as JSON", ".json", games, transcript, said, as_json=True),
        Reader("calibrations", ".json", documents, lambda p: view_from(load_calibrations([str(p)])), said, nested,
               as_json=True),
        Reader("players", ".json", [seats], lambda p: players(str(p)), said, nested, as_json=True),
        Reader("secrets", ".json", [(data / "secrets.json").read_bytes()], keys, said, nested, as_json=True),
        Reader("tile books", ".json", [a_book], book, said, nested, as_json=True),
        Reader("tile folders", ".png", [made[".png"], made[".jpg"]], tiles, (TileSetError,), harmful_pictures(made)),
        Reader("images", ".png", list(made.values()), lambda p: read_image(str(p)), (ImageError,),
               harmful_pictures(made)),
        Reader("frame folders", ".png", list(made.values()), frames, (SourceError,), harmful_pictures(made)),
        Reader("logs", ".sqlite", [whole_log], log, said, [b"", b"\0" * 5000, whole_log[:100]]),
        Reader("backups", ".zip", [(scratch / "b.zip").read_bytes()], check_backup, said, [bomb.read_bytes()]),
        Reader("support files", ".zip", [(scratch / "s.zip").read_bytes()], replay, said, [bomb.read_bytes()]),
    ]


def run(files: int, seed: int, folder: Path, only: str = "") -> dict[str, Found]:
    """All readers, or those whose name has ``only`` in it."""
    (folder / "scratch").mkdir()
    return {r.name: fuzz(r, files, seed, folder) for r in readers(folder / "scratch") if only in r.name}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=3000, help="for each reader")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="a part of a reader's name")
    parser.add_argument("--keep", type=Path, help="an empty folder for the files that failed")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        found = run(args.files, args.seed, args.keep or Path(scratch), args.only)
    print(f"{'reader':20} {'files':>7} {'refused':>8} {'read':>7} {'slowest s':>10} {'failures':>9}")
    for name, f in found.items():
        print(f"{name:20} {f.files:7} {f.refused:8} {f.read:7} {f.slowest_s:10.2f} {len(f.failures):9}")
    for name, f in found.items():
        for what in f.failures[:5]:
            print(f"FAILED {name}: {what}")
    return any(f.failures for f in found.values())


if __name__ == "__main__":
    sys.exit(main())
