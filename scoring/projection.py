"""LiveView: what a screen may show of a game, as JSON-ready data, including "if the game ended now"."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from operator import is_
from typing import Any

from scoring.board import bordered_cities, is_complete
from scoring.contributions import Kind, View
from scoring.engine import questions, tiles_left
from scoring.events import Event, notation, to_json
from scoring.explain import explain
from scoring.final import Final, final_of, winners
from scoring.geometry import spot_of
from scoring.log import Amended, LogEntry, effective, open_questions
from scoring.scores import ScoreEvent, formula, leaders
from scoring.state import NO_SEGMENT, Draft, Feature, GameState, Placed, figures_on, named, supplies, weights
from scoring.tiles import Square
from scoring.turns import close_turn, value

Events = tuple[tuple[int, Any], ...]


class Memory:
    """Rows that earlier views of the same game have worked out. They are shared between views: read, never change.

    A row is used again as long as everything it was made from is the same; states are values, so that is cheap to see.
    """

    __slots__ = ("_rows",)

    def __init__(self) -> None:
        self._rows: dict[tuple[str, object], tuple[tuple[object, ...], Any]] = {}

    def row(self, kind: str, key: object, parts: tuple[object, ...], make: Callable[[], Any]) -> Any:
        """The row of that kind and key, made anew if it was made from other parts."""
        known = self._rows.get((kind, key))
        if known is not None and all(map(is_, known[0], parts)):
            return known[1]
        made = make()
        self._rows[kind, key] = parts, made
        return made


def live_view(state: GameState, entries: Iterable[LogEntry], version: int,
              memory: Memory | None = None) -> dict[str, Any]:
    """The whole table as a client sees it. Scores count an open turn as if it ended now.

    Whoever shows one view after the other keeps a Memory for the game and spares most of the work.
    """
    memory = memory or Memory()
    entries = tuple(entries)
    now = _closed(state)
    final = final_json(now, _final(now))
    asked = open_questions(entries)
    happened = effective(entries)
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
             "supply": dict(supply[n]), "active": n == state.player and not state.over, "uncertain": bool(asked)}
            for n, p in enumerate(state.setup.players)
        ],
        "left": {"total": sum(left.values()), "kinds": dict(left)},
        "board": {"tiles": _tiles(state, happened, asked, memory), "figures": _figures(now, happened),
                  **now.box.shows(now)},
        "features": features(now, memory),
        "feed": [memory.row("feed", n, (e,), partial(event_json, now, e)) for n, e in enumerate(now.score_events)],
        "final": final if state.over else None,
        "projected_final": final,
        "issues": [{"code": i.code, "text": i.text, "squares": [list(s) for s in i.squares], "turn": i.turn}
                   for i in state.issues],
        "open_questions": [{"code": q.code, "text": q.text, "player": q.player,
                            "answers": [to_json(e) for e in q.answers]} for q in questions(state)],
        "history": _history(entries, happened, memory),
    }


def final_scoring(state: GameState) -> Final:
    """The final scoring of a game that is over, or as if it ended now (the open turn first)."""
    return _final(_closed(state))


def _closed(state: GameState) -> View:
    """The state as if the open turn ended now."""
    if not state.turn_open:
        return state
    d = Draft(state)
    close_turn(d)
    return d


def _final(view: View) -> Final:
    if not view.over:
        return final_of(view)
    best = winners(tuple(view.scores))
    booked = tuple(view.score_events[view.events_before:])
    stages = tuple((s.name, tuple(e for e in booked if e.stage == s.name)) for s in view.box.stages)
    return Final(stages=stages, totals=tuple(view.scores), winners=best,
                 tie=view.box.rules.winner_tie if len(best) > 1 else None)


def final_json(view: View, final: Final) -> dict[str, Any]:
    """The final scoring as data: its stages, points per category over the whole game, totals, winners."""
    booked = list(view.score_events) if view.over else \
        [*view.score_events, *(e for _, events in final.stages for e in events)]
    table: dict[str, list[int]] = {k: [0] * len(view.scores) for k in ("road", "city", "cloister", "field")}
    for e in booked:
        row = table.setdefault(category(e), [0] * len(view.scores))
        for p, n in e.points:
            row[p] += n
    return {
        "stages": [{"name": name, "events": [event_json(view, e) for e in events]} for name, events in final.stages],
        "table": [{"category": c, "points": row} for c, row in table.items()],
        "totals": list(final.totals), "winners": list(final.winners), "tie": final.tie,
    }


def category(event: ScoreEvent) -> str:
    """What a player would call these points: the feature's kind, or what else they were for."""
    return event.feature if event.reason.split(".")[0] == event.feature else event.reason.split(".")[0]


def event_json(view: View, event: ScoreEvent) -> dict[str, Any]:
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
        cities = len(bordered_cities(view, f)) if f.cities else 0
        out.append(memory.row("feature", f.id, (f, cities), partial(_feature, view, f, kind, cities)))
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


def _tiles(state: GameState, events: Events, asked: frozenset[int], memory: Memory) -> list[dict[str, Any]]:
    seqs = {e.at: seq for seq, e in reversed(events) if e.DO == "tile"}
    out = []
    for at, p in state.tiles.items():
        seq = seqs.get(at) if p.turn is not None else None
        doubtful, last = seq in asked, at == state.last_tile
        out.append(memory.row("tile", at, (p, seq, doubtful, last), partial(_tile, at, p, seq, doubtful, last)))
    return out


def _tile(at: Square, p: Placed, seq: int | None, asked: bool, last: bool) -> dict[str, Any]:
    return {"at": list(at), "tile": p.tile, "rot": p.rot, "seq": seq, "turn": p.turn, "player": p.player,
            "asked": asked, "last": last}


def _figures(view: View, events: Events) -> list[dict[str, Any]]:
    seqs = {(e.player, e.at, e.feature, e.where): seq for seq, e in events if e.DO == "deploy"}
    out = []
    for f in view.standing.values():
        placed = view.tiles.get(f.at)
        spot = (50.0, 50.0)
        if placed and f.segment != NO_SEGMENT:
            spot = spot_of(view.box.tile(placed.tile), f.segment, placed.rot)
        out.append({"player": f.player, "figure": f.figure, "at": list(f.at), "feature": f.feature, "where": f.where,
                    "spot": list(spot), "lying": f.feature == "field",
                    "seq": seqs.get((f.player, f.at, f.feature, f.where))})
    return out


def _history(entries: tuple[LogEntry, ...], events: Events, memory: Memory) -> list[dict[str, Any]]:
    by_seq = {e.seq: e for e in entries}
    amended = {e.body.seq for e in entries if isinstance(e.body, Amended)}
    out: list[dict[str, Any]] = []
    turn = -1
    for seq, event in events:
        if event.DO in ("end_turn", "end_game"):
            continue
        turn += event.DO == "tile"
        parts = event, by_seq[seq], max(turn, 0), seq in amended
        out.append(memory.row("history", seq, parts, partial(_happened, *parts)))
    return out


def _happened(event: Event, entry: LogEntry, turn: int, amended: bool) -> dict[str, Any]:
    data = to_json(event)
    return {"seq": entry.seq, "turn": turn, "kind": data.pop("do"), **data, "notation": notation(event),
            "source": entry.source, "confidence": entry.confidence, "asked": entry.asked, "amended": amended}
