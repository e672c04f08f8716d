"""Heaps of one paint on the table beside the board: which of them is the home of that player's figures.

As many lie at home as the log has in hand, and that changes alike. Prisoners lie with others, and what only looks like
figures (the squares of a score track) stays as it is.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from vision.looks import BesideLook

HOME = 2.5  # tiles from the middle of a player's own figures within which figures are theirs to keep (chosen)
_SHIFTS = 0.3  # share of a look in where a heap is: a hand may hide most of it (chosen)
_TOGETHER = 2  # looks by which a heap may seem to have come before it left its old place (chosen)
_MOVED = 6  # looks in which nothing of a player's lies at home, after which home is elsewhere (chosen)
_CHANGES = 12  # newest changes of what a player has in hand by which home is known (chosen)
_USUAL = 2.0  # standard deviation of how many more or fewer are counted at home every time; of each time, 1 (chosen)
_HIDDEN = 2.0  # difference beyond which one time makes no more difference (chosen)
_APART = 3.0  # nats by which another heap must be likelier to be home (chosen)

Place = tuple[float, float]  # as `BesideLook.at`


@dataclass(slots=True, eq=False)
class Heap:
    """What lies in one place in a player's paint: how many ``more`` than the log has in hand, on average between each
    two changes of that (the newest one by so many ``looks``), how many ``others`` lie there that the player does not
    hold, and for how many looks it has been ``empty`` or ``filled``."""

    at: Place
    more: deque[float]
    looks: int = 0
    others: int = 0
    empty: int = 0
    filled: int = 0

    def expected(self, in_hand: int) -> float:
        """How many are expected there if it is home, by what was counted until then."""
        return in_hand + (median(list(self.more)[:-1]) if len(self.more) > 1 else 0.0)

    def against(self) -> float:
        """How many nats speak against it being home. A heap may be hidden for a while."""
        usual = median(self.more)
        off = [min(abs(more - usual), _HIDDEN) for more in self.more]
        return 0.5 * (sum(v * v for v in off) + (usual / _USUAL) ** 2) + self.others


@dataclass(slots=True)
class Heaps:
    """The heaps of one player's paint, and their ``home``, once figures were seen. ``hands`` are how many the log has
    had in hand, the newest last."""

    home: Heap | None = None
    _all: list[Heap] = field(default_factory=list)
    _hands: deque[int] = field(default_factory=lambda: deque(maxlen=_CHANGES))

    def look(self, own: Sequence[BesideLook], others: Sequence[BesideLook], in_hand: int, holds: int,
             held: Sequence[tuple[Place | None, int]]) -> bool:
        """Take notice of a look that shows the player's ``own`` figures and ``others``, while the log has ``in_hand``
        of them in hand, the player ``holds`` so many others, and others hold theirs: where the home of each holder is,
        if known, and how many. Whether home is elsewhere than before."""
        if not self._hands or self._hands[-1] != in_hand:
            self._hands.append(in_hand)
            for heap in self._all:
                heap.more.append(heap.more[-1])
                heap.looks = 0
        around = self._assigned(own)
        for n, heap in enumerate(self._all):
            there = around.get(n, ())
            count = sum(b.count for b in there)
            if count:
                share = _SHIFTS if heap.filled else 1.0
                x, y = (old + share * (sum(b.at[axis] * b.count for b in there) / count - old)
                        for axis, old in enumerate(heap.at))
                heap.at = x, y
            # where a holder's home is may not be known yet; at home all are the player's that lie with nobody else
            theirs = sum(of_one for at, of_one in held if self.home not in (None, heap) or (
                at is not None and math.dist(at, heap.at) < HOME))
            heap.others = max(0, sum(b.count for b in others if math.dist(b.at, heap.at) < HOME) - holds)
            heap.empty, heap.filled = (0, heap.filled + 1) if count > theirs else (heap.empty + 1, 0)
            if heap is not self.home or heap.filled or heap.expected(in_hand) < 1.0:  # it is hidden, or was moved
                heap.looks += 1
                heap.more[-1] += (max(0, count - theirs) - in_hand - heap.more[-1]) / heap.looks
        return self._decide()

    def _assigned(self, own: Sequence[BesideLook]) -> dict[int, list[BesideLook]]:
        """The figures by the numbers of their heaps; those that are far from all are a new one."""
        around: dict[int, list[BesideLook]] = {}
        for b in own:
            near = min(range(len(self._all)), key=lambda n: math.dist(b.at, self._all[n].at), default=None)
            if near is None or math.dist(b.at, self._all[near].at) >= HOME:
                near = len(self._all)
                self._all.append(Heap(at=b.at, more=deque([-float(h) for h in self._hands], maxlen=_CHANGES)))
            around.setdefault(near, []).append(b)
        return around

    def _decide(self) -> bool:
        """Where home is now: elsewhere if nothing lies there any more that should, and something has come elsewhere, or
        if another heap has long been likelier. Whether that is new."""
        home = self.home
        moved = home is not None and home.empty >= _MOVED and home.expected(self._hands[-1]) >= 1.0
        best = min((h for h in self._all if h.filled and not (
            moved and home is not None and h.filled > home.empty + _TOGETHER)), key=Heap.against, default=None)
        if best is None or best is home:
            return False
        if home is not None and moved:  # what is known of it holds there, too
            home.at, home.empty, home.filled = best.at, 0, best.filled
            self._all.remove(best)
            return True
        if home is None or home.against() - best.against() > _APART:
            self.home = best
            return home is not None
        return False
