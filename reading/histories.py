"""A few histories that explain what is believed of the table: sequences of turns that the rules allow.

The search begins some turns back, from a state that stands, and adds one turn after the other: the next one that was
told already, or a tile that nobody has told of yet. Rules are soft: what lies on the table is never refused. States are
worked out once and kept, so another look costs only the weighing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from reading.belief import FigureTrack, Lain, TableBelief
from reading.evidence import FigureChoice, box_prior, choices, figures_on, log_sigma, readings_of, standing_terms
from reading.limits import LIMITS
from reading.pieces import kinds
from reading.shapes import Reading
from reading.told import Group, same_tile
from scoring.engine import next_player, step
from scoring.errors import IllegalMove
from scoring.events import Event, FigurePlaced, TilePlaced, TurnEnded
from scoring.state import GameState
from scoring.tiles import EDGES, Square, neighbour

# What the rules' complaints weigh. People do break rules, but far less often than a camera errs.
COSTS: Mapping[str, float] = {"edge_mismatch": 8.0, "no_neighbour": 12.0, "corner_contact": 12.0, "too_many": 6.0,
                              "not_in_box": 10.0, "wrong_player": 0.0, "no_second_part": 0.0,
                              # follows from earlier errors as often as it is one
                              "no_supply": 2.5}
_USUAL = 5.0
_DROPPED = 3.0  # against a tile that is none, beside its own log-odds
_TAKEN_UP = 5.0  # for a tile that was told and is seen to be gone having been taken up
_OVERLOOKED = 0.1  # against a tile lying before one that was told, each
_NEVER_SEEN = 14.0  # weight of a tile that lies apart from the board: what joins it was never seen


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A turn as a history tells it. ``weight`` is what it added; ``group`` the log's turn it explains, if it was told.
    ``others`` are the same tile's other explanations at this point as (tile, figure or None, weight)."""

    at: Square | None
    tile: TilePlaced | None
    figure: FigurePlaced | None
    group: Group | None
    weight: float
    track: int | None = None
    skipped: bool = False
    others: tuple[tuple[TilePlaced, FigurePlaced | None, float], ...] = ()
    index: int = -1  # of the group in the window


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """One explanation. ``score`` is its log-weight with everything counted, ``state`` the game that it comes to."""

    state: GameState
    turns: tuple[Turn, ...] = ()
    left: frozenset[Square] = frozenset()  # squares with tiles that it has not explained yet
    told: tuple[int, ...] = ()  # the window's turns that are still to come
    weight: float = 0.0
    score: float = 0.0
    dropped: frozenset[Square] = frozenset()
    tracks: frozenset[int] = frozenset()


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What is to be explained: from ``state`` on, the told turns ``groups`` in their order, of which those from
    ``free`` on may be re-ordered and those in ``again`` be read anew, and tiles on ``fresh`` squares that nobody told
    of. ``gone`` are squares from which a tile was seen to be taken up; ``denied`` is what people took back."""

    state: GameState
    groups: tuple[Group, ...]
    free: int
    again: frozenset[Square]
    fresh: frozenset[Square]
    gone: frozenset[Square] = frozenset()
    denied: frozenset[Event] = frozenset()

    def denies(self, event: Event | None) -> bool:
        """Whether people have said that it did not happen: whoever laid that tile, wherever the figure stood on it."""
        if isinstance(event, TilePlaced):
            return any(isinstance(d, TilePlaced) and same_tile(replace(d, player=event.player), event)
                       for d in self.denied)
        return isinstance(event, FigurePlaced) and any(
            isinstance(d, FigurePlaced) and (d.at, d.player) == (event.at, event.player) for d in self.denied)


class Search:
    """Finds histories. Keeps the states it has worked out from one search to the next."""

    def __init__(self, colours: Mapping[str, int], steps: Steps) -> None:
        self._colours, self._steps = colours, steps
        self._claims: dict[tuple[Square, Reading, int], list[FigureChoice]] = {}  # of one search

    def histories(self, belief: TableBelief, window: Window) -> list[History]:
        """The likeliest histories, best first; always at least one."""
        self._claims.clear()
        told = kinds(belief.figures.values(), window.state.box.counts)
        tracks = {at: [told.get(f.id, f) for f in figures_on(belief, at)]
                  for at in {*window.fresh, *(g.at for g in window.groups if g.at is not None)}}
        beam = [History(state=window.state, left=window.fresh, told=tuple(range(len(window.groups))))]
        done: dict[object, History] = {}
        for _ in range(len(window.groups) + len(window.fresh) + 1):
            grown: dict[object, History] = {}
            for h in beam:
                if not h.left and not h.told:
                    self._keep(done, h)
                    continue
                for n in self._grow(h, belief, window, tracks):
                    self._keep(grown, n)
            if not grown:
                break
            beam = self._likely(grown.values())
        found, before = [], self._before(belief, window)
        for h in done.values() or beam:
            closed = self._steps.closed(h.state)
            terms = standing_terms(belief, closed, self._colours, h.tracks | before)
            found.append(replace(h, score=h.weight + terms))
        return sorted(found, key=lambda h: (-h.score, _rank(h)))[:LIMITS.width]

    @staticmethod
    def _likely(grown: Iterable[History]) -> list[History]:
        """The histories that are gone on with. Only such are held against each other as have come equally far in what
        was told: an illegal turn that stands in the log counts against all of them, sooner or later."""
        by: dict[int, list[History]] = {}
        for h in sorted(grown, key=_rank):
            by.setdefault(len(h.told), []).append(h)
        most = max(4, LIMITS.width // len(by)) if by else 0
        return [h for equal in by.values() for h in equal[:most] if h.weight > equal[0].weight - LIMITS.behind]

    def _before(self, belief: TableBelief, window: Window) -> frozenset[int]:
        """Tracks of the figures that stood when the window began."""
        out = set()
        for f in window.state.standing.values():
            for i, t in belief.figures.items():
                if t.at == f.at and t.real > 0:
                    out.add(i)
        return frozenset(out)

    @staticmethod
    def _keep(where: dict[object, History], h: History) -> None:
        """Of histories that come to the same, the likelier."""
        key = (h.left, h.told, h.dropped, h.state.player,
               frozenset((t.tile, t.figure) for t in h.turns))
        old = where.get(key)
        if old is None or old.weight < h.weight:
            where[key] = h

    def _grow(self, h: History, belief: TableBelief, window: Window,
              tracks: Mapping[Square, list[FigureTrack]]) -> list[History]:
        out: list[History] = []
        upcoming = [window.groups[n] for n in h.told]
        for n in h.told[:1] + tuple(n for n in h.told[1:2] if self._swaps(window, h.told[0], n)):
            out += self._told(h, n, belief, window, tracks)
        ready = [at for at in sorted(h.left) if any(neighbour(at, side) in h.state.tiles for side in EDGES)]
        for at in ready:
            out += self._fresh(h, at, belief, window, tracks, upcoming)
        for at in sorted(h.left):
            lain = belief.squares[at].lain
            assert lain is not None
            odds = log_sigma(-lain.presence) - _DROPPED
            if at not in ready and not upcoming:
                odds = max(odds, -_NEVER_SEEN)
            out.append(replace(h, left=h.left - {at}, weight=h.weight + odds, dropped=h.dropped | {at}))
        return out

    @staticmethod
    def _swaps(window: Window, first: int, then: int) -> bool:
        """Whether two turns of the log may have come the other way round."""
        pair = window.groups[first], window.groups[then]
        return first >= window.free and not any(
            g.tile is None or g.tile.pinned or g.others() or any(f.pinned for f in g.figures()) for g in pair)

    def _told(self, h: History, index: int, belief: TableBelief, window: Window,
              tracks: Mapping[Square, list[FigureTrack]]) -> list[History]:
        """The next turn of the log: as it stands, or read anew."""
        out: list[History] = []
        group, rest = window.groups[index], tuple(n for n in h.told if n != index)
        tile = group.tile
        lain = belief.squares[group.at].lain if group.at in belief.squares and group.at is not None else None
        anew = tile is not None and group.at in window.again and lain is not None
        weight = h.weight - (LIMITS.logged if rest and rest[0] < index else 0.0)
        weight -= self._out_of_order(belief, group.at, [*h.left, *(window.groups[n].at for n in rest if n < index)])
        laid = self._lay(replace(h, told=rest, weight=weight), group.at, belief, window, tracks[group.at], group=group,
                         index=index) if anew and group.at is not None else []
        if not laid:
            for lines, cost in self._as_told(h.state, group, tracks.get(group.at, ()) if group.at else ()):
                state, total = h.state, weight - cost
                for event in lines:
                    after = self._steps.after(state, event)
                    if after is not None:  # what means nothing stays in the log and changes nothing
                        total -= self._cost(state, after)
                        state = after
                mine = [e for e in lines if isinstance(e, FigurePlaced) and e.at == group.at]
                event = lines[0] if tile is not None and isinstance(lines[0], TilePlaced) else None
                turn = Turn(at=group.at, tile=event, figure=mine[-1] if mine else None, group=group,
                            weight=total - h.weight, index=index)
                explained = frozenset(f.id for f in tracks.get(group.at, [])) if mine and group.at else frozenset()
                out.append(replace(h, state=state, turns=(*h.turns, turn), told=rest, weight=total,
                                   tracks=h.tracks | explained))
            if tile is not None and not tile.pinned and group.at is not None and index >= window.free \
                    and group.at in window.gone:
                out.append(replace(h, told=rest, weight=weight + _TAKEN_UP, dropped=h.dropped | {group.at}))
            return out
        return laid

    def _as_told(self, state: GameState, group: Group, tracks: Sequence[FigureTrack],
                 ) -> list[tuple[list[Event], float]]:
        """The events of a turn as they were told, with what stands against that; and, where another player's turn it
        was, as that one's."""
        lines = [line.event for line in ((group.tile,) if group.tile else ()) + group.rest]
        tile = group.tile.event if group.tile is not None else None
        if not isinstance(tile, TilePlaced) or group.tile is None:
            return [(lines, 0.0)]
        due = next_player(state)
        pinned = {line.event.player for line in group.figures() if line.pinned and isinstance(line.event, FigurePlaced)}
        claimed = [line.event for line in group.figures() if isinstance(line.event, FigurePlaced)]
        unlike = _USUAL * any(e.player != tile.player for e in claimed)
        out = [(lines, (LIMITS.skipped if tile.player != due else 0.0) + unlike)]
        for player in {due, *pinned} - {tile.player} if not group.tile.pinned and not group.others() else ():
            if pinned - {player}:
                continue
            cost = LIMITS.logged + (LIMITS.skipped if player != due else 0.0)
            for f in tracks[:1] if claimed and not pinned else ():
                paints = f.paints
                by = {p: paints.get(c, -12.0) for c, p in self._colours.items()}
                cost += by.get(claimed[-1].player, -12.0) - by.get(player, -12.0)
            out.append(([replace(e, player=player) for e in lines if isinstance(e, TilePlaced | FigurePlaced)], cost))
        return out

    def _fresh(self, h: History, at: Square, belief: TableBelief, window: Window,
               tracks: Mapping[Square, list[FigureTrack]], upcoming: Sequence[Group]) -> list[History]:
        """A tile that nobody told of is the next turn's."""
        weight = h.weight - self._out_of_order(belief, at, [*(h.left - {at}), *(g.at for g in upcoming)])
        weight -= _OVERLOOKED * len(upcoming)
        return self._lay(replace(h, left=h.left - {at}, weight=weight), at, belief, window, tracks[at])

    def _out_of_order(self, belief: TableBelief, first: Square | None, then: Sequence[Square | None]) -> float:
        """What stands against a tile having been laid before others: that they were there while it was not, or were
        found before it."""
        track = belief.squares.get(first) if first is not None else None
        if track is None or track.lain is None:
            return 0.0
        cost, sooner, hidden = 0.0, 0, track.lain.hidden_s
        for at in then:
            other = belief.squares.get(at) if at is not None else None
            if other is None or other.lain is None:
                continue
            if track.lain.bare_s is not None and other.lain.since_s <= track.lain.bare_s:
                cost += LIMITS.order
            elif other.lain.since_s < track.lain.since_s:
                sooner += 1
                if hidden is None or hidden > other.lain.since_s:  # it could have been found
                    hidden = None
        late = LIMITS.found_late if hidden is None else 0.5
        return cost + (late + 0.2 * (sooner - 1) if sooner else 0.0)

    def _lay(self, h: History, at: Square, belief: TableBelief, window: Window, tracks: list[FigureTrack],
             group: Group | None = None, index: int = -1) -> list[History]:
        """Every way in which the tile on a square may have been laid next, with its figure."""
        lain = belief.squares[at].lain
        assert lain is not None
        box = h.state.box
        line = group.tile.event if group is not None and group.tile is not None else None
        old = line if isinstance(line, TilePlaced) else None
        pinned = group is not None and group.tile is not None and group.tile.pinned
        pinned_figure = group is not None and any(f.pinned for f in group.figures())
        if old is not None and pinned:
            options: dict[Reading, float] = {(old.tile, old.rot): 0.0}
        else:
            options = readings_of(lain, box, [(old.tile, old.rot)] if old is not None else ())
        presence = log_sigma(lain.presence)
        ways: list[tuple[float, TilePlaced, bool]] = []
        owners = {f.event.player for f in group.figures() if f.pinned} if group is not None else set()
        players = self._players(h.state, tracks, old if pinned else None)
        if owners and not pinned:  # whose figure people say it is, laid the tile
            players = [(p, p != next_player(h.state)) for p in owners]
        for player, skip in players:
            for reading, said in options.items():
                placed = TilePlaced(player=player, tile=reading[0], at=at, rot=reading[1],
                                    part=old.part if old is not None else 1)
                weight = said + presence + box_prior(h.state, reading[0]) - (LIMITS.skipped if skip else 0.0)
                weight += LIMITS.logged if placed == old else 0.0
                if not window.denies(placed):
                    ways.append((weight, placed, skip))
        ways.sort(key=lambda w: -w[0])
        grown: list[tuple[float, GameState, TilePlaced, FigureChoice, bool]] = []
        kept = () if group is None else group.rest if pinned_figure else group.others()
        told = group.figures() if group is not None else ()
        best = -math.inf
        for said, placed, skip in ways:
            laid = self._steps.after(h.state, placed) if said > best - LIMITS.behind else None
            if laid is None:
                continue
            said -= self._cost(h.state, laid)
            claims = [FigureChoice(event=None, weight=0.0)] if pinned_figure else self._claimed(
                tracks, laid, placed, lain, belief)
            for claim in claims:
                known = any(f.event == claim.event for f in told)
                weight = said + claim.weight + (LIMITS.logged if known else 0.0)
                if weight < best - LIMITS.behind or window.denies(claim.event):
                    continue
                state: GameState | None = laid
                if claim.event is not None:
                    state = self._steps.after(laid, claim.event)
                    if state is None:
                        continue
                    weight -= self._cost(laid, state)
                best = max(best, weight)
                for extra in kept:
                    assert state is not None
                    state = self._steps.after(state, extra.event) or state
                assert state is not None
                grown.append((weight, state, placed, claim, skip))
        grown.sort(key=lambda g: -g[0])
        others = tuple((placed, choice.event, weight) for weight, _, placed, choice, _ in grown)
        out = []
        for weight, after, placed, choice, skip in grown[:LIMITS.width]:
            figure = told[-1].event if told and pinned_figure else choice.event
            turn = Turn(at=at, tile=placed, figure=figure if isinstance(figure, FigurePlaced) else None, group=group,
                        weight=weight, track=choice.track, skipped=skip, others=others, index=index)
            explained = h.tracks if choice.track is None else h.tracks | {choice.track}
            out.append(replace(h, state=after, weight=h.weight + weight, turns=(*h.turns, turn), tracks=explained))
        return out

    def _claimed(self, tracks: list[FigureTrack], laid: GameState, placed: TilePlaced, lain: Lain,
                 belief: TableBelief) -> list[FigureChoice]:
        """What the figures on a tile may be if it was laid so, the likeliest first, whatever was laid before."""
        key = placed.at, (placed.tile, placed.rot), placed.player
        if key not in self._claims:
            found = choices(tracks, laid, placed.at, key[1], placed.player, self._colours, lain.since_s,
                            belief.next_s(lain))
            self._claims[key] = sorted(found, key=lambda c: -c.weight)
        return self._claims[key]

    def _players(self, state: GameState, tracks: Sequence[FigureTrack], pinned: TilePlaced | None,
                 ) -> list[tuple[int, bool]]:
        """Who may lay the next tile, and whether turns were missed then: whose turn it is, or whose figure is on it."""
        due = next_player(state)
        if pinned is not None:
            return [(pinned.player, pinned.player != due)]
        out = [(due, False)]
        for f in tracks:
            if f.real < 0.0:
                continue
            paints = f.paints
            for colour, p in self._colours.items():
                if p != due and paints.get(colour, -12.0) > -1.5 and (p, True) not in out:
                    out.append((p, True))
        return out

    @staticmethod
    def _cost(before: GameState, after: GameState) -> float:
        """What the rules have against what was added."""
        return sum(COSTS.get(i.code, _USUAL) for i in after.issues[len(before.issues):])


def _rank(h: History) -> tuple[float, str]:
    return -h.weight, str([(t.at, t.tile.tile if t.tile else "", t.tile.rot if t.tile else 0) for t in h.turns[-3:]])
