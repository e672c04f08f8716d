"""bastide as a process that notes its own memory and, where asked, has the table's clock instead of the wall's.

``python timed_table.py --notes FILE [--step S --ready FD] serve ...``; for `benchmarks/evening.py`.

With ``--step`` each picture that the camera's thread publishes is S seconds after the one before, however soon it
comes. ``time.time``, ``time.monotonic`` and every wait with a timeout in ``threading`` and ``queue`` go by that clock,
so that what happens every minute happens as often in an hour of table time. A byte is written to FD whenever the loop
is done with a picture and asks for the next. What stays on the wall's clock: timeouts of sockets and of FFmpeg, of
locks and joins, ``time.perf_counter``, SQLite's busy timeout.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import queue
import sys
import threading
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
NOTE_EVERY_S = 5.0  # of table time
_SLICE_S = 0.1  # real time between two checks of the table's clock


class TableClock:
    """Seconds that go by as on the wall, or faster: each `step` is at least ``step_s`` after the one before."""

    def __init__(self, step_s: float) -> None:
        self._wall, self._step_s, self._ahead_s = time.monotonic, step_s, 0.0
        self._last_s, self._lock = self._wall(), threading.Lock()

    def now(self) -> float:
        return self._wall() + self._ahead_s

    @property
    def ahead_s(self) -> float:
        """By how much it is ahead of the wall."""
        return self._ahead_s

    def step(self) -> None:
        with self._lock:
            self._ahead_s += max(0.0, self._last_s + self._step_s - self.now())
            self._last_s = self.now()


class _MallInfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")]


def heap_bytes() -> tuple[int, int]:
    """What is in use of the C library's heaps and of blocks with pages of their own (mallinfo2), and what lies free in
    the heaps. Python's small objects are not in it: they have arenas of their own, unless PYTHONMALLOC=malloc."""
    asked = ctypes.CDLL(None).mallinfo2
    asked.restype = _MallInfo
    found = asked()
    return found.uordblks + found.hblkhd, found.fordblks


def own_memory_mb() -> tuple[float, float]:
    """This process' share of everything, and what is its own and in no file (/proc/self/smaps_rollup), in MB."""
    lines = Path("/proc/self/smaps_rollup").read_text("utf-8").splitlines()[1:]
    rows = dict(line.split(":", 1) for line in lines)
    return int(rows["Pss"].split()[0]) / 1024, int(rows["Anonymous"].split()[0]) / 1024


def go_by(clock: TableClock) -> None:
    """Have everything that is imported from now on, and `threading`, go by that clock."""
    began_s, wait = time.time() - clock.now(), threading.Condition.wait

    def waits(self: threading.Condition, timeout: float | None = None) -> bool:
        if timeout is None:
            return wait(self)
        due_s = clock.now() + timeout
        while not (told := wait(self, max(0.0, min(_SLICE_S, due_s - clock.now())))) and clock.now() < due_s:
            pass
        return told

    time.monotonic, time.time = clock.now, lambda: began_s + clock.now()
    threading.Condition.wait = waits  # type: ignore[method-assign]
    for module, name in ((threading, "_time"), (queue, "time")):
        setattr(module, name, clock.now)


def in_step(clock: TableClock, ready: int) -> None:
    """Every live camera's pictures are steps of that clock; say when the next one may come."""
    from hardware.live import LiveSource

    publish, read = LiveSource._publish, LiveSource.read

    def published(self: LiveSource, image: Any) -> None:
        clock.step()
        publish(self, image)

    def reads(self: LiveSource, timeout_s: float = 5.0) -> Any:
        os.write(ready, b".")
        return read(self, timeout_s)

    LiveSource._publish, LiveSource.read = published, reads  # type: ignore[method-assign]


def counted(frames: list[int]) -> None:
    """Count the pictures that are followed."""
    from bastide.watching.following import Following

    take = Following.take

    def takes(self: Any, frame: Any) -> bool:
        frames[0] += 1
        return take(self, frame)

    Following.take = takes  # type: ignore[method-assign]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=Path, required=True)
    parser.add_argument("--step", type=float)
    parser.add_argument("--ready", type=int)
    parser.add_argument("argv", nargs=argparse.REMAINDER)
    args = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    from bastide.machine.heap import limit_heap

    limit_heap()  # as serve does before anything that begins threads is imported: heaps that are there stay
    clock, frames = TableClock(args.step or 0.0), [0]
    if args.step:
        go_by(clock)
    from bastide.cli import main as bastide

    if args.step:
        in_step(clock, args.ready)
    counted(frames)

    def note() -> None:
        pss, own = own_memory_mb()
        in_use, free = heap_bytes()
        with args.notes.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"s": round(clock.now(), 2), "pss_mb": round(pss, 2), "own_mb": round(own, 2),
                                   "in_use_mb": round(in_use / 2**20, 3), "free_mb": round(free / 2**20, 2),
                                   "blocks": sys.getallocatedblocks(), "frames": frames[0],
                                   "cpu_s": round(time.process_time(), 1)}) + "\n")

    from bastide.machine.repeating import repeating

    with repeating(note, NOTE_EVERY_S, "notes"):
        return bastide(args.argv)


if __name__ == "__main__":
    raise SystemExit(main())
