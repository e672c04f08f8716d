"""By how much one block more lengthens the shadow of a pile, and what a longer shadow says of a block.

Where the light comes from is not known. What darkened around piles when blocks were added that the game has shows in
which direction the shadows fall, and how large a part of one block is. Without a lamp there are no such shadows, and
nothing is said.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field

import numpy as np

from reading.stack_limits import SHADOW, STACK
from scoring.tiles import Square
from vision.looks import SECTORS, StackLook

Place = tuple[str, Square]
Shades = tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lamp:
    """The direction (of `vision.looks.SECTORS`) in which shadows fall, and the area by which that of a pile grows with
    one block, in squared tiles."""

    sector: int
    step: float

    def log_odds(self, grown: Shades) -> float:
        """Of a block rather than none, by how much the shadow has ``grown`` in each direction."""
        area, way = grown[self.sector], int(np.argmax(np.abs(grown)))
        off = abs((way - self.sector + SECTORS // 2) % SECTORS - SECTORS // 2)
        sectors = 2 * SHADOW.off + 1
        there = sectors / SECTORS if off <= SHADOW.off else 1.0 - sectors / SECTORS  # of what else casts shadows
        unchanged = (1.0 - SHADOW.others) * _normal(area, SHADOW.look)
        other = SHADOW.others / SHADOW.range * there
        longer = _normal(area - self.step, math.hypot(SHADOW.look, SHADOW.steps * self.step)) * (off <= SHADOW.off)
        return math.log((1.0 - SHADOW.hidden) * longer + SHADOW.hidden * (unchanged + other)) - math.log(
            unchanged + other)


@dataclass(slots=True)
class StackShadows:
    """The shadows of all piles of a table."""

    _seen: dict[Place, deque[tuple[float, Shades]]] = field(default_factory=dict)
    _grown: dict[tuple[Place, float], Shades] = field(default_factory=dict)  # by the place and time of a block

    def look(self, place: Place, seen: StackLook, t_s: float) -> None:
        """Add a look that shows the top of a pile."""
        if seen.shades:
            self._seen.setdefault(place, deque(maxlen=STACK.remembered)).append((t_s, seen.shades))

    def learn(self, place: Place, came_s: float) -> None:
        """The game has a block that the look at that time showed first."""
        if (place, came_s) not in self._grown:
            grown = self._growth(place, came_s)
            if grown is not None:
                self._grown[place, came_s] = grown

    def lamp(self) -> Lamp | None:
        """Where shadows fall; None if that is not known, or there are none."""
        if len(self._grown) < SHADOW.blocks:
            return None
        steps = np.sort(list(self._grown.values()), axis=0)[(len(self._grown) - 1) // 2]
        sector = int(steps.argmax())
        return Lamp(sector=sector, step=float(steps[sector])) if steps[sector] >= SHADOW.least else None

    def log_odds(self, place: Place, came_s: float) -> float:
        """Of a block rather than none, by the shadow before and after the look that showed it first."""
        lamp, grown = self.lamp(), self._growth(place, came_s)
        return 0.0 if lamp is None or grown is None else lamp.log_odds(grown)

    def _growth(self, place: Place, came_s: float) -> Shades | None:
        """By how much a shadow has grown, or shrunk, with a look at that time; None if too few looks saw it. Of some
        looks the median, since hands cast shadows as well."""
        seen = self._seen.get(place, ())
        after = [shades for t_s, shades in seen if t_s >= came_s][:SHADOW.looks]
        before = [shades for t_s, shades in seen if t_s < came_s][-SHADOW.looks:]
        if len(after) < SHADOW.looks or not before:
            return None
        return tuple(float(v) for v in np.median(after, axis=0) - np.median(before, axis=0))


def _normal(off: float, deviation: float) -> float:
    """The density of a normal distribution."""
    return math.exp(-0.5 * (off / deviation) ** 2) / (deviation * math.sqrt(2 * math.pi))
