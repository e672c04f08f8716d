"""What may have been laid next on a square: every explanation of a tile and of the figure on it, from one state.

The evidence of the looks, the box and the turn order is cheap and bounds an explanation's weight from above. The rules
are evaluated, which costs a state, only if an explanation is likely enough to matter.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter, itemgetter
from typing import NamedTuple

from reading.evidence import Evidence, FigureChoice, box_priors, log_sigma
from reading.limits import LIMITS
from reading.logged_game import LoggedTurn, by, denies
from reading.shapes import Reading
from reading.whereabouts import moved
from scoring.board import mismatches
from scoring.contributions import BEFORE, View
from scoring.engine import next_player, step
from scoring.errors import IllegalMove
from scoring.events import Event, FigurePlaced, TilePlaced, TurnEnded
from scoring.state import GameState, feature_of
from scoring.tiles import Square, catalogue

# Cost of each kind of issue, in nats. People do break rules, but far less often than a camera errs.
COSTS: Mapping[str, float] = {"edge_mismatch": 8.0, "no_neighbour": 12.0, "corner_contact": 12.0, "too_many": 6.0,
                              "not_in_box": 10.0, "wrong_player": 0.0, "no_second_part": 0.0,
                              # as often a consequence of earlier errors as an error itself
                              "no_supply": 2.5}


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A turn of a history. ``weight`` is its contribution; ``group`` the log's turn that it explains, if any, and
    ``index`` the position of that among the log's turns; ``laying`` has the tile's other explanations. A ``replayed``
    turn was taken as it is logged, without a look at what else it may have been."""

    at: Square | None
    tile: TilePlaced | None
    figure: FigurePlaced | None
    group: LoggedTurn | None
    weight: float
    track: int | None = None
    laying: Laying | None = field(default=None, repr=False, compare=False)
    index: int = -1
    replayed: bool = False

    @property
    def others(self) -> Sequence[tuple[TilePlaced, FigurePlaced | None, float]]:
        """The same tile's explanations at this point as (tile, figure or None, weight), the likeliest first."""
        return () if self.laying is None else self.laying.all


class Outcome(NamedTuple):
    """What one way of going on leads to: its turns, the state after them, the ids of the tracks that they explain, and
    numbers for their (tile, figure) pairs."""

    turns: tuple[Turn, ...]
    state: GameState
    tracks: frozenset[int]
    says: frozenset[int]


@dataclass(slots=True)
class Steps:
    """An LRU cache of ``most`` states by the previous state and the event. A state of a late turn has 17 kB; with 800
    of them a game of two boxes is searched as fast as with all. The states of the log itself are held by the reader
    anyway; they are added by `keep` and never evicted."""

    most: int = 800
    _known: dict[tuple[int, Event], tuple[GameState, GameState | None]] = field(default_factory=dict)
    _kept: dict[tuple[int, Event], tuple[GameState, GameState | None]] = field(default_factory=dict)

    def keep(self, state: GameState, event: Event, after: GameState | None) -> None:
        """Keep the step from one state of the log to the next."""
        self._kept[id(state), event] = state, after

    def drop(self, state: GameState, event: Event) -> None:
        """A step that the log does not take any more may be evicted like others."""
        self._kept.pop((id(state), event), None)

    def known(self, state: GameState, event: Event) -> bool:
        """Whether `after` has the answer already."""
        key = id(state), event
        return any((known := cache.get(key)) is not None and known[0] is state for cache in (self._kept, self._known))

    def after(self, state: GameState, event: Event) -> GameState | None:
        """The state after an event, or None if it is meaningless there."""
        key = id(state), event
        for cache in (self._kept, self._known):
            known = cache.get(key)
            if known is not None and known[0] is state:
                if cache is self._known:
                    cache[key] = cache.pop(key)
                return known[1]
        while len(self._known) >= self.most:
            del self._known[next(iter(self._known))]
        try:
            new: GameState | None = step(state, event)
        except IllegalMove:
            new = None
        self._known[key] = state, new
        return new

    def closed(self, state: GameState) -> GameState:
        """The state with its turn ended: what stands on the table once people have taken home what scored."""
        return (self.after(state, TurnEnded()) or state) if state.turn_open else state


@dataclass(frozen=True, slots=True)
class _Way:
    """One explanation: its events in order, and their weight as far as it is independent of what was laid before."""

    weight: float
    events: tuple[Event, ...]
    tile: TilePlaced | None
    figure: FigurePlaced | None
    claim: FigureChoice | None = None


_WEIGHT = attrgetter("weight")


class Offers:
    """The possible explanations of a square, independent of what was laid before: by reading and player every tile and
    figure that may be seen there and that people have not denied. Computed once for the evidence (``seen``) and the
    log's turn (``group``, None if there is none)."""

    def __init__(self, seen: Evidence, group: LoggedTurn | None, colours: Mapping[str, int],
                 denied: frozenset[Event]) -> None:
        assert seen.laid is not None
        self.seen, self.group, self._denied = seen, group, denied
        line = group.tile.event if group is not None and group.tile is not None else None
        self._old = line if isinstance(line, TilePlaced) else None
        self.pinned = self._old if group is not None and group.tile is not None and group.tile.pinned else None
        self._told = group.figures() if group is not None else ()
        self._owners = {f.event.player for f in self._told if f.pinned and isinstance(f.event, FigurePlaced)}
        self._kept = () if group is None else group.rest if self._owners else group.others()
        self._painted = [p for f in seen.tracks if f.real >= 0.0 for c, p in colours.items()
                         if f.paints.get(c, -12.0) > -1.5] + [p for p, said in seen.whose.items() if said > -1.5]
        self._presence = log_sigma(seen.laid.presence)
        self._ways: dict[tuple[Reading, int], list[_Way]] = {}
        self._most: dict[int, float | None] = {}

    def most(self, state: GameState) -> float | None:
        """Upper bound of their weights as the next turn after a state; None if people have denied them all."""
        due = next_player(state)
        if due not in self._most:
            likeliest = [(value, ways[0]) for reading, value in self.readings(state).items()
                         for player in self.players(due) if (ways := self.ways(state, reading, player))]
            self._most[due] = max((value + way.weight for value, way in likeliest), default=None)
        return self._most[due]

    def readings(self, state: GameState) -> Mapping[Reading, float]:
        """Log-likelihoods of the readings."""
        if self.pinned is not None:
            return {(self.pinned.tile, self.pinned.rot): 0.0}
        return self.seen.readings(state.box, None if self._old is None else (self._old.tile, self._old.rot))

    def players(self, due: int) -> Collection[int]:
        """Who may have laid it: the player to move (``due``), the owner of a figure on it, or whom people have named.
        """
        if self.pinned is not None:
            return (self.pinned.player,)
        return self._owners or dict.fromkeys((due, *self._painted))

    def ways(self, state: GameState, reading: Reading, player: int) -> list[_Way]:
        """The explanations with that reading and player, the likeliest first."""
        key = reading, player
        if key not in self._ways:
            self._ways[key] = sorted(self._worked_out(state, reading, player), key=_WEIGHT, reverse=True)
        return self._ways[key]

    def _worked_out(self, state: GameState, reading: Reading, player: int) -> Iterator[_Way]:
        placed = TilePlaced(player=player, tile=reading[0], at=self.seen.at, rot=reading[1],
                            part=self._old.part if self._old is not None else 1)
        if denies(self._denied, placed):
            return
        tile = self._presence + LIMITS.logged * (placed == self._old) + self.seen.whose.get(player, 0.0)
        told, kept = self._told, tuple(line.event for line in self._kept)
        claims = [FigureChoice(event=None, weight=0.0)] if self._owners else self.seen.claims(state, reading, player)
        for claim in claims:
            if denies(self._denied, claim.event):
                continue
            figure = told[-1].event if told and self._owners else claim.event
            events = (placed, *((claim.event,) if claim.event is not None else ()), *kept)
            yield _Way(tile + claim.weight + LIMITS.logged * any(f.event == claim.event for f in told), events, placed,
                       figure if isinstance(figure, FigurePlaced) else None, claim)


class _Ranked(NamedTuple):
    """A way after a state: its weight is at most ``bound``, which already includes ``against`` as the least cost of the
    rules."""

    bound: float
    against: float
    way: _Way


class Laying:
    """The ways in which the tile on a square (or a turn of the log) may come next after a state, numbered in descending
    order of their bounds."""

    def __init__(self, state: GameState, seen: Evidence | None, group: LoggedTurn | None, index: int, steps: Steps,
                 said: dict[tuple[Event | None, Event | None], int], asked: Mapping[Square, float]) -> None:
        self.state, self.seen, self.group, self._asked = state, seen, group, asked
        self._index, self._steps, self._said = index, steps, said
        self._ways: list[_Ranked] = []  # those that were needed so far
        self._sources: list[tuple[float, Sequence[_Way]]] = []  # the likeliest first, with what adds to all weights
        self._next: list[tuple[float, int, int, float]] = []  # heap: -bound, source, position in it, cost of the rules
        self._results: dict[int, tuple[float, GameState] | None] = {}
        self._camera = {line.event for line in group.rest if not line.pinned} if group is not None else set[Event]()
        self._all: tuple[tuple[TilePlaced, FigurePlaced | None, float], ...] | None = None
        self._read = False

    def bound(self, way: int) -> float | None:
        """Upper bound of a way's weight; None if there is no way of that number."""
        while way >= len(self._ways) and self._next:
            bound, n, k, against = heapq.heappop(self._next)
            base, ways = self._sources[n]
            self._ways.append(_Ranked(-bound, against, ways[k]))
            if k + 1 < len(ways):
                heapq.heappush(self._next, (-base - ways[k + 1].weight, n, k + 1, against))
        return self._ways[way].bound if way < len(self._ways) else None

    def weight(self, way: int) -> float | None:
        """A way's weight; None if it is meaningless to the rules."""
        found = self._result(way)
        return None if found is None else found[0]

    def outcome(self, way: int) -> Outcome:
        """A way as a turn."""
        found, ranked = self._result(way), self._ways[way]
        w = ranked.way
        assert found is not None
        at = self.group.at if self.group is not None else self.seen.at if self.seen is not None else None
        track = w.claim.track if w.claim is not None else None
        explained = frozenset(() if track is None else (track,))
        if not self._read and w.figure is not None and self.seen is not None:
            explained = frozenset(f.id for f in self.seen.tracks)
        turn = Turn(at=at, tile=w.tile, figure=w.figure, group=self.group, weight=found[0], track=track,
                    laying=self if self._read else None, index=self._index)
        says = self._said.setdefault((w.tile, w.figure), len(self._said))
        return Outcome((turn,), found[1], explained, frozenset((says,)))

    @property
    def all(self) -> tuple[tuple[TilePlaced, FigurePlaced | None, float], ...]:
        """Every way within `LIMITS.behind` of the best as (tile, figure or None, weight), the likeliest first."""
        if self._all is None:
            best, out = -math.inf, []
            for n in itertools.count():
                bound = self.bound(n)
                if bound is None or bound < best - LIMITS.behind:
                    break
                found, way = self._result(n), self._ways[n].way
                if found is not None and way.tile is not None:
                    best = max(best, found[0])
                    out.append((way.tile, way.claim.event if way.claim is not None else way.figure, found[0]))
            self._all = tuple(sorted(out, key=lambda o: -o[2]))
        return self._all

    def as_told(self, colours: Mapping[str, int]) -> None:
        """Add the events of a turn as they are logged, with their cost, and as those of the player to move if that is
        another one."""
        group = self.group
        assert group is not None
        lines = tuple(line.event for line in group.lines)
        tile = group.tile.event if group.tile is not None else None
        mine = group.figures()
        if not isinstance(tile, TilePlaced) or group.tile is None:
            self._tells(_Way(0.0, lines, None, None))
            return
        due = next_player(self.state)
        claimed = [line.event for line in mine if isinstance(line.event, FigurePlaced)]
        pinned = {line.event.player for line in mine if line.pinned and isinstance(line.event, FigurePlaced)}
        whose = self.seen.whose if self.seen is not None else {}
        own = whose.get(tile.player, 0.0) - out_of_turn(group, due)
        self._tells(_Way(own, lines, tile, claimed[-1] if claimed else None))
        for player in {due, *pinned} - {tile.player} if not group.tile.pinned and not group.others() else ():
            if pinned - {player}:
                continue
            cost = LIMITS.logged + (LIMITS.skipped if player != due else 0.0) - whose.get(player, 0.0)
            for f in self.seen.tracks[:1] if claimed and not pinned and self.seen is not None else ():
                by = {p: f.paints.get(c, -12.0) for c, p in colours.items()}
                cost += by.get(claimed[-1].player, -12.0) - by.get(player, -12.0)
            events = tuple(replace(e, player=player) for e in lines if isinstance(e, TilePlaced | FigurePlaced))
            figures = [e for e in events if isinstance(e, FigurePlaced) and e.at == tile.at]
            self._tells(_Way(-cost, events, replace(tile, player=player), figures[-1] if figures else None))
        self._ways.sort(key=itemgetter(0), reverse=True)

    def _tells(self, way: _Way) -> None:
        self._ways.append(_Ranked(way.weight, 0.0, way))

    def anew(self, offers: Offers) -> None:
        """Add every explanation of the evidence, by any player."""
        state, due = self.state, next_player(self.state)
        self._read = True
        readings, players = offers.readings(state), offers.players(due)
        priors = box_priors(state, {tile for tile, _ in readings})
        for reading, value in readings.items():
            against = _against(state, offers.seen.at, reading)
            said = value + priors[reading[0]] - against
            for player in players:
                base, ways = said - LIMITS.skipped * (player != due), offers.ways(state, reading, player)
                if ways:
                    self._next.append((-base - ways[0].weight, len(self._sources), 0, against))
                    self._sources.append((base, ways))
        heapq.heapify(self._next)

    def _result(self, way: int) -> tuple[float, GameState] | None:
        if way not in self._results:
            self._results[way] = self._worked_out(self._ways[way])
        return self._results[way]

    def _worked_out(self, ranked: _Ranked) -> tuple[float, GameState] | None:
        state, way = self.state, ranked.way
        weight, needed = ranked.bound + ranked.against, 0  # the rules' actual cost replaces the least one
        if self._read and way.tile is not None:
            needed = 1 + (way.claim is not None and way.claim.event is not None)
        bare = state
        for n, each in enumerate(way.events):
            event = by(each, next_player(state)) if each in self._camera and _precedes(each, state) else each
            after = self._steps.after(state, event)
            if after is None and n < needed:
                return None
            if after is not None:  # a meaningless event stays in the log and changes nothing
                weight -= against(after, event, len(state.issues), state.next_figure, self._asked)
                state = after
            if isinstance(event, TilePlaced):
                bare = state
        if self.seen is None or not self.seen.pieces.stays:
            return weight, state
        said, state = moved(self.seen.pieces, self.seen.at, state, bare, self._steps.after, self._steps.closed)
        return weight + said, state


def _precedes(event: Event, state: GameState) -> bool:
    """Whether an event after a state belongs to the next tile, whose player it does not determine."""
    handler = state.box.handlers.get(type(event))
    return handler is not None and handler.when == BEFORE and not (handler.late is not None and handler.late(state))


def out_of_turn(group: LoggedTurn, due: int) -> float:
    """The cost of a turn of the log as it is, with ``due`` to play: another player laid the tile, or a figure is not
    that player's."""
    tile = group.tile.event if group.tile is not None else None
    if not isinstance(tile, TilePlaced):
        return 0.0
    unlike = any(isinstance(f.event, FigurePlaced) and f.event.player != tile.player for f in group.figures())
    return LIMITS.skipped * (tile.player != due) + LIMITS.unallowed * unlike


def cost(before: GameState, after: GameState) -> float:
    """The cost of the issues between two states, in nats."""
    return _cost(after, len(before.issues), after.box.awaited)


def _cost(after: View, issues: int, awaited: Collection[str]) -> float:
    """``awaited``: the issues of what may reach the log later, so its lack costs nothing."""
    return sum([COSTS.get(i.code, LIMITS.unallowed) for i in after.issues[issues:] if i.code not in awaited])


def against(after: View, event: Event, issues: int, figure: int, asked: Mapping[Square, float]) -> float:
    """The cost of what the rules say against an event, in nats: of the state's issues beyond the first ``issues``. The
    cost of a figure (``figure`` is its number) is bounded: its feature is no surer than the tiles in it that are
    ``asked`` about."""
    if len(after.issues) == issues:
        return 0.0
    said = _cost(after, issues, after.box.late)  # whether a piece moved on, looks tell (`whereabouts.moved`)
    stands = after.standing.get(figure) if asked and isinstance(event, FigurePlaced) else None
    feature = feature_of(after, stands) if stands is not None else None
    if feature is None or stands is None:
        return said
    doubts = [1.0 - asked[at] for at in feature.squares if at in asked and at != stands.at]
    return min(said, -math.log(max(doubts))) if doubts and max(doubts) > 0.0 else said


def _against(state: GameState, at: Square, reading: Reading) -> float:
    """Lower bound of the rules' cost of a tile there."""
    kind = catalogue().get(reading[0])
    wrong = kind is not None and at not in state.tiles and bool(mismatches(state, kind, at, reading[1]))
    return COSTS["edge_mismatch"] * wrong

