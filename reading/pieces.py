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
    return Kinds().among(tuple(tracks), pieces)


@dataclass(slots=True)
class _Said:
    """What the looks at one figure say of its piece, a look: log-odds against a follower. ``told`` is the track with
    what all figures together say, ``odds``, once that is known."""

    track: FigureTrack
    large: float
    pig: float
    builder: float
    clear: float
    odds: tuple[float, ...] = ()
    told: FigureTrack | None = None


class Kinds:
    """`kinds` of one table, worked out anew when a track has changed. A track whose pieces another one's looks have
    hardly moved stays the object that it was, and so does what was worked out from it."""

    def __init__(self) -> None:
        self._of: tuple[FigureTrack, ...] = ()
        self._pieces: tuple[str, ...] = ()
        self._said: dict[int, _Said | None] = {}
        self._lengths = _Lengths()
        self._told: dict[int, FigureTrack] = {}

    def of(self, belief: TableBelief, pieces: Collection[str]) -> dict[int, FigureTrack]:
        """By its number each track of a belief, as `kinds` has it."""
        return self.among(tuple(belief.figures.values()), pieces)

    def among(self, tracks: tuple[FigureTrack, ...], pieces: Collection[str]) -> dict[int, FigureTrack]:
        """By its number each of these tracks, as `kinds` has it."""
        told = ("follower", *(p for p in ("large", "builder", "pig") if p in pieces))
        if told != self._pieces:
            self._pieces, self._of, self._said = told, (), {}
        elif len(tracks) == len(self._of) and all(a is b for a, b in zip(tracks, self._of, strict=True)):
            return self._told
        self._said = {f.id: old if (old := self._said.get(f.id)) is not None and old.track is f else _said(f)
                      for f in tracks}
        known = [said for said in self._said.values() if said is not None]
        odds = self._weighed(known)
        before = np.array([said.odds or len(told) * (math.nan,) for said in known]).reshape(odds.shape)
        for n in np.flatnonzero(~(np.abs(odds - before) <= PIECES.hardly).all(axis=1)):
            said, track = known[n], known[n].track
            said.odds = tuple(odds[n].tolist())
            said.told = replace(track, settled=True,
                                pieces={p: v * track.weight for p, v in zip(told, said.odds, strict=True)})
        self._told = {said.track.id: said.told for said in known if said.told is not None}
        self._of = tracks
        return self._told

    def _weighed(self, known: Sequence[_Said]) -> Array:
        """By figure the log-likelihood of each piece, the best of them 0."""
        odds = np.zeros((len(known), len(self._pieces)))
        if not known:
            return odds
        column = {p: odds[:, n] for n, p in enumerate(self._pieces)}
        long = tuple(p for p in ("large", "builder") if p in column)
        measured = [n for n, said in enumerate(known) if said.track.length > 0]
        if long and measured:
            odds[np.ix_(measured, [self._pieces.index(p) for p in long])] = self._lengths.odds(
                [known[n] for n in measured], long)
        if "large" in column:
            column["large"] += PIECES.beside * _by_network(np.array([said.large for said in known]))
        if "pig" in column:
            pig = np.array([said.pig for said in known])
            column["pig"] += np.clip(_log_normal(pig, PIECES.pig) - _log_normal(pig, PIECES.no_pig), -PIECES.tells,
                                     PIECES.tells)
        if "builder" in column:
            built = np.array([said.builder for said in known]) - PIECES.built
            column["builder"] += np.clip(built, -PIECES.tells_built, PIECES.tells_built) \
                - PIECES.most * np.array([said.track.lies > 0 for said in known])
        return np.asarray(odds - odds.max(axis=1, keepdims=True))


def _said(f: FigureTrack) -> _Said | None:
    """None when it says nothing."""
    if f.real <= 0 or "follower" not in f.pieces:
        return None
    own = f.pieces["follower"]
    return _Said(track=f, large=(f.pieces.get("large", 0.0) - own) / f.weight,
                 pig=(f.pieces.get("pig", own) - own) / f.weight,
                 builder=(f.pieces.get("builder", own) - own) / f.weight, clear=f.there / f.weight)


class _Lengths:
    """What the lengths of a table's figures say of their pieces. The densities of figures that have not changed stay
    where they are."""

    def __init__(self) -> None:
        self._keys: list[tuple[float, bool, tuple[str, ...], float]] = []
        self._mixed, self._parts = np.zeros((0, 0)), np.zeros((0, 0, 0))

    def odds(self, known: Sequence[_Said], pieces: tuple[str, ...]) -> Array:
        """The log-odds of these pieces against an ordinary follower, (figures, pieces)."""
        clear = median(said.clear for said in known) - PIECES.clear
        keys = [(round(said.track.length, 3), said.track.lies > 0, pieces, _lost(said.clear, clear)) for said in known]
        if len(keys) != len(self._keys) or pieces != self._keys[0][2]:
            each = [_densities(*key) for key in keys]
            self._mixed, self._parts = np.array([m for m, _ in each]), np.array([p for _, p in each])
        else:
            for n, (old, key) in enumerate(zip(self._keys, keys, strict=True)):
                if old != key:
                    self._mixed[n], self._parts[n] = _densities(*key)
        self._keys = keys
        total = _PRIOR + self._mixed.sum(axis=0)
        logs = np.log(self._parts @ np.exp(total - total.max()))
        return np.asarray(np.clip(logs[:, 1:] - logs[:, :1], -PIECES.most, PIECES.most))


def _by_network(said: Array) -> Array:
    """By figure the log-odds of a large follower, by how the network's word (its log-odds) stands out at this table."""
    small, large = (-0.5 * ((said[:, None] + side * PIECES.apart - _SAID) / PIECES.spread) ** 2 for side in (1, -1))
    logs = np.logaddexp(np.log(1 - PIECES.share) + small, np.log(PIECES.share) + large)
    rest = -0.5 * ((_SAID - PIECES.usual) / PIECES.unusual) ** 2 + logs.sum(axis=0) - logs
    return np.asarray(_log_sum(rest + large) - _log_sum(rest + small))


def _log_sum(x: Array) -> Array:
    """Log of the sum of exponentials of each row."""
    top = x.max(axis=1)
    return np.asarray(top + np.log(np.exp(x - top[:, None]).sum(axis=1)))


def _lost(said: float, clear: float) -> float:
    """What silhouettes lack of their length (log), to a hundredth, if they stand out by less than ``clear``."""
    return round(PIECES.faint * (clear - said), 2) if said < clear else 0.0


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


def _log_normal(values: Array, how: tuple[float, float]) -> Array:
    mean, deviation = how
    return np.asarray(-0.5 * ((values - mean) / deviation) ** 2 - math.log(deviation))


def _normal(apart: Array, spread: float) -> Array:
    sure = np.log((1 - PIECES.spoiled) * PIECES.figures / spread)
    return np.asarray(np.logaddexp(sure - 0.5 * (apart / spread) ** 2, np.log(PIECES.spoiled)))
