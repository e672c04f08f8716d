"""The belief about the table: a track for every square and every figure. It knows no game and decides nothing.

`updated` is a pure function of a belief and a look. Looks at one scene share their errors, so evidence is a mean over
looks, weighted by how informative each is and how long after the previous one it came, times the effective number of
independent looks. So the same scene leads to the same belief at 2 frames a second as at 30.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import median

from reading.limits import LIMITS
from reading.tile_track import TileTrack, contradicts, first_seen, informativeness, said_of, seen_again, worth
from reading.widths import averaged
from scoring.tiles import Square
from vision.looks import FigureLook, SquareLook, TableLook

_LEFT_OUT = 0.6  # weight of a look at the whole board that does not report a square


@dataclass(frozen=True, slots=True, kw_only=True)
class SquareTrack:
    """The belief about a square: the tile that lies there (``laid``), a hypothesis that contradicts it (``against``),
    and the tiles that lay there before (``past``).

    ``bare_s`` is when it was last surely bare, ``looked_s`` when it was last looked at, ``hidden_s`` since when it has
    been occluded; ``doubt`` the weight of looks that no longer found a tile there, ``gone_s`` when they were believed,
    ``strange_s`` since when something unlike any tile has been there.
    """

    laid: TileTrack | None = None
    against: TileTrack | None = None
    past: tuple[TileTrack, ...] = ()
    bare_s: float | None = None
    looked_s: float = -math.inf
    hidden_s: float | None = None
    doubt: float = 0.0
    gone_s: float = -math.inf
    strange_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Absence:
    """A time for which a figure was gone from its place: it was last seen there at ``seen_s``, looks of the weight
    ``missed`` between ``missed_s`` and ``looked_s`` did not see it, and at ``back_s`` one like it was there again."""

    seen_s: float
    missed: float
    missed_s: float
    looked_s: float
    back_s: float


@dataclass(frozen=True, kw_only=True)
class FigureTrack:
    """One figure: ``foot`` in tiles of the board, with the uncertainty ``spread``. It appeared between ``before_s``
    (None: unknown) and ``came_s`` and was last seen at ``seen_s``; ``missed`` is the weight of the looks since then,
    which did not see it, ``flickers`` that of earlier looks which missed it in between, ``away`` the newest time for
    which it was gone or after which it stood elsewhere. ``width`` is the mean width of its wood in tiles, over looks of
    total weight ``measured``, and ``width_spread`` the standard deviation of its logarithm in a usual look: looks err
    alike. Sums are as in `TileTrack`."""

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
    flickers: float = 0.0
    away: Absence | None = None
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
        return _normal({c: v * self._worth for c, v in self.colours.items()})

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
    def absent_s(self) -> float | None:
        """When its place was last looked at before that, without it; None if never."""
        return self.before_s if self.away is None else self.away.looked_s

    @property
    def as_before(self) -> FigureTrack | None:
        """What was there before it was gone, as a figure that is gone; None if it never was."""
        return None if self.away is None else replace(
            self, seen_s=self.away.seen_s, missed=self.away.missed, missed_s=self.away.missed_s, away=None)


@dataclass(frozen=True, kw_only=True)
class TableBelief:
    """All tracks. ``whole_s``: when the whole board was last looked at; ``still_s``: since when nothing has changed."""

    t_s: float = -math.inf
    squares: Mapping[Square, SquareTrack] = field(default_factory=dict)
    figures: Mapping[int, FigureTrack] = field(default_factory=dict)
    figures_s: Mapping[Square, float] = field(default_factory=dict)  # when figures were last looked for
    bare_of_s: Mapping[Square, float] = field(default_factory=dict)  # weight of the newest looks that saw none
    whole_s: float | None = None
    first_s: float | None = None
    still_s: float = -math.inf
    next_id: int = 1

    @cached_property
    def by_square(self) -> dict[Square, list[FigureTrack]]:
        """The figures by their squares, the oldest first."""
        out: dict[Square, list[FigureTrack]] = {}
        for _, f in sorted(self.figures.items()):
            out.setdefault(f.at, []).append(f)
        return out

    @cached_property
    def _came(self) -> list[float]:
        return sorted(laid.since_s for laid in self.lying().values())

    @cached_property
    def pace_s(self) -> float:
        """How long a turn takes at this table: the median time between the first sightings of successive tiles, in
        seconds; 0 while there are too few."""
        came = self._came
        apart = [later - earlier for earlier, later in zip(came, came[1:], strict=False) if later > earlier]
        return median(apart) if len(apart) >= LIMITS.paced else 0.0

    def since_s(self, at: Square | None) -> float:
        """Since when the tile of a square has been seen; infinite without one."""
        track = self.squares.get(at) if at is not None else None
        return math.inf if track is None or track.laid is None else track.laid.since_s

    def next_s(self, laid: TileTrack) -> float:
        """When the next tile after this one was first seen; infinite if there is none."""
        n = bisect_right(self._came, laid.since_s)
        return self._came[n] if n < len(self._came) else math.inf

    def lying(self) -> dict[Square, TileTrack]:
        """The tiles that lie on the table."""
        return {at: t.laid for at, t in self.squares.items() if t.laid is not None}


def updated(belief: TableBelief, look: TableLook) -> TableBelief:
    """The belief after one more look. Looks must come in the order of their times."""
    t = look.t_s
    squares = dict(belief.squares)
    changed = False
    for at, seen in look.squares.items():
        old = squares.get(at, SquareTrack(bare_s=belief.whole_s))
        squares[at] = new = _square(old, seen, t)
        changed |= (old.laid is None) != (new.laid is None) or len(old.past) != len(new.past)
    if look.whole:
        for at in squares.keys() - look.squares.keys():
            old = squares[at]
            squares[at] = new = _nothing(old, LIMITS.left_out, _LEFT_OUT, t)
            changed |= (old.laid is None) != (new.laid is None)
    figures, looked, bare, next_id = _figures(belief, look)
    changed |= figures.keys() != belief.figures.keys() or any(
        f.present != belief.figures[i].present for i, f in figures.items())
    first = belief.first_s if belief.first_s is not None else t
    return TableBelief(t_s=t, squares=squares, figures=figures, figures_s=looked, bare_of_s=bare, next_id=next_id,
                       whole_s=t if look.whole else belief.whole_s, first_s=first,
                       still_s=t if changed else max(belief.still_s, first))


def _fresh(since_s: float, t: float) -> float:
    """The share of a look's evidence that is new, given the time since the previous look."""
    return 1.0 - math.exp(-max(0.0, t - since_s) / LIMITS.new_look_s)


def _square(track: SquareTrack, seen: SquareLook, t: float) -> SquareTrack:
    if seen.seen < LIMITS.seen_least:
        return track if track.hidden_s is not None else replace(track, hidden_s=t)
    weight = seen.seen * _fresh(track.looked_s, t)
    if seen.there < 0.0:
        return _nothing(track, seen.there, weight, t)
    if not seen.tiles:
        return replace(track, looked_s=t, hidden_s=None, strange_s=t if track.strange_s is None else track.strange_s)
    hidden_s = track.hidden_s
    track = replace(track, looked_s=t, hidden_s=None, strange_s=None, doubt=0.0)
    piece = any(n.there > 0.0 for n in seen.neutral.values())
    covered = bool(seen.figures) or piece or any(s.there > 0.0 for s in seen.stacks.values())
    said, rest = said_of(seen, piece)
    told = weight * informativeness(said, rest)
    now = track.laid
    before = track.past[-1] if track.past and t - track.gone_s < LIMITS.ask_after_s else None
    if now is None and before is not None and before.well_known and not contradicts(before, said, rest, covered):
        now, track = before, replace(track, past=track.past[:-1])  # looks missed it, or somebody put it back
    if now is None:
        laid = first_seen(said, rest, seen.there, max(told, 0.05), t, track.bare_s, covered)
        return replace(track, laid=replace(laid, hidden_s=hidden_s), against=None)
    if not contradicts(now, said, rest, covered):
        return replace(track, laid=seen_again(now, said, rest, seen.there, told, t, covered), against=None)
    other = track.against
    other = first_seen(said, rest, seen.there, max(told, 0.05), t, now.last_s, covered) if other is None else \
        seen_again(other, said, rest, seen.there, told, t, covered)
    if other.weight < LIMITS.changes * now.usual:
        return replace(track, against=other)
    # the tile was rotated in place, or misread before
    other = replace(other, since_s=now.since_s, bare_s=now.bare_s, hidden_s=now.hidden_s)
    return replace(track, laid=other, against=None, past=(*track.past, now)[-4:])


def _nothing(track: SquareTrack, there: float, weight: float, t: float) -> SquareTrack:
    """After a look that found no tile there."""
    fresh = weight * _fresh(track.looked_s, t) if weight == _LEFT_OUT else weight
    if track.laid is None:
        return replace(track, bare_s=t, looked_s=t, hidden_s=None, strange_s=None)
    doubt = track.doubt + fresh * min(1.0, -there / 3.0)
    enough = LIMITS.laid_stays * track.laid.usual
    if doubt < enough:
        return replace(track, looked_s=t, doubt=doubt, hidden_s=None)
    return replace(track, laid=None, against=None, past=(*track.past, track.laid)[-4:], bare_s=t, looked_s=t,
                   gone_s=t, doubt=0.0, hidden_s=None)


def _figures(belief: TableBelief, look: TableLook,
             ) -> tuple[dict[int, FigureTrack], dict[Square, float], dict[Square, float], int]:
    t = look.t_s
    tracks, looked, bare = dict(belief.figures), dict(belief.figures_s), dict(belief.bare_of_s)
    searched = {at for at, s in look.squares.items() if s.figures is not None and s.seen >= LIMITS.seen_least}
    found = [(at, f) for at in sorted(searched) for f in look.squares[at].figures or ()]
    taken: dict[int, tuple[Square, FigureLook]] = {}
    left = set(range(len(found)))
    pairs = sorted((_apart(track, *found[n]), i, n) for i, track in tracks.items() for n in left
                   if _apart(track, *found[n]) < LIMITS.same_foot and _one(track, *found[n]))
    for _, i, n in pairs:
        if i not in taken and n in left:
            taken[i] = found[n]
            left.discard(n)
    for i, (at, f) in list(taken.items()):
        if f.there < 0.0 and _clear(tracks[i]):  # print on which it stood
            del taken[i]
        elif _on_print(tracks[i], f):
            left.add(found.index((at, f)))
            del taken[i], tracks[i]
        else:
            tracks[i] = _seen(tracks[i], at, f, t, look.squares[at].seen)
    for i, track in list(tracks.items()):
        if i in taken or track.at not in searched:
            continue
        weight = look.squares[track.at].seen * _fresh(max(track.looked_s, track.came_s), t)
        tracks[i] = replace(track, looked_s=t, missed=track.missed + weight,
                            missed_s=t if track.missed_s is None else track.missed_s)
        if tracks[i].real < 0.0 and tracks[i].missed > 3.0:  # a false detection
            del tracks[i]
    next_id = belief.next_id
    for n in sorted(left):
        at, f = found[n]
        if any(i not in taken and tr.present and _faint_beside(tr, at, f) for i, tr in tracks.items()):
            continue  # a later look tells whether it is print
        weight = max(look.squares[at].seen, 0.05)
        tracks[next_id] = FigureTrack(
            id=next_id, foot=_foot(at, f), spread=f.spread, before_s=looked.get(at), came_s=t, seen_s=t, looked_s=t,
            weight=weight, there=f.there * weight, lying=f.lying * weight,
            colours={c: v * weight for c, v in _normal(f.colours).items()},
            pieces={p: v * weight for p, v in f.pieces.items()}, width=f.width, width_spread=f.width_spread,
            measured=weight * (f.width > 0))
        next_id += 1
    for at in searched:
        fresh = look.squares[at].seen * _fresh(looked.get(at, -math.inf), t)
        bare[at] = 0.0 if look.squares[at].figures else bare.get(at, 0.0) + fresh
        looked[at] = t
    return tracks, looked, bare, next_id


def _foot(at: Square, f: FigureLook) -> tuple[float, float]:
    inside = [min(0.99, max(0.01, v)) for v in f.foot]
    return at[0] + inside[0], at[1] + inside[1]


def _apart(track: FigureTrack, at: Square, f: FigureLook) -> float:
    return math.dist(_foot(at, f), track.foot)


def _one(track: FigureTrack, at: Square, f: FigureLook) -> bool:
    """Whether what a look shows may be the figure of a track: their paints are compatible."""
    a, b = track.paints, _normal(f.colours)
    alike = max((a.get(c, -12.0) + b[c] for c in b), default=0.0) > LIMITS.other_paint
    return alike and not _faint_beside(track, at, f)


def _faint_beside(track: FigureTrack, at: Square, f: FigureLook) -> bool:
    """Whether a look hardly shows a figure beside the place of one always seen clearly: print, or that one, pushed."""
    beside = LIMITS.moved_foot < _apart(track, at, f) < LIMITS.same_foot
    return beside and f.there < LIMITS.clear_figure and _clear(track)


def _clear(track: FigureTrack) -> bool:
    """Whether a figure was always seen clearly: what looks only a little like one is not that figure then."""
    return track.there >= LIMITS.clear_figure * track.weight


def _on_print(track: FigureTrack, f: FigureLook) -> bool:
    """Whether a look clearly shows a figure where the last one showed nothing, and those before only what looks a
    little like one: it has come since then."""
    return f.there >= LIMITS.clear_figure and track.there < 0.0 and track.missed > 0.0


def _seen(track: FigureTrack, at: Square, f: FigureLook, t: float, seen: float) -> FigureTrack:
    weight = seen * _fresh(track.looked_s, t)
    moved = _apart(track, at, f) > LIMITS.moved_foot
    share = 1.0 if moved else weight / (track.weight + weight)
    x, y = [old + share * (new - old) for old, new in zip(track.foot, _foot(at, f), strict=True)]
    # one that was gone and has returned was really away: no look missed it
    flickers, away = track.flickers + (track.missed if track.present else 0.0), track.away
    if moved or not track.present:  # taken up and put down again, or another one
        away = Absence(seen_s=track.seen_s, missed=max(track.missed, LIMITS.gone), looked_s=track.looked_s, back_s=t,
                       missed_s=t if track.missed_s is None else track.missed_s)
    colours = _normal(f.colours)
    width, width_spread, measured = averaged((track.width, track.width_spread, track.measured), f, weight)
    return replace(
        track, foot=(x, y), spread=min(track.spread, f.spread), seen_s=t, looked_s=t, weight=track.weight + weight,
        there=track.there + f.there * weight, lying=track.lying + f.lying * weight, away=away,
        colours={c: track.colours.get(c, -12.0 * track.weight) + colours.get(c, -12.0) * weight
                 for c in {**track.colours, **colours}},
        pieces={p: track.pieces.get(p, 0.0) + f.pieces.get(p, 0.0) * weight for p in {**track.pieces, **f.pieces}},
        width=width, width_spread=width_spread, measured=measured, missed=0.0, missed_s=None, flickers=flickers)


def _normal(logs: Mapping[str, float]) -> dict[str, float]:
    """Log-likelihoods normalised to log-probabilities."""
    top = max(logs.values(), default=0.0)
    total = top + math.log(sum(math.exp(v - top) for v in logs.values()) or 1.0)
    return {k: v - total for k, v in logs.items()}


def figures_seen_on(belief: TableBelief, at: Square) -> list[FigureTrack]:
    """The figures that have been seen on the tile which lies there now, the oldest first."""
    track = belief.squares.get(at)
    since = -math.inf
    if track is not None and track.laid is not None:
        since = min([track.laid.since_s, *(p.since_s for p in track.past[-1:])])
    return [f for f in belief.by_square.get(at, ()) if f.seen_s >= since]
