"""The documents that go over the broker, as their schemas beside this file describe them: what `bastide.club.message`
makes, and what it has checked before anybody else reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NotRequired, TypedDict

from web.club_states import PlayState
from web.views import RoundView


class Score(TypedDict):
    """A line of the feed: who got how much (pairs of player and points), and the sum it is."""

    turn: int | None
    player: int | None
    reason: str
    points: Sequence[Sequence[int]]
    formula: str


class TurnState(TypedDict):
    """Whose turn it is, and which."""

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
    """What a table tells: its name, its machine, how often that was started, the number of the view and the game."""

    v: int
    table: str
    device: str
    epoch: int
    rev: int
    game: int


class State(Told):
    """Everything that others may see of a table (``state-1.schema.json``)."""

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
    """Something that has just happened at a table (``event-1.schema.json``)."""

    kind: Literal["score", "corrected", "begun", "over"]
    score: NotRequired[Score]


class Seat(TypedDict):
    """Who plays, with which figures."""

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
    """A round is over for the organiser."""

    v: int
    do: Literal["end_round"]
    id: str


Command = NextGame | BeginRound | EndRound  # ``command-1.schema.json``
