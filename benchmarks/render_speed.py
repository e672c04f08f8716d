"""Rendering speed of the simulator relative to simulated time: ``python benchmarks/render_speed.py [TRANSCRIPT]``.

Without a transcript it draws the first game of ``../shared/games/dev`` when that is there. One thread; frames are
discarded.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import cv2

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from vision.frames import SourceError  # noqa: E402
from vision.simulator import LEVELS, Options, Simulator, load  # noqa: E402

SAMPLE = ROOT.parent / "shared" / "games" / "dev" / "base-000.json.gz"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("transcript", nargs="?", type=Path, default=SAMPLE)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--size", default="1536x864")
    parser.add_argument("--turns", type=int, default=None, help="only so many turns of the game")
    given = parser.parse_args()
    if not given.transcript.exists():
        print(f"skipped: there is no transcript {given.transcript}", file=sys.stderr)
        return 0
    cv2.setNumThreads(1)
    width, height = (int(n) for n in given.size.split("x"))
    try:
        data = load(given.transcript)
    except SourceError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{given.transcript.name}, {width}x{height}, one thread")
    print("level     frames  first s  frames/s  cpu fr/s  slowest s  x real time")
    slow = False
    for level in LEVELS:
        options = Options(level=level, size=(width, height), turns=given.turns)
        began, cpu, last, count, slowest, first = time.perf_counter(), time.process_time(), 0.0, 0, 0.0, 0.0
        for _ in Simulator(data, given.seed, options):
            now = time.perf_counter() - began
            first = first or now
            slowest = max(slowest, now - last) if count else 0.0
            last, count = now, count + 1
        rate, cpu_rate = count / last, count / (time.process_time() - cpu)
        ratio = cpu_rate / options.fps
        slow |= ratio < 1
        print(f"{level:8} {count:7d} {first:8.2f} {rate:9.1f} {cpu_rate:9.1f} {slowest:10.2f} {ratio:12.1f}")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
