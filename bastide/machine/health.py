"""Health checks of the machine and of bastide's data: one line each, ok, warn or fail, with what to do.

`report` is what ``bastide doctor`` prints and a page may show. The checks are read-only, except for a small file that
is written and removed again.
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
from datetime import UTC, datetime
from pathlib import Path

from bastide.files.second_note import read_note
from bastide.log.copies import difference
from bastide.log.examine import damage
from bastide.log.schema import SCHEMA_VERSION, pictures_of
from bastide.machine.findings import Line, Part, line
from calibration.documents import ColoursResult, Document, LensResult, TableResult
from web.machine_states import ReportState

FREE_WARN, FREE_FAIL = 1_000_000_000, 200_000_000
MEMORY_WARN, MEMORY_FAIL = 300_000_000, 100_000_000
HOT_WARN, HOT_FAIL = 75.0, 82.0  # a Pi throttles itself from 80 degrees
SLOW_WRITE_S = 0.5
OLD_DAYS = 180
THROTTLED = "sys/devices/platform/soc/soc:firmware/get_throttled"


def report(data: Path, *, port: int | None = None, calibrations: Iterable[tuple[str, Document]] = (),
           camera: Iterable[Line] = (), root: Path = Path("/")) -> ReportState:
    """All checks."""
    lines = [*camera, *calibrated(calibrations), *storage(data), *memory(root), *temperature(root), *power(root),
             *clock(root), *(ports(port) if port else ())]
    worst = next((s for s in ("fail", "warn") if any(one.state == s for one in lines)), "ok")
    return {"state": worst, "checks": [one.to_json() for one in lines], "at_s": round(time.time(), 1)}


def room(data: Path) -> Iterator[Line]:
    """Free disk space."""
    free = shutil.disk_usage(_place(data)).free
    state = "fail" if free < FREE_FAIL else "warn" if free < FREE_WARN else "ok"
    yield line("disk", state, "disk.free", "" if state == "ok" else "disk", gb=round(free / 1e9, 1), path=str(data))


def _place(data: Path) -> Path:
    return next(p for p in (data, *data.resolve().parents) if p.exists())


def storage(data: Path) -> Iterator[Line]:
    """Disk space, write access, and the log's integrity."""
    place = _place(data)
    yield from room(data)
    try:
        begun = time.perf_counter()
        with tempfile.NamedTemporaryFile(dir=place, prefix=".bastide-test-") as f:
            f.write(os.urandom(65536))
            f.flush()
            os.fsync(f.fileno())
        took = time.perf_counter() - begun
        slow = took > SLOW_WRITE_S
        yield line("writing", "warn" if slow else "ok", "writing.took", "slow" if slow else "", ms=round(took * 1000))
    except OSError as e:
        yield line("writing", "fail", "writing.not", "rights", path=str(place), why=str(e.strerror or e))
    log = data / "log.sqlite"
    if not log.exists():
        yield line("log", "ok", "log.none", path=str(data))
        return
    try:
        db = sqlite3.connect(f"file:{log.resolve().as_posix()}?mode=ro", uri=True)
        try:
            version = db.execute("PRAGMA user_version").fetchone()[0]
            games = db.execute("SELECT count(*) FROM games").fetchone()[0]
            entries = db.execute("SELECT count(*) FROM entries").fetchone()[0]
            wrong = damage(db) or difference(log) if version == SCHEMA_VERSION else None
        finally:
            db.close()
        size = sum(p.stat().st_size for p in (log, pictures_of(log)) if p.exists())
        if version > SCHEMA_VERSION:
            yield line("log", "fail", "log.newer", "update")
        elif wrong is not None:
            yield line("log", "fail", "log.damaged", "restart", why=wrong)
        else:
            yield line("log", "ok", "log.whole", games=games, entries=entries, mb=round(size / 1e6, 1))
    except (sqlite3.Error, UnicodeDecodeError) as e:
        yield line("log", "fail", "log.unreadable", "restart", why=str(e))
    second = read_note(data)
    if second is not None and second.ok:
        yield line("backup", "ok", "backup.made", name=second.file, games=second.games, entries=second.entries)
    elif second is not None:
        yield line("backup", "warn", "backup.failed", "stick", why=second.why[:200])
    aside = sorted(p.name for p in data.glob("*.damaged-*"))
    if aside:
        yield line("damaged files", "warn", "damaged.kept", "damaged", n=len(aside), name=aside[-1])


def memory(root: Path = Path("/")) -> Iterator[Line]:
    """Available memory."""
    try:
        rows = dict(row.split(":", 1) for row in (root / "proc/meminfo").read_text("utf-8").splitlines())
        free, total = (int(rows[key].split()[0]) * 1024 for key in ("MemAvailable", "MemTotal"))
    except (OSError, KeyError, ValueError, IndexError):
        return
    state = "fail" if free < MEMORY_FAIL else "warn" if free < MEMORY_WARN else "ok"
    yield line("memory", state, "memory.free", "" if state == "ok" else "memory", mb=round(free / 1e6),
               total=round(total / 1e6))


def temperature(root: Path = Path("/")) -> Iterator[Line]:
    """The hottest temperature sensor, if any."""
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
    yield line("temperature", state, "temperature.is", "" if state == "ok" else "hot", degrees=round(hot))


def power(root: Path = Path("/")) -> Iterator[Line]:
    """Undervoltage and throttling, as a Raspberry Pi reports them."""
    try:
        bits = int((root / THROTTLED).read_text("utf-8").strip(), 16)
    except (OSError, ValueError):
        told = _asked("vcgencmd", "get_throttled") if root == Path("/") else ""
        try:
            bits = int(told.partition("=")[2], 16)
        except ValueError:
            return
    if bits & 0x1:
        yield line("power", "fail", "power.low", "supply")
    elif bits & 0x10000:
        yield line("power", "warn", "power.was_low", "supply")
    elif bits & 0x40004:
        yield line("power", "warn", "power.slowed", "air")
    else:
        yield line("power", "ok", "power.right")


def clock(root: Path = Path("/")) -> Iterator[Line]:
    """Whether the system time is plausible: logs and calibrations have timestamps."""
    now = datetime.now(UTC)
    synchronised = (root / "run/systemd/timesync/synchronized").exists()
    ask = not synchronised and root == Path("/")
    told = _asked("timedatectl", "show", "-p", "NTPSynchronized", "--value") if ask else ""
    if now.year < 2025:
        yield line("clock", "fail", "clock.wrong", "set_clock", date=f"{now:%Y-%m-%d}")
    elif synchronised or told == "yes":
        yield line("clock", "ok", "clock.right", date=f"{now:%Y-%m-%d %H:%M}")
    else:
        yield line("clock", "warn", "clock.unknown", "network", date=f"{now:%Y-%m-%d %H:%M}")


def ports(port: int) -> Iterator[Line]:
    """Whether the page's port is free, or already ours."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as s:
        s.settimeout(1.0)
        if s.connect_ex(("127.0.0.1", port)) != 0:
            yield line("port", "ok", "port.free", port=str(port))
            return
        try:
            s.sendall(b"HEAD /api/state HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n")
            ours = b"server: bastide" in s.recv(4096).lower()
        except OSError:
            ours = False
    yield line("port", "ok" if ours else "warn", "port.ours" if ours else "port.taken", "" if ours else "port",
               port=str(port))


def picture(light: float, sharp: float) -> Iterator[Line]:
    """Light and focus of a camera's picture, as `vision.picture` measures them."""
    bad = not 40 <= light <= 215
    yield line("light", "warn" if bad else "ok", "light.is", "" if not bad else "lighter" if light < 128 else "darker",
               level=round(light))
    yield line("focus", "warn" if sharp < 4.0 else "ok", "focus.is", "focus" if sharp < 4.0 else "",
               sharp=round(sharp, 1))


def calibrated(documents: Iterable[tuple[str, Document]]) -> Iterator[Line]:
    """Age and fit of each calibration."""
    for path, document in documents:
        days = (datetime.now(UTC) - datetime.fromisoformat(document.made)).days
        fit: dict[str, Part]
        match document.result:
            case LensResult(rms_px=rms):
                code, fit, bad = "calibration.lens", {"px": round(rms, 2)}, rms > 1.0
            case TableResult(rms_mm=rms, worst_corner_mm=corner):
                code, fit = "calibration.table", {"mm": round(rms, 1), "corner": round(corner, 1)}
                bad = corner > 5.0
            case ColoursResult(confused=confused):
                bad = bool(confused)
                code = "calibration.confused" if bad else "calibration.apart"
                fit = {"pairs": ", ".join(confused)} if bad else {}
        bad = bad or days > OLD_DAYS
        yield line(f"calibration ({document.kind})", "warn" if bad else "ok", code, "calibrate" if bad else "",
                   path=path, days=days, kind=document.kind, **fit)


def _asked(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=5, check=False).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""
