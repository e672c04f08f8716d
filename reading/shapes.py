"""What a turned tile is to the rules, and where on it a figure stands."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache

import numpy as np
import numpy.typing as npt

from reading.limits import LIMITS
from scoring.geometry import labels, rotate_point
from scoring.tiles import catalogue
from vision.looks import probability

Reading = tuple[str, int]  # a tile's kind and its quarter turns
CLAIMABLE = ("city", "road", "cloister", "field")


@cache
def shape(tile: str, rot: int) -> object:
    """Equal for readings that make no difference to the rules (`scoring.tiles.shape`), also of kinds unknown here."""
    kind = catalogue().get(tile)
    return (tile, rot % 4) if kind is None else kind.signature(rot % 4)


def posture(lying: float, feature: str) -> float:
    """Log-likelihood of log-odds of lying for a figure on a feature: farmers lie, others stand; 0 odds say nothing."""
    p = probability(lying)
    right = p if feature == "field" else 1.0 - p
    w = LIMITS.wrong_posture
    return math.log(right * (1.0 - w) + (1.0 - right) * w)


def segments(foot: tuple[float, float], spread: float, lying: float, tile: str, rot: int) -> Mapping[int, float]:
    """Log-likelihood of a figure's foot and posture by the segment that it stands on.

    ``foot`` is in tiles from the square's north-west corner, ``spread`` its standard deviation in tiles, ``lying`` the
    log-odds that the figure lies. Only what can be claimed is listed. KeyError for a kind that no catalogue has.
    """
    out = {}
    for n, (kind, distance) in enumerate(_distances(round(foot[0], 2), round(foot[1], 2), tile, rot)):
        if kind in CLAIMABLE:
            off = distance / math.hypot(spread, LIMITS.foot_jitter)
            out[n] = max(-LIMITS.floor, -0.5 * off * off) + posture(lying, kind)
    return out


@cache
def _distances(x: float, y: float, tile: str, rot: int) -> tuple[tuple[str, float], ...]:
    """By segment its kind and how far its visible area is from a point of the turned tile, in tiles."""
    kind = catalogue()[tile]
    own = rotate_point(100 * x, 100 * y, -rot)
    apart = np.hypot(_MIDDLES[:, 0] - own[0], _MIDDLES[:, 1] - own[1]) - 0.5 * _CELL
    shown = _painted(tile)
    return tuple((s.kind, max(0.0, float(apart[shown == n].min(initial=math.inf))) / 100)
                 for n, s in enumerate(kind.segments))


_CELL = 2.5  # drawing units: what people can place a figure to within
_MIDDLES = np.stack(np.meshgrid(np.arange(_CELL / 2, 100, _CELL), np.arange(_CELL / 2, 100, _CELL)), -1).reshape(-1, 2)


@cache
def _painted(tile: str) -> npt.NDArray[np.int64]:
    """The number of the visible segment at each of the tile's cells; 255 where none is."""
    grid = np.array([list(row) for row in labels(catalogue()[tile])])
    cell = (_MIDDLES / 100 * len(grid)).astype(int)
    return np.asarray(grid[cell[:, 1], cell[:, 0]])
