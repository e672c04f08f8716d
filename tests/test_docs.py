"""References in the documents are valid: files, links, commands and their options."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from bastide.cli import VERBS, parser

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
ROOMS = ("scoring", "vision", "reading", "calibration", "hardware", "web", "bastide", "tests", "benchmarks", "docs")


def links(text: str) -> Iterator[str]:
    for target in re.findall(r"\]\(([^)\s]+)\)|<img[^>]*src=\"([^\"]+)\"", text):
        name = (target[0] or target[1]).split("#")[0]
        if name and not re.match(r"[a-z]+:", name):
            yield name


def named_files(text: str) -> Iterator[str]:
    """Paths of this checkout in code marks: `scoring/log.py`, `tests/cases/`."""
    for name in re.findall(r"`([\w./-]+)`", text):
        top, slash, _ = name.partition("/")
        if slash and top in ROOMS and "*" not in name:
            yield name


def commands(text: str) -> Iterator[list[str]]:
    """Command lines of bastide in code blocks."""
    for block in re.findall(r"```\w*\n(.*?)```", text, re.DOTALL):
        for line in block.splitlines():
            line = re.sub(r"\s+#.*$", "", line.strip().removeprefix("$ "))
            found = re.match(r"(?:\./run bastide|\./run(?= demo)|(?:\.venv/bin/)?bastide)\s+(.*)", line)
            if found and not re.search(r"[\[\]|…]|\.\.\.", line):
                yield shlex.split(found[1])


@pytest.mark.parametrize("path", DOCUMENTS, ids=[p.relative_to(ROOT).as_posix() for p in DOCUMENTS])
def test_what_a_document_names_is_there(path: Path) -> None:
    text = path.read_text("utf-8")
    missing = [n for n in links(text) if not (path.parent / n).exists()]
    missing += [n for n in named_files(text) if not (ROOT / n).exists()]
    assert not missing


@pytest.mark.parametrize("path", DOCUMENTS, ids=[p.relative_to(ROOT).as_posix() for p in DOCUMENTS])
def test_the_commands_of_a_document_can_be_typed(path: Path) -> None:
    for command in commands(path.read_text("utf-8")):
        parser().parse_args(command)


def test_the_fixed_surface_of_the_command_line_is_there() -> None:
    options = {
        "demo": "--port --seed --speed --expansions --once", "serve": "--source --port --host --data",
        "watch": "--source --tiles --players --edition --rule --expansions --calibration --first --out --json",
        "read": "--tiles --expansions --calibration --overlay --json", "score": "--edition --rule --json",
        "teach": "--source --out", "calibrate": "--board --source --lens --mat --out --json",
        "print": "--paper --out", "doctor": "--json", "export": "--to --out", "backup": "--out", "restore": "",
    }
    (verbs,) = (a for a in parser()._actions if isinstance(a, argparse._SubParsersAction))
    assert set(options) <= set(VERBS)
    for verb, needed in options.items():
        assert set(needed.split()) <= set(verbs.choices[verb]._option_string_actions), verb


def test_the_check_sees_what_is_missing() -> None:
    text = "[a](none.md) `scoring/none.py` `bastide/log.sqlite`\n```\n./run bastide score --jsn\n```\n"
    assert list(links(text)) == ["none.md"]
    assert list(named_files(text)) == ["scoring/none.py", "bastide/log.sqlite"]
    assert list(commands(text)) == [["score", "--jsn"]]
