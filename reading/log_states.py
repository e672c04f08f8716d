"""The states of the game along its log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from reading.layings import Steps
from scoring.engine import new_game
from scoring.events import Event, Setup
from scoring.state import GameState


@dataclass(slots=True)
class LogStates:
    """A cache of the states after each event of the log, valid up to where the log has changed. Its steps are kept in
    ``steps`` for whoever searches for other histories."""

    setup: Setup
    steps: Steps
    _events: list[Event] = field(default_factory=list)
    _states: list[GameState] = field(default_factory=list)

    def after(self, lines: Sequence[Event]) -> GameState:
        """The state after these events: those of the log, or a prefix of it."""
        return self.states(lines)[-1]

    def states(self, lines: Sequence[Event]) -> Sequence[GameState]:
        """The initial state, and the state after each of these events."""
        for n, (mine, theirs) in enumerate(zip(self._events, lines, strict=False)):
            if mine is not theirs and mine != theirs:
                for state, event in zip(self._states[n:], self._events[n:], strict=False):
                    self.steps.drop(state, event)
                del self._events[n:], self._states[n + 1:]
                break
        if not self._states:
            self._states.append(new_game(self.setup))
        for event in lines[len(self._events):]:
            now = self._states[-1]
            after = self.steps.after(now, event)
            self.steps.keep(now, event, after)
            self._states.append(after or now)
            self._events.append(event)
        return self._states[:len(lines) + 1]
