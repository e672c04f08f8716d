"""Linting of the whole checkout, strict types where pyproject.toml asks for them, form and types of the page."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("tool", [["ruff", "check", "--quiet", "--output-format=concise", "."], ["mypy"],
                                  ["mypy", "--config-file", "benchmarks/mypy.ini"]], ids=["ruff", "mypy", "benchmarks"])
def test_the_checkout_is_clean(tool: list[str]) -> None:
    done = subprocess.run([sys.executable, "-m", *tool], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(("program", "options"), [
    ("@biomejs/cli-*/biome", ["ci", "--error-on-warnings", "--colors=off"]),
    ("@typescript/typescript-*/lib/tsc", ["-p", "jsconfig.json"])], ids=["form", "types"])
def test_the_page_is_clean(program: str, options: list[str]) -> None:
    tool = next(ROOT.glob(f"node_modules/{program}"), None)
    if tool is None:
        pytest.skip("it is not installed: ./run lint does it where there is npm")
    done = subprocess.run([tool, *options], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
