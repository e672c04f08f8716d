"""Whether somebody claimed what a tile completed, and took the follower home again before a look saw it.

The rules say where that was possible (their question ``claim``). Whether it happened is told by how closely the tile
was looked at during its turn: a follower is put down and taken up by a hand, and what moves over a square is measured
between looks (`vision.looks.SquareLook.touched_s`). Nobody touched a tile that was seen bare after it was laid: nobody
claimed it. A hand that was over it for no longer than one lays a tile passed by, hardly more. If hands were over it for
most of the turn, or pictures came so seldom that nobody was seen to lay tiles, it is open.

The verdict is logged as "nobody claimed it" with its probability: before the next tile is, so that nobody is asked
about what is known, and again when a later look changes it.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median, quantiles

from reading.belief import TableBelief, figures_seen_on
from reading.layings import Steps
from reading.limits import LIMITS
from reading.logged_game import CLAIM, LoggedGame, LoggedTurn
from reading.policy import Decision, Moment
from scoring.contributions import Question
from scoring.events import FigurePlaced, TilePlaced
from scoring.state import GameState
from scoring.tiles import Square
from vision.looks import TableLook, probability


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimLimits:
    """Weights in nats, times in seconds. "measured": on films of another renderer, at 4 pictures a second."""

    possible: float = 0.5  # for a claim where no figure was seen in the turn: 10 of 17 players claimed (measured)
    untouched: float = 6.0  # against one if nothing moved over the tile: the rules want a follower put down (chosen)
    passing: float = 3.2  # of that lost per usual laying of a tile that something moved over it (chosen)
    least_layings: int = 4  # tiles seen being laid needed to know how long that takes at a table
    usual_s: float = 1.5  # and before: the median (measured)
    long_s: float = 2.5  # and what nine of ten do not exceed (measured)
    newest_layings: int = 30  # that are remembered
    hand_s: float = 1.05  # a hand is seen for longer while it lays a tile: a tile that was there from one frame to the
    # next was not watched coming, not even at one frame a second
    still_s: float = 0.5  # from the end of a movement to the look that it leads to (Attention.still_s)
    points: float = 0.5  # expected points from which people are asked although nobody is the likelier answer (chosen)


CLAIMS = ClaimLimits()


@dataclass(frozen=True, slots=True)
class _Glance:
    """A look at a square: when, for how long something had moved over it before, whether its tile was visible."""

    t_s: float
    touched_s: float
    clear: bool


@dataclass(slots=True)
class UnseenClaims:
    """Follows how closely tiles are looked at."""

    steps: Steps
    _asked: tuple[GameState | None, tuple[Question, ...]] = (None, ())  # the questions of a state
    _glances: dict[Square, list[_Glance]] = field(default_factory=dict)
    _bare: set[Square] = field(default_factory=set)  # squares that were bare when last seen
    _layings_s: deque[float] = field(default_factory=lambda: deque(maxlen=CLAIMS.newest_layings))

    def look(self, look: TableLook) -> None:
        """Take note of a look; its squares are the game's."""
        for at, seen in look.squares.items():
            if math.isnan(seen.touched_s):  # not measured
                continue
            clear = seen.seen >= LIMITS.seen_least
            if clear and seen.there < 0.0:
                self._glances.pop(at, None)
                self._bare.add(at)
                continue
            known = self._glances.setdefault(at, [])
            if clear:
                if at in self._bare and not known:  # one that was not hidden meanwhile
                    self._layings_s.append(seen.touched_s)
                self._bare.discard(at)
            known.append(_Glance(look.t_s, seen.touched_s, clear))

    @property
    def layings_s(self) -> tuple[float, float] | None:
        """For how long something moves over a square while a tile is laid there: usually, and seldom longer. None if
        nobody is seen to lay tiles."""
        if len(self._layings_s) < CLAIMS.least_layings:
            watched = min(self._layings_s, default=0.0) >= CLAIMS.hand_s
            return (CLAIMS.usual_s, CLAIMS.long_s) if watched else None
        return median(self._layings_s), quantiles(self._layings_s, n=10, method="inclusive")[-1]

    def decide(self, belief: TableBelief, log: LoggedGame, states: Sequence[GameState],
               now: Moment) -> Iterator[Decision]:
        """What to log about claims that may have been missed in the newest turns. ``states`` are the states after each
        event of the log, preceded by the initial one."""
        newest = {g.at for g in log.groups[-LIMITS.late_turns:]}
        state = states[-1]
        if not self._glances:
            return
        if len(self._glances) > 4 * LIMITS.late_turns:
            self._glances = {at: g for at, g in self._glances.items() if at in newest or at not in state.tiles}
        if self._asked[0] is not state:
            self._asked = state, tuple(q for q in (*state.asked, *state.box.questions(state)) if q.code == CLAIM)
        for question in self._asked[1]:
            at = question.at
            if at is None or at not in newest or at not in self._glances:
                continue
            n, group = next((n, g) for n, g in reversed(tuple(enumerate(log.groups))) if g.at == at)
            if group.tile is None or group.tile.entered or (group.tile.seq, CLAIM) in log.nothing:
                continue
            ends = self._until_s(belief, log.groups, n)
            if ends is None or any(f.real > 0.0 for f in figures_seen_on(belief, at)):
                continue  # what was seen there is weighed as a figure
            nobody = self._nobody(at, ends[0], belief)
            waits = not now.last and nobody is not None and now.t_s - ends[1] < LIMITS.notice_s \
                and not any(g.t_s > ends[1] for g in self._glances[at])
            at_stake = self._points(states, log, group, question)
            margin = -CLAIMS.possible if nobody is None else nobody
            asked = not waits and (margin < LIMITS.agreed or probability(-margin) * at_stake > CLAIMS.points)
            confidence = round(probability(margin), 4)
            before = log.nobody.get(group.tile.seq)
            if before is None or before[1] != asked or (before[0] < UNSURE) != (confidence < UNSURE):
                yield Decision(events=(), confidence=confidence, asked=asked, alternatives=(), at=at, frame=now.frame,
                               settles=group.tile.seq)

    def before_next(self, made: Sequence[Decision], state: GameState) -> tuple[Decision, ...]:
        """The decisions up to a tile of which it has to be said whether a claim was missed before the next one is
        logged; the rest follow with the next look. ``state`` is that of the log."""
        if not self._glances:
            return tuple(made)
        for n, d in enumerate(made):
            for event in d.events if d.replaces is None and d.after is None else ():
                if n and isinstance(event, TilePlaced) and state.turn_open and any(
                        q.code == CLAIM and q.at in self._glances for q in state.box.questions(state)):
                    return tuple(made[:n])
                state = self.steps.after(state, event) or state
        return tuple(made)

    def _until_s(self, belief: TableBelief, groups: Sequence[LoggedTurn], n: int) -> tuple[float, float] | None:
        """When the hand came that laid the next tile, and when that tile was first seen; None while there is none. What
        moves over other tiles between the two is that hand."""
        own = belief.squares[at].laid if (at := groups[n].at) is not None and at in belief.squares else None
        if own is None:
            return None
        next_at = groups[n + 1].at if n + 1 < len(groups) else None
        lying = belief.lying()
        if next_at is None or next_at not in lying:
            seen_s = belief.next_s(own)
            next_at = next((at for at, laid in lying.items() if laid.since_s == seen_s), None)
            if next_at is None:
                return None
        seen_s = lying[next_at].since_s
        laying_s = next((g.touched_s for g in self._glances.get(next_at, ()) if g.t_s == seen_s), 0.0)
        return seen_s - CLAIMS.still_s - laying_s if laying_s > 0.0 else seen_s, seen_s

    def _nobody(self, at: Square, until_s: float, belief: TableBelief) -> float | None:
        """Log-odds that nobody claimed anything on a tile whose turn lasted until then; None if that was not watched.
        """
        known, glances = self.layings_s, self._glances[at]
        first = next((n for n, g in enumerate(glances) if g.clear), None)
        if known is None or known[0] < CLAIMS.hand_s or first is None or glances[first].t_s > until_s:
            return None
        usual_s, long_s = known
        since_s, hidden_s = glances[first].t_s, None
        covered_s = glances[first].touched_s if not first else since_s - glances[0].t_s + glances[0].touched_s
        longest = covered_s - long_s  # the hand that laid it
        for gone_s, back_s in belief.gaps_s:
            longest = max(longest, min(back_s, until_s) - max(gone_s, since_s))
        for g in glances[first + 1:]:
            begun_s = max(since_s, g.t_s - CLAIMS.still_s - g.touched_s) if hidden_s is None else hidden_s
            if begun_s >= until_s:
                break
            if g.clear:
                ended_s = g.t_s - (CLAIMS.still_s if hidden_s is None else 0.0)
                longest, hidden_s = max(longest, min(ended_s, until_s) - begun_s), None
            else:
                hidden_s = begun_s
            since_s = g.t_s
        else:
            if hidden_s is not None:
                longest = max(longest, until_s - hidden_s)
        # however long something moved there, that says nothing for a claim
        return max(0.0, CLAIMS.untouched - CLAIMS.passing * max(0.0, longest) / usual_s) - CLAIMS.possible

    def _points(self, states: Sequence[GameState], log: LoggedGame, group: LoggedTurn, question: Question) -> int:
        """The most points that a claim would have been worth at once."""
        assert group.tile is not None
        before = states[next(n for n, line in enumerate(log.lines) if line.seq == group.tile.seq) + 1]
        left = self.steps.closed(before).scores[question.player]
        worth = 0
        for claim in question.answers:
            after = self.steps.after(before, claim) if isinstance(claim, FigurePlaced) else None
            if after is not None:
                worth = max(worth, self.steps.closed(after).scores[question.player] - left)
        return worth


UNSURE = probability(LIMITS.settles)  # below this probability of "nobody" scores are marked as uncertain
