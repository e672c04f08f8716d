"""Free memory of the heap is returned to the kernel: the same pictures, with the limits and without."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bastide.errors import Failure

Run = Callable[..., tuple[int, str, str]]

PICTURES = """
import random, sys, threading
from pathlib import Path
from bastide.machine.heap import give_back, limit_heap
if sys.argv[1] != "none" and not limit_heap():
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

# The remainder is the same with and without limits: some 25 MB per thread.
stays = []
threads = [threading.Thread(target=lambda n=n: stays.append(evening(n))) for n in range(6)]
for t in threads:
    t.start()
for t in threads:
    t.join()
if sys.argv[1] == "given back":
    give_back()
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


HOLES = """
import sys
from pathlib import Path
from bastide.machine.heap import give_back, trimmed

def rss_mb():
    return next(int(x.split()[1]) for x in Path("/proc/self/status").read_text().splitlines()
                if x.startswith("VmRSS")) / 1024

blocks = [(bytearray(60_000), bytearray(1_000)) for _ in range(2000)]
stays = [small for _, small in blocks]
del blocks
before = rss_mb()
if sys.argv[1] == "now":
    give_back()
else:
    import threading
    from bastide.machine import heap
    done = threading.Event()
    heap.give_back = lambda: give_back() and done.set()
    with trimmed(0.01):
        done.wait(60)
print(before - rss_mb())
"""


END = """
import sys, threading
from pathlib import Path
from bastide.machine.heap import give_back, limit_heap
if not limit_heap():
    raise SystemExit(75)

def rss_mb():
    return next(int(x.split()[1]) for x in Path("/proc/self/status").read_text().splitlines()
                if x.startswith("VmRSS")) / 1024

def work():
    blocks = [bytearray(60_000) for _ in range(200)]
    del blocks

before = rss_mb()
threads = [threading.Thread(target=work) for _ in range(8)]
for t in threads:
    t.start()
for t in threads:
    t.join()
give_back()
print(rss_mb() - before)
"""


def test_the_free_end_of_what_a_thread_used_is_given_back() -> None:
    """A heap of the threads' own keeps its end: some 12 MB here."""
    done = subprocess.run([sys.executable, "-c", END], capture_output=True, text=True, cwd=Path(__file__).parents[2])
    if done.returncode == 75:
        pytest.skip("this C library has no mallopt")
    assert done.returncode == 0 and float(done.stdout) < 4, done.stderr


@pytest.mark.parametrize("how", ["now", "in time"])
def test_what_is_free_among_things_that_stay_is_given_back(how: str) -> None:
    if not hasattr(ctypes.CDLL(None), "malloc_trim"):
        pytest.skip("this C library has no malloc_trim")
    done = subprocess.run([sys.executable, "-c", HOLES, how], capture_output=True, text=True,
                          cwd=Path(__file__).parents[2])
    assert done.returncode == 0 and float(done.stdout) > 60, done.stderr  # of 114 MB


def test_a_served_table_gives_back(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def told() -> None:
        raise Failure("given back")

    monkeypatch.setattr("bastide.machine.heap.trimmed", told)
    assert run("serve", "--port", 0) == (1, "", "bastide serve: given back\n")
