"""docs/reliability.md and docs/security.md: every proof that they name is there and can be run as it is written."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RELIABILITY, SECURITY = ROOT / "docs/reliability.md", ROOT / "docs/security.md"


def wrong(command: str) -> str | None:
    """What is wrong with a command of the document; None when it can be typed."""
    words = shlex.split(command)
    if words[:2] == ["./run", "bench"]:
        file = ROOT / "benchmarks" / f"{words[2]}.py"
        if not file.exists():
            return f"no {file.name}"
        text = file.read_text("utf-8")
        return next((w for w in words[3:] if w.startswith("--") and f'"{w}"' not in text), None)
    if words[:2] == ["./run", "test"]:
        return next((w for w in words[2:] if not there(w)), None)
    return f"what is {words[0]}?"


def there(test: str) -> bool:
    """Whether a test file, or a test in it, exists."""
    name, _, function = test.partition("::")
    file = ROOT / name
    return file.exists() and (not function or f"def {function}(" in file.read_text("utf-8"))


def test_every_promise_has_a_proof_that_can_be_run() -> None:
    text = RELIABILITY.read_text("utf-8")
    commands = re.findall(r"`(\./run [^`]+)`", text)
    assert len(commands) > 25 and not [(c, w) for c in commands if (w := wrong(c))]
    promises = [line.split("|")[2] for line in text.splitlines() if line.startswith("| ")]
    assert len(promises) > 25 and "@" not in text


def test_every_test_that_the_threat_model_names_exists() -> None:
    text, last, missing = SECURITY.read_text("utf-8"), "", []
    named = re.findall(r"`((?:tests/|\.\.\.|test_)[\w./]*?(?:::\w+)?)`", text)
    for name in named:
        file, _, function = name.partition("::")
        last = last if file == "..." else file if "/" in file else f"tests/web/{file}"
        if not there(f"{last}::{function}" if function else last):
            missing.append(name)
    assert len(named) > 20 and not missing
    for command in re.findall(r"`python (benchmarks/\w+\.py)[^`]*`", text):
        assert (ROOT / command).exists()


@pytest.mark.parametrize("command", ["./run bench none", "./run bench soak --gamez 3", "./run test tests/none.py",
                                     "./run test tests/bastide/test_rough.py::test_none", "rm x"])
def test_the_check_sees_what_is_missing(command: str) -> None:
    assert wrong(command)
