"""Blocks, figures and neutral pieces: a turn that allows any of them has one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from reading.belief import TableBelief
from reading.layings import Steps, cost
from reading.limits import LIMITS
from reading.logged_game import LoggedGame
from reading.policy import Decision, Doubt, Moment
from reading.sightings import NEUTRAL, Sightings, stands_on
from scoring.events import Event, FigurePlaced
from scoring.state import GameState
from vision.looks import probability


def without_figures(raised: Sequence[Decision], doubts: Sequence[Doubt], made: Sequence[Decision], log: LoggedGame,
                    states: Sequence[GameState], steps: Steps) -> tuple[list[Decision], tuple[Decision, ...]]:
    """The blocks to report now, and what else is (``made``), of which ``doubts`` are about blocks: none in a turn with
    a figure on its tile that is reported at the same time, unless the block is by far the likelier. Once the log has
    the figure, the rules say what the block is worth. ``states`` are the states after each event of the log, preceded
    by the initial one."""
    figures = [(e, d.confidence) for d in made for e in d.events if isinstance(e, FigurePlaced)]

    def apart(block: Decision) -> bool:
        n = _turn(block, log)
        return n < 0 or not any(
            log.groups[n].at == e.at and _nats(block.confidence) - _nats(sure) < LIMITS.agreed
            and _excludes(block, [e], n, log, states, steps) for e, sure in figures)

    asked = [d.decision for d in doubts]
    return [d for d in raised if apart(d)], tuple(d for d in made if not any(d is a for a in asked) or apart(d))


def either(raised: Sequence[Decision], seen: Mapping[str, Sightings], belief: TableBelief, log: LoggedGame,
           states: Sequence[GameState], steps: Steps, now: Moment, *,
           told: bool = False) -> tuple[list[Decision], list[Doubt]]:
    """The blocks to report, and those to ask about: where a piece is seen (``seen``) to have come in the block's turn
    to where the log does not have it, by a move that the block excludes and that people have not denied. The block
    waits until that was seen for long enough to be no hand, and for the move if that is much likelier, or if this look
    tells one (``told``). ``states`` as in `without_figures`."""
    out, asked = list[Decision](), list[Doubt]()
    for block in raised:
        moves = list(_moves(block, seen, belief, log, states, steps))
        rival, since_s = max(moves, default=(-math.inf, math.inf))
        lead = _nats(block.confidence) - rival
        if lead >= LIMITS.agreed:
            out.append(block)
        elif not told and lead > -LIMITS.agreed and (now.last or now.t_s - since_s >= LIMITS.notice_s):
            options = sorted([(block.events, probability(lead)), ((), probability(-lead))], key=lambda o: -o[1])
            made = replace(block, asked=True, confidence=probability(lead), alternatives=tuple(options))
            asked.append(Doubt(decision=made, gain=1.0, due=True))
    return out, asked


def _moves(made: Decision, seen: Mapping[str, Sightings], belief: TableBelief, log: LoggedGame,
           states: Sequence[GameState], steps: Steps) -> Iterator[tuple[float, float]]:
    """By how many nats looks say that a piece came in the turn of a block, by a move that the block excludes, and since
    when."""
    n = _turn(made, log)
    if n < 0:
        return
    since_s = belief.since_s(log.groups[n].at)
    over_s = belief.since_s(log.groups[n + 1].at) if n + 1 < len(log.groups) else math.inf
    end = states[log.span(n)[1]]
    for piece in end.box.neutrals:
        sights = seen.get(piece.name, {})
        found = stands_on(sights)
        if found is None or found[1] < NEUTRAL.lead or found[0] == piece.at(states[-1]) \
                or not since_s <= sights[found[0]].came_s < over_s:
            continue
        ways = [e for e in piece.ways(end) if (after := steps.after(end, e)) is not None
                and piece.at(after) == found[0] and cost(end, after) == 0.0 and not log.denied_for(e, log.groups[n])]
        if ways and _excludes(made, ways, n, log, states, steps):
            yield found[1], sights[found[0]].came_s


def _turn(made: Decision, log: LoggedGame) -> int:
    """The number of the log's turn to which a decision adds something; -1 if it is an older one."""
    return len(log.groups) - 1 if made.after is None else next(
        (n for n in log.newest(LIMITS.late_turns) if log.groups[n].last_seq == made.after), -1)


def _excludes(block: Decision, ways: Sequence[Event], n: int, log: LoggedGame, states: Sequence[GameState],
              steps: Steps) -> bool:
    """Whether the rules allow none of these events in turn ``n`` once it has the block."""
    after = steps.after(states[log.span(n)[1]], block.events[0])
    return after is not None and all(
        (both := steps.after(after, e)) is None or cost(after, both) > 0.0 for e in ways)


def _nats(confidence: float) -> float:
    return math.log(confidence / max(1.0 - confidence, 1e-12))
