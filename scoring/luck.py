"""The luck of the draw in a finished game: what each player drew, compared with the average tile of the box.

The *worth* of a kind of tile is what its roads, cities and monasteries would score if each were completed, counting
this tile only (a monastery with its eight neighbours), under the rules in force, no matter who scored it. A player's
luck is the worth of the tiles drawn minus the expectation for as many tiles of the box. Its percentile follows from
drawing without replacement: the sum of n tiles out of N has the variance n s² (N - n) / (N - 1), with s² the variance
of the box, and is approximated as normal.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

from scoring.board import lay
from scoring.engine import box_of, new_game
from scoring.events import Event, Setup, TileDiscarded, TilePlaced
from scoring.projection import features
from scoring.state import Draft, Placed

FARMS = "field"  # a farm's value depends on the cities around it, not on the tile
FAR = (1000, 1000)  # a square without neighbours


@dataclass(frozen=True, slots=True, kw_only=True)
class Luck:
    """One player's draw: ``drawn`` tiles are worth ``worth`` points in total, with the expectation ``expected``;
    ``above`` is the percentile (0 to 1): the share of draws of that size worth less, plus half of the equal ones."""

    drawn: int
    worth: int
    expected: float
    above: float
    kinds: Mapping[str, int]

    @property
    def points(self) -> float:
        """Points of worth above (or below) the average."""
        return self.worth - self.expected


def luck(setup: Setup, events: Iterable[Event]) -> tuple[Luck, ...]:
    """The luck of every player, in turn order. A discarded tile counts as drawn (R-DRAW-03)."""
    box, drawn = box_of(setup), [Counter[str]() for _ in setup.players]
    for event in events:
        if isinstance(event, TilePlaced | TileDiscarded) and event.player < len(drawn) and event.tile in box.contents:
            drawn[event.player][event.tile] += 1
    contents = Counter({kind: n for kind, n in new_game(setup).left.items() if n > 0})
    worth = worths(setup)
    total = contents.total()
    mean = sum(worth[kind] * n for kind, n in contents.items()) / total if total else 0.0
    variance = sum(n * (worth[kind] - mean) ** 2 for kind, n in contents.items()) / total if total else 0.0
    out = []
    for kinds in drawn:
        n, points = kinds.total(), sum(worth[kind] * k for kind, k in kinds.items())
        spread = math.sqrt(max(0.0, n * variance * (total - n) / (total - 1))) if total > 1 else 0.0
        above = NormalDist(n * mean, spread).cdf(points) if spread > 0 else 0.5
        out.append(Luck(drawn=n, worth=points, expected=n * mean, above=above, kinds=dict(kinds)))
    return tuple(out)


@lru_cache(8)
def worths(setup: Setup) -> Mapping[str, int]:
    """The worth of every kind in the box, in points."""
    empty, out = new_game(setup), {}
    before = {row["id"] for row in features(empty)}
    for kind in box_of(setup).contents:
        d = Draft(empty)
        lay(d, FAR, Placed(tile=kind, rot=0))
        out[kind] = sum(row["points_complete"] for row in features(d)
                        if row["kind"] != FARMS and row["id"] not in before)
    return out
