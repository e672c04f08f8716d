"""Detects where wooden figures stand and lie on a square of a board, independent of artwork and paint.

A small network (``models/figures.onnx``, made by ``training/``, run by OpenCV). Its input is a tile with a margin and
the direction in which tops lean there; its output on a grid of cells: whether a foot is in the cell and where in it,
lying or standing, which kind of piece, what belongs to a figure's silhouette and where that figure's foot is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vision.batches import batches
from vision.frames import Image
from vision.networks import lent

Array = npt.NDArray[np.float64]

CROP_PX = 96  # side of the network's input
MARGIN = 0.45  # of a tile around the square
TILE_PX = CROP_PX / (1 + 2 * MARGIN)
CELLS = 24  # either way
SHAPED = ("large", "builder", "pig")  # pieces with a silhouette of their own
KINDS = ("follower", *SHAPED, "disc", "cube")
CHANNELS = 1 + 2 + 1 + len(KINDS) + 1 + 2  # foot, its place in the cell, lying, kinds, silhouette, offset to its foot


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureMaps:
    """The network's output maps for N crops, c = CELLS: logits ``foot`` (N, c, c), ``place`` (N, 2, c, c) the foot's
    offset from the cell's centre in tiles, logits ``lying`` and ``silhouette`` (N, c, c), ``kinds`` (N, 6, c, c)
    log-probabilities, ``home`` (N, 2, c, c) the offset from a silhouette's cell to its figure's foot in tiles."""

    foot: Array
    place: Array
    lying: Array
    kinds: Array
    silhouette: Array
    home: Array


class FigureNet:
    """The loaded network. Not thread-safe."""

    def __init__(self) -> None:
        self._net = lent(self, "figures")

    def ask(self, crops: Image, leans: Array) -> FigureMaps:
        """The output for (N, CROP_PX, CROP_PX, 3) BGR crops with MARGIN; ``leans`` (N, 2) is the displacement in the
        picture, in tiles, of a point one tile above its foot."""
        out = []
        for some in batches(len(crops)):
            part = crops[some]
            given = np.empty((len(part), 5, CROP_PX, CROP_PX), np.float32)
            given[:, :3] = part.transpose(0, 3, 1, 2)
            given[:, :3] /= 255
            given[:, 3:] = np.asarray(leans[some])[:, :, None, None]
            self._net.setInput(given)
            out.append(self._net.forward().copy())
        every = (np.concatenate(out) if out else np.zeros((0, CHANNELS, CELLS, CELLS))).astype(float)
        return felt(every)


def felt(out: Array) -> FigureMaps:
    """The network's output (N, CHANNELS, c, c) split into named maps."""
    last = 4 + len(KINDS)
    kinds = out[:, 4:last]
    kinds = kinds - kinds.max(axis=1, keepdims=True)
    kinds = kinds - np.log(np.exp(kinds).sum(axis=1, keepdims=True))
    return FigureMaps(foot=out[:, 0], place=out[:, 1:3], lying=out[:, 3], kinds=kinds, silhouette=out[:, last],
                home=out[:, last + 1:last + 3])

