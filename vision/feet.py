"""Feet of figures in the crop of a tile: where the network sees them, and which silhouette is whose."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
import numpy.typing as npt

from vision.figurenet import CELLS, CROP_PX, MARGIN, TILE_PX, FigureMaps
from vision.frames import Image
from vision.lattice import Array
from vision.looks import probability
from vision.paint import SEEN, shown

LOWEST = -2.5  # logit of a foot's cell below which nothing is reported
ONE = 0.19  # of a tile: feet closer than this are one figure's; wood is 9 mm thick
_OTHER = 20.0  # squared distance of two silhouettes' colours, in deviations of one paint on one table, from which they
# are two figures' (chosen: less than red, blue, green, yellow and black are apart)
_OWN = 0.024  # of a tile's area: least part of a silhouette whose colour is its figure's, a quarter of a follower
SPREAD = 0.03  # of a tile: standard deviation of a foot
THERE = (2.42, 0.9)  # scale and shift of a foot's logit: `training.calibrate_figures`


@dataclass(frozen=True, slots=True, kw_only=True)
class Peak:
    """A foot that the network sees, or the mean of several."""

    foot: Array  # (2,) tiles
    spread: float  # tiles
    there: float  # logit
    lying: float  # logit
    kinds: Array  # (6,) log-probabilities
    parts: tuple[Peak, ...] = ()  # the feet detected, if it is the mean of several


_STEP = CROP_PX / CELLS / TILE_PX
_MIDDLES = (np.arange(CELLS) + 0.5) * _STEP - MARGIN


def peaks(felt: FigureMaps, n: int, lowest: float, lean: Array | None = None) -> list[Peak]:
    """Feet detected in a crop, on the tile or around it, most certain first.

    In an oblique view a foot's position along the ``lean`` is uncertain: two feet one behind the other are one
    figure's, somewhere between them.
    """
    foot = felt.foot[n]
    top = (foot == cv2.dilate(foot, np.ones((3, 3)))) & (foot > lowest)
    cells = sorted(np.argwhere(top).tolist(), key=lambda c: -foot[c[0], c[1]])
    groups: list[list[Peak]] = []
    for row, column in cells:
        at = np.array([_MIDDLES[column], _MIDDLES[row]]) + felt.place[n, :, row, column]
        peak = Peak(foot=at, spread=SPREAD, there=float(foot[row, column]), lying=float(felt.lying[n, row, column]),
                    kinds=felt.kinds[n, :, row, column])
        own = next((g for g in groups if _apart(at - g[0].foot, lean) < ONE), None)
        if own is None:
            groups.append([peak])
        else:
            own.append(peak)
    return [_mean(group) for group in groups]


def _mean(group: Sequence[Peak]) -> Peak:
    """One figure's feet as one, the first of them the most certain."""
    if len(group) == 1:
        return group[0]
    weight = np.array([probability(log_odds(p.there)) for p in group])
    weight /= weight.sum()
    places = np.array([p.foot for p in group])
    middle = weight @ places
    spread = math.sqrt(SPREAD**2 + float(weight @ ((places - middle) ** 2).sum(axis=1)) / 2)
    return replace(group[0], foot=middle, spread=spread, parts=tuple(group))


def by_paint(found: Sequence[Peak], felt: FigureMaps, n: int, crop: Image, light: Array) -> list[Peak]:
    """The figures of a crop, where feet that were taken for one figure's are several's if the silhouettes below them
    have different paints: somebody put a figure close to another one."""
    parts = [(m, part) for m, peak in enumerate(found) for part in peak.parts or (peak,)]
    if len(parts) == len(found):
        return list(found)
    whose, out = owners(felt, n, [part.foot for _, part in parts]), list[Peak]()
    for m, peak in enumerate(found):
        groups: list[tuple[Array, list[Peak]]] = []
        for k, (own, part) in enumerate(parts):
            pixels = crop[whose == k]
            if own != m or log_odds(part.there) <= 0.0 or len(pixels) < _OWN * TILE_PX**2:
                continue
            uvl = shown(pixels, light)
            alike = next((g for c, g in groups if float((((c - uvl) / SEEN) ** 2).sum()) / 2 < _OTHER), None)
            if alike is None:
                groups.append((uvl, [part]))
            else:
                alike.append(part)
        out += [peak] if len(groups) < 2 else [_mean(group) for _, group in groups]
    return sorted(out, key=lambda p: -p.there)


def _apart(way: Array, lean: Array | None) -> float:
    """Distance of two feet in tiles, with less weight along the lean."""
    far = 0.0 if lean is None else float(np.hypot(*lean))
    if lean is None or far < 1e-6:
        return float(np.hypot(*way))
    along = float(way @ lean) / far
    return math.hypot(math.sqrt(max(0.0, float(way @ way) - along**2)), along / (1 + 1.2 * far))


def owners(felt: FigureMaps, n: int, feet: Sequence[Array]) -> npt.NDArray[np.int64]:
    """(CROP_PX, CROP_PX) index of the foot whose silhouette a pixel belongs to, -1 for none."""
    if not feet:
        return np.full((CROP_PX, CROP_PX), -1)
    size = (CROP_PX, CROP_PX)
    x, y = (cv2.resize(felt.home[n, k], size, interpolation=cv2.INTER_LINEAR) for k in (0, 1))
    covered = cv2.resize(felt.silhouette[n], size, interpolation=cv2.INTER_LINEAR) > 0
    fine = (np.arange(CROP_PX) + 0.5) / TILE_PX - MARGIN
    apart = np.array([np.hypot(x + fine[None] - f[0], y + fine[:, None] - f[1]) for f in feet])
    near = apart.argmin(axis=0)
    return np.where(covered & (apart.min(axis=0) < 0.3), near, -1)


def log_odds(logit: float) -> float:
    """Of a foot, by the network's logit."""
    return THERE[0] * logit + THERE[1]


def hardly_a_foot(region: npt.NDArray[np.bool_], felt: FigureMaps, n: int) -> Peak:
    """A foot where in a region of a crop the network is least sure that there is none."""
    middles = ((_MIDDLES + MARGIN) * TILE_PX).astype(int)
    logits = np.where(region[np.ix_(middles, middles)], felt.foot[n], -np.inf)
    row, column = np.unravel_index(int(logits.argmax()), logits.shape)
    return Peak(foot=np.array([_MIDDLES[column], _MIDDLES[row]]), spread=SPREAD, there=float(logits[row, column]),
                lying=float(felt.lying[n, row, column]), kinds=felt.kinds[n, :, row, column])


def is_in(region: npt.NDArray[np.bool_], peak: Peak) -> bool:
    """Whether a foot is in a region of its crop."""
    column, row = np.clip(((peak.foot + MARGIN) * TILE_PX).astype(int), 0, CROP_PX - 1)
    return bool(region[row, column])
