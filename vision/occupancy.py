"""Joint reading of figures and tiles: the evidence of an occupied segment (`vision.looks`) about the tile itself, and
which figures stand where. Pure functions of looks and tiles.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np
import numpy.typing as npt

from scoring.tiles import Square, Tile, where
from vision.evidence import twins
from vision.figures import Seen
from vision.lattice import Array
from vision.looks import CELLS, DRAWN, FigureLook, inside, places, probability, segment_labels, segments, within


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureReading:
    """One figure: ``px`` is where it touches the table, in the photograph; ``feature``, ``where`` name the segment.
    ``sources`` are the factors of the confidence: the probabilities there, colour, segment, tile."""

    colour: str
    figure: str
    at: Square
    feature: str
    where: str
    confidence: float
    px: tuple[float, float]
    lying: bool = False
    outline_px: Array = field(default_factory=lambda: np.zeros((0, 2)), compare=False)  # of the silhouette, (N, 2)
    sources: Mapping[str, float] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """A rejected candidate: ``outline_px`` (N, 2) in the photograph, and ``why``."""

    outline_px: Array
    why: str


# --- figures and tiles together --------------------------------------------------------------------------------------

PRIOR = 0.5  # weight of figures as evidence about tiles: artwork deviates from the geometry
_LIKELY = 9.0  # log-odds below the best tile from which a reading is not weighed against a figure
_AT_MOST = 0.9995
_NEVER = -12.0


def hidden_by(seen: Mapping[Square, Sequence[Seen]], least: float = 0.0) -> dict[Square, npt.NDArray[np.bool_]]:
    """By square the mask (CELLS, CELLS) of it that figures occlude: those on its tile, and those on the next ones that
    lean or extend over it. Such with log-odds below ``least`` are none."""
    parts: dict[Square, list[npt.NDArray[np.bool_]]] = {}
    for (column, row), figures in seen.items():
        for s in figures:
            if max([s.look.there, *s.neutral.values()]) <= least:
                continue
            for dx, dy in _AROUND:
                part = _part(s.silhouette, dx, dy)
                if part.any():
                    parts.setdefault((column + dx, row + dy), []).append(part)
    return {at: np.logical_or.reduce(masks) for at, masks in parts.items()}


def informed(evidence: Mapping[Square, Array], kinds: Sequence[Tile], seen: Mapping[Square, Sequence[Seen]],
             hidden: Mapping[Square, npt.NDArray[np.bool_]]) -> dict[Square, Array]:
    """Log-likelihoods of tiles (K, 4) by square, updated with the figures on them: a figure stands on a segment, and
    may occlude a pennant (``hidden`` as of `hidden_by`)."""
    out = dict(evidence)
    by_id = {kind.id: k for k, kind in enumerate(kinds)}
    pairs = [(by_id[bearer], by_id[plain]) for bearer, plain in twins({k.id: k for k in kinds}, tuple(by_id))]
    for at in hidden.keys() & out.keys():
        out[at] = _under(np.array(out[at], float), kinds, pairs, hidden[at])
    for at, figures in seen.items():
        for s in figures:
            if at not in out or s.look.there < 0:
                continue
            own = np.array(out[at], float)
            worst = own.max() - _LIKELY
            said = np.full(own.shape, np.nan)
            for k, rot in np.argwhere(own >= worst).tolist():
                loglik = _segments(s.look, kinds[k], rot)
                said[k, rot] = np.logaddexp.reduce(loglik) - math.log(len(loglik)) if len(loglik) else _NEVER
            said = np.where(np.isnan(said), np.nanmin(said), said)
            out[at] = own + PRIOR * probability(s.look.there) * (said - said.max())
    return out


def _under(own: Array, kinds: Sequence[Tile], pairs: Sequence[tuple[int, int]], hidden: npt.NDArray[np.bool_],
           ) -> Array:
    """Evidence of a partly occluded square: with the probability that the pennant is occluded, a kind with it looks
    like its twin without."""
    grown = cv2.dilate(hidden.astype(np.uint8), np.ones((_SHIELD, _SHIELD), np.uint8)) > 0
    for bearer, plain in pairs:
        towns = [n for n, s in enumerate(kinds[bearer].segments) if s.pennants]
        for rot in range(4):
            city = np.isin(segment_labels(kinds[bearer], rot), towns)
            part = min(0.9, float(grown[city].mean())) if city.any() else 0.0
            if part > 0.01:
                own[bearer, rot] = np.logaddexp(math.log(part) + min(own[plain, rot], own[bearer, rot] + 30),
                                                math.log(1 - part) + own[bearer, rot])
    return own


_SHIELD = 5  # fiftieths of a tile: a half-occluded shield counts as occluded


def _segments(look: FigureLook, tile: Tile, rot: int) -> Array:
    """(places,) log-likelihoods; very low for segments that cannot be claimed."""
    said = segments(look.foot, look.spread, look.lying, tile, rot)
    return np.array([said.get(n, _NEVER) for n in range(len(places(tile)))])


_AROUND = [(dx, dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]


def _part(silhouette: npt.NDArray[np.bool_], dx: int, dy: int) -> npt.NDArray[np.bool_]:
    """(CELLS, CELLS) mask of the square so many columns and rows from a figure's own that its silhouette covers, as far
    as that extends."""
    edge = (len(silhouette) - CELLS) // 2
    out = np.zeros((CELLS, CELLS), bool)
    left, top = edge + dx * CELLS, edge + dy * CELLS
    part = silhouette[max(0, top):max(0, top + CELLS), max(0, left):max(0, left + CELLS)]
    out[max(0, -top):, max(0, -left):][:part.shape[0], :part.shape[1]] = part
    return out


def occupied(seen: Mapping[Square, Sequence[Seen]], kinds: Sequence[Tile], beliefs: Mapping[Square, Array], *,
             scale: float = 1.0) -> tuple[tuple[FigureReading, ...], tuple[Rejected, ...]]:
    """The figures with the segment that each occupies, and the rejected detections. ``beliefs`` are
    log-probabilities (K, 4) of the tiles, ``scale`` is working pixels per photograph's."""
    readings, rejected = [], []
    for at, figures in seen.items():
        for s in figures:
            outline = s.outline_px / scale
            if s.look.there < 0 or at not in beliefs:
                rejected.append(Rejected(outline_px=outline, why=f"a figure {probability(s.look.there):.0%}"))
                continue
            colour, sure = _best(s.look.colours)
            found = _segment(s.look, kinds, beliefs[at])
            if found is None:
                rejected.append(Rejected(outline_px=outline, why="a figure where none can stand"))
                continue
            (kind, place), segment_sure = found
            sources = {"there": probability(s.look.there), "colour": sure, "segment": segment_sure,
                       "tile": on_tile(s.look, at, beliefs)}
            readings.append(FigureReading(
                colour=colour, figure="follower", at=at, feature=kind, where=place,
                confidence=min(_AT_MOST, math.prod(sources.values())), sources=sources,
                px=(s.px[0] / scale, s.px[1] / scale), lying=s.look.lying > 0, outline_px=outline))
    return tuple(sorted(readings, key=lambda f: (f.at[1], f.at[0], f.colour))), tuple(rejected)


def on_tile(look: FigureLook, at: Square, tiles: Collection[Square]) -> float:
    """Probability that a foot near a border is on this tile and not on the next, where one of ``tiles`` lies there."""
    spread = math.hypot(look.spread, DRAWN)
    return math.prod(within(depth, spread) for beyond, depth in inside(look, at).items() if beyond in tiles)


def _best(loglik: Mapping[str, float]) -> tuple[str, float]:
    best = max(loglik, key=lambda c: loglik[c])
    return best, float(1 / sum(math.exp(v - loglik[best]) for v in loglik.values()))


def _segment(look: FigureLook, kinds: Sequence[Tile], belief: Array) -> tuple[tuple[str, str], float] | None:
    """The likeliest feature and its ``where``, marginalised over all likely readings of the tile; None when each of
    them is a part of a start board whose segments no single tile has."""
    mass: dict[tuple[str, str], float] = {}
    for k, rot in np.argwhere(belief > belief.max() - _LIKELY).tolist():
        loglik = _segments(look, kinds[k], rot)
        share = np.exp(loglik - np.logaddexp.reduce(loglik)) * math.exp(belief[k, rot])
        for segment, part in zip(places(kinds[k]), share, strict=True):
            key = (segment.kind, where(segment, rot))
            mass[key] = mass.get(key, 0.0) + float(part)
    best_tile, best_rot = divmod(int(belief.argmax()), 4)
    own = {(s.kind, where(s, best_rot)) for s in places(kinds[best_tile])} or mass.keys()
    if not own:
        return None
    best = max(own, key=lambda key: mass.get(key, 0.0))  # photographs: a segment of the reported tile
    return best, mass[best] / sum(mass.values())
