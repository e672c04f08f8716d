"""What a turned tile is to the rules, and where on it a figure stands."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache

from reading.limits import LIMITS, Limits
from scoring.geometry import distance_to_segment
from scoring.tiles import catalogue, turn

Reading = tuple[str, int]  # a tile's kind and its quarter turns
CLAIMABLE = ("city", "road", "cloister", "field")


@cache
def shape(tile: str, rot: int) -> object:
    """Equal for readings that make no difference to the rules."""
    kind = catalogue().get(tile)
    if kind is None:
        return tile, rot % 4
    parts = tuple(sorted(
        (s.kind, tuple(sorted(turn(a, rot) for a in s.atoms)), s.pennants, s.inn, s.cathedral, s.goods, s.princess)
        for s in kind.segments))
    return parts, tuple(sorted(kind.flags))


def posture(lying: float, feature: str, limits: Limits = LIMITS) -> float:
    """Log-likelihood of log-odds of lying for a figure on a feature: farmers lie, others stand; 0 odds say nothing."""
    p = 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, lying))))
    right = p if feature == "field" else 1.0 - p
    w = limits.wrong_posture
    return math.log(right * (1.0 - w) + (1.0 - right) * w)


def segments(foot: tuple[float, float], spread: float, lying: float, tile: str, rot: int,
             limits: Limits = LIMITS) -> Mapping[int, float]:
    """Log-likelihood of a figure's foot and posture by the segment that it stands on.

    ``foot`` is in tiles from the square's north-west corner, ``spread`` its standard deviation in tiles, ``lying`` the
    log-odds that the figure lies. Only what can be claimed is listed. KeyError for a kind that no catalogue has.
    """
    out = {}
    for n, (kind, distance) in enumerate(_distances(round(foot[0], 2), round(foot[1], 2), tile, rot)):
        if kind in CLAIMABLE:
            off = distance / math.hypot(spread, limits.foot_jitter)
            out[n] = max(-limits.floor, -0.5 * off * off) + posture(lying, kind, limits)
    return out


@cache
def _distances(x: float, y: float, tile: str, rot: int) -> tuple[tuple[str, float], ...]:
    kind = catalogue()[tile]
    return tuple((s.kind, distance_to_segment(kind, n, 100 * x, 100 * y, rot) / 100)
                 for n, s in enumerate(kind.segments))
