"""Background model of the tiles on the table: what each looked like before a piece was put on it.

A network that sees a foot knows only the picture of the moment. What the tile showed there before says whether
something is new: print that looks like a figure was there all the time, and wood in the colour of the print was not.
A pixel's background is updated slowly while it looks alike, and adopted anew once it has looked different, with nothing
that may be a piece over it, for several looks.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

import cv2
import numpy as np
import numpy.typing as npt

from scoring.tiles import Square
from vision.figurenet import CROP_PX, MARGIN, TILE_PX
from vision.frames import Image
from vision.lattice import Array, rectify

_T = TypeVar("_T", bound=np.generic)
Picture = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundLimits:
    """Differences are of natural logarithms of brightness, weights are nats. All are chosen, with two simulated
    tables in view: a fairy of plain wood on a town of its colour was to be new there, and print and shadows were not,
    and a dragon that covered most of a tile with its shadow was to be told from another tile."""

    blur_px: float = 0.8
    dark: float = 6.0  # levels (of 255) added to all: differences of black are noise
    window_px: float = 1.7  # standard deviation of the window in which structure is compared
    plain: float = 0.002  # variance of a print without structure
    colour: float = 2.0  # weights of the differences
    brightness: float = 0.3
    structure: float = 0.5
    alike: float = 0.15  # difference of a pixel's brightness up to which nothing has changed there
    steady: float = 25.0  # levels (of 255) by which a pixel that looks different may vary from look to look
    slow: float = 0.1  # share of a look in the background where nothing has changed
    first: int = 2  # looks in a row that show the same from which it is known: a hand may be over a new tile
    adopted: int = 6  # looks in a row that show a change after which it belongs to the background
    other: float = 0.35  # median difference of a tile's pixels from which it is another tile, or has been turned,
    same: float = 0.15  # unless the fifth that differs least differs less: a long piece and its shadow cover most of it
    light_bin: float = 0.04  # width of the bins of a histogram of the change of light (natural logarithms)
    lit: float = 0.12  # and how far from its mode a pixel is lit as the tile is
    free_least: float = 0.2  # least part of the tile that must be known for a comparison
    noise: float = 0.03  # what is added to the usual difference outside all silhouettes: one below is noise
    changed: float = 2.5  # relative difference of a pixel on which something new stands
    object_px: int = 200  # least area of something in which no foot is seen: a follower's (chosen)
    figure_px: int = 600  # and the greatest of a figure and the shadow beside it (chosen)
    shadow_colour: float = 0.06  # natural logarithm by which the colour of a pixel in a shadow may differ
    shadow_even: float = 0.12  # and by which it may be brighter or darker than the others there
    shadow_most: float = 0.4  # part of what differs in a region that a shadow explains from which it is one (chosen, as
    # both above: on three simulated tables much less of it where wood stands, more of it in most shadows)
    shown: float = 0.5  # part of the print's contrast from which it is still seen (chosen)
    least_px: int = 20  # known pixels of a silhouette from which they say something
    even: float = 1.22  # relative difference of pixels that says nothing
    gap_px: int = 5  # side of the square by which the gaps between tiles are bridged
    slope: float = 3.0  # nats per natural logarithm of it
    strange: float = 2.5  # most evidence for a figure
    like: float = -2.5  # and against one: what a look missed once may have been learned


LIMITS = BackgroundLimits()
EDGE_PX = round(MARGIN * TILE_PX)  # of the network's crop around the tile
INNER_PX = CROP_PX - 2 * EDGE_PX  # side of the tile in the network's crop


@dataclass(frozen=True, slots=True, kw_only=True)
class Bare:
    """What a tile looked like before, ``bgr`` (INNER_PX, INNER_PX, 3), and the part of it that nothing covered then,
    ``free`` (INNER_PX, INNER_PX)."""

    bgr: Picture
    free: npt.NDArray[np.bool_]


def inner(crop: npt.NDArray[_T]) -> npt.NDArray[_T]:
    """The tile in a crop with its surroundings."""
    return crop[EDGE_PX:-EDGE_PX, EDGE_PX:-EDGE_PX]


def difference(now: Picture, before: Picture, free: npt.NDArray[np.bool_]) -> tuple[Array, Picture]:
    """(INNER_PX, INNER_PX) difference of two pictures of a tile, without a change of the light: of the colour, of the
    brightness, which shadows change, too, and of the structure [1]_; and that change, by which factor each channel is
    brighter now (3,). It is the commonest one where both are ``free``, at every second pixel of every second row: a
    piece and its shadow may cover half of the tile.

    .. [1] Wang et al. (2004), Image quality assessment: from error visibility to structural similarity."""
    a, b = _logs(now), _logs(before)
    apart, light = lit_alike(a - b, free)
    brighter = grey(apart)
    colour = grey(np.abs(apart - brighter[..., None]))
    return np.asarray(LIMITS.colour * colour + LIMITS.brightness * np.abs(brighter)
                      + LIMITS.structure * _restructured(grey(a), grey(b))), np.exp(light)


def lit_alike(changes: Picture, free: npt.NDArray[np.bool_]) -> tuple[Picture, Picture]:
    """Changes of a tile's logarithms without that of the light, and that (3,)."""
    light = _commonest(changes[::2, ::2][free[::2, ::2]])
    return changes - light, light


def _commonest(changes: Picture) -> Picture:
    """(3,) the mode of the changes (N, 3) of pixels' channels: that of their means, by a smoothed histogram, and the
    median of those near it. 0 without any. It is a shadow's where that is larger than what is lit."""
    if not len(changes):
        return np.zeros(3, np.float32)
    means, margin = changes.mean(axis=1), 3 * LIMITS.light_bin
    count, edges = np.histogram(means, np.arange(means.min() - margin, means.max() + margin, LIMITS.light_bin))
    mode = edges[np.convolve(count, (1, 2, 3, 2, 1), "same").argmax()] + 0.5 * LIMITS.light_bin
    near = changes[np.abs(means - mode) < LIMITS.lit]
    return np.asarray(np.median(near if len(near) else changes, axis=0), np.float32)


class Usual(NamedTuple):
    """What pixels of a tile differ by where nothing covers it (``noise``), and whether most of it is ``covered``."""

    noise: float
    covered: bool


def usual_difference(apart: Array) -> Usual | None:
    """From the differences of a tile's pixels (N,): their median, or twice what the fifth differs by that differs least
    if most of it is covered. None if it is another tile, or has been turned."""
    middle, least = np.quantile(apart, (0.5, 0.2))
    if middle <= LIMITS.other:
        return Usual(float(middle), covered=False)
    return Usual(float(2 * least), covered=True) if least <= LIMITS.same else None


def grey(picture: Picture) -> Picture:
    """The mean of the channels."""
    return np.asarray(cv2.transform(picture, np.full((1, 3), 1 / 3, np.float32)), np.float32)


def _relit(picture: Picture, gain: Picture) -> Picture:
    return np.asarray(np.clip((picture + LIMITS.dark) * gain - LIMITS.dark, 0.0, 255.0), np.float32)


def _restructured(a: Picture, b: Picture) -> Picture:
    """0 where two pictures have the same structure, 1 where they have nothing in common."""
    def mean(x: Picture) -> Picture:
        return np.asarray(cv2.GaussianBlur(x, (0, 0), LIMITS.window_px), np.float32)

    of_a, of_b = mean(a), mean(b)
    both, own, others = mean(a * b) - of_a * of_b, mean(a * a) - of_a**2, mean(b * b) - of_b**2
    return np.asarray(0.5 - (both + LIMITS.plain) / (own + others + 2 * LIMITS.plain), np.float32) * 2


def unlike(crop: Image, hidden: npt.NDArray[np.bool_], bare: Bare) -> Array:
    """(INNER_PX, INNER_PX) difference of the tile in a crop from its bare picture, relative to the usual difference
    (`usual_difference`) outside all silhouettes (``hidden``, of the crop); NaN where it is not known, as where most of
    the tile looks different: hands are there more often than long pieces."""
    return unlike_and_below(crop, hidden, bare)[0]


def unlike_and_below(crop: Image, hidden: npt.NDArray[np.bool_], bare: Bare) -> tuple[Array, Array]:
    """The same, and as it is if a piece and its shadow may cover most of the tile."""
    free = ~inner(hidden) & bare.free
    none = np.full(free.shape, np.nan)
    if free.sum() < LIMITS.free_least * free.size:
        return none, none
    apart, _ = difference(inner(crop).astype(np.float32), bare.bgr, free)
    usual = usual_difference(apart[free])
    if usual is None:
        return none, none
    relative = np.where(bare.free, apart / (usual.noise + LIMITS.noise), np.nan)
    return none if usual.covered else relative, relative


def strange(different: Array, silhouette: npt.NDArray[np.bool_], most: float = LIMITS.strange) -> float:
    """Log-odds of a figure from how much more the tile differs from its bare picture (`unlike`) within the silhouette
    (of the crop) than outside."""
    within = different[inner(silhouette)]
    within = within[~np.isnan(within)]
    if len(within) < LIMITS.least_px:
        return 0.0
    apart = max(float(np.median(within)), 1e-3)
    return min(max(LIMITS.slope * math.log(apart / LIMITS.even), LIMITS.like), most)


def changed(different: Array, seed: npt.NDArray[np.bool_], hidden: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """The region of a crop around a ``seed``, without what is ``hidden`` by other pieces, in which the tile differs
    from its bare picture (`unlike`); empty if nothing does."""
    out = np.zeros(seed.shape, bool)
    new = (np.nan_to_num(different) > LIMITS.changed) & ~inner(hidden & ~seed)
    shape = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (5, 5))
    grown = cv2.morphologyEx(cv2.morphologyEx(new.astype(np.uint8), cv2.MORPH_CLOSE, shape), cv2.MORPH_OPEN, shape)
    _, parts = cv2.connectedComponents(grown)
    count = np.bincount(parts[inner(seed)], minlength=2)
    count[0] = 0
    if count.max() > 0:
        inner(out)[:] = parts == int(count.argmax())
    return out


def unexplained(different: Array, hidden: npt.NDArray[np.bool_]) -> list[npt.NDArray[np.bool_]]:
    """The large regions of a crop, away from what is ``hidden`` by silhouettes, in which the tile differs from its bare
    picture (`unlike`): something stands there in which no foot was seen."""
    near = cv2.dilate(inner(hidden).astype(np.uint8), np.ones((5, 5), np.uint8)) > 0
    new = ((np.nan_to_num(different) > LIMITS.changed) & ~near).astype(np.uint8)
    shape = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (5, 5))
    _, parts, sizes, _ = cv2.connectedComponentsWithStats(cv2.morphologyEx(new, cv2.MORPH_OPEN, shape))
    out = []
    for n in range(1, len(sizes)):
        if sizes[n, cv2.CC_STAT_AREA] >= LIMITS.object_px:
            region = np.zeros(hidden.shape, bool)
            inner(region)[:] = parts == n
            out.append(region)
    return out


def sharper(crop: Image, region: npt.NDArray[np.bool_], bare: Bare) -> float:
    """By how much (natural logarithm) the outline of a region of a crop is sharper than on the bare picture: above 0
    where something has come, below 0 where something has gone since, which was learned as background [1]_. NaN if the
    outline is not known there.

    .. [1] Cucchiara et al. (2003), Detecting moving objects, ghosts, and shadows in video streams."""
    inside = inner(region).astype(np.uint8)
    outline = (cv2.morphologyEx(inside, cv2.MORPH_GRADIENT, np.ones((3, 3), np.uint8)) > 0) & bare.free
    if not outline.any():
        return math.nan
    across = _slopes(cv2.GaussianBlur(inside.astype(np.float32), (0, 0), LIMITS.window_px))
    across /= np.hypot(*across) + 1e-6
    steep = [np.abs((across[..., None] * _slopes(_logs(picture))).sum(axis=0))[outline].mean()
             for picture in (inner(crop).astype(np.float32), bare.bgr)]
    return float(np.log((steep[0] + 1e-6) / (steep[1] + 1e-6)))


def has_come(crop: Image, region: npt.NDArray[np.bool_], bare: Bare) -> bool:
    """Whether something that was not there stands in a region of a crop that looks different: neither has something
    gone from there, nor has the light changed."""
    return sharper(crop, region, bare) > 0.0 and not in_shadow(crop, region, bare)


def in_shadow(crop: Image, region: npt.NDArray[np.bool_], bare: Bare) -> bool:
    """Whether a shadow explains what differs in a region of a crop: the pixels that do have kept their colour [1]_ and
    are darker by the same factor. False if nothing is known of it, or hardly anything differs.

    .. [1] Cucchiara et al. (2003), Detecting moving objects, ghosts, and shadows in video streams."""
    within = inner(region) & bare.free
    brighter = _logs(inner(crop).astype(np.float32)) - _logs(bare.bgr)
    changes = lit_alike(brighter, bare.free & ~inner(region))[0][within]
    light = changes.mean(axis=1)
    coloured = np.abs(changes - light[:, None]).max(axis=1, initial=0.0) < LIMITS.shadow_colour
    differs = ~coloured | (np.abs(light) > LIMITS.shadow_even)
    darker = coloured & (light < -LIMITS.shadow_even)
    if differs.sum() < LIMITS.least_px or not darker.any():
        return False
    shade = darker & (np.abs(light - np.median(light[darker])) < LIMITS.shadow_even)
    return bool(shade.sum() > LIMITS.shadow_most * differs.sum())


def shows_through(crop: Image, region: npt.NDArray[np.bool_], bare: Bare) -> float:
    """Which part of the bare picture's contrast is still seen within a region of a crop: all of it in a shadow or a
    spot of light, none below a piece of wood. The slope of the regression of logarithms of brightness, 0 where the tile
    is plain or not known."""
    within = (cv2.erode(inner(region).astype(np.uint8), np.ones((5, 5), np.uint8)) > 0) & bare.free
    if within.sum() < LIMITS.least_px:
        return 0.0
    now, before = (grey(_logs(picture))[within] for picture in (inner(crop).astype(np.float32), bare.bgr))
    both = np.cov(now, before)
    return float(both[0, 1] / (both[1, 1] + LIMITS.noise**2))


def _logs(picture: Picture) -> Picture:
    """Natural logarithms of a picture's levels."""
    return np.asarray(np.log(cv2.GaussianBlur(picture, (0, 0), LIMITS.blur_px) + LIMITS.dark), np.float32)


def _slopes(picture: cv2.typing.MatLike) -> Picture:
    """(2, ...) derivatives of a picture to the right and down."""
    return np.asarray([cv2.Sobel(picture, cv2.CV_32F, *way, scale=1 / 8) for way in ((1, 0), (0, 1))], np.float32)


def may_be_new(different: Array) -> npt.NDArray[np.bool_]:
    """Where something new may be: all but what looks as in the bare pictures."""
    return np.asarray(~(different < LIMITS.even))


def surely_new(different: Array) -> npt.NDArray[np.bool_]:
    """Where something new is known to be, also between two tiles with it."""
    new = (different >= LIMITS.even).astype(np.uint8)
    return np.asarray(cv2.morphologyEx(new, cv2.MORPH_CLOSE, np.ones((LIMITS.gap_px, LIMITS.gap_px), np.uint8)) > 0)


_PX_OF_CROP = np.array([[TILE_PX, 0, MARGIN * TILE_PX - 0.5], [0, TILE_PX, MARGIN * TILE_PX - 0.5], [0, 0, 1.0]])
_OF_INNER_PX = np.linalg.inv(_PX_OF_CROP) @ np.array([[1, 0, EDGE_PX], [0, 1, EDGE_PX], [0, 0, 1.0]])


@dataclass(slots=True)
class Differences:
    """How much the tiles of a ``board`` differ in a ``photo`` from their ``bare`` pictures: `unlike`, with nothing
    hidden, so that pieces count in the median, too."""

    photo: Image
    board: Mapping[Square, Array]
    bare: Mapping[Square, Bare]
    _known: dict[Square, Array] = field(default_factory=dict)

    def around(self, at: Square) -> Array:
        """(CROP_PX, CROP_PX) of a tile and those around it in its crop; NaN where it is not known, between tiles,
        too."""
        out = np.full((CROP_PX, CROP_PX), np.nan)
        to_crop = _PX_OF_CROP @ np.linalg.inv(self.board[at])
        beside = [(at[0] + x, at[1] + y) for x in (-1, 0, 1) for y in (-1, 0, 1) if x or y]
        for square in (*beside, at):  # where poses overlap, the tile's own
            if square in self.board and square in self.bare:
                moved = cv2.warpPerspective(self._of(square), to_crop @ self.board[square] @ _OF_INNER_PX, out.shape,
                                            flags=cv2.INTER_NEAREST, borderValue=np.nan)
                out = np.where(np.isnan(moved), out, moved)
        return out

    def _of(self, at: Square) -> Array:
        if at not in self._known:
            crop = rectify(self.photo, self.board[at], TILE_PX, MARGIN)
            self._known[at] = unlike(crop, np.zeros(crop.shape[:2], bool), self.bare[at])
        return self._known[at]


@dataclass(slots=True)
class _Background:
    """``bare`` is known where it is ``free``. What looks different there, or is not known, is as in ``changed`` for so
    many ``looks`` (INNER_PX, INNER_PX) in a row. Both are in the light of the newest look."""

    bare: Picture
    free: npt.NDArray[np.bool_]
    changed: Picture
    looks: npt.NDArray[np.int16]


@dataclass(slots=True)
class TileBackground:
    """The background of all tiles of a table."""

    _tiles: dict[Square, _Background] = field(default_factory=dict)

    def bare(self) -> dict[Square, Bare]:
        """The pictures of the tiles."""
        return {at: Bare(bgr=b.bare, free=b.free) for at, b in self._tiles.items()}

    def keep(self, squares: Collection[Square]) -> None:
        """Forget the tiles that lie elsewhere."""
        self._tiles = {at: b for at, b in self._tiles.items() if at in squares}

    def update(self, photo: Image, poses: Mapping[Square, Array],
               covered: Mapping[Square, npt.NDArray[np.bool_]]) -> None:
        """Add a picture of the tiles with these ``poses``; ``covered`` (INNER_PX, INNER_PX) is what may be a piece
        (`vision.occupancy.hidden_by`, whose cells are these pixels)."""
        for at, pose in poses.items():
            now = inner(rectify(photo, pose, TILE_PX, MARGIN)).astype(np.float32)
            open_ = np.ones(now.shape[:2], bool)
            if at in covered:
                open_ = cv2.dilate(covered[at].astype(np.uint8), np.ones((5, 5), np.uint8)) == 0
            old = self._tiles.get(at)
            if old is None or not _learn(old, now, open_):
                self._tiles[at] = _Background(now, np.zeros(open_.shape, bool), now.copy(), open_.astype(np.int16))


def _learn(old: _Background, now: Picture, open_: npt.NDArray[np.bool_]) -> bool:
    """Update a tile's background where nothing covers it (``open_``); False if it is another tile's."""
    known = old.free if old.free.any() else old.looks > 0
    both = open_ & known
    if both.sum() < LIMITS.free_least * both.size:
        return bool(old.free.any())  # else nothing is known of it
    before = old.bare if known is old.free else old.changed
    apart, gain = difference(now, before, both)
    if usual_difference(apart[both]) is None:
        return False
    old.bare, old.changed = (_relit(picture, gain) for picture in (old.bare, old.changed))
    same = open_ & old.free & (apart < LIMITS.alike)
    old.bare += (np.float32(LIMITS.slow) * same)[..., None] * (now - old.bare)
    old.looks[same] = 0
    other = open_ & ~same
    again = other & (old.looks > 0) & (np.abs(now - old.changed).max(axis=2) < LIMITS.steady)
    old.looks = np.where(again, old.looks + 1, np.where(other, 1, old.looks)).astype(np.int16)
    np.copyto(old.changed, now, where=(other & ~again)[..., None])
    stays = old.looks >= np.where(old.free, LIMITS.adopted, LIMITS.first)
    np.copyto(old.bare, now, where=stays[..., None])
    old.free = old.free | stays
    old.looks[stays] = 0
    return True
