"""``bastide export``: a game in another form."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from bastide.errors import Failure, UsageError
from bastide.export import jcz
from bastide.files.writing import write_whole
from bastide.inputs import read_json
from bastide.log.replay import scores_csv
from scoring.engine import fold
from scoring.errors import InvalidNotation
from scoring.events import GameEnded
from scoring.transcript import Game, read, write

HELP = "write a recorded game as transcript, saved game of JCloisterZone, CSV, table or picture"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("game", metavar="GAME", help="a transcript/1 file")
    parser.add_argument("--to", required=True, choices=["transcript", "jcz", "csv", "png", "table"])
    parser.add_argument("--out", required=True, metavar="FILE")


def run(args: argparse.Namespace) -> int:
    try:
        game = read(read_json(args.game))
    except InvalidNotation as e:
        raise UsageError(f"{args.game}: {e}") from e
    try:
        write_whole(Path(args.out), written(game, args.to, args.game))
    except OSError as e:
        raise Failure(f"{args.out}: cannot be written ({e.strerror or e})") from e
    return 0


def written(game: Game, to: str, path: str) -> bytes:
    """The file's content."""
    if to == "transcript":
        return json.dumps(write(game), indent=1, ensure_ascii=False).encode()
    if to == "jcz":
        return as_jcz(game, path).encode()
    state = fold(game.setup, (*game.events, GameEnded()))
    if to == "csv":
        return scores_csv(state).encode()
    from bastide.export import result_sheet  # imports OpenCV and Pillow, which the other formats do not need

    return result_sheet.picture(state) if to == "png" else result_sheet.table(state).encode()


def as_jcz(game: Game, path: str) -> str:
    """The saved game; deviations in JCloisterZone are printed on standard error."""
    try:
        saved, notes = jcz.saved_game(game)
    except InvalidNotation as e:
        raise UsageError(f"{path}: cannot be exported to JCloisterZone: {e}") from e
    for note in notes:
        print(f"bastide export: note: {note}", file=sys.stderr)
    return json.dumps(saved, indent=1)
