"""Background model: colours and texture of the bare table, learned from squares on which nothing lies.

A square is looked at in `CELLS` x `CELLS` cells, each with its mean colour (L, a, b) and the contrast around it: the
standard deviation of the colour within a cell, of which the median over 3 x 3 cells is taken, as lines do not count.
A printed tile of the table's colours has a contrast that wood and cloth have at joints and seams alone.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np
import numpy.typing as npt

from scoring.tiles import Square
from vision.attention import Attention
from vision.frames import Image
from vision.lattice import Array, rectify
from vision.senses import TileEvidence

CELLS, CELL_PX = 8, 4  # cells a side of a square, and pixels a side of a cell that its contrast is taken from
WEIGHTS = np.array((0.5, 1.0, 1.0), np.float32)  # of L, a and b in a distance: light changes
TEXTURED = 2.5  # Lab: contrast above the table's from which a cell is print (chosen on one simulated table at hard)


def appearance(bgr: Image, poses: Mapping[Square, Array]) -> dict[Square, npt.NDArray[np.float32]]:
    """(CELLS, CELLS, 4) Lab colour and contrast of the cells of each square."""
    return {at: _cells(rectify(bgr, pose, CELLS * CELL_PX)) for at, pose in poses.items()}


def _cells(square: Image) -> npt.NDArray[np.float32]:
    lab = cv2.cvtColor(square.astype(np.float32) / 255, cv2.COLOR_BGR2Lab)
    cells = lab.reshape(CELLS, CELL_PX, CELLS, CELL_PX, 3)
    contrast = np.sqrt((cells.var(axis=(1, 3)) * WEIGHTS**2).sum(axis=-1)).astype(np.float32)
    return np.concatenate([cells.mean(axis=(1, 3)), cv2.medianBlur(contrast, 3)[..., None]], axis=-1)


def colour_distance(one: npt.NDArray[np.float32], other: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """(CELLS, CELLS) distances between the colours of cells."""
    return np.asarray(np.linalg.norm((one - other)[..., :3] * WEIGHTS, axis=-1), float)


def alike(cells: npt.NDArray[np.float32], table: npt.NDArray[np.float32], lab: float) -> float:
    """The share of a square's cells that look like ``table`` (CELLS, CELLS, 4) or (4,): within ``lab`` of its colour
    and without more texture than there is around it, since patterns move with the cloth."""
    rough = table[..., 3] if table.ndim == 1 else cv2.dilate(np.asarray(table[..., 3], np.float32), np.ones((3, 3)))
    return float(((colour_distance(cells, table) < lab) & (cells[..., 3] < rough + TEXTURED)).mean())


def background_model(bare: npt.NDArray[np.float32], a: Attention) -> Callable[[npt.NDArray[np.float32]], bool]:
    """A predicate that tells whether a square (8, 8, 4) looks like the bare ones (N, 8, 8, 4): a Gaussian in colour
    and contrast, within ``a.table_sigma`` for more than the share ``a.bare_part`` of its cells."""
    cells = bare.reshape(-1, bare.shape[-1]).astype(float)
    mean, spread = cells.mean(axis=0), np.cov(cells.T) + np.diag([4.0, 1.0, 1.0, 1.0])
    inverse = np.linalg.inv(spread)

    def like(now: npt.NDArray[np.float32]) -> bool:
        off = now.reshape(-1, len(mean)) - mean
        far = np.sqrt(np.einsum("ni,ij,nj->n", off, inverse, off))
        return float((far < a.table_sigma).mean()) > a.bare_part

    return like


def bare_evidence(evidence: Mapping[Square, TileEvidence], levels: Mapping[Square, npt.NDArray[np.float32]],
                  bare: Mapping[Square, npt.NDArray[np.float32]], a: Attention) -> frozenset[Square]:
    """Applies the background model to the evidence of tiles, given the appearance (8, 8, 4) of their squares now
    (``levels``) and when ``bare``: a square that looks as it did then, or only like the table, has no tile. Not used if
    the table looks like the tiles. Returns the squares that look bare."""
    like = background_model(np.array([*bare.values()]), a) if len(bare) >= a.table_least else None
    lying = [levels[at] for at, e in evidence.items() if e.there > a.lies]
    if like is not None and sum(like(now) for now in lying) > a.table_tiles * len(lying):
        like = None
    out = set()
    for at, e in evidence.items():
        own = bare.get(at)
        if own is not None and alike(levels[at], own, a.bare_lab) > a.bare_part:
            e.there += a.bare_odds
            out.add(at)
        elif like is not None and e.there < a.plainly and like(levels[at]):
            e.there += a.table_odds
            out.add(at)
    return frozenset(out)


@dataclass(slots=True)
class BareTable:
    """The appearance (8, 8, 4) of ``squares`` when they were last seen bare."""

    squares: dict[Square, npt.NDArray[np.float32]] = field(default_factory=dict)

    def light(self, now: Mapping[Square, npt.NDArray[np.float32]]) -> npt.NDArray[np.float32]:
        """(4,) change of light since then: the median over these squares, which look so ``now``."""
        each = [np.median(cells - self.squares[at], axis=(0, 1)) for at, cells in now.items()]
        return np.asarray(np.median(each, axis=0), np.float32)

    def part(self, at: Square, cells: npt.NDArray[np.float32], light: npt.NDArray[np.float32], a: Attention, *,
             was: bool) -> float:
        """Fraction of a square without a visible tile (a tile ``was`` there) that is bare table: an arm over it
        occludes it. A square not seen bare yet is compared with the others."""
        table = self.squares.get(at)
        if table is None:
            if len(self.squares) >= (1 if was else a.table_least):
                table = self.table()
            elif was:
                return 0.0
            else:
                table = cells - light
        part = alike(cells, table + light, a.hidden_lab)
        if part > a.bare_kept:
            self.squares[at] = cells  # adapt to slow or sudden changes of light
        return part

    def table(self) -> npt.NDArray[np.float32]:
        """(4,) the appearance that all of these squares have in common. There must be one."""
        return np.asarray(np.median(np.array([*self.squares.values()]), axis=(0, 1, 2)), np.float32)

    def shown(self, places: Mapping[Square, npt.NDArray[np.float32]], a: Attention) -> float:
        """Fraction of these places, anywhere in the picture, that looks like the table; 0 if that is unknown."""
        if not self.squares:
            return 0.0
        return float(np.mean([alike(cells, self.table(), a.hidden_lab) for cells in places.values()]))

    def keep(self, squares: Container[Square]) -> None:
        """Forget all other squares."""
        self.squares = {at: cells for at, cells in self.squares.items() if at in squares}


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
