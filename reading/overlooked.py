"""Figures beside which a neutral piece was put down: the two may look like one, so that looks miss the figure.

Whoever vanishes when such a piece comes close may still stand there: that looks miss him says that he is gone only once
the piece is elsewhere. Where it was before he was seen last, looks can tell the two apart.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field, replace

from reading.belief import FigureTrack, TableBelief
from reading.limits import LIMITS
from reading.sightings import NEUTRAL, apart_from_piles
from scoring.tiles import Point, Square
from vision.looks import TableLook


@dataclass(slots=True)
class _Missed:
    """The looks that have missed a figure since it was seen last: the weight of all, of those with a piece that it may
    look like one with, and when the first other one was."""

    all: float = 0.0
    joined: float = 0.0
    since_s: float | None = None


@dataclass(slots=True)
class Overlooked:
    """Counts, by the numbers of the figures, the looks that may have missed them for that reason."""

    _missed: dict[int, _Missed] = field(default_factory=dict)
    _came_s: dict[Point, float] = field(default_factory=dict)  # by places of pieces, when one was first seen there

    def look(self, look: TableLook, belief: TableBelief, piles: Collection[Square]) -> None:
        """Take notice of a look that is aligned with the game, which has ``piles`` on these squares, and is in the
        belief already."""
        pieces = [self._place((at[0] + n.foot[0], at[1] + n.foot[1]), look.t_s) for at, square in look.squares.items()
                  for seen in square.neutral.values() if (n := apart_from_piles(seen, square, at in piles)) is not None
                  and n.there >= NEUTRAL.lead]  # a hand may look a little like one
        for i, f in belief.figures.items():
            if not f.missed:
                self._missed.pop(i, None)
            elif f.looked_s == look.t_s:
                known = self._missed.setdefault(i, _Missed())
                if any(self._came_s[p] > f.seen_s and math.dist(p, f.foot) < LIMITS.joined for p in pieces):
                    known.joined += f.missed - known.all
                elif known.since_s is None:
                    known.since_s = look.t_s
                known.all = f.missed
        for i in self._missed.keys() - belief.figures.keys():
            del self._missed[i]

    def without(self, belief: TableBelief) -> TableBelief:
        """The belief without what such looks say; the same object if there are none."""
        out: dict[int, FigureTrack] = {
            i: replace(belief.figures[i], missed=m.all - m.joined, missed_s=m.since_s)
            for i, m in self._missed.items() if m.joined and i in belief.figures and belief.figures[i].missed}
        return replace(belief, figures={**belief.figures, **out}) if out else belief

    def _place(self, foot: Point, t_s: float) -> Point:
        """The place of a piece that is seen there, if need be as a new one."""
        nearest = min(self._came_s, key=lambda p: math.dist(p, foot), default=None)
        if nearest is None or math.dist(nearest, foot) >= NEUTRAL.again_at:
            self._came_s[foot] = t_s
            return foot
        return nearest
