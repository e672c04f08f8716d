"""What a turned tile is to the rules, and where on it a figure stands."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from functools import cache

import numpy as np
import numpy.typing as npt

from reading.limits import LIMITS
from scoring.geometry import BANDS, flatten, rotate_point
from scoring.tiles import catalogue
from scoring.tiles import shape as turned_shape

Reading = tuple[str, int]  # a tile's kind and its quarter turns
CLAIMABLE = ("city", "road", "cloister", "field")


@cache
def shape(tile: str, rot: int) -> object:
    """Equal for readings that make no difference to the rules (`scoring.tiles.shape`), also of kinds unknown here."""
    kind = catalogue().get(tile)
    return (tile, rot % 4) if kind is None else turned_shape(kind, rot % 4)


def posture(lying: float, feature: str) -> float:
    """Log-likelihood of log-odds of lying for a figure on a feature: farmers lie, others stand; 0 odds say nothing."""
    p = 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, lying))))
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
    """The visible segment at each of the tile's cells; -1 where none is."""
    out = np.full(len(_MIDDLES), -1)
    for n, s in enumerate(catalogue()[tile].segments):
        inside = np.zeros(len(_MIDDLES), bool)
        for line in flatten(s.path):
            points = np.array(line, float)
            if s.kind in BANDS:
                inside |= _along(points) <= s.width / 2
            else:
                inside ^= _within(points)
        out[inside] = n
    return out


def _along(line: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Distance of every cell to a line."""
    best = np.full(len(_MIDDLES), math.inf)
    for a, b in itertools.pairwise(line):
        way = b - a
        t = np.clip(((_MIDDLES - a) @ way) / max(float(way @ way), 1e-9), 0.0, 1.0)
        best = np.minimum(best, np.linalg.norm(_MIDDLES - a - t[:, None] * way, axis=1))
    return best


def _within(line: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Which cells a closed line goes round (even-odd)."""
    x, y = _MIDDLES[:, 0], _MIDDLES[:, 1]
    out = np.zeros(len(_MIDDLES), bool)
    for (x0, y0), (x1, y1) in zip(np.roll(line, 1, axis=0), line, strict=True):
        if y0 != y1:
            out ^= ((y0 <= y) != (y1 <= y)) & (x0 + (y - y0) / (y1 - y0) * (x1 - x0) > x)
    return out
