"""A new game as requested on the page: players, edition, house rules, expansions, and how much the page may help."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from bastide.inputs import LONGEST_NAME
from scoring.engine import MOST_PLAYERS, new_game
from scoring.errors import InvalidNotation
from scoring.events import Player, Setup
from scoring.expansions import boxes
from scoring.rules import edition, with_options

if TYPE_CHECKING:
    from bastide.tiles.art import ArtSets

AIDS = ("score", "helper", "coach")


def asked_setup(data: object, arts: ArtSets | None = None) -> tuple[Setup, str, str]:
    """The set-up, the aid level and the set of tile pictures in a request. Raises InvalidNotation that begins with the
    field's name."""
    if not isinstance(data, Mapping):
        raise InvalidNotation("setup: must be an object")
    aid = data.get("aid", "coach")
    if aid not in AIDS:
        raise InvalidNotation(f"aid: must be one of {', '.join(AIDS)}")
    art = data.get("art", "")
    if art != "" and (arts is None or not arts.known(art)):
        raise InvalidNotation("art: is no set of tile pictures on this machine")
    names = data.get("expansions", [])
    if not isinstance(names, list) or not all(isinstance(n, str) for n in names):
        raise InvalidNotation("expansions: must be a list of names")
    options = data.get("rules", {})
    if not isinstance(options, Mapping):
        raise InvalidNotation("rules: must be an object")
    rules = with_options(edition(str(data.get("edition", ""))), options)
    setup = Setup(players=_players(data.get("players")), rules=rules, expansions=boxes(names, rules.expansions))
    new_game(setup)  # what cannot be played is said now
    return setup, str(aid), str(art)


def _players(data: object) -> tuple[Player, ...]:
    if not isinstance(data, list) or not 1 <= len(data) <= MOST_PLAYERS:
        raise InvalidNotation(f"players: must be a list of 1 to {MOST_PLAYERS}")
    out = []
    for n, p in enumerate(data):
        if not isinstance(p, Mapping):
            raise InvalidNotation(f"players[{n}]: must be an object")
        out.append(Player(name=_name(p.get("name"), n), colour=_colour(p.get("colour"), n)))
    if len({p.colour for p in out}) < len(out):
        raise InvalidNotation("players: two have the same colour")
    return tuple(out)


def _name(value: object, n: int) -> str:
    name = " ".join(str(value or "").split())
    if not name or not name.isprintable():
        raise InvalidNotation(f"players[{n}].name: must be a name")
    return name[:LONGEST_NAME]


def _colour(value: object, n: int) -> str:
    if not isinstance(value, str) or not value.isalpha() or len(value) > 20:
        raise InvalidNotation(f"players[{n}].colour: must be the name of a colour")
    return value.lower()
