"""Where neutral pieces were at the end of a turn: a move of one speaks for the tiles that allow it, and a piece that
stayed where it was speaks against those that make it move."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from reading.belief import TableBelief
from reading.figure_track import FigureTrack
from reading.limits import LIMITS
from reading.logged_game import LoggedGame, denies
from reading.sightings import NEUTRAL, Sighting, Sightings, stands_on
from scoring.contributions import Neutral
from scoring.events import Event
from scoring.state import GameState
from scoring.tiles import Square


@dataclass(frozen=True, slots=True, kw_only=True)
class Stay:
    """A piece was seen on square ``at`` by more than one look: first at ``first_s``, when the look at ``absent_s`` had
    not shown it there, and again after the tiles had come that were first seen until ``until_s``. ``said`` is the
    evidence for it in nats; ``now``: it is where the piece is found now. ``figures`` are whether figures are there
    since then, by square and player: 1 yes, -1 no."""

    name: str
    at: Square
    first_s: float
    until_s: float
    said: float
    now: bool
    absent_s: float = -math.inf
    figures: tuple[tuple[tuple[Square, int], float], ...] = ()


class End(NamedTuple):
    """Where a piece was at the end of a turn: ``over``, or so far. ``came``: it came there in that turn, rather than
    before it."""

    stay: Stay
    came: bool
    over: bool


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """The stays of all pieces, the first ones first; and for the tiles of the newest turns and those that the log does
    not have, when their squares were last seen bare and when they were first seen (``times``). ``denied`` are moves
    that people took back."""

    stays: tuple[Stay, ...] = ()
    times: tuple[tuple[Square, float, float], ...] = ()
    denied: frozenset[Event] = frozenset()

    def ends(self, at: Square, laid: Collection[Square]) -> Iterator[End]:
        """Where the pieces were at the end of the turn of the tile on a square, if the tiles on the squares ``laid``,
        this one among them, were laid by then and the others later; without pieces of which looks do not tell it."""
        own = next((t for t in self.times if t[0] == at), None)
        if own is None:
            return
        later = [(bare_s, since_s) for square, bare_s, since_s in self.times if square not in laid]
        over_s, next_s = min((b for b, _ in later), default=math.inf), min((s for _, s in later), default=math.inf)
        last = {stay.name: stay for stay in self.stays if stay.first_s < next_s}
        for stay in last.values():
            left_s = max((s.until_s for s in self.stays if s.name == stay.name and s.first_s < stay.first_s),
                         default=-math.inf)
            if own[2] <= max(left_s, stay.absent_s) and stay.first_s <= over_s and (later or stay.now):
                yield End(stay, True, bool(later))
            elif stay.first_s <= own[1] and later and stay.until_s >= next_s:
                yield End(stay, False, True)


def whereabouts(seen: Mapping[str, Sightings], belief: TableBelief, log: LoggedGame, fresh: Collection[Square],
                colours: Mapping[str, int]) -> Whereabouts:
    """What looks have seen of each piece, for the newest turns of the log and those of the tiles on ``fresh`` squares,
    which it does not have yet."""
    squares = {*fresh, *(g.at for g in log.groups[-LIMITS.open_turns:] if g.at is not None)}
    times = tuple(sorted((at, belief.bare_s(at), belief.since_s(at)) for at in squares
                         if belief.since_s(at) < math.inf))
    if not times:
        return Whereabouts()
    stood = seen_figures(belief, colours)
    began_s = min(since_s for _, _, since_s in times)
    stays = []
    for name, sights in seen.items():
        found = stands_on(sights)
        for at, sight in sights.items():
            if sight.peak < NEUTRAL.lead or sight.found_s <= sight.first_s or any(
                    o.first_s < sight.first_s < o.found_s for other, o in sights.items() if other != at):
                continue  # it was elsewhere all the time: what looks like it there is print
            until_s = max((s for _, _, s in times if s <= sight.found_s), default=-math.inf)
            there = () if sight.first_s < began_s else tuple(sorted(
                (who, half) for who, f in stood.items() if (half := round(2.0 * since(f, sight)) / 2.0)))
            now = found is not None and found[0] == at and found[1] >= NEUTRAL.lead
            stays.append(Stay(name=name, at=at, first_s=sight.first_s, until_s=until_s, now=now, figures=there,
                              absent_s=sight.absent_s, said=float(round(min(sight.peak, LIMITS.unallowed)))))
    return Whereabouts(tuple(sorted(stays, key=lambda s: (s.first_s, s.name, s.at))), times, log.denied)


def seen_figures(belief: TableBelief, colours: Mapping[str, int]) -> dict[tuple[Square, int], FigureTrack]:
    """The figures that are or were seen, by square and player: of several the one seen last, of those still there if
    there are any."""
    seen = sorted((f for f in belief.figures.values() if f.real > 0.0), key=lambda f: (f.present, f.seen_s))
    return {(f.at, colours.get(f.paint, -1)): f for f in seen}


def since(track: FigureTrack, sight: Sighting) -> float:
    """Whether a figure has been there since the piece arrived at its position: 1 surely, -1 surely not, 0 unknown."""
    if track.missed > 0.0:
        return -min(1.0, track.missed / LIMITS.gone)
    return 1.0 if track.seen_s >= sight.came_s else 0.0


def moved(seen: Whereabouts, at: Square, state: GameState, bare: GameState,
          after: Callable[[GameState, Event], GameState | None],
          closed: Callable[[GameState], GameState]) -> tuple[float, GameState]:
    """What is seen of neutral pieces by the end of the turn of the tile on a square, given the states with all of the
    turn that is known, and with its tile only (``bare``): the log-weight of it, and the state with the legal moves that
    the log does not have yet. ``after`` and ``closed`` give the state after an event, and after the turn."""
    said = 0.0
    for end in seen.ends(at, state.tiles):
        piece, to = next(n for n in state.box.neutrals if n.name == end.stay.name), end.stay.at
        if end.came and piece.at(state) != to:
            ways = [s for event in _moves_to(piece, state, to) if not denies(seen.denied, event)
                    and (s := after(state, event)) is not None]
            if ways:
                state = max(ways, key=lambda s: agrees(end.stay, state, s) - _goes_on(piece, s, end, closed))
            elif not _moves_to(piece, bare, to):  # the tile is against it, not only what else was done in the turn
                said -= end.stay.said
        if piece.at(state) == to:
            said -= _goes_on(piece, state, end, closed)
    return said, state


def _goes_on(piece: Neutral, state: GameState, end: End, closed: Callable[[GameState], GameState]) -> float:
    """The evidence against a state in which the piece would have to move on, in nats."""
    if not end.over or not piece.awaited or not any(True for _ in piece.ways(state)):
        return 0.0
    return end.stay.said * any(i.code == piece.awaited for i in closed(state).issues[len(state.issues):])


def _moves_to(neutral: Neutral, state: GameState, at: Square) -> list[Event]:
    """The legal moves of a piece that end on a square, of those that are weighed (`NeutralLimits.ways`)."""
    return [event for event, _ in zip(neutral.ways(state), range(NEUTRAL.ways), strict=False)
            if neutral.goes(event)[-1:] == (at,)]


def agrees(stay: Stay, before: GameState, after: GameState) -> float:
    """Log-weight of the figures seen, given those that stand before and after a move there."""
    out, there = 0.0, dict(stay.figures)
    for i, figure in before.standing.items():
        seen = there.get((figure.at, figure.player), 0.0)
        out -= NEUTRAL.eaten * max(0.0, seen) if i not in after.standing else NEUTRAL.spared * max(0.0, -seen)
    return out
