"""Which signs with a meaning in the rules a tile shows, whatever the artwork: an inn by a lake, a cathedral, goods.

A small network says it (``models/signs.onnx``, made by ``training/``, run by OpenCV), which has seen invented editions
only. It looks closer than `vision.structure`, for a sign is a fifth of a tile, and answers on a grid of cells whether
the middle of a sign is there; what counts for a tile is its best cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from scoring.tiles import Tile
from vision.batches import batches
from vision.frames import Image

Array = npt.NDArray[np.float64]

SIGNS = ("inn", "cathedral", "wine", "grain", "cloth")
CROP_PX = 112  # side of the network's picture
MARGIN = 0.04  # of a tile around the square
CELLS = 14  # either way
_SHOWN = (0.23, 0.02, 0.16, 0.14, 0.15)  # of the crops it was trained with show each sign: what its answers start from
_SUREST = 3.0  # nats: no answer about one sign is surer


class SignNet:
    """The network, ready to be asked. Not to be shared between threads."""

    def __init__(self, model: bytes | None = None) -> None:
        """``model`` is another network than bastide's own, as ONNX."""
        self._net = cv2.dnn.readNetFromONNX(np.frombuffer(model or _weights(), np.uint8))

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
    """(N, SIGNS) of the network's answer (N, SIGNS, CELLS, CELLS)."""
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


@cache
def _weights() -> bytes:
    return (resources.files("vision") / "models" / "signs.onnx").read_bytes()
