"""transcript/1: one whole game as data. Reads and writes it; `expect` is never looked at when reading."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scoring.engine import box_of
from scoring.errors import InvalidNotation
from scoring.events import (
    Event,
    Player,
    Setup,
    StartTile,
    TileDiscarded,
    TurnEnded,
    from_json,
    known_tile,
    square,
    to_json,
)
from scoring.expansions import chosen
from scoring.rules import DEFAULT_EDITION, changes, edition, with_options

FORMAT = "transcript/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One tile drawn and what came of it."""

    player: int
    part: int
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Game:
    """A whole game. ``events`` adds the end of each turn; the end of the game is the reader's to say."""

    setup: Setup
    turns: tuple[Turn, ...]

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(e for t in self.turns for e in (*t.events, TurnEnded()))


def read(data: object, *, edition_name: str | None = None, options: Mapping[str, object] | None = None) -> Game:
    """The game in a parsed transcript. ``edition_name`` and ``options`` win over ``setup.rules``.

    Raises InvalidNotation naming the place: ``turns[12].moves[0].at: is missing``.
    """
    top = _object(data, "the transcript")
    if top.get("format") != FORMAT:
        raise InvalidNotation(f"format: must be {FORMAT!r}, not {top.get('format')!r}")
    setup = _setup(_object(_field(top, "setup", ""), "setup"), top, edition_name, options or {})
    turns = _list(_field(top, "turns", ""), "turns")
    return Game(setup=setup, turns=tuple(_turn(t, f"turns[{n}]", len(setup.players)) for n, t in enumerate(turns)))


def write(game: Game) -> dict[str, Any]:
    """The transcript of a game, without `expect`."""
    setup = game.setup
    start = setup.start or box_of(setup).start()
    return {
        "format": FORMAT,
        "setup": {"expansions": list(setup.expansions), "edition": setup.rules.edition,
                  "rules": changes(setup.rules),
                  "players": [{"name": p.name, "colour": p.colour} for p in setup.players]},
        "start": {"tile": start.tile, "at": list(start.at), "rot": start.rot},
        "turns": [{"player": t.player, "part": t.part, "moves": [move(e) for e in t.events]} for t in game.turns],
    }


def move(event: Event) -> dict[str, Any]:
    """An event as a move inside its turn, which names the player and the part."""
    return {k: v for k, v in to_json(event).items() if k not in ("player", "part")}


def _setup(data: Mapping[str, Any], top: Mapping[str, Any], name: str | None, options: Mapping[str, object]) -> Setup:
    try:
        rules = edition(name or data.get("edition", DEFAULT_EDITION))
        if name is None:
            rules = with_options(rules, _object(data.get("rules", {}), "setup.rules"))
        rules = with_options(rules, options)
    except InvalidNotation as e:
        raise InvalidNotation(f"setup.rules: {e}") from e
    players = []
    for n, p in enumerate(_list(_field(data, "players", "setup"), "setup.players")):
        player = _object(p, f"setup.players[{n}]")
        colour = _text(player, "colour", f"setup.players[{n}]")
        players.append(Player(name=str(player.get("name", colour)), colour=colour))
    if not players:
        raise InvalidNotation("setup.players: a game needs at least one player")
    expansions = tuple(_list(data.get("expansions", ["base"]), "setup.expansions"))
    try:
        chosen(expansions)
    except InvalidNotation as e:
        raise InvalidNotation(f"setup.expansions: {e}") from e
    start = None
    if top.get("start") is not None:
        lying = _object(top["start"], "start")
        try:
            start = StartTile(tile=known_tile(lying.get("tile")), at=square(lying.get("at", [0, 0])),
                              rot=int(lying.get("rot", 0)) % 4)
        except (InvalidNotation, TypeError, ValueError) as e:
            raise InvalidNotation(f"start.{e}") from e
    return Setup(players=tuple(players), rules=rules, expansions=expansions, start=start)


def _turn(data: object, place: str, players: int) -> Turn:
    turn = _object(data, place)
    player, part = turn.get("player"), turn.get("part", 1)
    if type(player) is not int or not 0 <= player < players:
        raise InvalidNotation(f"{place}.player: must be 0 to {players - 1}, not {player!r}")
    if part not in (1, 2):
        raise InvalidNotation(f"{place}.part: must be 1 or 2, not {part!r}")
    events = []
    for n, m in enumerate(_list(_field(turn, "moves", place), f"{place}.moves")):
        try:
            events.append(from_json(m, player=player, part=part))
        except InvalidNotation as e:
            raise InvalidNotation(f"{place}.moves[{n}].{e}") from e
    return Turn(player=player, part=part, events=tuple(events))


def turns_of(events: tuple[Event, ...]) -> tuple[Turn, ...]:
    """Group a log's events into turns: each tile laid begins one; discards belong to the tile that follows."""
    groups: list[list[Event]] = []
    waiting: list[Event] = []
    for event in events:
        match to_json(event)["do"]:
            case "discard":
                waiting.append(event)
            case "tile":
                groups.append([*waiting, event])
                waiting = []
            case "end_turn" | "end_game":
                continue
            case _:
                (groups[-1] if groups else waiting).append(event)
    if waiting and all(isinstance(e, TileDiscarded) for e in waiting):
        groups.append(waiting)
    return tuple(Turn(player=g[0].player, part=getattr(next((e for e in g if hasattr(e, "part")), None), "part", 1),
                      events=tuple(g)) for g in groups if hasattr(g[0], "player"))


def _object(value: object, place: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidNotation(f"{place}: must be an object, not {type(value).__name__}")
    return value


def _list(value: object, place: str) -> list[Any]:
    if not isinstance(value, list):
        raise InvalidNotation(f"{place}: must be a list, not {type(value).__name__}")
    return value


def _field(data: Mapping[str, Any], key: str, place: str) -> Any:
    if key not in data:
        raise InvalidNotation(f"{place + '.' if place else ''}{key}: is missing")
    return data[key]


def _text(data: Mapping[str, Any], key: str, place: str) -> str:
    value = _field(data, key, place)
    if not isinstance(value, str) or not value:
        raise InvalidNotation(f"{place}.{key}: must be text")
    return value
