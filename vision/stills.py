"""A picture of the whole table kept with a move, from which any part of the board can be shown from above later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import cv2
import numpy as np

from scoring.tiles import Square
from vision.frames import Image
from vision.images import encode_jpeg
from vision.lattice import UNIT, Array, apply, rectify

WIDEST_PX = 1600  # of a stored picture: a tile of a usual table is then 70 to 110 pixels wide
QUALITY = 82
LARGEST = 24  # tiles along one side of a requested part


@dataclass(frozen=True, slots=True, kw_only=True)
class Still:
    """``jpeg`` is the camera's picture; ``poses`` maps each square to its pose (3, 3), unit square to pixels of it."""

    jpeg: bytes
    poses: Mapping[Square, Array]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A rectangle of squares: its north-west square and its size."""

    x: int
    y: int
    width: int
    height: int


def keep(bgr: Image, poses: Mapping[Square, Array]) -> Still:
    """The picture as JPEG, downscaled if it is very wide, and the poses for it."""
    scale = min(1.0, WIDEST_PX / bgr.shape[1])
    if scale < 1.0:
        bgr = np.asarray(cv2.resize(bgr, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8)
    shrink = np.diag([scale, scale, 1.0])
    return Still(jpeg=encode_jpeg(bgr, QUALITY), poses={at: shrink @ pose for at, pose in poses.items()})


def from_above(still: Still, part: Part, tile_px: int = 120, margin: float = 0.0) -> Image | None:
    """The squares of a part as a rectified picture, ``tile_px`` per tile and ``margin`` tiles more on every side.

    Every tile is rectified by its own pose, so that drawings fit although tiles lie a little askew; the area between
    and around them follows the whole board. None when none of the part's tiles was seen.
    """
    if not 0 < part.width <= LARGEST or not 0 < part.height <= LARGEST:
        return None
    known = {at: pose for at, pose in still.poses.items()
             if part.x <= at[0] < part.x + part.width and part.y <= at[1] < part.y + part.height}
    bgr = cv2.imdecode(np.frombuffer(still.jpeg, np.uint8), cv2.IMREAD_COLOR)
    if not known or bgr is None:
        return None
    grid = _grid(still.poses)
    edge = round(margin * tile_px)
    width, height = part.width * tile_px + 2 * edge, part.height * tile_px + 2 * edge
    to_steps = np.array([[1 / tile_px, 0, part.x - edge / tile_px], [0, 1 / tile_px, part.y - edge / tile_px],
                         [0, 0, 1.0]])
    out = cv2.warpPerspective(bgr, grid @ to_steps, (width, height), borderMode=cv2.BORDER_CONSTANT,
                              flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP)
    for (x, y), pose in known.items():
        left, top = edge + (x - part.x) * tile_px, edge + (y - part.y) * tile_px
        out[top:top + tile_px, left:left + tile_px] = rectify(np.asarray(bgr, np.uint8), pose, tile_px)
    return np.asarray(out, np.uint8)


def _grid(poses: Mapping[Square, Array]) -> Array:
    """Tile steps to pixels for the whole board, from all its tiles."""
    steps = np.concatenate([UNIT + at for at in poses])
    pixels = np.concatenate([apply(pose, UNIT) for pose in poses.values()])
    grid, _ = cv2.findHomography(steps, pixels, 0)
    if grid is not None:
        return np.asarray(grid, np.float64)
    at, pose = next(iter(poses.items()))
    return np.asarray(pose @ np.array([[1, 0, -at[0]], [0, 1, -at[1]], [0, 0, 1.0]]), np.float64)
