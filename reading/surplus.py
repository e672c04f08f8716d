"""Figures that lie with another player although the log does not have them as taken: somebody took them without a word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

Pair = tuple[int, int]  # who holds, and whose figures

_LASTS_S = 45.0  # seconds for which all looks must show them: whom a block took is logged up to 40 s late (chosen)
_KNOWN = 24  # looks that must have shown the holder's place before (chosen)
_CLEAN = 0.1  # share of these that may have shown more than the log has: else something that looks like figures is
# there (chosen: others have such print)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """Successive looks that show at least so many ``more`` of a player's figures with a holder than the log has. It is
    ``clean`` if earlier looks at the holder's place did not."""

    since_s: float
    last_s: float
    more: int
    clean: bool


@dataclass(slots=True)
class Surplus:
    """Compares what lies with each player with the log, look by look."""

    _runs: dict[Pair, _Run] = field(default_factory=dict)
    _looks: Counter[int] = field(default_factory=Counter)  # at each holder's place, and those that showed more
    _crowded: Counter[int] = field(default_factory=Counter)

    def look(self, t_s: float, more: Mapping[Pair, int]) -> None:
        """Take notice of a look. ``more`` are, by pair, how many it shows beyond what the log has, at most 0 if none;
        pairs of which it shows nothing are left out."""
        for pair, count in more.items():
            known, seen = self._runs.pop(pair, None), self._looks[pair[0]]
            if count <= 0:
                continue
            if known is None:
                clean = seen >= _KNOWN and self._crowded[pair[0]] <= _CLEAN * seen
                known = _Run(since_s=t_s, last_s=t_s, more=count, clean=clean)
            self._runs[pair] = replace(known, last_s=t_s, more=min(known.more, count))
        for holder in {holder for holder, _ in more}:
            self._looks[holder] += 1
            self._crowded[holder] += any(count > 0 for pair, count in more.items() if pair[0] == holder)

    def forget(self, player: int) -> None:
        """A player's figures lie elsewhere now."""
        self._runs = {pair: run for pair, run in self._runs.items() if player not in pair}
        self._looks[player] = self._crowded[player] = 0

    def lasting(self) -> dict[Pair, int]:
        """By pair how many figures lie there that the log does not have, for some time now."""
        return {pair: run.more for pair, run in self._runs.items()
                if run.clean and run.last_s - run.since_s >= _LASTS_S}
