"""Piles of blocks: how high each is, and in which turn a block was added.

One block more displaces the top of a pile in the picture, by an amount that the looks know only roughly. So blocks are
counted: a filter follows where each pile's top appears, under several hypotheses of how many blocks were added and
when. A top that appears elsewhere than before was raised, was knocked, or was misread once.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import median

from reading.belief import TableBelief
from reading.figure_track import FigureTrack
from reading.layings import Steps, cost
from reading.limits import LIMITS
from reading.logged_game import LoggedGame
from reading.policy import Decision, Doubt, Moment
from reading.removals import takeable, vanished
from reading.rival_piles import Block, one_of_each
from reading.said import said_of
from reading.sightings import LoggedPile
from reading.stack_limits import LAMP, STACK
from reading.stack_rise import StackRise
from reading.stack_shadow import StackShadows
from reading.stack_track import StackTrack, began, looked_at
from reading.stack_turns import (
    Gone,
    Way,
    betrays,
    came_before,
    likeliest,
    may_take,
    raises,
    taken_later,
    turn_s,
    unwatched_s,
)
from reading.unlogged import unlogged_since
from reading.visits import Visits
from scoring.contributions import Stack
from scoring.log import LogEntry
from scoring.state import GameState
from scoring.tiles import Square
from vision.looks import StackLook, TableLook, probability

_IDLE = STACK.adds + math.log(STACK.moves / (1.0 - STACK.moves))  # what is likelier in such a turn on a single place
_NORMAL = 1.48  # standard deviations of a normal distribution per median of absolute deviations


@dataclass(slots=True)
class StackMoves:
    """Counts the blocks of each pile, and says in which turn one was added."""

    steps: Steps
    tracks: dict[tuple[str, Square], StackTrack] = field(default_factory=dict)
    _said: Counter[Square] = field(default_factory=Counter)
    _denied: Counter[Square] = field(default_factory=Counter)
    _settled: dict[tuple[str, Square], tuple[int, int]] = field(default_factory=dict)  # how often people have said
    # something of it, and denied it, as far as it has been taken notice of
    _moved: deque[float] = field(default_factory=lambda: deque(maxlen=400))  # tiles, between successive looks
    _own: dict[tuple[str, Square], deque[float]] = field(default_factory=dict)  # the greater of both, at each place
    _tops: dict[tuple[str, Square], tuple[float, float]] = field(default_factory=dict)  # of the last clear looks
    _touched_s: dict[tuple[str, Square], float] = field(default_factory=dict)  # since the last look taken notice of
    _rise: StackRise = field(default_factory=StackRise)
    _shadows: StackShadows = field(default_factory=StackShadows)
    _visits: Visits = field(default_factory=Visits)
    _lowered: dict[int, tuple[FigureTrack, float, FigureTrack]] = field(default_factory=dict)
    _told_s: dict[tuple[str, Square], dict[int, float]] = field(default_factory=dict)  # since when the log has a block
    # there, by the entry of its turn's tile
    _over: dict[tuple[str, Square], int] = field(default_factory=dict)  # blocks that are none, as people say
    _either: dict[tuple[str, Square], float] = field(default_factory=dict)  # where a block was added for sure, in this
    # turn or that one: people were asked about one of them; and when it came
    _misled: dict[tuple[str, Square], float] = field(default_factory=dict)  # the same once they have denied that one
    _denied_s: dict[tuple[str, Square], float] = field(default_factory=dict)  # when people last denied one there
    _empty: set[Square] = field(default_factory=set)  # squares that the last look at them showed without a tile
    _new_below: set[tuple[str, Square]] = field(default_factory=set)  # where a tile was laid below a top since then
    covered: dict[tuple[str, Square], tuple[float, float]] = field(default_factory=dict)  # where people say that there
    # is no further block, and the top is not found: when it was seen last, and first missed
    _bare: set[str] = field(default_factory=set)  # kinds of which an empty place was seen: its print is no pile

    def hear(self, entries: Sequence[LogEntry]) -> None:
        """Take notice of what people say in the log."""
        self._said, self._denied = said_of(entries)

    def look(self, look: TableLook, state: GameState) -> None:
        """Add a look that is aligned with the game, whose state is ``state``."""
        self._visits.look(look)
        self._laid_below(look)
        for stack in state.box.stacks:
            heights = stack.heights(state)
            closed = {f.at for f in state.standing.values() if f.feature == stack.top}
            for at, square in look.squares.items():
                key, said = (stack.name, at), (self._said[at], self._denied[at])
                touched_s = math.nan if look.gaps_s else square.touched_s  # without frames nothing is seen to move
                self._touched_s[key] = self._touched_s.get(key, 0.0) + touched_s
                seen = square.stacks.get(stack.name)
                if seen is None or square.seen < LIMITS.seen_least:
                    continue
                unsure = self._rise.look(key, seen)
                if seen.there < -STACK.there:
                    self._bare.add(stack.name)
                if at in closed:  # a figure covers its top, and no block may be added
                    known, height = self.tracks.get(key), heights.get(at, 0)
                    bare = seen.there >= STACK.clearly[1]  # it is gone, though the log does not say by which move
                    if known is not None and not bare and known.above(height + self._over.get(key, 0))[1] > 0.0:
                        continue  # a block that came before the figure is not told yet
                    self._over.pop(key, None)
                    if known is None:
                        continue
                    if not bare or not known.plain:
                        self.tracks[key] = known.uncovered(height, seen, look.t_s) if bare else known.settled(height)
                        continue
                track = self.tracks.get(key, began(heights.get(at, 0)))
                more = max(0, track.height - heights.get(at, 0))
                if said[1] != self._settled.get(key, (0, 0))[1]:
                    if key not in self._either:  # what people say is none is none
                        self._over[key] = more
                        if vain := track.in_vain_s(math.inf):
                            self.covered.setdefault(key, (track.shown_s, min(vain)))
                        track = replace(track, piles=track.piles[:1]).looked_over()
                    self._denied_s[key], self._misled[key] = look.t_s, self._either.get(key, -math.inf)
                elif said != self._settled.get(key, (0, 0)):  # a block that they confirm says nothing of others
                    self._over[key] = min(self._over.get(key, 0), more)
                if said != self._settled.get(key, (0, 0)):
                    self._either.pop(key, None)
                self._settled[key] = said
                moved_s = self._touched_s.pop(key)
                new_below = key in self._new_below
                self._shadows.look(key, seen, look.t_s)
                if seen.there > 0.0:
                    self.covered.pop(key, None)
                track = looked_at(track, seen, look.t_s, self.noise(key, seen), moved_s, unsure, new_below)
                # after the look: a block that people have entered may be the one that it shows first
                self.tracks[key] = track.at_least(heights.get(at, 0) + self._over.get(key, 0))
                if seen.there > 0.0:
                    self._new_below.discard(key)

    def _laid_below(self, look: TableLook) -> None:
        """Take notice of the tiles that have been laid where the tops of piles appear."""
        lie = {at: s.there > 0.0 for at, s in look.squares.items() if s.seen >= LIMITS.seen_least}
        new = [at for at, lies in lie.items() if lies and at in self._empty]
        self._empty = {at for at in self._empty if not lie.get(at, False)} | {at for at in lie if not lie[at]}
        for (name, at), track in self.tracks.items() if new else ():
            if track.piles[0].var is not None:
                x, y = (at[n] + track.piles[0].mean[n] - 0.5 for n in (0, 1))
                if any(max(abs(x - c), abs(y - r)) < 0.5 + STACK.reaches for c, r in new):
                    self._new_below.add((name, at))

    def noise(self, key: tuple[str, Square], seen: StackLook) -> float:
        """The looks' noise at this pile relative to the usual one: few tops move between two looks at them. That at the
        table, unless this one is seen worse, as one is with two edges that may be its side."""
        own = self._own.setdefault(key, deque(maxlen=STACK.compared))
        if seen.there >= sum(STACK.clearly) / 2:
            last = self._tops.get(key)
            self._tops[key] = seen.top
            if last is not None:
                moved = [abs(a - b) for a, b in zip(seen.top, last, strict=True)]
                self._moved += moved
                own.append(max(moved))
        noise = 1.0
        if len(self._moved) >= STACK.compared:
            noise = min(max(_deviation(self._moved) / STACK.look[0], STACK.finest), STACK.coarsest)
        if len(own) >= STACK.compared_own:
            noise = max(noise, min(_deviation(own) / STACK.look[0], STACK.worst))
        return noise

    def decide(self, belief: TableBelief, log: LoggedGame, states: Sequence[GameState], colours: Mapping[str, int],
               now: Moment) -> tuple[list[Decision], list[Doubt]]:
        """The blocks to report, and those to ask about. ``states`` are the states after each event of the log, preceded
        by the initial one."""
        told, asked = list[Block](), list[Block]()
        fresh_s = unlogged_since(belief, log, states[-1], now)
        gone: list[Gone] = []
        if self.tracks:
            gone = list(vanished(belief, log, states, self.steps, colours, math.inf if now.last else fresh_s))
        if gone:  # those whom a block that is known may have taken say nothing of another one
            known_to = list(takeable(belief, log, states, self.steps, colours, now))
            gone = [each for each in gone if each[0] not in known_to]
        for stack in states[-1].box.stacks:
            heights = stack.heights(states[-1])
            still = now.t_s - belief.still_s >= LIMITS.ask_after_s
            for name, at in self.tracks:
                known = heights.get(at, 0) + self._over.get((name, at), 0)
                if name != stack.name or at not in states[-1].tiles:
                    continue
                logged = self._logged((name, at), stack, belief, log, states, now)
                track = self.tracks[name, at]
                lost = track.lost(now.t_s)
                least = -STACK.takes * (2.0 if gone else 1.0)  # who vanished may speak for it with as many nats again
                least -= LAMP.tells * (self._shadows.lamp is not None)
                if track.above(known)[1] <= least and not ((gone or lost) and track.unseen()):
                    continue
                ways_at = partial(self._ways, stack, at, track, belief=belief, log=log, states=states, gone=gone,
                                  over=still or now.last)
                found = likeliest(track, known, ways_at, logged, lost, partial(self._shadows.log_odds, (name, at)))
                if found is None:
                    continue
                came_s, margin, likelier, ways = found.came_s, found.margin, found.likelier, found.ways
                if came_s == self._misled.get((name, at)):
                    margin = min(margin, STACK.misled)
                on_top = figures_on_top(belief, at, track)
                if not track.plain and any(abs(f.came_s - came_s) < LIMITS.notice_s for f in on_top):
                    continue  # it is the figure on top that looks different
                closing = not track.plain and any(f.came_s > came_s for f in on_top)
                if (self._said[at], self._denied[at]) != self._settled.get((name, at), (0, 0)):
                    continue  # people have said something since the last look
                if not any(getattr(line.event, "at", None) == at for line in log.asked):
                    self._either.pop((name, at), None)
                if now.t_s - came_s < LIMITS.notice_s and not now.last:
                    continue
                if fresh_s <= came_s and not now.last:
                    continue  # it may belong to the turn of a tile that is not in the log yet
                if known == 0 and name not in self._bare:  # an idle turn makes no block of print
                    margin, ways = min(margin, 0.5 * LIMITS.agreed), [replace(w, likelier=0.0) for w in ways]
                    likelier = 0.0
                made = self._decision(at, margin, likelier, ways, log, now, still)
                if made is not None and track.several(came_s) and margin < LIMITS.agreed:
                    made = replace(made, asked=True)  # it need not be two blocks, whoever is missing
                if made is not None and made.asked:
                    if now.t_s - came_s < LIMITS.ask_after_s and not now.last and not closing:
                        continue  # another look may settle it
                    if len(ways) > 1 and margin + sorted(w.likely for w in ways)[-2] > LIMITS.agreed \
                            or found.rival > -STACK.doubtful:
                        self._either[name, at] = came_s
                    asked.append(Block(made=made, way=ways[0], likely=margin + ways[0].likely))
                elif made is not None and (
                        track.height == 1 or made.confidence >= probability(STACK.plainly) or fresh_s < math.inf
                        or any(abs(t_s - came_s) < STACK.with_s for _, t_s, _ in gone)
                        or now.t_s - came_s >= STACK.waits_s or now.last):
                    told.append(Block(made=made, way=ways[0], likely=margin + ways[0].likely))
        blocks = one_of_each(told, asked)
        doubts = [*(b.made for b in asked), *(made for made in blocks if made.asked)]
        return [made for made in blocks if not made.asked], _likely(doubts)

    def _logged(self, key: tuple[str, Square], stack: Stack, belief: TableBelief, log: LoggedGame,
                states: Sequence[GameState], now: Moment) -> list[tuple[float, float]]:
        """When the blocks of the newest turns that the log has there may have come, the newest first: none came after
        the log had it. Takes notice of those that it has only now."""
        recent, grown = set[int](), set[int]()
        out, told_s = list[tuple[float, float]](), self._told_s.setdefault(key, {})
        for n in log.newest(LIMITS.late_turns):
            tile = log.groups[n].tile
            if tile is None:
                continue
            recent.add(tile.seq)
            if key[1] not in stack.grown(*(states[k] for k in log.span(n))):
                continue
            grown.add(tile.seq)
            from_s, to_s = turn_s(belief, log, n)
            if tile.seq not in told_s:
                entered = any(line.entered and getattr(line.event, "at", None) == key[1]
                              for line in log.groups[n].rest)  # maybe before the block was put there
                told_s[tile.seq] = math.inf if entered else now.t_s
                if not entered:
                    self.tracks[key] = self.tracks[key].logged(from_s, to_s)
            own = [came_s for came_s in self.tracks[key].piles[0].came_s if from_s <= came_s <= to_s]
            if len(own) == 1:
                self._shadows.learn(key, tile.seq, own[0])
            out.append((from_s, min(to_s, told_s[tile.seq])))
        older = {turn.tile.seq for turn in log.groups if turn.tile is not None} - recent
        self._shadows.forget(key, grown | older)
        for seq in told_s.keys() - grown:  # taken back, or long past
            del told_s[seq]
        return out

    def tops(self) -> dict[Square, tuple[float, float]]:
        """Where the tops of piles appear, in tiles of the board."""
        return {at: (at[0] + track.piles[0].mean[0], at[1] + track.piles[0].mean[1])
                for (_, at), track in self.tracks.items() if track.piles[0].var is not None}

    def logged(self, state: GameState) -> dict[Square, LoggedPile]:
        """The piles that the game has in that state."""
        known = {key: LoggedPile(top=(track.piles[0].mean[0], track.piles[0].mean[1]), blocks=track.height)
                 for key, track in self.tracks.items() if track.height and track.piles[0].var is not None}
        return {at: known.get((stack.name, at), LoggedPile())
                for stack in state.box.stacks for at in stack.heights(state)}

    def lowered(self, belief: TableBelief) -> TableBelief:
        """The belief in which figures on piles are as wide as they would appear on a tile: they are nearer to the
        camera. The same object if there are none; a figure whose track no look has changed stays the same one."""
        out: dict[int, FigureTrack] = {}
        before, self._lowered = self._lowered, {}
        for (name, at), track in self.tracks.items():
            if track.plain or track.height == 0 or track.piles[0].var is None:
                continue
            by = round(-math.log1p(-min(track.height * self._rise.nearer(name), STACK.nearest)), 3)
            for f in figures_on_top(belief, at, track):
                known = before.get(f.id)
                if known is None or known[0] is not f or known[1] != by:
                    known = f, by, replace(f, width=f.width * math.exp(-by))
                self._lowered[f.id] = known
                out[f.id] = known[2]
        return replace(belief, figures={**belief.figures, **out}) if out else belief

    @staticmethod
    def _decision(at: Square, margin: float, likelier: float, ways: list[Way], log: LoggedGame, now: Moment,
                  still: bool) -> Decision | None:
        """What to report of the likeliest way. ``likelier`` is by how many nats it is likelier since nothing else was
        done in the turns of later blocks, ``still``: nothing has happened on the table for long."""
        ways.sort(key=lambda w: (-w.likely, w.back))
        if not ways:
            return None
        best = ways[0]
        margin += best.betrayed
        likelier += best.likelier
        likely = margin + best.weight + likelier  # enough to ask, but how often people do nothing is not known
        newest = best.group is log.groups[-1]
        least = -STACK.doubtful if not newest or still or now.last else 0.0
        if likely <= (least if best.weight > -1.0 else 0.0):
            return None  # a block that no turn could have added is likelier none
        lead = min(margin, best.likely - ways[1].likely if len(ways) > 1 else LIMITS.floor)
        asked = lead < LIMITS.agreed or best.weight < -STACK.hardly
        sure = probability(min(lead + likelier, best.weight + 2 * STACK.hardly))
        return Decision(events=(best.event,), confidence=sure, asked=asked,
                        alternatives=(((best.event,), sure), ((), 1.0 - sure)), at=at, frame=now.frame,
                        after=None if best.back == 0 else best.group.last_seq)

    def _ways(self, stack: Stack, at: Square, track: StackTrack, came_s: float, belief: TableBelief, log: LoggedGame,
              states: Sequence[GameState], gone: Sequence[Gone], over: bool) -> Iterator[Way]:
        """The turns in which the block may have been added. ``gone`` are figures that vanished; ``over``: nothing more
        will happen in the newest turn."""
        near = [each for each in gone if abs(each[1] - came_s) < STACK.with_s]
        in_vain, moving_s, back, over_s = track.in_vain_s(came_s), unwatched_s(track, came_s, belief), 0, math.inf
        reached, visited = self._reached(track, came_s, belief), self._visits.over(came_s, STACK.brief_s)
        shown = any(shows for t_s, shows, _ in track.looks if t_s >= came_s)
        for n in log.newest(LIMITS.late_turns):
            turn, (end, last) = log.groups[n], log.span(n)
            since_s, next_s = belief.since_s(turn.at), over_s
            over_s = since_s
            if turn.tile is None or at not in states[last].tiles:
                continue
            laid = states[end + turn.lines.index(turn.tile) + 1]
            event, others = raises(stack, at, laid, self.steps)
            after = self.steps.after(states[last], event) if event is not None else None
            if event is None or after is None:
                continue
            denied_s = self._denied_s.get((stack.name, at), math.inf)
            if (came_s <= denied_s or not shown) and log.denied_in(n, event):
                continue
            soon = came_before(came_s, turn, belief)
            unseen = moving_s < next_s or any(since_s <= t_s <= next_s for t_s in in_vain)
            broken = cost(states[last], after)
            weight = -broken - STACK.too_soon * soon - STACK.earlier * (0 if unseen else back)
            idle = broken == 0.0 and (over or n < len(log.groups) - 1)
            back += not soon
            here = [(f, real) for f, gone_s, real in near if gone_s >= since_s]  # others were gone before
            takes = {f.id: betrays(real) for f, real in here if may_take(after, f)}
            takes |= taken_later(stack, at, n, gone, belief, log, states, self.steps)
            likelier = 0.0
            if idle and reached is not None and since_s <= came_s <= next_s + LIMITS.notice_s:
                likelier = reached - math.log(1 + sum(other in visited for other in others))
            elif idle:
                places = 1 + sum(self._touched((stack.name, other), since_s, next_s) for other in others)
                likelier = _IDLE - math.log(places)
            yield Way(group=turn, back=len(log.groups) - 1 - n, event=event, weight=weight, takes=takes,
                      likelier=likelier)

    def _reached(self, track: StackTrack, came_s: float, belief: TableBelief) -> float | None:
        """By how many nats the visit whose outcome a look saw makes a block likelier than any motion over a pile does,
        in a turn in which nothing else was done. None if it is not known what moved."""
        before_s, moved_s = track.visit(came_s)
        if not moved_s > 0.0:
            return None
        explained = self._visits.explained(before_s, came_s, moved_s, belief)
        return STACK.adds + (STACK.on_the_way if explained else STACK.came_for)

    def _touched(self, key: tuple[str, Square], since_s: float, next_s: float) -> bool:
        """Whether a hand may have been over a place within a turn; no look may have been taken notice of since."""
        track = self.tracks.get(key)
        return track is None or self._touched_s.get(key, 0.0) != 0.0 or (
            track.touched_in(since_s, next_s + LIMITS.notice_s))


def _likely(doubts: Sequence[Decision]) -> list[Doubt]:
    """The doubts about blocks that are not much less likely than none, and the likeliest other one."""
    ranked = sorted((Doubt(decision=made, gain=1.0, due=True) for made in doubts), key=lambda d: -d.decision.confidence)
    likely = [d for d in ranked if d.decision.confidence > probability(-STACK.doubtful)]
    return likely or ranked[:1]


def _deviation(moved: Collection[float]) -> float:
    """The standard deviation of one look, from the differences of successive ones."""
    return _NORMAL * median(moved) / math.sqrt(2.0)


def figures_on_top(belief: TableBelief, at: Square, track: StackTrack) -> list[FigureTrack]:
    """The figures that appear to stand on a pile; none where it is not known where its top is."""
    if track.piles[0].var is None and track.height == 0:
        return []
    top = at[0] + track.piles[0].mean[0], at[1] + track.piles[0].mean[1]
    return [f for f in belief.figures.values() if f.real > 0.0 and f.present and math.dist(f.foot, top) < STACK.on_top]
