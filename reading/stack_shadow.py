"""By how much one block more lengthens the shadow of a pile, and what a longer shadow says of a block.

Where the light comes from is not known. What was darker around piles after blocks that the game has shows in which
direction the shadows fall, and how large a part of one block is. Without a lamp there are no such shadows, and nothing
is said.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from reading.stack_limits import LAMP, STACK
from scoring.tiles import Square
from vision.looks import SECTORS, StackLook

Place = tuple[str, Square]
Darkened = tuple[float, ...]  # by direction, as `StackLook.darkened`


@dataclass(frozen=True, slots=True, kw_only=True)
class Lamp:
    """The direction (of `vision.looks.SECTORS`) in which shadows fall, and by how much more a pile darkens there with
    one block (as `StackLook.darkened`)."""

    sector: int
    step: float

    def log_odds(self, grown: Darkened, blocks: int, known: int = 0) -> float:
        """Of so many ``blocks`` rather than only the ``known`` ones among them, if what is darker has ``grown`` by so
        much in each direction."""
        return self._log_likelihood(grown, blocks) - self._log_likelihood(grown, known)

    def _log_likelihood(self, grown: Darkened, blocks: int) -> float:
        more = grown[self.sector]
        near = [grown[(self.sector + off) % SECTORS] for off in range(-LAMP.off, LAMP.off + 1)]
        falls = max(near) >= LAMP.alike * max(map(abs, grown))  # in the direction of the lamp
        by_chance = len(near) / SECTORS
        unchanged = (1.0 - LAMP.others) * _normal(more, LAMP.look)
        other = LAMP.others * _laplace(more, LAMP.other) * (by_chance if falls else 1.0 - by_chance)
        if not blocks:
            return math.log(unchanged + other)
        spread = math.hypot(LAMP.look, math.sqrt(blocks) * LAMP.steps * self.step)
        longer = (1.0 - LAMP.others) * _normal(more - blocks * self.step, spread) * falls
        return math.log((1.0 - LAMP.hidden) * (longer + other) + LAMP.hidden * (unchanged + other))


@dataclass(slots=True)
class StackShadows:
    """The shadows of all piles of a table."""

    _seen: dict[Place, deque[tuple[float, Darkened]]] = field(default_factory=dict)
    _known_s: dict[Place, dict[int, float]] = field(default_factory=dict)  # when looks showed the blocks of the game
    # first, by the entry of their turn's tile
    _grown: dict[tuple[Place, int], Darkened] = field(default_factory=dict)  # and what each has darkened
    lamp: Lamp | None = None  # where shadows fall; None if that is not known, or there are none

    def look(self, place: Place, seen: StackLook, t_s: float) -> None:
        """Add a look."""
        if seen.darkened:
            self._seen.setdefault(place, deque(maxlen=STACK.remembered)).append((t_s, seen.darkened))

    def learn(self, place: Place, turn: int, first_seen_s: float) -> None:
        """The game has a block in the ``turn`` with that entry. Call it again after later looks: it takes some."""
        known_s = self._known_s.setdefault(place, {})
        if known_s.get(turn) == first_seen_s and (place, turn) in self._grown:
            return
        if any(t_s == first_seen_s for other, t_s in known_s.items() if other != turn):
            return  # one of them was seen at another time
        if known_s.get(turn, first_seen_s) != first_seen_s:
            self._grown.pop((place, turn), None)
        known_s[turn] = first_seen_s
        seen = self._seen.get(place, ())
        for other, t_s in known_s.items():  # what was thought to be of one block may be of two
            grown = self._growth(place, t_s, t_s, [at_s for at_s in known_s.values() if at_s != t_s])
            if grown is not None:
                self._grown[place, other] = grown
            elif seen and seen[0][0] < t_s:  # else its looks are forgotten
                self._grown.pop((place, other), None)
        self._measure()

    def forget(self, place: Place, kept: Collection[int]) -> None:
        """The game has only the blocks of these turns there."""
        for turn in self._known_s.get(place, {}).keys() - kept:
            del self._known_s[place][turn]
            self._grown.pop((place, turn), None)
            self._measure()

    def _measure(self) -> None:
        self.lamp = None
        if len(self._grown) < LAMP.blocks:
            return
        steps = np.sort(list(self._grown.values()), axis=0)
        most = steps[(len(steps) - 1) // 3]  # by which at least two thirds of the blocks have darkened it
        sector = int(most.argmax())
        if most[sector] >= LAMP.least:
            self.lamp = Lamp(sector=sector, step=float(np.median(steps[:, sector])))

    def log_odds(self, place: Place, new_s: Sequence[float], came_s: Collection[float]) -> float:
        """Of blocks that looks at ``new_s`` showed first rather than none, by a hypothesis in which blocks came at
        ``came_s``, those of the game among them. Blocks between which there are few looks are judged together."""
        if self.lamp is None or not new_s:
            return 0.0
        looks_s, total = [t_s for t_s, _ in self._seen.get(place, ())], 0.0
        unnamed_s = [t_s for t_s in self._known_s.get(place, {}).values()
                     if all(abs(t_s - at_s) > STACK.turn_s for at_s in came_s)]
        groups: list[list[float]] = []
        for t_s in sorted(came_s):
            if groups and sum(groups[-1][-1] <= look_s < t_s for look_s in looks_s) < LAMP.looks:
                groups[-1].append(t_s)
            else:
                groups.append([t_s])
        for group in groups:
            added = (Counter(group) & Counter(new_s)).total()
            others_s = [*(t_s for t_s in came_s if t_s not in group), *unnamed_s]
            grown = self._growth(place, group[0], group[-1], others_s) if added else None
            if grown is not None:
                total += self.lamp.log_odds(grown, len(group), len(group) - added)
        return total

    def _growth(self, place: Place, first_s: float, last_s: float, others_s: Collection[float]) -> Darkened | None:
        """What has darkened from the looks before a time to those from another one on, as far as they are between
        those at which other blocks came; None if too few looks saw it. Of some looks the median, since hands cast
        shadows as well."""
        from_s = max((t_s for t_s in others_s if t_s < first_s), default=-math.inf)
        to_s = min((t_s for t_s in others_s if t_s > last_s), default=math.inf)
        seen = self._seen.get(place, ())
        after = [darkened for t_s, darkened in seen if last_s <= t_s < to_s][:LAMP.looks]
        before = [darkened for t_s, darkened in seen if from_s <= t_s < first_s][-LAMP.looks:]
        if len(after) < LAMP.looks or not before:
            return None
        return tuple(float(v) for v in np.median(after, axis=0) - np.median(before, axis=0))


def _normal(off: float, deviation: float) -> float:
    """The density of a normal distribution."""
    return math.exp(-0.5 * (off / deviation) ** 2) / (deviation * math.sqrt(2 * math.pi))


def _laplace(off: float, scale: float) -> float:
    """The density of a Laplace distribution."""
    return math.exp(-abs(off) / scale) / (2 * scale)
