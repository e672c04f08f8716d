"""Figures beside which a neutral piece was put down: the two may look like one, so that looks miss the figure.

Whoever vanishes when such a piece comes close may still stand there: that looks miss him says that he is gone only once
the piece is elsewhere, or where looks have told the two apart before.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from reading.belief import FigureTrack, TableBelief
from reading.limits import LIMITS
from reading.sightings import NEUTRAL
from scoring.tiles import Point
from vision.looks import TableLook


@dataclass(slots=True)
class _Missed:
    """The looks that have missed a figure since it was seen last: the weight of all, of those with a piece that it may
    look like one with, and when the first other one was. ``apart`` are the feet of pieces beside which it was seen."""

    all: float = 0.0
    joined: float = 0.0
    since_s: float | None = None
    apart: tuple[Point, ...] = ()


@dataclass(slots=True)
class Overlooked:
    """Counts, by the numbers of the figures, the looks that may have missed them for that reason."""

    _missed: dict[int, _Missed] = field(default_factory=dict)

    def look(self, look: TableLook, belief: TableBelief) -> None:
        """Take notice of a look that is aligned with the game and is in the belief already."""
        feet = [(at[0] + n.foot[0], at[1] + n.foot[1]) for at, square in look.squares.items()
                for n in square.neutral.values() if n.there >= NEUTRAL.lead]  # a hand may look a little like one
        for i, f in belief.figures.items():
            known = self._missed.get(i)
            near = [foot for foot in feet if math.dist(foot, f.foot) < LIMITS.joined]
            if f.missed == 0.0:  # seen, now or when it was looked for last
                if near and f.looked_s == look.t_s:
                    self._missed[i] = _Missed(apart=tuple(near))
                elif known is not None and known.all:
                    self._missed[i] = _Missed(apart=known.apart)
            elif f.looked_s == look.t_s:
                known = self._missed.setdefault(i, _Missed())
                if _told_apart(near, known.apart):
                    known.since_s = look.t_s if known.since_s is None else known.since_s
                else:
                    known.joined += f.missed - known.all
                known.all = f.missed
        for i in self._missed.keys() - belief.figures.keys():
            del self._missed[i]

    def without(self, belief: TableBelief) -> TableBelief:
        """The belief without what such looks say; the same object if there are none."""
        out: dict[int, FigureTrack] = {
            i: replace(belief.figures[i], missed=m.all - m.joined, missed_s=m.since_s)
            for i, m in self._missed.items() if m.joined and i in belief.figures and belief.figures[i].missed}
        return replace(belief, figures={**belief.figures, **out}) if out else belief


def _told_apart(near: Sequence[Point], apart: Sequence[Point]) -> bool:
    """Whether each piece is where it was when looks showed the figure beside it."""
    return all(any(math.dist(foot, other) < NEUTRAL.again_at for other in apart) for foot in near)
