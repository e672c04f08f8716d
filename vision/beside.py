"""Figures that lie on the table beside the board: what players have in hand, and what they hold of others.

No network reads them: they lie on the table, whose colour around them is known, so they are segmented by how they
differ from it and by their paint. What lies on something else (a score track, paper) or is part of something larger is
none of them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.frames import Image
from vision.lattice import UNIT, Array, apply, rectify
from vision.looks import BesideLook
from vision.paint import PAINTS, SEEN, colours_of, light_of, paint_uvl, shown, uvl_of

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class BesideLimits:
    """Lengths in tiles, areas in tiles², colours in Lab units; chosen on simulated tables."""

    tile_px: int = 32  # of the reduced picture: a follower is 11 px wide
    around: float = 2.0  # window of the median that is the table's colour: a heap of figures covers a third of it
    chroma: float = 12.0  # from the table's colour, above which something lies there
    light: float = 20.0  # the same of lightness: a shadow is less
    border: float = 0.4  # around the board, where no figure beside it is told from one that leans over its edge
    least: float = 0.05  # area of a figure of which others hide a part
    one: float = 0.125  # area of a follower, which lies or stands (simulated: 0.11 to 0.15)
    most: float = 0.9  # area above which figures that touch are not counted
    paint: float = 14.0  # squared distance from a paint, in standard deviations, within which it may be that paint
    whole: float = 0.15  # area that is no figure, above which a thing that lies there is something else: a hand, a mug
    same: float = 0.4  # distance within which a figure is the one that was there before
    foot: float = 0.2  # radius of the place that a figure covers
    bare: float = 0.7  # part of that place that must be table for the figure to have gone
    light_tiles: int = 12  # by which the light is measured


LIMITS = BesideLimits()


class BesideSense:
    """Finds them in one look after the other. What is hidden now and lay there before still lies there."""

    def __init__(self, colours: Sequence[str], paints: Mapping[str, tuple[int, int, int]] | None = None) -> None:
        """``colours`` are the players', ``paints`` sRGB as this camera sees them."""
        self._colours, self._paints = tuple(colours), dict(paints or {})
        self._lay: list[BesideLook] = []

    def look(self, bgr: Image, poses: Collection[Array], restless: Mask) -> tuple[BesideLook, ...]:
        """The figures beside the tiles of these ``poses`` (3, 3). ``restless`` is where something moved lately, in any
        size of the whole picture."""
        corners = [apply(pose, UNIT) for pose in poses]
        side = float(np.median([np.linalg.norm(c - np.roll(c, 1, axis=0), axis=1).mean() for c in corners]))
        small = _resized(bgr, LIMITS.tile_px / side)
        board = _covered(small.shape, [c * LIMITS.tile_px / side for c in corners])
        table = _table(small, board)
        other = _differs(small, table)
        moves = cv2.resize(restless.astype(np.uint8), small.shape[1::-1], interpolation=cv2.INTER_NEAREST) > 0
        free = ~board & ~moves
        light = light_of([rectify(bgr, pose, LIMITS.tile_px) for pose in list(poses)[:LIMITS.light_tiles]])
        found = self._told(small, _whole(self._segments(small, other & free, light), other | moves), light)
        hidden = [b for b in self._lay if not any(_same(b, f) for f in found) and not _bare(b, other | moves, board)]
        self._lay = [*found, *hidden]
        return tuple(self._lay)

    def _segments(self, small: Image, other: Mask, light: Array) -> list[_Segment]:
        """Connected pixels of one paint each."""
        at = np.nonzero(other)
        uvl = uvl_of(small[at], light)
        apart = np.stack([(((uvl - mean) / spread) ** 2).sum(axis=1) for mean, spread in self._means(light)], axis=1)
        nearest = np.full(other.shape, -1, np.int8)
        nearest[at] = np.where(apart.min(axis=1) < 2 * LIMITS.paint, apart.argmin(axis=1), -1)
        far = np.full(other.shape, np.inf)
        far[at] = apart.min(axis=1)
        out = []
        for paint in range(len(self._colours)):
            solid = cv2.morphologyEx((nearest == paint).astype(np.uint8), cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
            count, labels, stats, middles = cv2.connectedComponentsWithStats(solid, connectivity=4)
            for n in range(1, count):
                area = stats[n, cv2.CC_STAT_AREA] / LIMITS.tile_px**2
                if LIMITS.least <= area <= LIMITS.most and far[labels == n].mean() < LIMITS.paint:
                    x, y = middles[n] / LIMITS.tile_px
                    out.append(_Segment(mask=labels == n, at=(float(x), float(y)), area=float(area)))
        return out

    def _means(self, light: Array) -> list[tuple[Array, Array]]:
        """By colour the (u, v, l) of its paint and its spread."""
        out = []
        for colour in self._colours:
            if colour in self._paints:
                rgb = np.array(self._paints[colour][::-1], np.uint8)
                out.append((uvl_of(rgb, light), SEEN))
            else:
                out.append((paint_uvl(PAINTS[colour]), np.hypot(PAINTS[colour].spread, SEEN)))
        return out

    def _told(self, small: Image, segments: Sequence[_Segment], light: Array) -> list[BesideLook]:
        named = colours_of([shown(small[s.mask], light) for s in segments], light, self._colours, self._paints)
        return [BesideLook(at=s.at, count=max(1, round(s.area / LIMITS.one)), colours=colours)
                for s, colours in zip(segments, named, strict=True)]


def around(at: tuple[float, float], side: float) -> Array:
    """(3, 3) the pose of a square of a tile's ``side`` in px around a place (`BesideLook.at`)."""
    return np.array([[side, 0.0, (at[0] - 0.5) * side], [0.0, side, (at[1] - 0.5) * side], [0.0, 0.0, 1.0]])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Segment:
    """Pixels (H, W) of one paint, their middle and their area."""

    mask: Mask
    at: tuple[float, float]
    area: float


def _resized(bgr: Image, scale: float) -> Image:
    shrinks = scale < 1.0
    return np.asarray(cv2.resize(bgr, None, fx=scale, fy=scale,
                                 interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR), np.uint8)


def _covered(shape: Sequence[int], tiles: Sequence[Array]) -> Mask:
    """(H, W) where tiles lie, corners (4, 2) in px, or their border is."""
    out = np.zeros(shape[:2], np.uint8)
    for corners in tiles:
        cv2.fillConvexPoly(out, corners.round().astype(np.int32), 1)
    reach = 2 * round(LIMITS.border * LIMITS.tile_px) + 1
    return cv2.dilate(out, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (reach, reach))) > 0


def _table(small: Image, board: Mask) -> Image:
    """The colour of the table around each pixel."""
    bare = small.copy()
    bare[board] = np.median(small[~board], axis=0) if (~board).any() else 0
    half = cv2.resize(bare, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    window = round(LIMITS.around * LIMITS.tile_px / 2) | 1
    return np.asarray(cv2.resize(cv2.medianBlur(half, window), small.shape[1::-1]), np.uint8)


def _differs(small: Image, table: Image) -> Mask:
    """(H, W) where something other than the table is seen: what differs from its surroundings, and surroundings of
    another colour than most."""
    now, around = (cv2.cvtColor(v.astype(np.float32) / 255, cv2.COLOR_BGR2Lab) for v in (small, table))
    off, strange = now - around, around - np.median(around[::4, ::4], axis=(0, 1))
    return np.asarray((_chroma(off) > LIMITS.chroma) | (np.abs(off[..., 0]) > LIMITS.light)
                      | (_chroma(strange) > LIMITS.chroma))


def _chroma(lab: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return np.hypot(lab[..., 1], lab[..., 2])


def _whole(segments: Sequence[_Segment], other: Mask) -> list[_Segment]:
    """Those that are no part of a larger thing."""
    figures = np.zeros(other.shape, bool)
    for s in segments:
        figures |= s.mask
    count, things = cv2.connectedComponents(other.astype(np.uint8), connectivity=8)
    own = cv2.dilate(figures.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    rest = np.bincount(things[other & ~own], minlength=count) / LIMITS.tile_px**2
    return [s for s in segments if rest[things[s.mask][0]] < LIMITS.whole]


def _same(one: BesideLook, other: BesideLook) -> bool:
    return one.colour == other.colour and math.dist(one.at, other.at) < LIMITS.same


def _bare(lay: BesideLook, other: Mask, board: Mask) -> bool:
    """Whether the table is seen where a figure lay, or tiles lie there now."""
    place = np.zeros(other.shape, np.uint8)
    x, y = (round(v * LIMITS.tile_px) for v in lay.at)
    cv2.circle(place, (x, y), round(LIMITS.foot * LIMITS.tile_px), 1, -1)
    inside = place > 0
    return not inside.any() or bool(board[inside].mean() > 0.5 or 1.0 - other[inside].mean() > LIMITS.bare)
