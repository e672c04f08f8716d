"""Reads and writes transcript/1: one whole game as data. Reading ignores `expect`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import NotRequired, TypedDict, TypeVar

from scoring.box import Box
from scoring.engine import MOST_PLAYERS, apply, box_of, new_game
from scoring.errors import IllegalMove, InvalidNotation
from scoring.events import (
    Event,
    GameEnded,
    MoveJson,
    Player,
    Setup,
    StartTile,
    TilePlaced,
    TurnEnded,
    from_json,
    to_json,
)
from scoring.expansions import chosen
from scoring.notation import ROT, SQUARE, TILE, Codec
from scoring.rules import DEFAULT_EDITION, changes, edition, with_options
from scoring.state import Draft

FORMAT = "transcript/1"
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One drawn tile with the moves of its turn."""

    player: int
    part: int
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Game:
    """A whole game. ``events`` includes the end of each turn, but not the end of the game, which the reader adds."""

    setup: Setup
    turns: tuple[Turn, ...]

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(e for t in self.turns for e in (*t.events, TurnEnded()))


class PlayerJson(TypedDict):
    """A player of a transcript."""

    name: str
    colour: str


class SetupJson(TypedDict):
    """The setup of a game; ``rules`` are the options that differ from its edition."""

    expansions: list[str]
    edition: str
    rules: Mapping[str, object]
    players: list[PlayerJson]


class StartJson(TypedDict):
    """The start tile."""

    tile: str
    at: list[int]
    rot: int


class TurnJson(TypedDict):
    """A turn part with its moves; ``expect`` are the scores that its author expects."""

    player: int
    part: int
    moves: list[MoveJson]
    expect: NotRequired[Mapping[str, object]]


class GameExpect(TypedDict, total=False):
    """The final result that the author of a transcript expects."""

    totals: list[int]


class Transcript(TypedDict):
    """A whole game as transcript/1."""

    format: str
    setup: SetupJson
    start: StartJson
    turns: list[TurnJson]
    expect: NotRequired[GameExpect]


def read(data: object, *, edition_name: str | None = None, options: Mapping[str, object] | None = None) -> Game:
    """The game in a parsed transcript. ``edition_name`` and ``options`` override ``setup.rules``.

    Raises InvalidNotation with the path of the invalid value: ``turns[12].moves[0].at: is missing``.
    """
    top = _object(data, "the transcript")
    if top.get("format") != FORMAT:
        raise InvalidNotation(f"format: must be {FORMAT!r}, not {top.get('format')!r}")
    setup = _setup(_object(_field(top, "setup", ""), "setup"), top, edition_name, options or {})
    turns = _list(_field(top, "turns", ""), "turns")
    box = box_of(setup)
    return Game(setup=setup, turns=tuple(_turn(t, f"turns[{n}]", setup, box) for n, t in enumerate(turns)))


def write(game: Game) -> Transcript:
    """The transcript of a game, without `expect`."""
    setup = game.setup
    start = setup.start or box_of(setup).start()
    return {
        "format": FORMAT,
        "setup": {"expansions": list(setup.expansions), "edition": setup.rules.edition,
                  "rules": changes(setup.rules),
                  "players": [{"name": p.name, "colour": p.colour} for p in setup.players]},
        "start": {"tile": start.tile, "at": list(start.at), "rot": start.rot},
        "turns": [{"player": t.player, "part": t.part, "moves": [move(e, t.player) for e in t.events]}
                  for t in game.turns],
    }


def move(event: Event, player: int | None = None) -> MoveJson:
    """An event as a move of its turn, which implies the part and (unless it is another player's event) the player."""
    other = player is not None and getattr(event, "player", player) != player
    return {k: v for k, v in to_json(event).items() if k != "part" and (k != "player" or other)}


def _setup(data: Mapping[str, object], top: Mapping[str, object], name: str | None,
           options: Mapping[str, object]) -> Setup:
    try:
        rules = edition(str(data.get("edition", DEFAULT_EDITION)) if name is None else name)
    except InvalidNotation as e:
        raise InvalidNotation(f"setup.edition: {e}") from e
    said = _object(data.get("rules", {}), "setup.rules")
    try:
        rules = with_options(with_options(rules, said if name is None else {}), options)
    except InvalidNotation as e:
        raise InvalidNotation(f"setup.rules: {e}") from e
    players = []
    for n, p in enumerate(_list(_field(data, "players", "setup"), "setup.players")):
        player = _object(p, f"setup.players[{n}]")
        colour = _text(player, "colour", f"setup.players[{n}]")
        name_given = player.get("name", colour)
        if not isinstance(name_given, str) or not (name_given + colour).isprintable():
            raise InvalidNotation(f"setup.players[{n}].name: must be text that can be shown")
        players.append(Player(name=name_given, colour=colour))
    if not players:
        raise InvalidNotation("setup.players: a game needs at least one player")
    if len(players) > MOST_PLAYERS:
        raise InvalidNotation(f"setup.players: {len(players)} are too many; there are {MOST_PLAYERS} colours at most")
    default = list(rules.expansions) or ["base"]
    expansions = tuple(str(e) for e in _list(data.get("expansions", default), "setup.expansions"))
    try:
        chosen(expansions)
    except InvalidNotation as e:
        raise InvalidNotation(f"setup.expansions: {e}") from e
    start = _start(_object(top["start"], "start")) if top.get("start") is not None else None
    return Setup(players=tuple(players), rules=rules, expansions=expansions, start=start)


def _start(data: Mapping[str, object]) -> StartTile:
    def part(key: str, codec: Codec[T], default: object) -> T:
        try:
            return codec.from_json(data.get(key, default))
        except InvalidNotation as e:
            raise InvalidNotation(f"start.{key}: {e}") from e

    return StartTile(tile=part("tile", TILE, None), at=part("at", SQUARE, [0, 0]), rot=part("rot", ROT, 0))


def _turn(data: object, place: str, setup: Setup, box: Box) -> Turn:
    players = len(setup.players)
    turn = _object(data, place)
    player, part = turn.get("player"), turn.get("part", 1)
    if type(player) is not int or not 0 <= player < players:
        raise InvalidNotation(f"{place}.player: must be 0 to {players - 1}, not {player!r}")
    if type(part) is not int or part not in (1, 2):
        raise InvalidNotation(f"{place}.part: must be 1 or 2, not {part!r}")
    events = []
    for n, m in enumerate(_list(_field(turn, "moves", place), f"{place}.moves")):
        try:
            event = from_json(m, player=player, part=part)
            if type(event) not in box.handlers:
                raise InvalidNotation(f"do: {event.DO!r} belongs to a box that is not among setup.expansions")
            events.append(event)
        except InvalidNotation as e:
            raise InvalidNotation(f"{place}.moves[{n}].{e}") from e
    return Turn(player=player, part=part, events=tuple(events))


def turns_of(setup: Setup, events: Iterable[Event]) -> tuple[Turn, ...]:
    """Group a log's events into turns as the engine assigns them: one for each part that was begun. Events without a
    meaning in this game, or after its end, are left out."""
    d = Draft(new_game(setup))
    turns: dict[int, list[Event]] = {}
    whose: dict[int, tuple[int, int]] = {}
    for event in events:
        if d.over:
            break
        with suppress(IllegalMove):
            apply(d, event)
            if isinstance(event, TurnEnded | GameEnded):
                continue
            turn = max(d.turn, 0)
            turns.setdefault(turn, []).append(event)
            if turn not in whose or isinstance(event, TilePlaced):
                whose[turn] = d.player, d.part
    return tuple(Turn(player=whose[n][0], part=whose[n][1], events=tuple(found)) for n, found in turns.items())


def _object(value: object, place: str) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise InvalidNotation(f"{place}: must be an object, not {type(value).__name__}")
    return value


def _list(value: object, place: str) -> list[object]:
    if not isinstance(value, list):
        raise InvalidNotation(f"{place}: must be a list, not {type(value).__name__}")
    return value


def _field(data: Mapping[str, object], key: str, place: str) -> object:
    if key not in data:
        raise InvalidNotation(f"{place + '.' if place else ''}{key}: is missing")
    return data[key]


def _text(data: Mapping[str, object], key: str, place: str) -> str:
    value = _field(data, key, place)
    if not isinstance(value, str) or not value:
        raise InvalidNotation(f"{place}.{key}: must be text")
    return value
