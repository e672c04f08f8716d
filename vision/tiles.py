"""Illumination-invariant features of print, and the similarity of two pictures of tiles.

Crops and pictures are converted to channels that keep the print and drop the illumination: lightness relative to its
surroundings, the two colour axes, and edges. Their correlations are in -1 .. 1, 1 for the same picture under any
brightness and contrast.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.frames import Image
from vision.tileset import TileSet

FloatArray = npt.NDArray[np.float32]

# The channels' energy on printed tiles differs by an order of magnitude; these weights balance them.
_LIGHT, _COLOUR, _EDGE = 1.0, 1.0, 0.6
_CHUNK = 64  # crops per matrix product, which bounds the memory


@dataclass(frozen=True, slots=True, kw_only=True)
class TileCandidate:
    """A candidate reading of a crop. ``loglik`` is normalised over all candidates of the crop; ``score`` is the
    correlation."""

    tile: str
    rot: int
    loglik: float
    score: float


def channels(crops: Image) -> FloatArray:
    """(N, S, S, 3) BGR crops as (N, 5, S, S) float channels: light, two colours, edges along x and y.

    Light is divided by its own surroundings (a quarter of the tile wide), so that a shadow's border or a lamp's falloff
    weighs little. The blur removes differences in sharpness between camera and picture.
    """
    size = crops.shape[1]
    out = np.empty((len(crops), 5, size, size), np.float32)
    wide, fine = size / 5.0, size / 64.0
    for n, crop in enumerate(crops):
        bgr = cv2.GaussianBlur(crop, (0, 0), max(fine, 0.5)).astype(np.float32) + 8.0
        logs = cv2.log(bgr)
        light = logs.mean(axis=2)
        mean = cv2.GaussianBlur(light, (0, 0), wide, borderType=cv2.BORDER_REFLECT)
        detail = light - mean
        spread = np.sqrt(cv2.GaussianBlur(detail * detail, (0, 0), wide, borderType=cv2.BORDER_REFLECT)) + 0.06
        light = detail / spread
        out[n, 0] = _LIGHT * light
        out[n, 1] = _COLOUR * 2.2 * (logs[..., 2] - logs[..., 1])  # red against green: walls, roofs, fields
        out[n, 2] = _COLOUR * 1.1 * (0.5 * (logs[..., 1] + logs[..., 2]) - logs[..., 0])  # yellow against blue
        out[n, 3] = _EDGE * cv2.Sobel(light, cv2.CV_32F, 1, 0, ksize=3, scale=0.35)
        out[n, 4] = _EDGE * cv2.Sobel(light, cv2.CV_32F, 0, 1, ksize=3, scale=0.35)
    return out


def in_all_turns(upright: FloatArray) -> FloatArray:
    """(N, 5, S, S) channels of upright pictures as (N, 4, 5, S, S), each picture in its quarter turns clockwise."""
    out = np.empty((len(upright), 4, *upright.shape[1:]), np.float32)
    out[:, 0] = upright
    for rot in range(1, 4):
        last = np.rot90(out[:, rot - 1], -1, axes=(2, 3))
        out[:, rot, :3], out[:, rot, 3], out[:, rot, 4] = last[:, :3], -last[:, 4], last[:, 3]
    return out


class TileMatcher:
    """Compares rectified crops with the pictures of a tile set. Immutable; thread-safe.

    ``size_px`` is the side of the crops that are compared; crops of other sizes are resized. Memory is about
    ``specimens * 4 * 5 * size_px**2 * 4`` bytes.
    """

    def __init__(self, tileset: TileSet, size_px: int = 48) -> None:
        self.size_px = size_px
        self.ids: tuple[str, ...] = tileset.ids
        self._kind = np.array([self.ids.index(s.tile) for s in tileset.specimens])
        pictures = channels(np.array([resized(s.bgr, size_px) for s in tileset.specimens]))
        self._unit = _unit(in_all_turns(pictures).reshape(-1, *pictures.shape[1:]))

    def score_specimens(self, crops: Image) -> FloatArray:
        """(N, specimens, 4) correlations of (N, S, S, 3) uint8 crops with every picture in every quarter turn."""
        if crops.ndim != 4 or crops.shape[1] != crops.shape[2] or crops.shape[3] != 3:
            raise ValueError(f"crops are (N, S, S, 3), not {crops.shape}")
        fitted = [resized(c, self.size_px) for c in crops]
        scores = [_unit(channels(np.array(fitted[n:n + _CHUNK]))) @ self._unit.T for n in range(0, len(fitted), _CHUNK)]
        return np.concatenate(scores).reshape(len(crops), len(self._kind), 4)

    def score(self, crops: Image) -> FloatArray:
        """(N, K, 4) float32 best correlation per kind (order of ``ids``) and quarter turn clockwise."""
        by_specimen = self.score_specimens(crops)
        return np.stack([by_specimen[:, self._kind == kind].max(axis=1) for kind in range(len(self.ids))], axis=1)


def _unit(stack: FloatArray) -> FloatArray:
    """(N, 5, S, S) channels as (N, 5 * S * S) unit vectors, the mean of each channel removed."""
    flat = (stack - stack.mean(axis=(2, 3), keepdims=True)).reshape(len(stack), -1)
    return np.asarray(flat / (np.linalg.norm(flat, axis=1, keepdims=True) + 1e-6), np.float32)


def resized(bgr: Image, size_px: int) -> Image:
    """A square picture (S, S, 3) with ``size_px`` a side."""
    if bgr.shape[:2] == (size_px, size_px):
        return bgr
    shrink = size_px < bgr.shape[0]
    how = cv2.INTER_AREA if shrink else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(bgr, (size_px, size_px), interpolation=how), np.uint8)
