"""How well pictures of tiles fit a square: print is compared cell by cell, so that a follower, a glare or a shadow
spoils the cells that it covers and no others (a Lorentzian loss: Black and Rangarajan, IJCV 19, 1996).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vision.frames import Image
from vision.lattice import Array, rectify
from vision.settle import Settler
from vision.tiles import FloatArray, channels

CELLS = 8  # a side


@dataclass(frozen=True, slots=True, kw_only=True)
class FitLimits:
    """Fitted on 964 squares of five foreign films with one picture of each kind taught, figures on a third of them
    (development data). Pixels are those of the settler's fine pictures, 64 a tile."""

    reach: float = 0.06  # tiles by which the settler slides pictures over a square
    noise: float = 0.4  # squared difference of print from its own picture, in the channels of vision.tiles
    cell: float = 0.25  # nats that one cell counts; neighbouring cells differ together
    steps_px: tuple[tuple[int, int], ...] = tuple(
        (x, y) for x in range(-3, 4) for y in range(-3, 4)
        if abs(x) + abs(y) <= 1 or (x % 2 == 0 and y % 2 == 0) or (abs(x) + abs(y) == 3 and x * y == 0))
    tried: int = 32  # pictures that are moved by those steps: the best ones where the settler put the square


FITS = FitLimits()


class PictureFit:
    """The pictures of one `Settler`, ready to be compared. Memory: about as much as those take."""

    def __init__(self, settler: Settler) -> None:
        self.settler = settler
        fine = settler.fine
        self._kind = fine.kinds_of_pictures
        self._size = fine.size_px
        self._pictures = _cells(fine.templates)
        self._energy = (self._pictures**2).sum(axis=2)

    def fits(self, bgr: Image, poses: Sequence[Array]) -> npt.NDArray[np.float64]:
        """(N, K, 4) log-likelihoods, up to a constant, of every kind of the settler's tile set in every quarter turn,
        of the squares of these poses."""
        settled = self.settler.settle(bgr, poses, reach=FITS.reach)
        fit = self._compared(settled.prints, np.arange(4 * len(self._kind)))
        margin = max(abs(x) for x, _ in FITS.steps_px)
        for own, pose in zip(fit, poses, strict=True):
            best = np.argsort(-own)[:FITS.tried]
            around = channels(rectify(bgr, pose, self._size, margin / self._size)[None])[0]
            moved = np.stack([around[:, margin + y:margin + y + self._size, margin + x:margin + x + self._size]
                              for x, y in FITS.steps_px])
            own[best] = np.maximum(own[best], self._compared(moved, best).max(axis=0))
        each = fit.reshape(len(poses), -1, 4)
        return np.stack([each[:, self._kind == k].max(axis=1) for k in range(len(self.settler.fine.ids))],
                        axis=1).astype(float)

    def _compared(self, crops: FloatArray, rows: npt.NDArray[np.int64]) -> FloatArray:
        """(N, rows) fits of (N, channels, S, S) crops."""
        x = _cells(crops - crops.mean(axis=(2, 3), keepdims=True))
        cross = self._pictures[:, rows] @ x.transpose(0, 2, 1)
        apart = self._energy[:, rows, None] - 2 * cross + (x**2).sum(axis=2)[:, None]
        each = np.maximum(apart, 0.0) * np.float32((CELLS / self._size) ** 2)
        return np.asarray(-FITS.cell * np.log1p(each / FITS.noise).sum(axis=0).T)


def _cells(stack: FloatArray) -> FloatArray:
    """(N, channels, S, S) as (CELLS**2, N, values of a cell)."""
    n, channel, size, _ = stack.shape
    side = size // CELLS
    parts = stack.reshape(n, channel, CELLS, side, CELLS, side).transpose(2, 4, 0, 1, 3, 5)
    return np.ascontiguousarray(parts.reshape(CELLS**2, n, -1))
