"""``bastide rules --compare``: the differences of two editions with their sources."""

from __future__ import annotations

import json

import pytest

from bastide.cli import main
from scoring.rules import EDITIONS, citations, edition, editions


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["rules", *words])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.parametrize("left", EDITIONS)
@pytest.mark.parametrize("right", EDITIONS)
def test_exactly_the_differences(left: str, right: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = said(capsys, "--edition", left, "--compare", right, "--json")
    one, other = citations(edition(left)), citations(edition(right))
    found = json.loads(out)
    assert code == 0 and set(found) == {n for n in one if one[n].value != other[n].value}
    for name, row in found.items():
        assert [s["edition"] for s in row["sides"]] == [left, right]
        assert [s["value"] for s in row["sides"]] == [one[name].value, other[name].value]
        assert [s["source"] for s in row["sides"]] == [editions()[e].options[name].source for e in (left, right)]


def test_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = said(capsys, "--edition", "rgg2006", "--compare", "zman2012")
    lines = out.splitlines()
    assert lines[0].split() == ["rgg2006", "zman2012"]
    at = next(n for n, line in enumerate(lines) if line.startswith("farm_points_per_city (R-FARM-10"))
    assert lines[at + 1].split() == ["4", "3"]
    assert lines[at + 2].count("(") >= 2
    assert max(map(len, lines)) <= 120


def test_a_house_rule_is_on_the_left(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = said(capsys, "--edition", "wheel", "--rule", "two_tile_city=half", "--compare", "wheel", "--json")
    (row,) = json.loads(out).values()
    assert [(s["value"], s["source"] == "house rule") for s in row["sides"]] == [("half", True), ("normal", False)]
    assert said(capsys, "--compare", "zman2012")[1] == "zman2012 and zman2012 say the same.\n"


def test_an_unknown_edition(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = said(capsys, "--compare", "moon")
    assert (code, out) == (2, "")
    assert "--compare: unknown edition 'moon'; known are rgg2006, " in err and err.count("\n") == 1
    code, out, err = said(capsys, "--edition", "")
    assert (code, out) == (2, "") and "unknown edition ''; known are rgg2006, " in err


def test_the_editions_that_owners_know(capsys: pytest.CaptureFixture[str]) -> None:
    """Found by the text on the box and the points for small cities and farms."""
    code, out, _ = said(capsys, "--list", "--json")
    rows = {row["edition"]: row for row in json.loads(out)}
    assert code == 0 and set(rows) == set(editions()) and tuple(rows)[:4] == EDITIONS
    assert all(row["title"] and row["publisher"] and row["box"] and row["years"][0] >= 2000 for row in rows.values())
    assert all(not row["years"][1] or row["years"][1] >= row["years"][0] for row in rows.values())
    _, out, _ = said(capsys, "--list", "--json", "--publisher", "HANS", "--small-city", "2")
    assert [row["edition"] for row in json.loads(out)] == ["hig2000"]
    _, out, _ = said(capsys, "--list", "--farm", "4")
    assert "rgg2006: Rio Grande Big Box, 2006 (Rio Grande Games, 2006 to 2007)" in out and "zman" not in out
    assert said(capsys, "--list", "--small-city", "4", "--farm", "4")[0] == 2
    assert said(capsys, "--small-city", "4")[0] == 2


@pytest.mark.parametrize("name", [n for n in editions() if n not in EDITIONS])
def test_a_printing_says_whose_rules_it_has(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    printing = editions()[name]
    assert printing.like in EDITIONS and set(printing.options) == set(editions()["zman2012"].options)
    _, out, _ = said(capsys, "--edition", name, "--json")
    for option, row in json.loads(out).items():
        assert row["source"] and row["value"] == citations(edition(name))[option].value
    changed = [o for o, (_, source) in printing.options.items() if not source.startswith("as in ")]
    assert len(changed) < 8 and edition(name).edition == name
