"""The benchmark of a long evening: growth is distinguished from a game's own memory."""

from __future__ import annotations

import importlib.util
import random
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "evening.py"


@pytest.fixture(scope="module")
def evening() -> ModuleType:
    spec = importlib.util.spec_from_file_location("evening", BENCHMARK)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["evening"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("grows", [0.0, 20.0])
def test_what_a_game_takes_is_no_growth(evening: ModuleType, grows: float) -> None:
    """Twelve games of 20 minutes, in each of which memory rises by 30 MB and falls again."""
    rng = random.Random(4)
    points = [(minute / 60, 200 + 1.5 * (minute % 20) + grows * minute / 60 + rng.gauss(0, 2), minute % 20)
              for minute in range(240)]
    line, low, high = evening.slope(points, 10 / 60)
    assert abs(line - grows) < 3 and low < line < high and (low > 10) == (grows > 10)


def test_one_game_tells_the_plain_slope(evening: ModuleType) -> None:
    points = [(minute / 60, 200 + 90.0 * minute / 60, minute) for minute in range(19)]
    assert evening.slope(points, 10 / 60)[0] == pytest.approx(90.0)


def test_table_time_goes_by_pictures_and_waits_go_by_it() -> None:
    """An hour's wait is over after an hour of pictures; in a process of its own, where everything goes by that clock.
    """
    program = """
import sys, threading, time
sys.path.insert(0, sys.argv[1])
from timed_table import TableClock, go_by
clock = TableClock(60.0)
go_by(clock)
woken = threading.Event()
thread = threading.Thread(target=lambda: (threading.Event().wait(3600.0), woken.set()), daemon=True)
before, wall = time.monotonic(), time.time()
thread.start()
for _ in range(59):
    clock.step()
assert not woken.is_set() and time.monotonic() - before >= 59 * 60 - 60
clock.step(), clock.step()
assert woken.wait() and abs((time.time() - wall) - (time.monotonic() - before)) < 1
told = threading.Event()
threading.Thread(target=told.set).start()
assert told.wait(1e6)
"""
    subprocess.run([sys.executable, "-c", program, str(Path(__file__).parent)], check=True, timeout=120)
