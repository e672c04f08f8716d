"""``bastide export``: a game in another form."""

from __future__ import annotations

import argparse
import csv
import io
import json
from pathlib import Path

from bastide.commands._later import not_yet
from bastide.errors import Failure, UsageError
from bastide.inputs import read_json
from scoring.engine import fold
from scoring.errors import InvalidNotation
from scoring.events import GameEnded
from scoring.scores import formula
from scoring.transcript import Game, read, write

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
    text = json.dumps(write(game), indent=1) if args.to == "transcript" else scores_csv(game)
    try:
        Path(args.out).write_text(text, "utf-8")
    except OSError as e:
        raise Failure(f"{args.out}: cannot be written ({e.strerror or e})") from e
    return 0


def scores_csv(game: Game) -> str:
    """Every score event of a game, one line per player who got points."""
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(["turn", "player", "points", "reason", "feature", "tiles", "formula", "rule"])
    state = fold(game.setup, (*game.events, GameEnded()))
    for event in state.score_events:
        for player, points in event.points:
            rows.writerow([event.turn + 1, game.setup.players[player].name, points, event.reason, event.feature,
                           event.tiles, formula(event.items), event.rule])
    return out.getvalue()
