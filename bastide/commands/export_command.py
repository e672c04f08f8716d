"""``bastide export``: a game in another form."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from bastide.commands._later import not_yet
from bastide.errors import Failure, UsageError
from bastide.inputs import read_json
from bastide.replay import scores_csv
from scoring.engine import fold
from scoring.errors import InvalidNotation
from scoring.events import GameEnded
from scoring.transcript import read, write

HELP = "write a recorded game as transcript or CSV of its scores"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("game", metavar="GAME", help="a transcript/1 file")
    parser.add_argument("--to", required=True, choices=["transcript", "jcz", "csv", "png", "table"])
    parser.add_argument("--out", required=True, metavar="FILE")


def run(args: argparse.Namespace) -> int:
    if args.to not in ("transcript", "csv"):
        return not_yet(f"exporting to {args.to}", "transcript and csv are")
    try:
        game = read(read_json(args.game))
    except InvalidNotation as e:
        raise UsageError(f"{args.game}: {e}") from e
    if args.to == "transcript":
        text = json.dumps(write(game), indent=1)
    else:
        text = scores_csv(fold(game.setup, (*game.events, GameEnded())))
    try:
        Path(args.out).write_text(text, "utf-8")
    except OSError as e:
        raise Failure(f"{args.out}: cannot be written ({e.strerror or e})") from e
    return 0
