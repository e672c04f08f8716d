"""The final scoring: incomplete features, cloisters, farms (R-END-01 to R-END-08, R-FARM-01 to R-FARM-20)."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.board import Feature
from scoring.expansions import pieces
from scoring.scores import Item, ScoreEvent, bordered_cities, leaders, named, value
from scoring.state import GameState, StandingFigure

STAGES = ("incomplete", "cloisters", "farms")


def stage_of(event: ScoreEvent) -> str:
    """Which stage of the final scoring an event belongs to."""
    return {"field": "farms", "cloister": "cloisters"}.get(event.feature, "incomplete")


def final_events(state: GameState) -> tuple[ScoreEvent, ...]:
    """Everything that scores if the game ends now, in the order of the stages (R-END-07)."""
    claimed: dict[int, list[StandingFigure]] = {}
    for f in state.figures:
        claimed.setdefault(state.board.member[f.place], []).append(f)
    events = [_incomplete(state, state.board.features[i], fs) for i, fs in claimed.items()
              if state.board.features[i].kind in ("road", "city", "cloister")]
    farms = {i: fs for i, fs in claimed.items() if state.board.features[i].kind == "field"}
    method = _farms_per_city if state.setup.rules.farm_scoring == "per_city_all_farms" else _farms_each
    events += method(state, farms)
    return tuple(sorted(events, key=lambda e: (STAGES.index(stage_of(e)), e.feature, e.places)))


def winners(state: GameState) -> tuple[int, ...]:
    """Everyone with the highest score (R-WIN-01)."""
    return tuple(p for p, s in enumerate(state.scores) if s == max(state.scores))


def _weights(state: GameState, figures: list[StandingFigure]) -> dict[int, int]:
    kinds = pieces(state.setup.expansions)
    out: dict[int, int] = {}
    for f in figures:
        out[f.player] = out.get(f.player, 0) + (kinds[f.figure].weight if f.figure in kinds else 0)
    return out


def _incomplete(state: GameState, feature: Feature, figures: list[StandingFigure]) -> ScoreEvent:
    reason, items, rule = value(state.board, feature, state.setup.rules, complete=False)
    shares = _weights(state, figures)
    total = sum(i.points for i in items)
    return ScoreEvent(turn=state.turn, feature=feature.kind, reason=reason, items=items, rule=rule,
                      points=tuple((p, total) for p in leaders(shares)), majority=tuple(sorted(shares.items())),
                      places=named(state.board, feature.places), tiles=len(feature.squares))


def _farms_each(state: GameState, farms: dict[int, list[StandingFigure]]) -> Iterator[ScoreEvent]:
    """Every farm pays its own majority for every completed city it borders (R-FARM-20)."""
    for i, figures in farms.items():
        farm = state.board.features[i]
        cities = bordered_cities(state.board, farm)
        items = (Item(what="city", count=len(cities), each=state.setup.rules.farm_points_per_city),)
        shares = _weights(state, figures)
        yield ScoreEvent(turn=state.turn, feature="field", reason="field", items=items, rule="R-FARM-20",
                         points=tuple((p, items[0].points) for p in leaders(shares)),
                         majority=tuple(sorted(shares.items())), places=named(state.board, farm.places),
                         tiles=len(farm.squares),
                         cities=tuple(named(state.board, state.board.features[c].places) for c in cities))


def _farms_per_city(state: GameState, farms: dict[int, list[StandingFigure]]) -> Iterator[ScoreEvent]:
    """Every completed city pays once, to the majority over all the farms that border it (R-FARM-11)."""
    suppliers: dict[int, list[int]] = {}
    for i in farms:
        for city in bordered_cities(state.board, state.board.features[i]):
            suppliers.setdefault(city, []).append(i)
    for city, ids in suppliers.items():
        shares = _weights(state, [f for i in ids for f in farms[i]])
        items = (Item(what="city", count=1, each=state.setup.rules.farm_points_per_city),)
        places = frozenset(p for i in ids for p in state.board.features[i].places)
        paid = named(state.board, state.board.features[city].places)
        yield ScoreEvent(turn=state.turn, feature="field", reason="field", items=items, rule="R-FARM-11",
                         cities=(paid,),
                         points=tuple((p, items[0].points) for p in leaders(shares)),
                         majority=tuple(sorted(shares.items())), places=named(state.board, places),
                         tiles=len({at for at, _ in places}))
