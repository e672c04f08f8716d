"""The output of `score --json` for a whole game."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from scoring.engine import apply, new_game
from scoring.events import GameEnded, TurnEnded
from scoring.final import winners
from scoring.scores import ScoreEvent
from scoring.state import Draft, GameState
from scoring.transcript import Game, read


class Points(TypedDict):
    """One player's points and their reason."""

    player: int
    points: int
    reason: str


class FinalItem(TypedDict):
    """One event of the final scoring; ``places`` are its segments as ``[column, row, where]``."""

    points: list[Points]
    feature: str
    tiles: int
    places: list[list[int | str]]


class IssueRow(TypedDict):
    """A breach of the rules, described in a sentence."""

    turn: int
    code: str
    text: str


class ScoreDocument(TypedDict):
    """A scored game: the totals, the running totals after each turn, the final scoring, the winners."""

    totals: list[int]
    turns: list[list[int]]
    final: list[FinalItem]
    winners: list[int]
    issues: list[IssueRow]


def score_transcript(data: object, *, edition: str | None = None,
                     rules: Mapping[str, object] | None = None) -> ScoreDocument:
    """The score document of a parsed transcript; ``edition`` and ``rules`` override those in it.

    Raises InvalidNotation with the path of the invalid value; an illegal game is scored and its issues are listed.
    """
    return score_game(read(data, edition_name=edition, options=rules))


def score_game(game: Game) -> ScoreDocument:
    """Totals, the running totals after each turn, the final scoring, the winners and the issues."""
    return document(*play(game))


def play(game: Game) -> tuple[GameState, list[list[int]]]:
    """The finished game and the running totals after each turn."""
    d = Draft(new_game(game.setup))
    turns = []
    for turn in game.turns:
        for event in (*turn.events, TurnEnded()):
            apply(d, event)
        turns.append(list(d.scores))
    apply(d, GameEnded())
    return d.freeze(), turns


def document(state: GameState, turns: list[list[int]]) -> ScoreDocument:
    """The score document of a finished game."""
    return {
        "totals": list(state.scores),
        "turns": turns,
        "final": [final_item(e) for e in state.score_events[state.events_before:]],
        "winners": list(winners(state.scores)),
        "issues": [{"turn": i.turn, "code": i.code, "text": i.text} for i in state.issues],
    }


def final_item(event: ScoreEvent) -> FinalItem:
    """One event of the final scoring, as the command line prints it."""
    return {"points": [{"player": p, "points": n, "reason": event.reason} for p, n in event.points],
            "feature": event.feature, "tiles": event.tiles, "places": [list(p) for p in event.places]}
