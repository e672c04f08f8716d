"""What can happen on a table, as small frozen values with a compact text form and a JSON form that round-trip."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scoring.errors import InvalidNotation
from scoring.rules import Rules
from scoring.tiles import KINDS, Square, catalogue, parse_where

FIGURES = ("follower", "large", "builder", "pig")
_SHORT = {"city": "c", "road": "r", "field": "f", "cloister": "m", "river": "w", "tower": "t"}
_LONG = {v: k for k, v in _SHORT.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Player:
    """A player in turn order. ``colour`` is the colour of the figures."""

    name: str
    colour: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StartTile:
    """The tile that lies on the table before the first turn."""

    tile: str
    at: Square = (0, 0)
    rot: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """Everything agreed before the first turn."""

    players: tuple[Player, ...]
    rules: Rules
    expansions: tuple[str, ...] = ("base",)
    start: StartTile | None = None

    @property
    def edition(self) -> str:
        return self.rules.edition


@dataclass(frozen=True, slots=True, kw_only=True)
class TilePlaced:
    """A tile was laid. ``part`` 2 is the second tile of a double turn."""

    player: int
    tile: str
    at: Square
    rot: int
    part: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TileDiscarded:
    """The drawn tile fitted nowhere and left the game (R-DRAW-03)."""

    player: int
    tile: str
    part: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class FigurePlaced:
    """A figure was put on a segment, named by square, kind of feature and its place on the board."""

    player: int
    figure: str
    at: Square
    feature: str
    where: str
    portal: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnded:
    """The turn part is over: what it completed is scored (R-TURN-01)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameEnded:
    """The last tile has been laid: final scoring (R-END-01)."""


Event = TilePlaced | TileDiscarded | FigurePlaced | TurnEnded | GameEnded


def notation(event: Event) -> str:
    """``0 base.V@3,-2/1``, ``0 follower r3,-2:N E``, ``0 x base.V``, ``.`` (turn), ``#`` (end)."""
    match event:
        case TilePlaced(player=p, tile=t, at=(x, y), rot=r, part=part):
            return f"{p} {t}@{x},{y}/{r}" + ("+" if part == 2 else "")
        case TileDiscarded(player=p, tile=t, part=part):
            return f"{p} x {t}" + ("+" if part == 2 else "")
        case FigurePlaced(player=p, figure=g, at=(x, y), feature=f, where=w, portal=portal):
            return f"{p} {g} {_SHORT[f]}{x},{y}:{w}" + ("!" if portal else "")
        case TurnEnded():
            return "."
        case GameEnded():
            return "#"
    raise InvalidNotation(f"no notation for {event!r}")


_TILE = re.compile(r"(\d+) ([a-z]+\.\w+)@(-?\d+),(-?\d+)/([0-3])(\+?)")
_DISCARD = re.compile(r"(\d+) x ([a-z]+\.\w+)(\+?)")
_FIGURE = re.compile(r"(\d+) ([a-z]+) ([crfmwt])(-?\d+),(-?\d+):([A-Z ]+?)(!?)")


def parse_event(text: str) -> Event:
    """The event that `notation` wrote. Raises InvalidNotation."""
    if text == ".":
        return TurnEnded()
    if text == "#":
        return GameEnded()
    if m := _TILE.fullmatch(text):
        return TilePlaced(player=int(m[1]), tile=known_tile(m[2]), at=(int(m[3]), int(m[4])), rot=int(m[5]),
                          part=2 if m[6] else 1)
    if m := _DISCARD.fullmatch(text):
        return TileDiscarded(player=int(m[1]), tile=known_tile(m[2]), part=2 if m[3] else 1)
    if m := _FIGURE.fullmatch(text):
        return FigurePlaced(player=int(m[1]), figure=known_figure(m[2]), at=(int(m[4]), int(m[5])), feature=_LONG[m[3]],
                            where=parse_where(m[6]), portal=bool(m[7]))
    raise InvalidNotation(f"{text!r} is no event")


def known_tile(tile: object) -> str:
    """The tile id, or InvalidNotation."""
    if not isinstance(tile, str) or tile not in catalogue():
        raise InvalidNotation(f"unknown tile {tile!r}")
    return tile


def known_figure(figure: object) -> str:
    """The figure's name, or InvalidNotation that lists the known ones."""
    if figure not in FIGURES:
        raise InvalidNotation(f"unknown figure {figure!r}; known are {', '.join(FIGURES)}")
    return str(figure)


def known_feature(feature: object) -> str:
    """The kind of feature, or InvalidNotation that lists the known ones."""
    if feature not in KINDS:
        raise InvalidNotation(f"unknown feature {feature!r}; known are {', '.join(KINDS)}")
    return str(feature)


def to_json(event: Event) -> dict[str, Any]:
    """The event as a transcript/1 move with its player (and part) beside it."""
    match event:
        case TilePlaced():
            return {"do": "tile", "player": event.player, "part": event.part, "tile": event.tile,
                    "at": list(event.at), "rot": event.rot}
        case TileDiscarded():
            return {"do": "discard", "player": event.player, "part": event.part, "tile": event.tile}
        case FigurePlaced():
            move = {"do": "deploy", "player": event.player, "figure": event.figure, "at": list(event.at),
                    "feature": event.feature, "where": event.where}
            return {**move, "portal": True} if event.portal else move
        case TurnEnded():
            return {"do": "end_turn"}
        case GameEnded():
            return {"do": "end_game"}
    raise InvalidNotation(f"no JSON for {event!r}")


def from_json(data: object, *, player: int | None = None, part: int | None = None) -> Event:
    """The event that `to_json` (or a transcript's turn) describes. Raises InvalidNotation naming the field."""
    if not isinstance(data, Mapping):
        raise InvalidNotation("a move must be an object")
    do = data.get("do")
    named = "player" in data or (player is None and do in ("tile", "discard", "deploy"))
    who = _integer(data, "player") if named else player
    which = _integer(data, "part") if "part" in data else part or 1
    if do == "end_turn":
        return TurnEnded()
    if do == "end_game":
        return GameEnded()
    if who is None or who < 0 or which not in (1, 2):
        raise InvalidNotation(f"{do}: player must be 0 or more and part 1 or 2")
    if do == "tile":
        rot = _integer(data, "rot")
        if rot not in range(4):
            raise InvalidNotation("rot: must be 0, 1, 2 or 3")
        return TilePlaced(player=who, tile=known_tile(_need(data, "tile")), at=square(_need(data, "at")), rot=rot,
                          part=which)
    if do == "discard":
        return TileDiscarded(player=who, tile=known_tile(_need(data, "tile")), part=which)
    if do == "deploy":
        place = _need(data, "where")
        if not isinstance(place, str):
            raise InvalidNotation("where: must be text")
        return FigurePlaced(player=who, figure=known_figure(_need(data, "figure")), at=square(_need(data, "at")),
                            feature=known_feature(_need(data, "feature")), where=parse_where(place),
                            portal=bool(data.get("portal", False)))
    raise InvalidNotation(f"do: unknown move {do!r}")


def square(value: object) -> Square:
    """``[x, y]`` as a square. Raises InvalidNotation."""
    if isinstance(value, list | tuple) and len(value) == 2 and all(type(v) is int and abs(v) < 1000 for v in value):
        return value[0], value[1]
    raise InvalidNotation(f"at: must be two whole numbers, not {value!r}")


def _need(data: Mapping[str, Any], key: str) -> Any:
    if key not in data:
        raise InvalidNotation(f"{key}: is missing")
    return data[key]


def _integer(data: Mapping[str, Any], key: str) -> int:
    value = _need(data, key)
    if type(value) is not int:
        raise InvalidNotation(f"{key}: must be a whole number, not {value!r}")
    return value
