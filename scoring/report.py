"""What `score --json` prints of a whole game."""

from __future__ import annotations

from typing import Any

from scoring.engine import new_game, step
from scoring.events import GameEnded, TurnEnded
from scoring.final import winners
from scoring.scores import ScoreEvent
from scoring.transcript import Game


def score_game(game: Game) -> dict[str, Any]:
    """Totals, the running totals after each turn, the final scoring, the winners and the issues."""
    state = new_game(game.setup)
    turns = []
    for turn in game.turns:
        for event in (*turn.events, TurnEnded()):
            state = step(state, event)
        turns.append(list(state.scores))
    before = len(state.score_events)
    state = step(state, GameEnded())
    return {
        "totals": list(state.scores),
        "turns": turns,
        "final": [final_item(e) for e in state.score_events[before:]],
        "winners": list(winners(state)),
        "issues": [{"turn": i.turn, "code": i.code, "text": i.text} for i in state.issues],
    }


def final_item(event: ScoreEvent) -> dict[str, Any]:
    """One event of the final scoring, as the command line prints it."""
    return {"points": [{"player": p, "points": n, "reason": event.reason} for p, n in event.points],
            "feature": event.feature, "tiles": event.tiles, "places": [list(p) for p in event.places]}
