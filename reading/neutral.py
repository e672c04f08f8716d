"""Neutral pieces: where they are seen, and which legal moves took them there.

The log and the rules say where such a piece stands. If it is seen elsewhere, it was moved there in one of the newest
turns: of the legal moves (`Neutral.ways`) the one is reported that best explains what is on the table now, including
the figures that it sent home.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from reading.belief import TableBelief
from reading.figure_track import FigureTrack
from reading.layings import Steps, cost
from reading.limits import LIMITS
from reading.logged_game import LoggedEvent, LoggedGame, LoggedTurn
from reading.policy import Decision, Doubt, Moment
from reading.sightings import NEUTRAL, LoggedPile, Sighting, Sightings, believed, denied, stands_on, updated
from reading.unlogged import unlogged_since
from reading.whereabouts import seen_figures, since
from scoring.contributions import Neutral
from scoring.events import Event
from scoring.state import GameState, StandingFigure
from scoring.tiles import Square
from vision.looks import TableLook, probability


@dataclass(frozen=True, slots=True, kw_only=True)
class _Way:
    """One hypothesis: the turn counted back from the newest (0), the event, the square where it ends, its log-weight,
    and its outcome (equal for hypotheses that make no difference)."""

    turn: int
    event: Event
    at: Square
    weight: float
    outcome: object


@dataclass(slots=True)
class NeutralMoves:
    """Explains how neutral pieces came to where they stand; caches the last hypotheses."""

    steps: Steps
    seen: dict[str, Sightings] = field(default_factory=dict)
    _last: dict[str, tuple[object, list[_Way]]] = field(default_factory=dict)
    _heard: int = 0  # the newest entry with which people said no to a question, of those taken notice of
    _posed: dict[str, tuple[Event, bool]] = field(default_factory=dict)  # the newest question, and whether it was put

    def look(self, look: TableLook, neutrals: Sequence[Neutral],
             piles: Mapping[Square, LoggedPile] | None = None,
             stand: Mapping[str, Square | None] | None = None) -> None:
        """Add a look that is aligned with the game, which has these ``piles``, and the pieces where they ``stand``."""
        if neutrals:
            self.seen = updated(self.seen, look, [n.name for n in neutrals], piles, stand)

    def decide(self, belief: TableBelief, log: LoggedGame, states: Sequence[GameState], colours: Mapping[str, int],
              now: Moment) -> tuple[list[Decision], list[Doubt]]:
        """What to report of them, and what to ask. ``states`` are the states after each event of the log, preceded by
        the initial one."""
        told: list[Decision] = []
        doubts: list[Doubt] = []
        state, fresh_s = states[-1], unlogged_since(belief, log, states[-1], now)
        for neutral in state.box.neutrals if len(log.groups) and log.groups[-1].tile is not None else ():
            self._hear(neutral, log, state)
            self._forget(neutral, state)
            made = self._stayed(neutral, belief, log, states, colours, now, fresh_s) or \
                self._tell(neutral, belief, log, states, colours, now, fresh_s) or \
                self._lost(neutral, belief, log, states, colours, now)
            if made is not None and made.asked and self._answered(neutral, made, log):
                continue
            if made is not None and made.asked:
                doubts.append(Doubt(decision=made, gain=1.0, due=True))
            elif made is not None:
                told.append(made)
        self._heard = max(log.refused.values(), default=self._heard)
        return told, doubts

    def _tell(self, neutral: Neutral, belief: TableBelief, log: LoggedGame, states: Sequence[GameState],
              colours: Mapping[str, int], now: Moment, fresh_s: float) -> Decision | None:
        sights = self.seen.get(neutral.name, {})
        found, has = stands_on(sights), neutral.at(states[-1])
        if found is None or found[1] < NEUTRAL.lead:
            return None
        at, sight = found[0], sights[found[0]]
        if at == has and not self._unfinished(neutral, log, states):
            return None
        if at not in states[-1].tiles or now.t_s - sight.came_s < LIMITS.notice_s and not now.last:
            return None
        there = sights.get(has) if has is not None else None
        if at != has and there is not None and sight.odds - there.odds < NEUTRAL.stays:
            return None
        if fresh_s <= sight.came_s and not now.last \
                and now.t_s - sight.came_s < LIMITS.ask_after_s + LIMITS.notice_s:
            return None  # it may have gone there in the turn of a tile that is not in the log yet, or asked about
        over = now.last or now.t_s - sight.came_s >= LIMITS.ask_after_s
        ways = self._ways(neutral, at, belief, log, states, colours, sight, over=over)
        made = self._decision(ways, neutral, log, has, now) if ways else None
        if made is not None and (sight.piled or has is None and sight.clearest < NEUTRAL.first):
            made = replace(made, asked=True)  # somebody may have put a block there, or print looks a little like it
        if made is not None and made.asked and ways[0].turn == 0 and not now.last \
                and now.t_s - sight.came_s < LIMITS.ask_after_s:
            return None  # it may go on, and what it sent home may still be taken up
        return made

    def _stayed(self, neutral: Neutral, belief: TableBelief, log: LoggedGame, states: Sequence[GameState],
                colours: Mapping[str, int], now: Moment, fresh_s: float) -> Decision | None:
        """A move to where the piece was seen after it had left the square where the game has it, and from where it has
        gone on since, or back: that is asked about unless its foot is elsewhere there than before. ``fresh_s`` is since
        when a tile lies there that the log does not have."""
        sights, has = self.seen.get(neutral.name, {}), neutral.at(states[-1])
        left, found = sights.get(has) if has is not None else None, stands_on(sights)
        back = left is not None and left.odds >= 0.0
        left = left.away if back and left is not None else left
        if left is None or not left.known or found is None or found[1] < NEUTRAL.lead or back and found[0] != has:
            return None
        now_at = sights[found[0]]
        for at, sight in sorted(sights.items(), key=lambda s: s[1].first_s):
            stay = replace(sight, odds=sight.peak, came_s=sight.first_s)
            if not stood(stay, left, now_at) or at not in states[-1].tiles or fresh_s <= stay.came_s:
                continue
            ways = self._ways(neutral, at, belief, log, states, colours, stay, over=True)
            # in the newest turn it may have stood there on its way
            made = self._decision(ways, neutral, log, has, now) if ways and ways[0].turn else None
            doubtful = back and now_at.same > -LIMITS.agreed
            if made is not None and not made.asked and not (
                    doubtful and stay.found_s - stay.came_s < LIMITS.notice_s):  # it was rather held there
                return replace(made, asked=doubtful)
        return None

    def _hear(self, neutral: Neutral, log: LoggedGame, state: GameState) -> None:
        """Learn what is no such piece where people, asked whether it went there, say that it did not; as long as they
        say so."""
        sights = believed(self.seen.get(neutral.name, {}), log.refused)
        for event, seq in log.refused.items():
            end = _end(neutral, event)
            if seq > self._heard and end is not None and end != neutral.at(state):
                sights = denied(sights, end, event)
        self.seen[neutral.name] = sights

    def _forget(self, neutral: Neutral, state: GameState) -> None:
        """Drop the question about a move that did not happen: the piece is seen where the game has it, so another move
        to the square of the question is a new one."""
        posed, found, has = self._posed.get(neutral.name), stands_on(self.seen.get(neutral.name, {})), neutral.at(state)
        if posed is not None and found is not None and found[0] == has and found[1] >= NEUTRAL.lead \
                and _end(neutral, posed[0]) != has:
            del self._posed[neutral.name]

    def _answered(self, neutral: Neutral, made: Decision, log: LoggedGame) -> bool:
        """Whether people were asked already if it went where a question has it go: what they said is not asked again
        while the piece is seen there, whoever's turn it is."""
        event, put = self._posed.get(neutral.name, (None, False))
        oldest = log.groups[-LIMITS.late_turns:][0]
        denied = event is not None and log.denied_for(event, oldest)
        put = put or denied or any(line.event == event and (line.asked or line.pinned) for line in log.lines)
        if event is not None and _end(neutral, event) == _end(neutral, made.events[0]):
            self._posed[neutral.name] = event, put
            return put and denied
        self._posed[neutral.name] = made.events[0], False
        return False

    def _lost(self, neutral: Neutral, belief: TableBelief, log: LoggedGame, states: Sequence[GameState],
              colours: Mapping[str, int], now: Moment) -> Decision | None:
        """A question where the piece went, if it was seen to leave its square and has not been found since, or came
        back to another place of it, unless no move explains that better than that looks miss it where it is."""
        has = neutral.at(states[-1])
        sight = self.seen.get(neutral.name, {}).get(has) if has is not None else None
        if sight is None:
            return None
        left, back_s = (sight, math.inf) if sight.odds < 0.0 else (sight.away, sight.came_s)
        over = back_s == math.inf and now.last
        if left is None or not left.known or left.t_s <= left.came_s and not over:
            return None
        if back_s == math.inf and now.t_s - left.came_s < LIMITS.ask_after_s and not over:
            return None
        if not any(left.came_s < belief.since_s(g.at) <= back_s for g in log.groups) and not over:
            return None  # the turn in which it left goes on
        if back_s < math.inf and self._came_later(neutral, left.came_s, belief, log, states):
            return None  # the log has it leaving and coming back
        ways = self._ways(neutral, None, belief, log, states, colours, left, over=True)
        made = self._decision(ways, neutral, log, has, now) if ways else None
        if made is None:
            return None
        n = len(log.groups) - 1 - ways[0].turn
        end, group = log.span(n)[1], log.groups[n]
        before = states[end - _lines_from(group, moves_of(neutral, group, states, end))]
        closed = self.steps.closed(states[end])
        stays = max(left.odds, NEUTRAL.overlooked) + NEUTRAL.stays - cost(states[end], closed)
        stays += _left(before, states[end], closed, seen_figures(belief, colours), left, states[-1], over=True)
        stays += sight.same if back_s < math.inf else 0.0
        if ways[0].weight - stays < -LIMITS.agreed:
            return None  # rather it is where it was, and not seen there
        return replace(made, asked=True)

    def _came_later(self, neutral: Neutral, left_s: float, belief: TableBelief, log: LoggedGame,
                    states: Sequence[GameState]) -> bool:
        """Whether the log has it come to its square after a tile that was laid later than ``left_s``."""
        for n in log.newest(len(log.groups)):
            if moves_of(neutral, log.groups[n], states, log.span(n)[1]):
                return left_s < belief.since_s(log.groups[n].at) < math.inf
        return False

    def _unfinished(self, neutral: Neutral, log: LoggedGame, states: Sequence[GameState]) -> bool:
        """Whether the camera told a move of it in the turn before the newest that the rules would have had go on."""
        if len(log.groups) < 2:
            return False
        group, end = log.groups[-2], log.span(len(log.groups) - 2)[1]
        mine = moves_of(neutral, group, states, end)
        return bool(mine) and cost(states[end], self.steps.closed(states[end])) > 0.0

    def _ways(self, neutral: Neutral, at: Square | None, belief: TableBelief, log: LoggedGame,
              states: Sequence[GameState], colours: Mapping[str, int], sight: Sighting, *,
              over: bool) -> list[_Way]:
        """The moves that end at a square where the piece is seen (``sight``); without one those that end anywhere else
        than where it is no longer seen (``sight``), none in a turn of which people have denied one. ``over``: what it
        sent home has been taken up by now."""
        stand = seen_figures(belief, colours)
        sights, has = self.seen.get(neutral.name, {}), neutral.at(states[-1])
        sign = (log.version, at, over, round(sight.foot[0], 1), round(sight.foot[1], 1),
                tuple(sorted((k, round(since(f, sight), 1)) for k, f in stand.items())),
                at is None and tuple((k, round(s.odds)) for k, s in sights.items()))
        known = self._last.get(neutral.name)
        if known is not None and known[0] == sign:
            return known[1]
        out: list[_Way] = []
        for back in range(min(LIMITS.late_turns, len(log.groups))):
            if back >= LIMITS.open_turns and any(w.weight >= -NEUTRAL.hardly for w in out):
                break  # further back only if it was found or missed late, and no newer turn explains it
            n = len(log.groups) - 1 - back
            group, end = log.groups[n], log.span(n)[1]
            if group.tile is None:
                break
            mine = moves_of(neutral, group, states, end)
            if any(line.pinned for line in mine):
                break  # people have said where it went
            before = states[end - _lines_from(group, mine)]
            later = tuple(line.event for line in group.rest[len(group.rest) - _lines_from(group, mine):]
                          if line not in mine)  # in the game's order: one that was inserted has a higher number
            events = list(neutral.ways(before))[:NEUTRAL.ways]
            met = self._met(neutral, before, belief, log, n) if any(len(neutral.goes(e)) > 1 for e in events) else {}
            logged = neutral.at(states[end])
            if mine and not met and logged is not None and logged in sights:  # it was seen where the log has it go
                met = {logged: max(0.0, min(sights[logged].peak, LIMITS.unallowed))}
            against = NEUTRAL.earlier * back
            if at is None:  # since when it is missing says more than how many turns ago that was
                stayed = any(belief.since_s(g.at) <= sight.found_s for g in log.groups[n + 1:])
                against = NEUTRAL.earlier * (back > 0) + LIMITS.too_late * stayed
                events = [] if any(log.denied_in(n, event) for event in events) else events
            for event in events:
                after = self.steps.after(before, event)
                end_at = neutral.at(after) if after is not None else None
                if after is None or end_at is None or log.denied_for(event, group) \
                        or end_at != at and (at is not None or end_at == has):
                    continue
                for other in later:
                    after = self.steps.after(after, other) or after
                closed = self.steps.closed(after)
                goes_on = cost(after, closed)
                weight = -cost(before, after) - against
                weight -= NEUTRAL.too_soon * _too_soon(belief, group, sight)
                weight -= goes_on if back else NEUTRAL.goes_on * (goes_on > 0)
                weight += _left(before, after, closed, stand, sight, states[-1], over=over or back > 0)
                weight -= sum(met[square] for square in met.keys() - {end_at, *neutral.goes(event)})
                if at is not None:
                    weight += _beside(neutral, after, belief, sight, colours)
                elif (there := sights.get(end_at)) is not None and there.t_s > sight.came_s:
                    # what was seen there while the piece was still seen where it was is print
                    was = there.known and there.first_s >= sight.found_s
                    weight += max(there.odds, NEUTRAL.overlooked if was else NEUTRAL.unseen)
                out.append(_Way(turn=back, event=event, at=end_at, weight=weight,
                                outcome=(back, end_at, neutral.by(after), frozenset(closed.standing))))
            if mine:
                break  # the log has it moving in this turn, which settles where it stood before
        out.sort(key=lambda w: -w.weight)
        self._last[neutral.name] = sign, out
        return out

    def _met(self, neutral: Neutral, before: GameState, belief: TableBelief, log: LoggedGame,
             n: int) -> dict[Square, float]:
        """Where a piece that goes from square to square was seen in turn ``n`` besides where it was ``before``: by
        square the evidence that it was there (nats)."""
        first, *rest = log.groups[n:n + 2]
        since, until = belief.since_s(first.at), min((belief.since_s(g.at) for g in rest), default=math.inf)
        return {at: min(NEUTRAL.passed, sight.clearest if sight.found_s > sight.first_s else sight.peak)
                for at, sight in self.seen.get(neutral.name, {}).items()
                if at != neutral.at(before) and since <= sight.first_s < until and sight.peak > 0.0}

    def _decision(self, ways: Sequence[_Way], neutral: Neutral, log: LoggedGame, has: Square | None,
                  now: Moment) -> Decision | None:
        best = ways[0]
        others: dict[object, _Way] = {}
        for way in ways:
            others.setdefault(way.outcome, way)
        ranked = list(others.values())[:4]
        total = sum(math.exp(w.weight - best.weight) for w in ranked)
        options = tuple(((w.event,), math.exp(w.weight - best.weight) / total) for w in ranked if w.turn == best.turn)
        margin = best.weight - ranked[1].weight if len(ranked) > 1 else LIMITS.floor
        group = log.groups[len(log.groups) - 1 - best.turn]
        mine = [line for line in group.rest if type(line.event) is type(best.event)
                and (neutral.goes(line.event) or neutral.goes(best.event) == ())]
        asked = margin < LIMITS.agreed or best.weight < -NEUTRAL.hardly
        settles = any(line.asked for line in mine) and margin >= LIMITS.settles and not asked
        if not settles and any(line.asked or line.event == best.event for line in mine):
            return None
        if mine and asked and best.at == has:
            return None  # another way to where the log has it
        made = Decision(events=(best.event,), confidence=probability(min(margin, best.weight + 2 * NEUTRAL.hardly)),
                        asked=asked,
                        alternatives=options, at=best.at, frame=now.frame)
        if mine:
            return replace(made, replaces=mine[-1].seq)
        return made if best.turn == 0 else replace(made, after=group.last_seq)


def stood(stay: Sighting, left: Sighting, now_at: Sighting) -> bool:
    """Whether the piece stood somewhere, for more than one look, between the square that it had ``left`` and the one
    where it is now: rather than being held over it, or print that was taken for it while looks missed it."""
    return left.found_s < stay.came_s < stay.found_s < now_at.first_s and now_at.odds > 0.0 \
        and not stay.piled and stay.odds - NEUTRAL.absent >= NEUTRAL.lead


def _end(neutral: Neutral, event: Event) -> Square | None:
    """Where an event takes the piece."""
    way = neutral.goes(event)
    return way[-1] if way else None


def _too_soon(belief: TableBelief, group: LoggedTurn, sight: Sighting) -> bool:
    """Whether the piece was already seen at its position before the turn's tile appeared."""
    since = belief.since_s(group.at)
    return since < math.inf and sight.came_s < since


def moves_of(neutral: Neutral, group: LoggedTurn, states: Sequence[GameState], end: int) -> list[LoggedEvent]:
    """The events of a turn, other than its tile, that moved the piece."""
    first = end - len(group.rest)
    return [line for n, line in enumerate(group.rest)
            if neutral.goes(line.event) or neutral.at(states[first + n]) != neutral.at(states[first + n + 1])]


def _lines_from(group: LoggedTurn, mine: Sequence[LoggedEvent]) -> int:
    """The number of the turn's events from the first of these on; 0 if there are none."""
    return len(group.rest) - group.rest.index(mine[0]) if mine else 0


def _left(before: GameState, after: GameState, closed: GameState, stand: Mapping[tuple[Square, int], FigureTrack],
          sight: Sighting, newest: GameState, *, over: bool) -> float:
    """Log-weight of what is seen, given the figures that stand after a move and once its turn is over. One that has
    gone home since (``newest``), in a later turn of the log, says nothing of it."""
    out, lingers = 0.0, NEUTRAL.eaten if over else NEUTRAL.lingers
    for i, figure in before.standing.items():
        track = stand.get((figure.at, figure.player))
        if track is None:
            continue
        there = since(track, sight)
        if i not in after.standing:
            out -= lingers * max(0.0, there)
        elif i in closed.standing and i in newest.standing:
            out -= NEUTRAL.spared * max(0.0, -there)
    return out


def _beside(neutral: Neutral, after: GameState, belief: TableBelief, sight: Sighting,
            colours: Mapping[str, int]) -> float:
    """Log-weight of the figure beside which the move puts the piece: 0 if it is the nearest on the tile, less if not.
    """
    by = neutral.by(after)
    own = after.standing.get(by) if by is not None else None
    if own is None:
        return 0.0
    far = {i: d for i, f in after.standing.items() if f.at == own.at
           if (d := _distance(f, belief, sight, colours)) is not None}
    return 0.0 if own.id not in far else -(far[own.id] - min(far.values())) / NEUTRAL.far


def _distance(figure: StandingFigure, belief: TableBelief, sight: Sighting, colours: Mapping[str, int]) -> float | None:
    feet = [math.dist(f.foot, sight.foot) for f in belief.by_square.get(figure.at, ())
            if f.present and colours.get(f.paint) == figure.player]
    return min(feet, default=None)
