"""Histories side by side: how sure a turn is, and what else it may have been."""

from __future__ import annotations

import math
from collections.abc import Sequence

from reading.histories import History
from reading.layings import Turn
from reading.limits import LIMITS
from reading.shapes import shape
from reading.told import same_tile
from scoring.events import Event, TilePlaced


def as_logged(h: History) -> bool:
    """Whether a history leaves everything as the log has it; new turns may come between."""
    return in_order(h) and all(_same_turn(t) for t in h.turns)


def in_order(h: History) -> bool:
    """Whether a history has the log's turns in the log's order."""
    order = [t.index for t in h.turns if t.group is not None]
    return order == sorted(order)


def _same_turn(turn: Turn) -> bool:
    return turn.group is None or turn.group.tile is None or (
        turn.tile is not None and same_tile(turn.tile, turn.group.tile.event)
        and turn.figure == next((f.event for f in reversed(turn.group.figures())), None))


def margins(histories: Sequence[History], told: History, turn: Turn) -> tuple[float, float]:
    """How surely the told history's turn has its tile (as a shape on a square) and its figure: the margins in nats
    between the best explanations that have it so, whatever else they say, and those that differ there; below nothing
    where these are the likelier ones."""
    tile = figure = math.inf
    at = [(h.score, next((t for t in h.turns if t.at == turn.at), None)) for h in histories]
    alike = [(score, t) for score, t in at if t is not None and _same_shape(t.tile, turn.tile)]
    own = max((score for score, _ in alike), default=told.score)
    for score, theirs in at:
        if theirs is None or not _same_shape(theirs.tile, turn.tile):
            tile = min(tile, own - score)
    own = max((score for score, t in alike if t.figure == turn.figure), default=told.score)
    for score, theirs in alike:
        if theirs.figure != turn.figure:
            figure = min(figure, own - score)
    for placed, event, weight in turn.others:
        if not _same_shape(placed, turn.tile):
            tile = min(tile, max(turn.weight - weight, 0.0))
        elif event != turn.figure and placed.player == (turn.tile.player if turn.tile else None):
            figure = min(figure, max(turn.weight - weight, 0.0))
    if turn.group is not None:  # having been told is no evidence
        tile -= LIMITS.logged
        figure -= LIMITS.logged * bool(turn.group.figures())
    return tile, figure


def alternatives(histories: Sequence[History], turn: Turn, *, figure: bool) -> list[tuple[tuple[Event, ...], float]]:
    """What else the turn's tile (or its figure) may be, with probabilities, the likeliest first. That no tile lies
    there (or that nobody stands there) is an answer too: no event."""
    weights: dict[tuple[Event, ...], float] = {}
    best = histories[0].score
    for h in histories:
        theirs = next((t for t in h.turns if t.at == turn.at), None)
        tile = theirs.tile if theirs is not None else None
        if figure and (tile is None or not _same_shape(tile, turn.tile)):
            continue
        event = theirs.figure if figure and theirs is not None else tile
        key: tuple[Event, ...] = (event,) if event is not None else ()
        weights[key] = max(weights.get(key, -math.inf), h.score - best)
    for placed, event, weight in turn.others:
        if figure and not _same_shape(placed, turn.tile):
            continue
        key = ((event,) if event else ()) if figure else (placed,)
        weights.setdefault(key, min(0.0, weight - turn.weight))
    total = sum(math.exp(w) for w in weights.values())
    ranked = sorted(weights.items(), key=lambda w: -w[1])
    return [(events, math.exp(w) / total) for events, w in ranked[:5]]


def _same_shape(a: TilePlaced | None, b: TilePlaced | None) -> bool:
    return (a is None) == (b is None) and (a is None or b is None or shape(a.tile, a.rot) == shape(b.tile, b.rot))
