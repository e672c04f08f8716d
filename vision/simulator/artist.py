"""The print of the simulated tiles, and the masks of their segments."""

from __future__ import annotations

import zlib
from functools import cache

import cv2
import numpy as np

from scoring.tiles import catalogue, segment_index
from vision.artwork import draw_tile, segment_masks
from vision.frames import Image, SourceError
from vision.simulator.options import Options
from vision.simulator.script import Laid, Square
from vision.tileset import TileSetError, load_tileset

ART_PX = 160


class Artist:
    """Pictures of tiles as they lie, drawn on first use."""

    def __init__(self, options: Options, seed: int) -> None:
        self._options, self._rng = options, np.random.default_rng([seed, 77])
        self._taught: dict[str, list[Image]] = {}
        self._choice: dict[Square, Image] = {}
        if options.tiles is not None:
            try:
                for tile, image in load_tileset(options.tiles).images:
                    small = cv2.resize(image, (ART_PX, ART_PX), interpolation=cv2.INTER_AREA)
                    self._taught.setdefault(tile, []).append(np.asarray(small, np.uint8))
            except TileSetError as error:
                raise SourceError(str(error)) from None

    def art(self, laid: Laid) -> Image:
        if laid.at not in self._choice:
            prints = self._taught.get(laid.tile, [])
            pick = int(np.random.default_rng([zlib.crc32(laid.tile.encode()), laid.at[0] + 99, laid.at[1] + 99])
                       .integers(1 << 30))
            upright = (prints[pick % len(prints)] if prints
                       else _drawn(laid.tile, pick % self._options.conditions.variants))
            self._choice[laid.at] = np.ascontiguousarray(np.rot90(upright, -(laid.rot % 4)))
        return self._choice[laid.at]


@cache
def _drawn(tile: str, variant: int) -> Image:
    return draw_tile(catalogue()[tile], ART_PX, variant=variant)


@cache
def _masks(tile: str) -> list[np.ndarray]:
    """Per segment the area where people put a figure: the segment, eroded at its border if it is wide enough."""
    result = []
    for mask in segment_masks(catalogue()[tile], 90):  # 2 px per mm
        inside = cv2.distanceTransform(np.pad(mask.astype(np.uint8), 1), cv2.DIST_L2, 5)[1:-1, 1:-1]
        result.append(mask & (inside >= min(0.4 * float(inside.max()), 8.0)))
    return result


def mask_of(tile: str, feature: str, where: str, rot: int) -> np.ndarray | None:
    index = segment_index(catalogue()[tile], rot, feature, where)
    return None if index is None else _masks(tile)[index]
