"""A few histories that explain the belief: sequences of turns that the rules allow.

A beam search that starts some turns back, from a settled state, and adds one turn at a time: the next one of the log,
or a tile that is not in the log yet. Rules are soft: what lies on the table is never refused. States are cached, so
another look costs only the weighing.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from reading.belief import TableBelief
from reading.evidence import Evidence, figures_on, log_sigma, standing_terms
from reading.figure_track import FigureTrack
from reading.layings import Laying, Offers, Steps, Turn
from reading.limits import LIMITS
from reading.logged_game import LoggedTurn
from reading.ordering import Orders, Window
from reading.pieces import Kinds
from reading.replay import Replay
from reading.whereabouts import Whereabouts
from scoring.events import Event
from scoring.state import GameState
from scoring.tiles import EDGES, Square, neighbour

_DROPPED = 3.0  # against dismissing a tile as a false detection, besides its own log-odds
_TAKEN_UP = 5.0  # for a logged tile having been taken up, if it is seen to be gone
_OVERLOOKED = 0.1  # against a tile having been overlooked, per logged turn that it precedes
_NEVER_SEEN = 14.0  # most cost of dismissing a tile that is not connected to the board: what joins it was never seen
_KEPT = 400  # layings and turns cached from one search to the next


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """One hypothesis. ``weight`` is its log-weight so far, ``score`` the final one, ``state`` the resulting state;
    ``told`` are the log's turns still to come, by their positions in the log."""

    state: GameState
    turns: tuple[Turn, ...] = ()
    left: frozenset[Square] = frozenset()  # squares with tiles still to be explained
    told: tuple[int, ...] = ()
    weight: float = 0.0
    score: float = 0.0
    dropped: frozenset[Square] = frozenset()
    tracks: frozenset[int] = frozenset()
    says: frozenset[int] = frozenset()  # ids of its turns' (tile, figure) pairs

    def turn_at(self, at: Square | None) -> Turn | None:
        """Its turn of the tile on a square, None when it has none there."""
        return next((t for t in self.turns if t.at == at), None)


class Search:
    """Finds histories. Caches intermediate results from one search to the next, as long as they are used again."""

    def __init__(self, colours: Mapping[str, int], steps: Steps, sized: Kinds) -> None:
        self._colours, self._steps, self._sized = colours, steps, sized
        self._seen: dict[Square, Evidence] = {}
        self._groups: dict[LoggedTurn, LoggedTurn] = {}  # equal turns of the log are one object
        self._said_of: tuple[frozenset[Event], Mapping[Square, float]] = frozenset(), {}
        self._offers: dict[tuple[int, int], Offers] = {}
        self._layings: dict[tuple[int, int, int, int], Laying] = {}
        self._said: dict[tuple[Event | None, Event | None], int] = {}  # a number for each tile with its figure

    def histories(self, belief: TableBelief, window: Window) -> list[History]:
        """The likeliest histories, best first; always at least one."""
        window = self._remembered(window)
        told = self._sized.of(belief, window.state.box.counts)
        for at in {*window.fresh, *window.again, *(g.at for g in window.groups[window.settled:] if g.at is not None)}:
            self._look(at, belief, told, window.whose.get(at, {}), window.pieces)
        orders = Orders(belief=belief, window=window)
        last = window.first + len(window.groups)
        beam = [History(state=window.state, left=window.fresh, told=tuple(range(window.first, last)))]
        done: dict[object, History] = {}
        width = max(LIMITS.narrow, min(LIMITS.width, LIMITS.worked_out // max(1, len(window.groups))))
        for _ in range(len(window.groups) + len(window.fresh) + 1):
            grown: dict[int, _Queue] = {}
            for h in beam:
                if not h.left and not h.told:
                    done.setdefault(_key(h), h)
                    continue
                self._grow(h, orders, grown)
            if not grown:
                break
            most = max(LIMITS.narrow, width // len(grown))
            behind = LIMITS.settled_behind if any(self._settled(h, window) for h in beam) else LIMITS.behind
            beam = sorted((h for queue in grown.values() for h in queue.best(most, behind)), key=lambda h: -h.weight)
        found, before, ends = [], self._before(belief, window), list(done.values() or beam)
        stands = self._painted(belief, before.union(*(h.tracks for h in ends)))
        for h in ends:
            terms = standing_terms(self._steps.closed(h.state), stands, h.tracks | before)
            found.append(replace(h, score=h.weight + terms))
        return sorted(found, key=lambda h: (-h.score, -h.weight))[:LIMITS.width]

    def _remembered(self, window: Window) -> Window:
        """The window with equal turns of the log replaced by the known objects, so that cached results are found."""
        if len(self._groups) > _KEPT or len(self._said) > 40 * _KEPT:
            self._groups.clear()
            self._said.clear()
            self._offers.clear()
            self._layings.clear()
        if (window.denied, window.asked) != self._said_of:
            self._said_of = window.denied, window.asked
            self._offers.clear()
            self._layings.clear()
        while len(self._layings) > _KEPT:
            del self._layings[next(iter(self._layings))]
        while len(self._offers) > _KEPT:
            del self._offers[next(iter(self._offers))]
        return replace(window, groups=tuple(self._groups.setdefault(g, g) for g in window.groups))

    def _look(self, at: Square, belief: TableBelief, told: Mapping[int, FigureTrack],
              whose: Mapping[int, float], pieces: Whereabouts) -> None:
        """Update the snapshot of a square's evidence unless it has hardly changed."""
        track = belief.squares.get(at)
        laid = track.laid if track is not None else None
        tracks = tuple(told.get(f.id, f) for f in figures_on(belief, at))
        until_s = belief.next_s(laid) if laid is not None else math.inf
        old = self._seen.get(at)
        if old is None or not old.like(laid, tracks, until_s, whose, pieces):
            self._seen[at] = Evidence(at=at, laid=laid, tracks=tracks, until_s=until_s, colours=self._colours,
                                      whose=whose, pieces=pieces)

    @staticmethod
    def _before(belief: TableBelief, window: Window) -> frozenset[int]:
        """Tracks of the figures that stood when the window began."""
        return frozenset(t.id for f in window.state.standing.values() for t in belief.by_square.get(f.at, ())
                         if t.real > 0)

    def _painted(self, belief: TableBelief, tracks: Iterable[int]) -> dict[int, tuple[tuple[Square, int | None], bool]]:
        """By track id the square and the player with its paint, and whether the figure is there."""
        out = {}
        for i in tracks:
            f = belief.figures.get(i)
            if f is None:
                continue
            paints = f.paints
            player = max(self._colours, key=lambda c, p=paints: p.get(c, -12.0)) if paints else None  # type: ignore[misc]
            out[i] = (f.at, None if player is None else self._colours[player]), f.present
        return out

    def _grow(self, h: History, orders: Orders, grown: dict[int, _Queue]) -> None:
        """Put every successor of a history into the queues, by the number of logged turns still to come. Only equals in
        that are compared: an illegal turn in the log counts against all of them sooner or later."""
        window = orders.window
        if self._settled(h, window):
            self._queue_settled(h, orders, grown)
            return
        for index, rest in orders.next_logged(h.told):
            self._queue_logged(h, index, rest, orders, grown.setdefault(len(rest), _Queue()))
        if not h.left:
            return
        queue = grown.setdefault(len(h.told), _Queue())
        upcoming = [window.group(n).at for n in h.told]
        for at in sorted(h.left):
            ready = any(neighbour(at, side) in h.state.tiles for side in EDGES)
            if ready:
                order = orders.out_of_order(at, (*sorted(h.left - {at}), *upcoming)) + _OVERLOOKED * len(upcoming)
                self._queue_readings(h, at, None, -1, h.weight - order, h.left - {at}, h.told, window, queue)
            laid = self._seen[at].laid
            assert laid is not None
            odds = log_sigma(-laid.presence) - _DROPPED
            if not ready and not upcoming:
                odds = max(odds, -_NEVER_SEEN)
            queue.add(_Next(h=h, base=h.weight + odds, left=h.left - {at}, told=h.told, drops=at))

    @staticmethod
    def _settled(h: History, window: Window) -> bool:
        """Whether a history's next turn is one of the settled ones."""
        return bool(h.told) and h.told[0] < window.first + window.settled

    def _queue_settled(self, h: History, orders: Orders, grown: dict[int, _Queue]) -> None:
        """Queue the next settled turns: one that is reread, or all up to it as they are logged."""
        window, index = orders.window, h.told[0]
        if self._reread(window, index):
            self._queue_logged(h, index, h.told[1:], orders, grown.setdefault(len(h.told) - 1, _Queue()))
            return
        end = window.first + window.settled
        count = next((n for n in range(index, end) if self._reread(window, n)), end) - index
        groups = window.groups[index - window.first:][:count]
        replay = Replay(h.state, groups, index, orders.tracks_on(groups), self._steps, window.asked)
        rest = h.told[count:]
        grown.setdefault(len(rest), _Queue()).add(_Next(h=h, base=h.weight, left=h.left, told=rest, laying=replay))

    def _reread(self, window: Window, index: int) -> bool:
        """Whether a turn of the log is explained anew, from the tile that lies there."""
        at = window.group(index).at
        return at is not None and at in window.again and self._seen[at].laid is not None

    def _queue_logged(self, h: History, index: int, rest: tuple[int, ...], orders: Orders, queue: _Queue) -> None:
        """Queue the next turn of the log: as it is logged, or reread."""
        window, group = orders.window, orders.window.group(index)
        at, tile = group.at, group.tile
        weight = h.weight - (LIMITS.logged if rest and rest[0] < index else 0.0)
        weight -= orders.out_of_order(at, (*sorted(h.left), *(window.group(n).at for n in rest if n < index)))
        if at is not None and self._reread(window, index) \
                and self._queue_readings(h, at, group, index, weight, h.left, rest, window, queue):
            return
        laying = self._laying(h.state, at, group, index, window)
        queue.add(_Next(h=h, base=weight, left=h.left, told=rest, laying=laying))
        if tile is not None and not tile.pinned and at is not None and index - window.first >= window.free \
                and at in window.gone:
            queue.add(_Next(h=h, base=weight + _TAKEN_UP, left=h.left, told=rest, drops=at))

    def _queue_readings(self, h: History, at: Square, group: LoggedTurn | None, index: int, base: float,
                        left: frozenset[Square], told: tuple[int, ...], window: Window, queue: _Queue) -> bool:
        """Queue the readings of a square as the next turn. False if people have denied them all."""
        offers = self._offers_of(self._seen[at], group, window)
        most = offers.most(h.state)
        if most is not None:
            queue.add(_Next(h=h, base=base, left=left, told=told, most=most, opens=lambda: self._laying(
                h.state, at, group, index, window, offers)))
        return most is not None

    def _laying(self, state: GameState, at: Square | None, group: LoggedTurn | None, index: int, window: Window,
                offers: Offers | None = None) -> Laying:
        """Every way in which the tile on a square may have been laid next, or in which it was logged; cached for the
        evidence there."""
        seen = self._seen[at] if at is not None else None
        key = id(state), id(seen), id(group), -2 - index if offers is None else index
        known = self._layings.pop(key, None)
        if known is None or known.state is not state or known.seen is not seen or known.group is not group:
            known = Laying(state, seen, group, index, self._steps, self._said, window.asked)
            if offers is None:
                known.as_told(self._colours)
            else:
                known.anew(offers)
        self._layings[key] = known
        return known

    def _offers_of(self, seen: Evidence, group: LoggedTurn | None, window: Window) -> Offers:
        key = id(seen), id(group)
        known = self._offers.pop(key, None)
        if known is None or known.seen is not seen or known.group is not group:
            known = Offers(seen, group, self._colours, window.denied)
        self._offers[key] = known
        return known


@dataclass(slots=True, kw_only=True)
class _Next:
    """A successor of a history: the ways of a laying, one after the other, or a tile that is dismissed. ``base`` is the
    weight without that of the way; a laying that has not been needed yet weighs at most ``most`` and is computed by
    ``opens``."""

    h: History
    base: float
    left: frozenset[Square]
    told: tuple[int, ...]
    laying: Laying | Replay | None = None
    drops: Square | None = None
    way: int = 0
    most: float = 0.0
    opens: Callable[[], Laying] | None = None


class _Queue:
    """Yields successors in the order of their weight (best first), none too far behind the first. The rules are
    evaluated lazily: the evidence for a way bounds its weight from above, and a laying of which nothing is needed is
    not even opened."""

    def __init__(self) -> None:
        self._waiting: list[tuple[float, int, _Next, bool]] = []
        self._count = 0

    def add(self, candidate: _Next) -> None:
        if candidate.laying is not None:
            bound = candidate.laying.bound(candidate.way)
            if bound is not None:
                self._push(candidate.base + bound, candidate, False)
        else:
            self._push(candidate.base + candidate.most, candidate, candidate.opens is None)

    def _push(self, weight: float, candidate: _Next, exact: bool) -> None:
        self._count += 1
        heapq.heappush(self._waiting, (-weight, self._count, candidate, exact))

    def best(self, most: int, behind: float) -> list[History]:
        """At most ``most`` distinct histories, the likeliest first, none further than ``behind`` nats behind it."""
        out: list[History] = []
        known: set[object] = set()
        while self._waiting and len(out) < most:
            weight, _, n, exact = heapq.heappop(self._waiting)
            if out and -weight < out[0].weight - behind:
                break
            if not exact:
                if n.laying is None:
                    assert n.opens is not None
                    self.add(_Next(h=n.h, base=n.base, left=n.left, told=n.told, laying=n.opens()))
                    continue
                own = n.laying.weight(n.way)
                self.add(_Next(h=n.h, base=n.base, left=n.left, told=n.told, laying=n.laying, way=n.way + 1))
                if own is not None:
                    self._push(n.base + own, n, True)
                continue
            h = self._after(n, -weight)
            key = _key(h)
            if key not in known:
                known.add(key)
                out.append(h)
        return out

    @staticmethod
    def _after(n: _Next, weight: float) -> History:
        h = n.h
        if n.laying is None:
            assert n.drops is not None
            return History(state=h.state, turns=h.turns, left=n.left, told=n.told, weight=weight,
                           dropped=h.dropped | {n.drops}, tracks=h.tracks, says=h.says)
        done = n.laying.outcome(n.way)
        return History(state=done.state, turns=h.turns + done.turns, left=n.left, told=n.told, weight=weight,
                       dropped=h.dropped, tracks=h.tracks | done.tracks, says=h.says | done.says)


def _key(h: History) -> object:
    """Equal for equivalent histories."""
    return h.left, h.told, h.dropped, h.state.player, h.says
