"""The piece on a dial (the disc in the middle of a start board): a compact region of its paint and size.

The network of figures does not know such a disc, whose print is full of round, coloured things. The disc is rectified
as a whole instead, and every region of a paint that the piece is made in is compared with the piece's size and with the
print around it. What looked the same while nothing stood there is print.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

import cv2
import numpy as np
import numpy.typing as npt

from scoring.tiles import Square
from vision.figures import Seen
from vision.frames import Image
from vision.lattice import Array, Lattice, apply, rectify
from vision.looks import NeutralLook
from vision.neutral import TILE_MM, Kind
from vision.paint import PAINTS, Print, light_of, paint_uvl, uvl_of


@dataclass(frozen=True, slots=True, kw_only=True)
class DialLimits:
    """Lengths are in tiles, weights in nats. Chosen on simulated tables: no such wood was measured on a table."""

    px: int = 64  # of the rectified disc, per tile
    within: tuple[float, ...] = (1.0, 2.0, 3.5, 6.0, 9.0)  # squared distances from a paint, for regions
    spread: tuple[float, float, float] = (0.45, 0.45, 0.6)  # of pixels in (u, v, l): makers, lamps, shade
    rises: float = 0.3  # of its height: the mean part of a piece's side that is seen
    cut: float = 0.3  # deviation of the logarithm of its area
    least: tuple[float, float] = (0.35, 2.6)  # smallest and largest area, as a multiple of the usual one
    solid: float = 0.6  # least part of its rectangle that a piece covers
    long: float = 0.3  # deviation of the logarithm of its length
    paint: float = 0.75  # weight of paint against print: its pixels are not independent
    seldom: float = 1.0  # prior log-odds of a region: one piece stands somewhere there
    most: float = 8.0  # limit of one look's log-odds
    shown: float = -3.0  # least log-odds that are told
    same: float = 0.45  # mean distance in (u, v) below which a region looks as it did without the piece
    print_: float = 5.0  # by which the log-odds of such a region are lower
    foot: float = 0.12  # around a figure's foot, what is compared with the print
    wood_mm2: tuple[float, float] = (60.0, 700.0)  # least and largest area of a figure with the seen part of its side
    covers: float = 4.0  # for a figure whose foot is on a region of that size which does not look like print
    beside: float = 0.1  # around the piece, what its side and its shadow may cover
    on_it: float = 0.15  # part of that from which it is what covers it that looks like a figure: the piece, or wood
    adapts: float = 0.3  # share of a look by which the print is adapted to the light
    sure: float = 1.5  # log-odds and margin from which the rest of the disc is taken to be print
    apart: float = 0.45  # distance from the piece beyond which it is


LIMITS = DialLimits()
_SMALL = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (5, 5))  # regions narrower than that are noise


@dataclass(frozen=True, slots=True, kw_only=True)
class _Region:
    odds: float
    middle: tuple[float, float]  # px of the rectified disc
    mask: npt.NDArray[np.bool_]


def _nowhere() -> npt.NDArray[np.bool_]:
    return np.zeros((0, 0), np.bool_)


@dataclass(slots=True)
class DialPiece:
    """Finds the piece ``kind`` on the disc of this radius (tiles) in the middle of a start board. Keep it for a whole
    game: it learns the print."""

    kind: Kind
    reach: float
    _print: Array | None = None  # (S, S, 3) the (u, v, l) of the disc without anything on it
    _known: npt.NDArray[np.bool_] = field(default_factory=_nowhere)  # (S, S) where that is known
    _sure: npt.NDArray[np.bool_] = field(default_factory=_nowhere)  # (S, S) learned before a game had begun
    _uvl: Array = field(default_factory=lambda: np.zeros((0, 0, 3)))  # the disc of the last picture
    _found: list[_Region] = field(default_factory=list)
    _to: Array = field(default_factory=lambda: np.eye(3))  # from the unit square of the rectified disc to the board

    def see(self, bgr: Image, lattice: Lattice,
            figures: Mapping[Square, tuple[Seen, ...]]) -> dict[Square, tuple[Seen, ...]]:
        """Examine a picture, for `look`; returns the figures found on it without those on the board that are the disc's
        print, or its piece. That the print is covered speaks for the others."""
        xs, ys = zip(*lattice.board, strict=True)
        middle = (min(xs) + max(xs) + 1) / 2, (min(ys) + max(ys) + 1) / 2
        self._to = np.array([[2 * self.reach, 0, middle[0] - self.reach], [0, 2 * self.reach, middle[1] - self.reach],
                             [0, 0, 1.0]])
        size = round(2 * self.reach * LIMITS.px)
        grid = lattice.grid @ _shift(lattice)
        flat = rectify(bgr, grid @ self._to, size)
        side = max(xs) - min(xs) + 1
        light = light_of([rectify(bgr, grid @ np.array([[side, 0, min(xs)], [0, side, min(ys)], [0, 0, 1.0]]), size)])
        self._uvl = uvl_of(np.asarray(cv2.GaussianBlur(flat, (0, 0), 1.0), np.uint8), light)
        self._found = self._regions(flat, light)
        self._learn(begun=bool(lattice.shifts.keys() - lattice.board))
        if self._print is None:
            return dict(figures)
        far = _distance(self._uvl, self._print)
        covered = self._covered(far)
        return {at: tuple(seen for f in found if (seen := self._examined(at, f, far, covered)) is not None)
                if at in lattice.board else found for at, found in figures.items()}

    def look(self, squares: Collection[Square]) -> dict[Square, dict[str, NeutralLook]]:
        """Where the piece may stand on these ``squares`` of the board: by square the likeliest place there."""
        out: dict[Square, dict[str, NeutralLook]] = {}
        for region in self._found:
            x, y = apply(self._to, [(np.array(region.middle) + 0.5) / len(self._uvl)])[0]
            at = math.floor(x), math.floor(y)
            told = out.get(at, {}).get(self.kind.name)
            if at in squares and region.odds > LIMITS.shown and (told is None or told.there < region.odds):
                out[at] = {self.kind.name: NeutralLook(there=region.odds, foot=(float(x - at[0]), float(y - at[1])))}
        return out

    def _covered(self, far: Array) -> npt.NDArray[np.bool_]:
        """(S, S) where print is surely covered by something of a figure's size. Hands and shadows are larger. ``far``
        is how different the disc is from its print."""
        other = np.asarray(self._sure & (far > LIMITS.same))
        if self._found and self._found[0].odds > 0.0:
            away = cv2.distanceTransform((~self._found[0].mask).astype(np.uint8), cv2.DIST_L2, 3)
            other &= away > LIMITS.beside * LIMITS.px
        mask = cv2.morphologyEx(other.astype(np.uint8), cv2.MORPH_OPEN, _SMALL)
        _, labels, stats, _ = cv2.connectedComponentsWithStats(mask)
        least, largest = (mm2 * (LIMITS.px / TILE_MM) ** 2 for mm2 in LIMITS.wood_mm2)
        sizes = stats[:, cv2.CC_STAT_AREA]
        fits = (least < sizes) & (sizes < largest)
        fits[0] = False  # the background
        return np.asarray(fits[labels])

    def _examined(self, at: Square, figure: Seen, far: Array, covered: npt.NDArray[np.bool_]) -> Seen | None:
        """A figure with the evidence that the print is ``covered`` where its foot is; None if it is print, or the
        piece."""
        x, y = (apply(np.linalg.inv(self._to), [np.array(at) + figure.look.foot])[0] * len(self._uvl)).tolist()
        yy, xx = np.mgrid[0:len(self._uvl), 0:len(self._uvl)]
        near = np.hypot(xx - x, yy - y) < LIMITS.foot * LIMITS.px
        if not near.any():
            return figure
        best = self._found[0] if self._found else None
        if best is not None and best.odds > 0.0 and (near & best.mask).sum() > LIMITS.on_it * near.sum():
            return None
        known = near & self._known
        if known.sum() < 0.5 * near.sum():
            return None  # print that the piece has just uncovered, as far as anybody can tell
        if float(far[known].mean()) < LIMITS.same:
            return None
        if (near & covered).sum() <= LIMITS.on_it * near.sum():
            return figure
        return replace(figure, look=replace(figure.look, there=figure.look.there + LIMITS.covers))

    def _regions(self, flat: Image, light: Array) -> list[_Region]:
        """Compact regions of the piece's paints, the likeliest first; they do not overlap."""
        size = len(flat)
        uvl = self._uvl
        yy, xx = np.mgrid[0:size, 0:size]
        disc = np.hypot(xx - size / 2, yy - size / 2) < size / 2
        wide, high, deep = (v / TILE_MM * LIMITS.px for v in self.kind.wood_mm)
        usual = wide * (deep + LIMITS.rises * high)
        patches = cv2.resize(flat, (size // 6, size // 6), interpolation=cv2.INTER_AREA)
        inside = cv2.resize(disc.astype(np.uint8), (size // 6, size // 6)) > 0
        found: list[_Region] = []
        for name in self.kind.paints:
            apart = (((uvl - paint_uvl(PAINTS[name])) / LIMITS.spread) ** 2).sum(axis=2)
            for within in LIMITS.within:
                mask = cv2.morphologyEx(((apart < within) & disc).astype(np.uint8), cv2.MORPH_OPEN, _SMALL)
                count, labels, stats, centres = cv2.connectedComponentsWithStats(mask)
                for n in range(1, count):
                    part = stats[n, cv2.CC_STAT_AREA] / usual
                    if not LIMITS.least[0] < part < LIMITS.least[1]:
                        continue
                    region = labels == n
                    points = np.argwhere(region)[:, ::-1].astype(np.float32)
                    (_, sides, _) = cv2.minAreaRect(points)
                    solid = stats[n, cv2.CC_STAT_AREA] / ((sides[0] + 1) * (sides[1] + 1))
                    if solid < LIMITS.solid:
                        continue
                    shown = np.median(uvl[region], axis=0)
                    like = -0.5 * float(np.median(apart[region])) - float(np.log(LIMITS.spread).sum())
                    like -= 1.5 * math.log(2 * math.pi)
                    off = ~(cv2.resize(cv2.dilate(region.astype(np.uint8), np.ones((7, 7), np.uint8)),
                                       (size // 6, size // 6), interpolation=cv2.INTER_AREA) > 0)
                    dense = float(Print(np.asarray(patches[inside & off], np.uint8), light).density(shown[None])[0])
                    odds = LIMITS.seldom + LIMITS.paint * (like - dense)
                    odds -= 0.5 * (math.log(part) / LIMITS.cut) ** 2
                    odds -= 0.5 * (math.log((max(sides) + 1) / wide) / LIMITS.long) ** 2
                    if self._print is not None and self._known[region].mean() > 0.7:
                        far = float(_distance(uvl[region], self._print[region]).mean())
                        odds += -LIMITS.print_ if far < LIMITS.same else 0.4 * LIMITS.print_
                    found.append(_Region(odds=min(max(odds, -LIMITS.most), LIMITS.most),
                                         middle=(float(centres[n][0]), float(centres[n][1])), mask=region))
        found.sort(key=lambda r: -r.odds)
        out: list[_Region] = []
        for region in found:
            if not any((region.mask & other.mask).any() for other in out):
                out.append(region)
        return out

    def _learn(self, begun: bool) -> None:
        """What is far from the piece, where that is surely known, is print: at the beginning nobody stands there. Later
        only the light changes it; a figure does not. In a game that has ``begun``, as one that is resumed half-way,
        somebody may stand there."""
        found = self._found
        if not found or found[0].odds < LIMITS.sure or len(found) > 1 and found[0].odds - found[1].odds < LIMITS.sure:
            return
        yy, xx = np.mgrid[0:len(self._uvl), 0:len(self._uvl)]
        x, y = found[0].middle
        free = np.hypot(xx - x, yy - y) > LIMITS.apart * LIMITS.px
        if self._print is None:
            self._print, self._known, self._sure = self._uvl.copy(), np.zeros_like(free), np.zeros_like(free)
        new, same = free & ~self._known, free & self._known & (_distance(self._uvl, self._print) < LIMITS.same)
        self._print[new] = self._uvl[new]
        self._print[same] += LIMITS.adapts * (self._uvl[same] - self._print[same])
        self._known |= free
        if not begun:
            self._sure |= new


def _distance(uvl: Array, other: Array) -> Array:
    """How different two pictures are, pixel by pixel; shadows count half."""
    return np.asarray(np.linalg.norm((uvl - other) * (1.0, 1.0, 0.5), axis=-1))


def _shift(lattice: Lattice) -> Array:
    """The board's own displacement from the grid, in steps: its squares move together."""
    steps = np.array([lattice.shifts.get(at, (0.0, 0.0, 0.0)) for at in sorted(lattice.board)])
    middle = np.mean([(at[0] + 0.5, at[1] + 0.5) for at in lattice.board], axis=0)
    x, y, turn = np.median(steps, axis=0)
    c, s = math.cos(turn), math.sin(turn)
    return np.array([[c, -s, x + middle[0] - c * middle[0] + s * middle[1]],
                     [s, c, y + middle[1] - s * middle[0] - c * middle[1]], [0, 0, 1.0]])
