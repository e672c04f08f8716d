"""docs/rules/ says of every rule and ruling what it is, where it is printed, and which test knows it. This reads it and
looks whether each is there once and each named test exists."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from scoring.expansions import KNOWN
from scoring.rules import EDITIONS, citations, edition, options

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "rules").glob("*.md"))
SPECIFICATION = ROOT.parent / "shared" / "rules" / "RULES.md"
ID = r"R-[A-Z]+(?:-[A-Z]+)*-\d+"
RULING = r"A-\d\d"
TABLE_ONLY = "matter of the table only: "


def listed(pattern: str) -> list[list[str]]:
    """Each row of the pages whose first cell is such an id, cell by cell."""
    found = [row for page in PAGES
             for row in re.findall(rf"^\| ((?:{pattern}) \|.*) \|$", page.read_text("utf-8"), re.MULTILINE)]
    return [re.split(r" \| ", row) for row in found]


def named_in(path: Path, pattern: str = ID) -> set[str]:
    return set(re.findall(rf"\b{pattern}\b", path.read_text("utf-8")))


def wrong_tests(known: str, tests: str) -> list[str]:
    """What is wrong with the tests that a row names: ``file``s that name its id, or a test or case in ``file``."""
    if tests.startswith(TABLE_ONLY):
        return [] if len(tests) > len(TABLE_ONLY) + 10 else [f"{known} needs a reason"]
    named = re.findall(r"`(tests/[\w./]+)`(?: (test_\w+|[A-Z]+-[A-Z]+-\d+))?", tests)
    out = [] if named else [f"{known} names no test"]
    for file, test in named:
        text = (ROOT / file).read_text("utf-8") if (ROOT / file).is_file() else ""
        if test.startswith("test_"):
            there = f"def {test}(" in text
        elif test:
            there = test in {row["id"] for row in tomllib.loads(text)["case"]}
        else:
            there = bool(re.search(rf"\b{known}\b", text))
        if not there:
            out.append(f"{known}: {file} {test}".strip())
    return out


def wrong_row(known: str, text: str, editions: str, source: str) -> list[str]:
    """What is wrong with a rule's sentence, or with the editions and the source that it names."""
    out = [] if len(text) > 15 and text.endswith(".") else [f"{known}: no sentence"]
    if editions != "all" and not set(editions.split(", ")) <= {*EDITIONS, *KNOWN}:
        out.append(f"{known}: editions {editions}")
    if source.removesuffix(", implied") not in {*EDITIONS, *KNOWN}:
        out.append(f"{known}: source {source}")
    return out


def test_every_rule_and_ruling_stands_once_and_in_full() -> None:
    rules, rulings = listed(ID), listed(RULING)
    for rows, least in ((rules, 200), (rulings, 50)):
        ids = [row[0] for row in rows]
        assert len(ids) == len(set(ids)) > least
    assert [r[0] for r in rulings] == [f"A-{n:02}" for n in range(1, len(rulings) + 1)]
    assert [w for known, text, editions, source, _ in rules for w in wrong_row(known, text, editions, source)] == []
    assert {len(r) for r in rulings} == {5, 6} and all(all(cell.strip() for cell in r) for r in rulings)


@pytest.mark.parametrize(("editions", "source", "wrong"), [
    ("all", "rgg2006", ""), ("wheel, zman2012", "zman2012, implied", ""), ("tower", "tower", ""),
    ("somebody", "rgg2006", "editions somebody"), ("all", "somebody", "source somebody"), ("all", "", "source ")])
def test_a_rules_source_is_an_edition_or_its_own_box(editions: str, source: str, wrong: str) -> None:
    assert wrong_row("R-X-01", "A rule in a sentence.", editions, source) == ([f"R-X-01: {wrong}"] if wrong else [])


def test_each_named_test_exists() -> None:
    assert [w for row in (*listed(ID), *listed(RULING)) for w in wrong_tests(row[0], row[-1])] == []


@pytest.mark.parametrize("tests", ["", "`tests/scoring/none.py`", "`tests/scoring/test_rulings.py` test_none",
                                   "`tests/cases/wheel.toml` CC-NONE-01", "`tests/scoring/test_luck.py`",
                                   "matter of the table only: "])
def test_a_test_that_is_not_there_is_seen(tests: str) -> None:
    assert wrong_tests("A-51", tests)


def test_what_tests_and_code_name_is_on_the_pages() -> None:
    known = {row[0] for row in (*listed(ID), *listed(RULING))}
    files = [*(ROOT / "scoring").rglob("*.py"), *(ROOT / "scoring").rglob("*.toml"),
             *(ROOT / "tests" / "cases").glob("*.toml"), *(ROOT / "tests" / "scoring").glob("*.py")]
    unknown = {f"{name} in {f.relative_to(ROOT)}" for f in files if f != Path(__file__)
               for name in named_in(f, f"(?:{ID}|{RULING})") - known}
    assert not unknown


def test_every_option_that_the_pages_name_is_one() -> None:
    text = "".join(page.read_text("utf-8") for page in PAGES if page.name != "README.md")
    named = set(re.findall(r"`([a-z_]+)`", text))
    assert named <= set(options()) and len(named) > 15


def test_a_ruling_names_its_id_and_the_value_that_every_edition_gets() -> None:
    known, ruled = {row[0] for row in listed(RULING)}, [o for o in options().values() if o.ruling]
    for option in ruled:
        which, _, decided = option.ruling.partition(": ")
        value, _, reason = decided.partition(". ")
        assert which in known and which in option.rules and reason, option.name
        assert {citations(edition(name))[option.name].value for name in EDITIONS} == {value}, option.name
    assert len(ruled) == 6


@pytest.mark.skipif(not SPECIFICATION.exists(), reason="../shared/rules/RULES.md is not here")
def test_no_rule_is_missing() -> None:
    text = SPECIFICATION.read_text("utf-8")
    printed = {row[0] for row in listed(ID) if row[3] not in KNOWN or row[3] in EDITIONS}
    assert printed == set(re.findall(rf"^- \*\*({ID})\*\*", text, re.MULTILINE))
    assert {row[0] for row in listed(RULING)} >= set(re.findall(rf"^\| ({RULING}) \|", text, re.MULTILINE))
