"""What one look says of one square, from the evidence of its tile and of the figures on it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from scoring.tiles import Square, Tile
from vision.attention import Attention
from vision.figures import Seen
from vision.looks import SquareLook, StackLook, inside
from vision.neutral import best_of
from vision.senses import TileEvidence


def in_hand(look: SquareLook, at: Square, covered: Collection[Square], a: Attention) -> tuple[SquareLook, bool]:
    """The look with little evidence of figures close to a tile that something covers, and whether there is such a one:
    it may be a piece that a hand holds there, and any piece, as part of it is covered."""
    out, held = [], False
    for f in look.figures or ():
        near = min((depth for beyond, depth in inside(f, at).items() if beyond in covered), default=np.inf)
        held |= near < a.held and f.there > a.held_odds
        out.append(replace(f, there=a.held_odds) if near < a.held and f.there > a.held_odds else f)
    return (replace(look, figures=tuple(out)) if held else look), held


def square_look(evidence: TileEvidence, kinds: Sequence[Tile], seen: float, found: Sequence[Seen] | None,
                a: Attention, piles: Mapping[str, StackLook], touched_s: float) -> SquareLook:
    """The likeliest readings of the tile and the figures that are more than noise. ``seen`` is the visible part of the
    square, ``found`` None if figures were not searched for, ``piles`` what was seen of piles of blocks there,
    ``touched_s`` for how long something has moved over it."""
    figures = None if found is None else tuple(f.look for f in found if f.look.there > a.figure_least)
    most = a.shown
    order = np.argsort(-evidence.loglik, axis=None)
    listed = {(kinds[n // 4].id, int(n % 4)): float(evidence.loglik.flat[n]) for n in order[:most]}
    rest = order[most:]
    left = float(np.logaddexp.reduce(evidence.loglik.flat[rest]) - np.log(len(rest))) if len(rest) else -20.0
    return SquareLook(there=evidence.there, seen=float(np.clip(seen, 0, 1)), tiles=listed, rest=max(left, -20.0),
                      figures=figures, neutral=best_of(found or ()), stacks=piles, touched_s=touched_s)
