"""The view of a game (`scoring.views`), as JSON-ready data, including "if the game ended now"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import islice
from typing import cast

from scoring.contributions import Counts, Question, View
from scoring.engine import tiles_left, waiting
from scoring.events import FigurePlaced, TilePlaced, to_json
from scoring.explain import explain
from scoring.final import Final, combine, final_of, winners
from scoring.geometry import spot_of
from scoring.history_rows import HistoryRows, history_rows
from scoring.log import LogEntry, effective, settled
from scoring.log_position import question_id, unanswered
from scoring.moves import next_tile
from scoring.scores import Item, ScoreEvent, category, formula
from scoring.state import (
    NO_SEGMENT,
    Draft,
    Feature,
    GameState,
    Placed,
    StandingFigure,
    supplies,
)
from scoring.tiles import Square
from scoring.turns import close_turn
from scoring.view_cache import ViewCache
from scoring.views import (
    BoardView,
    FeatureView,
    FigureView,
    FinalView,
    GameView,
    ItemView,
    OpenQuestionView,
    ScoreView,
    StageView,
    TileView,
)

__all__ = ["ViewCache", "category", "event_json", "features", "figure_json", "final_scoring", "live_view",
           "running_scores", "standing_now"]


def live_view(state: GameState, entries: Sequence[LogEntry], version: int,
              memory: ViewCache | None = None) -> GameView:
    """The complete view for clients. Scores include an open turn as if it ended now.

    Callers that build successive views should keep a ViewCache for the game, which saves most of the work.
    """
    memory = memory or ViewCache()
    told = memory.is_told(history_rows(tuple(entries), state.happened, memory.told))
    now = _closed(state)
    feed, final = _events(now, _final(now, memory), memory)
    supply = supplies(now)
    left = tiles_left(state)
    standing = cast(BoardView, {"tiles": _tiles(state, told, memory), "figures": _figures(now, told, memory),
                                **now.box.shows(now)})
    questions = _questions(state, tuple(entries), told, memory)
    return {
        "version": version,
        "edition": state.setup.rules.edition,
        "expansions": list(state.setup.expansions),
        "phase": "over" if state.over else "playing",
        "turn": {"number": state.turn + 1, "player": state.player, "part": state.part, "open": state.turn_open},
        "next_tile": next_tile(state),
        "players": [
            {"index": n, "name": p.name, "colour": p.colour, "score": now.scores[n], "projected": final["totals"][n],
             "supply": supply[n], "active": n == state.player and not state.over, "uncertain": bool(told.asked)}
            for n, p in enumerate(state.setup.players)
        ],
        "left": {"total": sum(left.values()), "kinds": left},
        "board": standing,
        "features": features(now, memory),
        "feed": feed,
        "final": final if state.over else None,
        "projected_final": final,
        "issues": [{"code": i.code, "text": i.text, "squares": [list(s) for s in i.squares], "turn": i.turn}
                   for i in state.issues],
        "open_questions": questions,
        "history": told.history,
    }


def standing_now(state: GameState) -> Mapping[str, object]:
    """The changing part of a view's ``board``: its ``figures`` (without the numbers of their entries) and the pieces of
    the expansions, as if the open turn ended now."""
    now = _closed(state)
    return {"figures": [figure_json(now, f) for f in now.standing.values()], **now.box.shows(now)}


def running_scores(state: GameState) -> tuple[int, ...]:
    """The scores shown in a view: those of the state as if its open turn ended now."""
    return tuple(_closed(state).scores)


def _questions(state: GameState, entries: Sequence[LogEntry], told: HistoryRows,
               memory: ViewCache) -> list[OpenQuestionView]:
    """The open questions of which people have not said that nothing happened."""
    said = settled(entries) if waiting(state) else frozenset()
    rows = memory.questions.of(tuple(unanswered(state, effective(entries) if said else (), said)), _question)
    return [{**row, "seen": True} if _by_camera(row, told) else row for row in rows]


def _by_camera(question: OpenQuestionView, told: HistoryRows) -> bool:
    """Whether the camera told what happened last on a question's square in its turn part, besides tiles and figures."""
    for row in reversed(told.history):
        if row["turn"] < question["turn"]:
            return False
        if row["turn"] == question["turn"] and row["kind"] not in (TilePlaced.DO, FigurePlaced.DO) \
                and question["at"] is not None and row.get("at") == question["at"]:
            return row["source"] == "camera"
    return False


def _question(q: Question) -> OpenQuestionView:
    return {"id": question_id(q), "code": q.code, "text": q.text, "player": q.player, "turn": q.turn,
            "at": list(q.at) if q.at else None, "must": q.must, "nothing": not q.must and q.turn >= 0, "seen": False,
            "before": q.before,
            "answers": [to_json(e) for e in q.answers]}


def final_scoring(state: GameState) -> Final:
    """The final scoring of a finished game, or as if the game ended now (the open turn first)."""
    return _final(_closed(state), ViewCache())


def _closed(state: GameState) -> View:
    """The state as if the open turn ended now."""
    if not state.turn_open:
        return state
    d = Draft(state)
    close_turn(d)
    return d


def _final(view: View, memory: ViewCache) -> Final:
    if not view.over:
        return final_of(view, memory)
    best = winners(tuple(view.scores))
    booked = tuple(view.score_events[view.events_before:])
    stages = tuple((s.name, tuple(e for e in booked if e.stage == s.name)) for s in view.box.stages)
    return Final(stages=stages, table={}, totals=tuple(view.scores), winners=best,
                 tie=view.box.rules.winner_tie if len(best) > 1 else None)


def _events(view: View, final: Final, memory: ViewCache) -> tuple[list[ScoreView], FinalView]:
    """The score events and the final scoring: its stages, points per category over the whole game, totals, winners."""
    feed, table = memory.booked(view.score_events, len(view.scores), event_json)
    if view.over:
        booked = iter(feed[view.events_before:])
        stages: list[StageView] = [{"name": name, "events": [next(booked) for _ in events]}
                                   for name, events in final.stages]
    else:
        stages = [memory.shown[name].of(events, partial(_staged, memory, name, events))
                  for name, events in final.stages]
        combine(table, final.table)
    return feed, {
        "stages": stages,
        "table": [{"category": c, "points": row} for c, row in table.items()],
        "totals": list(final.totals), "winners": list(final.winners), "tie": final.tie,
    }


def event_json(event: ScoreEvent) -> ScoreView:
    """A score event with its formula, majority and places. ``player`` is the active player."""
    told = formula(event)
    return {
        "turn": event.turn, "player": event.player, "feature": event.feature,
        "reason": event.reason, "points": [{"player": p, "points": n} for p, n in event.points],
        "items": [_item(i) for i in event.items],
        "formula": told, "majority": [{"player": p, "weight": w} for p, w in event.majority],
        "places": event.places, "cities": event.cities,
        "tiles": event.tiles, "rule": event.rule,
        "because": explain(event, told),
    }


def _staged(memory: ViewCache, name: str, events: Sequence[ScoreEvent]) -> StageView:
    return {"name": name, "events": memory.staged[name].of(events, _projected)}


def _projected(event: ScoreEvent) -> ScoreView:
    """An event of a projected final scoring: it belongs to no turn."""
    row = event_json(event)
    row["turn"] = None
    return row


def _item(item: Item) -> ItemView:
    row: ItemView = {"what": item.what, "count": item.count, "each": item.each, "points": item.count * item.each}
    return row if item.player is None else {**row, "player": item.player}


def features(view: View, memory: ViewCache | None = None) -> list[FeatureView]:
    """Every feature that can be claimed, with its owners and its value now and when complete."""
    memory = memory or ViewCache()
    return memory.features(view, partial(_feature, view, memory))


def _feature(view: View, memory: ViewCache, f: Feature) -> FeatureView:
    kind = view.box.kinds[f.kind]
    shares, best = memory.shares(view, f)
    complete = f.open == 0 and kind.closes != "never"
    row: FeatureView = {
        "id": f"{f.kind[0]}{f.id}", "kind": f.kind, "places": memory.places(view, f),
        "tiles": len(f.squares), "open": f.open, "complete": complete, "pennants": f.marks.get("pennant", 0),
        "owners": best, "weights": shares, "points_now": 0, "points_complete": 0,
    }
    if kind.counts is None:
        row["cities"] = cities = len(memory.border(view, f).cities) if f.cities else 0
        row["points_now"] = row["points_complete"] = cities * view.box.rules.farm_points_per_city
        return row
    row["points_complete"] = worth = _worth(view, kind.counts, f, True)
    row["points_now"] = worth if complete else _worth(view, kind.counts, f, False)
    return row


def _worth(view: View, counts: Counts, feature: Feature, complete: bool) -> int:
    rate, count = view.box.rate(feature, complete), 0
    for _, n in counts(view.box.rules, feature, complete):
        count += n
    return rate.each * count if rate else 0


def _tiles(state: GameState, told: HistoryRows, memory: ViewCache) -> list[TileView]:
    known, tiles, last = memory.tiles, state.tiles, state.last_tile
    for at, p in islice(tiles.items(), known.new(tiles, tiles.values()), None):
        known.rows.append(_tile(told, at, p))
    rows = known.rows[:]
    if last is not None:
        squares = list(tiles)
        n = -1 if squares[-1] == last else squares.index(last)
        rows[n] = {**rows[n], "last": True}
    return rows


def _tile(told: HistoryRows, at: Square, p: Placed) -> TileView:
    seq = told.tiles.get(at) if p.turn is not None else None
    return {"at": list(at), "tile": p.tile, "rot": p.rot, "seq": seq, "turn": p.turn, "player": p.player,
            "asked": seq in told.asked, "last": False}


def _figures(view: View, told: HistoryRows, memory: ViewCache) -> list[FigureView]:
    return memory.figures.of(view.standing.values(), partial(_figure, view, told))


def _figure(view: View, told: HistoryRows, f: StandingFigure) -> FigureView:
    return {**figure_json(view, f), "seq": told.figures.get((f.player, f.at, f.feature, f.where))}


def figure_json(view: View, f: StandingFigure) -> FigureView:
    """A figure on the board; ``spot`` is its position on the tile, in hundredths of the tile's side. One that
    is ``apart`` stands on no tile: its expansion draws it."""
    placed, kind = view.tiles.get(f.at), view.box.kinds.get(f.feature)
    spot = kind.spot if kind else (50.0, 50.0)
    if placed and f.segment != NO_SEGMENT:
        spot = spot_of(view.box.tile(placed.tile), f.segment, placed.rot)
    return {"player": f.player, "figure": f.figure, "at": list(f.at), "feature": f.feature, "where": f.where,
            "spot": list(spot), "lying": f.feature == "field", "apart": kind is not None and not kind.on_tile}
