"""The shadow of a pile of blocks: what has darkened around it, and in which direction.

One block more makes the shadow of a lamp longer, right below the camera, too, where it hardly displaces the top. Where
it falls is not known here: the areas that have darkened since the look before are added up in each direction, and what
has become brighter is subtracted. A shadow keeps the colour of what it falls on [1]_.

.. [1] Cucchiara et al. (2003), Detecting moving objects, ghosts, and shadows in video streams.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Set
from dataclasses import dataclass, field

import cv2
import numpy as np
import numpy.typing as npt

from scoring.tiles import Square
from vision.frames import Image
from vision.lattice import Array, inside, rectify
from vision.looks import SECTORS
from vision.tile_background import Picture, lit_alike


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowLimits:
    """Lengths are in tiles, changes natural logarithms of brightness. Those not said to be chosen are as in
    `vision.tile_background`."""

    px: float = 20.0  # per tile of the window in which it is measured (chosen: a block is 7 of them wide)
    reach: float = 1.9  # around the place (chosen: shadows of some blocks in the light of a lamp)
    inner: float = 0.12  # around the place where the pile itself is (chosen: less than half a block)
    edge: float = 0.08  # around a tile that has come or gone (chosen)
    blur_px: float = 1.0
    dark: float = 6.0  # levels (of 255) added to all
    darker: float = 0.12  # by which a pixel in a shadow is, at least
    colour: float = 0.1  # by which its colour may differ (chosen: where a shadow's soft edge lies on print)
    least_px: int = 3  # side of the smallest area that counts (chosen)
    width: float = math.pi / 2  # radians: of a direction (chosen: shadows of lamps, and of wide piles)
    lit: float = 0.6  # part of the window that must be lit as before: else an arm's shadow is on it (chosen)


LIMITS = ShadowLimits()


@dataclass(slots=True)
class PileShadows:
    """Measures the shadows of piles. Keep it for a whole game: it remembers the last look at each place."""

    _last: dict[Hashable, tuple[Picture, frozenset[Square], tuple[float, ...]]] = field(default_factory=dict)

    def look(self, photo: Image, pose: Array, place: Hashable, at: Square, spot: tuple[float, float],
             tiles: Set[Square]) -> tuple[float, ...]:
        """Add a look at a ``place``, at ``spot`` (in tiles) of the square ``at`` with that ``pose``; ``tiles`` are the
        squares with a tile. Returns `StackLook.shades`, empty if too much of what is around it is lit otherwise, or not
        in the picture."""
        window = pose @ np.array([[1.0, 0.0, spot[0] - 0.5], [0.0, 1.0, spot[1] - 0.5], [0.0, 0.0, 1.0]])
        margin = LIMITS.reach - 0.5
        seen = rectify(photo, window, LIMITS.px, margin).astype(np.float32)
        now = np.log(cv2.GaussianBlur(seen, (0, 0), LIMITS.blur_px) + LIMITS.dark)
        shown = inside(photo.shape, window, LIMITS.px, margin) > 0
        if place not in self._last:
            self._last[place] = now, frozenset(tiles), (0.0,) * SECTORS
            return self._last[place][2]
        before, lay, shades = self._last[place]
        brighter, _ = lit_alike(now - before, shown)
        light = brighter.mean(axis=2)
        if (shown & (np.abs(light) < LIMITS.darker)).mean() < LIMITS.lit:
            return ()
        kept = shown & (np.abs(brighter - light[..., None]).max(axis=2) < LIMITS.colour)
        for square in lay ^ tiles:
            kept &= ~_on((square[0] - at[0] - spot[0], square[1] - at[1] - spot[1]), len(light))
        grown = _areas(kept & (light < -LIMITS.darker)) - _areas(kept & (light > LIMITS.darker))
        shades = tuple(float(a + b) for a, b in zip(shades, grown, strict=True))
        self._last[place] = now, frozenset(tiles), shades
        return shades


def _centres(n: int) -> tuple[Array, Array]:
    """(n, n) of the window's pixels: x and y from the place, in tiles."""
    y, x = (np.mgrid[0:n, 0:n] + 0.5) * (2 * LIMITS.reach / n) - LIMITS.reach
    return x, y


def _on(corner: tuple[float, float], n: int) -> npt.NDArray[np.bool_]:
    """(n, n): the pixels of the window on a tile with that north-west ``corner`` from the place, or close to it."""
    x, y = (v - c for v, c in zip(_centres(n), corner, strict=True))
    return np.asarray((np.minimum(x, y) > -LIMITS.edge) & (np.maximum(x, y) < 1.0 + LIMITS.edge), bool)


def _areas(dark: npt.NDArray[np.bool_]) -> Array:
    """(SECTORS,) squared tiles of the window in which there is ``dark`` (n, n), by direction; they overlap."""
    x, y = _centres(len(dark))
    side = np.ones((LIMITS.least_px, LIMITS.least_px), np.uint8)
    there = (cv2.morphologyEx(dark.astype(np.uint8), cv2.MORPH_OPEN, side) > 0) & (np.hypot(x, y) > LIMITS.inner)
    ways = np.arctan2(y[there], x[there])[:, None] - 2 * math.pi * np.arange(SECTORS) / SECTORS
    off = np.abs((ways + math.pi) % (2 * math.pi) - math.pi)
    return np.asarray((off < LIMITS.width / 2).sum(axis=0) * (2 * LIMITS.reach / len(dark)) ** 2, float)
