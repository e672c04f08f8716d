"""``bastide export``: a game in another form."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from bastide import jcz
from bastide.commands._later import not_yet
from bastide.errors import Failure, UsageError
from bastide.inputs import read_json
from bastide.replay import scores_csv
from scoring.engine import fold
from scoring.errors import InvalidNotation
from scoring.events import GameEnded
from scoring.transcript import Game, read, write

HELP = "write a recorded game as transcript, as a saved game of JCloisterZone, or as CSV of its scores"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("game", metavar="GAME", help="a transcript/1 file")
    parser.add_argument("--to", required=True, choices=["transcript", "jcz", "csv", "png", "table"])
    parser.add_argument("--out", required=True, metavar="FILE")


def run(args: argparse.Namespace) -> int:
    if args.to not in ("transcript", "jcz", "csv"):
        return not_yet(f"exporting to {args.to}", "transcript, jcz and csv are")
    try:
        game = read(read_json(args.game))
    except InvalidNotation as e:
        raise UsageError(f"{args.game}: {e}") from e
    if args.to == "transcript":
        text = json.dumps(write(game), indent=1)
    elif args.to == "jcz":
        text = as_jcz(game, args.game)
    else:
        text = scores_csv(fold(game.setup, (*game.events, GameEnded())))
    try:
        Path(args.out).write_text(text, "utf-8")
    except OSError as e:
        raise Failure(f"{args.out}: cannot be written ({e.strerror or e})") from e
    return 0


def as_jcz(game: Game, path: str) -> str:
    """The saved game; what that program would play otherwise is noted on standard error."""
    try:
        saved, notes = jcz.saved_game(game)
    except InvalidNotation as e:
        raise UsageError(f"{path}: cannot be told to JCloisterZone: {e}") from e
    for note in notes:
        print(f"bastide export: note: {note}", file=sys.stderr)
    return json.dumps(saved, indent=1)
