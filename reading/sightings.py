"""Where looks see neutral pieces, square by square."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from reading import piece_print
from reading.limits import LIMITS
from scoring.events import Event
from scoring.geometry import distance_to_line
from scoring.tiles import Point, Square
from vision.looks import NeutralLook, SquareLook, StackLook, TableLook


@dataclass(frozen=True, slots=True, kw_only=True)
class NeutralLimits:
    """Weights in nats. "chosen" as in `reading.limits`."""

    absent: float = -2.0  # log-odds from a look that does not find the piece on a tile (one in eight is missed), or
    # finds something else elsewhere on it
    fades: float = 0.25  # share of a square's evidence that remains once the piece was later seen elsewhere (chosen)
    remembered: float = 0.3  # share of a square's evidence that remains once a look says the opposite (chosen)
    again: float = 0.5  # share of a look that confirms: looks at the same print are not independent (chosen)
    elsewhere: float = -1.5  # least log-odds of a tile to count as the piece's position at all
    lead: float = 2.5  # margin of that tile over every other one
    stays: float = 1.5  # margin over the square where the game has it: it moves seldom
    overlooked: float = -4.0  # least log-odds that it is still where it was seen, however many looks miss it there:
    # they miss it for the same reason (chosen: `absent`, twice)
    passed: float = 4.0  # most evidence that a walk led over a square where it was seen meanwhile (as `overlooked`)
    unseen: float = -1.6  # the same where it never was seen: one in five places hides it from every look (measured)
    first: float = 2.5  # log-odds of the clearest look from which a piece that was not on the board is told (chosen)
    goes_on: float = 1.0  # against an unfinished move that may still continue
    eaten: float = 4.0  # against sending home a figure that is still seen after the turn
    lingers: float = 1.0  # the same during the turn: people take figures home a while later
    spared: float = 3.0  # against a figure that is gone although nothing sent it home
    too_soon: float = 6.0  # against a move after a tile that appeared when the piece already stood there
    hardly: float = 4.0  # the likeliest move is asked about if it weighs less than minus this
    earlier: float = 1.0  # against a move in the turn before the newest
    # Feet of one that stands still differ by 0.02 tiles in the median and by up to 0.09 (102 looks of two simulated
    # tables at *hard*); of one that was put down again beside the same figure, by 0.17 and more
    steady: float = 0.04  # tiles: standard deviation, along each axis, of where one that stays is seen
    again_at: float = 0.15  # the same for one that went away and came back to its square (chosen)
    no_pile: float = 2.0  # against such a pile where the game has none (as `StackLimits.adds`)
    by_pile: float = 0.2  # tiles: distance from a pile within which it is the pile (as `vision.stacks`)
    far: float = 0.12  # tiles: scale of the distance between the piece and the figure beside which it is put
    ways: int = 400  # most moves that are weighed


NEUTRAL = NeutralLimits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """What looks say of a piece on a square: its log-odds, the time of the last look (``t_s``) and of the first one of
    those that agree (``came_s``), its foot in tiles of the board where it was seen last, and when: the newest time in
    ``found_s``, the first one of that stay in ``first_s``, its highest log-odds then in ``peak``, and those of the
    clearest look alone in ``clearest``: earlier looks say nothing of a piece that only comes by. If looks had
    missed it before that stay, ``away`` is what they said, and ``same`` the log-odds that it stood still all the time,
    from where its foot was before and is now. ``absent_s`` is when the newest look before that stay did not show it.
    ``piled``: the newest look at it there found a pile in its place, too. ``raw`` are the log-odds of the newest look
    that found it, by that place alone; ``prints`` look like it."""

    odds: float
    t_s: float
    came_s: float
    foot: tuple[float, float]
    first_s: float = math.inf
    found_s: float = -math.inf
    peak: float = -math.inf
    clearest: float = -math.inf
    absent_s: float = -math.inf
    away: Sighting | None = None
    same: float = 0.0
    piled: bool = False
    raw: float = -math.inf
    prints: tuple[piece_print.Print, ...] = ()

    @property
    def known(self) -> bool:
        """Whether it was ever seen there, rather than taken to be there once although it had been seen elsewhere."""
        return self.peak > 0.0


Sightings = Mapping[Square, Sighting]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedPile:
    """A pile that the game has. ``top`` is where looks found its top, in tiles of its square (None: not yet), and
    ``blocks`` its height according to those looks, which may differ from the game's."""

    top: Point | None = None
    blocks: int = 0


def updated(old: Mapping[str, Sightings], look: TableLook, names: Sequence[str],
            piles: Mapping[Square, LoggedPile] | None = None,
            stand: Mapping[str, Square | None] | None = None) -> dict[str, Sightings]:
    """The sightings of each piece after one more look, by square. The game has these ``piles``, and the pieces where
    they ``stand``."""
    out: dict[str, Sightings] = {}
    for name in names:
        found = {at: square.neutral.get(name) for at, square in look.squares.items()
                 if square.figures is not None and square.seen >= LIMITS.seen_least}
        apart = {at: apart_from_piles(seen, look.squares[at], (piles or {}).get(at)) for at, seen in found.items()}
        has = (stand or {}).get(name)
        sights = _learned(old.get(name, {}), apart, has, look.t_s)
        single = _one_of({at: seen if at == has else _apart_from_print(seen, at, sights) for at, seen in apart.items()},
                         sights)
        for at, seen in apart.items():
            elsewhere = max((s.found_s for other, s in sights.items() if other != at and s.found_s > s.first_s),
                            default=-math.inf)  # one look may have seen a hand
            sights[at] = new = _updated(sights.get(at), single[at], at, look.t_s, elsewhere)
            if seen is not None and new.odds >= 0.0:
                sights[at] = replace(new, piled=seen is not found[at],
                                     raw=seen.there if new.found_s == look.t_s else new.raw)
        out[name] = sights
    return out


def _learned(old: Sightings, seen: Mapping[Square, NeutralLook | None], has: Square | None,
             t: float) -> dict[Square, Sighting]:
    """The sightings before a look, with the print that it shows: there is one piece, and if the look shows it most
    clearly where the game has it, what looks like it elsewhere is not it, and was not while it stood there. What is
    known as print and no clearer than before is print."""
    out, own = dict(old), seen.get(has) if has is not None else None
    since_s = old[has].first_s if has is not None and has in old else math.inf
    for at, other in seen.items():
        sight = old.get(at)
        if other is None or other.there <= 0.0:
            continue
        foot = _on_board(at, other)
        if at == has:
            out |= {at: replace(sight, prints=piece_print.without(sight.prints, foot))} if sight is not None else {}
            continue
        known = sight.prints if sight is not None else ()
        surely = own is not None and other.there <= own.there - NEUTRAL.stays
        no_clearer = piece_print.apart(other.there, foot, known) <= 0.0
        if surely or no_clearer:
            prints = piece_print.seen(known, foot, other.there, t)
            was = sight is not None and surely and sight.odds > 0.0 and sight.first_s >= since_s and prints[-1].known
            if sight is None or was:
                sight = Sighting(odds=NEUTRAL.absent, t_s=t, came_s=t, foot=foot)
            out[at] = replace(sight, prints=prints)
    return out


def denied(old: Sightings, at: Square, event: Event) -> Sightings:
    """The sightings once people, asked whether the piece went to a square where looks have seen it, have said that
    nothing happened (``event``): it is print."""
    sight = old.get(at)
    if sight is None or not sight.known:
        return old
    prints = piece_print.denied(sight.prints, sight.foot, sight.raw, sight.t_s, event)
    return {**old, at: Sighting(odds=NEUTRAL.absent, t_s=sight.t_s, came_s=sight.t_s, foot=sight.foot, prints=prints)}


def believed(old: Sightings, refused: Collection[Event]) -> Sightings:
    """The sightings without print that is known only by what people have said and no longer say (``refused``)."""
    return {at: replace(s, prints=piece_print.without_denied(s.prints, refused)) if s.prints else s
            for at, s in old.items()}


def _on_board(at: Square, seen: NeutralLook) -> tuple[float, float]:
    return at[0] + seen.foot[0], at[1] + seen.foot[1]


def _apart_from_print(seen: NeutralLook | None, at: Square, sights: Sightings) -> NeutralLook | None:
    known = sights.get(at)
    return seen if seen is None or known is None else replace(
        seen, there=piece_print.apart(seen.there, _on_board(at, seen), known.prints))


def _one_of(seen: Mapping[Square, NeutralLook | None], known: Sightings) -> dict[Square, NeutralLook | None]:
    """What one look sees of a piece in several places, given that there is one piece: each speaks for its place only
    by as much as it is clearer than all others together. A hand may look like it in several. Where it was seen before
    (``known``), in the same place, it rather is still: it moves seldom."""
    odds = {at: s.there + NEUTRAL.stays * _was(at, s, known) for at, s in seen.items()
            if s is not None and s.there > 0.0}
    return {at: s if s is None or at not in odds or len(odds) == 1 else replace(
        s, there=min(s.there, max(NEUTRAL.absent, odds[at] - math.log1p(
            sum(math.exp(o) for other, o in odds.items() if other != at))))) for at, s in seen.items()}


def _was(at: Square, seen: NeutralLook, known: Sightings) -> bool:
    """Whether a piece was seen before where a look sees it now."""
    return at in known and known[at].odds > 0.0 and math.dist(known[at].foot, _on_board(at, seen)) < NEUTRAL.again_at


def _updated(old: Sighting | None, seen: NeutralLook | None, at: Square, t: float, elsewhere: float) -> Sighting:
    """The sightings on a square after one more look. A piece that is seen again, and was not seen ``elsewhere`` (the
    newest time) meanwhile, was there all the time: looks at it miss it for the same reason, several in a row."""
    odds = NEUTRAL.absent if seen is None else seen.there
    foot = (at[0] + 0.5, at[1] + 0.5) if seen is None else (at[0] + seen.foot[0], at[1] + seen.foot[1])
    if old is None or not old.known or math.dist(foot, old.foot) > NEUTRAL.again_at:
        odds = max(odds, NEUTRAL.absent)  # that a figure is not the piece does not say that it is not beside him
    if old is None:
        new = Sighting(odds=odds, t_s=t, came_s=t, foot=foot)
    elif (old.odds < 0.0) == (odds < 0.0):
        share = NEUTRAL.again * (1.0 - math.exp(-max(0.0, t - old.t_s) / LIMITS.new_look_s))
        more = old.odds + share * odds if abs(old.odds) < 2 * abs(odds) else old.odds
        new = replace(old, odds=more, t_s=t)
    else:  # it came or went: little of the old evidence remains
        more = odds + NEUTRAL.remembered * old.odds
        new = replace(old, odds=more, t_s=t, came_s=old.came_s if (more < 0.0) == (old.odds < 0.0) else t)
    if odds <= 0.0:
        return new
    new = replace(new, foot=foot, found_s=t)
    if old is None:
        new = replace(new, first_s=t)
    elif old.odds < 0.0:
        stays = elsewhere <= old.found_s
        if old.found_s < old.t_s:  # looks had missed it
            same = _same(old.foot, foot) if old.known else 0.0
            stays = stays and old.known and same >= 0.0
            new = replace(new, away=replace(old, away=None) if old.known else None, same=same)
        came = min(t, old.first_s) if stays else t
        absent_s = old.absent_s if stays and old.first_s <= t else old.t_s
        new = replace(new, first_s=came, came_s=came, peak=-math.inf, clearest=-math.inf, absent_s=absent_s)
    return replace(new, peak=max(new.peak, new.odds), clearest=max(new.clearest, odds))


def _same(before: tuple[float, float], now: tuple[float, float]) -> float:
    """Log-odds that a piece which is seen again, with its foot here and now, was there all the time."""
    apart = math.dist(before, now)
    still, put = ((-0.5 * (apart / s) ** 2 - 2.0 * math.log(s)) for s in (NEUTRAL.steady, NEUTRAL.again_at))
    return max(still - put, -LIMITS.floor)


def apart_from_piles(seen: NeutralLook | None, square: SquareLook, logged: LoggedPile | None) -> NeutralLook | None:
    """What is seen of a piece, given the pile that this look found there. If the game has one there (``logged``), it is
    no piece, even where a figure covers the top, so that the look did not find it; otherwise it may be either."""
    pile = None if seen is None else next((p for p in square.stacks.values() if _is_pile(seen, p, logged)), None)
    if seen is None or pile is None:
        return seen
    return None if logged is not None else replace(
        seen, there=min(seen.there, seen.there - pile.there + NEUTRAL.no_pile))


def _is_pile(seen: NeutralLook, pile: StackLook, logged: LoggedPile | None) -> bool:
    """Whether what is seen may be a pile: its wood may have the piece's colour, and no neutral piece stands on one."""
    top, high = pile.top, max(range(len(pile.heights)), key=lambda n: pile.heights[n], default=0)
    if pile.there <= 0.0:
        if logged is None or logged.top is None:
            return False
        top, high = logged.top, logged.blocks
    place = (top[0] - high * pile.floor[0], top[1] - high * pile.floor[1])
    return distance_to_line((place, top), *seen.foot) < NEUTRAL.by_pile


def stands_on(sights: Sightings) -> tuple[Square, float] | None:
    """The square on which a piece is seen and its margin in nats over every other square; None if it is seen nowhere.
    """
    newest = max((s.came_s for s in sights.values() if s.odds > 0), default=0.0)
    ranked = sorted(((s.odds * (1.0 if s.t_s >= newest else NEUTRAL.fades) if s.odds > 0 else s.odds, at)
                     for at, s in sights.items()), reverse=True)
    if not ranked or ranked[0][0] < NEUTRAL.elsewhere:
        return None
    second = ranked[1][0] if len(ranked) > 1 else NEUTRAL.absent
    return ranked[0][1], ranked[0][0] - max(second, NEUTRAL.absent)
