"""Piles of blocks: how high each is, and in which turn a block was added.

One block more displaces the top of a pile in the picture, by an amount that the looks know only roughly. So blocks are
counted: a filter follows where each pile's top appears, under several hypotheses of how many blocks were added and
when. A top that appears elsewhere than before was raised, was knocked, or was misread once.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import median

from reading.belief import FigureTrack, TableBelief
from reading.evidence import log_sigma
from reading.layings import Steps, cost
from reading.limits import LIMITS
from reading.logged_game import LoggedGame, LoggedTurn
from reading.policy import Decision, Doubt, Moment
from reading.removals import TAKEN, names
from scoring.contributions import Stack
from scoring.events import Event, FigurePlaced, FigureTaken, TilePlaced
from scoring.log import Amended, LogEntry
from scoring.state import GameState, StandingFigure
from scoring.tiles import Square
from vision.looks import StackLook, TableLook, probability

Point3 = tuple[float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class StackLimits:
    """Weights in nats, deviations in tiles and radians (x, y, yaw). "measured": by `benchmarks/stack_looks.py`;
    "chosen": any value near it did as well on the looks of four simulated games. No such wood was measured."""

    look: Point3 = (0.0045, 0.0045, 0.06)  # of one look at an unchanged top (measured: 0.003 to 0.0045)
    drifts: Point3 = (0.002, 0.002, 0.012)  # of an unchanged top between two looks, against its tile (chosen)
    finest: float = 0.7  # least noise of the looks at one table relative to that, once it is measured there
    coarsest: float = 1.5  # and the greatest
    compared: int = 24  # differences of successive looks from which it is
    partly: float = 3.0  # times as much where the top is not seen clearly
    clearly: tuple[float, float] = (2.5, 5.5)  # log-odds of a pile at which it is not and at which it is (chosen)
    added: Point3 = (0.016, 0.016, 0.12)  # of a raised top from where it is expected (measured: 0.014 to 0.028)
    knocked: Point3 = (0.012, 0.012, 0.10)  # of a pile that somebody touched (chosen)
    adds: float = 2.0  # against a block added between two looks, most of which are due to a hand there (chosen)
    hasty: float = 4.0  # against two blocks within less than a turn, which adds at most one (chosen)
    turn_s: float = 4.5
    knocks: float = 3.0  # against a pile having been knocked, or what is beside it taken away (chosen: 2.5 to 3.5)
    misread: float = 3.5  # against a look being wrong about the top (chosen)
    anywhere: float = 2.8  # log-density of a misread top: within 0.2 tiles and a right angle
    tone: float = 0.006  # of one look at the tone of a top (natural logarithm of lightness; measured: 0.004)
    tone_drifts: float = 0.003  # of the tone between two looks (chosen)
    tones: float = 0.05  # of the blocks of one maker (assumed: wood)
    shadows: float = 0.07  # part of the looks on which a shadow changes the tone (measured: 0.05 to 0.08 beyond 0.03)
    shadow: float = 0.6  # range of tones in a shadow
    there: float = 4.0  # most evidence of one look about whether there is a pile at all
    recent_s: float = 60.0  # of hypotheses that differ only in when older blocks came, the likeliest is kept
    most: int = 8  # hypotheses kept of each pile
    behind: float = 12.0  # nats behind the likeliest at which one is dropped
    takes: float = 5.0  # for a block by which somebody may have been taken who has vanished (chosen: 4 to 5)
    with_s: float = 30.0  # between the two, at most
    earlier: float = 4.0  # against a turn before the newest that could have added it: it would have been seen then
    too_soon: float = 6.0  # against a turn whose tile appeared after the block
    on_top: float = 0.2  # tiles: distance of a figure's foot from a top on which it may stand (chosen)
    doubtful: float = 1.5  # a block that is less likely than none by less than this is asked about if a turn that is
    # over could have added it (chosen: one in five is one)
    hardly: float = 4.0  # the likeliest turn is asked about if it weighs less than minus this


STACK = StackLimits()
_NORMAL = 1.48  # standard deviations of a normal distribution per median of absolute deviations


@dataclass(frozen=True, slots=True, kw_only=True)
class Pile:
    """One hypothesis of a pile: its height, its log-weight, where its top appears (mean and variance), when each block
    was first seen that was added since the first look, and the tone of the top one (mean and variance)."""

    height: int
    weight: float = 0.0
    mean: Point3 = (0.0, 0.0, 0.0)
    var: Point3 | None = None
    came_s: tuple[float, ...] = ()
    tone: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StackTrack:
    """The belief about one place: hypotheses, the likeliest first, the time of the last look, and whether it showed a
    plain top, on which nothing stands."""

    piles: tuple[Pile, ...]
    looked_s: float = -math.inf
    plain: bool = False

    @property
    def height(self) -> int:
        return self.piles[0].height

    def above(self, height: int) -> tuple[Pile | None, float]:
        """The likeliest hypothesis in which it is higher than that, and by how many nats that is likelier than not."""
        higher = next((p for p in self.piles if p.height > height), None)
        other = next((p.weight for p in self.piles if p.height <= height), -LIMITS.floor)
        return higher, -LIMITS.floor if higher is None else higher.weight - other

    def at_least(self, height: int) -> StackTrack:
        """The belief if it is known to be so high."""
        if all(p.height >= height for p in self.piles):
            return self
        same = [replace(p, height=height, came_s=()) for p in self.piles if p.height == self.height]
        kept = [p for p in self.piles if p.height >= height] or same
        return replace(self, piles=tuple(replace(p, weight=p.weight - kept[0].weight) for p in kept))

    def settled(self, height: int) -> StackTrack:
        """The belief if it is known to be exactly so high."""
        pile = next((p for p in self.piles if p.height == height), None)
        return began(height) if pile is None else replace(self, piles=(replace(pile, weight=0.0, came_s=()),))


def began(height: int) -> StackTrack:
    """A place that was not looked at yet, where the game has a pile of that height."""
    return StackTrack(piles=(Pile(height=height),))


def looked_at(track: StackTrack, look: StackLook, t_s: float, noise: float = 1.0) -> StackTrack:
    """The belief after one more look. ``noise`` is the looks' at this table, relative to the usual one."""
    share = 1.0 - math.exp(-max(0.0, t_s - track.looked_s) / LIMITS.new_look_s)
    if share <= 0.0:
        return track
    grown: dict[tuple[int, float], Pile] = {}
    for pile in track.piles:
        for after in _after(pile, look, share, t_s, noise):
            last = after.came_s[-1] if after.came_s else -math.inf
            key = after.height, last if t_s - last < STACK.recent_s else -math.inf
            if key not in grown or grown[key].weight < after.weight:
                grown[key] = after
    ranked = sorted(grown.values(), key=lambda p: (-p.weight, p.height))
    best = ranked[0].weight
    kept = [replace(p, weight=p.weight - best) for p in ranked[:STACK.most] if p.weight > best - STACK.behind]
    return StackTrack(piles=tuple(kept), looked_s=t_s, plain=look.there >= STACK.clearly[1])


def _after(pile: Pile, look: StackLook, share: float, t_s: float, noise: float) -> Iterator[Pile]:
    """What a hypothesis may have become by a look: unchanged, knocked, or higher by a block."""
    there = max(-STACK.there, min(STACK.there, look.there))
    none = max(log_sigma(-there), -STACK.misread)
    some = max(log_sigma(there), -STACK.misread)
    top: Point3 = (*look.top, look.yaw)
    clear = min(max((look.there - STACK.clearly[0]) / (STACK.clearly[1] - STACK.clearly[0]), 0.0), 1.0)
    noise = (clear * noise + (1.0 - clear) * STACK.partly) / math.sqrt(share)
    seen: Point3 = tuple((noise * v) ** 2 for v in STACK.look)  # type: ignore[assignment]
    if pile.height == 0:
        yield replace(pile, weight=pile.weight + share * none)
        if look.there > 0.0:
            yield Pile(height=1, weight=pile.weight - STACK.adds + share * some, mean=top, var=seen,
                       came_s=(*pile.came_s, t_s), tone=_alike(None, look.tone)[0])
        return
    if look.there < 0.0:  # its top was not found: covered, if it is there
        yield replace(pile, weight=pile.weight + share * some)
        return
    kept, alike = _alike(pile.tone, look.tone)
    fresh, _ = _alike(None, look.tone)
    alike, other = share * alike, share * _another(pile.tone, look.tone)
    if pile.var is None:
        yield replace(pile, weight=pile.weight + share * some + alike, mean=top, var=seen, tone=kept)
    else:
        pile = replace(pile, var=tuple(v + d**2 for v, d in zip(pile.var, STACK.drifts, strict=True)))  # type: ignore[arg-type]
        yield from _same(replace(pile, tone=kept), top, seen, share * some + alike, share)
    raised = top if pile.var is None else (pile.mean[0] + look.floor[0], pile.mean[1] + look.floor[1], pile.mean[2])
    var = tuple(v + w**2 for v, w in zip(pile.var or (0.0, 0.0, 0.0), STACK.added, strict=True))
    fit = _density(top, raised, tuple(v + s for v, s in zip(var, seen, strict=True)))
    against = STACK.adds + STACK.hasty * bool(pile.came_s and t_s - pile.came_s[-1] < STACK.turn_s)
    yield Pile(height=pile.height + 1, weight=pile.weight - against + share * (some + fit) + other, mean=top, var=seen,
               came_s=(*pile.came_s, t_s), tone=fresh)


def _alike(known: tuple[float, float] | None, seen: float | None) -> tuple[tuple[float, float] | None, float]:
    """The tone of a block (mean and variance) after a look at it, and the look's log-likelihood. A shadow that passes
    changes neither much."""
    if seen is None:
        return known, 0.0
    if known is None:
        return (seen, STACK.tone**2), 0.0
    mean, var, off = known[0], known[1] + STACK.tone_drifts**2, seen - known[0]
    total = var + STACK.tone**2
    said, shaded = _mixed(off, total)
    gain = (1.0 - shaded) * var / total
    return (mean + gain * off, var * (1.0 - gain)), said


def _another(known: tuple[float, float] | None, seen: float | None) -> float:
    """The log-likelihood of a tone if it is that of another block than before."""
    return 0.0 if seen is None or known is None else _mixed(seen - known[0], 2.0 * STACK.tones**2 + STACK.tone**2)[0]


def _mixed(off: float, var: float) -> tuple[float, float]:
    """The log-density of a tone that differs by so much, where shadows are on some looks, and the probability that one
    is on this."""
    plain = (1.0 - STACK.shadows) * math.exp(-0.5 * off * off / var) / math.sqrt(2 * math.pi * var)
    shaded = STACK.shadows / STACK.shadow
    return math.log(plain + shaded), shaded / (plain + shaded)


def _same(pile: Pile, top: Point3, seen: Point3, told: float, share: float) -> Iterator[Pile]:
    """A pile of the same height after a look that shows its top: as it was, knocked, or misread."""
    assert pile.var is not None
    total = tuple(v + s for v, s in zip(pile.var, seen, strict=True))
    fit, wrong = _density(top, pile.mean, total), STACK.anywhere - STACK.misread
    if fit >= wrong:
        gain = [v / s for v, s in zip(pile.var, total, strict=True)]
        off = _off(top, pile.mean)
        mean = tuple(m + g * d for m, g, d in zip(pile.mean, gain, off, strict=True))
        var = tuple(v * (1.0 - g) for v, g in zip(pile.var, gain, strict=True))
        yield replace(pile, weight=pile.weight + told + share * fit, mean=mean, var=var)  # type: ignore[arg-type]
    else:
        yield replace(pile, weight=pile.weight + told + share * wrong)
    moved = tuple(t + k**2 for t, k in zip(total, STACK.knocked, strict=True))
    yield replace(pile, weight=pile.weight + told - STACK.knocks + share * _density(top, pile.mean, moved), mean=top,
                  var=seen)


def _off(top: Point3, mean: Point3) -> Point3:
    """The difference of two tops; a square turned by a right angle is the same."""
    turn = (top[2] - mean[2] + math.pi / 4) % (math.pi / 2) - math.pi / 4
    return top[0] - mean[0], top[1] - mean[1], turn


def _density(top: Point3, mean: Point3, var: Sequence[float]) -> float:
    return sum(-0.5 * d * d / v - 0.5 * math.log(2 * math.pi * v)
               for d, v in zip(_off(top, mean), var, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Way:
    """A turn in which a block may have been added: counted back from the newest (0), the event, its log-weight, and
    whether somebody who vanished may have been taken by it."""

    group: LoggedTurn
    back: int
    event: Event
    weight: float
    takes: bool = False


@dataclass(slots=True)
class StackMoves:
    """Counts the blocks of each pile, and says in which turn one was added."""

    steps: Steps
    tracks: dict[tuple[str, Square], StackTrack] = field(default_factory=dict)
    _said: Counter[Square] = field(default_factory=Counter)
    _settled: dict[tuple[str, Square], int] = field(default_factory=dict)  # how often people have said something of it
    _moved: deque[float] = field(default_factory=lambda: deque(maxlen=400))  # tiles, between successive looks
    _tops: dict[tuple[str, Square], tuple[float, float]] = field(default_factory=dict)  # of the last clear looks
    _over: dict[tuple[str, Square], int] = field(default_factory=dict)  # blocks that are none, as people say
    _bare: set[str] = field(default_factory=set)  # kinds of which an empty place was seen: its print is no pile

    def hear(self, entries: Sequence[LogEntry]) -> None:
        """Take notice of what people say in the log."""
        self._said = _said(entries)

    def look(self, look: TableLook, state: GameState) -> None:
        """Add a look that is aligned with the game, whose state is ``state``."""
        for stack in state.box.stacks:
            heights = stack.heights(state)
            closed = {f.at for f in state.standing.values() if f.feature == stack.top}
            for at, square in look.squares.items():
                seen = square.stacks.get(stack.name)
                if seen is None or square.seen < LIMITS.seen_least:
                    continue
                if seen.there < -STACK.there:
                    self._bare.add(stack.name)
                key, said = (stack.name, at), self._said[at]
                if at in closed:  # a figure covers its top, and no block may be added: as it was, once it is uncovered
                    if key in self.tracks:
                        self.tracks[key] = self.tracks[key].settled(heights.get(at, 0))
                    self._over.pop(key, None)
                    continue
                track = self.tracks.get(key, began(heights.get(at, 0)))
                if said != self._settled.get(key, 0):  # what people say of it is so
                    self._over[key] = max(0, track.height - heights.get(at, 0))
                    track = replace(track, piles=track.piles[:1])
                self._settled[key] = said
                track = track.at_least(heights.get(at, 0) + self._over.get(key, 0))
                self.tracks[key] = looked_at(track, seen, look.t_s, self._noise(key, seen))

    def _noise(self, key: tuple[str, Square], seen: StackLook) -> float:
        """The looks' noise at this table relative to the usual one: few tops move between two looks at them."""
        if seen.there >= sum(STACK.clearly) / 2:
            last = self._tops.get(key)
            self._tops[key] = seen.top
            if last is not None:
                self._moved += [abs(a - b) for a, b in zip(seen.top, last, strict=True)]
        if len(self._moved) < STACK.compared:
            return 1.0
        deviation = _NORMAL * median(self._moved) / math.sqrt(2.0)
        return min(max(deviation / STACK.look[0], STACK.finest), STACK.coarsest)

    def decide(self, belief: TableBelief, log: LoggedGame, states: Sequence[GameState], colours: Mapping[str, int],
               now: Moment) -> tuple[list[Decision], list[Doubt]]:
        """The blocks to report, and those to ask about. ``states`` are the states after each event of the log, preceded
        by the initial one."""
        told: list[Decision] = []
        doubts: list[Doubt] = []
        fresh = [laid.since_s for at, laid in belief.lying().items()
                 if at not in states[-1].tiles and laid.presence > 0.0]
        gone = list(_vanished(belief, self.steps.closed(states[-1]), colours)) if self.tracks else []
        for stack in states[-1].box.stacks:
            heights = stack.heights(states[-1])
            for (name, at), track in self.tracks.items():
                known = heights.get(at, 0) + self._over.get((name, at), 0)
                if name != stack.name or at not in states[-1].tiles or track.above(known)[1] <= -STACK.takes:
                    continue
                ways_at = partial(self._ways, stack, at, belief=belief, log=log, states=states, gone=gone)
                found = self._likeliest(track, known, ways_at)
                if found is None:
                    continue
                came_s, margin, ways = found
                if not track.plain and any(f.came_s > came_s - LIMITS.notice_s for f in _on_top(belief, at, track)):
                    continue  # it is the figure on top that looks different
                if self._said[at] != self._settled.get((name, at), 0):
                    continue  # people have said something since the last look
                if now.t_s - came_s < LIMITS.notice_s and not now.last:
                    continue
                if any(since_s <= came_s for since_s in fresh) and not now.last:
                    continue  # it may belong to the turn of a tile that is not in the log yet
                surely = known > 0 or name in self._bare
                made = self._decision(at, margin if surely else min(margin, 0.5 * LIMITS.agreed), ways, log, now)
                if made is not None and made.asked:
                    if now.t_s - came_s < LIMITS.ask_after_s and not now.last:
                        continue  # another look may settle it
                    doubts.append(Doubt(decision=made, gain=1.0, due=True))
                elif made is not None:
                    told.append(made)
        return told, doubts

    def tops(self) -> dict[Square, tuple[float, float]]:
        """Where the tops of piles appear, in tiles of the board."""
        return {at: (at[0] + track.piles[0].mean[0], at[1] + track.piles[0].mean[1])
                for (_, at), track in self.tracks.items() if track.piles[0].var is not None}

    @staticmethod
    def _likeliest(track: StackTrack, known: int, ways: Callable[[float], Iterator[_Way]],
                   ) -> tuple[float, float, list[_Way]] | None:
        """The likeliest hypothesis that is higher than ``known``, by what was seen and by the turns that could have
        added its blocks: when the first of them came, by how many nats the hypothesis is likelier than none without
        that block's turn, and the turns."""
        by_time: dict[float, list[_Way]] = {}
        best: tuple[float, float, float, list[_Way]] | None = None
        other = max((p.weight for p in track.piles if p.height <= known), default=-LIMITS.floor)
        for pile in track.piles:
            came = pile.came_s[known - pile.height:] if pile.height > known else ()
            for came_s in came:
                if came_s not in by_time:
                    by_time[came_s] = list(ways(came_s))
            if not came or not all(by_time[came_s] for came_s in came):
                continue
            first, *later = [max(w.weight + STACK.takes * w.takes for w in by_time[came_s]) for came_s in came]
            margin = pile.weight - other + sum(later)
            if best is None or margin + first > best[0]:
                best = margin + first, came[0], margin, by_time[came[0]]
        return None if best is None else best[1:]

    @staticmethod
    def _decision(at: Square, margin: float, ways: list[_Way], log: LoggedGame, now: Moment) -> Decision | None:
        ways.sort(key=lambda w: (-w.weight, w.back))
        if not ways:
            return None
        best = ways[0]
        margin += STACK.takes * best.takes
        likely = margin + best.weight
        over = best.group is not log.groups[-1] or now.last
        if likely <= (-STACK.doubtful if over and best.weight > -1.0 else 0.0):
            return None  # a block that no turn could have added is likelier none
        lead = min(margin, best.weight - ways[1].weight if len(ways) > 1 else LIMITS.floor)
        asked = lead < LIMITS.agreed or best.weight < -STACK.hardly
        sure = probability(min(lead, best.weight + 2 * STACK.hardly))
        return Decision(events=(best.event,), confidence=sure, asked=asked,
                        alternatives=(((best.event,), sure), ((), 1.0 - sure)), at=at, frame=now.frame,
                        after=None if best.back == 0 else best.group.last_seq)

    def _ways(self, stack: Stack, at: Square, came_s: float, belief: TableBelief, log: LoggedGame,
              states: Sequence[GameState], gone: Sequence[tuple[StandingFigure, float]]) -> Iterator[_Way]:
        """The turns in which the block may have been added. ``gone`` are figures that vanished, and when."""
        near = [f for f, gone_s in gone if abs(gone_s - came_s) < STACK.with_s]
        end = len(states) - 1
        back = 0
        for n in range(len(log.groups) - 1, max(-1, len(log.groups) - 1 - LIMITS.open_turns), -1):
            turn, last = log.groups[n], end
            end -= len(turn.lines)
            if turn.tile is None or at not in states[last].tiles:
                continue
            laid = states[end + turn.lines.index(turn.tile) + 1]
            event = self._raises(stack, at, laid)
            after = self.steps.after(states[last], event) if event is not None else None
            if event is None or after is None:
                continue
            soon = _since_s(belief, turn) > came_s
            weight = -cost(states[last], after) - STACK.too_soon * soon - STACK.earlier * back
            back += not soon
            takes = bool(near) and any(isinstance(a, FigureTaken) and names(a, f) for q in after.box.questions(after)
                                       for a in q.answers for f in near)
            yield _Way(group=turn, back=len(log.groups) - 1 - n, event=event, weight=weight, takes=takes)

    def _raises(self, stack: Stack, at: Square, state: GameState) -> Event | None:
        """The move by which the player of a turn may add a block there."""
        height = stack.heights(state).get(at, 0)
        for choice in state.box.moves(state):
            for event in choice.answers:
                if getattr(event, "at", None) == at:
                    after = self.steps.after(state, event)
                    if after is not None and stack.heights(after).get(at, 0) == height + 1:
                        return event
        return None


def _on_top(belief: TableBelief, at: Square, track: StackTrack) -> list[FigureTrack]:
    """The figures that appear to stand on a pile."""
    top = at[0] + track.piles[0].mean[0], at[1] + track.piles[0].mean[1]
    return [f for f in belief.figures.values() if f.real > 0.0 and f.present and math.dist(f.foot, top) < STACK.on_top]


def _vanished(belief: TableBelief, closed: GameState,
              colours: Mapping[str, int]) -> Iterator[tuple[StandingFigure, float]]:
    """The figures that should stand and are missing, and since when."""
    for f in closed.standing.values():
        mine = [t for t in belief.by_square.get(f.at, ()) if t.real > 0 and colours.get(t.paint) == f.player]
        if mine and all(t.missed >= TAKEN for t in mine):
            last = max(mine, key=lambda t: t.seen_s)
            if last.missed_s is not None:
                yield f, last.missed_s


def _said(entries: Sequence[LogEntry]) -> Counter[Square]:
    """By square how often people have said something of what happened there, other than of tiles and figures."""
    events: dict[int, object] = {}
    said: Counter[Square] = Counter()
    for entry in entries:
        body: object = entry.body
        about = getattr(body, "body", body)
        before = events.get(getattr(body, "seq", -1))
        about = about if isinstance(about, Event) else before
        events[entry.seq] = about
        if isinstance(body, Amended):
            events[body.seq] = about  # what it says from now on
        if entry.source == "hand":
            said.update({at for e in (before, about) if (at := getattr(e, "at", None)) is not None
                         and not isinstance(e, TilePlaced | FigurePlaced | FigureTaken)})
    return said


def _since_s(belief: TableBelief, turn: LoggedTurn) -> float:
    """Since when the turn's tile has been seen; infinite if it is not seen."""
    track = belief.squares.get(turn.at) if turn.at is not None else None
    return math.inf if track is None or track.laid is None else track.laid.since_s
