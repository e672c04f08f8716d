"""Background model: the colours of the bare table, learned from squares on which nothing lies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import cv2
import numpy as np
import numpy.typing as npt

from scoring.tiles import Square
from vision.attention import Attention
from vision.frames import Image
from vision.lattice import Array, rectify
from vision.senses import TileEvidence


def colours_of(bgr: Image, poses: Mapping[Square, Array]) -> dict[Square, npt.NDArray[np.float32]]:
    """(8, 8, 3) Lab colours of each square."""
    squares = {at: rectify(bgr, pose, 8).astype(np.float32) / 255 for at, pose in poses.items()}
    return {at: np.asarray(cv2.cvtColor(square, cv2.COLOR_BGR2Lab), np.float32) for at, square in squares.items()}


def colour_distance(one: npt.NDArray[np.float32], other: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """(8, 8) distances between colours; lightness counts half."""
    return np.asarray(np.linalg.norm((one - other) * (0.5, 1.0, 1.0), axis=-1), float)


def background_model(bare: npt.NDArray[np.float32], a: Attention) -> Callable[[npt.NDArray[np.float32]], bool]:
    """A predicate that tells whether a square (8, 8, 3) looks like the bare ones (N, 8, 8, 3): a Gaussian in colour,
    within ``a.table_sigma`` for more than the share ``a.bare_part`` of its cells."""
    cells = bare.reshape(-1, 3).astype(float)
    mean, spread = cells.mean(axis=0), np.cov(cells.T) + np.diag([4.0, 1.0, 1.0])
    inverse = np.linalg.inv(spread)

    def like(colours: npt.NDArray[np.float32]) -> bool:
        off = colours.reshape(-1, 3) - mean
        far = np.sqrt(np.einsum("ni,ij,nj->n", off, inverse, off))
        return float((far < a.table_sigma).mean()) > a.bare_part

    return like


def bare_evidence(evidence: Mapping[Square, TileEvidence], levels: Mapping[Square, npt.NDArray[np.float32]],
                  bare: Mapping[Square, npt.NDArray[np.float32]], a: Attention) -> frozenset[Square]:
    """Applies the background model to the evidence of tiles, given the colours (8, 8, 3) of their squares now
    (``levels``) and when ``bare``: a square that looks as it did then, or has only the table's colours, has no tile.
    Not used if the table has the tiles' colours. Returns the squares that look bare."""
    like = background_model(np.array([*bare.values()]), a) if len(bare) >= a.table_least else None
    lying = [levels[at] for at, e in evidence.items() if e.there > a.lies]
    if like is not None and sum(like(colours) for colours in lying) > a.table_tiles * len(lying):
        like = None
    out = set()
    for at, e in evidence.items():
        own = bare.get(at)
        if own is not None and float((colour_distance(levels[at], own) < a.bare_lab).mean()) > a.bare_part:
            e.there += a.bare_odds
            out.add(at)
        elif like is not None and e.there < a.plainly and like(levels[at]):
            e.there += a.table_odds
            out.add(at)
    return frozenset(out)


def painted_over(bgr: Image, squares: Sequence[Array]) -> Image:
    """The picture with these squares, corners (4, 2) in px, painted over in the colour of their surroundings."""
    if not squares:
        return bgr
    out = bgr.copy()
    for corners in squares:
        middle = corners.mean(axis=0)
        ring = (middle + 1.5 * (corners - middle)).round().astype(int)
        x, y = np.clip(ring, 0, [bgr.shape[1] - 1, bgr.shape[0] - 1]).T
        around = np.median(bgr[y, x], axis=0)
        cv2.fillConvexPoly(out, (middle + 1.3 * (corners - middle)).round().astype(np.int32), around.tolist())
    return out
