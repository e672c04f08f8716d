"""What a tile is: normalised correlation of rectified crops with every known picture in every quarter turn.

One matrix product compares all crops with all pictures. Crops and pictures are turned into channels that keep what
print has and drop what lamps add: lightness relative to its surroundings, the two colour axes, and edges.
Scores are correlations in -1 .. 1, 1 for the same picture under any brightness and contrast.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.frames import Image
from vision.tileset import TileSet

FloatArray = npt.NDArray[np.float32]

# Energy of each channel on printed tiles differs by an order of magnitude; these weights bring them together.
_LIGHT, _COLOUR, _EDGE = 1.0, 1.0, 0.6
_CHUNK = 64  # crops per matrix product, which bounds the memory


@dataclass(frozen=True, slots=True, kw_only=True)
class TileCandidate:
    """What a crop may be. ``loglik`` is normalised over all candidates of the crop; ``score`` is the correlation."""

    tile: str
    rot: int
    loglik: float
    score: float


def channels(crops: Image) -> FloatArray:
    """(N, S, S, 3) BGR crops as (N, 5, S, S) float channels: light, two colours, edges along x and y.

    Light is divided by its own surroundings (a quarter of the tile wide), so that a shadow's border or a lamp's
    falloff weighs little. The blur takes sharpness differences between camera and picture out.
    """
    size = crops.shape[1]
    out = np.empty((len(crops), 5, size, size), np.float32)
    for n, crop in enumerate(crops):
        logs = _logs(crop)
        light = _evened(logs)
        out[n, 0] = _LIGHT * light
        out[n, 1] = _COLOUR * 2.2 * (logs[..., 2] - logs[..., 1])  # red against green: walls, roofs, fields
        out[n, 2] = _COLOUR * 1.1 * (0.5 * (logs[..., 1] + logs[..., 2]) - logs[..., 0])  # yellow against blue
        out[n, 3] = _EDGE * cv2.Sobel(light, cv2.CV_32F, 1, 0, ksize=3, scale=0.35)
        out[n, 4] = _EDGE * cv2.Sobel(light, cv2.CV_32F, 0, 1, ksize=3, scale=0.35)
    return out


def lightness(crop: Image) -> FloatArray:
    """(S, S) the first of these channels of one (S, S, 3) crop."""
    return np.asarray(_LIGHT * _evened(_logs(crop)), np.float32)


def _logs(crop: Image) -> FloatArray:
    bgr = cv2.GaussianBlur(crop, (0, 0), max(crop.shape[0] / 64.0, 0.5)).astype(np.float32) + 8.0
    return np.asarray(cv2.log(bgr), np.float32)


def _evened(logs: FloatArray) -> FloatArray:
    wide = logs.shape[0] / 5.0
    light = logs.mean(axis=2)
    detail = light - cv2.GaussianBlur(light, (0, 0), wide, borderType=cv2.BORDER_REFLECT)
    spread = np.sqrt(cv2.GaussianBlur(detail * detail, (0, 0), wide, borderType=cv2.BORDER_REFLECT)) + 0.06
    return np.asarray(detail / spread, np.float32)


def in_all_turns(upright: FloatArray) -> FloatArray:
    """(N, 5, S, S) channels of upright pictures as (N, 4, 5, S, S), each picture in its quarter turns clockwise."""
    out = np.empty((len(upright), 4, *upright.shape[1:]), np.float32)
    out[:, 0] = upright
    for rot in range(1, 4):
        last = np.rot90(out[:, rot - 1], -1, axes=(2, 3))
        out[:, rot, :3], out[:, rot, 3], out[:, rot, 4] = last[:, :3], -last[:, 4], last[:, 3]
    return out


class TileMatcher:
    """Compares rectified crops with the pictures of a tile set. Immutable once made; safe to share.

    ``size_px`` is the side of the crops that are compared; crops of other sizes are resized. Memory is about
    ``specimens * 4 * 5 * size_px**2 * 4`` bytes.
    """

    def __init__(self, tileset: TileSet, size_px: int = 48) -> None:
        self.tileset = tileset
        self.size_px = size_px
        self.ids: tuple[str, ...] = tileset.ids
        pictures = tileset.images
        self._kind = np.array([self.ids.index(tile) for tile, _ in pictures])
        upright = channels(np.array([_fit(bgr, size_px) for _, bgr in pictures]))
        upright -= upright.mean(axis=(2, 3), keepdims=True)
        lengths = np.linalg.norm(upright.reshape(len(upright), -1), axis=1)
        self._lengths = np.repeat(lengths, 4) + 1e-6
        self._templates = in_all_turns(upright).reshape(4 * len(upright), 5, size_px, size_px)

    @property
    def templates(self) -> FloatArray:
        """(specimens * 4, 5, size_px, size_px) channels of every picture in every quarter turn, each with mean 0."""
        return self._templates

    @property
    def kinds_of_pictures(self) -> npt.NDArray[np.int64]:
        """Of every specimen, the index of its kind in ``ids``."""
        return self._kind

    def __len__(self) -> int:
        return len(self._kind)

    def score_specimens(self, crops: Image, weight: FloatArray | None = None) -> FloatArray:
        """(N, specimens, 4) correlations of (N, S, S, 3) uint8 crops with every picture in every quarter turn.

        ``weight`` (N, S, S), 0 .. 1, says how much each pixel counts: 0 under a follower, a hand, a glare.
        """
        crops, weight = self._fitted(crops, weight)
        scores = np.empty((len(crops), len(self._templates)), np.float32)
        for start in range(0, len(crops), _CHUNK):
            part = slice(start, start + _CHUNK)
            scores[part] = self.likeness(channels(crops[part]), None if weight is None else weight[part])
        return scores.reshape(len(crops), len(self._kind), 4)

    def likeness(self, prints: FloatArray, weight: FloatArray | None = None) -> FloatArray:
        """(N, specimens * 4) correlations of the channels (N, 5, size_px, size_px) of crops with ``templates``, each
        pixel weighted by ``weight`` (N, size_px, size_px) where that is given."""
        if weight is not None:
            return self._weighted(prints, weight.reshape(len(weight), -1).astype(np.float32))
        flat = (prints - prints.mean(axis=(2, 3), keepdims=True)).reshape(len(prints), -1)
        flat /= np.linalg.norm(flat, axis=1, keepdims=True) + 1e-6
        return np.asarray(flat @ self._templates.reshape(len(self._templates), -1).T / self._lengths, np.float32)

    def score(self, crops: Image, weight: FloatArray | None = None) -> FloatArray:
        """(N, K, 4) float32 best correlation per kind (order of ``ids``) and quarter turn clockwise."""
        by_specimen = self.score_specimens(crops, weight)
        return np.stack([by_specimen[:, self._kind == kind].max(axis=1) for kind in range(len(self.ids))], axis=1)

    def _fitted(self, crops: Image, weight: FloatArray | None) -> tuple[Image, FloatArray | None]:
        if crops.ndim != 4 or crops.shape[1] != crops.shape[2] or crops.shape[3] != 3:
            raise ValueError(f"crops are (N, S, S, 3), not {crops.shape}")
        if crops.shape[1] != self.size_px:
            crops = np.array([_fit(c, self.size_px) for c in crops]).reshape(-1, self.size_px, self.size_px, 3)
        if weight is not None:
            if weight.shape[1] != self.size_px:
                side = (self.size_px, self.size_px)
                weight = np.array([cv2.resize(w.astype(np.float32), side, interpolation=cv2.INTER_AREA)
                                   for w in weight])
        return crops, weight

    def _weighted(self, found: FloatArray, weight: FloatArray) -> FloatArray:
        """Correlation in which every pixel has its weight; means and variances are weighted alike."""
        total = weight.sum(axis=1, keepdims=True) + 1e-6
        product = own = other = 0.0
        for c in range(found.shape[1]):
            x = found[:, c].reshape(len(found), -1)
            t = self._templates[:, c].reshape(len(self._templates), -1)
            x = (x - (weight * x).sum(axis=1, keepdims=True) / total)
            wx = weight * x
            t_mean = weight @ t.T / total
            product = product + wx @ t.T
            own = own + (wx * x).sum(axis=1, keepdims=True)
            other = other + weight @ (t * t).T - total * t_mean**2
        return product / (np.sqrt(own * np.maximum(other, 1e-6)) + 1e-6)


def _fit(bgr: Image, size_px: int) -> Image:
    if bgr.shape[:2] == (size_px, size_px):
        return bgr
    shrink = size_px < bgr.shape[0]
    return cv2.resize(bgr, (size_px, size_px), interpolation=cv2.INTER_AREA if shrink else cv2.INTER_LINEAR)
