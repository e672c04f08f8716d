"""Compares histories: the margin of a turn, and its alternatives."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from reading.histories import History
from reading.layings import COSTS, Turn
from reading.limits import LIMITS
from reading.logged_game import same_tile
from reading.shapes import shape
from scoring.board import mismatches
from scoring.events import Event, FigurePlaced, TilePlaced
from scoring.tiles import Square, catalogue


def as_logged(h: History) -> bool:
    """Whether a history leaves everything as the log has it; new turns may be inserted."""
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
    """The margins in nats of the tile (as a shape on a square) and of the figure of a turn of the reported history:
    between the best explanations that agree on it, whatever else they say, and the best that differ; negative if the
    latter are likelier. Being in the log is no evidence of either."""
    tile = figure = math.inf
    turns = [(h.score, h.turn_at(turn.at)) for h in histories]
    explained = [(score - _for_agreeing(t), t) for score, t in turns]
    alike = [(score, t) for score, t in explained if t is not None and _same_shape(t.tile, turn.tile)]
    own = max((score for score, _ in alike), default=told.score)
    for score, theirs in explained:
        if theirs is None or not _same_shape(theirs.tile, turn.tile):
            tile = min(tile, own - score)
    own = max((score for score, t in alike if t.figure == turn.figure), default=told.score)
    for score, theirs in alike:
        if theirs.figure != turn.figure:
            figure = min(figure, own - score)
    weighed = [t.tile for _, t in explained if t is not None]  # in whole histories, not only for this turn
    figures = {t.figure for _, t in alike}
    alone = turn.weight - _for_agreeing(turn)
    mine = alone - (_contradicted(told, turn, turn.tile) if turn.tile is not None else 0.0)
    for placed, event, weight in _others(turn):
        if not _same_shape(placed, turn.tile):
            if not any(_same_shape(placed, known) for known in weighed):
                tile = min(tile, max(mine - weight + _contradicted(told, turn, placed), 0.0))
        elif event not in figures and placed.player == (turn.tile.player if turn.tile else None):
            figure = min(figure, max(alone - weight, 0.0))
    return tile, figure


def _for_agreeing(turn: Turn | None) -> float:
    """The part of a turn's weight that comes from agreeing with the log."""
    return 0.0 if turn is None else _agreement(turn, turn.tile, turn.figure)


def _others(turn: Turn) -> list[tuple[TilePlaced, FigurePlaced | None, float]]:
    """A turn's explanations, without what they gain from agreeing with the log."""
    return [(tile, figure, weight - _agreement(turn, tile, figure)) for tile, figure, weight in turn.others]


def _agreement(turn: Turn, tile: TilePlaced | None, figure: FigurePlaced | None) -> float:
    """What an explanation of a turn gains from agreeing with the log: `reading.layings.Offers` adds it for the tile and
    once more for the figure, which another tile may have no place for."""
    if turn.group is None or turn.group.tile is None or turn.laying is None:
        return 0.0
    told = turn.group.figures()
    kept = figure is not None and not any(f.pinned for f in told) and any(f.event == figure for f in told)
    return LIMITS.logged * ((tile == turn.group.tile.event) + kept)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerMargin:
    """How sure the player of a turn's tile is: the margin in nats over explanations that give the same tile to another
    player, and the options for a question. ``along`` are squares of other tiles that would change hands with it."""

    margin: float = math.inf
    options: tuple[tuple[tuple[Event, ...], float], ...] = ()
    along: frozenset[Square] = frozenset()


def owner_margin(histories: Sequence[History], turn: Turn) -> OwnerMargin:
    """How sure the player of the turn's tile is. The bonus for agreeing with the log is left out: where two tiles
    appeared between two looks, only their order tells their players."""
    best: dict[TilePlaced, tuple[float, History]] = {}
    for h in histories:
        theirs = h.turn_at(turn.at)
        if theirs is None or theirs.tile is None or not _same_shape(theirs.tile, turn.tile):
            continue
        tile = turn.tile if turn.tile is not None and theirs.tile.player == turn.tile.player else theirs.tile
        score = h.score - _for_the_log(h)
        if tile not in best or score > best[tile][0]:
            best[tile] = score, h
    ranked = sorted(best.items(), key=lambda b: -b[1][0])
    other = next(((score, h) for tile, (score, h) in ranked if tile != turn.tile), None)
    if other is None or turn.tile not in best:
        return OwnerMargin()
    weights = [math.exp(score - ranked[0][1][0]) for _, (score, _) in ranked]
    return OwnerMargin(margin=best[turn.tile][0] - other[0],
                 options=tuple(((tile,), w / sum(weights)) for (tile, _), w in zip(ranked, weights, strict=True)),
                 along=frozenset(t.at for t in other[1].turns if t.at is not None and t.at != turn.at
                                 and _given_away(t)))


def _given_away(turn: Turn) -> bool:
    """Whether it gives its tile to another player than the log does."""
    line = turn.group.tile.event if turn.group is not None and turn.group.tile is not None else None
    return isinstance(line, TilePlaced) and turn.tile is not None and turn.tile.player != line.player


def _for_the_log(h: History) -> float:
    """The part of a history's weight that comes from agreeing with the log and its order: `Laying.anew` adds it for a
    tile that is as logged, `Laying.as_told` subtracts it for another player's, and so does the search for a turn that
    overtakes another."""
    order = [t.index for t in h.turns if t.group is not None]
    turned = sum(later < earlier for earlier, later in zip(order, order[1:], strict=False))
    told = [(t, t.group.tile.event) for t in h.turns if t.group is not None and t.group.tile is not None]
    kept = sum(t.laying is not None and t.tile == event for t, event in told)
    changed = sum(t.laying is None and t.tile != event for t, event in told)
    return LIMITS.logged * (kept - changed - turned)


def alternatives(histories: Sequence[History], turn: Turn, *, figure: bool) -> list[tuple[tuple[Event, ...], float]]:
    """The alternatives for the turn's tile (or its figure) with their probabilities, the likeliest first. No event
    means that there is no tile (or nobody stands there)."""
    weights: dict[tuple[Event, ...], float] = {}
    best = histories[0].score
    for h in histories:
        theirs = h.turn_at(turn.at)
        tile = theirs.tile if theirs is not None else None
        if figure and (tile is None or not _same_shape(tile, turn.tile)):
            continue
        event = theirs.figure if figure and theirs is not None else tile
        key: tuple[Event, ...] = (event,) if event is not None else ()
        weights[key] = max(weights.get(key, -math.inf), h.score - _for_agreeing(theirs) - best)
    for placed, event, weight in _others(turn):
        if figure and not _same_shape(placed, turn.tile):
            continue
        key = ((event,) if event else ()) if figure else (placed,)
        weights.setdefault(key, min(0.0, weight - turn.weight - _contradicted(histories[0], turn, placed)))
    total = sum(math.exp(w) for w in weights.values())
    ranked = sorted(weights.items(), key=lambda w: -w[1])
    return [(events, math.exp(w) / total) for events, w in ranked[:5]]


def _contradicted(h: History, turn: Turn, placed: TilePlaced) -> float:
    """What the rules say against another tile in a turn of a history once its later neighbours are laid, in nats. Its
    weight is that of its own turn only, and where every history with it has been pruned nothing else tells that it does
    not fit them."""
    kind = catalogue().get(placed.tile)
    after = [t.at for t in h.turns[h.turns.index(turn) + 1:]] if turn in h.turns else []
    if kind is None or not after:
        return 0.0
    return COSTS["edge_mismatch"] * sum(at in after for at in mismatches(h.state, kind, placed.at, placed.rot))


def _same_shape(a: TilePlaced | None, b: TilePlaced | None) -> bool:
    return (a is None) == (b is None) and (a is None or b is None or shape(a.tile, a.rot) == shape(b.tile, b.rot))
