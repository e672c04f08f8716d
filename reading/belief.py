"""The belief about the table: a track for every square and every figure. It knows no game and decides nothing.

`updated` is a pure function of a belief and a look. Looks at one scene share their errors, so evidence is a mean over
looks, weighted by how informative each is and how long after the previous one it came, times the effective number of
independent looks. So the same scene leads to the same belief at 2 frames a second as at 30.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import median

from reading.figure_track import (
    FigureTrack,
    LookWeights,
    always_clear,
    apart,
    faint_beside,
    foot_of,
    may_be,
    normalised,
    on_print,
    seen_figure,
)
from reading.limits import LIMITS
from reading.sightings import NEUTRAL
from reading.tile_track import (
    Cover,
    TileTrack,
    clearness,
    contradicts,
    first_seen,
    informativeness,
    said_of,
    seen_again,
    spoiled,
)
from scoring.tiles import EDGES, Square, neighbour
from vision.looks import FigureLook, SquareLook, TableLook

_LEFT_OUT = 0.6  # weight of a look at the whole board that does not report a square
_REMEMBERED = 12  # looks without a figure that are remembered, the newest before it came and the first since it left:
# more say hardly more (`LIMITS.alike`)


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


@dataclass(frozen=True, kw_only=True)
class TableBelief:
    """All tracks. ``whole_s``: when the whole board was last looked at; ``still_s``: since when nothing has changed."""

    t_s: float = -math.inf
    squares: Mapping[Square, SquareTrack] = field(default_factory=dict)
    figures: Mapping[int, FigureTrack] = field(default_factory=dict)
    figures_s: Mapping[Square, float] = field(default_factory=dict)  # when figures were last looked for
    # the newest looks in a row that saw none, each with its time and weight
    bare_looks: Mapping[Square, LookWeights] = field(default_factory=dict)
    whole_s: float | None = None
    gaps_s: tuple[tuple[float, float], ...] = ()  # the newest times without frames, from when to when
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

    def begun_s(self, at: Square | None) -> float:
        """From when the tile of a square may have lain there: since it, or what looks took for another tile before, was
        seen first, or the square could not be seen, or nobody looked at it; minus infinity without one."""
        track = self.squares.get(at) if at is not None else None
        if track is None or track.laid is None:
            return -math.inf
        tiles = (*track.past, track.laid)
        return min(t.since_s if t.hidden_s is None else t.hidden_s for t in tiles)

    def past_gaps(self, look: TableLook) -> TableBelief:
        """The belief after the times without frames before a look, even if that does not show the board."""
        return replace(self, gaps_s=(*self.gaps_s, *look.gaps_s)[-LIMITS.newest_gaps:]) if look.gaps_s else self

    def gap_before_s(self, looked_s: float, t_s: float) -> float | None:
        """When the time without frames began that ended just before the look at ``t_s`` and after the one before it, at
        ``looked_s``; several such times, hardly apart, are one. None if there was none: what changed in an earlier one
        would have been looked at before."""
        begun_s, end_s = None, t_s
        for from_s, until_s in reversed(self.gaps_s):
            if -math.inf < looked_s < until_s and end_s - LIMITS.notice_s <= until_s <= end_s:
                begun_s = end_s = from_s
        return begun_s

    def bare_s(self, at: Square | None) -> float:
        """When the square of a tile was last seen without it; minus infinity if it never was, or has no tile."""
        track = self.squares.get(at) if at is not None else None
        laid = None if track is None else track.laid
        return -math.inf if laid is None or laid.bare_s is None else laid.bare_s

    def next_s(self, laid: TileTrack) -> float:
        """When the next tile after this one was first seen; infinite if there is none."""
        n = bisect_right(self._came, laid.since_s)
        return self._came[n] if n < len(self._came) else math.inf

    def lying(self) -> dict[Square, TileTrack]:
        """The tiles that lie on the table."""
        return {at: t.laid for at, t in self.squares.items() if t.laid is not None}


def updated(belief: TableBelief, look: TableLook, hiding: Collection[str] = ()) -> TableBelief:
    """The belief after one more look. Looks must come in the order of their times. ``hiding`` are the neutral pieces
    of which a figure beside them may look like a part."""
    t = look.t_s
    squares = dict(belief.squares)
    belief = belief.past_gaps(look)
    changed = False
    for at, seen in look.squares.items():
        old = squares.get(at, SquareTrack(bare_s=belief.whole_s))
        if old.hidden_s is None and (unseen_s := _unseen_s(belief, at, old, t)) is not None:
            old = replace(old, hidden_s=unseen_s)
        squares[at] = new = _square(old, seen, t)
        changed |= (old.laid is None) != (new.laid is None) or len(old.past) != len(new.past)
    if look.whole:
        for at in squares.keys() - look.squares.keys():
            old = squares[at]
            squares[at] = new = _nothing(old, LIMITS.left_out, _LEFT_OUT, t)
            changed |= (old.laid is None) != (new.laid is None)
    figures, looked, bare, next_id = _figures(belief, look, hiding)
    changed |= figures.keys() != belief.figures.keys() or any(
        f.present != belief.figures[i].present for i, f in figures.items())
    first = belief.first_s if belief.first_s is not None else t
    return TableBelief(t_s=t, squares=squares, figures=figures, figures_s=looked, bare_looks=bare, next_id=next_id,
                       whole_s=t if look.whole else belief.whole_s, gaps_s=belief.gaps_s, first_s=first,
                       still_s=t if changed else max(belief.still_s, first))


def freshness(since_s: float, t: float) -> float:
    """The share of a look's evidence that is new, given the time since the previous look."""
    return 1.0 - math.exp(-max(0.0, t - since_s) / LIMITS.new_look_s)


def _unseen_s(belief: TableBelief, at: Square, track: SquareTrack, t: float) -> float | None:
    """Since when a tile may have lain on a square unseen before a look at it: since a time without frames that has just
    ended, or since a tile may have lain beside it that has just been found, from when on it is watched. None if it was
    looked at since, or would have been."""
    looked_s = track.looked_s
    if looked_s == -math.inf:
        looked_s = belief.whole_s if belief.whole_s is not None else -math.inf
        beside = [n for side in EDGES if belief.since_s(n := neighbour(at, side)) < math.inf]
        known_s = min(map(belief.since_s, beside), default=-math.inf)
        if looked_s < known_s:
            return min(map(belief.begun_s, beside)) if t - known_s <= LIMITS.notice_s else None
    return belief.gap_before_s(looked_s, t)


def _square(track: SquareTrack, seen: SquareLook, t: float) -> SquareTrack:
    if seen.seen < LIMITS.seen_least:
        return track if track.hidden_s is not None else replace(track, hidden_s=t)
    weight = seen.seen * freshness(track.looked_s, t)
    if seen.there < 0.0:
        return _nothing(track, seen.there, weight, t)
    if not seen.tiles:
        return replace(track, looked_s=t, hidden_s=None, strange_s=t if track.strange_s is None else track.strange_s)
    hidden_s = track.hidden_s
    track = replace(track, looked_s=t, hidden_s=None, strange_s=None, doubt=0.0)
    cover: Cover = "piece" if any(n.there > 0.0 for n in seen.neutral.values()) else \
        "figure" if seen.figures or any(s.there > 0.0 for s in seen.stacks.values()) else ""
    said, rest = said_of(seen, cover)
    told = weight * informativeness(said, rest) * clearness(seen.there)
    now = track.laid
    before = track.past[-1] if track.past and t - track.gone_s < LIMITS.ask_after_s else None
    if now is None and before is not None and before.well_known and not contradicts(before, said, rest, cover):
        now, track = before, replace(track, past=track.past[:-1])  # looks missed it, or somebody put it back
    if now is None:
        laid = first_seen(said, rest, seen.there, max(told, 0.05), t, track.bare_s, cover)
        return replace(track, laid=replace(laid, hidden_s=hidden_s), against=None)
    if not contradicts(now, said, rest, cover):
        return replace(track, laid=seen_again(now, said, rest, seen.there, told, t, cover),
                       against=track.against if spoiled(now, cover) else None)  # that says nothing of the whole print
    other = track.against
    other = first_seen(said, rest, seen.there, max(told, 0.05), t, now.last_s, cover) if other is None else \
        seen_again(other, said, rest, seen.there, told, t, cover)
    track = replace(track, against=other)
    return track if other.weight < LIMITS.changes * now.usual else _changed(track, now, other)


def _changed(track: SquareTrack, now: TileTrack, other: TileTrack) -> SquareTrack:
    """The tile was rotated in place, or misread before."""
    other = replace(other, since_s=now.since_s, bare_s=now.bare_s, hidden_s=now.hidden_s)
    return replace(track, laid=other, against=None, past=(*track.past, now)[-4:])


def concluded(belief: TableBelief) -> TableBelief:
    """The belief if no look will follow: a tile that looks contradict is what they say if they weigh more."""
    squares = {at: _changed(track, track.laid, track.against) for at, track in belief.squares.items()
               if track.laid is not None and track.against is not None and track.against.weight > track.laid.weight}
    return replace(belief, squares={**belief.squares, **squares}) if squares else belief


def _nothing(track: SquareTrack, there: float, weight: float, t: float) -> SquareTrack:
    """After a look that found no tile there."""
    fresh = weight * freshness(track.looked_s, t) if weight == _LEFT_OUT else weight
    if track.laid is None:
        return replace(track, bare_s=t, looked_s=t, hidden_s=None, strange_s=None)
    doubt = track.doubt + fresh * min(1.0, -there / 3.0)
    enough = LIMITS.laid_stays * track.laid.usual
    if doubt < enough:
        return replace(track, looked_s=t, doubt=doubt, hidden_s=None)
    return replace(track, laid=None, against=None, past=(*track.past, track.laid)[-4:], bare_s=t, looked_s=t,
                   gone_s=t, doubt=0.0, hidden_s=None)


def _figures(belief: TableBelief, look: TableLook, hiding: Collection[str],
             ) -> tuple[dict[int, FigureTrack], dict[Square, float], dict[Square, LookWeights], int]:
    t = look.t_s
    tracks, looked, bare = dict(belief.figures), dict(belief.figures_s), dict(belief.bare_looks)
    searched = {at for at, s in look.squares.items() if s.figures is not None and s.seen >= LIMITS.seen_least}
    found = [(at, f) for at in sorted(searched) for f in look.squares[at].figures or ()]
    taken: dict[int, tuple[Square, FigureLook]] = {}
    left = set(range(len(found)))
    pairs = sorted((apart(track, *found[n]), i, n) for i, track in tracks.items() for n in left
                   if apart(track, *found[n]) < LIMITS.same_foot and may_be(track, *found[n]))
    for _, i, n in pairs:
        if i not in taken and n in left:
            taken[i] = found[n]
            left.discard(n)
    for i, (at, f) in list(taken.items()):
        if f.there <= 0.0 and always_clear(tracks[i]):  # print on which it stood
            del taken[i]
        elif on_print(tracks[i], f):
            left.add(found.index((at, f)))
            del taken[i], tracks[i]
        else:
            tracks[i] = seen_figure(tracks[i], at, f, t, look.squares[at].seen * freshness(tracks[i].looked_s, t))
    for i, track in list(tracks.items()):
        if i in taken or track.at not in searched:
            continue
        weight = look.squares[track.at].seen * freshness(max(track.looked_s, track.came_s), t)
        tracks[i] = replace(track, looked_s=t, missed=track.missed + weight,
                            missed_s=t if track.missed_s is None else track.missed_s,
                            misses=(*track.misses, (t, weight))[:_REMEMBERED])
        if tracks[i].real < 0.0 and tracks[i].missed > 3.0:  # a false detection
            del tracks[i]
    next_id = belief.next_id
    for n in sorted(left):
        at, f = found[n]
        if any(i not in taken and tr.present and faint_beside(tr, at, f) for i, tr in tracks.items()):
            continue  # a later look tells whether it is print
        weight = max(look.squares[at].seen, 0.05)
        tracks[next_id] = FigureTrack(
            id=next_id, foot=foot_of(at, f), spread=f.spread, before_s=looked.get(at), came_s=t, seen_s=t, looked_s=t,
            weight=weight, there=f.there * weight, lying=f.lying * weight,
            colours={c: v * weight for c, v in normalised(f.colours).items()},
            pieces={p: v * weight for p, v in f.pieces.items()}, width=f.width, width_spread=f.width_spread,
            measured=weight * (f.width > 0), bare_looks=bare.get(at, ()))
        next_id += 1
    for at in searched:
        hides = any(n.there >= NEUTRAL.lead for name, n in look.squares[at].neutral.items() if name in hiding)
        if hides and not look.squares[at].figures:
            continue
        fresh = look.squares[at].seen * freshness(looked.get(at, -math.inf), t)
        bare[at] = () if look.squares[at].figures else (*bare.get(at, ()), (t, fresh))[-_REMEMBERED:]
        looked[at] = t
    return tracks, looked, bare, next_id


def figures_seen_on(belief: TableBelief, at: Square) -> list[FigureTrack]:
    """The figures that have been seen on the tile which lies there now, the oldest first."""
    track = belief.squares.get(at)
    since = -math.inf
    if track is not None and track.laid is not None:
        since = min([track.laid.since_s, *(p.since_s for p in track.past[-1:])])
    return [f for f in belief.by_square.get(at, ()) if f.seen_s >= since]
