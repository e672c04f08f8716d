"""The set-up of a game that is described on the command line."""

from __future__ import annotations

import sys
from urllib.parse import parse_qs

from bastide.errors import UsageError
from bastide.inputs import read_json
from scoring.engine import new_game
from scoring.errors import InvalidNotation
from scoring.events import Player, Setup, StartTile
from scoring.rules import Rules
from scoring.tiles import catalogue
from scoring.transcript import read

TWO = (Player(name="Red", colour="red"), Player(name="Blue", colour="blue"))


def table_setup(source: str, rules: Rules, expansions: tuple[str, ...], players: tuple[Player, ...] | None,
                first: str | None) -> Setup:
    """The set-up of a watched game. A simulated table defines its players; otherwise two default players are used, with
    a message. Raises UsageError for a set-up that cannot be played."""
    setup = _table_setup(source, rules, expansions, players, first)
    try:
        new_game(setup)
    except InvalidNotation as e:
        raise UsageError(str(e)) from e
    return setup


def _table_setup(source: str, rules: Rules, expansions: tuple[str, ...], players: tuple[Player, ...] | None,
                 first: str | None) -> Setup:
    start = None
    if first is not None:
        if first not in catalogue():
            raise UsageError(f"--first {first}: is not a tile; ids look like base.D")
        start = StartTile(tile=first)
    if players is None:
        transcript = parse_qs(source.partition(":")[2]).get("transcript") if source.startswith("sim:") else None
        if not transcript:
            print("Red and Blue are seated; name your players with --players FILE", file=sys.stderr)
            return Setup(players=TWO, rules=rules, expansions=expansions, start=start)
        try:
            game = read(read_json(transcript[0]))
        except InvalidNotation as e:
            raise UsageError(f"{transcript[0]}: {e}") from e
        players, start = game.setup.players, start or game.setup.start
    return Setup(players=players, rules=rules, expansions=expansions, start=start)
