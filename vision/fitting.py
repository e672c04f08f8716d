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
from vision.tiles import FloatArray, channels, in_all_turns, resized
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


class PictureFit:
    """The pictures of a tile set, ready to be compared. Memory: ``specimens * 4 * 5 * SIZE_PX**2 * 4`` bytes or so."""

    def __init__(self, tileset: TileSet) -> None:
        self.ids: tuple[str, ...] = tileset.ids
        self._kind = np.array([self.ids.index(s.tile) for s in tileset.specimens])
        upright = channels(np.array([resized(s.bgr, SIZE_PX) for s in tileset.specimens]))
        upright -= upright.mean(axis=(2, 3), keepdims=True)
        self._pictures = _cells(in_all_turns(upright).reshape(-1, *upright.shape[1:]))
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
        fit = self._compared(around[:, :, inner, inner], np.arange(4 * len(self._kind)), counts)
        for own, crop, count in zip(fit, around, counts, strict=True):
            best = np.argsort(-own)[:FITS.tried]
            moved = np.stack([crop[:, margin + y:margin + y + SIZE_PX, margin + x:margin + x + SIZE_PX]
                              for x, y in FITS.steps_px])
            own[best] = self._compared(moved, best, np.tile(count, (len(moved), 1))).max(axis=0)
        each = fit.reshape(len(poses), -1, 4)
        return np.stack([each[:, self._kind == k].max(axis=1) for k in range(len(self.ids))], axis=1).astype(float)

    def _compared(self, crops: FloatArray, rows: npt.NDArray[np.int64], counts: FloatArray) -> FloatArray:
        """(N, rows) fits of (N, channels, S, S) crops, of which cells count (N, CELLS**2)."""
        x = _cells(crops - crops.mean(axis=(2, 3), keepdims=True))
        cross = self._pictures[:, rows] @ x.transpose(0, 2, 1)
        apart = self._energy[:, rows, None] - 2 * cross + (x**2).sum(axis=2)[:, None]
        each = np.maximum(apart, 0.0) * np.float32((CELLS / SIZE_PX) ** 2)
        return np.asarray(-FITS.cell * np.einsum("crn,nc->nr", np.log1p(each / FITS.noise), counts))


def _cells(stack: FloatArray) -> FloatArray:
    """(N, channels, S, S) as (CELLS**2, N, values of a cell)."""
    n, channel, size, _ = stack.shape
    side = size // CELLS
    parts = stack.reshape(n, channel, CELLS, side, CELLS, side).transpose(2, 4, 0, 1, 3, 5)
    return np.ascontiguousarray(parts.reshape(CELLS**2, n, -1))
