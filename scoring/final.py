"""The final scoring: what every stage of every expansion adds, as if the game ended now (R-END-01 to R-END-08)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from scoring.board import bordered_cities
from scoring.contributions import View
from scoring.scores import Item, ScoreEvent, leaders
from scoring.state import Feature, feature_of, figures_on, named, weights
from scoring.turns import scored


@dataclass(frozen=True, slots=True, kw_only=True)
class Final:
    """A final scoring: events by stage, what each player has in the end, who has won and what a tie means."""

    stages: tuple[tuple[str, tuple[ScoreEvent, ...]], ...]
    totals: tuple[int, ...]
    winners: tuple[int, ...]
    tie: str | None


def final_stages(view: View) -> tuple[tuple[str, tuple[ScoreEvent, ...]], ...]:
    """What each stage adds, in the order of the stages (R-END-07)."""
    return tuple((s.name, tuple(replace(e, stage=s.name) for e in s.events(view))) for s in view.box.stages)


def final_of(view: View) -> Final:
    """The final scoring of a game whose last turn is over and whose end has not been booked yet."""
    stages = final_stages(view)
    totals = list(view.scores)
    for _, events in stages:
        for event in events:
            for player, points in event.points:
                totals[player] += points
    best = winners(totals)
    return Final(stages=stages, totals=tuple(totals), winners=best,
                 tie=view.box.rules.winner_tie if len(best) > 1 else None)


def winners(totals: list[int] | tuple[int, ...]) -> tuple[int, ...]:
    """Everyone with the highest score (R-WIN-01), be it nothing."""
    return leaders({p: score - min(totals) + 1 for p, score in enumerate(totals)})


def claimed(view: View, stage: str) -> Iterator[Feature]:
    """Features with figures on them whose kind scores in that stage, in the order of their oldest figure."""
    kinds = view.box.kinds
    seen: set[int] = set()
    for figure in view.standing.values():
        feature = feature_of(view, figure)
        if feature and feature.id not in seen and feature.kind in kinds and kinds[feature.kind].stage == stage:
            seen.add(feature.id)
            yield feature


def incomplete(stage: str, view: View) -> Iterator[ScoreEvent]:
    """Roads, cities and cloisters that nobody finished (R-END-02 to R-END-05)."""
    for feature in claimed(view, stage):
        yield from scored(view, feature, figures_on(view, feature), complete=False)


def farms(view: View) -> Iterator[ScoreEvent]:
    """Farms, by the method in force (R-FARM-10)."""
    found = tuple(claimed(view, "farms"))
    if not view.box.rules.farmers_enabled:
        return
    method = _farms_per_city if view.box.rules.farm_scoring == "per_city_all_farms" else _farms_each
    yield from method(view, found)
    for farm in found:
        yield from view.box.bonuses(view, farm, figures_on(view, farm))


def _farms_each(view: View, found: tuple[Feature, ...]) -> Iterator[ScoreEvent]:
    """Every farm pays its own majority for every completed city it borders (R-FARM-20)."""
    each = view.box.rules.farm_points_per_city
    for farm in found:
        shares = weights(view, figures_on(view, farm))
        if not shares:
            continue
        cities = bordered_cities(view, farm)
        best = leaders(shares)
        extras = tuple(Item(what=i.what, count=len(cities), each=i.each, player=p)
                       for p in best for i in view.box.farm_extras(view, farm, p))
        common = Item(what="city", count=len(cities), each=each)
        points = tuple((p, common.points + sum(i.points for i in extras if i.player == p)) for p in best)
        yield ScoreEvent(turn=view.turn, feature="field", reason="field", items=(common, *extras), rule="R-FARM-20",
                         points=points, majority=tuple(sorted(shares.items())), places=named(view, farm.places),
                         tiles=len(farm.squares),
                         cities=tuple(named(view, view.features[c].places) for c in cities))


def _farms_per_city(view: View, found: tuple[Feature, ...]) -> Iterator[ScoreEvent]:
    """Every completed city pays once, to the majority over all the farms that border it (R-FARM-11)."""
    each = view.box.rules.farm_points_per_city
    suppliers: dict[int, list[Feature]] = {}
    for farm in found:
        for city in bordered_cities(view, farm):
            suppliers.setdefault(city, []).append(farm)
    for city, round_it in suppliers.items():
        shares = weights(view, [f for farm in round_it for f in figures_on(view, farm)])
        if not shares:
            continue
        best = leaders(shares)
        extras = tuple(Item(what=i.what, count=1, each=i.each, player=p) for p in best
                       for i in _first(view, round_it, p))
        common = Item(what="city", count=1, each=each)
        points = tuple((p, each + sum(i.points for i in extras if i.player == p)) for p in best)
        squares = frozenset().union(*(farm.squares for farm in round_it))
        yield ScoreEvent(turn=view.turn, feature="field", reason="field", items=(common, *extras), rule="R-FARM-11",
                         points=points, majority=tuple(sorted(shares.items())),
                         places=named(view, [p for farm in round_it for p in farm.places]), tiles=len(squares),
                         cities=(named(view, view.features[city].places),))


def _first(view: View, round_it: list[Feature], player: int) -> list[Item]:
    """A player's extras for one city over all the farms round it, each kind once (R-PIG-06)."""
    return list({i.what: i for farm in round_it for i in view.box.farm_extras(view, farm, player)}.values())
