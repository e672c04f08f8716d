"""What may have been laid next on a square: every explanation of a tile and of the figure on it, from one state.

What the looks, the box and whose turn it is say of an explanation is known at once and bounds its weight from above.
The rules are asked, which costs a state, only when an explanation is likely enough to matter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from reading.evidence import Evidence, FigureChoice, box_priors, log_sigma
from reading.limits import LIMITS
from reading.shapes import Reading
from reading.told import Group
from scoring.board import mismatches
from scoring.engine import next_player, step
from scoring.errors import IllegalMove
from scoring.events import Event, FigurePlaced, TilePlaced, TurnEnded
from scoring.state import GameState, feature_of
from scoring.tiles import Square, catalogue

# What the rules' complaints weigh. People do break rules, but far less often than a camera errs.
COSTS: Mapping[str, float] = {"edge_mismatch": 8.0, "no_neighbour": 12.0, "corner_contact": 12.0, "too_many": 6.0,
                              "not_in_box": 10.0, "wrong_player": 0.0, "no_second_part": 0.0,
                              # follows from earlier errors as often as it is one
                              "no_supply": 2.5}
_USUAL = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A turn as a history tells it. ``weight`` is what it added; ``group`` the log's turn it explains, if it was told,
    and ``index`` that one's place among the log's turns; ``laying`` has the tile's other explanations."""

    at: Square | None
    tile: TilePlaced | None
    figure: FigurePlaced | None
    group: Group | None
    weight: float
    track: int | None = None
    skipped: bool = False
    laying: Laying | None = field(default=None, repr=False, compare=False)
    index: int = -1

    @property
    def others(self) -> Sequence[tuple[TilePlaced, FigurePlaced | None, float]]:
        """The same tile's explanations at this point as (tile, figure or None, weight), the likeliest first."""
        return () if self.laying is None else self.laying.all


@dataclass(slots=True)
class Steps:
    """States that were worked out, by the state and the event that led there: the ``most`` that were asked for last. A
    state of a late turn has 17 kB; with 800 of them a game of two boxes is searched as fast as with all."""

    most: int = 800
    _known: dict[tuple[int, Event], tuple[GameState, GameState | None]] = field(default_factory=dict)

    def after(self, state: GameState, event: Event) -> GameState | None:
        """The state after an event, or None when it means nothing there."""
        key = id(state), event
        known = self._known.get(key)
        if known is not None and known[0] is state:
            self._known[key] = self._known.pop(key)
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
    """One explanation: the events, in their order, and what speaks for them before the rules are asked."""

    bound: float
    events: tuple[Event, ...]
    tile: TilePlaced | None
    figure: FigurePlaced | None
    claim: FigureChoice | None = None
    skipped: bool = False


class Laying:
    """The ways in which the tile on a square (or what the log has of a turn) comes next after a state, by number, the
    likeliest first as far as is known without the rules."""

    def __init__(self, state: GameState, seen: Evidence | None, group: Group | None, index: int, steps: Steps,
                 said: dict[tuple[Event | None, Event | None], int], asked: Mapping[Square, float]) -> None:
        self.state, self.seen, self.group, self._asked = state, seen, group, asked
        self._index, self._steps, self._said = index, steps, said
        self._ways: list[_Way] = []
        self._results: dict[int, tuple[float, GameState] | None] = {}
        self._all: tuple[tuple[TilePlaced, FigurePlaced | None, float], ...] | None = None
        self._read = False

    def bound(self, way: int) -> float | None:
        """What a way weighs at most; None when there is none of that number."""
        return self._ways[way].bound if way < len(self._ways) else None

    def weight(self, way: int) -> float | None:
        """What a way weighs; None for one that means nothing to the rules."""
        found = self._result(way)
        return None if found is None else found[0]

    def turn(self, way: int) -> tuple[Turn, GameState, frozenset[int], int]:
        """A way as a turn, the state after it, the tracks that it explains, and the number of what it tells."""
        found, w = self._result(way), self._ways[way]
        assert found is not None
        at = self.group.at if self.group is not None else self.seen.at if self.seen is not None else None
        track = w.claim.track if w.claim is not None else None
        explained = frozenset(() if track is None else (track,))
        if not self._read and w.figure is not None and self.seen is not None:
            explained = frozenset(f.id for f in self.seen.tracks)
        turn = Turn(at=at, tile=w.tile, figure=w.figure, group=self.group, weight=found[0], track=track,
                    skipped=w.skipped, laying=self if self._read else None, index=self._index)
        return turn, found[1], explained, self._said.setdefault((w.tile, w.figure), len(self._said))

    @property
    def possible(self) -> bool:
        """Whether there is any: people may have denied them all."""
        return bool(self._ways)

    @property
    def all(self) -> tuple[tuple[TilePlaced, FigurePlaced | None, float], ...]:
        """Every way that is not hopeless as (tile, figure or None, weight), the likeliest first."""
        if self._all is None:
            best, out = -math.inf, []
            for n, way in enumerate(self._ways):
                if way.bound < best - LIMITS.behind:
                    break
                found = self._result(n)
                if found is not None and way.tile is not None:
                    best = max(best, found[0])
                    out.append((way.tile, way.claim.event if way.claim is not None else way.figure, found[0]))
            self._all = tuple(sorted(out, key=lambda o: -o[2]))
        return self._all

    def as_told(self, colours: Mapping[str, int]) -> None:
        """The events of a turn as they were told, with what stands against that; and, where another player's turn it
        was, as that one's."""
        group = self.group
        assert group is not None
        lines = tuple(line.event for line in ((group.tile,) if group.tile else ()) + group.rest)
        tile = group.tile.event if group.tile is not None else None
        mine = group.figures()
        if not isinstance(tile, TilePlaced) or group.tile is None:
            self._ways.append(_Way(0.0, lines, None, None))
            return
        due = next_player(self.state)
        claimed = [line.event for line in mine if isinstance(line.event, FigurePlaced)]
        pinned = {line.event.player for line in mine if line.pinned and isinstance(line.event, FigurePlaced)}
        unlike = _USUAL * any(e.player != tile.player for e in claimed)
        own = (LIMITS.skipped if tile.player != due else 0.0) + unlike
        self._ways.append(_Way(-own, lines, tile, claimed[-1] if claimed else None))
        for player in {due, *pinned} - {tile.player} if not group.tile.pinned and not group.others() else ():
            if pinned - {player}:
                continue
            cost = LIMITS.logged + (LIMITS.skipped if player != due else 0.0)
            for f in self.seen.tracks[:1] if claimed and not pinned and self.seen is not None else ():
                by = {p: f.paints.get(c, -12.0) for c, p in colours.items()}
                cost += by.get(claimed[-1].player, -12.0) - by.get(player, -12.0)
            events = tuple(replace(e, player=player) for e in lines if isinstance(e, TilePlaced | FigurePlaced))
            figures = [e for e in events if isinstance(e, FigurePlaced) and e.at == tile.at]
            self._ways.append(_Way(-cost, events, replace(tile, player=player), figures[-1] if figures else None))
        self._ways.sort(key=lambda w: -w.bound)

    def anew(self, colours: Mapping[str, int], denies: Callable[[Event | None], bool]) -> None:
        """Every tile and figure that may be seen there, whoever laid it."""
        seen, group, state = self.seen, self.group, self.state
        assert seen is not None and seen.lain is not None
        self._read = True
        line = group.tile.event if group is not None and group.tile is not None else None
        old = line if isinstance(line, TilePlaced) else None
        pinned = group is not None and group.tile is not None and group.tile.pinned
        told = group.figures() if group is not None else ()
        owners = {f.event.player for f in told if f.pinned and isinstance(f.event, FigurePlaced)}
        if old is not None and pinned:
            options: Mapping[Reading, float] = {(old.tile, old.rot): 0.0}
        else:
            options = seen.readings(state.box, (old.tile, old.rot) if old is not None else None)
        players = _players(state, seen, old if pinned else None, colours)
        if owners and not pinned:  # whose figure people say it is, laid the tile
            players = [(p, p != next_player(state)) for p in owners]
        kept = () if group is None else group.rest if owners else group.others()
        presence = log_sigma(seen.lain.presence)
        priors = box_priors(state, {tile for tile, _ in options})
        for reading, value in options.items():
            said = value + presence + priors[reading[0]] - _against(state, seen.at, reading)
            for player, skip in players:
                placed = TilePlaced(player=player, tile=reading[0], at=seen.at, rot=reading[1],
                                    part=old.part if old is not None else 1)
                weight = said - (LIMITS.skipped if skip else 0.0) + (LIMITS.logged if placed == old else 0.0)
                if denies(placed):
                    continue
                claims = [FigureChoice(event=None, weight=0.0)] if owners else seen.claims(state, reading, player)
                for claim in claims:
                    if denies(claim.event):
                        continue
                    known = any(f.event == claim.event for f in told)
                    figure = told[-1].event if told and owners else claim.event
                    events = (placed, *((claim.event,) if claim.event is not None else ()), *(k.event for k in kept))
                    self._ways.append(_Way(
                        weight + claim.weight + (LIMITS.logged if known else 0.0), events, placed,
                        figure if isinstance(figure, FigurePlaced) else None, claim, skip))
        self._ways.sort(key=lambda w: -w.bound)

    def _result(self, way: int) -> tuple[float, GameState] | None:
        if way not in self._results:
            self._results[way] = self._worked_out(self._ways[way])
        return self._results[way]

    def _worked_out(self, way: _Way) -> tuple[float, GameState] | None:
        state, weight = self.state, way.bound
        needed = 0
        if self._read and way.tile is not None:
            weight += _against(state, way.tile.at, (way.tile.tile, way.tile.rot))  # the rules say it themselves
            needed = 1 + (way.claim is not None and way.claim.event is not None)
        for n, event in enumerate(way.events):
            after = self._steps.after(state, event)
            if after is None and n < needed:
                return None
            if after is not None:  # what means nothing stays in the log and changes nothing
                if n < needed or not self._read:
                    weight -= min(cost(state, after), self._most(state, event, after))
                state = after
        return weight, state

    def _most(self, state: GameState, event: Event, after: GameState) -> float:
        """What the rules can have against a figure at most: a feature is no surer than the tiles asked about in it."""
        figure = after.standing.get(state.next_figure) if isinstance(event, FigurePlaced) and self._asked else None
        feature = feature_of(after, figure) if figure is not None else None
        if feature is None or figure is None:
            return math.inf
        doubts = [1.0 - self._asked[at] for at in feature.squares if at in self._asked and at != figure.at]
        return -math.log(max(doubts)) if doubts and max(doubts) > 0.0 else math.inf


def cost(before: GameState, after: GameState) -> float:
    """What the rules have against what was added."""
    return sum(COSTS.get(i.code, _USUAL) for i in after.issues[len(before.issues):])


def _against(state: GameState, at: Square, reading: Reading) -> float:
    """What the rules will have at least against a tile there."""
    kind = catalogue().get(reading[0])
    wrong = kind is not None and at not in state.tiles and bool(mismatches(state, kind, at, reading[1]))
    return COSTS["edge_mismatch"] * wrong


def _players(state: GameState, seen: Evidence, pinned: TilePlaced | None,
             colours: Mapping[str, int]) -> list[tuple[int, bool]]:
    """Who may lay the next tile, and whether turns were missed then: whose turn it is, or whose figure is on it."""
    due = next_player(state)
    if pinned is not None:
        return [(pinned.player, pinned.player != due)]
    out = [(due, False)]
    for f in seen.tracks:
        if f.real < 0.0:
            continue
        paints = f.paints
        for colour, p in colours.items():
            if p != due and paints.get(colour, -12.0) > -1.5 and (p, True) not in out:
                out.append((p, True))
    return out
