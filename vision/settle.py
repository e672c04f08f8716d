"""The exact pose of a tile, found together with what it is.

A predicted pose is off by up to a fifth of a tile. All pictures are slid over many squares at once at low resolution
(one product of windows and pictures), then the best few pull each pose into place at full resolution.
G. Evangelidis and E. Psarakis, "Parametric image alignment using enhanced correlation coefficient", PAMI 30 (2008).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.frames import Image
from vision.lattice import Array, inside, rectify
from vision.tiles import FloatArray, TileMatcher, channels, lightness
from vision.tileset import TileSet

FINE_PX = 64
_COARSE_PX = 32
_REACH_PX = 6  # of the coarse size: how far a tile may lie off its prediction
_MARGIN = 0.25
_PULL = 0.1  # of a tile: how far alignment may move a pose; further is a slip to something else
_STRETCH = 0.12
_BATCH = 16  # squares at once, which bounds the memory
FAR = 6.0  # correlation that a whole tile off the prediction would cost, growing with the square


@dataclass(slots=True)
class Settled:
    """Squares as they were read: ``poses`` (3, 3), and ``prints`` (N, 5, FINE_PX, FINE_PX), the channels of what is
    seen there (`vision.tiles.channels`)."""

    poses: list[Array]
    prints: FloatArray


class Settler:
    """Settles poses against one tile set."""

    def __init__(self, tileset: TileSet, tries: int = 4) -> None:
        self.fine = TileMatcher(tileset, FINE_PX)
        self.coarse = TileMatcher(tileset, _COARSE_PX)
        self.tries = tries
        self._tiles = [s.tile for s in tileset.specimens]

    def settle(self, photo: Image, poses: Sequence[Array], *, reach: float = 0.19) -> Settled:
        """Read squares, each within ``reach`` tiles of its pose. What lies out of the picture does not count."""
        reach_px = max(1, min(_REACH_PX, round(reach * _COARSE_PX)))
        out = Settled(poses=[], prints=np.empty((len(poses), 5, FINE_PX, FINE_PX), np.float32))
        for start in range(0, len(poses), _BATCH):
            part = poses[start:start + _BATCH]
            found, steps = self._slide(photo, part, reach_px)
            tried = [self._tried(photo, pose, own, steps) for pose, own in zip(part, found, strict=True)]
            every = [pose for own in tried for pose in own]
            prints = channels(np.array([rectify(photo, pose, FINE_PX) for pose in every]))
            seen = np.array([inside(photo.shape, pose, FINE_PX) for pose in every])
            likeness = self.fine.likeness(prints, None if seen.all() else seen).max(axis=1)
            first = 0
            for n, own in enumerate(tried, start):
                best = first + int(likeness[first:first + len(own)].argmax())
                out.poses.append(every[best])
                out.prints[n] = prints[best]
                first += len(own)
        return out

    def _tried(self, photo: Image, pose: Array, found: FloatArray, steps: Array) -> list[Array]:
        """A pose as the few likeliest pictures, by what was ``found`` (windows, templates), pull it into place."""
        light = lightness(rectify(photo, pose, FINE_PX, _MARGIN))
        poses: dict[tuple[str, int], Array] = {}
        for k in np.argsort(-found.max(axis=0)).tolist():
            kind = (self._tiles[k // 4], k % 4)
            if kind not in poses:
                poses[kind] = pose @ self._align(k, light, steps[found[:, k].argmax()])
            if len(poses) == self.tries:
                break
        return list(poses.values())

    def _slide(self, photo: Image, poses: Sequence[Array], reach: int) -> tuple[FloatArray, Array]:
        """Correlations (N, windows, templates), and each window's step in tiles."""
        size = _COARSE_PX
        stack = channels(np.array([rectify(photo, pose, size, reach / size) for pose in poses]))
        windows = np.lib.stride_tricks.sliding_window_view(stack, (size, size), axis=(2, 3))
        count = windows.shape[2]
        flat = windows.transpose(0, 2, 3, 1, 4, 5).reshape(-1, stack.shape[1], size, size)
        y, x = np.divmod(np.arange(count * count), count)
        steps = np.stack([x - reach, y - reach], axis=1) / size
        found = self.coarse.likeness(flat).reshape(len(poses), count * count, -1)
        return found - (FAR * (steps**2).sum(axis=1, keepdims=True)).astype(np.float32), steps

    def _align(self, template: int, light: npt.NDArray[np.float32], step: Array) -> Array:
        """(3, 3) affine map of the unit square that brings a template onto the margined crop ``light``."""
        size = float(FINE_PX)
        start = np.array([[1, 0, (_MARGIN + step[0]) * size], [0, 1, (_MARGIN + step[1]) * size]], np.float32)
        warp = start.copy()
        criteria = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 30, 1e-3)
        try:
            _, warp = cv2.findTransformECC(self.fine.templates[template, 0], light, warp, cv2.MOTION_AFFINE, criteria, None, 3)
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
