"""The track of one figure: where it was seen, what looks said of it, and whether a further look may show it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from reading.limits import LIMITS
from reading.tile_track import worth
from reading.widths import averaged
from scoring.tiles import Square
from vision.looks import FigureLook

LookWeights = tuple[tuple[float, float], ...]  # the times of looks, each with its weight


@dataclass(frozen=True, slots=True, kw_only=True)
class Absence:
    """A time for which a figure was gone from its place: it was last seen there at ``seen_s``, looks of the weight
    ``missed`` between ``missed_s`` and ``looked_s`` did not see it, and at ``back_s`` one like it was there again.
    ``foot`` is where it had stood."""

    foot: tuple[float, float]
    seen_s: float
    missed: float
    missed_s: float
    looked_s: float
    back_s: float


@dataclass(frozen=True, kw_only=True)
class FigureTrack:
    """One figure: ``foot`` in tiles of the board, with the uncertainty ``spread``. It appeared between ``before_s``
    (None: unknown) and ``came_s``, after the ``bare_looks``, and was last seen at ``seen_s``; ``missed`` is the
    weight of the looks since then, which did not see it (``misses``: the first of these), ``flickers`` that of earlier
    looks which missed it in between, ``away`` the newest time for which it was gone, ``moved`` since when it stands
    beside where it was, never gone: it was pushed, or is another one. ``width`` is the mean width of its wood in tiles,
    over looks of total weight ``measured``, and ``width_spread`` the standard deviation of its logarithm in a usual
    look: looks err alike. Sums are as in `TileTrack`."""

    id: int
    foot: tuple[float, float]
    spread: float
    before_s: float | None
    came_s: float
    seen_s: float
    looked_s: float
    weight: float
    there: float
    lying: float
    colours: Mapping[str, float]
    pieces: Mapping[str, float]
    width: float = 0.0
    width_spread: float = 0.0
    measured: float = 0.0
    missed: float = 0.0
    missed_s: float | None = None
    misses: LookWeights = ()
    flickers: float = 0.0
    away: Absence | None = None
    moved: Absence | None = None
    bare_looks: LookWeights = ()
    piece: str = ""  # which one it is, as far as people have settled it
    settled: bool = False  # ``pieces`` take all figures of the table into account (`reading.pieces`)

    @cached_property
    def at(self) -> Square:
        return math.floor(self.foot[0]), math.floor(self.foot[1])

    @property
    def on_tile(self) -> tuple[float, float]:
        """The foot in tiles from its square's north-west corner."""
        return self.foot[0] - math.floor(self.foot[0]), self.foot[1] - math.floor(self.foot[1])

    @cached_property
    def _worth(self) -> float:
        return worth(self.weight, LIMITS.alike)

    @cached_property
    def real(self) -> float:
        """Log-odds that it is a figure."""
        return self.there * self._worth - LIMITS.flicker * self.flickers / (self.weight + self.flickers)

    @property
    def lies(self) -> float:
        """Log-odds that it lies down."""
        return self.lying * self._worth

    @cached_property
    def paints(self) -> dict[str, float]:
        """Log-probabilities of the paints."""
        return normalised({c: v * self._worth for c, v in self.colours.items()})

    @property
    def paint(self) -> str:
        """Its likeliest paint; empty when none was seen."""
        return max(self.paints, key=self.paints.__getitem__, default="")

    def paint_among(self, colours: Iterable[str]) -> str:
        """Its likeliest paint among these; empty when none was seen."""
        return max(colours, key=lambda c: self.paints.get(c, -12.0), default="") if self.paints else ""

    @cached_property
    def kinds(self) -> dict[str, float]:
        """Log-likelihoods of the kinds of piece relative to the best; empty without evidence."""
        top = max(self.pieces.values(), default=0.0)
        worth = 1 / self.weight if self.settled else self._worth
        return {p: (v - top) * worth for p, v in self.pieces.items()}

    @property
    def present(self) -> bool:
        return self.missed < LIMITS.gone

    @property
    def back_s(self) -> float:
        """Since when it has been there: it may be another one of its player's than before it was gone."""
        return self.came_s if self.away is None else self.away.back_s

    @property
    def momentary(self) -> bool:
        """Whether a single look has seen it since then, which may have been a hand's."""
        return self.seen_s <= self.back_s

    @property
    def missed_soon(self) -> bool:
        """Whether a look missed it soon after it had been seen last."""
        return self.missed_s is not None and self.missed_s - self.seen_s < LIMITS.notice_s

    @property
    def absent_s(self) -> float | None:
        """When its place was last looked at before that, without it; None if never."""
        return self.before_s if self.away is None else self.away.looked_s

    @property
    def as_before(self) -> FigureTrack | None:
        """What was there before it was gone, as a figure that is gone; None if it never was."""
        return None if self.away is None else replace(
            self, foot=self.away.foot, seen_s=self.away.seen_s, missed=self.away.missed, missed_s=self.away.missed_s,
            misses=(), away=None, moved=None)

    @property
    def as_another(self) -> FigureTrack | None:
        """As one that was put where it stands since it ``moved``, while the one before was taken home: nobody knows.
        None if it did not, or not for long enough: a hand may hold it, or push it back."""
        if self.moved is None or self.missed > 0.0 or self.seen_s - self.moved.back_s < LIMITS.notice_s:
            return None
        same = (math.floor(self.moved.foot[0]), math.floor(self.moved.foot[1])) == self.at
        return replace(self, away=self.moved, moved=None) if same else None


def foot_of(at: Square, f: FigureLook) -> tuple[float, float]:
    """Where a figure seen on a square stands, in tiles of the board: on that square."""
    inside = [min(0.99, max(0.01, v)) for v in f.foot]
    return at[0] + inside[0], at[1] + inside[1]


def apart(track: FigureTrack, at: Square, f: FigureLook) -> float:
    """How far from the place of a track a figure is seen on a square, in tiles."""
    return math.dist(foot_of(at, f), track.foot)


def may_be(track: FigureTrack, at: Square, f: FigureLook) -> bool:
    """Whether what a look shows may be the figure of a track: their paints are compatible."""
    a, b = track.paints, normalised(f.colours)
    alike = max((a.get(c, -12.0) + b[c] for c in b), default=0.0) > LIMITS.other_paint
    return alike and not faint_beside(track, at, f) and not clear_beside(track, at, f)


def faint_beside(track: FigureTrack, at: Square, f: FigureLook) -> bool:
    """Whether a look hardly shows a figure beside the place of one always seen clearly: print, or that one, pushed."""
    beside = LIMITS.moved_foot < apart(track, at, f) < LIMITS.same_foot
    return beside and f.there < LIMITS.clear_figure and always_clear(track)


def clear_beside(track: FigureTrack, at: Square, f: FigureLook) -> bool:
    """Whether a look clearly shows a figure beside the place where several looks saw no more than what is a little like
    one."""
    beside = LIMITS.moved_foot < apart(track, at, f) < LIMITS.same_foot and f.there >= LIMITS.clear_figure
    return beside and track.weight >= LIMITS.changes and track.there < LIMITS.faint_figure * track.weight


def always_clear(track: FigureTrack) -> bool:
    """Whether a figure was always seen clearly: what looks only a little like one is not that figure then."""
    return track.there >= LIMITS.clear_figure * track.weight


def on_print(track: FigureTrack, f: FigureLook) -> bool:
    """Whether a look clearly shows a figure where the last one showed nothing, and those before only what looks a
    little like one: it has come since then."""
    return f.there >= LIMITS.clear_figure and track.there < 0.0 and track.missed > 0.0


def seen_figure(track: FigureTrack, at: Square, f: FigureLook, t: float, weight: float) -> FigureTrack:
    """The track after one more look of this ``weight``, at ``t`` seconds, that shows its figure."""
    far = apart(track, at, f) > LIMITS.moved_foot
    share = 1.0 if far else weight / (track.weight + weight)
    x, y = [old + share * (new - old) for old, new in zip(track.foot, foot_of(at, f), strict=True)]
    # one that was gone and has returned was really away: no look missed it
    flickers, away, moved = track.flickers + (track.missed if track.present else 0.0), track.away, track.moved
    if not track.present and track.missed_s is not None:
        moved, away = None, Absence(foot=track.foot, seen_s=track.seen_s, missed=track.missed, missed_s=track.missed_s,
                                    looked_s=track.looked_s, back_s=t)
    elif far and moved is not None and math.dist(moved.foot, (x, y)) <= LIMITS.moved_foot:
        moved = None  # back again
    elif far:
        moved = Absence(foot=track.foot, seen_s=track.seen_s, missed=LIMITS.gone, missed_s=t, looked_s=track.seen_s,
                        back_s=t)
    colours = normalised(f.colours)
    width, width_spread, measured = averaged((track.width, track.width_spread, track.measured), f, weight)
    return replace(
        track, foot=(x, y), spread=min(track.spread, f.spread), seen_s=t, looked_s=t, weight=track.weight + weight,
        there=track.there + f.there * weight, lying=track.lying + f.lying * weight, away=away, moved=moved,
        colours={c: track.colours.get(c, -12.0 * track.weight) + colours.get(c, -12.0) * weight
                 for c in {**track.colours, **colours}},
        pieces={p: track.pieces.get(p, 0.0) + f.pieces.get(p, 0.0) * weight for p in {**track.pieces, **f.pieces}},
        width=width, width_spread=width_spread, measured=measured, missed=0.0, missed_s=None, misses=(),
        flickers=flickers)


def normalised(logs: Mapping[str, float]) -> dict[str, float]:
    """Log-likelihoods normalised to log-probabilities."""
    top = max(logs.values(), default=0.0)
    total = top + math.log(sum(math.exp(v - top) for v in logs.values()) or 1.0)
    return {k: v - total for k, v in logs.items()}
