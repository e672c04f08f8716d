"""The tone of the top of a pile: how light its wood is, in whatever light.

The light is measured on the print around the pile, compared point by point with the first look at that place: figures
and hands that came since change only some of it. (A plane in the place of the median would follow a soft shadow, but
errs more in even light, since tiles are registered with errors.)
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field

import cv2
import numpy as np
import numpy.typing as npt

from vision.frames import Image
from vision.lattice import UNIT, Array, apply, rectify
from vision.looks import StackLook


@dataclass(frozen=True, slots=True, kw_only=True)
class ToneLimits:
    """Lengths are in tiles, changes of the light natural logarithms. When a tone is not known was chosen with two
    simulated tables in view, one with overexposed tops and one on which an arm's shadow ended."""

    around_px: int = 24  # per tile, of the print with which the light is measured
    least: float = 0.2  # part of the tile that must be known at a first look (chosen)
    hides: float = 0.32  # around a place and its tops within which a pile may hide the print
    half: float = 0.11  # half the side of the part of a top that is measured
    top_px: int = 12  # points along it
    dark: float = 4.0  # grey levels added before the logarithm: noise in the dark counts little (chosen)
    clipped: int = 250  # grey levels from which a pixel may be overexposed: means of some clipped ones are below 255
    overexposed: float = 0.2  # such part of a top from which its tone is not known (chosen)
    steep: float = 0.1  # change of the light per tile from which it is not known (chosen)
    scales: tuple[float, ...] = 4 * (0.1,) + 4 * (0.05,)  # of the residuals from which pixels count less, in each round
    # of the fit (chosen)
    noise: float = 0.1  # standard deviation of a pixel's change; neighbours err alike (chosen)
    slope: float = 0.3  # standard deviation of the slope across a tile (chosen)


LIMITS = ToneLimits()


@dataclass(slots=True)
class TopTones:
    """Measures the tones of tops. Keep it for a whole game: it remembers the light on each place's tile."""

    _first: dict[Hashable, Array] = field(default_factory=dict)  # (N, N) of a place, at the first look at a top there

    def tone(self, photo: Image, pose: Array, place: Hashable, spot: tuple[float, float],
             seen: StackLook) -> float | None:
        """The logarithm of a top's lightness relative to the light on its tile; the level stays the same for a
        ``place``, which is at ``spot`` (in tiles). None if too little of the tile is in view, if the top or most of the
        tile is overexposed, or if a shadow ends on the tile: it ends elsewhere on the top, which is above the print."""
        around = _around(photo, pose, spot, seen.top)
        if place not in self._first and np.isfinite(around).mean() >= LIMITS.least:
            self._first[place] = around
        change = around - self._first.get(place, np.nan)
        if np.isfinite(change).sum() < LIMITS.around_px:
            return None
        c, s = LIMITS.half * math.cos(seen.yaw), LIMITS.half * math.sin(seen.yaw)
        corners = np.array(seen.top) + np.array([(-c + s, -s - c), (c + s, s - c), (c - s, s + c), (-c - s, -s + c)])
        to_px = cv2.getPerspectiveTransform(UNIT.astype(np.float32), apply(pose, corners).astype(np.float32))
        top = _lightness(rectify(photo, np.asarray(to_px, float), LIMITS.top_px))
        if np.isnan(top).mean() > LIMITS.overexposed or steepness(change) > LIMITS.steep:
            return None
        return float(np.nanmedian(top) - np.nanmedian(change))


def _around(photo: Image, pose: Array, spot: tuple[float, float], top: tuple[float, float]) -> Array:
    """(N, N) logarithms of the lightness of a tile; NaN where it is overexposed, or a pile may hide the print."""
    res = LIMITS.around_px
    tile = _lightness(rectify(photo, pose, res))
    y, x = (np.mgrid[0:res, 0:res] + 0.5) / res
    for t in np.linspace(0.0, 1.0, 5):
        cx, cy = (spot[n] + t * (top[n] - spot[n]) for n in (0, 1))
        tile[(x - cx) ** 2 + (y - cy) ** 2 < LIMITS.hides**2] = np.nan
    return tile


def steepness(change: Array) -> float:
    """How steep a ``change`` of the light on a tile is (per tile, whichever way), by that of the logarithm of each
    pixel (N, N), NaN where it is not known: a plane, fitted robustly (Geman and McClure's weights [1]_), so that what
    lies on some of the tile does not count. Raises ValueError if no pixel is known.

    .. [1] Geman and McClure (1987), Statistical methods for tomographic image reconstruction."""
    known = np.isfinite(change)
    if not known.any():
        raise ValueError("no pixel of the tile is known")
    places = (np.argwhere(known) + 0.5) / change.shape - 0.5
    terms = np.column_stack([np.ones(len(places)), places])
    values, prior = change[known], np.diag([0.0, LIMITS.slope**-2, LIMITS.slope**-2])
    fit = np.array([float(np.median(values)), 0.0, 0.0])
    for scale in LIMITS.scales:
        weight = (LIMITS.noise * (1.0 + ((values - terms @ fit) / scale) ** 2)) ** -2
        fit = np.linalg.solve(terms.T @ (terms * weight[:, None]) + prior, terms.T @ (values * weight))
    return float(np.hypot(*fit[1:]))


def _lightness(picture: Image) -> Array:
    """(H, W) logarithms of the pixels' means, NaN where a channel may be clipped."""
    known: npt.NDArray[np.bool_] = picture.max(axis=2) < LIMITS.clipped
    return np.where(known, np.log(LIMITS.dark + picture.mean(axis=2)), np.nan)
