"""Reads files and values named on the command line; errors are one sentence."""

from __future__ import annotations

import argparse
import gzip
import json
import zlib
from collections.abc import Mapping

from bastide.errors import UsageError
from scoring.errors import InvalidNotation, unreadable
from scoring.events import Player
from scoring.expansions import boxes
from scoring.rules import DEFAULT_EDITION, Rules, edition, editions, with_options

LARGEST = 50_000_000  # bytes of a JSON file, unpacked
LONGEST_NAME = 40  # as on the page
DEFAULT_BOARD = "charuco:11x8:20:15:DICT_4X4_50"  # 11 x 8 fields of 20 mm, markers of 15 mm
COLOURS = ("red", "blue", "yellow", "green", "black", "grey", "pink", "white", "purple", "orange", "brown", "natural")


def read_json(path: str) -> object:
    """The contents of a JSON file, possibly gzip'd. Raises UsageError naming the file."""
    try:
        with open(path, "rb") as f:
            raw = f.read(LARGEST + 1)
        if raw[:2] == b"\x1f\x8b":
            with gzip.open(path) as packed:
                raw = packed.read(LARGEST + 1)
        if len(raw) > LARGEST:
            raise UsageError(f"{path}: is larger than {LARGEST // 1_000_000} MB, which no game or setting is")
        return json.loads(raw.decode("utf-8-sig"))  # Windows programs write a byte order mark
    except OSError as e:
        raise UsageError(unreadable(path, e)) from e
    except UnicodeDecodeError:
        raise UsageError(f"{path}: is not a text file in UTF-8") from None
    except (ValueError, EOFError, RecursionError, zlib.error) as e:
        line = f"line {e.lineno}: {e.msg}" if isinstance(e, json.JSONDecodeError) else "it is truncated or damaged"
        raise UsageError(f"{path}: is not JSON ({line})") from None


def port(text: str) -> int:
    """A port's number, for argparse; 0 takes any free one."""
    number = int(text)
    if not 0 <= number <= 65535:
        raise argparse.ArgumentTypeError(f"{text} is no port; take one from 1 to 65535")
    return number


def seed(text: str) -> int:
    """A seed, for argparse: a whole number from 0."""
    number = int(text)
    if not 0 <= number < 2**31:
        raise argparse.ArgumentTypeError(f"{text} is no seed; take a whole number from 0 to 2147483647")
    return number


def add_rules_arguments(parser: argparse.ArgumentParser) -> None:
    """``--edition`` and ``--rule``."""
    parser.add_argument("--edition", metavar="E", help=f"the rules in force: {', '.join(editions())}")
    parser.add_argument("--rule", action="append", default=[], metavar="K=V", help="a rules option; repeatable")


def rule_options(args: argparse.Namespace) -> dict[str, str]:
    """The ``--rule`` options as a mapping; unknown names and values are usage errors."""
    options: dict[str, str] = {}
    for rule in args.rule:
        name, equals, value = rule.partition("=")
        if not equals:
            raise UsageError(f"--rule {rule}: must be NAME=VALUE")
        options[name.strip()] = value.strip()
    rules(args, options)
    return options


def rules(args: argparse.Namespace, options: Mapping[str, object] | None = None) -> Rules:
    """The rules that ``--edition`` and ``--rule`` name."""
    try:
        printed = edition(DEFAULT_EDITION if args.edition is None else args.edition)
        return with_options(printed, rule_options(args) if options is None else options)
    except InvalidNotation as e:
        raise UsageError(str(e)) from e


def expansions(text: str | None, rules: Rules | None = None) -> tuple[str, ...]:
    """``--expansions a,b``; the base game, or the edition's own box, is added unless one of them can be played by
    itself."""
    try:
        return boxes((n.strip() for n in (text or "").split(",") if n.strip()), rules.expansions if rules else ())
    except InvalidNotation as e:
        raise UsageError(f"--expansions: {e}") from e


def players(path: str) -> tuple[Player, ...]:
    """A players file: a JSON list of {"name", "colour"} in turn order. Raises UsageError naming file and field."""
    data = read_json(path)
    if not isinstance(data, list) or not data:
        raise UsageError(f"{path}: must be a list of players with name and colour")
    out = []
    for n, p in enumerate(data):
        if not isinstance(p, dict) or not isinstance(p.get("colour"), str):
            raise UsageError(f"{path}: player {n + 1}: colour is missing")
        if p["colour"] not in COLOURS:
            known = ", ".join(COLOURS)
            raise UsageError(f"{path}: player {n + 1}: colour {p['colour'][:40]!r} is unknown; known are {known}")
        name = p.get("name") or p["colour"].capitalize()
        name = " ".join(name.split()) if isinstance(name, str) else None
        if name is None or not name.isprintable() or len(name) > LONGEST_NAME:
            raise UsageError(f"{path}: player {n + 1}: name must be text of up to {LONGEST_NAME} letters")
        out.append(Player(name=name, colour=p["colour"]))
    if len({p.colour for p in out}) < len(out):
        raise UsageError(f"{path}: two players have the same colour")
    return tuple(out)
