"""Background model: colours and texture of the bare table, learned from squares on which nothing lies.

A square is looked at in `CELLS` x `CELLS` cells, each with its mean colour (L, a, b) and the contrast around it: the
standard deviation of the colour within a cell, of which the median over 3 x 3 cells is taken, as lines do not count.
A printed tile of the table's colours has a contrast that wood and cloth have at joints and seams alone. Shadows change
colours, but along a line: brightness and chromaticity distortion are told apart (Horprasert, Harwood, Davis 1999).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

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
BLACK = np.array((-16.0, 0.0, 0.0), np.float32)  # L, a, b from which colours scale with the cube root of their light
Levels = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextureLimits:
    """Of squares in the table's colour, in any light, by whose texture print is told from the bare table. Chosen on two
    simulated green tables at hard."""

    darkest: float = 0.6  # cube root of the light in a shadow, relative to the rest of the table's: a fifth of it
    brightest: float = 1.15  # and half more under a lamp
    edge: int = 2  # cells along the sides of a square that are left out: tiles around a gap reach into them
    whole: float = 0.6  # share of a square in the table's colour from which it may be bare (`AstrayLimits.bare`)
    inner: float = 0.75  # share of its inner cells in that colour from which its texture tells: an edge may reach in
    part: float = 0.25  # share of the inner cells in that colour from which their texture is known
    spread: float = 0.4  # least standard deviation of the logarithm: light and focus vary a contrast by half (chosen)
    none: float = 0.05  # Lab: contrast of a surface without texture, far below any camera's noise


TEXTURE = TextureLimits()


def appearance(bgr: Image, poses: Mapping[Square, Array]) -> dict[Square, Levels]:
    """(CELLS, CELLS, 4) Lab colour and contrast of the cells of each square."""
    return {at: _cells(rectify(bgr, pose, CELLS * CELL_PX)) for at, pose in poses.items()}


def _cells(square: Image) -> Levels:
    lab = cv2.cvtColor(square.astype(np.float32) / 255, cv2.COLOR_BGR2Lab)
    cells = lab.reshape(CELLS, CELL_PX, CELLS, CELL_PX, 3)
    contrast = np.sqrt((cells.var(axis=(1, 3)) * WEIGHTS**2).sum(axis=-1)).astype(np.float32)
    return np.concatenate([cells.mean(axis=(1, 3)), cv2.medianBlur(contrast, 3)[..., None]], axis=-1)


def colour_distance(one: Levels, other: Levels) -> npt.NDArray[np.float64]:
    """(CELLS, CELLS) distances between the colours of cells."""
    return np.asarray(np.linalg.norm((one - other)[..., :3] * WEIGHTS, axis=-1), float)


def alike(cells: Levels, table: Levels, lab: float) -> float:
    """The share of a square's cells that look like ``table`` (CELLS, CELLS, 4) or (4,): within ``lab`` of its colour
    and without more texture than there is around it, since patterns move with the cloth."""
    rough = table[..., 3] if table.ndim == 1 else cv2.dilate(np.asarray(table[..., 3], np.float32), np.ones((3, 3)))
    return float(((colour_distance(cells, table) < lab) & (cells[..., 3] < rough + TEXTURED)).mean())


def background_model(bare: Levels, a: Attention) -> Callable[[Levels], bool]:
    """A predicate that tells whether a square (8, 8, 4) looks like the bare ones (N, 8, 8, 4): a Gaussian in colour
    and contrast, within ``a.table_sigma`` for more than the share ``a.bare_part`` of its cells."""
    cells = bare.reshape(-1, bare.shape[-1]).astype(float)
    mean, spread = cells.mean(axis=0), np.cov(cells.T) + np.diag([4.0, 1.0, 1.0, 1.0])
    inverse = np.linalg.inv(spread)

    def like(now: Levels) -> bool:
        off = now.reshape(-1, len(mean)) - mean
        far = np.sqrt(np.einsum("ni,ij,nj->n", off, inverse, off))
        return float((far < a.table_sigma).mean()) > a.bare_part

    return like


class Texture(NamedTuple):
    """Of a square: the ``share`` of its cells, and that of its inner ones, that have the table's colour in some light,
    and the logarithm of the median contrast of those inner ones, relative to their brightness."""

    share: float
    inner_share: float
    log_contrast: float


def texture(cells: Levels, table: Levels, lab: float) -> Texture:
    """The texture of a square (CELLS, CELLS, 4) where it has the colour of ``table`` (4,), to ``lab``."""
    colours, line = (cells[..., :3] - BLACK) * WEIGHTS, (table[:3] - BLACK) * WEIGHTS
    brightness = np.asarray(colours @ line / (line @ line), float)
    chromatic = np.linalg.norm(colours - brightness[..., None] * line, axis=-1)
    ours = (brightness > TEXTURE.darkest) & (brightness < TEXTURE.brightest) & (chromatic < lab)
    middle = slice(TEXTURE.edge, CELLS - TEXTURE.edge)
    inner = ours[middle, middle]
    contrast = cells[middle, middle, 3][inner] / brightness[middle, middle][inner]
    median = float(np.median(contrast)) if inner.any() else np.nan
    return Texture(share=float(ours.mean()), inner_share=float(inner.mean()),
                   log_contrast=np.log(median + TEXTURE.none))


def log_density(value: float, samples: Sequence[float]) -> float:
    """Of a Gaussian with the samples' median and median absolute deviation, but for a constant."""
    middle = np.median(samples)
    spread = np.hypot(1.48 * np.median(np.abs(np.array(samples) - middle)), TEXTURE.spread)
    return float(-0.5 * ((value - middle) / spread) ** 2 - np.log(spread))


@dataclass(slots=True)
class BareTable:
    """The appearance (8, 8, 4) of ``squares`` when they were last seen bare, and the texture of ``prints``: of tiles,
    where they have the table's colour (logarithms of contrast)."""

    squares: dict[Square, Levels] = field(default_factory=dict)
    prints: dict[Square, float] = field(default_factory=dict)
    _table: Levels | None = None  # what the squares have in common, until they change
    _contrasts: Sequence[float] | None = None  # and their texture

    def texture_odds(self, at: Square, cells: Levels, a: Attention) -> float:
        """Log-odds, at most 0, of a tile on a square in the table's colour, from its texture: how likely it is for the
        other tiles' print of that colour and for the bare table. 0 while too few of either are known."""
        prints = [log_contrast for other, log_contrast in self.prints.items() if other != at]
        if min(len(prints), len(self.squares)) < a.table_least:
            return 0.0
        here = texture(cells, self.table(), a.bare_lab)
        if here.share < TEXTURE.whole or here.inner_share < TEXTURE.inner:
            return 0.0
        bare = self._bare_contrasts(a)
        if len(bare) < a.table_least:
            return 0.0
        return min(0.0, log_density(here.log_contrast, prints) - log_density(here.log_contrast, bare))

    def is_bare(self, at: Square, cells: Levels, a: Attention, *, was: bool, share: float) -> bool:
        """Whether a place near a square, with this appearance, is bare table: at least this ``share`` of it is, or,
        where a tile ``was`` that may look like the table, by its texture."""
        if was:
            return self.texture_odds(at, cells, a) < -a.lies
        return alike(cells, self.table(), a.hidden_lab) >= share

    def square_part(self, at: Square, cells: Levels, a: Attention) -> float:
        """Fraction of a square that looks as it did when it was bare, or like the table, whichever is more."""
        table = self.table()
        return max(alike(cells, known, a.hidden_lab) for known in (table, self.squares.get(at, table)))

    def light(self, now: Mapping[Square, Levels]) -> Levels:
        """(4,) change of light since then: the median over these squares, which look so ``now``."""
        each = [np.median(cells - self.squares[at], axis=(0, 1)) for at, cells in now.items()]
        return np.asarray(np.median(each, axis=0), np.float32)

    def part(self, at: Square, cells: Levels, light: Levels, a: Attention, *, was: bool) -> float:
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
            self._table = self._contrasts = None
        return part

    def table(self) -> Levels:
        """(4,) the appearance that all of these squares have in common. There must be one."""
        if self._table is None:
            self._table = np.asarray(np.median(np.array([*self.squares.values()]), axis=(0, 1, 2)), np.float32)
        return self._table

    def _bare_contrasts(self, a: Attention) -> Sequence[float]:
        """The texture of the bare squares, as far as they have the colour of all of them (logarithms)."""
        if self._contrasts is None:
            looks = [texture(square, self.table(), a.bare_lab) for square in self.squares.values()]
            self._contrasts = [look.log_contrast for look in looks if look.inner_share >= TEXTURE.part]
        return self._contrasts

    def shown(self, places: Mapping[Square, Levels], a: Attention) -> float:
        """Fraction of these places, anywhere in the picture, that looks like the table; 0 if that is unknown."""
        if not self.squares:
            return 0.0
        return float(np.mean([alike(cells, self.table(), a.hidden_lab) for cells in places.values()]))

    def keep(self, squares: Container[Square], tiles: Mapping[Square, Levels], a: Attention) -> None:
        """Learn the print of these tiles, and forget all squares but these."""
        if self.squares:
            table = self.table()
            looks = {at: texture(cells, table, a.bare_lab) for at, cells in tiles.items()}
            self.prints |= {at: look.log_contrast for at, look in looks.items() if look.inner_share >= TEXTURE.part}
        if any(at not in squares for at in self.squares):
            self.squares = {at: cells for at, cells in self.squares.items() if at in squares}
            self._table = self._contrasts = None
        self.prints = {at: log_contrast for at, log_contrast in self.prints.items() if at in squares}


def bare_evidence(evidence: Mapping[Square, TileEvidence], levels: Mapping[Square, Levels], table: BareTable,
                  a: Attention) -> frozenset[Square]:
    """Applies the background model to the evidence of tiles, given the appearance (8, 8, 4) of their squares now
    (``levels``): what has the table's colour, but not the texture of print, has no tile, nor has a square that looks as
    it did when it was bare, or only like the table. Its colours are not used if it looks like the tiles. Returns the
    squares that look bare."""
    out = set()
    for at, e in evidence.items():
        if e.there > a.there and (odds := table.texture_odds(at, levels[at], a)):
            e.there += max(odds, a.bare_odds)
            if e.there <= a.there:
                out.add(at)
    like = background_model(np.array([*table.squares.values()]), a) if len(table.squares) >= a.table_least else None
    lying = [levels[at] for at, e in evidence.items() if e.there > a.lies]
    if like is not None and sum(like(now) for now in lying) > a.table_tiles * len(lying):
        like = None
    for at, e in evidence.items():
        own = table.squares.get(at)
        if own is not None and alike(levels[at], own, a.bare_lab) > a.bare_part:
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
