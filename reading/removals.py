"""Figures that left the board although nothing was scored: reported as the move by which the rules send them home."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from reading.belief import TableBelief
from reading.figure_track import FigureTrack
from reading.layings import Steps
from reading.limits import LIMITS
from reading.logged_game import LoggedGame, LoggedTurn
from reading.policy import Decision, Moment
from reading.unlogged import unlogged_since
from scoring.events import Event, FigureTaken, TurnEnded
from scoring.state import GameState, StandingFigure
from scoring.tiles import Square

_NEWEST = 6  # newest turns in which such a move may have been missed: tiles that nobody touches are seldom looked at
# Weight of looks that missed a figure after which it is taken to be gone, where a move may have taken it: less than
# `Limits.gone`, since the rules say that it may be. Two looks 1.2 s apart, as there are after every touch, weigh 1.3.
TAKEN = 1.2
_TWICE_S = 1.0  # between two looks that miss it, at least: a hand that passes is not there twice
_SURE = 0.9  # probability of the move if the rules allow no other
_SCORED = 0.5  # that a figure which scored in the turn was taken before that


def removals(belief: TableBelief, log: LoggedGame, states: Sequence[GameState], steps: Steps,
             colours: Mapping[str, int], now: Moment) -> Iterator[Decision]:
    """The move that sent home a figure which stands according to the log (`_standing`) and is seen to be gone. Where
    several are gone, where one may have been taken in either of two turns, and where one would have gone home anyway
    since it scored in that turn, the move is asked about. One that only a block in doubt allows waits until people have
    said whether there is one. At the end it is asked about, too, and so is one of a figure that has just gone: people
    may be clearing the table. ``states`` are the states after each event of the log, preceded by the initial one."""
    found: list[tuple[int, float, list[FigureTaken], bool]] = []  # turn, likelihood, moves, whether in doubt
    if not (turns := list(_open(log, states))):
        return
    fresh_s = _awaited_s(belief, log, states[-1], now)
    standing = list(_standing(belief, log, states, steps, fresh_s))
    possible = Counter[tuple[int, str, Square, str, str]]()  # in how many turns each may have been taken
    for n, last, answers in turns:
        surely = _without_doubts(log, states, steps, last)
        doubtful = [] if surely is None else [
            a for a in answers if not any(a in q.answers for q in surely.box.questions(surely))]
        if not now.last:
            answers = [a for a in answers if a not in doubtful]
        missing = partial(_missing, turns=log.groups[n:n + 3], fresh_s=fresh_s, belief=belief, colours=colours)
        possible.update({_whom(a) for a in missing(answers, standing, now=replace(now, last=True))})
        sure, may = _SURE, missing(answers, standing, now=now)
        stood = [(f, math.inf) for f in states[last].standing.values()]
        if not may:
            sure, may = _SCORED, missing(_scored(states[last], answers, steps), stood, now=now)
        if may:
            hasty = now.last and not missing(may[:1], stood, now=replace(now, last=False))
            found.append((n, sure, may, may[0] in doubtful or hasty))
    for n, sure, may, doubt in found[:1]:
        each = sure / len(may) / max(1, possible[_whom(may[0])])
        options: tuple[tuple[tuple[Event, ...], float], ...] = (
            *(((a,), each) for a in may), ((), 1.0 - each * len(may)))
        yield Decision(events=(may[0],), confidence=each, asked=each < _SURE or doubt, alternatives=options,
                       at=may[0].at, frame=now.frame,
                       after=_last_seq(log, n))


def takeable(belief: TableBelief, log: LoggedGame, states: Sequence[GameState], steps: Steps,
             colours: Mapping[str, int], now: Moment) -> Iterator[StandingFigure]:
    """The figures that are seen to be gone while they stand according to the log (`_standing`), and may have been taken
    by a move that it has: that they are missing is explained, although nobody was told to be taken yet."""
    if not (turns := list(_open(log, states))):
        return
    at_once, fresh_s = replace(now, last=True), _awaited_s(belief, log, states[-1], now)
    standing = list(_standing(belief, log, states, steps, fresh_s))
    for n, _, answers in turns:
        for f, until_s in standing:
            if any(names(a, f) for a in answers) and _left(
                    f, until_s, log.groups[n:n + 3], fresh_s, belief, colours, at_once):
                yield f


def vanished(belief: TableBelief, log: LoggedGame, states: Sequence[GameState], steps: Steps,
             colours: Mapping[str, int], fresh_s: float) -> Iterator[tuple[StandingFigure, float, float]]:
    """The figures that are seen to be gone while they stand according to the log (`_standing`), since when, and the
    log-odds that they were figures at all."""
    for f, until_s in _standing(belief, log, states, steps, fresh_s):
        gone = _gone(f, until_s, belief, colours)
        if gone is not None:
            yield f, gone[1], max(t.real for t in _tracks(f, belief, colours))


def _standing(belief: TableBelief, log: LoggedGame, states: Sequence[GameState], steps: Steps,
              fresh_s: float) -> Iterator[tuple[StandingFigure, float]]:
    """The figures that stand according to the log, and those that scored in its newest turns, each with the time until
    which nothing sends it home but a move: when the tile may have been laid by which it scored, or a tile that came at
    ``fresh_s`` and is not in the log yet. Nobody knows when one that people entered was laid."""
    for f in steps.closed(states[-1]).standing.values():
        yield f, fresh_s
    for n in log.newest(_NEWEST):
        turn, last = log.groups[n], _end(log, n)
        if turn.tile is not None and not turn.tile.entered:
            left, begun_s = steps.closed(states[last]).standing, belief.begun_s(turn.at)
            yield from ((f, begun_s) for number, f in states[last].standing.items() if number not in left)


def _end(log: LoggedGame, n: int) -> int:
    """The number of the state after the moves of a turn, before people said that it was over."""
    first, last = log.span(n)
    return next((k for k, line in enumerate(log.groups[n].lines, first) if isinstance(line.event, TurnEnded)), last)


def _last_seq(log: LoggedGame, n: int) -> int | None:
    """The number of the entry after which a further move of a turn belongs; None at the end of the log."""
    turn, (first, last) = log.groups[n], log.span(n)
    if _end(log, n) < last:
        return turn.lines[_end(log, n) - first - 1].seq
    return None if n == len(log.groups) - 1 else turn.last_seq


def _tracks(f: StandingFigure, belief: TableBelief, colours: Mapping[str, int]) -> list[FigureTrack]:
    """What may have been that figure."""
    return [t for t in belief.by_square.get(f.at, ()) if t.real > 0 and colours.get(t.paint) == f.player]


def _gone(f: StandingFigure, until_s: float, belief: TableBelief,
          colours: Mapping[str, int]) -> tuple[FigureTrack, float] | None:
    """What was last seen of a figure that looks miss, and since when; None if they do not, or did not for some seconds
    before ``until_s``."""
    mine = _tracks(f, belief, colours)
    if not mine or any(t.missed < TAKEN for t in mine):
        return None
    left = max(mine, key=lambda t: t.seen_s)
    if left.missed_s is None:
        return None
    if until_s < math.inf:
        before = [(t_s, weight) for t_s, weight in left.misses if t_s < until_s]
        if sum(weight for _, weight in before) < TAKEN or before[-1][0] - before[0][0] < _TWICE_S \
                or until_s - before[0][0] < LIMITS.notice_s:
            return None
    return left, left.missed_s


def _open(log: LoggedGame, states: Sequence[GameState]) -> Iterator[tuple[int, int, list[FigureTaken]]]:
    """The turns in which figures may have been taken that the log does not have: each with the number of the state
    after its moves, and the figures. The newest ones, and those with a block that people were asked about."""
    if not any(issubclass(event, FigureTaken) for event in states[-1].box.handlers):
        return
    for n in log.newest(len(log.groups)):
        turn, last = log.groups[n], _end(log, n)
        if n < len(log.groups) - _NEWEST and not _asked_of(log, states, n):
            continue
        if turn.tile is None or any(isinstance(line.event, FigureTaken) for line in turn.rest):
            continue
        answers = [a for q in states[last].box.questions(states[last]) if (turn.tile.seq, q.code) not in log.nothing
                   for a in q.answers if isinstance(a, FigureTaken) and a not in log.denied]
        if answers:
            yield n, last, answers


def _awaited_s(belief: TableBelief, log: LoggedGame, state: GameState, now: Moment) -> float:
    """Since when a tile lies there that the log may get yet (`unlogged_since`): none any more at the end."""
    return math.inf if now.last else unlogged_since(belief, log, state, now)


def _without_doubts(log: LoggedGame, states: Sequence[GameState], steps: Steps, last: int) -> GameState | None:
    """The state after so many events of the log, had no block been added that people are asked about; None if there is
    none."""
    doubtful = {k for k, line in enumerate(log.lines[:last]) if line.asked and _raised(states[k], states[k + 1])}
    if not doubtful:
        return None
    first = min(doubtful)
    state = states[first]
    for k, line in enumerate(log.lines[first:last], first):
        if k not in doubtful:
            state = steps.after(state, line.event) or state
    return state


def _asked_of(log: LoggedGame, states: Sequence[GameState], n: int) -> bool:
    """Whether people are or were asked about a block of that turn."""
    return any((line.asked or line.pinned and not line.entered) and _raised(states[k], states[k + 1])
               for k, line in enumerate(log.groups[n].lines, log.span(n)[0]))


def _raised(before: GameState, after: GameState) -> bool:
    """Whether an event has added a block to a pile."""
    return any(stack.grown(before, after) for stack in after.box.stacks)


def _missing(answers: Iterable[FigureTaken], standing: Iterable[tuple[StandingFigure, float]],
             turns: Sequence[LoggedTurn], fresh_s: float, belief: TableBelief, colours: Mapping[str, int],
             now: Moment) -> list[FigureTaken]:
    """The answers about those of the ``standing`` figures that have left in the first of the ``turns`` (`_left`)."""
    return [a for a in answers if any(
        names(a, f) and _left(f, until_s, turns, fresh_s, belief, colours, now) for f, until_s in standing)]


def _scored(state: GameState, answers: Sequence[FigureTaken], steps: Steps) -> Iterator[FigureTaken]:
    """The answers about other players' figures that go home at the end of the turn."""
    left = steps.closed(state).standing
    for number, f in state.standing.items():
        if number not in left and f.player != state.player:
            yield from (a for a in answers if names(a, f))


def names(event: FigureTaken, f: StandingFigure) -> bool:
    return _whom(event) == (f.player, f.figure, f.at, f.feature, f.where)


def _whom(event: FigureTaken) -> tuple[int, str, Square, str, str]:
    return event.owner, event.figure, event.at, event.feature, event.where


def _left(f: StandingFigure, until_s: float, turns: Sequence[LoggedTurn], fresh_s: float, belief: TableBelief,
          colours: Mapping[str, int], now: Moment) -> bool:
    """Whether a figure is gone (`_gone`) since after the first turn's tile appeared and no later than the tile of the
    next of the ``turns``, or one that came at ``fresh_s`` and is not in the log yet. Tiles that nobody touches are
    looked at seldom, so its last sighting may be much older. If it may have left in the next turn, it is waited for
    whether somebody could take it then."""
    since_s, next_s = ([belief.since_s(turn.at) for turn in turns] + [fresh_s])[:2]
    gone = _gone(f, until_s, belief, colours)
    if gone is None or gone[1] < since_s or gone[0].seen_s > next_s:
        return False
    if now.last:
        return True
    left, missed_s = gone
    missing_s = now.t_s - missed_s
    if missed_s > next_s and missing_s < LIMITS.ask_after_s:
        return False
    return min(left.looked_s - missed_s + LIMITS.notice_s - _TWICE_S, missing_s) >= LIMITS.notice_s
