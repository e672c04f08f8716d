"""The types of the broker's messages, as in the JSON schemas beside this file: made, and on receipt validated, by
`bastide.club.message`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NotRequired, TypedDict

from web.club_states import PlayState
from web.views import RoundView


class Score(TypedDict):
    """A line of the feed: the points (pairs of player and points), and the calculation."""

    turn: int | None
    player: int | None
    reason: str
    points: Sequence[Sequence[int]]
    formula: str


class TurnState(TypedDict):
    """The number of the turn and its player."""

    number: int
    player: int


class PlayerState(TypedDict):
    """A player at a table; ``figures`` in hand, by kind. Without a forecast where the aid level hides it."""

    name: str
    colour: str
    score: int
    figures: Mapping[str, int]
    projected: NotRequired[int]
    uncertain: NotRequired[bool]


class BoardState(TypedDict):
    """Tiles in the order in which they were laid (column, row, kind, quarter turns), and figures (player, kind, column,
    row, feature, where, spot x and y, lying)."""

    tiles: Sequence[Sequence[int | str]]
    figures: Sequence[Sequence[int | float | str]]


class Told(TypedDict):
    """Header of a table's messages: its name, its machine, the machine's start count, the number of the view and the
    game."""

    v: int
    table: str
    device: str
    epoch: int
    rev: int
    game: int


class State(Told):
    """The published state of a table (``state-1.schema.json``)."""

    at: float
    phase: Literal["playing", "over"]
    status: str
    aid: str
    edition: str
    expansions: Sequence[str]
    turn: TurnState
    players: Sequence[PlayerState]
    laid: int
    last: Sequence[Score]
    board: BoardState
    commands: bool
    left: NotRequired[int]
    round: NotRequired[RoundView]


class Happened(Told):
    """An event at a table (``event-1.schema.json``)."""

    kind: Literal["score", "corrected", "begun", "over"]
    score: NotRequired[Score]


class Seat(TypedDict):
    """A player with the colour of the figures."""

    name: str
    colour: str


class RoundOrder(PlayState):
    """A game of a tournament's round, its players in turn order."""

    id: str
    number: int
    players: Sequence[Seat]


class NextGame(TypedDict):
    """Another game with the same players and rules."""

    v: int
    do: Literal["next_game"]


class BeginRound(TypedDict):
    """A tournament's game."""

    v: int
    do: Literal["begin_round"]
    round: RoundOrder


class EndRound(TypedDict):
    """The organiser has ended a round."""

    v: int
    do: Literal["end_round"]
    id: str


Command = NextGame | BeginRound | EndRound  # ``command-1.schema.json``
