"""One look at the table: evidence about squares and figures, to be explained by a game; and the likelihood of a
figure's segment given its foot and posture.

No knowledge of the game here. All weights are natural logarithms; 0 is no evidence. A square is named by its steps from
the first tile found, and keeps its name for as long as the board does (`TableLook.board_number`).
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

SECTORS = 16  # directions around a pile in which shadows are measured; a quarter of them to a quarter turn


def probability(log_odds: float) -> float:
    """0 .. 1 for log-odds."""
    return 1 / (1 + math.exp(-min(max(log_odds, -30.0), 30.0)))


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureLook:
    """One figure on a tile. ``foot`` is where it touches the tile, (x, y) in tiles from the square's north-west corner,
    known to ``spread`` tiles (one standard deviation). ``there`` is the log-odds that it is a figure at all and not
    print, a shadow or another object; ``lying`` those that it lies. ``colours`` are log-likelihoods by the paints that
    were asked for, ``pieces`` by the kind of piece (follower, large, builder, pig), where its silhouette tells.
    ``width`` is how wide its wood is in tiles, whichever way it stands or lies, with the standard deviation
    ``width_spread`` of its logarithm; 0 if it was not measured."""

    foot: tuple[float, float]
    spread: float
    there: float
    lying: float
    colours: Mapping[str, float]
    pieces: Mapping[str, float] = field(default_factory=dict)
    width: float = 0.0
    width_spread: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class NeutralLook:
    """A neutral piece: the log-odds ``there`` that it stands on the tile, and its ``foot`` as in `FigureLook`."""

    there: float
    foot: tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class StackLook:
    """A place for a pile of blocks: the log-odds ``there`` that one stands there, and where the middle of its top
    appears, ``top``, in tiles from the square's north-west corner, with its angle ``yaw`` in radians (of a square:
    below a right angle). ``floor`` is by how far one block displaces it. ``heights`` are the log-likelihoods of 0, 1,
    2 ... blocks, by this look alone. ``tone`` is the logarithm of the top's lightness relative to the light on its
    tile, from an arbitrary level that stays the same for this place; None where it was not measured. ``darkened``
    is what is darker around the place than at first, less what is brighter, in squared tiles times natural logarithms
    of brightness, in as many directions as there are `SECTORS`: the first to the east, the next ones clockwise. Empty
    if not measured."""

    there: float
    top: tuple[float, float]
    yaw: float
    floor: tuple[float, float]
    heights: tuple[float, ...]
    tone: float | None = None
    darkened: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SquareLook:
    """Evidence about a square. ``there`` is the log-odds that a tile lies on it rather than nothing or something else;
    if one does, ``tiles`` are log-likelihoods of (tile, rot), the likeliest first, and ``rest`` that of every reading
    not listed. ``seen`` is the part of the square that is not occluded, 0 .. 1. ``figures`` is None when they were not
    searched for. ``neutral`` are possible neutral pieces by name, where figures were searched for; ``stacks`` are the
    places for piles by the name of their blocks. ``touched_s`` is for how long something moved over the square since
    the look before: from the frame before the first motion to the last one. 0 if nothing did, NaN if not measured.
    """

    there: float
    seen: float = 1.0
    tiles: Mapping[tuple[str, int], float] = field(default_factory=dict)
    rest: float = -12.0
    figures: tuple[FigureLook, ...] | None = None
    neutral: Mapping[str, NeutralLook] = field(default_factory=dict)
    stacks: Mapping[str, StackLook] = field(default_factory=dict)
    touched_s: float = math.nan


@dataclass(frozen=True, slots=True, kw_only=True)
class BesideLook:
    """Figures that lie on the table beside the board: ``at`` is their middle (x, y) in sides of a tile from the
    picture's corner, since a board that is pushed does not move them; ``count`` is how many of one paint touch each
    other there, ``colours`` are log-likelihoods of their paint."""

    at: tuple[float, float]
    count: int
    colours: Mapping[str, float]

    @property
    def colour(self) -> str:
        """The likeliest paint."""
        return max(self.colours, key=lambda c: self.colours[c])


@dataclass(frozen=True, slots=True, kw_only=True)
class TableLook:
    """All observations of one frame, taken at ``t_s``. ``whole``: the board was read like a photograph, so squares left
    out have no tile, as far as they are in the picture. ``gaps_s`` are the times (from, to) since the look before for
    which no frames came. ``board_number`` tells apart what was taken for the board: squares of looks with the same
    number have the same names. None if it is not known, as in earlier recordings. ``beside`` are figures that lie
    beside the board; None if they were not looked for."""

    frame: int
    t_s: float
    squares: Mapping[Square, SquareLook]
    whole: bool = False
    gaps_s: tuple[tuple[float, float], ...] = ()
    board_number: int | None = None
    beside: tuple[BesideLook, ...] | None = None


def inside(look: FigureLook, at: Square) -> dict[Square, float]:
    """By the square beyond each side of the tile: the foot's distance from that side in tiles, positive inside,
    negative outside."""
    (x, y), (column, row) = look.foot, at
    return {(column - 1, row): x, (column + 1, row): 1 - x, (column, row - 1): y, (column, row + 1): 1 - y}


def within(depth: float, spread: float) -> float:
    """Probability that a foot seen at this distance inside a border is inside of it; ``spread`` is a standard
    deviation."""
    return 0.5 * math.erfc(-depth / spread / math.sqrt(2))


# --- which segment a figure occupies ----------------------------------------------------------------------------------

DRAWN = 0.06  # of a tile: deviation of artwork from the catalogue's geometry, and of figures from their feature
WRONG_POSTURE = 0.03  # fraction of figures in the wrong posture for their feature
NARROW = 0.02  # of a tile: smaller segments count as having this area
CELLS = 50  # cells per side of a tile
_NEVER = 1e-6


def segments(foot: tuple[float, float], spread: float, lying: float, tile: Tile, rot: int) -> dict[int, float]:
    """Log-likelihood of a figure's foot and posture by the segment of the turned tile that it occupies, relative to a
    foot anywhere on the tile: the density of the foot's distribution on that segment (a figure on a narrow road is on
    its line, one in a wide field may be anywhere), and whether it lies, as on a field, or stands.

    ``foot`` is in tiles from the square's north-west corner, ``spread`` its standard deviation, ``lying`` the log-odds
    that the figure lies (0: unknown). Only claimable segments are listed: none of a quarter of a start board, whose
    segments belong to the whole board.
    """
    if not (told := places(tile)):
        return {}
    density = _density(tile.id, rot % 4, round(foot[0], 2), round(foot[1], 2), round(math.hypot(spread, DRAWN), 3))
    return {n: math.log(max(density[n], _NEVER)) + posture(lying, s.kind)
            for n, s in enumerate(told) if s.claimable}


def places(tile: Tile) -> tuple[Segment, ...]:
    """The segments of one square: none of a part of a start board, which is no tile of the catalogue and shares its
    segments with the parts beside it."""
    return tile.segments if tile.id in catalogue() else ()


def posture(lying: float, feature: str) -> float:
    """Log-likelihood of a posture (log-odds of lying) on a feature: farmers lie, others stand; 0 log-odds are
    neutral."""
    right = probability(lying if feature == "field" else -lying)
    return math.log(right * (1.0 - WRONG_POSTURE) + (1.0 - right) * WRONG_POSTURE)


@lru_cache(maxsize=4096)
def _density(tile: str, rot: int, x: float, y: float, spread: float) -> tuple[float, ...]:
    """For each segment, the mass of a normal distribution around the foot on its visible area, divided by that area."""
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
