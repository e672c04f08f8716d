"""Figures of others that players hold, as they lie beside their own: whoever has left his holder, without a reason in
the log, was bought back.

Players keep their figures in one place beside the board, their home. What lies there in another player's paint is held.
Only differences to the log are of interest: fewer than it says after as many were seen.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations, takewhile
from statistics import median

from reading.belief import TableBelief
from reading.heaps import HOME, Heaps, Place
from reading.layings import Steps
from reading.limits import LIMITS
from reading.logged_game import LoggedGame
from reading.policy import Decision, Moment
from reading.surplus import Pair, Surplus
from scoring.events import Event, FigureTaken, TilePlaced
from scoring.state import GameState
from scoring.tiles import Square
from vision.looks import BesideLook, TableLook

_OTHER = 0.8  # tiles by which figures are nearer to it than to their own player's home: heaps have that radius (chosen)
_AMONG_OWN = 1.8  # tiles from the middle of a player's own figures within which others are surely theirs: what lies
# farther away may be something else (chosen)
_PAINT = 2.0  # nats between its two likeliest paints from which a figure's paint is known (chosen)
_KEPT = 400  # newest looks that are kept
_GONE = 0.9  # probability that a held figure that left was set free, and not put elsewhere (chosen)
_BACK = 0.98  # the same if its owner has one more than the log explains (chosen)
_LATE = 12  # looks that may show one before the log has it (chosen)
_SEEN, _AMONG = 2, 6  # looks that must have shown it of so many, and that must miss it: one is one opinion (chosen)
_OFF = 0.2  # share of looks in which figures in hand may be counted otherwise (chosen)
_ASKED_S = 120.0  # seconds after which a departure is no more a reason that looks show fewer than the log has (chosen)
_UNSEEN_S = 30.0  # seconds in which looks have shown fewer than the log has, after which people are told (chosen)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Count:
    """One look: the ``places`` of one player's figures that lie with another, how many of their own lie with the
    ``holder``, how many more lie with their ``owner`` than the log says are in supply, and how many were ``logged`` as
    held."""

    t_s: float
    logged: int
    places: tuple[Place, ...]
    holder: int
    owner: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Departure:
    """A figure left its ``place`` (None: no look showed it there) after ``seen_s`` and before ``missed_s``, the times
    of two looks. It surely came ``back`` if its owner has had one more since than the log explains, and looks had shown
    it before."""

    place: Place | None
    seen_s: float
    missed_s: float
    back: bool


@dataclass(slots=True)
class _Counted:
    """One player's figures that lie with another, look by look, since the log last had one go home; ``logged`` is how
    many the log has. That one was taken is logged late, maybe only after it was set free. While the log had none,
    ``crowded`` of ``free`` looks showed some all the same."""

    logged: int
    free: int = 0
    crowded: int = 0
    looks: list[_Count] = field(default_factory=list)

    def taken(self) -> None:
        """The log has the first of them now, and looks may have shown it before: as far as they showed none earlier."""
        shown = sum(1 for _ in takewhile(lambda c: c.places, reversed(self.looks)))
        if len(self.looks) - shown >= _AMONG:
            self.free, self.crowded = self.free - shown, self.crowded - shown

    @property
    def unclear(self) -> bool:
        """Whether something else that looks like the player's figures lies there."""
        return self.crowded > max(_LATE, self.free / 2)

    def departure(self) -> _Departure | None:
        """The departure of one of them, if as many as logged were seen before, and fewer in all looks since."""
        if self.unclear:
            return None
        fewer = len(self.looks)
        while fewer and len(self.looks[fewer - 1].places) < self.logged:
            fewer -= 1
        before, since = self.looks[max(0, fewer - _AMONG):fewer], self.looks[fewer:]
        if sum(len(c.places) >= self.logged for c in before) < _SEEN or len(since) < _SEEN:
            return self._soon_back()
        last, first = before[-1], since[0]
        if last.holder and not any(c.holder for c in since):
            return None  # all that lay there is elsewhere
        place = max(last.places, key=lambda p: min((math.dist(p, q) for q in first.places), default=0.0))
        more = median(c.owner for c in since[-_AMONG:]) - median(c.owner for c in before)
        return _Departure(place=place, seen_s=last.t_s, missed_s=first.t_s, back=more == 1.0)

    def _soon_back(self) -> _Departure | None:
        """The departure, soon after it was taken, of one that hardly a look showed with its holder: its owner has had
        one more since, compared with the log, than before."""
        first = len(self.looks) - sum(1 for _ in takewhile(lambda c: c.logged == self.logged, reversed(self.looks)))
        if first < _AMONG or len(self.looks) < first + _AMONG:  # what is usual of its owner must be known
            return None
        usual, more = (median(c.owner for c in part) for part in (
            self.looks[max(0, first - 2 * _LATE):first], self.looks[-_AMONG:]))
        begin = max(1, first - _LATE)
        for n in range(begin, min(first + _LATE, len(self.looks) - _AMONG) + 1):
            before, since = self.looks[max(0, n - _AMONG):n], self.looks[n:]
            if more - usual == 1.0 and since[0].owner >= more > before[-1].owner \
                    and median(c.owner for c in before) == usual \
                    and sum(c.owner != more for c in since) <= _OFF * len(since) \
                    and all(len(c.places) < self.logged for c in since):
                shown = [c.places[-1] for c in self.looks[begin:n] if len(c.places) >= self.logged]
                return _Departure(place=shown[-1] if shown else None, seen_s=before[-1].t_s, missed_s=since[0].t_s,
                                  back=bool(shown))
        return None


class HeldFigures:
    """What looks say of figures that players hold of each other."""

    def __init__(self, colours: Mapping[str, int]) -> None:
        """``colours`` are the players by their paint."""
        self._colours = colours
        self._heaps = {player: Heaps() for player in colours.values()}
        self._hands: dict[int, int] = {}  # how many each has in hand, by the log, in the newest look
        self._counted: dict[Pair, _Counted] = {}
        self._shown_s: dict[Pair, tuple[int, float]] = {}  # how many the log has, and when looks last showed as many
        self._surplus = Surplus()
        self._unexplained: dict[Pair, float] = {}  # when the newest departure was first missed, if nothing explains it
        self._looked_s = -math.inf

    def look(self, look: TableLook, state: GameState, closed: GameState) -> None:
        """Count them in a look. ``state`` is that of the log, ``closed`` as if its last turn were over: whoever has
        scored in it goes home at once."""
        if look.beside is None:
            return
        self._looked_s = look.t_s
        lie = [(b, self._colours[b.colour]) for b in look.beside if b.colour in self._colours and _known(b)]
        self._hands = {player: _in_hand(closed, player) for player in self._colours.values()}
        for player in self._colours.values():
            self._find_home(player, lie, state)
        homes = self._homes()
        held: dict[Pair, list[Place]] = {pair: [] for pair in permutations(homes, 2)}
        own = dict.fromkeys(homes, 0)
        for b, owner in lie:
            away = {player: math.dist(b.at, home) for player, home in homes.items()}
            holder = min(away, key=lambda p: (away[p], p), default=owner)
            if owner in away and away[owner] < HOME:
                own[owner] += b.count
            if holder != owner and owner in away and away[holder] < min(HOME, away[owner] - _OTHER):
                held[holder, owner] += [b.at] * b.count
        self._surplus.look(look.t_s, {
            pair: sum(math.dist(p, homes[pair[0]]) < _AMONG_OWN for p in places) for pair, places in held.items()
            if own[pair[0]] or not self._hands[pair[0]]}, self._all_held(state))
        for pair, places in held.items():
            counted = self._counted.get(pair)
            logged = _held(state, pair)
            if counted is None or counted.logged > logged:
                free, crowded = (counted.free, counted.crowded) if counted else (0, 0)
                counted = self._counted[pair] = _Counted(logged=logged, free=free, crowded=crowded)
            if logged and not counted.logged:
                counted.taken()
            counted.logged = logged
            counted.free += not logged
            counted.crowded += bool(places) and not logged
            holder, owner = pair
            counted.looks.append(_Count(t_s=look.t_s, logged=logged, places=tuple(places), holder=own[holder],
                                        owner=own[owner] - self._hands[owner]))
            del counted.looks[:-_KEPT]
        for pair in permutations(self._colours.values(), 2):
            logged, counted = _held(state, pair), self._counted.get(pair)
            shown = counted is not None and len(held.get(pair, ())) >= logged and not counted.unclear
            if shown or not logged or self._shown_s.get(pair, (0, 0.0))[0] != logged:
                self._shown_s[pair] = logged, look.t_s

    def _homes(self) -> dict[int, Place]:
        """Where the home of each player is of whom it is known."""
        return {player: heaps.home.at for player, heaps in self._heaps.items() if heaps.home is not None}

    def _find_home(self, player: int, lie: Sequence[tuple[BesideLook, int]], state: GameState) -> None:
        """Find the home of a player in a look."""
        homes = self._homes()
        others = {p: _held(state, (p, player)) for p in self._colours.values() if p != player}
        if self._heaps[player].look(
                [b for b, owner in lie if owner == player], [b for b, owner in lie if owner != player],
                self._hands[player], sum(_held(state, (player, p)) for p in others),
                [(homes.get(p), count) for p, count in others.items() if count]):
            self._counted = {pair: c for pair, c in self._counted.items() if player not in pair}
            self._surplus.forget(player)

    def unlogged(self, state: GameState) -> dict[Pair, int]:
        """How many figures lie with another player for some time, by holder and owner, that the log, whose state this
        is, does not have as taken."""
        return self._surplus.lasting(self._all_held(state))

    def _all_held(self, state: GameState) -> dict[Pair, int]:
        return {pair: _held(state, pair) for pair in permutations(self._colours.values(), 2)}

    def unseen(self) -> dict[int, int]:
        """By player how many of the figures that the log says they hold have not been seen with them for some time: if
        they are set free, nobody sees that."""
        out: dict[int, int] = {}
        for (holder, owner), (logged, shown_s) in self._shown_s.items():
            counted = self._counted.get((holder, owner))
            gone = counted.departure() if counted else None
            if gone is not None and self._looked_s - gone.missed_s < _ASKED_S and (
                    self._unexplained.get((holder, owner)) != gone.missed_s):
                continue  # people are asked about it
            if self._looked_s - shown_s > _UNSEEN_S:
                looks = counted.looks[-_AMONG:] if counted and not counted.unclear else ()
                seen = min(logged - 1, max((len(c.places) for c in looks), default=0))
                out[holder] = out.get(holder, 0) + logged - seen
        return out

    def decide(self, belief: TableBelief, log: LoggedGame, states: Sequence[GameState], steps: Steps,
               now: Moment) -> list[Decision]:
        """That one was set free, or the question whether one was, where one has left. ``states`` are those after each
        event of the log, preceded by the initial one. Only once a later tile is in the log, and with it what was taken
        in between: an exchange sets figures free by itself."""
        if log.asked and not now.last:
            return []
        after = steps.closed(states[-1])
        for pair, counted in sorted(self._counted.items()):
            if not counted.logged or counted.logged != _held(states[-1], pair) or (
                    _in_hand(after, pair[1]) != self._hands.get(pair[1])):  # the log has changed since the look
                continue
            gone = counted.departure()
            if gone is None:
                continue
            if _held(after, pair) < counted.logged:  # an exchange of this turn does it, unless it came later
                if not self._left_before_taken(gone.missed_s, belief, log):
                    continue
            elif not now.last and (now.t_s - gone.missed_s < LIMITS.ask_after_s or not any(
                    math.inf > belief.since_s(g.at) >= gone.missed_s for g in log.groups)):
                continue
            made = _freed(pair, gone, belief, log, states, steps, now)
            self._unexplained[pair] = math.nan if made else gone.missed_s
            if made is not None:
                return [made if gone.place else replace(made, beside=self._homes().get(pair[1]))]
        for pair, counted in sorted(self._counted.items()):
            if (made := self._not_exchanged(pair, counted, belief, log, states, steps, now)) is not None:
                return [made]
        return []

    def _not_exchanged(self, pair: Pair, counted: _Counted, belief: TableBelief, log: LoggedGame,
                       states: Sequence[GameState], steps: Steps, now: Moment) -> Decision | None:
        """That a player bought one of theirs back before they captured one of the same opponent, where the log has both
        exchanged: looks have shown the captured one with them ever since. A question where they may have forgotten the
        exchange: that the other one is gone from the opponent has to be seen, too."""
        holder, owner = pair
        logged = _held(states[-1], pair)
        since = [*takewhile(lambda c: len(c.places) > logged, reversed(counted.looks))]
        if len(since) < _AMONG or now.t_s - since[-1].t_s < LIMITS.ask_after_s \
                or counted.crowded - len(since) > max(_LATE, counted.free / 2):
            return None
        for n in log.newest(LIMITS.late_turns):
            group, first = log.groups[n], log.span(n)[0] + 1
            if _player(log, n) != holder or group.tile is None or group.at is None \
                    or since[-1].t_s < belief.since_s(group.at):
                continue
            later = [line.event for line in log.lines[first:]]
            may = [move for move in _ransoms((owner, holder), n, log, states, steps)
                   if logged < _after(states[first], (move, *later), steps, pair) < math.inf]
            if not may:
                continue
            other = self._counted.get((owner, holder))
            seen = other is not None and all(
                len(c.places) <= _held(states[-1], (owner, holder)) for c in other.looks[-_AMONG:])
            return _set_free(may, seen, group.tile.seq, group.at, now, since[0].places[-1])
        return None

    def _left_before_taken(self, left_s: float, belief: TableBelief, log: LoggedGame) -> bool:
        """Whether the last one that the log has as taken was still on the board when one left: a look that misses him,
        soon after a hand was there, came later."""
        taken = next((line.event for line in reversed(log.lines) if isinstance(line.event, FigureTaken)), None)
        if taken is None:
            return False
        theirs = [f for f in belief.by_square.get(taken.at, ())
                  if self._colours.get(f.paint_among(self._colours)) == taken.owner]
        return any(max(f.seen_s, f.missed_s or f.seen_s) > left_s for f in theirs)


def _known(look: BesideLook) -> bool:
    """Whether one paint is clearly likelier than all others."""
    ranked = sorted(look.colours.values(), reverse=True)
    return len(ranked) < 2 or ranked[0] - ranked[1] > _PAINT


def _freed(pair: Pair, gone: _Departure, belief: TableBelief, log: LoggedGame,
           states: Sequence[GameState], steps: Steps, now: Moment) -> Decision | None:
    """That one left because its owner had it set free, in the turn of that player in which it left, or the question
    whether that is so; None if nothing in that turn would have done so, or people have denied it."""
    overlap = _overlap(belief, log, gone)
    n = max((n for n in overlap if overlap[n] > 0.0 and _player(log, n) == pair[1]), default=None,
            key=lambda n: (overlap[n], n))
    group = log.groups[n] if n is not None else None
    if n is None or group is None or group.tile is None or group.at is None:
        return None
    first = log.span(n)[0] + 1
    later = [line.event for line in log.lines[first:]]
    may = [move for move in _ransoms(pair, n, log, states, steps)
           if _after(states[first], (move, *later), steps, pair) < _held(states[-1], pair)]
    return _set_free(may, gone.back, group.tile.seq, group.at, now, gone.place) if may else None


def _ransoms(pair: Pair, n: int, log: LoggedGame, states: Sequence[GameState], steps: Steps) -> list[Event]:
    """What sets free one of those that the first player of a pair holds of the second, once the tile of turn ``n``
    lies; nothing if people have denied any of it."""
    before = states[log.span(n)[0] + 1]
    offered = [move for question in before.box.offers(before) for move in question.answers
               if _after(before, (move,), steps, pair) < _held(before, pair)]
    return [] if any(log.denied_in(n, move) for move in offered) else offered


def _set_free(may: Sequence[Event], surely: bool, tile: int, at: Square, now: Moment, place: Place | None) -> Decision:
    """The decision that one of these happened after a tile's entry, or the question which, if any."""
    free = _BACK if surely else _GONE
    options: tuple[tuple[tuple[Event, ...], float], ...] = (*(((move,), free / len(may)) for move in may),
                                                            ((), 1.0 - free))
    return Decision(events=(may[0],), confidence=free / len(may), asked=not surely or len(may) > 1,
                    alternatives=options, at=at, frame=now.frame, after=tile, beside=place)


def _player(log: LoggedGame, n: int) -> int | None:
    tile = log.groups[n].tile
    return tile.event.player if tile is not None and isinstance(tile.event, TilePlaced) else None


def _overlap(belief: TableBelief, log: LoggedGame, gone: _Departure) -> dict[int, float]:
    """By turn for how many of the seconds in which one left it may have gone on: from the tile before it to the one
    after it; below 0 how far it is from that."""
    tiles = [(n, belief.since_s(group.at)) for n, group in enumerate(log.groups) if group.at is not None]
    begun_s = [-math.inf, *(since_s for _, since_s in tiles)]
    ended_s = [*(since_s for _, since_s in tiles[1:]), math.inf]
    return {n: min(gone.missed_s, end_s) - max(gone.seen_s, begin_s)
            for (n, _), begin_s, end_s in zip(tiles, begun_s, ended_s, strict=False)}


def _after(state: GameState, events: Sequence[Event], steps: Steps, pair: Pair) -> float:
    """How many figures of the other one holds after these events; infinitely many if they are impossible."""
    for event in events:
        following = steps.after(state, event)
        if following is None:
            return math.inf
        state = following
    return _held(state, pair)


def _in_hand(state: GameState, player: int) -> int:
    return sum(count for name, count in state.supply[player].items() if state.box.pieces[name].stands)


def _held(state: GameState, pair: Pair) -> int:
    holder, owner = pair
    return sum(of == owner for of, _ in state.box.held_figures(state, holder))
