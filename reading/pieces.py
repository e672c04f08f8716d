"""Which piece each figure is, by its width relative to the other figures of the same table; pigs above all by the
figures' network.

A maker chose how much wider a large follower is than an ordinary one. How wide wood looks at one table (maker, tiles,
lens) and how much wider large wood is are unknown but the same for all its figures: a mixture of Student's t's over the
logarithm of the width, marginalised over both unknowns. Every figure seen is evidence of them, whichever piece it is,
and more so if people have settled which.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from reading.belief import TableBelief
from reading.figure_track import FigureTrack
from scoring.events import FigurePlaced

Array = npt.NDArray[np.float64]
_Key = TypeVar("_Key", bound=Hashable)
SIZES = ("follower", "large")  # pieces of one shape


@dataclass(frozen=True, slots=True, kw_only=True)
class PieceLimits:
    """Widths are in tiles. Wood measured with a caliper is 16.0 mm (follower), 18.5 mm (large), 14.3 mm (builder) and
    22.1 mm (pig) wide on tiles of 45 mm; ``benchmarks/film_evidence.py`` prints the widths in films by piece and
    posture."""

    usual: float = 0.356  # tiles: an ordinary follower
    tables: float = 0.12  # standard deviation between tables (natural logarithm)
    larger: float = 0.17  # logarithm of the ratio of large to ordinary width: 0.145 for 18.5 mm, 0.2 in a film
    makers: float = 0.05  # standard deviation of that between makers
    freedom: float = 4.0  # degrees of freedom of a width's error in Student's t, as in training/train_sizes.py: its
    # deviation is then 1.4 times the stated one; 1.2 (standing) and 1.4 (lying) of the cuts held out of training
    finest: float = 0.02  # standard deviation below which no width is believed (chosen)
    narrower: float = 0.11  # logarithm of the ratio of ordinary to a builder's width
    builds: float = 0.08  # standard deviation of that between makers
    wider: float = 0.15  # logarithm of the ratio of a pig's to an ordinary width: 0.32 for 22.1 mm, 0.1 in a film
    rooted: float = 0.2  # standard deviation of that between makers (chosen)
    share: float = 0.2  # share of large followers among the figures on a table
    builders: float = 0.05  # share of builders, and of pigs
    spoiled: float = 0.015  # share of silhouettes that say nothing: cut off, or merged with another
    across: float = 0.6  # range of the widths (natural logarithm) of those (chosen)
    most: float = 7.0  # most evidence of a figure's size (nats)
    # the network's log-odds of large against ordinary: their mean at a table that has as many of both, its standard
    # deviation between tables, half the distance between the two, and the standard deviation of each
    said: float = -3.1
    unusual: float = 1.2
    apart: float = 0.8
    spread: float = 0.75
    beside: float = 0.5  # weight of this besides the width: both err where a silhouette is spoiled
    # the network's log-odds of a pig against a follower (mean, standard deviation): 3 pigs, 60 standing followers
    pig: tuple[float, float] = (-0.5, 2.0)
    no_pig: tuple[float, float] = (-6.2, 1.6)
    tells: float = 4.0  # most evidence of this (nats)
    # the same where no player has a pig: any maker's (-0.5 in a film, 5.3 +- 1.0 simulated), and standing followers,
    # 36 on oblique photographs, at most 1.7
    any_pig: tuple[float, float] = (2.0, 3.5)
    any_other: tuple[float, float] = (-5.1, 2.1)
    foreign: float = 6.0  # log-odds of looks from which it is told: a piece of another box is rare (chosen)
    built: float = -2.2  # log-odds of a builder at which the network is neutral: most standing figures are near it
    tells_built: float = 1.5  # most evidence of this (nats); builders stand
    enough: int = 12  # measured figures on a table from which more say little about the size of one (chosen)
    hardly: float = 0.1  # nats by which other figures' looks may change a piece before it is weighed again


PIECES = PieceLimits()
_SAID = np.linspace(-7.0, 2.0, 91)
_OFFSETS, _LARGER = (g.ravel() for g in np.meshgrid(np.linspace(-0.36, 0.36, 49), np.linspace(0.08, 0.34, 14)))
_USUAL = -0.5 * ((_SAID - PIECES.said) / PIECES.unusual) ** 2
_PRIOR = -0.5 * (_OFFSETS / PIECES.tables) ** 2 - 0.5 * ((_LARGER - PIECES.larger) / PIECES.makers) ** 2


def kinds(tracks: Iterable[FigureTrack], pieces: Collection[str]) -> dict[int, FigureTrack]:
    """Tracks by id with log-likelihoods of those ``pieces`` that take all figures of the table into account. Tracks
    without evidence of their piece are left out."""
    return Kinds().among(tuple(tracks), pieces)


def foreign(tracks: Iterable[FigureTrack], owned: Collection[str]) -> list[FigureTrack]:
    """The figures that are no pieces of this game, in which players have the pieces ``owned``. Only those whose
    silhouette is unlike any follower's: smaller or larger wood may be another maker's."""
    if "pig" in owned:
        return []
    out = []
    for f in tracks:
        if f.real > 0 and "pig" in f.pieces and "follower" in f.pieces and not f.piece:
            # of two normal distributions the wider one wins on both sides: less like a pig than any follower is none
            said = np.array(max((f.pieces["pig"] - f.pieces["follower"]) / f.weight, PIECES.any_other[0]))
            if float(_log_normal(said, PIECES.any_pig) - _log_normal(said, PIECES.any_other)) > PIECES.foreign:
                out.append(f)
    return out


def about_size(a: FigurePlaced, b: FigurePlaced) -> bool:
    """Whether two placements differ in the size of one shape only."""
    return {a.figure, b.figure} <= set(SIZES) and replace(a, figure=b.figure) == b


@dataclass(slots=True)
class _Said:
    """The evidence of one figure's looks about its piece: mean log-odds against a follower, of a large one also against
    a pig, which looks larger than a follower to the network. ``odds`` is the joint evidence of all figures, ``told``
    the track with it, once known."""

    track: FigureTrack
    large: float
    pig: float
    builder: float
    odds: tuple[float, ...] = ()
    told: FigureTrack | None = None


class Kinds:
    """`kinds` of one table, recomputed when a track has changed. A track that other tracks' looks have hardly changed
    stays the same object, so what is derived from it remains cached."""

    def __init__(self) -> None:
        self._of: tuple[FigureTrack, ...] = ()
        self._pieces: tuple[str, ...] = ()
        self._said: dict[int, _Said | None] = {}
        self._widths: _Mixture[_WidthKey] = _Mixture(_PRIOR, _densities)
        self._by_size: _Mixture[_SizeKey] = _Mixture(_USUAL, _said_by_network)
        self._told: dict[int, FigureTrack] = {}

    def of(self, belief: TableBelief, pieces: Collection[str]) -> dict[int, FigureTrack]:
        """`kinds` of a belief's tracks."""
        return self.among(tuple(belief.figures.values()), pieces)

    def among(self, tracks: tuple[FigureTrack, ...], pieces: Collection[str]) -> dict[int, FigureTrack]:
        """`kinds` of these tracks."""
        told = ("follower", *(p for p in ("large", "builder", "pig") if p in pieces))
        if told != self._pieces:
            self._pieces, self._of, self._said = told, (), {}
            self._widths = _Mixture(_PRIOR, _densities)  # its rows are as wide as there are pieces
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
        """(figures, pieces) log-likelihoods relative to the best piece of each figure."""
        odds = np.zeros((len(known), len(self._pieces)))
        if not known:
            return odds
        column = {p: odds[:, n] for n, p in enumerate(self._pieces)}
        sized = tuple(p for p in ("large", "builder", "pig") if p in column)
        if "large" not in column:  # makers' pigs differ too much for their width to tell them from followers
            sized = tuple(p for p in sized if p != "pig")
        measured = [n for n, said in enumerate(known) if said.track.width > 0]
        if sized and measured:
            odds[np.ix_(measured, [self._pieces.index(p) for p in sized])] = _by_width(
                self._widths, [known[n] for n in measured], sized)
        if "large" in column:
            column["large"] += PIECES.beside * _by_network(self._by_size, known)
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
    """The evidence of a track about its piece; None if there is none."""
    if f.real <= 0 or "follower" not in f.pieces:
        return None
    own = f.pieces["follower"]
    pig = (f.pieces.get("pig", own) - own) / f.weight
    return _Said(track=f, large=(f.pieces.get("large", 0.0) - own) / f.weight - max(0.0, pig), pig=pig,
                 builder=(f.pieces.get("builder", own) - own) / f.weight)


class _Mixture(Generic[_Key]):
    """What several figures say of the unknowns of their table (a grid of N points with the log-``prior``), and what
    each then says of its piece. ``densities`` has for a figure's key the log-density of what was seen of it (N,), for
    the settled piece or whichever it is, and the densities given each of the K pieces relative to that (K, N). Rows of
    unchanged keys are kept."""

    def __init__(self, prior: Array, densities: Callable[[_Key], tuple[Array, Array]]) -> None:
        self._prior, self._densities = prior, densities
        self._keys: list[_Key] = []
        self._mixed, self._parts = np.zeros((0, 0)), np.zeros((0, 0, 0))

    def logs(self, keys: list[_Key]) -> Array:
        """(figures, K) log-likelihoods of the pieces, marginalised over the unknowns, but for a constant."""
        if self._keys != keys:
            self._renew(keys)
        total = self._prior + self._mixed.sum(axis=0)
        figures, pieces, points = self._parts.shape
        found = self._parts.reshape(figures * pieces, points) @ np.exp(total - total.max())
        return np.asarray(np.log(found).reshape(figures, pieces))

    def _renew(self, keys: list[_Key]) -> None:
        old = self._keys[:len(keys)]
        rows = {n: self._densities(key) for n, key in enumerate(keys) if n >= len(old) or old[n] != key}
        if len(keys) != len(self._keys):
            mixed, parts = next(iter(rows.values())) if rows else (self._mixed[0], self._parts[0])
            grown = np.empty((len(keys), *mixed.shape)), np.empty((len(keys), *parts.shape))
            for new, kept in zip(grown, (self._mixed, self._parts), strict=True):
                if old:
                    new[:len(old)] = kept[:len(old)]
            self._mixed, self._parts = grown
        for n, (mixed, parts) in rows.items():
            self._mixed[n], self._parts[n] = mixed, parts
        self._keys = keys


_WidthKey = tuple[float, float, tuple[str, ...], str]
_SizeKey = tuple[float, str]


def _by_width(mixture: _Mixture[_WidthKey], known: Sequence[_Said], pieces: tuple[str, ...]) -> Array:
    """(figures, pieces) log-odds of these pieces against an ordinary follower, by the widths of a table's figures."""
    logs = mixture.logs([(round(f.width, 3), round(max(f.width_spread, PIECES.finest), 3), pieces, f.piece)
                         for f in (said.track for said in known)])
    return np.asarray(np.clip(logs[:, 1:] - logs[:, :1], -PIECES.most, PIECES.most))


def _by_network(mixture: _Mixture[_SizeKey], known: Sequence[_Said]) -> Array:
    """(figures,) log-odds of a large follower, given how the network's log-odds stand out at this table."""
    logs = mixture.logs([(said.large, said.track.piece) for said in known])
    return np.asarray(logs[:, 1] - logs[:, 0])


@lru_cache(maxsize=512)
def _said_by_network(key: _SizeKey) -> tuple[Array, Array]:
    """`_Mixture.densities` of the network's log-odds of large against ordinary: of any piece (or of the settled one),
    and of the two."""
    said, settled = key
    logs = np.array([-0.5 * ((said + side * PIECES.apart - _SAID) / PIECES.spread) ** 2 for side in (1, -1)])
    mixed = logs[SIZES.index(settled)] if settled in SIZES else np.logaddexp(
        np.log(1 - PIECES.share) + logs[0], np.log(PIECES.share) + logs[1])
    return mixed, np.exp(logs - mixed)


@lru_cache(maxsize=512)
def _densities(key: _WidthKey) -> tuple[Array, Array]:
    """Log-density of a width for any piece (or the settled one) over the grid of both unknowns (N,), and the densities
    given a follower and each of the ``pieces`` relative to that (1 + pieces, N)."""
    width, spread, pieces, settled = key
    apart = np.log(width / PIECES.usual) - _OFFSETS
    shift = {"large": -_LARGER, "builder": PIECES.narrower, "pig": -PIECES.wider}
    share = {"large": PIECES.share, "builder": PIECES.builders, "pig": PIECES.builders}
    wide = {"large": spread, "builder": math.hypot(spread, PIECES.builds), "pig": math.hypot(spread, PIECES.rooted)}
    logs = np.array([_student(apart, spread), *(_student(apart + shift[p], wide[p]) for p in pieces)])
    shares = np.array([1 - sum(share[p] for p in pieces), *(share[p] for p in pieces)])
    named = (SIZES[0], *pieces)
    mixed = logs[named.index(settled)] if settled in named else \
        np.logaddexp.reduce(np.log(shares)[:, None] + logs, axis=0)
    return mixed, np.exp(logs - mixed)


def _log_normal(values: Array, how: tuple[float, float]) -> Array:
    mean, deviation = how
    return np.asarray(-0.5 * ((values - mean) / deviation) ** 2 - math.log(deviation))


def _student(apart: Array, spread: float) -> Array:
    """Log-density of an error by Student's t, or of a silhouette that is spoiled."""
    n = PIECES.freedom
    sure = math.lgamma((n + 1) / 2) - math.lgamma(n / 2) - 0.5 * math.log(n * math.pi) - math.log(spread)
    return np.asarray(np.logaddexp(
        math.log1p(-PIECES.spoiled) + sure - (n + 1) / 2 * np.log1p((apart / spread) ** 2 / n),
        math.log(PIECES.spoiled / PIECES.across)))
