"""docs/rules.md says of every rule where it is tested, or why it cannot be. This reads it and looks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SPECIFICATION = ROOT.parent / "shared" / "rules" / "RULES.md"
ID = r"R-[A-Z]+(?:-[A-Z]+)*-\d+"
TABLE_ONLY = "matter of the table only: "


def listed() -> list[tuple[str, str]]:
    """Each row of the list: the rule's id and where it is tested."""
    text = (ROOT / "docs" / "rules.md").read_text("utf-8")
    return re.findall(rf"^\| ({ID}) \| [^|]+ \| ([^|]+) \|$", text, re.MULTILINE)


def named_in(path: Path) -> set[str]:
    return set(re.findall(rf"{ID}\b", path.read_text("utf-8")))


def test_the_list_is_read() -> None:
    ids = [rule for rule, _ in listed()]
    assert len(ids) == len(set(ids)) > 200


def test_every_rule_is_named_where_the_list_says() -> None:
    wrong = []
    for rule, where in listed():
        files = re.findall(r"`(tests/[\w./]+)`", where)
        if where.startswith(TABLE_ONLY):
            assert len(where) > len(TABLE_ONLY) + 10, f"{rule} needs a reason"
            continue
        assert files, f"{rule} names no test"
        wrong += [f"{rule} in {f}" for f in files if rule not in named_in(ROOT / f)]
    assert not wrong


def test_what_tests_and_code_name_is_a_rule() -> None:
    known = {rule for rule, _ in listed()}
    files = [*(ROOT / "scoring").rglob("*.py"), *(ROOT / "scoring").rglob("*.toml"),
             *(ROOT / "tests" / "cases").glob("*.toml"), *(ROOT / "tests" / "scoring").glob("*.py")]
    unknown = {f"{rule} in {f.relative_to(ROOT)}" for f in files for rule in named_in(f) - known}
    assert not unknown


@pytest.mark.skipif(not SPECIFICATION.exists(), reason="../shared/rules/RULES.md is not here")
def test_no_rule_is_missing() -> None:
    printed = set(re.findall(rf"^- \*\*({ID})\*\*", SPECIFICATION.read_text("utf-8"), re.MULTILINE))
    assert {rule for rule, _ in listed()} == printed
