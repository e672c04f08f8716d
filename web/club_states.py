"""Types of a hub's responses: the evening's games, a tournament's rounds and standings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NotRequired, TypedDict


class SeatRow(TypedDict):
    """A player of a finished game."""

    name: str
    colour: str
    score: int


class EveningRow(TypedDict):
    """A game finished this evening; ``round`` is the tournament round it belongs to, if any."""

    table: str
    device: str
    game: int
    begun_s: float | None
    ended_s: float
    round: str | None
    players: Sequence[SeatRow]
    laid: int
    edition: str
    expansions: Sequence[str]
    confirmed: Sequence[bool]


class ResultRow(TypedDict):
    """A game of a round: the seats in turn order, its result, and in an open round the state of its table (``at``)."""

    round: int
    table: str
    players: list[str]
    scores: list[int] | None
    winners: list[int]
    confirmed: bool
    bye: bool
    at: NotRequired[str | None]


class StandingRow(TypedDict):
    """A line of the standings."""

    rank: int
    name: str
    played: int
    wins: float
    buchholz: float
    difference: int
    points: int


class RoundRow(TypedDict):
    """A round with its games: waiting, open or ended."""

    number: int
    state: str
    games: list[ResultRow]


class PlayState(TypedDict):
    """The settings of all games of a tournament; ``clock_s`` is each player's time, 0 without a clock."""

    edition: NotRequired[str]
    expansions: NotRequired[Sequence[str]]
    clock_s: NotRequired[float]


class TournamentState(TypedDict):
    """Rounds, standings, and the games' settings."""

    rounds: list[RoundRow]
    standings: list[StandingRow]
    play: PlayState


class ResultsFile(TypedDict):
    """All results, for import into a pairing program."""

    rounds: list[ResultRow]
    standings: list[StandingRow]
