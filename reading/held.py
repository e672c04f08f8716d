"""Figures of others that players hold, as they lie beside their own: told where one has left its holder and the log
has no reason for that.

Players keep their figures in one place beside the board, their home. What lies there in another player's paint is held.
Only differences to the log are of interest: fewer than it says after as many were seen.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from reading.belief import TableBelief
from reading.layings import Steps
from reading.limits import LIMITS
from reading.logged_game import LoggedGame
from reading.policy import Decision, Moment
from scoring.events import Event, FigureTaken, TilePlaced
from scoring.state import GameState
from vision.looks import BesideLook, TableLook

_HOME = 2.5  # tiles from the middle of a player's own figures within which figures are theirs to keep (chosen)
_OTHER = 0.8  # tiles by which figures are nearer to it than to their own player's home: heaps have that radius (chosen)
_PAINT = 2.0  # nats between its two likeliest paints from which a figure's paint is known (chosen)
_KEPT = 400  # newest looks that are kept
_GONE = 0.9  # probability that a held figure that left was set free, and not put elsewhere (chosen)
_BACK = 0.98  # the same if its owner has one more at the same time (chosen)
_SEEN, _AMONG = 2, 6  # looks that must have shown it of so many, and that must miss it: one is one opinion (chosen)

Pair = tuple[int, int]  # who holds, and whose figures
Place = tuple[float, float]  # as `BesideLook.at`


@dataclass(slots=True)
class _Counted:
    """Where one player's figures lay with another, and how many with their owner, by look, as (seconds, places, count),
    since the log last had one go home. That one was taken is logged late, maybe only after it was set free."""

    logged: int
    looks: list[tuple[float, tuple[Place, ...], int]] = field(default_factory=list)

    def left(self) -> _Left | None:
        """That one left of as many as the log has, if fewer have been there since."""
        fewer = len(self.looks)
        while fewer and len(self.looks[fewer - 1][1]) < self.logged:
            fewer -= 1
        seen = sum(len(places) >= self.logged for _, places, _ in self.looks[max(0, fewer - _AMONG):fewer])
        if seen < _SEEN or len(self.looks) - fewer < _SEEN:
            return None
        (seen_s, before, had), (missed_s, after, has) = self.looks[fewer - 1:fewer + 1]
        place = max(before, key=lambda p: min((math.dist(p, q) for q in after), default=0.0))
        return _Left(place=place, seen_s=seen_s, missed_s=missed_s, back=has > had)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Left:
    """A figure left its ``place`` after ``seen_s`` and before ``missed_s``, the times of two looks. It came ``back`` if
    its owner had one more then."""

    place: Place
    seen_s: float
    missed_s: float
    back: bool


class HeldFigures:
    """What looks say of figures that players hold of each other."""

    def __init__(self, colours: Mapping[str, int]) -> None:
        """``colours`` are the players by their paint."""
        self._colours = colours
        self._homes: dict[int, Place] = {}
        self._counted: dict[Pair, _Counted] = {}

    def look(self, look: TableLook, state: GameState) -> None:
        """Count them in a look; ``state`` is that of the log."""
        if look.beside is None:
            return
        lie = [(b, self._colours[b.colour]) for b in look.beside if b.colour in self._colours and _known(b)]
        for player in self._colours.values():
            self._find_home(player, [b for b, owner in lie if owner == player])
        held: dict[Pair, list[Place]] = {(holder, owner): [] for holder in self._homes for owner in self._homes
                                         if holder != owner}
        for b, owner in lie:
            away = {player: math.dist(b.at, home) for player, home in self._homes.items()}
            holder = min(away, key=lambda p: (away[p], p), default=owner)
            if holder != owner and owner in away and away[holder] < min(_HOME, away[owner] - _OTHER):
                held[holder, owner] += [b.at] * b.count
        own = {player: sum(b.count for b, owner in lie if owner == player and math.dist(b.at, home) < _HOME)
               for player, home in self._homes.items()}
        for pair, places in held.items():
            counted = self._counted.get(pair)
            logged = _held(state, pair)
            if counted is None or counted.logged > logged:
                counted = self._counted[pair] = _Counted(logged=logged)
            counted.logged = logged
            counted.looks = [*counted.looks[-_KEPT:], (look.t_s, tuple(places), own[pair[1]])]

    def _find_home(self, player: int, own: Sequence[BesideLook]) -> None:
        """Follow a player's figures, or find where most of them lie."""
        home = self._homes.get(player)
        if home is None and own:
            home = max(own, key=lambda b: (sum(o.count for o in own if math.dist(o.at, b.at) < _HOME), b.at)).at
        around = [b for b in own if home is not None and math.dist(b.at, home) < _HOME]
        if around:
            count = sum(b.count for b in around)
            x, y = (sum(b.at[axis] * b.count for b in around) / count for axis in (0, 1))
            self._homes[player] = x, y

    def decide(self, belief: TableBelief, log: LoggedGame, states: Sequence[GameState], steps: Steps,
               now: Moment) -> list[Decision]:
        """That one was set free, or the question whether one was, where one has left. ``states`` are those after each
        event of the log, preceded by the initial one. Only once a later tile is in the log, and with it what was taken
        in between: an exchange sets figures free by itself."""
        if log.asked and not now.last:
            return []
        after = steps.closed(states[-1])
        for pair, counted in sorted(self._counted.items()):
            left = counted.left() if counted.logged else None
            if left is None:
                continue
            if _held(after, pair) < counted.logged:  # an exchange of this turn does it, unless it came later
                if not self._left_before_taken(left.missed_s, belief, log):
                    continue
            elif not now.last and (now.t_s - left.missed_s < LIMITS.ask_after_s or not any(
                    math.inf > belief.since_s(g.at) >= left.missed_s for g in log.groups)):
                continue
            if (made := _freed(pair, left, belief, log, states, steps, now)) is not None:
                return [made]
        return []

    def _left_before_taken(self, left_s: float, belief: TableBelief, log: LoggedGame) -> bool:
        """Whether the last one that the log has as taken was still seen on the board when one left."""
        taken = next((line.event for line in reversed(log.lines) if isinstance(line.event, FigureTaken)), None)
        return taken is not None and any(
            f.seen_s >= left_s and self._colours.get(f.paint_among(self._colours) or "") == taken.owner
            for f in belief.by_square.get(taken.at, ()))


def _known(look: BesideLook) -> bool:
    """Whether one paint is clearly likelier than all others."""
    ranked = sorted(look.colours.values(), reverse=True)
    return len(ranked) < 2 or ranked[0] - ranked[1] > _PAINT


def _freed(pair: Pair, left: _Left, belief: TableBelief, log: LoggedGame,
           states: Sequence[GameState], steps: Steps, now: Moment) -> Decision | None:
    """That one left because its owner had it set free, in the turn of that player in which it left, or the question
    whether that is so; None if nothing in that turn would have done so, or people have denied it."""
    tiles = [(n, belief.since_s(g.at)) for n, g in enumerate(log.groups) if g.at is not None]
    n = max((n for n, _ in tiles if _player(log, n) == pair[1]), default=None,
            key=lambda n: (_overlap(tiles, n, left), n))
    group = log.groups[n] if n is not None else None
    if n is None or group is None or group.tile is None or group.at is None:
        return None
    first = log.span(n)[0] + 1
    before, later = states[first], [line.event for line in log.lines[first:]]
    may = [move for question in before.box.offers(before) for move in question.answers
           if _after(before, (move, *later), steps, pair) < _held(states[-1], pair)]
    if not may or any(log.denied_in(n, move) for move in may):
        return None
    free = _BACK if left.back else _GONE
    each = free / len(may)
    options: tuple[tuple[tuple[Event, ...], float], ...] = (*(((move,), each) for move in may), ((), 1.0 - free))
    return Decision(events=(may[0],), confidence=each, asked=not left.back or len(may) > 1, alternatives=options,
                    at=group.at, frame=now.frame, after=group.tile.seq, beside=left.place)


def _player(log: LoggedGame, n: int) -> int | None:
    tile = log.groups[n].tile
    return tile.event.player if tile is not None and isinstance(tile.event, TilePlaced) else None


def _overlap(tiles: Sequence[tuple[int, float]], n: int, left: _Left) -> float:
    """For how many of the seconds in which one left a turn may have gone on: from the tile before it to the one after
    it; below 0 how far it is from that. ``tiles`` are the turns with the time since which their tile is seen."""
    k = next(k for k, (m, _) in enumerate(tiles) if m == n)
    begun_s = tiles[k - 1][1] if k else -math.inf
    ended_s = tiles[k + 1][1] if k + 1 < len(tiles) else math.inf
    return min(left.missed_s, ended_s) - max(left.seen_s, begun_s)




def _after(state: GameState, events: Sequence[Event], steps: Steps, pair: Pair) -> float:
    """How many figures of the other one holds after these events; infinitely many if they are impossible."""
    for event in events:
        following = steps.after(state, event)
        if following is None:
            return math.inf
        state = following
    return _held(state, pair)


def _held(state: GameState, pair: Pair) -> int:
    holder, owner = pair
    return sum(of == owner for of, _ in state.box.held_figures(state, holder))
