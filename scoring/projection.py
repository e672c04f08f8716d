"""LiveView: what a screen may show of a game, as JSON-ready data, including "if the game ended now"."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scoring.board import is_complete
from scoring.contributions import Kind, View
from scoring.engine import questions, tiles_left
from scoring.events import to_json
from scoring.explain import explain
from scoring.final import Final, final_of, winners
from scoring.geometry import spot_of
from scoring.log import LogEntry
from scoring.memory import Memory
from scoring.scores import ScoreEvent, formula, leaders
from scoring.state import (
    NO_SEGMENT,
    Draft,
    Feature,
    GameState,
    Placed,
    StandingFigure,
    figures_on,
    named,
    supplies,
    weights,
)
from scoring.telling import Told, tell
from scoring.tiles import Square
from scoring.turns import close_turn, value

__all__ = ["Memory", "category", "event_json", "features", "final_scoring", "live_view",
           "running_scores"]


def live_view(state: GameState, entries: Iterable[LogEntry], version: int,
              memory: Memory | None = None) -> dict[str, Any]:
    """The whole table as a client sees it. Scores count an open turn as if it ended now.

    Whoever shows one view after the other keeps a Memory for the game and spares most of the work.
    """
    memory = memory or Memory()
    told = memory.told = tell(tuple(entries), memory.told)
    now = _closed(state)
    feed, final = _events(now, _final(now, memory), memory)
    supply = supplies(now)
    left = tiles_left(state)
    return {
        "version": version,
        "edition": state.setup.rules.edition,
        "expansions": list(state.setup.expansions),
        "phase": "over" if state.over else "playing",
        "turn": {"number": state.turn + 1, "player": state.player, "part": state.part, "open": state.turn_open},
        "players": [
            {"index": n, "name": p.name, "colour": p.colour, "score": now.scores[n], "projected": final["totals"][n],
             "supply": dict(supply[n]), "active": n == state.player and not state.over, "uncertain": bool(told.asked)}
            for n, p in enumerate(state.setup.players)
        ],
        "left": {"total": sum(left.values()), "kinds": dict(left)},
        "board": {"tiles": _tiles(state, told, memory), "figures": _figures(now, told, memory),
                  **now.box.shows(now)},
        "features": features(now, memory),
        "feed": feed,
        "final": final if state.over else None,
        "projected_final": final,
        "issues": [{"code": i.code, "text": i.text, "squares": [list(s) for s in i.squares], "turn": i.turn}
                   for i in state.issues],
        "open_questions": [{"code": q.code, "text": q.text, "player": q.player,
                            "answers": [to_json(e) for e in q.answers]} for q in questions(state)],
        "history": told.history,
    }


def running_scores(state: GameState) -> tuple[int, ...]:
    """The scores that a view shows: those of the state as if its open turn ended now."""
    return tuple(_closed(state).scores)


def final_scoring(state: GameState) -> Final:
    """The final scoring of a game that is over, or as if it ended now (the open turn first)."""
    return _final(_closed(state), Memory())


def _closed(state: GameState) -> View:
    """The state as if the open turn ended now."""
    if not state.turn_open:
        return state
    d = Draft(state)
    close_turn(d)
    return d


def _final(view: View, memory: Memory) -> Final:
    if not view.over:
        return final_of(view, memory)
    best = winners(tuple(view.scores))
    booked = tuple(view.score_events[view.events_before:])
    stages = tuple((s.name, tuple(e for e in booked if e.stage == s.name)) for s in view.box.stages)
    return Final(stages=stages, totals=tuple(view.scores), winners=best,
                 tie=view.box.rules.winner_tie if len(best) > 1 else None)


def _events(view: View, final: Final, memory: Memory) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The feed, and the final scoring as data: its stages, points per category over the whole game, totals, winners."""
    booked = list(view.score_events)
    staged = [e for _, events in final.stages for e in events]
    counted = booked if view.over else booked + staged
    table: dict[str, list[int]] = {k: [0] * len(view.scores) for k in ("road", "city", "cloister", "field")}
    for e in counted:
        name = category(e)
        if name not in table:
            table[name] = [0] * len(view.scores)
        for p, n in e.points:
            table[name][p] += n
    rows = memory.events(booked + staged, event_json)
    last = iter(rows[len(booked):])
    return rows[:len(booked)], {
        "stages": [{"name": name, "events": [{**next(last), "turn": view.turn} for _ in events]}
                   for name, events in final.stages],
        "table": [{"category": c, "points": row} for c, row in table.items()],
        "totals": list(final.totals), "winners": list(final.winners), "tie": final.tie,
    }


def category(event: ScoreEvent) -> str:
    """What a player would call these points: the feature's kind, or what else they were for."""
    return event.feature if event.reason.split(".")[0] == event.feature else event.reason.split(".")[0]


def event_json(event: ScoreEvent) -> dict[str, Any]:
    """A score event with its formula, majority and places. ``player`` is whose turn it was."""
    return {
        "turn": event.turn, "player": event.player, "feature": event.feature,
        "reason": event.reason, "points": [{"player": p, "points": n} for p, n in event.points],
        "items": [{"what": i.what, "count": i.count, "each": i.each, "points": i.points}
                  | ({} if i.player is None else {"player": i.player}) for i in event.items],
        "formula": formula(event), "majority": [{"player": p, "weight": w} for p, w in event.majority],
        "places": [list(p) for p in event.places], "cities": [[list(p) for p in c] for c in event.cities],
        "tiles": event.tiles, "rule": event.rule,
        "because": [{"key": p.key, **p.values} for p in explain(event)],
    }


def features(view: View, memory: Memory | None = None) -> list[dict[str, Any]]:
    """Every feature that can be claimed, with who owns it and what it is worth now and when complete."""
    memory = memory or Memory()
    kinds = view.box.kinds
    out = []
    for f in view.features.values():
        kind = kinds.get(f.kind)
        if kind is None or not kind.claimable:
            continue
        cities = len(memory.border(view, f).cities) if f.cities else 0
        out.append(memory.row("feature", (f.id, cities), f, _feature, view, f, kind, cities))
    return out


def _feature(view: View, f: Feature, kind: Kind, cities: int) -> dict[str, Any]:
    shares = weights(view, figures_on(view, f)) if f.figures else {}
    complete = is_complete(view, f)
    row: dict[str, Any] = {
        "id": f"{f.kind[0]}{f.id}", "kind": f.kind, "places": [list(p) for p in named(view, f.places)],
        "tiles": len(f.squares), "open": f.open, "complete": complete, "pennants": f.marks.get("pennant", 0),
        "owners": list(leaders(shares)), "weights": [list(w) for w in sorted(shares.items())],
    }
    if kind.counts is None:
        worth = cities * view.box.rules.farm_points_per_city
        return {**row, "cities": cities, "points_now": worth, "points_complete": worth}
    best = _worth(view, f, True)
    return {**row, "points_now": best if complete else _worth(view, f, False), "points_complete": best}


def _worth(view: View, feature: Any, complete: bool) -> int:
    worth = value(view, feature, complete=complete)
    return sum(i.points for i in worth[1]) if worth else 0


def _tiles(state: GameState, told: Told, memory: Memory) -> list[dict[str, Any]]:
    out = []
    for at, p in state.tiles.items():
        seq = told.tiles.get(at) if p.turn is not None else None
        doubtful, last = seq in told.asked, at == state.last_tile
        out.append(memory.row("tile", (at, seq, doubtful, last), p, _tile, at, p, seq, doubtful, last))
    return out


def _tile(at: Square, p: Placed, seq: int | None, asked: bool, last: bool) -> dict[str, Any]:
    return {"at": list(at), "tile": p.tile, "rot": p.rot, "seq": seq, "turn": p.turn, "player": p.player,
            "asked": asked, "last": last}


def _figures(view: View, told: Told, memory: Memory) -> list[dict[str, Any]]:
    out = []
    for f in view.standing.values():
        seq = told.figures.get((f.player, f.at, f.feature, f.where))
        out.append(memory.row("figure", (f.id, seq), f, _figure, view, f, seq))
    return out


def _figure(view: View, f: StandingFigure, seq: int | None) -> dict[str, Any]:
    placed = view.tiles.get(f.at)
    spot = (50.0, 50.0)
    if placed and f.segment != NO_SEGMENT:
        spot = spot_of(view.box.tile(placed.tile), f.segment, placed.rot)
    return {"player": f.player, "figure": f.figure, "at": list(f.at), "feature": f.feature, "where": f.where,
            "spot": list(spot), "lying": f.feature == "field", "seq": seq}
