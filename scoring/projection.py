"""LiveView: what a screen may show of a game, as JSON-ready data, including "if the game ended now"."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scoring.engine import figures_on, step, tiles_left, weights
from scoring.events import GameEnded, TurnEnded, to_json
from scoring.final import STAGES, stage_of, winners
from scoring.geometry import spot_of
from scoring.log import Amended, LogEntry, effective
from scoring.scores import ScoreEvent, bordered_cities, formula, leaders, named, pennants, value
from scoring.state import GameState
from scoring.tiles import catalogue

CATEGORIES = ("road", "city", "cloister", "field")


def live_view(state: GameState, entries: Iterable[LogEntry], version: int) -> dict[str, Any]:
    """The whole table as a client sees it. Scores count an open turn as if it ended now."""
    entries = tuple(entries)
    now = step(state, TurnEnded())
    ended = state if state.over else step(state, GameEnded())
    asked = _asked(entries)
    lost = effective(entries)
    final = _final(now, ended)
    return {
        "version": version,
        "edition": state.setup.rules.edition,
        "expansions": list(state.setup.expansions),
        "phase": "over" if state.over else "playing",
        "turn": {"number": state.turn + 1, "player": state.player, "part": state.part, "open": state.turn_open},
        "players": [
            {"index": n, "name": p.name, "colour": p.colour, "score": now.scores[n], "projected": ended.scores[n],
             "supply": dict(now.supply[n]), "active": n == state.player and not state.over, "uncertain": bool(asked)}
            for n, p in enumerate(state.setup.players)
        ],
        "left": {"total": sum(tiles_left(state).values()), "kinds": dict(tiles_left(state))},
        "board": {"tiles": _tiles(state, lost, asked), "figures": _figures(now, lost)},
        "features": features(now),
        "feed": [event_json(state, e) for e in (now if not state.over else state).score_events],
        "final": final if state.over else None,
        "projected_final": final,
        "issues": [{"code": i.code, "text": i.text, "squares": [list(s) for s in i.squares], "turn": i.turn}
                   for i in state.issues],
        "history": _history(entries, lost),
    }


def final_scoring(state: GameState) -> dict[str, Any]:
    """The final scoring of a game that is over, or as if it ended now."""
    return _final(step(state, TurnEnded()), state if state.over else step(state, GameEnded()))


def event_json(state: GameState, event: ScoreEvent) -> dict[str, Any]:
    """A score event with its formula, majority and places."""
    return {
        "turn": event.turn, "player": state.tiles_by_turn.get(event.turn), "feature": event.feature,
        "reason": event.reason, "points": [{"player": p, "points": n} for p, n in event.points],
        "items": [{"what": i.what, "count": i.count, "each": i.each, "points": i.points} for i in event.items],
        "formula": formula(event.items), "majority": [{"player": p, "weight": w} for p, w in event.majority],
        "places": [list(p) for p in event.places], "cities": [[list(p) for p in c] for c in event.cities],
        "tiles": event.tiles, "rule": event.rule,
    }


def features(state: GameState) -> list[dict[str, Any]]:
    """Every feature that is claimed or still open, with what it is worth now and when complete."""
    out = []
    rules = state.setup.rules
    for f in state.board.features.values():
        if f.kind not in CATEGORIES:
            continue
        shares = weights(state, figures_on(state, f))
        row: dict[str, Any] = {
            "id": f"{f.kind[0]}{f.id}", "kind": f.kind, "places": [list(p) for p in named(state.board, f.places)],
            "tiles": len(f.squares), "open": f.open, "complete": f.kind != "field" and f.open == 0,
            "pennants": pennants(state.board, f), "owners": list(leaders(shares)),
            "weights": [list(w) for w in sorted(shares.items())],
        }
        if f.kind == "field":
            cities = bordered_cities(state.board, f)
            worth = len(cities) * rules.farm_points_per_city
            row |= {"cities": len(cities), "points_now": worth, "points_complete": worth}
        else:
            row |= {"points_now": sum(i.points for i in value(state.board, f, rules, complete=f.open == 0)[1]),
                    "points_complete": sum(i.points for i in value(state.board, f, rules, complete=True)[1])}
        out.append(row)
    return out


def _asked(entries: tuple[LogEntry, ...]) -> frozenset[int]:
    """Entries that a person should look at and nobody has yet settled."""
    open_questions = {e.seq for e in entries if e.asked}
    for e in entries:
        if e.source == "hand" and (seq := getattr(e.body, "seq", None)) is not None:
            open_questions.discard(seq)
    return frozenset(open_questions)


def _tiles(state: GameState, events: tuple[tuple[int, Any], ...], asked: frozenset[int]) -> list[dict[str, Any]]:
    seqs = {e.at: seq for seq, e in events if to_json(e)["do"] == "tile"}
    return [{"at": list(at), "tile": p.tile, "rot": p.rot, "seq": seqs.get(at), "turn": p.turn, "player": p.player,
             "asked": seqs.get(at) in asked, "last": at == state.last_tile} for at, p in state.tiles.items()]


def _figures(state: GameState, events: tuple[tuple[int, Any], ...]) -> list[dict[str, Any]]:
    seqs = {(e.at, e.feature, e.where): seq for seq, e in events if to_json(e)["do"] == "deploy"}
    out = []
    for f in state.figures:
        placed = state.tiles[f.at]
        out.append({"player": f.player, "figure": f.figure, "at": list(f.at), "feature": f.feature, "where": f.where,
                    "spot": list(spot_of(catalogue()[placed.tile], f.segment, placed.rot)),
                    "lying": f.feature == "field", "seq": seqs.get((f.at, f.feature, f.where))})
    return out


def _final(before: GameState, ended: GameState) -> dict[str, Any]:
    events = [e for e in ended.score_events if e.reason == "field" or e.reason.endswith(".incomplete")]
    table = []
    for kind in CATEGORIES:
        row = [0] * len(ended.scores)
        for e in ended.score_events:
            if e.feature == kind:
                for p, n in e.points:
                    row[p] += n
        table.append({"category": kind, "points": row})
    best = winners(ended)
    return {
        "stages": [{"name": s, "events": [event_json(ended, e) for e in events if stage_of(e) == s]} for s in STAGES],
        "table": table, "totals": list(ended.scores), "winners": list(best),
        "tie": ended.setup.rules.winner_tie if len(best) > 1 else None,
    }


def _history(entries: tuple[LogEntry, ...], events: tuple[tuple[int, Any], ...]) -> list[dict[str, Any]]:
    by_seq = {e.seq: e for e in entries}
    amended = {e.body.seq for e in entries if isinstance(e.body, Amended)}
    out: list[dict[str, Any]] = []
    turn = -1
    for seq, event in events:
        data = to_json(event)
        if data["do"] in ("end_turn", "end_game"):
            continue
        turn += data["do"] == "tile"
        entry = by_seq[seq]
        out.append({"seq": seq, "turn": turn, "kind": data.pop("do"), **data, "source": entry.source,
                    "confidence": entry.confidence, "asked": entry.asked, "amended": seq in amended})
    return out
