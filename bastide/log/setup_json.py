"""A game's set-up as the log keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypedDict

from scoring.errors import InvalidNotation
from scoring.events import Player, Setup, StartTile
from scoring.notation import square
from scoring.rules import Value, edition, options, with_options
from scoring.transcript import PlayerJson, StartJson


class SetupJson(TypedDict):
    """A set-up with every option's value."""

    players: list[PlayerJson]
    edition: str
    rules: dict[str, Value]
    expansions: list[str]
    start: StartJson | None


def setup_to_json(setup: Setup) -> SetupJson:
    """A game's set-up as JSON-ready data."""
    start = setup.start
    return {"players": [{"name": p.name, "colour": p.colour} for p in setup.players], "edition": setup.rules.edition,
            "rules": {name: setup.rules.value(name) for name in options()}, "expansions": list(setup.expansions),
            "start": {"tile": start.tile, "at": list(start.at), "rot": start.rot} if start else None}


def setup_from_json(data: Mapping[str, object]) -> Setup:
    """The set-up that `setup_to_json` wrote. Raises InvalidNotation."""
    match data:
        case {"players": list(players), "edition": str(name), "rules": dict(rules), "expansions": list(expansions)}:
            return Setup(players=tuple(map(_player, players)), rules=with_options(edition(name), rules),
                         expansions=tuple(map(str, expansions)), start=_start(data.get("start")))
    raise InvalidNotation("set-up: must have players, edition, rules and expansions")


def _player(data: object) -> Player:
    match data:
        case {"name": str(name), "colour": str(colour)}:
            return Player(name=name, colour=colour)
    raise InvalidNotation("set-up: a player must have name and colour")


def _start(data: object) -> StartTile | None:
    match data:
        case None:
            return None
        case {"tile": str(tile), "at": at, "rot": int(rot)}:
            return StartTile(tile=tile, at=square(at), rot=rot)
    raise InvalidNotation("set-up: the start tile must have tile, at and rot")


def unnamed(setup: Setup) -> Setup:
    """The set-up with players who are called by their colours."""
    return replace(setup, players=tuple(replace(p, name=p.colour.capitalize()) for p in setup.players))
