"""Which figures are the large ones: by how long each looks beside the other figures of the same table.

Seen from above a follower is as long as it is wide, standing or lying, and a large one is longer by a share that its
maker chose. How long wood looks at one table (maker, tiles, lens) and how much longer large wood is, are not known
beforehand, but are the same for all its figures: a mixture of two normal distributions over the logarithm of the
length, summed over both unknowns. Every figure that was seen says something of them, whichever piece it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from reading.belief import FigureTrack

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeLimits:
    """Lengths of silhouettes in tiles. Wood measured with a caliper is 16.0 mm (follower) and 18.5 to 19.3 mm (large)
    wide on tiles of 45 mm; other figures are of 219 looks at a foreign film (standing 0.367 +- 0.022 and
    0.471 +- 0.026, lying 0.328 +- 0.020 and 0.423 +- 0.013)."""

    stands: float = 0.36  # tiles: an ordinary follower
    lies: float = 0.33  # its silhouette has no shadowed sides
    tables: float = 0.12  # how far tables differ in that (natural logarithm)
    larger: float = 0.20  # logarithm of large to ordinary length
    makers: float = 0.06  # and how far makers differ in that
    figures: float = 0.065  # and figures of one table, both ways
    share: float = 0.2  # of the figures on a table that are large
    spoiled: float = 0.015  # of the silhouettes say nothing: cut off, or run into another
    most: float = 7.0  # no figure's size says more


SIZES = SizeLimits()
_OFFSETS, _LARGER = (g.ravel() for g in np.meshgrid(np.linspace(-0.36, 0.36, 49), np.linspace(0.08, 0.34, 14)))


def sized(tracks: Iterable[FigureTrack]) -> dict[int, Mapping[str, float]]:
    """By the number of a track, log-likelihoods of an ordinary and a large follower; tracks whose length was not seen
    are left out."""
    each = {f.id: _densities(f) for f in tracks if f.real > 0 and f.length > 0}
    if not each:
        return {}
    logs = {i: np.logaddexp(np.log(SIZES.share) + large, np.log(1 - SIZES.share) + small)
            for i, (small, large) in each.items()}
    total = -0.5 * (_OFFSETS / SIZES.tables) ** 2 - 0.5 * ((_LARGER - SIZES.larger) / SIZES.makers) ** 2
    total = total + sum(logs.values())
    out = {}
    for i, (small, large) in each.items():
        rest = total - logs[i]
        odds = float(np.logaddexp.reduce(rest + large) - np.logaddexp.reduce(rest + small))
        odds = max(-SIZES.most, min(SIZES.most, odds))
        out[i] = {"follower": min(0.0, -odds), "large": min(0.0, odds)}
    return out


def with_size(track: FigureTrack, size: Mapping[str, float] | None) -> FigureTrack:
    """The track with what its size says at this table in place of what it says by itself."""
    if size is None:
        return track
    own = track.kinds
    usual = own.get("follower", 0.0)
    pieces = {p: v - usual + size["follower"] for p, v in own.items()} | dict(size)
    top = max(pieces.values())
    return replace(track, pieces={p: (v - top) * track.weight for p, v in pieces.items()}, settled=True)


def _densities(f: FigureTrack) -> tuple[Array, Array]:
    """Log-densities of its length for an ordinary and a large follower, by the table's offset and its large wood."""
    apart = np.log(f.length / (SIZES.lies if f.lies > 0 else SIZES.stands)) - _OFFSETS
    return _normal(apart), _normal(apart - _LARGER)


def _normal(apart: Array) -> Array:
    return np.asarray(np.logaddexp(np.log(1 - SIZES.spoiled) - 0.5 * (apart / SIZES.figures) ** 2,
                                   np.log(SIZES.spoiled)))
