"""What the belief says of one turn: readings of a square, and of the figures on it, as choices with their weights."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from reading.belief import FigureTrack, Lain, TableBelief, figures_seen_on
from reading.limits import LIMITS
from reading.shapes import Reading, shape
from scoring.box import Box
from scoring.events import FigurePlaced
from scoring.state import GameState
from scoring.tiles import Square, catalogue
from vision.looks import segments


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureChoice:
    """One explanation of the figures seen on a tile: an event or nothing, its weight, and the figure's ``track``."""

    event: FigurePlaced | None
    weight: float
    track: int | None = None


def log_sigma(x: float) -> float:
    """Log of a probability with log-odds ``x``."""
    return -math.log1p(math.exp(-x)) if x > -30 else x


def readings_of(lain: Lain, box: Box, keep: Iterable[Reading] = ()) -> dict[Reading, float]:
    """What a square may show, one reading for each shape, the likeliest first; ``keep`` are listed in any case. Kinds
    that are in no chosen box are left out unless they are to be kept."""
    said, rest = lain.readings
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


def figures_on(belief: TableBelief, at: Square) -> list[FigureTrack]:
    """The figures that were seen on a tile that lies there now, the surest first."""
    return sorted(figures_seen_on(belief, at), key=lambda f: (-f.real, f.id))


def choices(tracks: Iterable[FigureTrack], state: GameState, at: Square, reading: Reading, player: int,
            colours: Mapping[str, int], since_s: float = math.inf,
            until_s: float = math.inf) -> list[FigureChoice]:
    """How the figures seen on a tile of ``state`` may have come to be seen if ``player`` laid it; the first is that
    there was none. ``since_s`` is when the tile was seen first, ``until_s`` when the next one
    was."""
    mine = list(tracks)
    none = sum(_false(f, since_s, until_s) for f in mine)
    out = [FigureChoice(event=None, weight=none)]
    box = state.box
    form, tile = box.shape(*reading), catalogue()[reading[0]]
    for f in mine:
        others = none - _false(f, since_s, until_s)
        paints, kinds = f.paints, f.kinds
        paint = max((paints.get(c, -12.0) for c, p in colours.items() if p == player), default=-12.0)
        upright = segments(f.on_tile, f.spread, 0.0, tile, reading[1])
        places = segments(f.on_tile, f.spread, f.lies, tile, reading[1])
        for n in sorted(places, key=lambda s: -max(places[s], upright[s]))[:4]:
            for piece in box.counts:
                if not box.pieces[piece].stands_on(form.kinds[n]):
                    continue
                place = places[n] if box.pieces[piece].follower else upright[n]  # only followers are laid down
                size = kinds.get(piece, 0.0)
                rare = LIMITS.seldom_piece * (box.counts[piece] == 1) + LIMITS.farmer * (form.kinds[n] == "field")
                weight = others + log_sigma(f.real) + max(paint, -LIMITS.floor) + place + size - rare
                event = FigurePlaced(player=player, figure=piece, at=at, feature=form.kinds[n], where=form.where[n])
                out.append(FigureChoice(event=event, weight=weight, track=f.id))
    return [out[0], *sorted(out[1:], key=lambda c: -c.weight)[:5]]


def _false(f: FigureTrack, since_s: float, until_s: float) -> float:
    """That what was seen is no figure of this turn: none at all, or taken up again at once. Print neither comes to a
    tile that was seen without it nor goes."""
    none = log_sigma(-f.real) - LIMITS.false_figure
    if f.before_s is not None and f.before_s >= since_s:
        none -= LIMITS.comes_or_goes
    if f.present:
        return none
    none -= LIMITS.comes_or_goes
    if f.seen_s > until_s:  # it was still there when the turn was over
        return none
    back = log_sigma(f.real) - LIMITS.taken_back
    return max(none, back) + math.log1p(math.exp(-abs(none - back)))


def standing_terms(belief: TableBelief, closed: GameState, colours: Mapping[str, int],
                   claimed: frozenset[int]) -> float:
    """How well a game fits what stands on the table now: figures that should have stayed and went, or the other way
    round. ``claimed`` are the tracks that the game explains as figures."""
    out = 0.0
    here = {(f.at, f.player) for f in closed.standing.values()}
    for i in claimed:
        f = belief.figures.get(i)
        if f is None:
            continue
        paint = f.paint_among(colours)
        stands = bool(paint) and (f.at, colours[paint]) in here
        if stands and not f.present:
            out -= LIMITS.vanished
        elif not stands and f.present:
            out -= LIMITS.lingers
    return out


def box_prior(state: GameState, tile: str) -> float:
    """Log-probability that the next tile drawn is of that kind; kinds that are used up have their cost elsewhere."""
    left = {k: n for k, n in state.left.items() if n > 0 and k in state.box.contents}
    total = sum(left.values())
    return math.log(left.get(tile, 0.5) / total) if total else 0.0
