"""``bastide rules``: the rules in force, each with its source, or the differences of two editions."""

from __future__ import annotations

import argparse
import json
import textwrap
from typing import TypedDict

from bastide.errors import UsageError
from bastide.inputs import add_rules_arguments, rules
from scoring.errors import InvalidNotation
from scoring.rules import Rules, citations, edition, editions, found_by, marks_of, options

HELP = "print the rules in force, each with its source, or the differences between two editions"
COLUMN = 58  # characters of one side


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_rules_arguments(parser)
    parser.add_argument("--compare", metavar="E", help="only the differences to this edition, side by side, each "
                        f"with its source ({', '.join(editions())}); --rule changes the left side")
    parser.add_argument("--list", action="store_true", help="list the editions with title and years, and how to tell "
                        "them apart")
    parser.add_argument("--publisher", metavar="P", help="with --list: only those of this publisher, as on the box")
    parser.add_argument("--small-city", type=int, choices=(2, 4), help="with --list: only those that pay "
                        "this many points for a completed city of two tiles")
    parser.add_argument("--farm", type=int, choices=(3, 4), help="with --list: only those whose farms "
                        "get this many points per completed city")
    parser.add_argument("--json", action="store_true")


def run(args: argparse.Namespace) -> int:
    asked = [f for f in ("publisher", "small_city", "farm") if getattr(args, f) is not None]
    if asked and not args.list:
        raise UsageError(f"--{asked[0].replace('_', '-')}: requires --list")
    if args.list:
        names = found_by(args.publisher, args.small_city, args.farm)
        if not names:
            raise UsageError("no known edition matches all of these options; omit one")
        print(json.dumps([listed(n) for n in names], ensure_ascii=False) if args.json else told(names))
        return 0
    left = rules(args)
    if args.compare is not None:
        try:
            right = edition(args.compare)
        except InvalidNotation as e:
            raise UsageError(f"--compare: {e}") from e
        print(json.dumps(differences(left, right)) if args.json else side_by_side(left, right))
        return 0
    rows = citations(left)
    if args.json:
        print(json.dumps({n: {"value": v, "rules": ids, "source": source,
                              **({"ruling": options()[n].ruling} if options()[n].ruling else {})}
                          for n, (v, ids, source) in rows.items()}))
        return 0
    for name, (value, ids, source) in rows.items():
        option = options()[name]
        print(f"{name} = {value}\n    {option.text} ({ids}; {source})")
        if option.ruling:
            print(f"    ruling {option.ruling}")
    return 0


class Row(TypedDict):
    """An edition as owners know it: ``years`` of sale (from, to), points for small cities and farms."""

    edition: str
    title: str
    publisher: str
    years: tuple[int, int]
    box: str
    like: str | None
    small_city: int
    farm: int


class Side(TypedDict):
    """An option's value in one edition, and its source."""

    edition: str
    value: str
    source: str


class Difference(TypedDict):
    """An option about which two editions differ, with the ids of its rules."""

    rules: str
    text: str
    sides: list[Side]


def listed(name: str) -> Row:
    """An edition as owners know it."""
    said = editions()[name]
    return {"edition": name, "title": said.title, "publisher": said.publisher, "years": said.years, "box": said.box,
            "like": said.like or None, "small_city": marks_of(name).small_city, "farm": marks_of(name).farm}


def told(names: tuple[str, ...]) -> str:
    """The editions as text: name, title and years, what the box shows, what small cities and farms pay."""
    lines = []
    for name in names:
        row = listed(name)
        first, last = row["years"]
        lines += [f"{name}: {row['title']} ({row['publisher']}, {first} to {last or 'now'})",
                  *textwrap.wrap(row["box"], 2 * COLUMN, initial_indent="    ", subsequent_indent="    "),
                  f"    a city of two tiles pays {row['small_city']}, a farm {row['farm']} for a city"]
    return "\n".join(lines)


def differences(left: Rules, right: Rules) -> dict[str, Difference]:
    """The options with different values: their rules, and of each side the edition, the value and its source."""
    sides = (left.edition, citations(left)), (right.edition, citations(right))
    return {name: {"rules": option.rules, "text": option.text,
                   "sides": [{"edition": e, "value": c[name].value, "source": c[name].source} for e, c in sides]}
            for name, option in options().items() if sides[0][1][name].value != sides[1][1][name].value}


def side_by_side(left: Rules, right: Rules) -> str:
    """The differences as text in two columns."""
    found = differences(left, right)
    if not found:
        return f"{left.edition} and {right.edition} say the same."
    lines = _columns(left.edition, right.edition)
    for name, row in found.items():
        lines += ["", *textwrap.wrap(f"{name} ({row['rules']}): {row['text']}", 2 * COLUMN)]
        one, other = row["sides"]
        lines += _columns(one["value"], other["value"]) + _columns(f"({one['source']})", f"({other['source']})")
    return "\n".join(lines)


def _columns(left: str, right: str) -> list[str]:
    one, other = textwrap.wrap(left, COLUMN), textwrap.wrap(right, COLUMN)
    one += [""] * (len(other) - len(one))
    other += [""] * (len(one) - len(other))
    return [f"  {a:<{COLUMN}}  {b}".rstrip() for a, b in zip(one, other, strict=True)]
