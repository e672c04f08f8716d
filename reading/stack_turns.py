"""The turns in which blocks may have been added to a pile."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from reading.belief import TableBelief
from reading.layings import Steps
from reading.limits import LIMITS
from reading.logged_game import LoggedGame, LoggedTurn
from reading.removals import names
from reading.stack_limits import STACK
from reading.stack_track import StackTrack
from scoring.contributions import Stack
from scoring.events import Event, FigureTaken
from scoring.state import GameState, StandingFigure
from scoring.tiles import Square
from vision.looks import probability

Gone = tuple[StandingFigure, float, float]  # a figure that vanished, when, and the log-odds that it was one


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """A turn in which a block may have been added: counted back from the newest (0), the event, its log-weight,
    the figures that vanished and may have been taken by it, or by a later one that reached them only because of it,
    with how many nats each speaks for it, and by how many nats a block is ``likelier`` in it than between any two looks
    because it is over and nothing else was done in it."""

    group: LoggedTurn
    back: int
    event: Event
    weight: float
    takes: Mapping[int, float] = field(default_factory=dict)
    likelier: float = 0.0

    @property
    def betrayed(self) -> float:
        """By how many nats who vanished speaks for it: the likeliest of them, since a block takes one."""
        return max(self.takes.values(), default=0.0)

    @property
    def likely(self) -> float:
        return self.weight + self.betrayed

    def after(self, later: Way) -> Way:
        """The same block if a later one was added in that turn: a turn adds one."""
        return replace(self, weight=self.weight - STACK.too_soon) if self.back <= later.back else self


def turns_of(blocks: Sequence[Sequence[Way]]) -> list[Way]:
    """The likeliest turns of blocks, the oldest first, each in a turn of its own that follows that of the one before
    it; nobody is taken twice. If there are too few turns, each block's likeliest one."""
    best: list[Way] = []

    def turns(later: list[Way], taken: frozenset[int]) -> None:
        nonlocal best
        if len(later) == len(blocks):
            best = max(best, later, key=lambda ways: sum(w.likely for w in ways) if ways else -math.inf)
            return
        for way in blocks[-1 - len(later)]:
            if not later or way.back > later[0].back:
                free = sorted(((nats, i) for i, nats in way.takes.items() if i not in taken), reverse=True)
                for whom in [{i: nats} for nats, i in free[:len(blocks)]] or [{}]:  # more are never needed
                    turns([replace(way, takes=whom), *later], taken.union(whom))

    turns([], frozenset())
    return best or [max(ways, key=lambda w: w.likely) for ways in blocks]


def betrays(real: float) -> float:
    """By how many nats somebody who vanished speaks for a block that may have taken him, if he was a figure rather than
    print with these log-odds: print goes for no reason."""
    return -math.log1p(-probability(real) * -math.expm1(-STACK.takes))


def not_logged(came_s: Sequence[float], count: int, logged: Sequence[tuple[float, float]]) -> tuple[float, ...]:
    """When the ``count`` blocks came that the log does not have: those that came in none of the ``logged`` turns (from
    when to when, the newest first), else the newest. What was first seen as a turn ended, rather than within it, may
    be the next turn's."""
    rest = list(came_s)
    for from_s, to_s in logged:
        own = [came for came in rest if from_s <= came <= to_s]
        if own:
            rest.remove(max((came for came in own if came <= to_s - LIMITS.notice_s), default=max(own)))
    return tuple((rest if len(rest) >= count else came_s)[-count:]) if count > 0 else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Raised:
    """A hypothesis of a pile that is higher than is known: when the first block that is not known came (``came_s``), by
    how many nats the hypothesis is likelier than none without that block's turn (``margin``), by how many ``likelier``
    since nothing else was done in the turns of the others, and the ``ways`` in which that block may have come.
    ``rival``: by how many nats the likeliest of those hypotheses that have it in another turn is likelier than none."""

    came_s: float
    margin: float
    likelier: float
    ways: list[Way]
    rival: float = -LIMITS.floor


def likeliest(track: StackTrack, known: int, ways: Callable[[float], Iterator[Way]],
              logged: Sequence[tuple[float, float]], lost: bool,
              shadow: Callable[[Sequence[float], Sequence[float]], float] = lambda *_: 0.0) -> Raised | None:
    """The likeliest hypothesis that is higher than ``known``, by what was seen and by the turns that could have
    added its blocks. ``logged`` are when the newest turns lasted in which the log has a block there, the newest first;
    ``shadow`` has the log-odds of blocks that looks at those times showed first, among all that have come, from the
    shadow of the pile."""
    by_time: dict[float, list[Way]] = {}
    found: list[tuple[float, LoggedTurn, Raised]] = []  # by how likely each is, the turn of its first block
    other = max((p.weight for p in track.piles if p.height <= known), default=-LIMITS.floor)
    for pile, unseen in (*((p, False) for p in track.piles), *((p, True) for p in track.unseen())):
        came = not_logged(pile.came_s, pile.height - known, logged)
        for came_s in came:
            if came_s not in by_time:
                by_time[came_s] = list(ways(came_s))
        if not came or not all(by_time[came_s] for came_s in came):
            continue
        if unseen and not lost and not any(w.takes for w in by_time[came[-1]]):
            continue  # the next look will tell
        first, *later = turns_of([by_time[came_s] for came_s in came])
        if unseen and not first.takes and first.back < LIMITS.patience_turns:
            continue  # rather somebody stands on it (`covered_tops`)
        margin = pile.weight - other + sum(w.likely for w in later) + shadow(came, pile.came_s)
        firsts = by_time[came[0]] if not later else [
            first if w.group is first.group else w.after(later[0]) for w in by_time[came[0]]]
        found.append((margin + first.likely, first.group, Raised(
            came_s=came[0], margin=margin, likelier=sum(w.likelier for w in later), ways=firsts)))
    if not found:
        return None
    _, turn, best = max(found, key=lambda f: f[0])
    return replace(best, rival=max((likely for likely, at, _ in found if at is not turn), default=-LIMITS.floor))


def raises(stack: Stack, at: Square, state: GameState, steps: Steps) -> tuple[Event | None, list[Square]]:
    """The move by which the player of a turn may add a block there, and to which other places one may be added."""
    height = stack.heights(state).get(at, 0)
    for choice in state.box.moves(state):
        for event in choice.answers:
            if getattr(event, "at", None) == at:
                after = steps.after(state, event)
                if after is not None and stack.heights(after).get(at, 0) == height + 1:
                    return event, [to for e in choice.answers if (to := getattr(e, "at", at)) != at]
    return None, []


def may_take(state: GameState, f: StandingFigure) -> bool:
    """Whether the block added last may have taken a figure."""
    return any(isinstance(a, FigureTaken) and names(a, f) for q in state.box.questions(state) for a in q.answers)


def taken_later(stack: Stack, at: Square, n: int, gone: Sequence[Gone], belief: TableBelief, log: LoggedGame,
                states: Sequence[GameState], steps: Steps) -> dict[int, float]:
    """Who vanished when the log had a block added there after turn ``n``, and may have been taken by it only if the
    pile was one block higher: with how many nats each speaks for a block in that turn."""
    out = dict[int, float]()
    for m in range(n + 1, len(log.groups)):
        turn, first = log.groups[m], log.span(m)[0]
        from_s, to_s = turn_s(belief, log, m)
        near = [(f, real) for f, gone_s, real in gone if from_s <= gone_s < to_s]
        for k, line in enumerate(turn.lines, first) if near else ():
            if at in stack.grown(states[k], states[k + 1]):
                higher = steps.after(stack.raised(states[k], at), line.event)
                out |= {f.id: betrays(real) for f, real in near
                        if higher is not None and may_take(higher, f) and not may_take(states[k + 1], f)}
    return out


def came_before(came_s: float, turn: LoggedTurn, belief: TableBelief) -> bool:
    """Whether a block that a look at ``came_s`` showed first was there before the tile of a turn: the tile was not seen
    yet, nor may it have lain there unseen for as long as it takes to lay it and to add a block."""
    return belief.since_s(turn.at) > came_s and not -math.inf < belief.begun_s(turn.at) <= came_s - STACK.turn_s


def unwatched_s(track: StackTrack, came_s: float, belief: TableBelief) -> float:
    """Since when a pile could not be looked at before the look that showed a block first: something moved over it, or
    there were no frames. That look's time if nothing prevented it."""
    gap_s = belief.gap_before_s(track.visit(came_s)[0], came_s)
    return min(track.moving_s(came_s), came_s if gap_s is None else gap_s)


def turn_s(belief: TableBelief, log: LoggedGame, n: int) -> tuple[float, float]:
    """From when to when something that was seen first may have happened in a turn of the log."""
    next_s = belief.since_s(log.groups[n + 1].at) if n + 1 < len(log.groups) else math.inf
    return belief.since_s(log.groups[n].at), next_s + LIMITS.notice_s
