"""How a game developed: the board and the scores after each turn, computed in one pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

from scoring.engine import new_game, step
from scoring.errors import IllegalMove
from scoring.events import GameEnded, Setup
from scoring.log import LogEntry, effective
from scoring.projection import running_scores, standing_now
from scoring.state import GameState


class FrameRow(TypedDict):
    """The end of a turn part (from 0): ``board`` is the changing part of a view's board."""

    turn: int
    player: int
    scores: list[int]
    board: Mapping[str, object]


def frames(setup: Setup, entries: Sequence[LogEntry]) -> list[FrameRow]:
    """A row for every turn part in order. With all corrections; the tiles at that time follow from the turns of the
    last view's tiles."""
    out: dict[int, GameState] = {}
    state = new_game(setup)
    for _, event in effective(entries):
        if isinstance(event, GameEnded):
            continue  # the final scoring is not a turn
        try:
            state = step(state, event)
        except IllegalMove:  # as in the fold of the whole log
            continue
        if state.turn >= 0:
            out[state.turn] = state
    return [{"turn": s.turn, "player": s.player, "scores": list(running_scores(s)), "board": standing_now(s)}
            for s in out.values()]
