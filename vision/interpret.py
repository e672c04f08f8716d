"""From readings to proposals: events with their confidence, the other readings, and the evidence.

A reading is asked about when it is not sure enough, when the rules have something against it, or when the table alone
cannot tell (two tiles that came unseen, in either order). The best reading is proposed all the same: play goes on.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from scoring.engine import legal_figures
from scoring.events import Event, FigurePlaced, TilePlaced
from scoring.state import GameState
from scoring.tiles import EDGES, Square, catalogue, neighbour
from vision.frames import Image
from vision.kinds import Kinds
from vision.placements import Placement, shape
from vision.standing import FigureReading, named
from vision.vigil import Notice

# Posteriors from which a tile and a figure need no question: derived from watched games, see docs/confidence.md
# (./run bench reliability KEPT): as high as the budget of questions allows, and no wrong reading above them.
SURE_TILE, SURE_FIGURE = 0.99, 0.97
_BETTER = 0.08  # correlation by which another reading of the same tile must be better
_SURE_ORDER = 3.0  # log-odds of one order of several new tiles against the next best
_MOST_ORDERED = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What the watcher believes happened: one event with its confidence, the other readings with their probabilities,
    the rectified picture, the frame. ``replaces`` is the square whose earlier reading this one improves on."""

    events: tuple[Event, ...]
    confidence: float
    asked: bool
    alternatives: tuple[tuple[tuple[Event, ...], float], ...]
    crop: Image
    frame: int
    replaces: Square | None = None
    after: Square | None = None  # it happened right after this square's tile was laid, and was missed then


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What one frame came to: ``status`` is watching, hand, settling, reading, adrift (no board where it
    lay) or lost (another picture altogether)."""

    status: str
    proposals: tuple[Proposal, ...] = ()
    notices: tuple[Notice, ...] | None = None  # None: nothing new can be said of them


def tile_proposal(placement: Placement, player: int, crop: Image, frame: int, *, unsure: bool = False,
                  replaces: Square | None = None, after: Square | None = None) -> Proposal:
    """A tile laid by ``player``. ``unsure`` asks whatever the reading's confidence."""
    readings: list[tuple[tuple[Event, ...], float]] = [
        ((TilePlaced(player=player, tile=tile, at=placement.at, rot=rot),), p) for tile, rot, p in placement.options]
    asked = unsure or placement.confidence < SURE_TILE or not placement.legal
    return Proposal(events=readings[0][0], confidence=placement.confidence, asked=asked, crop=crop, frame=frame,
                    alternatives=tuple(readings[:5]), replaces=replaces, after=after)


def lies_otherwise(again: Placement, tile: str, rot: int) -> bool:
    """Whether a tile that was read again surely lies otherwise than it was read."""
    same = shape(catalogue()[tile], rot) == shape(catalogue()[again.tile], again.rot)
    return not same and again.legal and again.confidence > SURE_TILE and \
        again.score > again.correlation(tile, rot) + _BETTER


def figure_proposal(reading: FigureReading, at: Square, state: GameState, crop: Image, frame: int,
                    kinds: Kinds) -> Proposal:
    """A figure on the tile laid last. ``state`` has the tile; ``kinds`` tells which piece it is."""
    placed = state.tiles[at]
    tile = catalogue()[placed.tile]
    readings: list[tuple[tuple[Event, ...], float]] = []
    for player, p in reading.colours[:2]:
        for segment, q in reading.options[:4]:
            feature, place = named(tile, placed.rot, segment)
            for figure, r in kinds.weigh(reading.longer, state, player, at, segment):
                event = FigurePlaced(player=player, figure=figure, at=at, feature=feature, where=place)
                readings.append(((event,), p * q * r))
    readings.sort(key=lambda r: -r[1])
    confidence = readings[0][1]
    free = legal_figures(state)
    asked = confidence < SURE_FIGURE or reading.options[0][0] not in free or reading.colours[0][0] != state.player
    readings.append(((), max(0.0, 1.0 - sum(r[1] for r in readings))))
    return Proposal(events=readings[0][0], confidence=confidence, asked=asked, alternatives=tuple(readings[:4]),
                    crop=crop, frame=frame)


def late_proposal(reading: FigureReading, at: Square, state: GameState, crop: Image, frame: int,
                  kinds: Kinds) -> Proposal:
    """A figure that was seen to go from a tile on which the game has none: it was missed when it came. Always asked."""
    found = figure_proposal(reading, at, state, crop, frame, kinds)
    return replace(found, asked=True, after=at)


def in_order(found: Sequence[Placement], taken: Mapping[Square, object], first: int, players: int,
             colours: Callable[[Placement], Mapping[int, float]]) -> tuple[list[Placement], bool]:
    """Several tiles that were found at once in the order in which they were laid, and whether that is sure.

    Each must touch what lay before it; a figure on a tile speaks for the player whose colour it has (``colours`` gives
    their probabilities, nothing when the tile is bare). ``first`` is the player whose turn it is.
    """
    if len(found) < 2:
        return list(found), True
    seen = [colours(p) for p in found[:_MOST_ORDERED]]
    ranked = []
    for order in itertools.permutations(range(len(seen))):
        lying, odds = set(taken), 0.0
        for turn, n in enumerate(order):
            if not any(neighbour(found[n].at, side) in lying for side in EDGES):
                odds = -np.inf
            lying.add(found[n].at)
            if seen[n]:
                odds += float(np.log(seen[n].get((first + turn) % players, 0.0) + 1e-3))
        ranked.append((odds, order))
    ranked.sort(key=lambda r: (-r[0], r[1]))
    best = [found[n] for n in ranked[0][1]]
    sure = len(ranked) < 2 or ranked[0][0] - ranked[1][0] > _SURE_ORDER
    return [*best, *found[_MOST_ORDERED:]], bool(sure) and len(found) <= _MOST_ORDERED
