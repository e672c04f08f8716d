"""A game in a few numbers: result, categories, and what may be a record of the house. JSON-ready, so that it is worked
out once and kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from scoring.events import TilePlaced
from scoring.final import winners
from scoring.log import LogEntry, effective
from scoring.scores import ScoreEvent, category
from scoring.state import GameState

Row = dict[str, Any]
LARGEST = {"road": "road", "city": "city", "farm": "field"}  # a record and the feature that it is about


def summary(game: int, created_s: float, state: GameState, entries: Sequence[LogEntry]) -> Row:
    """What the book says of one game: game, created_s, began_s, ended_s (0: not known), over, edition, expansions,
    tiles (laid by players), first (whose turn was first), players (name, colour, score, rank from 1), winners, points
    (by category and player) and best: what may be a record, each with n, players and turn (from 1).
    """
    scores, best = state.scores, winners(state.scores)
    times = [e.at_s for e in entries if e.at_s > 0]
    laid = [event for _, event in effective(entries) if isinstance(event, TilePlaced)]
    points: dict[str, list[int]] = {}
    for event in state.score_events:
        row = points.setdefault(category(event), [0] * len(scores))
        for player, n in event.points:
            row[player] += n
    return {
        "game": game, "created_s": created_s, "began_s": min(times, default=0.0), "ended_s": max(times, default=0.0),
        "over": state.over, "edition": state.setup.rules.edition, "expansions": list(state.setup.expansions),
        "tiles": len(laid), "first": laid[0].player if laid else 0,
        "players": [{"name": p.name, "colour": p.colour, "score": score, "rank": 1 + sum(s > score for s in scores)}
                    for p, score in zip(state.setup.players, scores, strict=True)],
        "winners": list(best), "points": points, "best": _best(state),
    }


def _best(state: GameState) -> Row:
    """The largest feature of a kind that somebody scored, the most points of one score and of one turn; the earlier of
    two that are equal."""
    out: Row = {}
    for record, feature in LARGEST.items():
        found = [e for e in state.score_events if e.feature == feature and e.reason.startswith(feature) and e.points]
        if (most := max(found, key=_size, default=None)) is not None and _size(most) > 0:
            out[record] = _record(_size(most), (p for p, _ in most.points), most.turn)
    turns: dict[tuple[int, int], int] = {}
    for event in state.score_events:
        for player, n in event.points if event.player is not None else ():  # the end of the game is no turn
            turns[event.turn, player] = turns.get((event.turn, player), 0) + n
    if turns:
        (turn, player), n = max(turns.items(), key=lambda t: t[1])
        out["turn"] = _record(n, (player,), turn)
    order = sorted(state.scores, reverse=True)
    best = winners(state.scores)
    out["score"] = _record(order[0], best, state.turn)
    if len(order) > 1 and len(best) == 1:
        out["margin"] = _record(order[0] - order[1], best, state.turn)
    return out


def _size(event: ScoreEvent) -> int:
    return len(event.cities) if event.feature == "field" else event.tiles


def _record(n: int, players: Iterable[int], turn: int) -> Row:
    return {"n": n, "players": sorted(players), "turn": turn + 1}
