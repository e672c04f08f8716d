"""Detects lens distortion from the tiles themselves: a board's corners lie on a grid in perspective, and with a
distorting lens they deviate from it more the further they are from the picture's centre.

One parameter is fitted, the division model of A. Fitzgibbon, "Simultaneous linear estimation of multiple view geometry
and lens distortion", CVPR 2001: a point seen at radius r (1 at the picture's corners) is at r / (1 + k r^2) without
distortion. Tiles do not determine more; a proper calibration fits five parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import cv2
import numpy as np

from scoring.tiles import Square
from vision.lattice import UNIT, Array, apply

TILES = 12  # least number of tiles for an estimate
_BENDS = np.linspace(-0.4, 0.25, 14)  # values of k that are tried: fisheye to pincushion
_STEPS = np.linspace(-0.04, 0.04, 9)  # and then around the best one
_CLEAR = 14.0  # least evidence of distortion (twice the log-likelihood ratio)
_WORTH = 0.012  # of half the picture's diagonal: smaller distortion moves no tile to another square
_GAIN = 0.75  # greatest ratio of the residuals with and without correction: above it hand-laid tiles matter more
_LIES = 0.01  # of a tile: precision of a corner
_SLIPPED = 0.3  # of a tile: larger residuals, of crooked or misread tiles, are clipped to this


@dataclass(frozen=True, slots=True, kw_only=True)
class Distortion:
    """``k`` of the lens, ``corner_px`` the displacement of the picture's corners, and the mean residual of the tiles
    from a grid, in tiles: ``now``, and ``straight`` with the distortion removed."""

    k: float
    corner_px: float
    now: float
    straight: float


def distortion_of(corners_px: Mapping[Square, Array], size: tuple[int, int]) -> Distortion | None:
    """The distortion estimated from the corners (4, 2) of the tiles in a picture of ``size`` (width, height); None if
    it is not evident: too few tiles, too near the centre, or as straight as people lay them."""
    if len(corners_px) < TILES or np.ptp(np.array(list(corners_px)), axis=0).min() < 1:
        return None
    middle = (np.array(size, float) - 1) / 2
    half = float(np.hypot(*middle))
    steps = np.concatenate([UNIT + at for at in corners_px])
    seen = (np.concatenate(list(corners_px.values())) - middle) / half
    away = (seen**2).sum(axis=1, keepdims=True)
    off = {float(k): _off(steps, seen / (1 + k * away)) for k in _BENDS}
    about = min(off, key=off.__getitem__)
    off |= {about + float(step): _off(steps, seen / (1 + (about + step) * away)) for step in _STEPS}
    k = min(off, key=off.__getitem__)
    flat = _off(steps, seen)
    # the errors of one tile's corners are correlated
    clear = len(corners_px) * np.log((flat**2 + _LIES**2) / (off[k] ** 2 + _LIES**2))
    if clear < _CLEAR or abs(k) < _WORTH or off[k] > _GAIN * flat or not _BENDS[0] < k < _BENDS[-1]:
        return None
    return Distortion(k=k, corner_px=abs(1 / (1 + k) - 1) * half, now=flat, straight=off[k])


def _off(steps: Array, points: Array) -> float:
    """RMS distance of points from the grid that fits them best, in tiles."""
    used = np.ones(len(points), bool)
    off = np.zeros(len(points))
    for _ in range(2):
        grid, _ = cv2.findHomography(points[used], steps[used], 0)
        if grid is None:
            return np.inf
        off = np.linalg.norm(apply(np.asarray(grid, float), points) - steps, axis=1)
        used = off < _SLIPPED
        if used.sum() < 4 * TILES // 2:
            break
    return float(np.sqrt((np.minimum(off, _SLIPPED) ** 2).mean()))
