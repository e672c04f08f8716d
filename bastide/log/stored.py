"""A game as the log on disk has it."""

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
    """A game in the list of all: when it was begun, who plays, how many entries, whether it is over."""

    id: int
    created_s: float
    players: tuple[str, ...]
    entries: int
    over: bool


class NotUnderstood(Failure):
    """A game is whole and means nothing to this version."""
