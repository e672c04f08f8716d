"""``bastide rules``: the rules in force, each with its source, or what two editions say differently."""

from __future__ import annotations

import argparse
import json
import textwrap
from typing import Any

from bastide.errors import UsageError
from bastide.inputs import add_rules_arguments, rules
from scoring.errors import InvalidNotation
from scoring.rules import EDITIONS, Rules, citations, edition, options

HELP = "print the rules in force, each with its source, or the differences of two editions"
COLUMN = 58  # characters of one side


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_rules_arguments(parser)
    parser.add_argument("--compare", metavar="E", help="only what this edition says differently, side by side, each "
                        f"with where it is printed ({', '.join(EDITIONS)}); --rule changes the left side")
    parser.add_argument("--json", action="store_true")


def run(args: argparse.Namespace) -> int:
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


def differences(left: Rules, right: Rules) -> dict[str, dict[str, Any]]:
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
