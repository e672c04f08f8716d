"""Points: itemised score events, and majority and ties in exactly one function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scoring.board import Board, Feature, Place
from scoring.rules import Rules
from scoring.tiles import Square, catalogue, where


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One term of a score: ``count`` of something at ``each`` points."""

    what: str
    count: int
    each: int

    @property
    def points(self) -> int:
        return self.count * self.each


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreEvent:
    """Points for one feature: who gets them, why (``items``, ``majority`` as player and weight), and where it lies.

    ``places`` names every segment as (x, y, where); ``cities`` holds the same for the completed cities that a farm is
    paid for; ``rule`` is the id of the rule that gives the value.
    """

    turn: int
    feature: str
    reason: str
    points: tuple[tuple[int, int], ...]
    items: tuple[Item, ...]
    majority: tuple[tuple[int, int], ...]
    places: tuple[tuple[int, int, str], ...]
    tiles: int
    rule: str
    cities: tuple[tuple[tuple[int, int, str], ...], ...] = ()


def leaders(weights: Mapping[int, int]) -> tuple[int, ...]:
    """Who has the majority: everyone with the highest weight above nothing (R-MAJ-01, R-MAJ-02, R-MAJ-03)."""
    best = max(weights.values(), default=0)
    return tuple(sorted(p for p, w in weights.items() if w == best)) if best > 0 else ()


def formula(items: tuple[Item, ...]) -> str:
    """The sum as people write it: ``5 tiles x 2 + 1 pennant x 2 = 12``."""
    names = {"city": "cities"}
    terms = [f"{i.count} {i.what if i.count == 1 else names.get(i.what, i.what + 's')} x {i.each}" for i in items]
    return (" + ".join(terms) or "0") + f" = {sum(i.points for i in items)}"


def named(board: Board, places: frozenset[Place]) -> tuple[tuple[int, int, str], ...]:
    """Segments as (x, y, where), in reading order."""
    out = []
    for at, n in places:
        placed = board.tiles[at]
        out.append((at[0], at[1], where(catalogue()[placed.tile].segments[n], placed.rot)))
    return tuple(sorted(out))


def segments_of(board: Board, feature: Feature) -> list[tuple[Square, object]]:
    return [(at, catalogue()[board.tiles[at].tile].segments[n]) for at, n in feature.places]


def pennants(board: Board, feature: Feature) -> int:
    """Pennants of a city."""
    return sum(catalogue()[board.tiles[at].tile].segments[n].pennants for at, n in feature.places)


def bordered_cities(board: Board, farm: Feature) -> tuple[int, ...]:
    """Ids of the completed cities that a farm borders, each once (R-FARM-03, R-FARM-04, A-10)."""
    found: set[int] = set()
    for at, n in farm.places:
        for c in catalogue()[board.tiles[at].tile].segments[n].cities:
            found.add(board.member[at, c])
    return tuple(sorted(i for i in found if board.features[i].open == 0))


def value(board: Board, feature: Feature, rules: Rules, *, complete: bool) -> tuple[str, tuple[Item, ...], str]:
    """Reason, items and rule id of a road, city or cloister as it lies, complete or counted at the end."""
    tiles = len(feature.squares)
    unit = len(feature.places) if rules.incomplete_unit == "segment" and not complete else tiles
    if feature.kind == "road":
        return ("road", (Item(what="tile", count=tiles, each=1),), "R-ROAD-05") if complete else \
            ("road.incomplete", (Item(what="tile", count=unit, each=1),), "R-END-02")
    if feature.kind == "cloister":
        count = 9 - feature.open
        return ("cloister", (Item(what="tile", count=9, each=1),), "R-CLOI-02") if complete else \
            ("cloister.incomplete", (Item(what="tile", count=count, each=1),), "R-END-04")
    shields = pennants(board, feature)
    each, reason, rule = (2, "city", "R-CITY-03") if complete else (1, "city.incomplete", "R-END-02")
    if complete and tiles == 2 and rules.two_tile_city == "half":
        each, reason, rule = 1, "city.tiny", "R-CITY-06"
    items = (Item(what="tile", count=tiles if complete else unit, each=each),)
    return reason, items + ((Item(what="pennant", count=shields, each=each),) if shields else ()), rule
