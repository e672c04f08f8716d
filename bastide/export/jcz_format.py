"""The types of a saved game of JCloisterZone, with that program's names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict


class Pointer(TypedDict):
    """A feature of a tile."""

    position: list[int]
    feature: str
    location: str


class Meeple(TypedDict):
    """A figure and its position."""

    featurePointer: Pointer
    meepleId: str


class Message(TypedDict):
    """A player's move; its ``payload`` depends on the ``type``."""

    type: str
    payload: Mapping[str, object]
    player: int
    clock: int


class Player(TypedDict):
    """A player in a seat."""

    name: str
    slot: int
    clientId: None


class StartJson(TypedDict):
    """A tile that lies before the first turn, ``rotation`` in degrees."""

    tile: str
    x: int
    y: int
    rotation: int


class SetupJson(TypedDict):
    """The set-up: sets of tiles, pieces, rules."""

    sets: dict[str, int]
    elements: Mapping[str, int | bool]
    rules: dict[str, str]
    timer: None
    options: dict[str, str]
    start: list[StartJson]


class Annotations(TypedDict):
    """The tiles in the order in which they were drawn."""

    drawOrder: list[str]


class SavedGame(TypedDict):
    """A saved game."""

    appVersion: str
    gameId: str
    name: str
    initialRandom: float
    created: str
    clock: int
    setup: SetupJson
    players: list[Player]
    replay: list[Message]
    gameAnnotations: Annotations
