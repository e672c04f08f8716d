"""What one look at the table says: evidence about squares and figures, for whoever explains how a game came to it.

Nothing here knows a game. All weights are natural logarithms; a look that says nothing about something is zero there.
A square is named by where it lies in steps from the first tile found, and keeps its name for as long as the board does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from scoring.tiles import Square


def probability(log_odds: float) -> float:
    """0 .. 1 for log-odds."""
    return 1 / (1 + math.exp(-min(max(log_odds, -30.0), 30.0)))


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureLook:
    """One figure on a tile. ``foot`` is where it touches the tile, (x, y) in tiles from the square's north-west corner,
    known to ``spread`` tiles (one standard deviation). ``there`` is the log-odds that it is a figure at all and not
    print, a shadow or a thing; ``lying`` those that it lies. ``colours`` are log-likelihoods by the paints that were
    asked for, ``pieces`` by the kind of piece (follower, large, builder, pig), where its silhouette tells.
    ``length`` is the longer side of its silhouette in tiles, 0 when that was not seen."""

    foot: tuple[float, float]
    spread: float
    there: float
    lying: float
    colours: Mapping[str, float]
    pieces: Mapping[str, float] = field(default_factory=dict)
    length: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SquareLook:
    """What a square shows. ``there`` is the log-odds that a tile lies on it and not nothing or something else; if one
    does, ``tiles`` are log-likelihoods of (tile, rot), the likeliest first, and ``rest`` that of every reading not
    listed. ``seen`` is the part of the square that nothing hides, 0 .. 1. ``figures`` is None when none were sought.
    """

    there: float
    seen: float = 1.0
    tiles: Mapping[tuple[str, int], float] = field(default_factory=dict)
    rest: float = -12.0
    figures: tuple[FigureLook, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableLook:
    """All that was looked at in one frame, taken at ``t_s``. ``whole`` says that the board was read as a photograph is:
    a tile lies on no square that is left out, as far as the picture shows it."""

    frame: int
    t_s: float
    squares: Mapping[Square, SquareLook]
    whole: bool = False
