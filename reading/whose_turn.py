"""Moves in a turn whose player is in doubt: they are somebody else's if the turn is, so that is asked first.

Once such a move is logged, no history weighs that the turn may be another player's: the move would not fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reading.logged_game import LoggedGame
from reading.policy import Decision, Doubt, about_tile


def asked_first(moves: Sequence[Decision], doubts: Mapping[int, Doubt], log: LoggedGame) -> tuple[Decision, ...]:
    """These moves, or instead of them the question whose turn the first one belongs to, if that is in doubt and no
    other question is open: nothing waits for an answer. ``doubts`` are those about the log by their entry's number."""
    if not moves or log.asked:
        return tuple(moves)
    within = moves[0].after if moves[0].after is not None else moves[0].replaces
    group = log.groups[-1] if within is None else next(
        (g for g in log.groups if any(line.seq == within for line in g.lines)), None)
    doubt = doubts.get(group.tile.seq) if group is not None and group.tile is not None else None
    if doubt is None or about_tile(doubt.decision):
        return tuple(moves)
    return (doubt.decision,)
