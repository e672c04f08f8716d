"""``bastide rules``: the rules in force, each with its source."""

from __future__ import annotations

import argparse
import json

from bastide.inputs import add_rules_arguments, rules
from scoring.rules import citations, options

HELP = "print the rules in force, each with its source"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_rules_arguments(parser)
    parser.add_argument("--json", action="store_true")


def run(args: argparse.Namespace) -> int:
    rows = citations(rules(args))
    if args.json:
        print(json.dumps({n: {"value": v, "rules": ids, "source": source} for n, (v, ids, source) in rows.items()}))
        return 0
    for name, (value, ids, source) in rows.items():
        print(f"{name} = {value}\n    {options()[name].text} ({ids}; {source})")
    return 0
