"""Figures that lie with another player although the log does not have them as taken: somebody took them without a word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

Pair = tuple[int, int]  # who holds, and whose figures

_LASTS_S = 45.0  # seconds for which looks must show them: whom a block took is logged up to 40 s late (chosen)
_UNSEEN_S = 60.0  # seconds without a look at the place after which nothing is known of it any more (chosen)
_KNOWN = 24  # looks that must have shown the holder's place before (chosen)
_CLEAN = 0.1  # share of these that may have shown more than the log has: else something that looks like figures is
# there (chosen)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """Successive ``looks`` that show at least so many ``more`` of a player's figures with a holder than are ``logged``;
    the newest one may have ``missed`` them. It is ``clean`` if earlier looks at the holder's place did not."""

    since_s: float
    last_s: float
    logged: int
    more: int
    clean: bool
    looks: int = 0
    missed: bool = False


@dataclass(slots=True)
class Surplus:
    """Compares what lies with each player with the log, look by look."""

    _runs: dict[Pair, _Run] = field(default_factory=dict)
    _looks: Counter[int] = field(default_factory=Counter)  # at each holder's place
    _crowded: Counter[int] = field(default_factory=Counter)  # those that showed more, but for clean runs that the log
    # explained or that go on
    _looked_s: float = 0.0

    def look(self, t_s: float, shown: Mapping[Pair, int], logged: Mapping[Pair, int]) -> None:
        """Take notice of a look. ``shown`` are, by pair, how many it shows, of the holders whose figures it shows;
        ``logged`` are how many the log has."""
        self._looked_s, crowded = t_s, Counter[int]()
        for pair, count in shown.items():
            holder, more = pair[0], count - logged[pair]
            known, seen = self._runs.pop(pair, None), self._looks[holder]
            if known is not None and known.logged != logged[pair]:
                known = None
            if more > 0:
                if known is None:
                    clean = seen >= _KNOWN and self._crowded[holder] <= _CLEAN * seen
                    known = _Run(since_s=t_s, last_s=t_s, logged=logged[pair], more=more, clean=clean)
                self._runs[pair] = replace(known, last_s=t_s, more=min(known.more, more), looks=known.looks + 1,
                                           missed=False)
                crowded[holder] = max(crowded[holder], not known.clean)
            elif known is not None and not known.missed:
                self._runs[pair] = replace(known, missed=True)
            elif known is not None and known.clean:
                crowded[holder] = max(crowded[holder], known.looks)
        holders = {holder for holder, _ in shown}
        self._looks.update(holders)
        self._crowded.update(crowded)

    def forget(self, player: int) -> None:
        """A player's figures lie elsewhere now."""
        self._runs = {pair: run for pair, run in self._runs.items() if player not in pair}
        self._looks[player] = self._crowded[player] = 0

    def lasting(self, logged: Mapping[Pair, int]) -> dict[Pair, int]:
        """By pair how many figures lie there for some time that the log, which has so many, does not."""
        return {pair: run.more for pair, run in self._runs.items()
                if run.clean and run.logged == logged[pair] and run.last_s - run.since_s >= _LASTS_S
                and self._looked_s - run.last_s < _UNSEEN_S}
