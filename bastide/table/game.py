"""A game at the table as an immutable value: its log and the resulting state. Adding to it gives another value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypedDict, Unpack

from scoring.engine import step
from scoring.events import Setup
from scoring.log import Amended, Body, Inserted, LogEntry, Retracted, Settled, state_of
from scoring.state import GameState


class How(TypedDict, total=False):
    """How entries came about, as `scoring.log.LogEntry` says it."""

    source: str
    confidence: float
    asked: bool
    frame: int | None
    who: str


@dataclass(frozen=True, kw_only=True)
class Game:
    """``state`` is the fold of ``entries``. ``number`` is the game's id in the store, ``aid`` how much the page may
    help, ``art`` the set of tile pictures that it is watched with (`bastide.tiles.art`)."""

    entries: tuple[LogEntry, ...]
    state: GameState
    number: int = 0
    aid: str = "coach"
    art: str = ""

    @classmethod
    def of(cls, setup: Setup, entries: tuple[LogEntry, ...] = (), *, number: int = 0, aid: str = "coach",
           art: str = "") -> Game:
        """The game of a log."""
        return cls(entries=tuple(entries), state=state_of(setup, entries), number=number, aid=aid, art=art)

    @property
    def setup(self) -> Setup:
        return self.state.setup

    @property
    def version(self) -> int:
        """How many entries the log has."""
        return len(self.entries)

    def tried(self, bodies: tuple[Body, ...], now_s: float = 0.0,
              **how: Unpack[How]) -> tuple[tuple[LogEntry, ...], Game]:
        """The entries for these bodies and the game with them. Raises InvalidNotation, IllegalMove for what is invalid
        in this game."""
        first = self.version + 1
        entries = tuple(LogEntry(seq=first + n, body=b, at_s=now_s, **how) for n, b in enumerate(bodies))
        log, state = (*self.entries, *entries), self.state
        if any(isinstance(b, Retracted | Amended | Inserted | Settled) for b in bodies):
            for e in entries:
                if isinstance(e.body, Amended | Inserted):
                    step(self.state, e.body.body)  # refused now when it means nothing in this game
            state = state_of(self.setup, log)
        else:
            for e in entries:
                state = step(state, e.body)  # type: ignore[arg-type]
        return entries, replace(self, entries=log, state=state)
