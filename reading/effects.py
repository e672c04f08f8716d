"""How much the answer to a question tells: the points that depend on it."""

from __future__ import annotations

from collections.abc import Sequence

from reading.layings import Steps
from reading.log_states import LogStates
from scoring.events import Event
from scoring.projection import final_scoring


class Effects:
    """Points that depend on which of two events happened; cached while the log is the same."""

    def __init__(self, prefix: LogStates, steps: Steps) -> None:
        self._prefix, self._steps = prefix, steps
        self._events: tuple[Event, ...] | None = None
        self._known: dict[tuple[Event | None, Event | None], float] = {}

    def of(self, events: tuple[Event, ...], one: Event | None, other: Event | None) -> float:
        """How many points, summed over players, depend on which of two events happened in a game of these events."""
        if self._events != events:
            self._known, self._events = {}, events
        if (one, other) not in self._known:
            totals = [self._totals(events, one, event) for event in (one, other)]
            self._known[one, other] = float(sum(abs(a - b) for a, b in zip(*totals, strict=True)))
        return self._known[one, other]

    def _totals(self, events: Sequence[Event], told_event: Event | None, instead: Event | None) -> tuple[int, ...]:
        """The totals if the game ended now, with one logged event replaced."""
        state = self._prefix.after([])
        for event in (instead if e == told_event else e for e in events):
            state = (self._steps.after(state, event) if event is not None else None) or state
        return tuple(final_scoring(state).totals)
