"""The events of a game, as small frozen values with a compact text form and a JSON form that both round-trip.

The metadata of each field has its codec, so that all events share the code for reading and writing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import Any, ClassVar, TypeVar

from scoring.errors import InvalidNotation
from scoring.notation import (
    FEATURE,
    FIGURE,
    FLAG,
    PART,
    PLAYER,
    ROT,
    SQUARE,
    TILE,
    WHERE,
    Codec,
    known_figure,
    known_tile,
    square,
)
from scoring.rules import Rules
from scoring.tiles import Square

__all__ = [
    "Event", "FigureEvent", "FigurePlaced", "FigureTaken", "GameEnded", "MoveJson", "Player", "PlacedTile", "Setup",
    "StartTile", "TileDiscarded", "TilePlaced", "TurnEnded", "event_fields", "event_types", "from_json", "known_figure",
    "known_tile", "notation", "parse_event", "square", "to_json", "written",
]

T = TypeVar("T")
D = TypeVar("D")
Raw = TypeVar("Raw")
MoveJson = dict[str, object]  # an event as JSON: ``do``, and its fields by name (`event_fields`)


@dataclass(frozen=True, slots=True, kw_only=True)
class Player:
    """A player in turn order. ``colour`` is the colour of the figures."""

    name: str
    colour: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StartTile:
    """A tile on the table before the first turn."""

    tile: str
    at: Square = (0, 0)
    rot: int = 0


PlacedTile = StartTile


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """The setup of a game. Without ``start``, the start tile follows from the rules in force."""

    players: tuple[Player, ...]
    rules: Rules
    expansions: tuple[str, ...] = ("base",)
    start: StartTile | None = None

    @property
    def edition(self) -> str:
        return self.rules.edition


def written(codec: Codec[T], *default: D) -> T | D:
    """A dataclass field that is read and written by that codec. With a default it is optional."""
    if default:
        return field(default=default[0], metadata={"codec": codec})
    missing: T = field(metadata={"codec": codec})  # as dataclasses declare it to type checkers: a value of the field
    return missing


class Event:
    """Base class of all events. ``DO`` is its name in transcripts and in the text form."""

    __slots__ = ()
    DO: ClassVar[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TilePlaced(Event):
    """A tile was placed. ``part`` 2 is the second tile of a double turn."""

    DO: ClassVar[str] = "tile"
    player: int = written(PLAYER)
    tile: str = written(TILE)
    at: Square = written(SQUARE)
    rot: int = written(ROT)
    part: int = written(PART, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class TileDiscarded(Event):
    """The drawn tile fitted nowhere and was discarded (R-DRAW-03)."""

    DO: ClassVar[str] = "discard"
    player: int = written(PLAYER)
    tile: str = written(TILE)
    part: int = written(PART, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureEvent(Event):
    """Base class of events about one of the player's own figures, on a place of a tile."""

    player: int = written(PLAYER)
    figure: str = written(FIGURE)
    at: Square = written(SQUARE)
    feature: str = written(FEATURE)
    where: str = written(WHERE)


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureTaken(Event):
    """Base class of a player's events about any player's figure, on a place of a tile."""

    player: int = written(PLAYER)
    owner: int = written(PLAYER)
    figure: str = written(FIGURE)
    at: Square = written(SQUARE)
    feature: str = written(FEATURE)
    where: str = written(WHERE)


@dataclass(frozen=True, slots=True, kw_only=True)
class FigurePlaced(FigureEvent):
    """A figure was deployed to a segment, given by square, kind of feature and place on the tile."""

    DO: ClassVar[str] = "deploy"
    portal: bool = written(FLAG, False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnded(Event):
    """The turn part is over: what it completed is scored (R-TURN-01)."""

    DO: ClassVar[str] = "end_turn"


@dataclass(frozen=True, slots=True, kw_only=True)
class GameEnded(Event):
    """The last tile has been placed: final scoring (R-END-01)."""

    DO: ClassVar[str] = "end_game"


@cache
def event_types() -> Mapping[str, type[Event]]:
    """The event types of all expansions by name."""
    from scoring.expansions import KNOWN

    return {h.event.DO: h.event for e in KNOWN.values() for h in e.handlers}


@cache
def event_fields() -> Mapping[str, Mapping[str, str]]:
    """For every event the kinds of its fields (`scoring.notation.Codec.kind`) by name."""
    return {do: {name: codec.kind for name, codec, _ in _fields(do)} for do in event_types()}


@cache
def _fields(do: str) -> tuple[tuple[str, Codec[Any], object], ...]:
    kind: Any = event_types()[do]  # a dataclass, unlike its base class
    return tuple((f.name, f.metadata["codec"], f.default) for f in fields(kind))


@cache
def _writers(do: str) -> tuple[tuple[tuple[str, Codec[Any]], ...], tuple[tuple[str, Codec[Any], object], ...]]:
    """The fields that are always written, and the others with their defaults."""
    given = _fields(do)
    return (tuple((name, codec) for name, codec, default in given if default is MISSING),
            tuple(f for f in given if f[2] is not MISSING))


def notation(event: Event) -> str:
    """``tile 0 base.V 3,-2 1``, ``deploy 0 follower 3,-2 road N.E``, ``end_turn``: required fields in order, then
    those that differ from their defaults as name=value."""
    always, others = _writers(event.DO)
    words = [event.DO, *[codec.write(getattr(event, name)) for name, codec in always]]
    for name, codec, default in others:
        value = getattr(event, name)
        if value != default:
            words.append(f"{name}={codec.write(value)}")
    return " ".join(words)


def parse_event(text: str) -> Event:
    """The event that `notation` wrote. Raises InvalidNotation."""
    words = text.split()
    kind = _kind(words[0] if words else None)
    values: dict[str, Any] = {}
    named = dict(w.split("=", 1) for w in words[1:] if "=" in w)
    plain = [w for w in words[1:] if "=" not in w]
    for name, codec, default in _fields(kind.DO):
        word = named.pop(name, None) if default is not MISSING else plain.pop(0) if plain else None
        if word is not None:
            values[name] = _read(codec.parse, word, name)
        elif default is MISSING:
            raise InvalidNotation(f"{text!r}: {name} is missing")
    if plain or named:
        raise InvalidNotation(f"{text!r}: {(plain or list(named))[0]!r} is too much")
    return kind(**values)


def to_json(event: Event) -> MoveJson:
    """The event as a transcript/1 move with its player (and part) added; other defaults are left out."""
    always, others = _writers(event.DO)
    out: MoveJson = {"do": event.DO}
    for name, codec in always:
        out[name] = codec.to_json(getattr(event, name))
    for name, codec, default in others:
        value = getattr(event, name)
        if value != default or name == "part":
            out[name] = codec.to_json(value)
    return out


def from_json(data: object, *, player: int | None = None, part: int | None = None) -> Event:
    """The event that `to_json` (or a move inside a transcript's turn) describes.

    Raises InvalidNotation; the message begins with the field's name.
    """
    if not isinstance(data, Mapping):
        raise InvalidNotation("a move must be an object")
    if "do" not in data:
        raise InvalidNotation("do: is missing")
    kind = _kind(data["do"])
    around = {"player": player, "part": part}
    values: dict[str, Any] = {}
    for name, codec, default in _fields(kind.DO):
        raw = data.get(name, around.get(name))
        if raw is not None:
            values[name] = _read(codec.from_json, raw, name)
        elif default is MISSING:
            raise InvalidNotation(f"{name}: is missing")
    return kind(**values)


def _kind(do: object) -> type[Event]:
    found = event_types().get(do) if isinstance(do, str) else None
    if found is None:
        raise InvalidNotation(f"do: unknown move {do!r}; known are {', '.join(event_types())}")
    return found


def _read(reader: Callable[[Raw], T], raw: Raw, name: str) -> T:
    try:
        return reader(raw)
    except InvalidNotation as e:
        raise InvalidNotation(f"{name}: {e}") from e
