"""How a game grew: what stands on the board and who has how many points after each turn, worked out in one go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scoring.engine import new_game, step
from scoring.errors import IllegalMove
from scoring.events import GameEnded, Setup
from scoring.log import LogEntry, effective
from scoring.projection import running_scores, standing_now


def frames(setup: Setup, entries: Sequence[LogEntry]) -> list[dict[str, Any]]:
    """For every turn part in order: ``turn`` (from 0), ``player``, ``scores`` and ``board``, the part of a view's board
    that comes and goes. With all corrections; which tiles lay there is told by the turns of the last view's tiles."""
    out: dict[int, dict[str, Any]] = {}
    state = new_game(setup)
    for _, event in effective(entries):
        if isinstance(event, GameEnded):
            continue  # the final scoring is no turn
        try:
            state = step(state, event)
        except IllegalMove:  # as in the fold of the whole log
            continue
        if state.turn >= 0:
            out[state.turn] = {"turn": state.turn, "player": state.player, "state": state}
    return [{"turn": f["turn"], "player": f["player"], "scores": list(running_scores(f["state"])),
             "board": standing_now(f["state"])} for f in out.values()]
