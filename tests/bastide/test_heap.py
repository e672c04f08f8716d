"""Holes in the heap are given back: the same pictures, with the limits and without."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PICTURES = """
import random, sys, threading
from pathlib import Path
from bastide.heap import limit_heap
if sys.argv[1] == "limits" and not limit_heap():
    raise SystemExit(75)
import numpy as np

def evening(seed):
    rng, kept = random.Random(seed), []
    for n in range(1500):
        picture = np.ones(rng.randrange(300_000, 2_500_000), np.uint8)
        small = [bytearray(rng.randrange(2_000, 60_000)) for _ in range(6)]
        kept.append(small[0])
        if n % 2:
            del kept[:1]
        del picture, small
    return kept

# What stays is as much with limits as without: some 25 MB a thread.
stays = []
threads = [threading.Thread(target=lambda n=n: stays.append(evening(n))) for n in range(6)]
for t in threads:
    t.start()
for t in threads:
    t.join()
used = sum(len(b) for s in stays for b in s)
rss = next(int(x.split()[1]) for x in Path("/proc/self/status").read_text().splitlines() if x.startswith("VmRSS"))
print(rss * 1024 - used)
"""


def held(how: str) -> int:
    done = subprocess.run([sys.executable, "-c", PICTURES, how], capture_output=True, text=True,
                          cwd=Path(__file__).parents[2])
    if done.returncode == 75:
        pytest.skip("this C library has no mallopt")
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def test_limits_leave_fewer_holes() -> None:
    assert held("limits") < 0.8 * held("none")
