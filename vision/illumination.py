"""Illumination normalisation of tile pictures: removes the effect of a table's lamp on each, so that together they look
like one board.

Two tiles of one set are printed in the same colours: grass is grass on both. So a pixel is the printed colour times the
light on that tile, modelled as a gain per channel and a slope across the tile. The catalogue's geometry tells which
colour is printed where.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scoring.tiles import Tile
from vision.artwork.painter import segment_masks
from vision.frames import Image

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class IlluminationLimits:
    """How light is separated from paint. Chosen on drawn tiles under random light
    (`tests/vision/test_illumination.py`)."""

    cells: int = 12  # per side; a cell is represented by its median
    rounds: int = 6  # alternating estimates of paint and light
    hold: float = 1.0  # regularisation of the slope towards 0, in cells: the print has gradients of its own
    most_gain: float = 0.7  # natural logarithm; more is not light but another colour
    most_slope: float = 0.4  # the same, from one side of a tile to the other


def normalised(pictures: Sequence[tuple[Tile, Image]], how: IlluminationLimits | None = None) -> list[Image]:
    """The upright squares (S, S, 3) uint8, S at least 24, under a common light: the median of the set."""
    how = how or IlluminationLimits()
    if len(pictures) < 2:
        return [image for _, image in pictures]
    cells = [_cells(image, how.cells) for _, image in pictures]
    kinds = tuple(dict.fromkeys(s.kind for tile, _ in pictures for s in tile.segments))
    paints = [_paints(tile, how.cells, kinds) for tile, _ in pictures]
    middle = (np.arange(how.cells) + 0.5) / how.cells - 0.5
    y, x = (grid.ravel() for grid in np.meshgrid(middle, middle, indexing="ij"))
    gains, slopes = np.zeros((len(cells), 3)), np.zeros((len(cells), 2))
    for _ in range(how.rounds):
        plain = [c - g - (s[0] * x + s[1] * y)[:, None] for c, g, s in zip(cells, gains, slopes, strict=True)]
        paint = np.zeros((len(kinds), 3))
        for n in range(len(kinds)):
            of = [np.median(p[mask == n], axis=0) for p, mask in zip(plain, paints, strict=True) if (mask == n).any()]
            paint[n] = np.median(of, axis=0) if of else 0.0
        for k, (values, mask) in enumerate(zip(cells, paints, strict=True)):
            known = mask >= 0
            if known.sum() < 9:
                continue
            rest = values[known] - paint[mask[known]]
            gains[k] = np.clip(np.median(rest - (slopes[k, 0] * x + slopes[k, 1] * y)[known, None], axis=0),
                               -how.most_gain, how.most_gain)
            left = np.median(rest - gains[k], axis=1)
            for axis, along in ((0, x[known]), (1, y[known])):
                other = slopes[k, 1 - axis] * (y if axis == 0 else x)[known]
                slopes[k, axis] = np.clip((along * (left - other)).sum() / ((along**2).sum() + how.hold),
                                          -how.most_slope, how.most_slope)
        gains -= np.median(gains, axis=0)
    return [_lit(image, g, s) for (_, image), g, s in zip(pictures, gains, slopes, strict=True)]


def _cells(image: Image, cells: int) -> Array:
    """(cells * cells, 3) logarithms of the medians of the picture's cells."""
    side = image.shape[0] // cells * cells
    parts = image[:side, :side].reshape(cells, side // cells, cells, side // cells, 3)
    middles = np.median(parts.transpose(0, 2, 1, 3, 4).reshape(cells * cells, -1, 3), axis=1)
    found: Array = np.log(np.maximum(middles, 4.0))
    return found


def _paints(tile: Tile, cells: int, kinds: Sequence[str]) -> npt.NDArray[np.int_]:
    """(cells²,) index of the kind whose colour dominates each cell; -1 where none does."""
    fine = 8
    share = np.zeros((len(kinds), cells * cells))
    for segment, mask in zip(tile.segments, segment_masks(tile, cells * fine), strict=True):
        share[kinds.index(segment.kind)] += mask.reshape(cells, fine, cells, fine).mean(axis=(1, 3)).ravel()
    found: npt.NDArray[np.int_] = np.where(share.max(axis=0) > 0.7, share.argmax(axis=0), -1)
    return found


def _lit(image: Image, gain: Array, slope: Array) -> Image:
    along = (np.arange(image.shape[0]) + 0.5) / image.shape[0] - 0.5
    light = np.exp(-(slope[0] * along[None, :] + slope[1] * along[:, None]))[:, :, None] * np.exp(-gain)
    out: Image = np.clip(image * light, 0, 255).astype(np.uint8)
    return out
