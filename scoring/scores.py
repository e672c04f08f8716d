"""Itemised score events; majorities and ties are decided in a single function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One term of a score: ``count`` items at ``each`` points. With ``player`` it is for that player only."""

    what: str
    count: int
    each: int
    player: int | None = None

    @property
    def points(self) -> int:
        return self.count * self.each


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreEvent:
    """Points for one feature: who gets them, why (``items``, ``majority`` as player and weight), and its position.

    ``places`` names every segment as (x, y, where); ``cities`` holds the same for the completed cities that a farm
    scores for; ``rule`` is the id of the rule that gives the value; ``player`` is the active player (None: final
    scoring, in the stage ``stage``). Without a feature, ``feature`` is empty. ``group`` is the category of the points
    if the reason does not imply it.
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
    player: int | None = None
    stage: str = ""
    group: str = ""


def category(event: ScoreEvent) -> str:
    """The category of these points for players: the kind of feature, or another source."""
    return event.group or _category(event.reason)


@cache
def _category(reason: str) -> str:
    return reason.partition(".")[0]


def leaders(weights: Mapping[int, int]) -> tuple[int, ...]:
    """Who has the majority: all players with the highest positive weight (R-MAJ-01, R-MAJ-02, R-MAJ-03).

    Every tie in the game is resolved here: roads, cities, farms in both methods, goods, and the winners.
    """
    best = max(weights.values(), default=0)
    return tuple(sorted([p for p, w in weights.items() if w == best])) if best > 0 else ()


def formula(scored: ScoreEvent | Sequence[Item]) -> str:
    """The sum in readable form: ``5 tiles x 2 + 1 pennant x 2 = 12``; items of single players are left out."""
    items = scored.items if isinstance(scored, ScoreEvent) else scored
    terms, total = [], 0
    for i in [i for i in items if i.player is None] or items:
        terms.append(f"{i.count} {plural(i.what, i.count)} x {i.each}")
        total += i.count * i.each
    return f"{' + '.join(terms) or '0'} = {total}"


_IRREGULAR = {"city": "cities"}


def plural(word: str, count: int) -> str:
    """``1 city``, ``2 cities``."""
    return word if count in (1, -1) else _IRREGULAR.get(word) or word + "s"
