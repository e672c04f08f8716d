"""The state of a game: derived from the log, never stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scoring.board import Board, Place, Placed
from scoring.events import Setup
from scoring.scores import ScoreEvent
from scoring.tiles import Square


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingFigure:
    """A figure on the board; ``segment`` is the index on its tile."""

    player: int
    figure: str
    at: Square
    feature: str
    where: str
    segment: int
    turn: int

    @property
    def place(self) -> Place:
        return self.at, self.segment


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """Something that the rules do not allow but that lies on the table all the same."""

    code: str
    text: str
    squares: tuple[Square, ...]
    turn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A segment that may take a figure."""

    at: Square
    feature: str
    where: str
    segment: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GameState:
    """Where a game stands. ``turn`` counts turn parts begun, from 0; ``player`` is whose turn it is."""

    setup: Setup
    board: Board
    supply: tuple[Mapping[str, int], ...]
    scores: tuple[int, ...]
    left: Mapping[str, int]
    figures: tuple[StandingFigure, ...] = ()
    turn: int = -1
    player: int = 0
    part: int = 1
    last_tile: Square | None = None
    turn_open: bool = False
    over: bool = False
    score_events: tuple[ScoreEvent, ...] = ()
    issues: tuple[Issue, ...] = ()
    turn_scores: tuple[tuple[int, ...], ...] = ()

    @property
    def tiles(self) -> Mapping[Square, Placed]:
        return self.board.tiles

    @property
    def tiles_by_turn(self) -> Mapping[int, int]:
        """Who laid the tile of each turn."""
        return {p.turn: p.player for p in self.tiles.values() if p.turn is not None and p.player is not None}
