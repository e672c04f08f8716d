"""The benchmark of a long evening: growth is told from what a game takes while it is played."""

from __future__ import annotations

import importlib.util
import random
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
