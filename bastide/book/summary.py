"""Summary of a game: result, categories, and possible house records. JSON-ready, so that it is computed once and
cached."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NotRequired, TypedDict

from scoring.events import TilePlaced
from scoring.final import winners
from scoring.log import LogEntry, effective
from scoring.scores import ScoreEvent, category
from scoring.state import GameState

LARGEST = {"road": "road", "city": "city", "farm": "field"}  # a record and the feature that it is about


class Seat(TypedDict):
    """A player of a finished game; ``rank`` from 1, ``key`` is the person's in the book."""

    name: str
    colour: str
    score: int
    rank: int
    key: NotRequired[str]


class Best(TypedDict):
    """A possible record: the value, the seats that hold it, the turn (from 1)."""

    n: int
    players: list[int]
    turn: int


class Row(TypedDict):
    """The book's summary of one game: when it began and ended (0: not known), how many ``tiles`` were laid by players,
    whose turn was ``first``, points by category and player, and possible records, by name."""

    game: int
    created_s: float
    began_s: float
    ended_s: float
    over: bool
    edition: str
    expansions: list[str]
    tiles: int
    first: int
    players: list[Seat]
    winners: list[int]
    points: dict[str, list[int]]
    best: dict[str, Best]


def summary(game: int, created_s: float, state: GameState, entries: Sequence[LogEntry]) -> Row:
    """Summarise one game."""
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


def _best(state: GameState) -> dict[str, Best]:
    """The largest feature of a kind that somebody scored, the most points of one score and of one turn; the earlier one
    in a tie."""
    out: dict[str, Best] = {}
    for record, feature in LARGEST.items():
        found = [e for e in state.score_events if e.feature == feature and e.reason.startswith(feature) and e.points]
        if (most := max(found, key=_size, default=None)) is not None and _size(most) > 0:
            out[record] = _record(_size(most), (p for p, _ in most.points), most.turn)
    turns: dict[tuple[int, int], int] = {}
    for event in state.score_events:
        for player, n in event.points if event.player is not None else ():  # the final scoring is not a turn
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


def _record(n: int, players: Iterable[int], turn: int) -> Best:
    return {"n": n, "players": sorted(players), "turn": turn + 1}
