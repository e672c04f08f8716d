"""Detects single tiles in a picture: a small fully convolutional network runs over the whole picture at a few scales
and estimates at every place whether a tile's centre is there, its size and its orientation (``models/spots.onnx``, made
by ``training/``, run by OpenCV). It needs no lines, no neighbours and no known artwork.

A tile's two directions are encoded without an order: for its edges u and v as complex numbers the network outputs u^2 +
v^2 and u^2 v^2, which are invariant under quarter turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.frames import Image
from vision.networks import lent

Array = npt.NDArray[np.float64]

CELL_PX = 8  # stride of the network's output
OUTPUTS = 9  # a centre, the offset to it (2), its size, the two directions (4), and whether any tile covers this place
USUAL_PX = 30.0  # side of a tile that the network outputs as size 0
SIDES_PX = (15.0, 54.0)  # range of tiles it was trained for, in its input
LONG_SIDES_PX = (896, 448, 224, 112)  # scales at which a picture is searched: tiles of 0.02 to 0.4 of its long side
LIKELY = 0.25  # probability from which a place is a spot
APART = 0.5  # of a tile: spots closer than that are merged


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """A possible tile: its centre, its two sides ``u`` and ``v`` as vectors (px; v clockwise of u as
    seen, both about as long as the tile's side), and the probability."""

    middle: Array
    u: Array
    v: Array
    likely: float

    @property
    def side(self) -> float:
        """Side of a square of the same area, px."""
        return float(np.sqrt(abs(self.u[0] * self.v[1] - self.u[1] * self.v[0])))


class Spotter:
    """Runs the network over pictures. Not thread-safe."""

    def __init__(self) -> None:
        self._seen: list[tuple[float, Array]] = []
        self._nets = [lent(self, "spots", side_px) for side_px in LONG_SIDES_PX]

    def spots(self, bgr: Image) -> list[Spot]:
        """Spots in a BGR picture, likeliest first, at most one per place."""
        found: list[Spot] = []
        self._seen = []
        for net, long_side in zip(self._nets, LONG_SIDES_PX, strict=True):
            found += self._level(net, bgr, long_side)
        return _distinct(found)

    def odds(self, middle: Array, side: float) -> float:
        """Log-odds that a tile of about this size (px) has its centre there, in the picture searched last."""
        scale, seen = min(self._seen, key=lambda level: abs(np.log(level[0] * side / USUAL_PX)))
        x, y = (int(v * scale / CELL_PX) for v in middle)
        part = seen[max(0, y - 1):y + 2, max(0, x - 1):x + 2]
        return float(part.max()) if part.size else 0.0

    def _level(self, net: cv2.dnn.Net, bgr: Image, long_side: int) -> list[Spot]:
        scale = min(1.0, long_side / max(bgr.shape[:2]))
        small = bgr if scale == 1.0 else cv2.resize(bgr, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        height, width = (-(-n // 32) * 32 for n in small.shape[:2])
        small = cv2.copyMakeBorder(small, 0, height - small.shape[0], 0, width - small.shape[1], cv2.BORDER_REPLICATE)
        net.setInput(np.ascontiguousarray(small.transpose(2, 0, 1)[None], np.float32) / 255)
        out = net.forward()[0].astype(float)
        self._seen.append((scale, out[0]))
        likely = 1 / (1 + np.exp(-out[0]))
        rows, columns = np.nonzero(likely > LIKELY)
        said = out[:, rows, columns]
        sides = USUAL_PX * np.exp(np.clip(said[3], -2, 2))
        u, v = _directions(said[6] + 1j * said[7], said[4] + 1j * said[5])
        grow = (sides / np.sqrt(np.abs(_cross(u, v)) + 1e-9) / scale)[:, None]
        middles = (np.stack([columns, rows], axis=1) * CELL_PX + CELL_PX / 2 + 16 * said[1:3].T) / scale
        known = np.flatnonzero((sides > SIDES_PX[0]) & (sides < SIDES_PX[1])).tolist()
        return [Spot(middle=middles[n], u=u[n] * grow[n], v=v[n] * grow[n], likely=float(likely[rows[n], columns[n]]))
                for n in known]


def _directions(total: npt.NDArray[np.complex128], product: npt.NDArray[np.complex128]) -> tuple[Array, Array]:
    """u and v (N, 2), up to their signs, from the sum and the product of their squares."""
    product = product / (np.abs(product) + 1e-9)
    root = np.sqrt(total * total - 4 * product)
    a, b = np.sqrt((total + root) / 2), np.sqrt((total - root) / 2)
    u, v = np.stack([a.real, a.imag], axis=1), np.stack([b.real, b.imag], axis=1)
    thin = np.abs(_cross(u, v)) < 0.15 * ((u * u).sum(axis=1) + (v * v).sum(axis=1))  # implausibly thin
    along = u / (np.linalg.norm(u, axis=1, keepdims=True) + 1e-9)
    u = np.where(thin[:, None], along, u)
    v = np.where(thin[:, None], np.stack([-along[:, 1], along[:, 0]], axis=1), v)
    return u, np.where((_cross(u, v) < 0)[:, None], -v, v)


def _cross(u: Array, v: Array) -> Array:
    return np.asarray(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0])


def _distinct(spots: Sequence[Spot]) -> list[Spot]:
    kept: list[Spot] = []
    if not spots:
        return kept
    order = sorted(spots, key=lambda s: -s.likely)
    middles = np.array([s.middle for s in order])
    sides = np.array([s.side for s in order])
    free = np.ones(len(order), bool)
    for n, spot in enumerate(order):
        if not free[n]:
            continue
        away = np.linalg.norm(middles - spot.middle, axis=1)
        same = free & (away < APART * np.minimum(sides, sides[n]))
        near = [k for k in np.flatnonzero(same) if abs(np.log(sides[k] / sides[n])) < 0.25]
        weight = np.array([order[k].likely for k in near])
        kept.append(Spot(middle=(middles[near] * weight[:, None]).sum(axis=0) / weight.sum(), u=spot.u, v=spot.v,
                         likely=spot.likely))
        free &= ~(away < APART * np.maximum(sides, sides[n]))
        free[n] = False
    return kept
