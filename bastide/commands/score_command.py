"""``bastide score``: what a recorded game scores, without any camera."""

from __future__ import annotations

import argparse
import json

from bastide.errors import UsageError
from bastide.inputs import add_rules_arguments, read_json, rule_options, rules
from scoring.errors import InvalidNotation
from scoring.report import score_game
from scoring.transcript import Game, read

HELP = "score recorded games (transcript/1, optionally gzipped)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("transcripts", nargs="+", metavar="TRANSCRIPT")
    add_rules_arguments(parser)
    parser.add_argument("--json", action="store_true", help="one JSON document per transcript")


def run(args: argparse.Namespace) -> int:
    options = rule_options(args)
    rules(args, options)
    for path in args.transcripts:
        try:
            game = read(read_json(path), edition_name=args.edition, options=options)
            result = {"file": path, **score_game(game)}
        except InvalidNotation as e:
            raise UsageError(f"{path}: {e}") from e
        print(json.dumps(result) if args.json else table(path, game, result))
    return 0


def table(path: str, game: Game, result: dict) -> str:  # type: ignore[type-arg]
    """The result as text."""
    rows = [f"{path} ({game.setup.rules.edition}, {len(game.turns)} turns)"]
    for n, (player, total) in enumerate(zip(game.setup.players, result["totals"], strict=True)):
        before = result["turns"][-1][n] if result["turns"] else 0
        mark = "  winner" if n in result["winners"] else ""
        rows.append(f"  {player.name:<12} {before:>4} + {total - before:>3} at the end = {total:>4}{mark}")
    rows += [f"  turn {i['turn'] + 1}: {i['text']}" for i in result["issues"]]
    return "\n".join(rows)
