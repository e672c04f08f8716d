"""Turns of which no look saw anything: their tile came to sight together with a later turn's, after hands had been over
the table. If a neutral piece was moved in the later turn, nothing shows whether it was moved before, too: people are
asked."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from reading.belief import TableBelief
from reading.limits import LIMITS
from reading.logged_game import LoggedGame
from reading.neutral import moves_of
from reading.policy import Decision, Doubt, Moment
from reading.sightings import Sightings
from scoring.contributions import Neutral
from scoring.events import Event
from scoring.state import GameState
from scoring.tiles import Square

_MOVED = 0.2  # share of the turns in which nothing else was done that moved a piece (chosen)
_MOST = 4  # moves that people are offered


def unwatched(belief: TableBelief, log: LoggedGame, states: Sequence[GameState], seen: Mapping[str, Sightings],
              now: Moment) -> Iterator[Doubt]:
    """Doubts about moves before a move of the log to where the piece is now. ``states`` are the states after each event
    of the log, preceded by the initial one; ``seen`` is where neutral pieces were seen."""
    for n in log.newest(LIMITS.late_turns):
        turn, before = log.groups[n], states[log.span(n)[1]]
        if turn.at is None or not _came_to_sight(belief, turn.at):
            continue
        for neutral in before.box.neutrals:
            if neutral.awaited or not _moved_later(neutral, n, belief, log, states, seen.get(neutral.name, {})):
                continue
            ways = [way for way in neutral.ways(before) if neutral.goes(way) != (neutral.at(before),)]
            if not ways or any(log.denied_in(n, way) for way in ways):
                continue
            each = _MOVED / len(ways)
            options: tuple[tuple[tuple[Event, ...], float], ...] = (
                *(((way,), each) for way in ways[:_MOST]), ((), 1.0 - _MOVED))
            yield Doubt(gain=1.0, due=True, decision=Decision(
                events=(ways[0],), confidence=each, asked=True, alternatives=options, at=turn.at,
                frame=now.frame, after=turn.last_seq))


def _came_to_sight(belief: TableBelief, at: Square) -> bool:
    """Whether its square was seen bare before: else the tile may have lain there when the watching began."""
    return belief.bare_s(at) > -math.inf


def _moved_later(neutral: Neutral, n: int, belief: TableBelief, log: LoggedGame, states: Sequence[GameState],
                 seen: Sightings) -> bool:
    """Whether the log has the piece moved in a later turn that came to sight together with turn ``n``: soon after it,
    and no look in between showed both the square of its tile bare and the piece where it had been."""
    since_s, place = belief.since_s(log.groups[n].at), neutral.at(states[log.span(n)[1]])
    watched = place is None or place in seen and seen[place].found_s >= since_s
    for m in range(n + 1, len(log.groups)):
        later = log.groups[m].at
        if not abs(belief.since_s(later) - since_s) < LIMITS.notice_s or (
                watched and belief.bare_s(later) >= since_s):
            return False
        if moves_of(neutral, log.groups[m], states, log.span(m)[1]):
            return True
    return False
