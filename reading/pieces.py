"""Which piece each figure is: followers, large ones and builders by how long they look beside the other figures of the
same table, pigs by what the figures' network says of them.

Seen from above a piece is as long as it is wide, and its maker chose by which share a large follower is wider than an
ordinary one. How long wood looks at one table (maker, tiles, lens) and how much longer large wood is, are not known
beforehand, but are the same for all its figures: a mixture of normal distributions over the logarithm of the length,
summed over both unknowns. Every figure that was seen says something of them, whichever piece it is.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import median

import numpy as np
import numpy.typing as npt

from reading.belief import FigureTrack, TableBelief

Array = npt.NDArray[np.float64]
SIZES = ("follower", "large")  # pieces of one shape


@dataclass(frozen=True, slots=True, kw_only=True)
class PieceLimits:
    """Lengths of silhouettes in tiles. Wood measured with a caliper is 16.0 mm (follower) and 18.5 to 19.3 mm (large)
    wide on tiles of 45 mm; how long silhouettes are by piece and posture is what ``benchmarks/film_evidence.py`` prints
    of the films."""

    stands: float = 0.36  # tiles: an ordinary follower
    lies: float = 0.33  # its silhouette has no shadowed sides
    tables: float = 0.12  # how far tables differ in that (natural logarithm)
    larger: float = 0.20  # logarithm of large to ordinary length
    makers: float = 0.06  # and how far makers differ in that
    figures: float = 0.065  # and figures of one table, both ways
    clear: float = 3.0  # log-odds of a look below the table's median at which the whole silhouette is still seen
    faint: float = 0.09  # for each below that, what silhouettes lose of their length (log): grey wood on grey roofs
    guessed: float = 0.6  # and the deviation of that, as a part of it
    shorter: float = 0.11  # logarithm of ordinary to a builder's length: 14.3 mm
    builds: float = 0.12  # and how far makers differ in that: 0.34 in a film, of which there is one
    share: float = 0.2  # of the figures on a table that are large
    builders: float = 0.05  # and that are builders
    spoiled: float = 0.015  # of the silhouettes say nothing: cut off, or run into another
    most: float = 7.0  # no figure's size says more
    # log-odds of large against ordinary as the network says them: their mean at a table that has as many of both and
    # how far tables differ in it, half the distance of the two, and the deviation
    usual: float = -3.1
    unusual: float = 1.2
    apart: float = 0.8
    spread: float = 0.75
    beside: float = 0.5  # what this counts beside the length: both err where a silhouette is spoiled
    # log-odds of a pig against a follower as the network says them (mean, deviation): 3 pigs, 60 followers that stood
    pig: tuple[float, float] = (-0.5, 2.0)
    no_pig: tuple[float, float] = (-6.2, 1.6)
    tells: float = 4.0  # nats at most that this says
    built: float = -2.2  # log-odds of a builder at which the network says nothing: most that stand are near it
    tells_built: float = 1.5  # nats at most that this says; builders stand
    hardly: float = 0.1  # nats by which other figures' looks may move a piece before it is weighed again


PIECES = PieceLimits()
_SAID = np.linspace(-7.0, 2.0, 91)
_OFFSETS, _LARGER = (g.ravel() for g in np.meshgrid(np.linspace(-0.36, 0.36, 49), np.linspace(0.08, 0.34, 14)))
_PRIOR = -0.5 * (_OFFSETS / PIECES.tables) ** 2 - 0.5 * ((_LARGER - PIECES.larger) / PIECES.makers) ** 2


def kinds(tracks: Iterable[FigureTrack], pieces: Collection[str]) -> dict[int, FigureTrack]:
    """By its number each track with log-likelihoods of those ``pieces`` in place of what its looks say one by one.
    Tracks that say nothing of their piece are left out."""
    known = [f for f in tracks if f.real > 0 and "follower" in f.pieces]
    told = tuple(p for p in ("large", "builder") if p in pieces)
    lengths = _by_length([f for f in known if f.length > 0], told) if told else {}
    network = _by_network(known) if "large" in pieces else {}
    out = {}
    for f in known:
        odds = dict(lengths.get(f.id, {}))
        if "large" in pieces:
            odds["large"] = odds.get("large", 0.0) + PIECES.beside * network[f.id]
        said = {p: (v - f.pieces["follower"]) / f.weight for p, v in f.pieces.items()}
        if "pig" in pieces:
            odds["pig"] = max(-PIECES.tells, min(PIECES.tells, _log_normal(said.get("pig", 0.0), PIECES.pig)
                                                 - _log_normal(said.get("pig", 0.0), PIECES.no_pig)))
        if "builder" in pieces:
            built = max(-PIECES.tells_built, min(PIECES.tells_built, said.get("builder", 0.0) - PIECES.built))
            odds["builder"] = odds.get("builder", 0.0) + built - PIECES.most * (f.lies > 0)
        top = max(0.0, *odds.values()) if odds else 0.0
        logs = {"follower": 0.0, **odds}
        out[f.id] = replace(f, pieces={p: (v - top) * f.weight for p, v in logs.items()}, settled=True)
    return out


class Kinds:
    """`kinds` of one table, worked out anew when a track has changed. A track whose pieces another one's looks have
    hardly moved stays the object that it was, and so does what was worked out from it."""

    def __init__(self) -> None:
        self._of: tuple[FigureTrack, ...] = ()
        self._told: dict[int, tuple[FigureTrack, FigureTrack]] = {}

    def of(self, belief: TableBelief, pieces: Collection[str]) -> dict[int, FigureTrack]:
        """By its number each track, as `kinds` has it."""
        tracks = tuple(belief.figures.values())
        if len(tracks) != len(self._of) or any(a is not b for a, b in zip(tracks, self._of, strict=True)):
            fresh = kinds(tracks, pieces)
            self._told = {f.id: (f, self._kept(f, fresh[f.id])) for f in tracks if f.id in fresh}
            self._of = tracks
        return {i: told for i, (_, told) in self._told.items()}

    def _kept(self, track: FigureTrack, fresh: FigureTrack) -> FigureTrack:
        old, said = self._told.get(track.id, (None, fresh))
        near = old is track and all(abs(v - said.pieces[p]) <= PIECES.hardly * track.weight
                                    for p, v in fresh.pieces.items())
        return said if near else fresh


def _by_length(tracks: Sequence[FigureTrack], pieces: tuple[str, ...]) -> dict[int, dict[str, float]]:
    """By the number of a track the log-odds of a large follower and of a builder against an ordinary one."""
    if not tracks:
        return {}
    clear = median(f.there / f.weight for f in tracks) - PIECES.clear
    each = [_densities(round(f.length, 3), f.lies > 0, pieces, _lost(f, clear)) for f in tracks]
    total = _PRIOR + np.sum([log for log, _ in each], axis=0)
    weights = np.exp(total - total.max())
    out: dict[int, dict[str, float]] = {}
    for f, (_, parts) in zip(tracks, each, strict=True):
        usual, *others = np.log(parts @ weights)
        out[f.id] = {p: max(-PIECES.most, min(PIECES.most, float(v - usual)))
                     for p, v in zip(pieces, others, strict=True)}
    return out


def _by_network(tracks: Sequence[FigureTrack]) -> dict[int, float]:
    """By the number of a track the log-odds of a large follower, by how the network's word stands out at this table."""
    said = {f.id: (f.pieces.get("large", 0.0) - f.pieces["follower"]) / f.weight for f in tracks}
    each = {i: [-0.5 * ((v + side * PIECES.apart - _SAID) / PIECES.spread) ** 2 for side in (1, -1)]
            for i, v in said.items()}
    logs = {i: np.logaddexp(np.log(1 - PIECES.share) + small, np.log(PIECES.share) + large)
            for i, (small, large) in each.items()}
    total = -0.5 * ((_SAID - PIECES.usual) / PIECES.unusual) ** 2 + sum(logs.values())
    out = {}
    for i, (small, large) in each.items():
        rest = total - logs[i]
        out[i] = float(np.logaddexp.reduce(rest + large) - np.logaddexp.reduce(rest + small))
    return out


def _lost(track: FigureTrack, clear: float) -> float:
    """What its silhouettes lack of their length (log), to a hundredth, if it stands out by less than ``clear``."""
    return round(PIECES.faint * max(0.0, clear - track.there / track.weight), 2)


@lru_cache(maxsize=512)
def _densities(length: float, lies: bool, pieces: tuple[str, ...], lost: float) -> tuple[Array, Array]:
    """Log-density of a length, whatever the piece, over the table's offset and its large wood (N,); and the density of
    followers and of each of the ``pieces`` against that (1 + pieces, N)."""
    apart = np.log(length / (PIECES.lies if lies else PIECES.stands)) - _OFFSETS + lost
    spread = math.hypot(PIECES.figures, PIECES.guessed * lost)
    shift = {"large": -_LARGER, "builder": PIECES.shorter}
    share = {"large": PIECES.share, "builder": PIECES.builders}
    wide = {"large": spread, "builder": math.hypot(spread, PIECES.builds)}
    logs = np.array([_normal(apart, spread), *(_normal(apart + shift[p], wide[p]) for p in pieces)])
    shares = np.array([1 - sum(share[p] for p in pieces), *(share[p] for p in pieces)])
    mixed = np.logaddexp.reduce(np.log(shares)[:, None] + logs, axis=0)
    return mixed, np.exp(logs - mixed)


def _log_normal(value: float, how: tuple[float, float]) -> float:
    mean, deviation = how
    return -0.5 * ((value - mean) / deviation) ** 2 - math.log(deviation)


def _normal(apart: Array, spread: float) -> Array:
    sure = np.log((1 - PIECES.spoiled) * PIECES.figures / spread)
    return np.asarray(np.logaddexp(sure - 0.5 * (apart / spread) ** 2, np.log(PIECES.spoiled)))
