"""Linting of the whole checkout and strict types of the rules engine, as tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("tool", [["ruff", "check", "--quiet", "--output-format=concise", "."], ["mypy"]],
                         ids=["ruff", "mypy"])
def test_the_checkout_is_clean(tool: list[str]) -> None:
    done = subprocess.run([sys.executable, "-m", *tool], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
