"""Moves that no camera sees, told where what was seen could not have happened without one: a figure that was put down
although none was left in the supply, and that such a move would have brought back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reading.layings import Steps, cost
from reading.logged_game import LoggedEvent, LoggedGame
from reading.policy import Decision, Moment
from scoring.events import Event, FigurePlaced
from scoring.state import GameState

_NEWEST = 6  # newest turns whose figures are explained in this way
_SURE = 0.9  # probability of the move if the rules offer no other


def unseen(log: LoggedGame, states: Sequence[GameState], steps: Steps, now: Moment) -> Iterator[Decision]:
    """The move before a figure of the log that makes it legal; where there are several, it is asked which. ``states``
    are the states after each event of the log, preceded by the initial one."""
    for n in log.newest(_NEWEST):
        turn, first = log.groups[n], log.span(n)[0]
        for k, line in enumerate(turn.lines):
            if turn.tile is None or not isinstance(line.event, FigurePlaced):
                continue
            before, after = states[first + k], states[first + k + 1]
            if cost(before, after) == 0.0:
                continue
            may = [move for question in before.box.offers(before) for move in question.answers
                   if _allows(before, move, line, steps)]
            if not may or any(move in log.denied for move in may):
                continue
            each = _SURE / len(may)
            options: tuple[tuple[tuple[Event, ...], float], ...] = (*(((m,), each) for m in may), ((), 1.0 - _SURE))
            yield Decision(events=(may[0],), confidence=each, asked=len(may) > 1, alternatives=options,
                           at=line.event.at, frame=now.frame, after=turn.lines[k - 1].seq)
            return


def _allows(before: GameState, move: Event, line: LoggedEvent, steps: Steps) -> bool:
    """Whether the rules have nothing against the figure, nor against the move, if that happened right before."""
    moved = steps.after(before, move)
    after = steps.after(moved, line.event) if moved is not None else None
    return moved is not None and after is not None and cost(before, after) == 0.0
