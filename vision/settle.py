"""The exact pose of a tile, found together with what it is.

A predicted pose is off by up to a fifth of a tile. All pictures are slid over it at once at low resolution (one product
of windows and pictures), then the best few pull the pose into place at full resolution.
G. Evangelidis and E. Psarakis, "Parametric image alignment using enhanced correlation coefficient", PAMI 30 (2008).
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.frames import Image
from vision.lattice import Array, inside, rectify
from vision.tiles import TileMatcher, channels
from vision.tileset import TileSet

FINE_PX = 64
_COARSE_PX = 32
_REACH_PX = 6  # of the coarse size: how far a tile may lie off its prediction
_MARGIN = 0.25
_PULL = 0.1  # of a tile: how far alignment may move a pose; further is a slip to something else
_STRETCH = 0.12
FAR = 6.0  # correlation that a whole tile off the prediction would cost, growing with the square


@dataclass(slots=True)
class Settled:
    """A square as it was read: its ``pose``, and ``scores`` (K, 4) correlations with each kind and quarter turn."""

    pose: Array
    scores: npt.NDArray[np.float32]


class Settler:
    """Settles poses against one tile set."""

    def __init__(self, tileset: TileSet, tries: int = 4) -> None:
        self.fine = TileMatcher(tileset, FINE_PX)
        self.coarse = TileMatcher(tileset, _COARSE_PX)
        self.tries = tries
        self._tiles = [s.tile for s in tileset.specimens]

    def settle(self, photo: Image, pose: Array, *, reach: float = 0.19) -> Settled:
        """Read one square within ``reach`` tiles of ``pose``. What lies out of the picture does not count."""
        reach_px = max(1, min(_REACH_PX, round(reach * _COARSE_PX)))
        found, order, steps = self._slide(photo, pose, reach_px)
        light = channels(rectify(photo, pose, FINE_PX, _MARGIN)[None])[0, 0]
        poses: list[Array] = []
        tried = set()
        for k in order:
            kind = (self._tiles[k // 4], int(k % 4))
            if kind not in tried:
                tried.add(kind)
                poses.append(pose @ self._align(int(k), light, steps[found[:, k].argmax()]))
            if len(tried) == self.tries:
                break
        crops = np.array([rectify(photo, p, FINE_PX) for p in poses])
        seen = np.array([inside(photo.shape, p, FINE_PX) for p in poses])
        scores = self.fine.score(crops, weight=None if seen.all() else seen)
        best = int(scores.max(axis=(1, 2)).argmax())
        return Settled(pose=poses[best], scores=scores.max(axis=0))

    def _slide(self, photo: Image, pose: Array, reach: int,
               ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64], Array]:
        """Correlations (windows, templates), templates best first, and each window's step in tiles."""
        size = _COARSE_PX
        stack = channels(rectify(photo, pose, size, reach / size)[None])[0]
        windows = np.lib.stride_tricks.sliding_window_view(stack, (size, size), axis=(1, 2)).transpose(1, 2, 0, 3, 4)
        count = windows.shape[0]
        flat = windows.reshape(count * count, stack.shape[0], -1)
        flat = flat - flat.mean(axis=2, keepdims=True)
        flat = flat.reshape(count * count, -1)
        flat /= np.linalg.norm(flat, axis=1, keepdims=True) + 1e-6
        y, x = np.divmod(np.arange(count * count), count)
        steps = np.stack([x - reach, y - reach], axis=1) / size
        found = flat @ self.coarse.unit.T - (FAR * (steps**2).sum(axis=1, keepdims=True)).astype(np.float32)
        return found, np.argsort(-found.max(axis=0)), steps

    def _align(self, template: int, light: npt.NDArray[np.float32], step: Array) -> Array:
        """(3, 3) affine map of the unit square that brings a template onto the margined crop ``light``."""
        size = float(FINE_PX)
        start = np.array([[1, 0, (_MARGIN + step[0]) * size], [0, 1, (_MARGIN + step[1]) * size]], np.float32)
        warp = start.copy()
        criteria = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 30, 1e-3)
        try:
            _, warp = cv2.findTransformECC(self.fine.light(template), light, warp, cv2.MOTION_AFFINE, criteria, None, 3)
        except cv2.error:  # it did not converge: the slid position is as good as it gets
            warp = start
        middle = np.array([size / 2, size / 2, 1.0])
        slipped = np.abs((warp - start) @ middle).max() > _PULL * size
        if slipped or np.abs(warp[:, :2] - np.eye(2)).max() > _STRETCH:
            warp = start
        centre = np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0, 1.0]])  # pixel centres lie half a pixel in
        to_unit = np.array([[1 / size, 0, -_MARGIN], [0, 1 / size, -_MARGIN], [0, 0, 1.0]])
        full = np.vstack([warp.astype(float), [0, 0, 1.0]])
        return to_unit @ centre @ full @ np.linalg.inv(centre) @ np.diag([size, size, 1.0])
