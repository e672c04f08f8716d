"""Visits of hands to the board: which squares something moved over, and whether anything else changed there meanwhile.

Nobody reaches over the table for nothing: what a visit has changed explains it, and a visit that nothing explains
speaks for a change that is hardly seen.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from reading.belief import TableBelief
from scoring.tiles import Square
from vision.looks import TableLook


@dataclass(frozen=True, slots=True, kw_only=True)
class VisitLimits:
    """Seconds, but for the number of looks. All are chosen."""

    before_s: float = 0.6  # from the look at another square of the same visit: each is looked at as soon as it is still
    after_s: float = 1.6  # to it: what has changed is looked at twice within 1.2 s
    remembered: int = 300  # looks: more than in the turns that a block may belong to


VISIT = VisitLimits()


@dataclass(slots=True)
class Visits:
    """For how long something moved over each square before the newest looks, and where neutral pieces came or went."""

    _touched: deque[tuple[float, dict[Square, float]]] = field(
        default_factory=lambda: deque(maxlen=VISIT.remembered))
    _moved: deque[tuple[float, Square]] = field(default_factory=lambda: deque(maxlen=VISIT.remembered))
    _there: dict[Square, frozenset[str]] = field(default_factory=dict)

    def look(self, look: TableLook) -> None:
        self._touched.append((look.t_s, {at: s.touched_s for at, s in look.squares.items() if s.touched_s > 0.0}))
        for at, square in look.squares.items():
            if square.figures is not None:
                there = frozenset(name for name, piece in square.neutral.items() if piece.there > 0.0)
                if self._there.setdefault(at, there) != there:
                    self._there[at] = there
                    self._moved.append((look.t_s, at))

    def over(self, came_s: float, longer_s: float = 0.0) -> set[Square]:
        """The squares over which something moved for longer than that in the visit that the look at ``came_s`` saw the
        outcome of."""
        return {at for t_s, touched in self._touched if came_s - VISIT.before_s <= t_s <= came_s + VISIT.after_s
                for at, moved_s in touched.items() if moved_s > longer_s}

    def explained(self, before_s: float, came_s: float, moved_s: float, belief: TableBelief) -> bool:
        """Whether a tile, a figure or a neutral piece came or went where the visit was that the look at ``came_s`` saw
        the outcome of. ``before_s`` is when that look's square had been looked at before, maybe long ago, ``moved_s``
        for how long something has moved over it since."""
        over, until_s = self.over(came_s), came_s + VISIT.after_s
        from_s = max(before_s, came_s - moved_s - VISIT.after_s)
        return any(from_s < t_s <= until_s and at in over for t_s, at in self._changes(belief))

    def _changes(self, belief: TableBelief) -> Iterator[tuple[float, Square]]:
        yield from self._moved
        for at, tile in belief.lying().items():
            yield tile.since_s, at
        for figure in belief.figures.values():
            if figure.real > 0.0:
                yield figure.back_s, figure.at
                if figure.moved is not None:
                    yield figure.moved.back_s, figure.at
                if figure.missed_s is not None and not figure.present:
                    yield figure.missed_s, figure.at
