"""What a tile is: normalised correlation of rectified crops with every known picture in every quarter turn.

One matrix product compares all crops with all pictures. Crops and pictures are turned into channels that keep what
print has and drop what lamps add: lightness relative to its surroundings, the two colour axes, and edges.
Scores are correlations in -1 .. 1, 1 for the same picture under any brightness and contrast.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.frames import Image
from vision.tileset import TileSet

FloatArray = npt.NDArray[np.float32]

# Energy of each channel on printed tiles differs by an order of magnitude; these weights bring them together.
_LIGHT, _COLOUR, _EDGE = 1.0, 1.0, 0.6
TEMPERATURE = 0.03  # correlation difference that makes one kind e times as likely as another
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


class TileMatcher:
    """Compares rectified crops with the pictures of a tile set. Immutable once made; safe to share.

    ``size_px`` is the side of the crops that are compared; crops of other sizes are resized. Memory is about
    ``specimens * 4 * 5 * size_px**2 * 8`` bytes.
    """

    def __init__(self, tileset: TileSet, size_px: int = 48) -> None:
        self.tileset = tileset
        self.size_px = size_px
        self.ids: tuple[str, ...] = tileset.ids
        self.index: Mapping[str, int] = {tile: n for n, tile in enumerate(self.ids)}
        pictures = tileset.images
        self._kind = np.array([self.index[tile] for tile, _ in pictures])
        turned = [np.rot90(_fit(bgr, size_px), -rot) for _, bgr in pictures for rot in range(4)]
        stack = channels(np.ascontiguousarray(turned))
        stack -= stack.mean(axis=(2, 3), keepdims=True)
        self._templates = stack.reshape(len(stack), 5, -1)
        flat = self._templates.reshape(len(stack), -1)
        self._unit = flat / (np.linalg.norm(flat, axis=1, keepdims=True) + 1e-6)

    @property
    def unit(self) -> FloatArray:
        """(specimens * 4, 5 * size_px**2) every picture in every quarter turn as a vector of length 1."""
        return self._unit

    @property
    def kinds_of_pictures(self) -> npt.NDArray[np.int64]:
        """Of every specimen, the index of its kind in ``ids``."""
        return self._kind

    def picture(self, template: int) -> FloatArray:
        """The channels (5, size_px, size_px) of row ``template`` of ``unit``, each with mean 0."""
        return self._templates[template].reshape(-1, self.size_px, self.size_px)

    def light(self, template: int) -> FloatArray:
        """The lightness channel (size_px, size_px) of row ``template`` of ``unit``."""
        return self._templates[template, 0].reshape(self.size_px, self.size_px)

    def __len__(self) -> int:
        return len(self._kind)

    def score_specimens(self, crops: Image, weight: FloatArray | None = None) -> FloatArray:
        """(N, specimens, 4) correlations of (N, S, S, 3) uint8 crops with every picture in every quarter turn.

        ``weight`` (N, S, S), 0 .. 1, says how much each pixel counts: 0 under a follower, a hand, a glare.
        """
        crops, weight = self._fitted(crops, weight)
        scores = np.empty((len(crops), len(self._unit)), np.float32)
        for start in range(0, len(crops), _CHUNK):
            part = slice(start, start + _CHUNK)
            found = channels(crops[part])
            if weight is None:
                found -= found.mean(axis=(2, 3), keepdims=True)
                flat = found.reshape(len(found), -1)
                scores[part] = (flat / (np.linalg.norm(flat, axis=1, keepdims=True) + 1e-6)) @ self._unit.T
            else:
                scores[part] = self._weighted(found, weight[part])
        return scores.reshape(len(crops), len(self._kind), 4)

    def score(self, crops: Image, allowed: npt.NDArray[np.bool_] | None = None, weight: FloatArray | None = None,
              *, shift_px: int = 0) -> FloatArray:
        """(N, K, 4) float32 best correlation per kind (order of ``ids``) and quarter turn clockwise.

        ``allowed`` (K,) or (N, K) sets the others to -1. ``shift_px`` also tries the crop moved by that many of the
        matcher's pixels in the eight directions and takes the best: for poses that are not exact.
        """
        by_specimen = self.score_specimens(crops, weight)
        for dx, dy in _around(shift_px):
            moved, moved_weight = self._moved(crops, weight, dx, dy)
            np.maximum(by_specimen, self.score_specimens(moved, moved_weight), out=by_specimen)
        best = np.full((len(by_specimen), len(self.ids), 4), -1.0, np.float32)
        for kind in range(len(self.ids)):
            best[:, kind] = by_specimen[:, self._kind == kind].max(axis=1)
        if allowed is not None:
            best[np.broadcast_to(~np.asarray(allowed, bool), best.shape[:2])] = -1.0
        return best

    def specimen(self, scores: FloatArray, tile: str, rot: int) -> int:
        """Of one crop's (specimens, 4) scores, the index in ``tileset.specimens`` that shows this kind best."""
        own = np.flatnonzero(self._kind == self.index[tile])
        return int(own[np.argmax(scores[own, rot % 4])])

    def loglik(self, scores: FloatArray) -> FloatArray:
        """(.., K, 4) correlations as log-likelihoods that sum to 1 over kinds and quarter turns."""
        return log_softmax(scores, TEMPERATURE)

    def candidates(self, crop: Image, allowed: Iterable[str] | None = None, weight: FloatArray | None = None,
                   *, shift_px: int = 0, most: int = 8) -> list[TileCandidate]:
        """The likeliest kinds and quarter turns of one (S, S, 3) crop, best first."""
        mask = None if allowed is None else np.array([tile in frozenset(allowed) for tile in self.ids])
        batch_weight = None if weight is None else weight[None]
        scores = self.score(crop[None], mask, batch_weight, shift_px=shift_px)[0]
        return self.ranked(scores, most=most)

    def ranked(self, scores: FloatArray, *, most: int = 8) -> list[TileCandidate]:
        """One crop's (K, 4) scores as candidates, best first."""
        logs = self.loglik(scores)
        order = np.argsort(-scores, axis=None)[:most]
        return [TileCandidate(tile=self.ids[n // 4], rot=int(n % 4), loglik=float(logs.flat[n]),
                              score=float(scores.flat[n])) for n in order if scores.flat[n] > -1.0]

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
            weight = weight.astype(np.float32).reshape(len(crops), -1)
        return crops, weight

    def _weighted(self, found: FloatArray, weight: FloatArray) -> FloatArray:
        """Correlation in which every pixel has its weight; means and variances are weighted alike."""
        total = weight.sum(axis=1, keepdims=True) + 1e-6
        product = own = other = 0.0
        for c in range(found.shape[1]):
            x = found[:, c].reshape(len(found), -1)
            t = self._templates[:, c]
            x = (x - (weight * x).sum(axis=1, keepdims=True) / total)
            wx = weight * x
            t_mean = weight @ t.T / total
            product = product + wx @ t.T
            own = own + (wx * x).sum(axis=1, keepdims=True)
            other = other + weight @ (t * t).T - total * t_mean**2
        return product / (np.sqrt(own * np.maximum(other, 1e-6)) + 1e-6)

    def _moved(self, crops: Image, weight: FloatArray | None, dx: int, dy: int) -> tuple[Image, FloatArray | None]:
        step = crops.shape[1] / self.size_px
        shift = np.array([[1, 0, dx * step], [0, 1, dy * step]], np.float32)
        side = (crops.shape[1], crops.shape[1])
        moved = np.array([cv2.warpAffine(c, shift, side, borderMode=cv2.BORDER_REPLICATE) for c in crops])
        if weight is None:
            return moved, None
        shift = np.array([[1, 0, dx * weight.shape[1] / self.size_px], [0, 1, dy * weight.shape[1] / self.size_px]])
        side = (weight.shape[1], weight.shape[1])
        return moved, np.array([cv2.warpAffine(w.astype(np.float32), shift, side) for w in weight])


def log_softmax(scores: FloatArray, temperature: float) -> FloatArray:
    """Log-probabilities over the last two axes."""
    logits = scores / temperature
    top = logits.max(axis=(-2, -1), keepdims=True)
    return logits - top - np.log(np.exp(logits - top).sum(axis=(-2, -1), keepdims=True))


def _around(shift_px: int) -> Sequence[tuple[int, int]]:
    if not shift_px:
        return ()
    steps = (-shift_px, 0, shift_px)
    return [(x, y) for x in steps for y in steps if x or y]


def _fit(bgr: Image, size_px: int) -> Image:
    if bgr.shape[:2] == (size_px, size_px):
        return bgr
    shrink = size_px < bgr.shape[0]
    return cv2.resize(bgr, (size_px, size_px), interpolation=cv2.INTER_AREA if shrink else cv2.INTER_LINEAR)
