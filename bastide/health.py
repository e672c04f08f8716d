"""How the machine and what bastide keeps on it are: one line each, ok, warn or fail, with what to do.

`report` is what ``bastide doctor`` prints and a page may show. Nothing here changes anything but a small file that is
written and taken away again.
"""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bastide.schema import SCHEMA_VERSION, pictures_of
from bastide.store import damage
from calibration.documents import ColoursResult, Document, LensResult, TableResult

FREE_WARN, FREE_FAIL = 1_000_000_000, 200_000_000
MEMORY_WARN, MEMORY_FAIL = 300_000_000, 100_000_000
HOT_WARN, HOT_FAIL = 75.0, 82.0  # a Pi slows itself down from 80 degrees
SLOW_WRITE_S = 0.5
OLD_DAYS = 180
THROTTLED = "sys/devices/platform/soc/soc:firmware/get_throttled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One check: ``state`` is ok, warn or fail, ``text`` what was found, ``do`` what to do about it."""

    what: str
    state: str
    text: str
    do: str = ""


def report(data: Path, *, port: int | None = None, calibrations: Iterable[tuple[str, Document]] = (),
           camera: Iterable[Line] = (), root: Path = Path("/")) -> dict[str, Any]:
    """Everything that can be checked, JSON-ready: ``state`` is the worst of all, ``checks`` are the lines."""
    lines = [*camera, *calibrated(calibrations), *storage(data), *memory(root), *temperature(root), *power(root),
             *clock(root), *(ports(port) if port else ())]
    worst = next((s for s in ("fail", "warn") if any(line.state == s for line in lines)), "ok")
    return {"state": worst, "checks": [asdict(line) for line in lines]}


def storage(data: Path) -> Iterator[Line]:
    """Room, whether it can be written, and whether the log is whole."""
    place = next(p for p in (data, *data.resolve().parents) if p.exists())
    free = shutil.disk_usage(place).free
    state = "fail" if free < FREE_FAIL else "warn" if free < FREE_WARN else "ok"
    yield Line(what="disk", state=state, text=f"{free / 1e9:.1f} GB free for {data}",
               do="" if state == "ok" else "make some room: old recordings, old backups, sudo apt clean")
    try:
        begun = time.perf_counter()
        with tempfile.NamedTemporaryFile(dir=place, prefix=".bastide-test-") as f:
            f.write(os.urandom(65536))
            f.flush()
            os.fsync(f.fileno())
        took = time.perf_counter() - begun
        slow = took > SLOW_WRITE_S
        yield Line(what="writing", state="warn" if slow else "ok",
                   text=f"64 kB were on disk after {took * 1000:.0f} ms",
                   do="a card this slow is often a worn one: take a backup and try another card" if slow else "")
    except OSError as e:
        yield Line(what="writing", state="fail", text=f"{place} cannot be written ({e.strerror or e})",
                   do="check its rights; a card that became read-only is failing: take a backup and another card")
    log = data / "log.sqlite"
    if not log.exists():
        yield Line(what="log", state="ok", text=f"no game has been kept in {data} yet")
        return
    try:
        db = sqlite3.connect(f"file:{log.resolve().as_posix()}?mode=ro", uri=True)
        try:
            version = db.execute("PRAGMA user_version").fetchone()[0]
            games = db.execute("SELECT count(*) FROM games").fetchone()[0]
            entries = db.execute("SELECT count(*) FROM entries").fetchone()[0]
            wrong = damage(db) if version == SCHEMA_VERSION else None
        finally:
            db.close()
        size = sum(p.stat().st_size for p in (log, pictures_of(log)) if p.exists())
        if version > SCHEMA_VERSION:
            yield Line(what="log", state="fail", text="it was written by a newer version", do="update bastide")
        elif wrong is not None:
            yield Line(what="log", state="fail", text=f"it is damaged ({wrong})",
                       do="start bastide again: it keeps the file and takes over what is whole; then try another card")
        else:
            yield Line(what="log", state="ok", text=f"{games} games, {entries} entries, every checksum right, "
                                                    f"{size / 1e6:.1f} MB with pictures")
    except sqlite3.Error as e:
        yield Line(what="log", state="fail", text=f"it cannot be read ({e})",
                   do="start bastide again: it keeps the file and takes over what is whole; then try another card")
    aside = sorted(p.name for p in data.glob("*.damaged-*"))
    if aside:
        yield Line(what="damaged files", state="warn", text=f"{len(aside)} are kept, the newest is {aside[-1]}",
                   do="take a backup and another card; bastide support packs what helps to find out why")


def memory(root: Path = Path("/")) -> Iterator[Line]:
    """What is available to programs."""
    try:
        rows = dict(line.split(":", 1) for line in (root / "proc/meminfo").read_text("utf-8").splitlines())
        free, total = (int(rows[key].split()[0]) * 1024 for key in ("MemAvailable", "MemTotal"))
    except (OSError, KeyError, ValueError, IndexError):
        return
    state = "fail" if free < MEMORY_FAIL else "warn" if free < MEMORY_WARN else "ok"
    yield Line(what="memory", state=state, text=f"{free / 1e6:.0f} of {total / 1e6:.0f} MB available",
               do="" if state == "ok" else "end other programs, or take a machine with more memory")


def temperature(root: Path = Path("/")) -> Iterator[Line]:
    """The hottest sensor, where there is one."""
    found = []
    for file in root.glob("sys/class/thermal/thermal_zone*/temp"):
        try:
            found.append(int(file.read_text("utf-8")) / 1000)
        except (OSError, ValueError):
            continue
    if not found:
        return
    hot = max(found)
    state = "fail" if hot >= HOT_FAIL else "warn" if hot >= HOT_WARN else "ok"
    yield Line(what="temperature", state=state, text=f"{hot:.0f} degrees Celsius",
               do="" if state == "ok" else "give it air: a heat sink or a fan, and not under the table cloth")


def power(root: Path = Path("/")) -> Iterator[Line]:
    """Undervoltage and slowing down, as a Raspberry Pi reports them."""
    try:
        bits = int((root / THROTTLED).read_text("utf-8").strip(), 16)
    except (OSError, ValueError):
        told = _asked("vcgencmd", "get_throttled") if root == Path("/") else ""
        try:
            bits = int(told.partition("=")[2], 16)
        except ValueError:
            return
    advice = "use the power supply that was made for this Pi, and a short cable"
    if bits & 0x1:
        yield Line(what="power", state="fail", text="the voltage is too low now", do=advice)
    elif bits & 0x10000:
        yield Line(what="power", state="warn", text="the voltage has been too low since the start", do=advice)
    elif bits & 0x40004:
        yield Line(what="power", state="warn", text="the processor has been slowed down", do="give it air")
    else:
        yield Line(what="power", state="ok", text="the voltage has been right since the start")


def clock(root: Path = Path("/")) -> Iterator[Line]:
    """Whether the time is right: logs and calibrations carry it."""
    now = datetime.now(UTC)
    synchronised = (root / "run/systemd/timesync/synchronized").exists()
    ask = not synchronised and root == Path("/")
    told = _asked("timedatectl", "show", "-p", "NTPSynchronized", "--value") if ask else ""
    if now.year < 2025:
        yield Line(what="clock", state="fail", text=f"it says {now:%Y-%m-%d}, which is long ago",
                   do="connect to a network once, or set it: sudo date -s '2026-01-31 18:00'")
    elif synchronised or told == "yes":
        yield Line(what="clock", state="ok", text=f"synchronised, {now:%Y-%m-%d %H:%M} UTC")
    else:
        yield Line(what="clock", state="warn", text=f"not known to be synchronised, it says {now:%Y-%m-%d %H:%M} UTC",
                   do="games are played by it all the same; connect to a network once to have it set")


def ports(port: int) -> Iterator[Line]:
    """Whether the page's port is free, or ours already."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as s:
        s.settimeout(1.0)
        if s.connect_ex(("127.0.0.1", port)) != 0:
            yield Line(what="port", state="ok", text=f"{port} is free")
            return
        try:
            s.sendall(b"HEAD /api/state HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n")
            ours = b"server: bastide" in s.recv(4096).lower()
        except OSError:
            ours = False
    yield Line(what="port", state="ok" if ours else "warn",
               text=f"bastide is serving at {port}" if ours else f"another program has {port}",
               do="" if ours else "serve at another one: bastide serve --port 8080")


def picture(light: float, sharp: float) -> Iterator[Line]:
    """Light and focus of a camera's picture, as `vision.picture` measures them."""
    bad = not 40 <= light <= 215
    yield Line(what="light", state="warn" if bad else "ok", text=f"{light:.0f} of 255 on average",
               do="" if not bad else "more light on the table" if light < 128 else
               "less light, or no lamp in the picture")
    yield Line(what="focus", state="warn" if sharp < 4.0 else "ok", text=f"sharpness {sharp:.1f}",
               do="focus on the table; printed edges should be crisp" if sharp < 4.0 else "")


def calibrated(documents: Iterable[tuple[str, Document]]) -> Iterator[Line]:
    """Age and fit of each calibration."""
    for path, document in documents:
        days = (datetime.now(UTC) - datetime.fromisoformat(document.made)).days
        match document.result:
            case LensResult(rms_px=rms):
                fit, bad = f"corners are off by {rms:.2f} pixels", rms > 1.0
            case TableResult(rms_mm=rms, worst_corner_mm=corner):
                fit, bad = f"points are off by {rms:.1f} mm, at the worst corner {corner:.1f} mm", corner > 5.0
            case ColoursResult(confused=confused):
                fit, bad = (f"cannot tell {', '.join(confused)} apart" if confused else "all colours are apart",
                            bool(confused))
        old = days > OLD_DAYS
        yield Line(what=f"calibration ({document.kind})", state="warn" if bad or old else "ok",
                   text=f"{path}: {days} days old, {fit}",
                   do="calibrate again: bastide calibrate " + document.kind if bad or old else "")


def _asked(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=5, check=False).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""
