"""One look at the table: evidence about squares and figures, to be explained by a game; and what a figure's foot and
posture say of the segment that it occupies.

Nothing here knows a game. All weights are natural logarithms; a look that says nothing about something is zero there.
A square is named by where it lies in steps from the first tile found, and keeps its name for as long as the board does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt

from scoring.tiles import Segment, Square, Tile, catalogue
from vision.shapes import labels


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
class NeutralLook:
    """A neutral piece: the log-odds ``there`` that it stands on the tile, and its ``foot`` as in `FigureLook`."""

    there: float
    foot: tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class SquareLook:
    """What a square shows. ``there`` is the log-odds that a tile lies on it rather than nothing or something else; if
    one does, ``tiles`` are log-likelihoods of (tile, rot), the likeliest first, and ``rest`` that of every reading not
    listed. ``seen`` is the part of the square that is not occluded, 0 .. 1. ``figures`` is None when none were sought.
    ``neutral`` are neutral pieces by name, where figures were sought and something may be one.
    """

    there: float
    seen: float = 1.0
    tiles: Mapping[tuple[str, int], float] = field(default_factory=dict)
    rest: float = -12.0
    figures: tuple[FigureLook, ...] | None = None
    neutral: Mapping[str, NeutralLook] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableLook:
    """All that was looked at in one frame, taken at ``t_s``. ``whole`` says that the board was read as a photograph is:
    a tile lies on no square that is left out, as far as the picture shows it."""

    frame: int
    t_s: float
    squares: Mapping[Square, SquareLook]
    whole: bool = False


def inside(look: FigureLook, at: Square) -> dict[Square, float]:
    """By the square beyond each side of its tile how far inside of that side the foot is, in tiles; below nothing
    outside."""
    (x, y), (column, row) = look.foot, at
    return {(column - 1, row): x, (column + 1, row): 1 - x, (column, row - 1): y, (column, row + 1): 1 - y}


def within(depth: float, spread: float) -> float:
    """Probability that what was seen so far inside of a border is inside of it; ``spread`` is a standard deviation."""
    return 0.5 * math.erfc(-depth / spread / math.sqrt(2))


# --- which segment a figure occupies ----------------------------------------------------------------------------------

CLAIMABLE = ("city", "road", "cloister", "field")
DRAWN = 0.06  # of a tile: by how much artwork lies beside the catalogue's geometry, and figures beside their feature
WRONG_POSTURE = 0.03  # part of figures that lie where others stand, or stand where others lie
NARROW = 0.02  # of a tile: no segment is meant more exactly than one of that area
CELLS = 50  # a side, in which a tile is divided
_NEVER = 1e-6


def segments(foot: tuple[float, float], spread: float, lying: float, tile: Tile, rot: int) -> dict[int, float]:
    """Log-likelihood of a figure's foot and posture by the segment of the turned tile that it occupies, against a foot
    anywhere on the tile: how much of where the foot may be is that segment's, for its size (who means a narrow road
    stands on it, who means a wide field may stand anywhere), and whether it lies, as on a field, or stands.

    ``foot`` is in tiles from the square's north-west corner, ``spread`` its standard deviation, ``lying`` the log-odds
    that the figure lies (0: nobody can say). Only what can be claimed is listed: nothing of a quarter of a start board,
    whose segments are the board's.
    """
    if not (told := places(tile)):
        return {}
    density = _density(tile.id, rot % 4, round(foot[0], 2), round(foot[1], 2), round(math.hypot(spread, DRAWN), 3))
    return {n: math.log(max(density[n], _NEVER)) + posture(lying, s.kind)
            for n, s in enumerate(told) if s.kind in CLAIMABLE}


def places(tile: Tile) -> tuple[Segment, ...]:
    """The segments that one square can tell of: none of a part of a start board, which is no tile of the catalogue and
    has its segments together with the parts beside it."""
    return tile.segments if tile.id in catalogue() else ()


def posture(lying: float, feature: str) -> float:
    """Log-likelihood of log-odds of lying for a figure on a feature: farmers lie, others stand; 0 odds say nothing."""
    right = probability(lying if feature == "field" else -lying)
    return math.log(right * (1.0 - WRONG_POSTURE) + (1.0 - right) * WRONG_POSTURE)


@lru_cache(maxsize=4096)
def _density(tile: str, rot: int, x: float, y: float, spread: float) -> tuple[float, ...]:
    """Of each segment, the part of a normal distribution around a foot that falls on its visible area, over that."""
    kind = catalogue()[tile]
    middles = (np.arange(CELLS) + 0.5) / CELLS
    across, down = (np.exp(-0.5 * ((middles - min(max(v, 0.0), 1.0)) / spread) ** 2) for v in (x, y))
    weight = np.outer(down, across)
    grid, count = segment_labels(kind, rot).ravel(), len(kind.segments)
    part = np.bincount(grid, weight.ravel(), 256)[:count] / weight.sum()
    area = np.bincount(grid, minlength=256)[:count] / CELLS**2
    return tuple((part / np.maximum(area, NARROW)).tolist())


def segment_labels(tile: Tile, rot: int) -> npt.NDArray[np.uint8]:
    """(CELLS, CELLS) index of the segment that is visible there on the turned tile; 255 where none is."""
    return _labels(tile.id, rot % 4)


@cache
def _labels(tile: str, rot: int) -> npt.NDArray[np.uint8]:
    grid = labels(catalogue()[tile])
    step = len(grid) // CELLS
    return np.ascontiguousarray(np.rot90(grid[step // 2::step, step // 2::step], -rot))
