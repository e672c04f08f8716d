"""What is assumed of piles of blocks, of looks at them, and of the people who build them."""

from __future__ import annotations

from dataclasses import dataclass

Point3 = tuple[float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class StackLimits:
    """Weights in nats, deviations in tiles and radians (x, y, yaw). "measured": by `benchmarks/stack_looks.py`;
    "chosen": any value near it did as well on the looks of four simulated games. No such wood was measured."""

    look: Point3 = (0.0045, 0.0045, 0.06)  # of one look at an unchanged top (measured: 0.003 to 0.0045)
    drifts: Point3 = (0.002, 0.002, 0.012)  # of an unchanged top between two looks, against its tile (chosen)
    finest: float = 0.7  # least noise of the looks at one table relative to that, once it is measured there
    coarsest: float = 1.5  # and the greatest
    worst: float = 4.0  # the greatest at a pile that is seen worse than the others (chosen)
    compared_own: int = 8  # differences at one pile from which that is known
    compared: int = 24  # differences of successive looks from which it is
    partly: float = 3.0  # times as much where the top is not seen clearly
    clearly: tuple[float, float] = (2.5, 5.5)  # log-odds of a pile at which it is not and at which it is (chosen)
    added: Point3 = (0.016, 0.016, 0.12)  # of a raised top from where it is expected (measured: 0.014 to 0.028)
    knocked: Point3 = (0.012, 0.012, 0.10)  # of a pile that somebody touched (chosen)
    adds: float = 2.0  # against a block added between two looks, most of which are due to a hand there (chosen)
    adds_not: float = 6.0  # the same if nothing moved over the square in between (chosen: as `ClaimLimits.untouched`)
    adds_hardly: float = 4.0  # the same if something moved there only briefly, as a hand that passes (chosen: between)
    brief_s: float = 1.0  # for no longer than this (chosen: simulated hands that add one stay longer)
    moves: float = 0.4  # share of the turns in which nothing else was done that have such a move, on any pile (recorded
    # games: 0.43 with this box alone, 0.36 with all)
    on_the_way: float = -1.5  # log-odds that a hand which moved over one pile, in such a turn, put a block there, if
    # something else changed where it was (chosen); what is against a brief motion comes on top
    came_for: float = 0.0  # and if nothing did (chosen: people reach over a table for other reasons, too)
    hasty: float = 4.0  # against two blocks within less than a turn, which adds at most one (chosen)
    turn_s: float = 4.5
    knocks: float = 3.0  # against a pile having been knocked, or what is beside it taken away (chosen: 2.5 to 3.5)
    misled: float = 5.0  # most evidence of looks for a block that people denied in another turn: all may err alike
    # (chosen)
    anew: float = 6.0  # against all looks before having been misread, besides that (chosen: on 16 recorded tables 8
    # does as well, 4 misses a follower)
    reaches: float = 0.2  # tiles from the middle of a top to its corner (chosen: 0.25 for 16 mm wood, but rather fewer)
    misread: float = 3.5  # against a look being wrong about the top (chosen)
    anywhere: float = 2.8  # log-density of a misread top: within 0.2 tiles and a right angle
    misread_again: float = 1.0  # against the next look being wrong in the same way if nothing has moved (chosen)
    tone: float = 0.006  # of one look at the tone of a top (natural logarithm of lightness; measured: 0.004)
    tone_drifts: float = 0.003  # of the tone between two looks (chosen)
    tones: float = 0.05  # of the blocks of one maker (assumed: wood)
    shadows: float = 0.07  # part of the looks on which a shadow changes the tone (measured: 0.05 to 0.08 beyond 0.03)
    shadow: float = 0.6  # range of tones in a shadow
    lasts: float = 0.05  # part of the looks in a shadow after which the next one, within two seconds, is too (chosen)
    covers: float = 0.2  # tiles from where the top of a first block is expected to where it may appear: about half its
    # width, so that it covers its place (chosen)
    veiled: float = 0.5  # evidence of one look against a pile up to which a figure hides its place (the looks say 0.3)
    unclear: float = 2.0  # evidence of one look against a top that may well be there (chosen)
    hides: float = 6.0  # evidence beyond that from which something stands on a known top (chosen: three looks)
    there: float = 4.0  # most evidence of one look about whether there is a pile at all
    shades: float = 0.024  # of tones: hypotheses that expect tones as close as this are one (chosen)
    recent_s: float = 60.0  # of hypotheses that differ only in when older blocks came, the likeliest is kept; also of
    # those whose tops appear within a look's deviation of each other
    most: int = 12  # hypotheses kept of each pile
    alike: int = 3  # of those with the same blocks, lest they crowd out the others
    of_height: int = 8  # of those of one height, likewise
    remembered: int = 40  # looks at each pile: more than in the turns that a block may belong to (chosen)
    behind: float = 12.0  # nats behind the likeliest at which one is dropped
    takes: float = 5.0  # for a block by which somebody may have been taken who has vanished (chosen: 4 to 5)
    with_s: float = 30.0  # between the two, at most
    earlier: float = 4.0  # against a turn before the newest that could have added it: it would have been seen then,
    # unless the looks in that turn did not show the top
    handled_s: float = 6.0  # longest motion of a hand that lays a tile and puts a block on (chosen)
    too_soon: float = 6.0  # against a turn whose tile appeared after the block
    apart: float = 0.0128  # tiles per tile from the point below the camera by which one block displaces a top: 11 mm of
    # 870 (measured: 0.0114 to 0.0148 at 6 simulated tables)
    nearest: float = 0.5  # part of the way to the camera beyond which no pile reaches (chosen)
    apart_known: float = 4.0  # squared tiles between piles from which that of the table counts as much (chosen)
    on_top: float = 0.2  # tiles: distance of a figure's foot from a top on which it may stand (chosen)
    doubtful: float = 2.0  # a block that is less likely than none by less than this is asked about if a turn that is
    # over could have added it, or after a long pause (chosen)
    plainly: float = 6.0  # log-odds of a block from which it is told at once (chosen); what looks like a less certain
    # one may look as it did before when the hand beside it is gone
    waits_s: float = 12.0  # seconds after which, or with the next tile, that is told too (chosen: the dragon's walk)
    hardly: float = 4.0  # the likeliest turn is asked about if it weighs less than minus this


@dataclass(frozen=True, slots=True, kw_only=True)
class LampLimits:
    """Of what has darkened, in squared tiles times natural logarithms of brightness. All are chosen, with the looks of
    `benchmarks/stack_looks.py` in view."""

    look: float = 0.006  # standard deviation of what looks at a shadow that has not changed say
    steps: float = 0.35  # of what one block adds, relative to its median: the wood hides a part of its shadow
    others: float = 0.1  # part of the visits in which something else that stays has come: a figure, or its shadow
    other: float = 0.03  # by which that darkens, in the mean (of a Laplace distribution)
    off: int = 1  # directions by which a shadow may fall otherwise than usual
    alike: float = 0.7  # part of what is darkest that it must be there: two lamps make two shadows
    hidden: float = 0.2  # part of the blocks whose shadow falls where it is not seen
    looks: int = 3  # before and after a block, by which its part of the shadow is measured
    blocks: int = 3  # from which the direction of the light is known
    least: float = 0.006  # added by one of them, from which there are shadows
    tells: float = 7.0  # nats that a shadow may be for a block, about: less likely ones are looked at, too


STACK = StackLimits()
LAMP = LampLimits()
