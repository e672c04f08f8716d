"""Soak test: games back to back through session, log and server, with viewers on the event stream.

    ./run bench soak                       200 games of a full box, 30 viewers
    ./run bench soak --games 20 --viewers 5

Without vision: moves are fed to the session as by the camera's loop, each with a picture of typical size; the server
runs in this process and the viewers in another. Printed twenty times, and evaluated at the end as last against second
quarter: memory, file descriptors, threads, the time until a move is on disk and published; bytes per game in the log
and in the pictures; SQLite's writes and syncs per game (tests/bastide/faulty_disk.py) and the kernel's count of bytes
for the process (/proc/self/io).
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "bastide")]

from faulty_disk import Disk, available, faulty  # noqa: E402

from bastide.log.pictures import Pictures  # noqa: E402
from bastide.log.store import Store  # noqa: E402
from bastide.table.demo_game import demo_game  # noqa: E402
from bastide.table.session import TableSession  # noqa: E402
from scoring.events import Event  # noqa: E402
from vision.stills import Still  # noqa: E402
from web.app import create_app  # noqa: E402
from web.server import PageServer  # noqa: E402

FLAT = 1.15  # largest accepted growth of memory, threads or files
CROP_BYTES, STILL_BYTES = 9_000, 250_000
KINDS = 8  # different games, repeated: making them takes longer than playing them


def viewers(url: str, count: int) -> None:
    """Watch until the server ends, in the child process."""
    def watch() -> None:
        try:
            with urllib.request.urlopen(url + "api/events", timeout=600) as stream:
                for _ in stream:
                    pass
        except OSError:
            pass

    threads = [threading.Thread(target=watch) for _ in range(count)]
    for t in threads:
        t.start()
    print("watching", flush=True)
    for t in threads:
        t.join()


def measured(times: list[float]) -> dict[str, float]:
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text("utf-8").splitlines())
    ordered = sorted(times) or [0.0]
    return {"memory_mb": round(int(status["VmRSS"].split()[0]) / 1024, 1), "threads": int(status["Threads"]),
            "fds": len(os.listdir("/proc/self/fd")), "move_ms_p50": round(1000 * statistics.median(ordered), 2),
            "move_ms_p99": round(1000 * ordered[int(0.99 * (len(ordered) - 1))], 2)}


def disk_bytes() -> int:
    rows = dict(line.split(": ") for line in Path("/proc/self/io").read_text("utf-8").splitlines())
    return int(rows["write_bytes"])


def soak(games: int, watching: int, folder: Path, pictures: bool, minutes: float) -> dict[str, object]:
    """Play; returns the figures."""
    made: list[tuple[Event, ...]] = [demo_game(seed).events for seed in range(min(KINDS, games))]
    crop, still = os.urandom(CROP_BYTES), Still(jpeg=os.urandom(STILL_BYTES), poses={})
    rows: list[dict[str, float]] = []
    times: list[float] = []
    moves, begun = 0, time.monotonic()
    disk = Disk(record=False)
    played = 0
    with faulty(disk), Store(folder / "log.sqlite") as store:
        first = demo_game(0, turns=1).setup
        session = TableSession(store, first)
        with PageServer(create_app(session), port=0) as server:
            child = subprocess.Popen([sys.executable, __file__, "--watch", server.url, "--viewers", str(watching)],
                                     stdout=subprocess.PIPE, text=True, cwd=ROOT)
            assert child.stdout is not None and child.stdout.readline() == "watching\n"
            written, asked, synced = disk_bytes(), disk.writes, disk.syncs
            players = [{"name": p.name, "colour": p.colour} for p in first.players]
            for n in range(games):
                for event in made[n % len(made)]:
                    at = time.perf_counter()
                    session.commit((event,), confidence=0.99, asked=False, crop=crop if pictures else None,
                                   still=still if pictures else None)
                    times.append(time.perf_counter() - at)
                    moves += 1
                session.command({"do": "end_game"})
                played += 1
                if (n + 1) % max(1, games // 20) == 0:
                    rows.append({"games": n + 1, **measured(times)})
                    times.clear()
                    print(json.dumps(rows[-1]), flush=True)
                if time.monotonic() - begun > 60 * minutes:
                    break
                if n + 1 < games:
                    session.command({"do": "new_game", "setup": {"players": players, "edition": first.rules.edition}})
        child.wait(30)
        child.stdout.close()
        written, asked, synced = disk_bytes() - written, disk.writes - asked, disk.syncs - synced
    log = (folder / "log.sqlite").stat().st_size
    shown = Pictures(store.pictures.path).path.stat().st_size
    quarter = max(1, len(rows) // 4)
    early, late = rows[quarter - 1:2 * quarter] or rows[:1], rows[-quarter:]
    growth = {key: round(statistics.mean(r[key] for r in late) / max(1e-9, statistics.mean(r[key] for r in early)), 3)
              for key in ("memory_mb", "threads", "fds", "move_ms_p50", "move_ms_p99")}
    return {"games": played, "moves": moves, "viewers": watching, "last over second quarter": growth,
            "log bytes per game": log // played, "picture bytes in all": shown,
            "writes per game": asked // played, "syncs per game": synced // played,
            "bytes to disk per game": written // played, "bytes to disk per move": written // moves}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--viewers", type=int, default=30)
    parser.add_argument("--no-pictures", action="store_true")
    parser.add_argument("--minutes", type=float, default=60, help="stop after so long")
    parser.add_argument("--watch", metavar="URL", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.watch:
        viewers(args.watch, args.viewers)
        return 0
    if not available:
        raise SystemExit("soak: this Python brings a SQLite of its own; writes cannot be counted")
    with tempfile.TemporaryDirectory() as folder:
        found = soak(args.games, args.viewers, Path(folder), not args.no_pictures, args.minutes)
    growth = found.pop("last over second quarter")
    assert isinstance(growth, dict)
    for what, figure in (*found.items(), *((f"{k}, last over second quarter", v) for k, v in growth.items())):
        print(f"{what:44} {figure:>12}")
    return any(growth[key] > FLAT for key in ("memory_mb", "threads", "fds"))


if __name__ == "__main__":
    raise SystemExit(main())
