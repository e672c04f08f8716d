"""Tiles that lie on the table and that the log does not have yet: what happened since they were laid may belong to
their turns."""

from __future__ import annotations

import math

from reading.belief import TableBelief
from reading.limits import LIMITS
from reading.logged_game import LoggedGame
from reading.policy import Moment
from scoring.state import GameState


def unlogged_since(belief: TableBelief, log: LoggedGame, state: GameState, now: Moment) -> float:
    """Since when the first of them has been seen, in seconds of the film; infinite without one. ``state`` is that after
    the log. What was seen before the log's newest tile and is not in the log after so long is no tile of a turn to
    come."""
    known_s = max((s for g in log.groups if (s := belief.since_s(g.at)) < math.inf), default=-math.inf)
    return min((laid.since_s for at, laid in belief.lying().items()
                if at not in state.tiles and laid.presence > 0.0
                and (laid.since_s > known_s or now.t_s - laid.since_s < LIMITS.ask_after_s)), default=math.inf)
