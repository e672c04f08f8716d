"""Evidence about a tile besides its similarity to a picture: its sides, learned from tiles of known kinds, and which
kinds differ by a pennant alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
import numpy.typing as npt

from scoring.tiles import EDGES, Tile, edge
from vision.frames import Image

FloatArray = npt.NDArray[np.float32]

_STRIP = 0.13  # of a tile: depth of the strip along a side
_STEPS = 16


def strips(crops: Image, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(N, 4, 48) colours along each side N E S W as seen from the centre, left to right; (N, 4) how much of each is
    visible."""
    size = crops.shape[1]
    depth = max(3, round(_STRIP * size))
    features = np.empty((len(crops), 4, _STEPS * 3), np.float32)
    seen = np.empty((len(crops), 4), np.float32)
    for n, crop in enumerate(crops):
        logs = np.log(cv2.GaussianBlur(crop, (0, 0), size / 64).astype(np.float32) + 10.0)
        colours = np.stack([logs.mean(axis=2), logs[..., 2] - logs[..., 1],
                            (logs[..., 1] + logs[..., 2]) / 2 - logs[..., 0]], axis=-1)
        w = weight[n]
        for side in range(4):
            turned, turned_w = np.rot90(colours, side), np.rot90(w, side)
            strip, strip_w = turned[2:depth], turned_w[2:depth, :, None]
            columns = (strip * strip_w).sum(axis=0) / (strip_w.sum(axis=0) + 1e-3)
            bins = columns.reshape(_STEPS, size // _STEPS, 3).mean(axis=1)
            bins[:, 0] = (bins[:, 0] - np.median(bins[:, 0])) * 0.7  # lamps change lightness: only its pattern counts
            features[n, side] = bins.ravel()
            seen[n, side] = float(strip_w.mean())
    return features, seen


@dataclass(frozen=True, slots=True, kw_only=True)
class SideReader:
    """Linear discriminant analysis of the feature on a side, with a shared, shrunk covariance. ``letters`` are the
    classes."""

    letters: str
    means: FloatArray
    inverse: FloatArray

    def loglik(self, features: FloatArray, seen: FloatArray) -> FloatArray:
        """(.., letters) normalised log-likelihoods; uniform for a hidden side."""
        off = features[..., None, :] - self.means
        distance = np.einsum("...i,ij,...j->...", off, self.inverse, off)
        logits = -0.5 * distance / 4.0  # the bins of a strip are correlated
        logits = logits - logits.max(axis=-1, keepdims=True)
        logits = np.maximum(logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True)), -8.0)
        out: FloatArray = logits * np.clip((seen[..., None] - 0.4) / 0.5, 0.0, 1.0)
        return out


def learn_sides(features: FloatArray, letters: Sequence[str]) -> SideReader | None:
    """From sides whose letter is known (M, 48); None when fewer than two letters have examples."""
    names = "".join(sorted(letter for letter, count in Counter(letters).items() if count >= 4))
    if len(names) < 2:
        return None
    mirrored = features.reshape(-1, _STEPS, 3)[:, ::-1].reshape(len(features), -1)
    every, labels = np.concatenate([features, mirrored]), np.array([*letters, *letters])
    means = np.stack([every[labels == x].mean(axis=0) for x in names])
    rest = np.concatenate([every[labels == x] - means[n] for n, x in enumerate(names)])
    spread = rest.T @ rest / len(rest)
    spread = 0.7 * spread + 0.3 * np.eye(len(spread), dtype=np.float32) * np.trace(spread) / len(spread)
    spread += np.eye(len(spread), dtype=np.float32) * 1e-4
    return SideReader(letters=names, means=means.astype(np.float32), inverse=np.linalg.inv(spread).astype(np.float32))


def side_letters(tile: Tile, rot: int) -> str:
    """The features on the four sides N E S W of a turned tile, one letter each."""
    return "".join(edge(tile, rot, side) for side in EDGES)


def pennants(tile: Tile) -> int:
    """How many a tile has in all."""
    return sum(s.pennants for s in tile.segments)


def twins(kinds: Mapping[str, Tile], ids: Sequence[str]) -> list[tuple[str, str]]:
    """(with, without) pairs of kinds that differ by pennants alone."""
    def plain(tile: Tile) -> tuple[object, ...]:
        return replace(tile, segments=tuple(replace(s, pennants=0) for s in tile.segments)).signature(0)

    return [(a, b) for a in ids for b in ids
            if pennants(kinds[a]) > pennants(kinds[b]) and plain(kinds[a]) == plain(kinds[b])]
