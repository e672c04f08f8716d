"""Linting of the whole checkout, strict types where pyproject.toml asks for them, the form of the page's modules."""

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


def test_the_page_is_formatted_and_linted() -> None:
    biome = next(ROOT.glob("node_modules/@biomejs/cli-*/biome"), None)
    if biome is None:
        pytest.skip("Biome is not installed: ./run lint does it where there is npm")
    command = [biome, "ci", "--error-on-warnings", "--colors=off"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
