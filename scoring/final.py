"""The final scoring: what every stage of every expansion adds, as if the game ended now (R-END-01 to R-END-08)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

from scoring.contributions import View
from scoring.memory import Border, Memory
from scoring.scores import Item, ScoreEvent, leaders
from scoring.state import Feature, figures_on, named, weights
from scoring.turns import bonuses, counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Final:
    """A final scoring: events by stage, what each player has in the end, who has won and what a tie means."""

    stages: tuple[tuple[str, tuple[ScoreEvent, ...]], ...]
    totals: tuple[int, ...]
    winners: tuple[int, ...]
    tie: str | None


def final_stages(view: View, memory: Memory | None = None) -> tuple[tuple[str, tuple[ScoreEvent, ...]], ...]:
    """What each stage adds, in the order of the stages (R-END-07). An event from the memory tells an earlier turn."""
    memory = memory or Memory()
    return tuple([(s.name, tuple([e if e.stage == s.name else replace(e, stage=s.name)
                                  for e in s.events(view, memory)])) for s in view.box.stages])


def final_of(view: View, memory: Memory | None = None) -> Final:
    """The final scoring of a game whose last turn is over and whose end has not been booked yet."""
    stages = final_stages(view, memory)
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
    lowest = min(totals)
    return leaders({p: score - lowest + 1 for p, score in enumerate(totals)})


def incomplete(stage: str, view: View, memory: Memory) -> Iterator[ScoreEvent]:
    """Roads, cities and cloisters that nobody finished (R-END-02 to R-END-05)."""
    found = memory.claimed(view, stage)
    scored = memory.table(stage).of(found, partial(_incomplete, stage, view, memory))
    return chain(chain.from_iterable(scored), bonuses(view, found))


def _incomplete(stage: str, view: View, memory: Memory, feature: Feature) -> tuple[ScoreEvent, ...]:
    event = counted(view, feature, *memory.shares(view, feature), memory.places(view, feature), stage=stage)
    return (event,) if event else ()


def farms(view: View, memory: Memory) -> Iterator[ScoreEvent]:
    """Farms, by the method in force (R-FARM-10)."""
    if not view.box.rules.farmers_enabled:
        return iter(())
    found = memory.claimed(view, "farms")
    method = _farms_per_city if view.box.rules.farm_scoring == "per_city_all_farms" else _farms_each
    return chain(method(view, found, memory), bonuses(view, found))


def _farms_each(view: View, found: Sequence[Feature], memory: Memory) -> Iterator[ScoreEvent]:
    """Every farm pays its own majority for every completed city it borders (R-FARM-20)."""
    borders = [memory.border(view, farm) for farm in found]
    return chain.from_iterable(memory.table("farms").of(borders, partial(_farm, view, memory)))


def _farm(view: View, memory: Memory, border: Border) -> tuple[ScoreEvent, ...]:
    farm, cities = border
    shares, best = memory.shares(view, farm)
    if not shares:
        return ()
    extras = tuple([Item(what=i.what, count=len(cities), each=i.each, player=p)
                    for p in best for i in view.box.farm_extras(view, farm, p)])
    common = Item(what="city", count=len(cities), each=view.box.rules.farm_points_per_city)
    points = tuple([(p, common.points + sum([i.points for i in extras if i.player == p])) for p in best])
    return (ScoreEvent(turn=view.turn, feature="field", reason="field", items=(common, *extras), rule="R-FARM-20",
                       points=points, majority=shares, tiles=len(farm.squares),
                       places=memory.places(view, farm), cities=tuple([memory.places(view, c) for c in cities]),
                       stage="farms"),)


def _farms_per_city(view: View, found: Sequence[Feature], memory: Memory) -> Iterator[ScoreEvent]:
    """Every completed city pays once, to the majority over all the farms that border it (R-FARM-11)."""
    suppliers: dict[int, list[Feature]] = {}
    for farm in found:
        for city in memory.border(view, farm).cities:
            suppliers.setdefault(city.id, []).append(farm)
    for number, round_it in suppliers.items():
        city = view.features[number]
        event = memory.joint_row("supplied", number, (city, *round_it), _city, view, memory, city, round_it)
        if event is not None:
            yield event


def _city(view: View, memory: Memory, city: Feature, round_it: list[Feature]) -> ScoreEvent | None:
    shares = weights(view, [f for farm in round_it for f in figures_on(view, farm)])
    if not shares:
        return None
    best = leaders(shares)
    extras = tuple(Item(what=i.what, count=1, each=i.each, player=p) for p in best for i in _first(view, round_it, p))
    common = Item(what="city", count=1, each=view.box.rules.farm_points_per_city)
    points = tuple((p, common.points + sum(i.points for i in extras if i.player == p)) for p in best)
    squares = frozenset().union(*(farm.squares for farm in round_it))
    return ScoreEvent(turn=view.turn, feature="field", reason="field", items=(common, *extras), rule="R-FARM-11",
                      points=points, majority=tuple(sorted(shares.items())), stage="farms",
                      places=named(view, [p for farm in round_it for p in farm.places]), tiles=len(squares),
                      cities=(memory.places(view, city),))


def _first(view: View, round_it: list[Feature], player: int) -> list[Item]:
    """A player's extras for one city over all the farms round it, each kind once (R-PIG-06)."""
    return list({i.what: i for farm in round_it for i in view.box.farm_extras(view, farm, player)}.values())
