"""A stored game."""

from __future__ import annotations

from dataclasses import dataclass

from bastide.errors import Failure
from scoring.events import Setup
from scoring.log import LogEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredGame:
    """A game as it is on disk."""

    id: int
    setup: Setup
    entries: tuple[LogEntry, ...]
    over: bool
    aid: str = "coach"
    art: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameLine:
    """A row in the list of games: when it was begun, its players, number of entries, whether it is over."""

    id: int
    created_s: float
    players: tuple[str, ...]
    entries: int
    over: bool


class NotUnderstood(Failure):
    """A game is intact but not understood by this version."""
