"""Turns of the log that nothing contradicts, replayed as they are logged after a state that may differ from the log's.

When a turn of long ago is contradicted, each explanation of it is held against the rules in all turns since. Nothing
in these is in doubt, so they are one step of the search: a history that agrees with the log takes the log's own states,
another one folds the events into a single draft, at a third of the cost of a state for each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reading.layings import Outcome, Steps, Turn, against, out_of_turn
from reading.logged_game import LoggedTurn
from scoring.engine import apply, next_player
from scoring.errors import IllegalMove
from scoring.events import FigurePlaced, TilePlaced
from scoring.state import Draft, GameState
from scoring.tiles import Square


class Replay:
    """Consecutive turns of the log after a state; one way, numbered 0, as `layings.Laying` numbers its ways. ``first``
    is the position of the first turn in the log, ``tracks`` are the ids of the figures' tracks on the tiles of those
    turns that have a figure, ``asked`` is `ordering.Window.asked`."""

    def __init__(self, state: GameState, groups: Sequence[LoggedTurn], first: int, tracks: frozenset[int],
                 steps: Steps, asked: Mapping[Square, float]) -> None:
        self._state, self._groups, self._first, self._tracks = state, groups, first, tracks
        self._steps, self._asked = steps, asked
        self._result: tuple[float, GameState] | None = None

    def bound(self, way: int) -> float | None:
        """Upper bound of its weight: the rules can only be against it."""
        return 0.0 if way == 0 else None

    def weight(self, way: int) -> float | None:
        """Its weight."""
        if self._result is None:
            self._result = self._by_states(known=True) or self._by_one_draft() or self._by_states(known=False)
            assert self._result is not None
        return self._result[0]

    def outcome(self, way: int) -> Outcome:
        """Its turns, all as they are logged."""
        assert self._result is not None
        return Outcome(tuple(_as_logged(group, n) for n, group in enumerate(self._groups, self._first)),
                       self._result[1], self._tracks, frozenset())

    def _by_states(self, known: bool) -> tuple[float, GameState] | None:
        """The result from state to state, without the events that are meaningless after this one; None if all have to
        be ``known`` already and are not."""
        weight, state = 0.0, self._state
        for group in self._groups:
            weight -= out_of_turn(group, next_player(state))
            for line in group.lines:
                if known and not self._steps.known(state, line.event):
                    return None
                after = self._steps.after(state, line.event) or state
                weight -= against(after, line.event, len(state.issues), state.next_figure, self._asked)
                state = after
        return weight, state

    def _by_one_draft(self) -> tuple[float, GameState] | None:
        """The result without the states in between; None if an event is meaningless, which spoils the draft."""
        weight, d = 0.0, Draft(self._state)
        for group in self._groups:
            weight -= out_of_turn(group, next_player(d))
            for line in group.lines:
                issues, figure = len(d.issues), d.next_figure
                try:
                    apply(d, line.event)
                except IllegalMove:
                    return None
                weight -= against(d, line.event, issues, figure, self._asked)
        return weight, d.freeze()


def _as_logged(group: LoggedTurn, index: int) -> Turn:
    tile = group.tile.event if group.tile is not None else None
    figures = [f.event for f in group.figures() if isinstance(f.event, FigurePlaced)]
    return Turn(at=group.at, tile=tile if isinstance(tile, TilePlaced) else None, group=group, weight=0.0, index=index,
                replayed=True, figure=figures[-1] if figures and isinstance(tile, TilePlaced) else None)
