"""Figures beside which a neutral piece was put down: the two may look like one, so that looks miss the figure.

Whoever vanishes when such a piece comes close may still stand there: that looks miss him says that he is gone only once
the piece is elsewhere. Where it was before he was seen last, looks can tell the two apart.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from reading.belief import TableBelief, freshness
from reading.figure_track import FigureTrack
from reading.limits import LIMITS
from reading.sightings import NEUTRAL, LoggedPile, apart_from_piles
from scoring.tiles import Point, Square
from vision.looks import TableLook


@dataclass(slots=True)
class _Missed:
    """The looks that have missed a figure since it was seen last, or came, at ``looked_s``: the weight of all, and that
    of those ``without`` a piece that it may look like one with, had there been no others, since the first of them."""

    looked_s: float
    without_s: float
    all: float = 0.0
    without: float = 0.0
    since_s: float | None = None
    joined: bool = False


@dataclass(slots=True)
class Overlooked:
    """Counts, by the numbers of the figures, the looks that may have missed them for that reason."""

    _missed: dict[int, _Missed] = field(default_factory=dict)
    _stood: dict[str, list[tuple[Point, float]]] = field(default_factory=dict)  # by kinds of pieces, where each was
    # when it was seen last, and since when

    def look(self, look: TableLook, belief: TableBelief, piles: Mapping[Square, LoggedPile]) -> None:
        """Take notice of a look that is aligned with the game, which has these ``piles``, and is in the belief
        already."""
        seen: dict[str, list[Point]] = {}
        for at, square in look.squares.items():
            for kind, one in square.neutral.items():
                n = apart_from_piles(one, square, piles.get(at))
                if n is not None and n.there >= NEUTRAL.lead:  # a hand may look a little like one
                    seen.setdefault(kind, []).append((at[0] + n.foot[0], at[1] + n.foot[1]))
        stand = [place for kind, feet in seen.items() for place in self._stands(kind, feet, look)]
        for i, f in belief.figures.items():
            if not f.missed:
                self._missed.pop(i, None)
            elif f.looked_s == look.t_s:
                known = self._missed.setdefault(i, _Missed(looked_s=f.seen_s, without_s=f.seen_s))
                if any(since_s > f.seen_s and math.dist(at, f.foot) < LIMITS.joined for at, since_s in stand):
                    known.joined = True
                elif f.missed > known.all:
                    anew = freshness(known.without_s, look.t_s) / freshness(known.looked_s, look.t_s)
                    known.without += (f.missed - known.all) * anew
                    known.without_s = look.t_s
                    known.since_s = look.t_s if known.since_s is None else known.since_s
                known.all, known.looked_s = f.missed, look.t_s
        for i in self._missed.keys() - belief.figures.keys():
            del self._missed[i]

    def without(self, belief: TableBelief) -> TableBelief:
        """The belief without what such looks say; the same object if there are none."""
        out: dict[int, FigureTrack] = {
            i: replace(belief.figures[i], missed=m.without, missed_s=m.since_s)
            for i, m in self._missed.items() if m.joined and i in belief.figures and belief.figures[i].missed}
        return replace(belief, figures={**belief.figures, **out}) if out else belief

    def _stands(self, kind: str, feet: Collection[Point], look: TableLook) -> list[tuple[Point, float]]:
        """Where the piece stands, and since when: it was not where it is seen if it was elsewhere meanwhile."""
        known = self._stood.get(kind, [])
        seen = [min((k for k in known if math.dist(k[0], foot) < NEUTRAL.again_at),
                    key=lambda k: math.dist(k[0], foot), default=(foot, look.t_s)) for foot in feet]
        self._stood[kind] = seen + [k for k in known if k not in seen and (
            math.floor(k[0][0]), math.floor(k[0][1])) not in look.squares]
        return seen
