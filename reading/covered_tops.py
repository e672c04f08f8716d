"""Figures on piles that are hardly seen as figures: the top that was plain is not found any more, look after look.

A pile does not get lower, and a hand is gone after a few looks. If a rule let the player of that turn put somebody on
top, that is the likeliest cause, and people are asked. So are they if looks do not say clearly that the top is hidden,
and something a little like a figure has been seen in its place ever since, or if people say that a block that would
explain it was not added.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from reading.belief import TableBelief
from reading.limits import LIMITS
from reading.logged_game import LoggedGame
from reading.policy import Decision, Doubt, Moment
from reading.remote_claims import SURELY
from reading.stack_limits import STACK
from reading.stacks import StackMoves, figures_on_top
from scoring.events import Event, FigurePlaced
from scoring.state import GameState
from scoring.tiles import Square
from vision.looks import probability


def covered_tops(belief: TableBelief, log: LoggedGame, states: Sequence[GameState], piles: StackMoves,
                 answers: Callable[[int, GameState], Sequence[FigurePlaced]], now: Moment) -> Iterator[Doubt]:
    """The questions who stands on such a pile. ``states`` are the states after each event of the log, preceded by the
    initial one; ``answers`` are the placements on older tiles that the rules allow after so many events of the log, in
    that state."""
    state = states[-1]
    for stack in state.box.stacks:
        closed = {f.at for f in state.standing.values() if f.feature == stack.top}
        heights = stack.heights(state)
        for (name, at), track in piles.tracks.items():
            if name != stack.name or at in closed or not heights.get(at):
                continue
            on_top = max((f.real for f in figures_on_top(belief, at, track)), default=0.0)
            no_block = piles.covered.get((name, at))
            lost = track.lost(math.inf if now.last else now.t_s)  # at the end no later look will find it
            if on_top >= SURELY or not (no_block or (lost if on_top else track.hidden >= STACK.hides)):
                continue
            shown_s, since_s = no_block or (track.shown_s, min(track.in_vain_s(math.inf), default=math.inf))
            if now.t_s - since_s < LIMITS.ask_after_s and not now.last:
                continue  # a hand may rest there
            sure = probability(on_top or max(0.0, min(track.hidden - STACK.hides, LIMITS.agreed)))
            made = _decision(at, stack.top, sure, shown_s, since_s, belief, log, states, answers, now)
            if made is not None:
                yield Doubt(decision=made, gain=1.0, due=True)


def _decision(at: Square, top: str, sure: float, shown_s: float, since_s: float, belief: TableBelief, log: LoggedGame,
              states: Sequence[GameState], answers: Callable[[int, GameState], Sequence[FigurePlaced]],
              now: Moment) -> Decision | None:
    """The question, ``sure`` by how probable somebody stands there, in the newest turn that allowed it, of those that
    began before the top was missed and that were not over when it was seen last."""
    over_s = math.inf
    for n in log.newest(LIMITS.late_turns):
        turn, state = log.groups[n], states[log.span(n)[1]]
        next_s, over_s = over_s, belief.since_s(turn.at)
        if turn.tile is None or turn.figures() or over_s > since_s:
            continue
        if next_s < shown_s:
            return None
        weights: dict[Event, float] = {
            e: math.exp(-LIMITS.seldom_piece * (state.box.counts[e.figure] == 1))
            for e in answers(log.span(n)[1], state) if (e.at, e.feature) == (at, top) and not log.denied_for(e, turn)}
        if not weights:
            continue
        ranked = sorted(((e, sure * w / sum(weights.values())) for e, w in weights.items()), key=lambda r: -r[1])
        return Decision(events=(ranked[0][0],), confidence=ranked[0][1], asked=True, at=at, frame=now.frame,
                        alternatives=(*(((e,), p) for e, p in ranked[:3]), ((), 1.0 - sure)),
                        after=None if n == len(log.groups) - 1 else turn.last_seq)
    return None
