"""Which figures are the large ones: by how large each looks beside the other figures of the same table.

How much larger or smaller wood looks at one table than elsewhere (makers, lenses, light) is not known beforehand, but
it is the same for all its figures. Every figure that was seen says something of it, whichever piece it is: a mixture of
two normal distributions, summed over all offsets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from reading.belief import FigureTrack


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeLimits:
    """Log-odds of large against ordinary as the figures' network says them. Measured on 43 figures of a foreign film
    (six players, two sizes): large ones -2.1, others -4.1 on average, 0.8 either way."""

    usual: float = -3.1  # what a table's figures say on average, if as many are large as not
    unusual: float = 1.2  # how far tables differ in that
    apart: float = 1.0  # half the distance of large from ordinary ones
    spread: float = 0.75  # from figure to figure of one table
    share: float = 0.2  # of the figures on a table that are large
    most: float = 7.0  # no figure's size says more


SIZES = SizeLimits()
_OFFSETS = np.linspace(-7.0, 2.0, 91)


def sized(tracks: Iterable[FigureTrack]) -> dict[int, Mapping[str, float]]:
    """By the number of a track, log-likelihoods of an ordinary and a large follower; tracks that say nothing of either
    are left out."""
    seen = {f.id: (f.pieces["large"] - f.pieces["follower"]) / f.weight for f in tracks
            if f.real > 0 and {"large", "follower"} <= f.pieces.keys()}
    if not seen:
        return {}
    known = -0.5 * ((_OFFSETS - SIZES.usual) / SIZES.unusual) ** 2
    each = {i: (_density(m - SIZES.apart), _density(m + SIZES.apart)) for i, m in seen.items()}
    logs = {i: np.log(SIZES.share * np.exp(large) + (1 - SIZES.share) * np.exp(small) + 1e-9)
            for i, (large, small) in each.items()}
    total = known + sum(logs.values())
    out = {}
    for i, (large, small) in each.items():
        rest = total - logs[i]
        weight = np.exp(rest - rest.max())
        odds = float(np.log((weight * np.exp(large)).sum() + 1e-12) - np.log((weight * np.exp(small)).sum() + 1e-12))
        odds = max(-SIZES.most, min(SIZES.most, odds))
        out[i] = {"follower": min(0.0, -odds), "large": min(0.0, odds)}
    return out


def with_size(track: FigureTrack, size: Mapping[str, float] | None) -> FigureTrack:
    """The track with what its size says at this table in place of what it says by itself."""
    if size is None:
        return track
    own = track.kinds
    pieces = {p: v - own["follower"] + size["follower"] for p, v in own.items()} | dict(size)
    top = max(pieces.values())
    return replace(track, pieces={p: (v - top) * track.weight for p, v in pieces.items()}, settled=True)


def _density(middle: float) -> np.ndarray:  # type: ignore[type-arg]
    return np.asarray(-0.5 * ((middle - _OFFSETS) / SIZES.spread) ** 2)
