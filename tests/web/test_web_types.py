"""The types of the page's modules, checked as they are by TypeScript's compiler, where somebody has it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

CONFIG = Path(__file__).parent / "jsconfig.json"


def test_the_modules_types_are_right():
    compiler = shutil.which("tsc")
    if compiler is None:
        pytest.skip("no tsc on this machine (npm install -g typescript)")
    done = subprocess.run([compiler, "-p", str(CONFIG)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout
