"""Figures that lie on the table beside the board: what players have in hand, and what they hold of others.

No network reads them: they lie on the table, whose colour around them is known, so they are segmented by how they
differ from it and by their paint. What lies on something else (a score track, paper) or is part of something larger is
none of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.frames import Image
from vision.lattice import UNIT, Array, Lattice, apply, rectify
from vision.looks import BesideLook
from vision.paint import PAINTS, SEEN, colours_of, light_of, paints_uvl, shown, uvl_of

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class BesideLimits:
    """Lengths in sides of a tile, areas in tiles, colours in Lab units; chosen on simulated tables."""

    every_s: float = 2.5  # seconds from one look at the whole table to the next
    side_px: float = 24.0  # a tile's side in the reduced picture: a follower is 8 px wide
    around: float = 2.0  # window of the median that is the table's colour: a heap covers less than half
    chroma: float = 12.0  # from the table's colour, above which something lies there
    light: float = 20.0  # the same of lightness: a shadow is less
    border: float = 0.4  # around the board, where no figure beside it is told from one that leans over its edge
    least: float = 0.05  # area of a figure of which others hide a part
    one: float = 0.125  # area of a follower, whether it lies or stands
    most: float = 0.6  # area above which touching figures are not counted: a sleeve, a card
    cut: float = 0.2  # the same at the picture's edge, which an arm comes over
    paint: float = 14.0  # squared distance from a paint, in standard deviations, within which it may be that paint
    whole: float = 0.15  # area that is no figure, above which a thing that lies there is something else: a hand, a mug
    same: float = 0.4  # distance within which a figure is the one that was there before
    foot: float = 0.2  # radius of the place that a figure covers
    bare: float = 0.7  # part of that place that must be seen and be no figure's any more, for the figure to have gone
    light_tiles: int = 12  # number of tiles by which the light is measured
    rescaled: float = 0.1  # relative change of a tile's side from which the camera has moved: places are new then


LIMITS = BesideLimits()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Segment:
    """Pixels of one paint, ``mask`` within the rows and columns ``box`` of the reduced picture, their middle (x, y) in
    sides of a tile and their area."""

    box: tuple[slice, slice]
    mask: Mask
    at: tuple[float, float]
    area: float


class BesideSense:
    """Finds them in one look after the other. What is hidden now and lay there before still lies there."""

    def __init__(self, colours: Sequence[str], paints: Mapping[str, tuple[int, int, int]] | None = None) -> None:
        """``colours`` are the players', ``paints`` sRGB as this camera sees them."""
        self._colours, self._paints = tuple(colours), dict(paints or {})
        self._lay: list[BesideLook] = []
        self.side = 0.0  # of a tile, px: the unit of places
        self._looked_s = -math.inf

    def look(self, bgr: Image, board: Lattice, restless: Mask, now_s: float) -> tuple[BesideLook, ...] | None:
        """The figures beside a board. ``restless`` is where something moved lately, in any size of the whole picture.
        None if the last look was just before, if there are no tiles, or if no paint is known."""
        if not board.shifts or not self._colours or now_s - self._looked_s < LIMITS.every_s:
            return None
        self._looked_s, side = now_s, board.usual_side_px()
        poses = [board.pose(at, shift) for at, shift in board.shifts.items()]
        if abs(side - self.side) > LIMITS.rescaled * self.side:
            self.side, self._lay = side, []
        scale = min(1.0, LIMITS.side_px / self.side)
        unit = scale * self.side
        small = bgr if scale == 1.0 else np.asarray(
            cv2.resize(bgr, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8)
        tiles = _covered(small.shape, [apply(pose, UNIT) * scale for pose in poses], unit)
        other = _differs(small, _table(small, tiles, unit))
        moves = cv2.resize(restless.astype(np.uint8), small.shape[1::-1], interpolation=cv2.INTER_NEAREST) > 0
        light = light_of([rectify(bgr, pose, LIMITS.side_px) for pose in poses[:LIMITS.light_tiles]])
        segments = _isolated(self._segments(small, other & ~tiles & ~moves, light, unit), other | moves, unit)
        found = self._told(small, segments, light)
        covered = (other & ~_figures(segments, other.shape)) | moves
        hidden = [b for b in self._lay if not any(_same(b, f) for f in found)
                  and not _gone(b, covered, tiles, unit)]
        self._lay = [*found, *hidden]
        return tuple(self._lay)

    def around(self, at: tuple[float, float]) -> Array:
        """(3, 3) the pose of a square of a tile's size around a place (`BesideLook.at`)."""
        corner = np.array(at) - 0.5
        return np.array([[1.0, 0.0, corner[0]], [0.0, 1.0, corner[1]], [0.0, 0.0, 1.0 / self.side]]) * self.side

    def _segments(self, small: Image, other: Mask, light: Array, unit: float) -> list[_Segment]:
        """Connected pixels of one paint each."""
        at = np.nonzero(other)
        uvl = uvl_of(small[at], light)
        spreads = [SEEN if c in self._paints else np.hypot(PAINTS[c].spread, SEEN) for c in self._colours]
        means = paints_uvl(self._colours, light, self._paints)
        apart = np.stack([(((uvl - mean) / spread) ** 2).sum(axis=1)
                          for mean, spread in zip(means, spreads, strict=True)], axis=1)
        nearest, far = np.full(other.shape, -1, np.int8), np.zeros(other.shape)
        far[at] = apart.min(axis=1)
        nearest[at] = np.where(far[at] < 2 * LIMITS.paint, apart.argmin(axis=1), -1)
        out = []
        for paint in range(len(self._colours)):
            solid = cv2.morphologyEx((nearest == paint).astype(np.uint8), cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
            count, labels, stats, middles = cv2.connectedComponentsWithStats(solid, connectivity=4)
            mean = np.bincount(labels.ravel(), far.ravel(), count) / stats[:, cv2.CC_STAT_AREA]
            for n in range(1, count):
                left, top, width, height, px = stats[n].tolist()
                cut = left == 0 or top == 0 or left + width == other.shape[1] or top + height == other.shape[0]
                area = px / unit**2
                if LIMITS.least <= area <= (LIMITS.cut if cut else LIMITS.most) and mean[n] < LIMITS.paint:
                    box = slice(top, top + height), slice(left, left + width)
                    x, y = middles[n] / unit
                    out.append(_Segment(box=box, mask=labels[box] == n, at=(float(x), float(y)), area=area))
        return out

    def _told(self, small: Image, segments: Sequence[_Segment], light: Array) -> list[BesideLook]:
        named = colours_of([shown(small[s.box][s.mask], light) for s in segments], light, self._colours, self._paints)
        return [BesideLook(at=s.at, count=max(1, round(s.area / LIMITS.one)), colours=colours)
                for s, colours in zip(segments, named, strict=True)]


def _covered(shape: Sequence[int], tiles: Sequence[Array], unit: float) -> Mask:
    """(H, W) where tiles lie, corners (4, 2) in px, or their border is."""
    out = np.zeros(shape[:2], np.uint8)
    for corners in tiles:
        cv2.fillConvexPoly(out, corners.round().astype(np.int32), 1)
    reach = 2 * round(LIMITS.border * unit) + 1
    return cv2.dilate(out, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (reach, reach))) > 0


def _table(small: Image, board: Mask, unit: float) -> Image:
    """The colour of the table around each pixel."""
    bare = small.copy()
    some = small[::4, ::4][~board[::4, ::4]]
    bare[board] = np.median(some, axis=0) if len(some) else 0
    half = cv2.resize(bare, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    window = round(LIMITS.around * unit / 2) | 1
    return np.asarray(cv2.resize(cv2.medianBlur(half, window), small.shape[1::-1]), np.uint8)


def _differs(small: Image, table: Image) -> Mask:
    """(H, W) where something other than the table is seen: what differs from its surroundings, and surroundings of
    another colour than most."""
    now, near = (cv2.cvtColor(v, cv2.COLOR_BGR2Lab).astype(np.int32) for v in (small, table))  # L in 255ths
    off, elsewhere = now - near, near - np.median(near[::4, ::4], axis=(0, 1)).astype(np.int32)
    return np.asarray((_chroma2(off) > LIMITS.chroma**2) | (np.abs(off[..., 0]) > LIMITS.light * 2.55)
                      | (_chroma2(elsewhere) > LIMITS.chroma**2))


def _chroma2(lab: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """(H, W) the square of the distance in a and b."""
    a, b = lab[..., 1], lab[..., 2]
    return a * a + b * b


def _isolated(segments: Sequence[_Segment], other: Mask, unit: float) -> list[_Segment]:
    """Those that are no part of a larger thing."""
    count, things = cv2.connectedComponents(other.astype(np.uint8), connectivity=8)
    rest = np.bincount(things[other & ~_figures(segments, other.shape)], minlength=count) / unit**2
    return [s for s in segments if rest[things[s.box][s.mask][0]] < LIMITS.whole]


def _figures(segments: Sequence[_Segment], shape: tuple[int, ...]) -> Mask:
    """(H, W) where they are, with their edges."""
    out = np.zeros(shape, np.uint8)
    for s in segments:
        out[s.box][s.mask] = 1
    return cv2.dilate(out, np.ones((3, 3), np.uint8)) > 0


def _same(one: BesideLook, other: BesideLook) -> bool:
    return one.colour == other.colour and math.dist(one.at, other.at) < LIMITS.same


def _gone(lay: BesideLook, covered: Mask, board: Mask, unit: float) -> bool:
    """Whether a figure would be seen where it lay: the table is seen there, or another figure, or tiles lie there."""
    x, y = (v * unit for v in lay.at)
    reach = LIMITS.foot * unit
    box = tuple(slice(max(0, math.floor(v - reach)), math.ceil(v + reach) + 1) for v in (y, x))
    rows, columns = np.ogrid[box[0], box[1]]
    place = covered[box]
    inside = np.hypot(rows[:place.shape[0]] - y, columns[:, :place.shape[1]] - x) <= reach
    return not inside.any() or bool(board[box][inside].mean() > 0.5 or 1.0 - place[inside].mean() > LIMITS.bare)
