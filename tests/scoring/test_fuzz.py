"""The fuzzing benchmark in a small size: broken games and broken transcripts, other seeds than the property tests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

from fuzz_rules import main  # noqa: E402


def test_nothing_but_declared_errors_and_figures_conserved(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["--games", "30", "--transcripts", "60", "--tiles", "14", "--seed", "7000"])
    out, err = capsys.readouterr()
    assert (code, err) == (0, "") and "30" in out.split("games")[1].split()[0]
