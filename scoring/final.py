"""Final scoring: what each stage of each expansion would add if the game ended now (R-END-01 to R-END-08)."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from scoring.contributions import View
from scoring.scores import Item, ScoreEvent, leaders
from scoring.state import Feature, figures_on, weights
from scoring.turns import bonuses, counted
from scoring.view_cache import Border, ViewCache, by_category


@dataclass(frozen=True, slots=True, kw_only=True)
class Final:
    """A final scoring: events by stage, their points by category and player, the final totals, the winners and
    how a tie is resolved."""

    stages: tuple[tuple[str, tuple[ScoreEvent, ...]], ...]
    table: Mapping[str, list[int]]
    totals: tuple[int, ...]
    winners: tuple[int, ...]
    tie: str | None


def final_stages(view: View, memory: ViewCache | None = None) -> tuple[tuple[str, tuple[ScoreEvent, ...]], ...]:
    """The events of each stage, in order (R-END-07). A cached event may carry an earlier turn."""
    memory = memory or ViewCache()
    return tuple([(s.name, tuple(s.events(view, memory))) for s in view.box.stages])


def final_of(view: View, memory: ViewCache | None = None) -> Final:
    """The final scoring of a game whose last turn is over, before it is added to the scores."""
    memory = memory or ViewCache()
    stages = final_stages(view, memory)
    table: dict[str, list[int]] = {}
    for name, events in stages:
        if events:
            combine(table, memory.summed[name].of(events, partial(by_category, events, len(view.scores))))
    totals = list(map(sum, zip(view.scores, *table.values(), strict=True)))
    best = winners(totals)
    return Final(stages=stages, table=table, totals=tuple(totals), winners=best,
                 tie=view.box.rules.winner_tie if len(best) > 1 else None)


def combine(table: dict[str, list[int]], more: Mapping[str, list[int]]) -> None:
    """Add the points of one table (by category and player) to another."""
    for category, row in more.items():
        known = table.get(category)
        table[category] = row if known is None else list(map(operator.add, known, row))


def winners(totals: list[int] | tuple[int, ...]) -> tuple[int, ...]:
    """All players with the highest score (R-WIN-01), even if it is 0."""
    lowest = min(totals)
    return leaders({p: score - lowest + 1 for p, score in enumerate(totals)})


def incomplete(stage: str, view: View, memory: ViewCache) -> tuple[ScoreEvent, ...]:
    """Roads, cities and cloisters that are incomplete (R-END-02 to R-END-05)."""
    found = memory.claimed(view, stage)
    scored = memory.scored[stage].of(found, lambda: _all_of(stage, view, memory, found))
    return scored + _on_top(stage, view, memory, found)


def _all_of(stage: str, view: View, memory: ViewCache, found: Sequence[Feature]) -> tuple[ScoreEvent, ...]:
    def paid(feature: Feature) -> ScoreEvent | None:
        return counted(view, feature, *memory.shares(view, feature), memory.places(view, feature), stage=stage)

    return tuple(filter(None, [memory.paid(f, (f,), partial(paid, f)) for f in found]))


def _on_top(stage: str, view: View, memory: ViewCache, found: Sequence[Feature]) -> tuple[ScoreEvent, ...]:
    """Bonuses for these features when they are scored at the end."""
    return tuple([replace(e, stage=stage) for e in bonuses(view, found)]) if found and view.box.bonuses else ()


def farms(view: View, memory: ViewCache) -> tuple[ScoreEvent, ...]:
    """Farms, by the scoring method in force (R-FARM-10)."""
    found = memory.claimed(view, "farms") if view.box.rules.farmers_enabled else []
    if not found:
        return ()
    borders = memory.borders(view, found)
    method = _farms_per_city if view.box.rules.farm_scoring == "per_city_all_farms" else _farms_each
    scored = memory.scored["farms"].of(borders, lambda: method(view, memory, borders))
    return scored + _on_top("farms", view, memory, found)


def _farms_each(view: View, memory: ViewCache, borders: Sequence[Border]) -> tuple[ScoreEvent, ...]:
    """Every farm scores for its own majority, for every completed city it borders (R-FARM-20)."""
    return tuple(filter(None, [memory.paid(b.farm, (b,), partial(_farm, view, memory, b)) for b in borders]))


def _farm(view: View, memory: ViewCache, border: Border) -> ScoreEvent | None:
    farm, cities = border
    shares, best = memory.shares(view, farm)
    if not shares:
        return None
    count, each = len(cities), view.box.rules.farm_points_per_city
    items, points = [Item(what="city", count=count, each=each)], []
    for p in best:
        extras = view.box.farm_extras(view, farm, p)
        items += [Item(what=i.what, count=count, each=i.each, player=p) for i in extras]
        points.append((p, count * (each + sum([i.each for i in extras]))))
    return ScoreEvent(turn=view.turn, feature="field", reason="field", items=tuple(items), rule="R-FARM-20",
                      points=tuple(points), majority=shares, tiles=len(farm.squares), stage="farms",
                      places=memory.places(view, farm), cities=tuple([memory.places(view, c) for c in cities]))


def _farms_per_city(view: View, memory: ViewCache, borders: Sequence[Border]) -> tuple[ScoreEvent, ...]:
    """Every completed city scores once, for the majority over all the farms that border it (R-FARM-11)."""
    suppliers: dict[int, list[Feature]] = {}
    for farm, cities in borders:
        for city in cities:
            suppliers.setdefault(city.id, []).append(farm)
    scored = []
    for number, farms in suppliers.items():
        city = view.features[number]
        scored.append(memory.paid(city, (city, *farms), partial(_city, view, memory, city, tuple(farms))))
    return tuple(filter(None, scored))


def _city(view: View, memory: ViewCache, city: Feature, farms: tuple[Feature, ...]) -> ScoreEvent | None:
    e = _suppliers(view, memory, farms)
    return e and ScoreEvent(turn=e.turn, feature=e.feature, reason=e.reason, items=e.items, rule=e.rule, stage=e.stage,
                            points=e.points, majority=e.majority, tiles=e.tiles, places=e.places,
                            cities=(memory.places(view, city),))


def _suppliers(view: View, memory: ViewCache, farms: tuple[Feature, ...]) -> ScoreEvent | None:
    """The points of these farms together for one city; the same for every city."""
    shares = weights(view, [f for farm in farms for f in figures_on(view, farm)])
    if not shares:
        return None
    items, points = [Item(what="city", count=1, each=view.box.rules.farm_points_per_city)], []
    for p in leaders(shares):
        extras = _first(view, farms, p)
        items += [Item(what=i.what, count=1, each=i.each, player=p) for i in extras]
        points.append((p, items[0].each + sum([i.each for i in extras])))
    places = memory.places(view, farms[0])
    if len(farms) > 1:
        places = tuple(sorted([p for farm in farms for p in memory.places(view, farm)]))
    return ScoreEvent(turn=view.turn, feature="field", reason="field", items=tuple(items), rule="R-FARM-11",
                      points=tuple(points), majority=tuple(sorted(shares.items())), stage="farms", places=places,
                      tiles=len(frozenset().union(*[farm.squares for farm in farms])))


def _first(view: View, farms: tuple[Feature, ...], player: int) -> list[Item]:
    """A player's extra points for one city over all the farms bordering it, each kind once (R-PIG-06)."""
    return list({i.what: i for farm in farms for i in view.box.farm_extras(view, farm, player)}.values())
