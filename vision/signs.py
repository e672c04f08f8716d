"""Detects the signs on a tile that have a meaning in the rules, whatever the artwork: an inn by a lake, a cathedral,
goods.

A small network (``models/signs.onnx``, made by ``training/``, run by OpenCV), trained on invented editions only. Its
resolution is higher than that of `vision.structure`, for a sign is a fifth of a tile; its output on a grid of cells is
whether the centre of a sign is there; the maximum over the cells counts for a tile.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from scoring.tiles import Tile
from vision.batches import batches
from vision.frames import Image
from vision.networks import lent, loaded

Array = npt.NDArray[np.float64]

SIGNS = ("inn", "cathedral", "wine", "grain", "cloth")
CROP_PX = 112  # side of the network's input
MARGIN = 0.04  # of a tile around the square
CELLS = 14  # either way
_SHOWN = (0.23, 0.02, 0.16, 0.14, 0.15)  # fraction of its training crops with each sign: the prior in its output
_SUREST = 3.0  # nats: limit of the evidence of one sign


class SignNet:
    """The loaded network. Not thread-safe."""

    def __init__(self, model: bytes | None = None) -> None:
        """``model``: an ONNX network to use instead of bastide's own."""
        self._net = loaded(model) if model else lent(self, "signs")

    def ask(self, crops: Image) -> Array:
        """Logits (N, SIGNS) of (N, CROP_PX, CROP_PX, 3) BGR crops with MARGIN: the mean of two opposite views."""
        total = np.zeros((len(crops), len(SIGNS)))
        for half_turns in (0, 1):
            turned = np.rot90(crops, 2 * half_turns, axes=(1, 2))
            for some in batches(len(crops)):
                part = np.ascontiguousarray(turned[some].transpose(0, 3, 1, 2), np.float32) / 255
                self._net.setInput(part)
                total[some] += best_cell(self._net.forward()) / 2
        return total


def best_cell(out: npt.NDArray[np.integer[Any] | np.floating[Any]]) -> Array:
    """(N, SIGNS) maxima of the network's output (N, SIGNS, CELLS, CELLS)."""
    return np.asarray(out.max(axis=(2, 3)), float)


def loglik(logits: Array, kinds: Sequence[Tile]) -> Array:
    """(N, K) log-likelihoods of kinds by the signs that they have, up to a constant for each row."""
    shown = np.array(_SHOWN)
    odds = np.clip(logits - np.log(shown / (1 - shown)), -_SUREST, _SUREST)
    return np.asarray(odds @ np.array([signs_of(kind) for kind in kinds], float).T)


@cache
def signs_of(tile: Tile) -> tuple[bool, ...]:
    """Which of SIGNS a kind has."""
    shown = {sign for s in tile.segments for sign in s.signs}
    return tuple(sign in shown for sign in SIGNS)

