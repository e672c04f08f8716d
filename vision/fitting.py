"""How well pictures of tiles fit squares, print compared cell by cell: a follower, a glare or a shadow spoils the cells
that it covers and no others (a Lorentzian loss: Black and Rangarajan, IJCV 19, 1996).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vision.frames import Image
from vision.lattice import Array, rectify
from vision.tiles import FloatArray, channels, resized
from vision.tileset import TileSet

SIZE_PX = 64  # of a tile, as it is compared
CELLS = 8  # a side


@dataclass(frozen=True, slots=True, kw_only=True)
class FitLimits:
    """Fitted on pictures of the films of ``benchmarks/film_evidence.py`` (development data), one picture of each kind
    taught. Pixels are those of pictures with 64 a tile."""

    noise: float = 0.4  # squared difference of print from its own picture, in the channels of vision.tiles
    cell: float = 0.25  # nats that one cell counts; neighbouring cells differ together
    steps_px: tuple[tuple[int, int], ...] = tuple(
        (x, y) for x in range(-3, 4) for y in range(-3, 4)
        if abs(x) + abs(y) <= 1 or (x % 2 == 0 and y % 2 == 0) or (abs(x) + abs(y) == 3 and x * y == 0))
    tried: int = 32  # pictures that are moved by those steps: the best ones where the network saw the square


FITS = FitLimits()
# By rot, which channel with which sign becomes the edges along x, and which those along y (vision.tiles).
_EDGES = {1: ((4, -1.0), (3, 1.0)), 2: ((3, -1.0), (4, -1.0)), 3: ((4, 1.0), (3, -1.0))}


class PictureFit:
    """The pictures of a tile set, ready to be compared. Memory: ``specimens * 5 * SIZE_PX**2 * 4`` bytes or so."""

    def __init__(self, tileset: TileSet) -> None:
        self.ids: tuple[str, ...] = tileset.ids
        self._kind = np.array([self.ids.index(s.tile) for s in tileset.specimens])
        upright = channels(np.array([resized(s.bgr, SIZE_PX) for s in tileset.specimens]))
        upright -= upright.mean(axis=(2, 3), keepdims=True)
        self._pictures = _cells(upright)
        self._energy = (self._pictures**2).sum(axis=2)

    def fits(self, bgr: Image, poses: Sequence[Array], seen: FloatArray | None = None) -> npt.NDArray[np.float64]:
        """(N, K, 4) log-likelihoods, up to a constant, of every kind of ``ids`` in every quarter turn, of the squares
        of these poses, which may lie off by the largest of the steps. ``seen`` (N, CELLS, CELLS) is how much each cell
        counts, 0 where something hides it."""
        if not poses:
            return np.zeros((0, len(self.ids), 4))
        counts = np.ones((len(poses), CELLS**2), np.float32) if seen is None else seen.reshape(len(poses), -1)
        margin = max(abs(x) for x, _ in FITS.steps_px)
        around = channels(np.array([rectify(bgr, pose, SIZE_PX, margin / SIZE_PX) for pose in poses]))
        inner = slice(margin, margin + SIZE_PX)
        fit = self._in_all_turns(around[:, :, inner, inner], counts)
        for own, crop, count in zip(fit, around, counts, strict=True):
            best = np.argsort(-own, axis=None)[:FITS.tried]
            best = best[np.argsort(best % 4, kind="stable")]
            moved = np.stack([crop[:, margin + y:margin + y + SIZE_PX, margin + x:margin + x + SIZE_PX]
                              for x, y in FITS.steps_px])
            own.flat[best] = self._moved(best, moved, count).max(axis=0)
        return np.stack([fit[:, self._kind == k].max(axis=1) for k in range(len(self.ids))], axis=1).astype(float)

    def _in_all_turns(self, crops: FloatArray, counts: FloatArray) -> FloatArray:
        """(N, specimens, 4) fits of (N, channels, S, S) crops, of which cells count (N, CELLS**2). The few crops are
        turned back, not the many pictures."""
        upright = _cells(crops - crops.mean(axis=(2, 3), keepdims=True))
        fits, crop, count = [], np.empty_like(upright), np.empty((*upright.shape[:2], 1), np.float32)
        for rot in range(4):
            _turn(upright, -rot, crop)
            _turn(counts.T[..., None], -rot, count)
            fits.append(_fit(self._pictures, self._energy, crop, count[..., 0]))
        return np.stack(fits, axis=2)

    def _moved(self, best: npt.NDArray[np.int64], crops: FloatArray, count: FloatArray) -> FloatArray:
        """(N, rows) fits of (N, channels, S, S) crops with turned pictures: ``best`` is 4 * specimen + rot, in order of
        rot."""
        pictures = np.empty((CELLS**2, len(best), self._pictures.shape[2]), np.float32)
        energy = np.empty((CELLS**2, len(best), 1), np.float32)
        first = np.searchsorted(best % 4, range(5))
        for rot in np.unique(best % 4):
            rows = slice(first[rot], first[rot + 1])
            _turn(self._pictures[:, best[rows] // 4], rot, pictures[:, rows])
            _turn(self._energy[:, best[rows] // 4, None], rot, energy[:, rows])
        x = _cells(crops - crops.mean(axis=(2, 3), keepdims=True))
        return _fit(pictures, energy[..., 0], x, np.repeat(count[:, None], len(crops), axis=1))


def _fit(pictures: FloatArray, energy: FloatArray, x: FloatArray, counts: FloatArray) -> FloatArray:
    """(N, rows) fits of crops ``x`` (CELLS**2, N, values of a cell) with pictures (CELLS**2, rows, values of a cell)
    that have this energy (CELLS**2, rows); cells count (CELLS**2, N)."""
    apart = energy[:, :, None] - 2 * (pictures @ x.transpose(0, 2, 1)) + (x**2).sum(axis=2)[:, None]
    each = np.maximum(apart, 0.0) * np.float32((CELLS / SIZE_PX) ** 2)
    return np.asarray(-FITS.cell * np.einsum("crn,cn->nr", np.log1p(each / FITS.noise), counts))


def _turn(cells: FloatArray, rot: int, out: FloatArray) -> None:
    """Write (CELLS**2, N, values of a cell) in so many quarter turns clockwise to ``out``. Values are channels of a
    patch, edges along x and y last, or one value for the whole cell."""
    turned, grid = (a.reshape(CELLS, CELLS, *a.shape[1:]) for a in (out, cells))
    grid = np.rot90(grid, -rot)
    if cells.shape[2] == 1 or rot % 4 == 0:
        turned[:] = grid
        return
    side = SIZE_PX // CELLS
    turned, patch = (a.reshape(*a.shape[:3], -1, side, side) for a in (turned, grid))
    patch = np.rot90(patch, -rot, axes=(4, 5))
    turned[:, :, :, :3] = patch[:, :, :, :3]
    (x_of, x_sign), (y_of, y_sign) = _EDGES[rot % 4]
    np.multiply(patch[:, :, :, x_of], x_sign, out=turned[:, :, :, 3])
    np.multiply(patch[:, :, :, y_of], y_sign, out=turned[:, :, :, 4])


def _cells(stack: FloatArray) -> FloatArray:
    """(N, channels, S, S) as (CELLS**2, N, values of a cell)."""
    n, channel, size, _ = stack.shape
    side = size // CELLS
    parts = stack.reshape(n, channel, CELLS, side, CELLS, side).transpose(2, 4, 0, 1, 3, 5)
    return np.ascontiguousarray(parts.reshape(CELLS**2, n, -1))
