"""What a search has to explain, and in which orders its tiles may have been laid."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from reading.belief import TableBelief, figures_seen_on
from reading.limits import LIMITS
from reading.logged_game import LoggedTurn
from reading.tile_track import TileTrack
from reading.whereabouts import Whereabouts
from scoring.events import Event
from scoring.state import GameState
from scoring.tiles import Square


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What is to be explained from ``state`` on: the log's turns ``groups`` in order, of which those from ``free`` on
    may be reordered and those in ``again`` reread, and tiles on ``fresh`` squares that are not in the log. None of
    these was laid before the first ``settled`` groups, which are therefore replayed as logged unless they are reread.
    ``asked`` has the squares of tiles with an open question and the probability of what was logged; ``gone`` are
    squares from which a tile was seen to be taken up; ``denied`` is what people took back. ``first`` is the position of
    the first group among the log's turns: indexes count from the start of the log. ``whose`` has by the square of a
    tile what is seen elsewhere of who laid it, by player, in nats; ``pieces`` is where neutral pieces were seen."""

    state: GameState
    groups: tuple[LoggedTurn, ...]
    free: int
    again: frozenset[Square]
    fresh: frozenset[Square]
    asked: Mapping[Square, float] = field(default_factory=dict)
    gone: frozenset[Square] = frozenset()
    denied: frozenset[Event] = frozenset()
    first: int = 0
    settled: int = 0
    whose: Mapping[Square, Mapping[int, float]] = field(default_factory=dict)
    pieces: Whereabouts = field(default_factory=Whereabouts)

    def group(self, index: int) -> LoggedTurn:
        return self.groups[index - self.first]


@dataclass(slots=True)
class Orders:
    """The orders in which the tiles of a window may have been laid, and what they cost by what was seen; cached for one
    search."""

    belief: TableBelief
    window: Window
    _next: dict[tuple[int, ...], list[tuple[int, tuple[int, ...]]]] = field(default_factory=dict)
    _orders: dict[tuple[Square | None, tuple[Square | None, ...]], float] = field(default_factory=dict)

    def next_logged(self, told: tuple[int, ...]) -> list[tuple[int, tuple[int, ...]]]:
        """Which of the log's turns still to come may be the next, each with those that then remain."""
        if told not in self._next:
            self._next[told] = [(index, told[:k] + told[k + 1:]) for k, index in enumerate(told[:1 + LIMITS.overtakes])
                                if all(self._swaps(first, index) for first in told[:k])]
        return self._next[told]

    def _swaps(self, first: int, then: int) -> bool:
        """Whether two turns of the log may have happened in the opposite order."""
        pair = self.window.group(first), self.window.group(then)
        return first - self.window.first >= self.window.free and not any(g.stays for g in pair) and not all(
            g.pinned for g in pair)

    def tracks_on(self, groups: Iterable[LoggedTurn]) -> frozenset[int]:
        """Ids of the tracks of figures on the tiles of these turns, as far as the log has figures on them."""
        return frozenset(f.id for g in groups if g.at is not None and g.figures()
                         for f in figures_seen_on(self.belief, g.at))

    def out_of_order(self, first: Square | None, then: tuple[Square | None, ...]) -> float:
        """The cost of a tile having been laid before others, in nats: they were there while it was not, or were found
        before it."""
        if not then:
            return 0.0
        key = first, then
        if key not in self._orders:
            self._orders[key] = self._out_of_order(first, then)
        return self._orders[key]

    def _out_of_order(self, first: Square | None, then: Sequence[Square | None]) -> float:
        track = self.belief.squares.get(first) if first is not None else None
        if track is None or track.laid is None:
            return 0.0
        cost, sooner, hidden, found_s = 0.0, 0, track.laid.hidden_s, math.inf
        for at in then:
            other = self.belief.squares.get(at) if at is not None else None
            if other is None or other.laid is None:
                continue
            if track.laid.bare_s is not None and other.laid.since_s <= track.laid.bare_s:
                cost += LIMITS.order
            elif other.laid.since_s < track.laid.since_s:
                sooner += 1
                found_s = min(found_s, other.laid.since_s)
                if hidden is None or hidden > other.laid.since_s:  # it could have been found
                    hidden = None
        if not sooner:
            return cost
        late = LIMITS.found_late
        if hidden is not None:
            late = min(late, LIMITS.covered + self._hasty(track.laid, found_s))
        return cost + late + 0.2 * (sooner - 1)

    def _hasty(self, laid: TileTrack, until_s: float) -> float:
        """The cost of a tile having been laid between the last look at its bare square and a time, with another turn
        after it: that is less time than turns take at this table."""
        if laid.bare_s is None or not self.belief.pace_s:
            return 0.0
        turns = max((until_s - laid.bare_s) / self.belief.pace_s, LIMITS.hasty)
        return max(0.0, -LIMITS.seldom_short * math.log(turns))
