"""What the belief says of one turn: readings of a square and explanations of its figures, with their weights."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TypeVar

from reading.belief import TableBelief, figures_seen_on
from reading.figure_track import FigureTrack
from reading.limits import LIMITS
from reading.shapes import Reading, shape
from reading.tile_track import TileTrack, worth
from reading.whereabouts import Whereabouts
from scoring.box import Box
from scoring.events import FigurePlaced
from scoring.state import GameState
from scoring.tiles import Square, catalogue
from vision.looks import segments

_K = TypeVar("_K")
_CHOICES = 5  # most figures that are tried on a tile


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureChoice:
    """One explanation of the figures seen on a tile: an event or None, its log-weight, and the id of the figure's
    ``track``."""

    event: FigurePlaced | None
    weight: float
    track: int | None = None


def log_sigma(x: float) -> float:
    """Log of a probability with log-odds ``x``."""
    return -math.log1p(math.exp(-x)) if x > -30 else x


def readings_of(laid: TileTrack, box: Box, keep: Iterable[Reading] = ()) -> dict[Reading, float]:
    """The plausible readings of a square with their log-likelihoods, one reading per shape, the likeliest first;
    ``keep`` are included in any case. Kinds that are in no chosen box are left out unless kept."""
    said, rest = laid.readings
    out: dict[Reading, float] = {}
    seen: dict[object, Reading] = {}
    for reading in keep:
        if shape(*reading) not in seen:
            out[reading] = max((v for r, v in said.items() if shape(*r) == shape(*reading)), default=rest)
            seen[shape(*reading)] = reading
    kept = len(out)
    best = max((v for r, v in said.items() if r[0] in box.contents), default=rest)
    for reading, value in sorted(said.items(), key=lambda s: (-s[1], s[0])):
        if reading[0] not in box.contents or value < best - LIMITS.worth_trying or len(out) >= kept + LIMITS.readings:
            continue
        form = shape(*reading)
        if form not in seen:
            out[reading] = value
            seen[form] = reading
    top = max(out.values(), default=0.0)
    return {r: v - top for r, v in out.items()}


@dataclass(slots=True, kw_only=True)
class Evidence:
    """A snapshot of the belief about one square: the tile, the figures on it (the surest first), ``until_s``, when
    the next tile was first seen, ``whose``, what is seen elsewhere of its player (nats), and where neutral pieces were
    seen (``pieces``). What is derived from it is cached."""

    at: Square
    laid: TileTrack | None
    tracks: tuple[FigureTrack, ...]
    until_s: float
    colours: Mapping[str, int]
    whose: Mapping[int, float] = field(default_factory=dict)
    pieces: Whereabouts = field(default_factory=Whereabouts)
    _readings: dict[Reading | None, dict[Reading, float]] = field(default_factory=dict)
    _places: dict[Reading, Places] = field(default_factory=dict)
    _claims: dict[tuple[Reading, int], list[FigureChoice]] = field(default_factory=dict)

    def like(self, laid: TileTrack | None, tracks: Sequence[FigureTrack], until_s: float,
             whose: Mapping[int, float], pieces: Whereabouts) -> bool:
        """Whether the current belief is almost equal to this snapshot."""
        if pieces != self.pieces or not _near(self.whose, whose):
            return False
        if laid is None or self.laid is None or self.until_s != until_s or len(tracks) != len(self.tracks):
            return laid is self.laid and not tracks and not self.tracks
        return _like_tile(self.laid, laid) and all(_like_figure(a, b, until_s)
                                                   for a, b in zip(self.tracks, tracks, strict=True))

    def readings(self, box: Box, keep: Reading | None) -> dict[Reading, float]:
        """`readings_of` the tile."""
        assert self.laid is not None
        if keep not in self._readings:
            self._readings[keep] = readings_of(self.laid, box, () if keep is None else (keep,))
        return self._readings[keep]

    def claims(self, state: GameState, reading: Reading, player: int) -> list[FigureChoice]:
        """Explanations of the figures if this player laid the tile so, the likeliest first; they do not depend on what
        was laid before."""
        assert self.laid is not None
        key = reading, player
        if key not in self._claims:
            if reading not in self._places:
                self._places[reading] = places(self.tracks, state.box, reading, self.laid.since_s, self.until_s)
            found = self._places[reading].choices(self.at, player, self.colours)
            self._claims[key] = sorted(found, key=lambda c: -c.weight)
        return self._claims[key]


def _near(a: Mapping[_K, float], b: Mapping[_K, float]) -> bool:
    return a.keys() == b.keys() and all(abs(v - b[k]) <= LIMITS.hardly or max(v, b[k]) < -LIMITS.behind
                                        for k, v in a.items())


def _like_tile(a: TileTrack, b: TileTrack) -> bool:
    if a is b:
        return True
    (said, rest), (now, other) = a.readings, b.readings
    same = (a.since_s, a.bare_s, a.hidden_s) == (b.since_s, b.bare_s, b.hidden_s)
    return same and abs(rest - other) <= LIMITS.hardly and _near(said, now) \
        and abs(log_sigma(a.presence) - log_sigma(b.presence)) <= LIMITS.hardly


def _like_figure(a: FigureTrack, b: FigureTrack, until_s: float) -> bool:
    if a is b:
        return True
    same = a.id == b.id and a.present == b.present and (a.seen_s > until_s) == (b.seen_s > until_s)
    return same and abs(a.real - b.real) <= LIMITS.hardly and abs(a.lies - b.lies) <= LIMITS.hardly \
        and math.dist(a.foot, b.foot) + abs(a.spread - b.spread) <= LIMITS.same_spot \
        and _near(a.paints, b.paints) and _near(a.kinds, b.kinds)


def figures_on(belief: TableBelief, at: Square) -> list[FigureTrack]:
    """The figures that have been seen on the tile which lies there now, the surest first."""
    return sorted(figures_seen_on(belief, at), key=lambda f: (-f.real, f.id))


def glimpsed(belief: TableBelief, track: int | None, at: Square | None) -> FigureTrack | None:
    """A figure if a single look has seen it, and either that look was not clear or earlier ones had shown the tile
    without it: it may be one in a hand, or a hand's shadow."""
    f = None if track is None else belief.figures.get(track)
    if f is None or not f.momentary:
        return None
    late = f.absent_s is not None and f.absent_s >= belief.since_s(at)
    return f if late or f.real < LIMITS.clear_figure else None


@dataclass(frozen=True, slots=True)
class Places:
    """Where the figures seen on a tile may stand if it is laid as a reading says, whoever laid it. ``none`` is the
    log-weight of there being no figure; ``ways`` has for each figure the likeliest (log-weight, segment, piece), whose
    weights are without the paint."""

    reading: Reading
    box: Box
    none: float
    ways: tuple[tuple[FigureTrack, tuple[tuple[float, int, str], ...]], ...]

    def choices(self, at: Square, player: int, colours: Mapping[str, int]) -> list[FigureChoice]:
        """Explanations of the figures as ones of this player; the first is that there was none."""
        found: list[tuple[float, int, str, int]] = []  # events are made of the likeliest only
        for f, ways in self.ways:
            paints = f.paints
            paint = max(max((paints.get(c, -12.0) for c, p in colours.items() if p == player), default=-12.0),
                        -LIMITS.floor)
            found += [(weight + paint, n, piece, f.id) for weight, n, piece in ways]
        if len(self.ways) > 1:
            found.sort(key=itemgetter(0), reverse=True)
        form = self.box.shape(*self.reading)
        return [FigureChoice(event=None, weight=self.none), *(
            FigureChoice(weight=weight, track=track, event=FigurePlaced(
                player=player, figure=piece, at=at, feature=form.kinds[n], where=form.where[n]))
            for weight, n, piece, track in found[:_CHOICES])]


def places(tracks: Sequence[FigureTrack], box: Box, reading: Reading, since_s: float, until_s: float) -> Places:
    """Where the figures seen on a tile may stand. ``since_s`` is when the tile was first seen, ``until_s`` when the
    next one was."""
    false = [_false(f, since_s, until_s) for f in tracks]
    none = sum(false)
    form, tile = box.shape(*reading), catalogue()[reading[0]]
    out = []
    for f, unreal in zip(tracks, false, strict=True):
        kinds, sure = f.kinds, none - unreal + log_sigma(f.real)
        if _late(f, until_s):
            sure -= LIMITS.too_late * (_looks_without(f, until_s) if _brief(f) else 1.0)
        upright = segments(f.on_tile, f.spread, 0.0, tile, reading[1])
        told = segments(f.on_tile, f.spread, f.lies, tile, reading[1])
        ways = []
        for n in sorted(told, key=lambda s: -max(told[s], upright[s]))[:4]:
            kind = form.kinds[n]
            for piece, count in box.counts.items():
                wood = box.pieces[piece]
                if wood.stands_on(kind):
                    place = told[n] if wood.follower else upright[n]  # only followers are laid down
                    # one that stands only beside its player's follower is put there about as often as one of those
                    here = sure - LIMITS.farmer * (wood.follower and kind == "field")
                    rare = LIMITS.seldom_piece * (wood.follower and count == 1)
                    ways.append((here + place + kinds.get(piece, 0.0) - rare, n, piece))
        ways.sort(key=itemgetter(0), reverse=True)
        out.append((f, tuple(ways[:_CHOICES])))
    return Places(reading, box, none, tuple(out))


def choices(tracks: Iterable[FigureTrack], state: GameState, at: Square, reading: Reading, player: int,
            colours: Mapping[str, int]) -> list[FigureChoice]:
    """Explanations of the figures seen on a tile of ``state`` if ``player`` laid it; the first is that there was none.
    """
    return places(tuple(tracks), state.box, reading, math.inf, math.inf).choices(at, player, colours)


def _late(f: FigureTrack, until_s: float) -> bool:
    """Whether the tile was seen without it after its turn."""
    return f.before_s is not None and f.before_s >= until_s


def _looks_without(f: FigureTrack, until_s: float) -> float:
    """How many looks have seen the tile without it after its turn, as if they were independent."""
    weight = sum(weight for t_s, weight in f.bare_looks if t_s >= until_s)
    return weight * worth(weight, LIMITS.alike) if weight > 0.0 else 1.0


def _brief(f: FigureTrack) -> bool:
    """Whether it was seen for a moment only and is gone, as what a hand holds."""
    return not f.present and f.seen_s - f.came_s < LIMITS.notice_s


def _false(f: FigureTrack, since_s: float, until_s: float) -> float:
    """Log-weight of the hypothesis that a track is no figure of this turn: print, or a figure taken up again at once,
    or held over the tile for a moment in a later turn. Print does not appear on a tile that was seen without it, nor
    does it disappear."""
    none = log_sigma(-f.real) - LIMITS.false_figure
    if f.before_s is not None and f.before_s >= since_s:
        none -= LIMITS.comes_or_goes
    if f.present:
        return none
    none -= LIMITS.comes_or_goes
    held = _late(f, until_s) and _brief(f)
    if f.seen_s > until_s and not held:
        return none  # it was still there when the turn was over
    back = log_sigma(f.real) - (LIMITS.held if held else LIMITS.taken_back)
    return max(none, back) + math.log1p(math.exp(-abs(none - back)))


def standing_terms(closed: GameState, seen: Mapping[int, tuple[tuple[Square, int | None], bool]],
                   claimed: frozenset[int]) -> float:
    """Log-weight of what stands on the table now given a game: against figures that should have stayed and are gone, or
    the other way round. ``seen`` maps each track's id to its square and player, and whether it is there; ``claimed``
    are the tracks that the game explains as figures."""
    out = 0.0
    here = {(f.at, f.player) for f in closed.standing.values()}
    for i in claimed:
        if i not in seen:
            continue
        whose, present = seen[i]
        if whose in here and not present:
            out -= LIMITS.vanished
        elif whose not in here and present:
            out -= LIMITS.lingers
    return out


def box_priors(state: GameState, tiles: Collection[str]) -> dict[str, float]:
    """By kind the log-probability that the next tile drawn is of it; the cost of exceeding the box is counted elsewhere
    (`layings.COSTS`)."""
    contents = state.box.contents
    total = sum([n for k, n in state.left.items() if n > 0 and k in contents])
    left = {tile: state.left.get(tile, 0) if tile in contents else 0 for tile in tiles}
    return {tile: math.log((n if n > 0 else 0.5) / total) if total else 0.0 for tile, n in left.items()}
