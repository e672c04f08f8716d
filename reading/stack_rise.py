"""By how much one block more displaces the top of a pile, and how well the looks know that."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from statistics import median

from reading.stack_limits import STACK
from scoring.tiles import Square
from vision.looks import StackLook

Point = tuple[float, float]
Place = tuple[str, Square]


@dataclass(slots=True)
class StackRise:
    """What the looks at each place have said of it: by kind of block and square, the newest last, in tiles."""

    said: dict[Place, deque[Point]] = field(default_factory=dict)

    def look(self, place: Place, seen: StackLook) -> Point:
        """Add a look. By how much its displacement, along x and y, may be wrong: every look estimates the point below
        the camera anew, from other tiles. Neither the camera nor the place moves, as a rule; once the camera was
        moved, people are asked more until these looks are past."""
        said = self.said.setdefault(place, deque(maxlen=STACK.remembered))
        said.append(seen.floor)
        dx, dy = (math.sqrt(sum((one[n] - seen.floor[n]) ** 2 for one in said) / len(said)) for n in (0, 1))
        return dx, dy

    def nearer(self, name: str) -> float:
        """How much nearer to the camera the top of one block is than the table, relative to the camera's height: from
        how much farther apart the tops of piles appear than their places."""
        found = [(at, floors[-1]) for (kind, at), floors in self.said.items() if kind == name]
        x, y = (median(at[n] for at, _ in found) for n in (0, 1))
        dx, dy = (median(floor[n] for _, floor in found) for n in (0, 1))
        told = sum((at[0] - x) * (floor[0] - dx) + (at[1] - y) * (floor[1] - dy) for at, floor in found)
        far = sum((at[0] - x) ** 2 + (at[1] - y) ** 2 for at, _ in found)
        apart = max(0.0, (told + STACK.apart_known * STACK.apart) / (far + STACK.apart_known))
        return apart / (1.0 + apart)
