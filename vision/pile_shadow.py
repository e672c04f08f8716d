"""The shadow of a pile of blocks: how much darker what is around it is than at first, by direction.

One block more makes the shadow of a lamp longer, right below the camera, too, where it hardly displaces the top. Where
it falls is not known here, so all directions are measured. Its edge is soft, so it is not the area that counts but by
how much that is darker, too. A shadow keeps the colour of what it falls on [1]_; pixels of another colour are something
else, and stay what they were.

.. [1] Cucchiara et al. (2003), Detecting moving objects, ghosts, and shadows in video streams.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Set
from dataclasses import dataclass, field
from functools import cache
from typing import TypeVar

import cv2
import numpy as np
import numpy.typing as npt

from scoring.tiles import Square
from vision.frames import Image
from vision.lattice import Array, apply, inside, rectify
from vision.looks import SECTORS
from vision.tile_background import Picture, grey, lit_alike

Mask = npt.NDArray[np.bool_]
_Number = TypeVar("_Number", np.uint8, np.float32)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowLimits:
    """Lengths are in tiles, changes natural logarithms of brightness. All are chosen, with what
    `benchmarks/stack_looks.py` prints in view."""

    px: float = 20.0  # per tile of the window in which it is measured: a block is 7 of them wide
    reach: float = 1.9  # around the place: the shadows of some blocks in the light of a lamp
    inner: float = 0.12  # around the place, where the first block hides everything
    edge: float = 0.08  # around a tile that has come or gone
    blur_px: float = 1.0
    dark: float = 6.0  # levels (of 255) added to all: differences of black are noise
    black: float = 20.0  # levels below which a shadow is not to be seen
    clipped: float = 250.0  # levels from which a channel may be overexposed
    darker: float = 0.12  # by which a pixel in a shadow is, at least
    again: float = 0.06  # by which one that was in a shadow still is (hysteresis)
    colour: float = 0.1  # by which its colour may differ
    slow: float = 0.1  # share of a look in the background where nothing has changed
    adopted: int = 6  # looks in a row with another colour, or another light, after which it is the background's
    least_px: int = 3  # side of the smallest area that counts
    width: float = math.pi / 2  # radians: of a direction
    seen: float = 0.6  # part of the window that must be in the picture, and not hidden
    lit: float = 0.6  # part of that which must be lit as the background: else an arm's shadow is on it


LIMITS = ShadowLimits()
_BESIDE = np.ones((3, 3), np.uint8)  # px of the window within which a pixel is blurred with others


@dataclass(frozen=True, slots=True, kw_only=True)
class _Window:
    """What is around a place in one picture: its natural logarithms (n, n, 3), where it is ``free``, in the picture and
    neither hidden nor overexposed, and where it is ``lit`` as well, so that a shadow can be seen there."""

    logs: Picture
    free: Mask
    lit: Mask


@dataclass(slots=True)
class _Background:
    """What is around a place: its logarithms in the light of the first look, where they are ``known``; by how much it
    is ``darker`` than that, in the newest look and the one ``before``; by how much it ``was`` when the picture was
    learned anew, which it still is in addition. ``odd`` counts the looks in a row in which a pixel had another colour,
    ``dim`` those in another light since one in its own. (n, n) each."""

    picture: Picture
    known: Mask
    darker: Picture
    before: Picture
    was: Picture
    odd: npt.NDArray[np.int16]
    tiles: frozenset[Square]
    dim: int = 0

    @classmethod
    def of(cls, seen: _Window, tiles: Set[Square]) -> _Background:
        """As a first look shows it."""
        none = np.zeros(seen.lit.shape, np.float32)
        return cls(seen.logs, seen.lit, none, none.copy(), none.copy(), none.astype(np.int16), frozenset(tiles))

    def compare(self, seen: _Window, other: Mask) -> bool:
        """Add a look in which ``other`` pixels show something else, which the next one will learn. False if too much is
        lit otherwise; after some looks that is learned, too."""
        both = self.known & seen.free & ~other
        brighter, light = lit_alike(seen.logs - self.picture, both)
        change, now = grey(brighter), seen.logs - light
        as_it_was = both & (np.abs(change) < LIMITS.darker)
        if as_it_was.sum() < LIMITS.lit * both.sum():
            self.dim += 1
            if self.dim == LIMITS.adopted:
                self._forget(np.ones(other.shape, bool))
            return False
        self.dim = 0
        self._forget(other)
        self.before = self.darker.copy()
        same = both & (_greatest(np.abs(brighter - change[..., None])) < LIMITS.colour)
        differs = np.abs(change) > np.where(self.darker * change < 0.0, LIMITS.again, LIMITS.darker)
        np.copyto(self.darker, np.where(differs, -change, 0.0), where=same)
        self.picture += (np.float32(LIMITS.slow) * (as_it_was & same & (self.darker == 0.0)))[..., None] * brighter
        self.odd = np.where(both & ~same, self.odd + 1, 0).astype(np.int16)
        new = seen.lit & ~self.known & ~other
        np.copyto(self.picture, now, where=new[..., None])
        self.known |= new
        self._forget(self.odd >= LIMITS.adopted)
        return True

    def _forget(self, pixels: Mask) -> None:
        """Learn ``pixels`` anew. What was darker there in two looks still is: not the shadow of a hand that passed."""
        lasting = np.where(self.darker * self.before > 0.0, self.darker, 0.0)
        self.was[pixels] += lasting[pixels]
        self.known[pixels], self.darker[pixels], self.odd[pixels] = False, 0.0, 0


@dataclass(slots=True)
class PileShadows:
    """Measures the shadows of piles. Keep it for a whole game: it remembers what is around each place."""

    _around: dict[Hashable, _Background] = field(default_factory=dict)

    def look(self, photo: Image, pose: Array, place: Hashable, at: Square, spot: tuple[float, float],
             tiles: Set[Square], outlines_px: Iterable[Array] = ()) -> tuple[float, ...]:
        """Add a look at a ``place``, at ``spot`` (in tiles) of the square ``at`` with that ``pose``; ``tiles`` are the
        squares with a tile, ``outlines_px`` (N, 2) those of figures in the picture. Returns `StackLook.darkened`, empty
        if too little of what is around the place is seen, or too much of it is lit otherwise."""
        seen = _seen(photo, pose @ np.array([[1.0, 0.0, spot[0] - 0.5], [0.0, 1.0, spot[1] - 0.5], [0.0, 0.0, 1.0]]),
                     outlines_px)
        if seen.lit.mean() < LIMITS.seen:
            return ()
        known = self._around.get(place)
        if known is None:
            known = self._around[place] = _Background.of(seen, tiles)
        other = np.zeros(seen.lit.shape, bool)
        for square in known.tiles ^ tiles:
            other |= _on((square[0] - at[0] - spot[0], square[1] - at[1] - spot[1]), len(other))
        if not known.compare(seen, other):
            return ()
        known.tiles = frozenset(tiles)
        return _darkened(np.asarray(known.was + known.darker, np.float32))


def _seen(photo: Image, middle: Array, outlines_px: Iterable[Array]) -> _Window:
    """The window around the tile's width whose pose is ``middle`` (3, 3)."""
    margin = LIMITS.reach - 0.5
    crop = rectify(photo, middle, LIMITS.px, margin)
    clipped = cv2.dilate((_greatest(crop) >= LIMITS.clipped).astype(np.uint8), _BESIDE)
    hidden = cv2.dilate(_filled(outlines_px, middle, len(crop)), _BESIDE)
    soft = np.asarray(cv2.GaussianBlur(crop.astype(np.float32), (0, 0), LIMITS.blur_px), np.float32)
    free = (inside(photo.shape, middle, LIMITS.px, margin) > 0) & (np.maximum(clipped, hidden) == 0)
    return _Window(logs=np.log(soft + LIMITS.dark), free=free, lit=free & (grey(soft) > LIMITS.black))


def _greatest(picture: npt.NDArray[_Number]) -> npt.NDArray[_Number]:
    """(H, W): the greatest of three channels, along whose axis NumPy is slow."""
    return np.maximum(np.maximum(picture[..., 0], picture[..., 1]), picture[..., 2])


def _filled(outlines_px: Iterable[Array], middle: Array, n: int) -> npt.NDArray[np.uint8]:
    """(n, n): 1 for the pixels of the window within outlines in the picture."""
    out, to_window = np.zeros((n, n), np.uint8), np.linalg.inv(middle)
    for outline in outlines_px:
        if len(outline):
            points = (apply(to_window, outline) + LIMITS.reach - 0.5) * LIMITS.px - 0.5
            cv2.fillPoly(out, [np.clip(points, -n, 2 * n).round().astype(np.int32)], 1)
    return out


def _centres(n: int) -> tuple[Array, Array]:
    """(n, n) of the window's pixels: x and y from the place, in tiles."""
    y, x = (np.mgrid[0:n, 0:n] + 0.5) * (2 * LIMITS.reach / n) - LIMITS.reach
    return x, y


def _on(corner: tuple[float, float], n: int) -> Mask:
    """(n, n): the pixels of the window on a tile with that north-west ``corner`` from the place, or close to it."""
    x, y = (v - c for v, c in zip(_centres(n), corner, strict=True))
    return np.asarray((np.minimum(x, y) > -LIMITS.edge) & (np.maximum(x, y) < 1.0 + LIMITS.edge), bool)


def _darkened(darker: Picture) -> tuple[float, ...]:
    """(SECTORS,) squared tiles of the window that are ``darker`` (n, n), times by how much, less those that are
    brighter; small ones do not count."""
    side = np.ones((LIMITS.least_px, LIMITS.least_px), np.uint8)
    counts = [cv2.morphologyEx(part.astype(np.uint8), cv2.MORPH_OPEN, side) for part in (darker > 0.0, darker < 0.0)]
    return tuple((np.where(np.maximum(*counts), darker, 0.0).ravel() @ _directions(len(darker))).tolist())


@cache
def _directions(n: int) -> Array:
    """(n * n, SECTORS): the squared tiles that each pixel of the window has in each direction; they overlap."""
    x, y = (v.ravel() for v in _centres(n))
    off = np.arctan2(y, x)[:, None] - 2 * math.pi * np.arange(SECTORS) / SECTORS
    there = np.abs((off + math.pi) % (2 * math.pi) - math.pi) < LIMITS.width / 2
    return np.asarray((there & (np.hypot(x, y) > LIMITS.inner)[:, None]) * (2 * LIMITS.reach / n) ** 2, float)
