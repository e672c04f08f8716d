"""Piles of blocks on printed places: whether one is there, and how high it is from where its top appears.

A point above the table is displaced in the picture, away from the point below the camera, by an amount that grows with
its height. The top of a pile is a square of known size and plain wood: it is searched for along that line, as the
square whose four sides have edges and whose inside has none. Neither its paint nor the print below matters.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import cv2
import numpy as np
import numpy.typing as npt

from scoring.geometry import distance_to_line, rotate_point
from scoring.tiles import Point, Square, Tile
from vision.figurenet import MARGIN, TILE_PX
from vision.figures import Seen
from vision.frames import Image
from vision.lattice import Array, apply, rectify
from vision.looks import StackLook
from vision.nadir import board_grid, upright
from vision.occupancy import hidden_by
from vision.pile_shadow import PileShadows
from vision.top_tone import TopTones
from vision.view import View

TILE_MM = 45.0  # reference for the sizes of the blocks


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of block: its width, the height by which it raises a pile and its depth (mm), the place of a pile by tile,
    in drawing units at rot 0, and the paints (of `vision.paint`) that makers use for it."""

    name: str
    wood_mm: tuple[float, float, float]
    spots: Mapping[str, Point]
    paints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StackLimits:
    """Lengths are in tiles, weights in nats. "measured": by `benchmarks/stack_looks.py`."""

    most: int = 12  # blocks of the highest pile that is looked for
    px: float = 72.0  # per tile of the picture in which it is searched
    room: float = 0.62  # around the place and the line of its tops
    smooth: float = 0.9  # px: standard deviation of the blur before edges are measured
    edge: float = 8.0  # grey levels per px at which an edge counts half (chosen: several times a camera's noise)
    off: float = 0.09  # farthest from the line of tops: carelessly put down blocks
    near: float = 0.06  # from where the top was seen last, in which it is searched for as well: where the point below
    # the camera is estimated badly, tops of high piles are far from their line (chosen: one block displaces it by less)
    steps: tuple[float, float, float] = (0.03, 0.03, 7.5)  # of the search: along the line, across, degrees
    finer: tuple[tuple[float, float], ...] = ((0.015, 3.0), (0.007, 1.4), (0.004, 0.8))  # tiles, degrees
    exact: tuple[tuple[float, float, float], ...] = ((0.008, 4.0, 0.03), (0.004, 2.0, 0.015), (0.002, 1.0, 0.008))
    sharp: float = 0.6  # px: blur before the edges to which it is fitted at last (chosen)
    strong: float = 60.0  # grey levels per px of an edge above which it counts no more (chosen)
    inner: float = 0.97  # side of the square on which edges lie, relative to the wood's: bevelled edges (chosen)
    sizes: tuple[float, ...] = (0.94, 1.0, 1.06)  # relative to that: makers differ
    plain: float = 0.40  # score at which a pile is as likely as none (measured: 0.26 without, 0.36 to 0.95 with)
    clear: float = 20.0  # log-odds of a pile per unit of the score above that (chosen)
    sure: float = 6.0  # limit of one look's log-odds of a pile
    placed: float = 0.04  # deviation of a top from its place along the line, but for the height
    slip: float = 0.010  # of each further block
    spoiled: float = -6.0  # floor of a height's log-likelihood, relative to the likeliest
    by_block: float = 0.2  # distance of a foot from the line from the place to the top within which it may be a block
    on_top: float = 0.12  # distance of a foot from a top within which a figure covers the top (chosen: a third less
    # than half of its side)
    leans: int = 1  # squares by which the top of a pile may appear elsewhere than it stands
    same_uv: float = 0.45  # distance in (log red over green, log blue over green) within one wood
    other_uv: float = 0.9  # and from which it is another paint
    wood: float = 9.0  # by which the log-odds of a figure of the same wood are lower
    learn: float = 3.0  # log-odds of a pile from which its colour and size are learned
    measured: int = 5  # tops from whose sizes that of the blocks is known
    remembered: int = 40  # tops whose colours are remembered
    low: int = 3  # blocks of a pile whose top a figure beside it may hide
    tells: float = 0.35  # hidden part of a top from which its edges are too few to be seen (as `plain`)
    unseen: float = -0.3  # log-odds of a pile whose top may be hidden wholly (chosen)
    listed: float = 0.05  # least probability of the tiles with a place for it to be looked at


LIMITS = StackLimits()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """Where the tops of a pile on a place appear: by the number of blocks the distance from the place along ``way``
    (a unit vector in tiles of the square) and the scale."""

    spot: Array
    way: Array
    far: Array
    scale: Array


@dataclass(slots=True)
class Stacks:
    """Looks at the places for piles of these kinds. Keep it for a whole game: it remembers where they are."""

    kinds: Sequence[Kind]
    view: View | None = None
    _places: dict[tuple[str, Square], tuple[float, float]] = field(default_factory=dict)
    _sizes: dict[str, deque[float]] = field(default_factory=dict)
    _tops: dict[tuple[str, Square], tuple[float, float]] = field(default_factory=dict)  # where they appeared last
    _tones: TopTones = field(default_factory=TopTones)
    _shadows: PileShadows = field(default_factory=PileShadows)
    _wood: dict[str, deque[Array]] = field(default_factory=dict)  # (u, v) of tops, by the kind of block

    def look(self, photo: Image, poses: Mapping[Square, Array], loglik: Mapping[Square, npt.NDArray[np.floating]],
             tiles: Sequence[Tile], board: Mapping[Square, Array],
             figures: Mapping[Square, Sequence[Seen]] | None = None) -> dict[Square, dict[str, StackLook]]:
        """What a picture says of the piles on the squares of ``poses``. ``loglik`` (K, 4) are the log-likelihoods of
        the ``tiles`` and their rotations there; the camera's position is estimated from the whole ``board``.
        ``figures`` are the detected ones, which may hide a top."""
        out: dict[Square, dict[str, StackLook]] = {}
        if not self.kinds or not poses:
            return out
        grid, up = None, np.zeros(3)
        outlines_px = [s.outline_px for found in (figures or {}).values() for s in found if s.look.there > 0.0]
        hidden = hidden_by(self.past_blocks(photo, poses, {}, figures or {}, board))
        for at, pose in poses.items():
            for kind in self.kinds:
                spot = self._spot(kind, at, loglik[at], tiles)
                if spot is None:
                    continue
                if grid is None:
                    grid = board_grid({**board, **poses})
                    up = upright(grid, {**board, **poses}, photo.shape, self.view)
                sizes = self._sizes.setdefault(kind.name, deque(maxlen=LIMITS.remembered))
                known = float(np.median(sizes)) if len(sizes) >= LIMITS.measured else None
                last = self._tops.get((kind.name, at))
                seen, size = look_at(photo, pose, spot, grid, up, kind.wood_mm, known, last)
                if seen.there < 0.0 and at in hidden:
                    seen = _behind(seen, spot, math.sqrt(kind.wood_mm[0] * kind.wood_mm[2]) / TILE_MM, hidden[at])
                if seen.there > 0.0:  # a first block hides most of its shadow: bare places are not compared
                    seen = replace(seen, tone=self._tones.tone(photo, pose, (kind.name, at), spot, seen),
                                   darkened=self._shadows.look(photo, pose, (kind.name, at), at, spot,
                                                               board.keys() | poses.keys(), outlines_px))
                out.setdefault(at, {})[kind.name] = seen
                if seen.there >= LIMITS.learn:
                    self._tops[kind.name, at] = seen.top
                    if known is None:
                        sizes.append(size)
                    self._wood.setdefault(kind.name, deque(maxlen=LIMITS.remembered)).append(_top_uv(photo, pose, seen))
        return out

    def past_blocks(self, photo: Image, poses: Mapping[Square, Array], piles: Mapping[Square, Mapping[str, StackLook]],
                    figures: Mapping[Square, Sequence[Seen]], board: Mapping[Square, Array]) -> dict[
                        Square, tuple[Seen, ...]]:
        """The detected figures, less likely ones where they have the wood's colour and are on a pile: the network takes
        a block for a disc or a cube. A figure on top covers it, so a pile that was seen once counts; a top that is seen
        now has nothing on it. The top of a high pile appears over another tile; ``board`` has the poses of all tiles,
        ``poses`` of those looked at."""
        out = {at: self._may_be_block(at, seen) for at, seen in figures.items()}
        seen_now = {(name, at): pile for at, looks in piles.items() for name, pile in looks.items() if pile.there > 0.0}
        for (name, at), newest in {**self._tops, **{key: pile.top for key, pile in seen_now.items()}}.items():
            pose = poses.get(at, board.get(at))
            if pose is None or name not in self._wood:
                continue
            wood, place = np.median(np.array(self._wood[name]), axis=0), self._places[name, at]
            for square, found in out.items():
                if not found or max(abs(square[0] - at[0]), abs(square[1] - at[1])) > LIMITS.leans:
                    continue
                crop: Image | None = None
                to_pile = np.linalg.inv(pose) @ poses[square]
                made = []
                for seen in found:
                    x, y = apply(to_pile, [seen.look.foot])[0]
                    if distance_to_line((place, newest), float(x), float(y)) <= LIMITS.by_block:
                        crop = rectify(photo, poses[square], TILE_PX, MARGIN) if crop is None else crop
                        seen = self._past(seen, crop, wood)
                        plain = seen_now[name, at].there if (name, at) in seen_now else 0.0
                        if plain >= LIMITS.learn and math.dist((x, y), newest) <= LIMITS.on_top:
                            seen = _less(seen, plain)
                    made.append(seen)
                out[square] = tuple(made)
        return out

    def _may_be_block(self, at: Square, figures: Sequence[Seen]) -> tuple[Seen, ...]:
        """Figures on a tile: where a pile may be begun, what is new may as well be its first block."""
        places = [place for key, place in self._places.items() if key[1] == at and key not in self._tops]
        return tuple(replace(s, new=0.0, look=replace(s.look, there=s.look.there - s.new)) if s.new > 0.0 and any(
            math.dist(s.look.foot, place) < LIMITS.by_block for place in places) else s for s in figures)

    @staticmethod
    def _past(seen: Seen, crop: Image, wood: Array) -> Seen:
        if not seen.silhouette.any():
            return seen
        apart = math.dist(_uv(crop[seen.silhouette]), wood)
        like = float(np.clip((LIMITS.other_uv - apart) / (LIMITS.other_uv - LIMITS.same_uv), 0.0, 1.0))
        return _less(seen, like * LIMITS.wood)

    def _spot(self, kind: Kind, at: Square, loglik: npt.NDArray[np.floating], tiles: Sequence[Tile],
              ) -> tuple[float, float] | None:
        """The likeliest place on that tile, in tiles; a pile may hide what the tile is, but not from the first look."""
        odds: dict[tuple[float, float], float] = {}
        weight = np.exp(loglik - np.logaddexp.reduce(loglik, axis=None))
        for k, tile in enumerate(tiles):
            if tile.id in kind.spots:
                for rot in range(4):
                    x, y = rotate_point(*kind.spots[tile.id], rot)
                    spot = round(x / 100, 3), round(y / 100, 3)
                    odds[spot] = odds.get(spot, 0.0) + float(weight[k, rot])
        best = max(odds, key=lambda s: odds[s], default=None)
        if best is None or sum(odds.values()) < LIMITS.listed:
            return self._places.get((kind.name, at))
        if odds[best] > 0.5 or (kind.name, at) not in self._places:
            self._places[kind.name, at] = best
        return self._places[kind.name, at]


def _less(seen: Seen, nats: float) -> Seen:
    return replace(seen, look=replace(seen.look, there=seen.look.there - nats))


def look_at(photo: Image, pose: Array, spot: tuple[float, float], grid: Array, up: Array,
            wood_mm: tuple[float, float, float], size: float | None = None,
            last: tuple[float, float] | None = None) -> tuple[StackLook, float]:
    """One place: ``spot`` in tiles of the square with this ``pose``; ``grid`` (3, 3) and ``up`` (3,) are the board's
    homography and its `height_direction`. ``size`` is that of the blocks relative to ``wood_mm`` if it is known, as of
    the returned one; ``last`` is where its top was seen last, in tiles of the square."""
    line = _line(pose, spot, grid, up, wood_mm[1] / TILE_MM)
    strip = _strip(photo, pose, line)
    half = 0.5 * LIMITS.inner * math.sqrt(wood_mm[0] * wood_mm[2]) / TILE_MM
    across = np.array([-line.way[1], line.way[0]])
    was = None if last is None else (np.array(last) - line.spot) @ np.stack([line.way, across], axis=1)
    found, score = _top(_edges(strip, LIMITS.smooth), line, half, was)
    if score > LIMITS.plain:
        found = _fitted(_edges(strip, LIMITS.sharp), found, line, half, size)
    place = found[:3]
    there = min(max(LIMITS.clear * (score - LIMITS.plain), -LIMITS.sure), LIMITS.sure)
    top = line.spot + place[0] * line.way + place[1] * across
    step = line.far[1] * line.way
    n = np.arange(1, LIMITS.most + 1)
    apart = (place[0] - line.far[1:LIMITS.most + 1]) ** 2 / (LIMITS.placed**2 + n * LIMITS.slip**2)
    own = np.maximum(-0.5 * (apart - apart.min()), LIMITS.spoiled)
    real = -float(np.logaddexp(0.0, -there))
    heights = (-float(np.logaddexp(0.0, there)), *(float(v) for v in real + own - np.logaddexp.reduce(own)))
    look = StackLook(there=there, top=(float(top[0]), float(top[1])),
                     yaw=float(place[2] + math.atan2(line.way[1], line.way[0])) % (math.pi / 2),
                     floor=(float(step[0]), float(step[1])), heights=heights)
    return look, float(found[3])


def _behind(seen: StackLook, spot: tuple[float, float], side: float, hidden: npt.NDArray[np.bool_]) -> StackLook:
    """A look that found no top, where a figure may hide the one of a low pile: then it says little against it."""
    cells = np.arange(len(hidden)) + 0.5
    part = 0.0
    for n in range(1, LIMITS.low + 1):
        x, y = (np.abs(cells / len(hidden) - spot[k] - n * seen.floor[k]) < side / 2 for k in (0, 1))
        part = max(part, float(hidden[np.ix_(y, x)].mean()) if x.any() and y.any() else 0.0)
    there = min(seen.there * max(0.0, 1.0 - part / LIMITS.tells), LIMITS.unseen)  # its place is not known, either
    more = float(np.logaddexp(0.0, -seen.there) - np.logaddexp(0.0, -there))
    return replace(seen, there=there, heights=(-float(np.logaddexp(0.0, there)), *(h + more for h in seen.heights[1:])))


def _top_uv(photo: Image, pose: Array, seen: StackLook) -> Array:
    """(2,) of the middle of a top."""
    x, y = apply(pose, [seen.top])[0].round().astype(int)
    around = photo[max(0, y - 3):y + 4, max(0, x - 3):x + 4].reshape(-1, 3)
    return _uv(around) if len(around) else np.zeros(2)


def _uv(pixels: Image) -> Array:
    """(2,) logarithms of red over green and of blue over green of the median of (N, 3) BGR pixels."""
    blue, green, red = np.power(np.median(pixels, axis=0) / 255, 2.2) + 0.012
    return np.asarray(np.log(np.array([red / green, blue / green])), float)


def _line(pose: Array, spot: tuple[float, float], grid: Array, up: Array, block: float) -> _Line:
    foot = np.linalg.inv(grid) @ np.array([*apply(pose, [spot])[0], 1.0])
    base = grid @ (foot / foot[2])
    tops = base + np.arange(LIMITS.most + 2)[:, None] * block * up
    moved = apply(np.linalg.inv(pose), tops[:, :2] / tops[:, 2:]) - spot
    far = float(np.hypot(*moved[-1]))
    way = moved[-1] / far if far > 1e-6 else np.array([1.0, 0.0])
    return _Line(spot=np.array(spot), way=way, far=moved @ way, scale=base[2] / tops[:, 2])


def _strip(photo: Image, pose: Array, line: _Line) -> Image:
    """The picture around the place and along the line, which runs to the right."""
    (c, s), res, room = line.way, LIMITS.px, LIMITS.room
    first = 0.5 / res - room
    to_tile = np.array([[c / res, -s / res, line.spot[0] + first * (c - s)],
                        [s / res, c / res, line.spot[1] + first * (s + c)], [0, 0, 1.0]])
    size = (round((line.far[-1] + 2 * room) * res), round(2 * room * res))
    return np.asarray(cv2.warpPerspective(photo, pose @ to_tile, size, flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
                                          borderMode=cv2.BORDER_REPLICATE), np.uint8)


def _edges(strip: Image, smooth: float) -> npt.NDArray[np.float32]:
    """(H, W, 3) structure tensor (xx, xy, yy), summed over the channels, in squared grey levels per px."""
    soft = cv2.GaussianBlur(strip, (0, 0), smooth).astype(np.float32)
    x, y = (cv2.Sobel(soft, cv2.CV_32F, dx, 1 - dx, ksize=1) for dx in (1, 0))
    return np.stack([(x * x).sum(axis=2), (x * y).sum(axis=2), (y * y).sum(axis=2)], axis=-1)


def _top(edges: npt.NDArray[np.float32], line: _Line, half: float, was: Array | None) -> tuple[Array, float]:
    """(4,) of the likeliest square: along and across the line from the place, in tiles, its angle against the line, and
    its relative size; and its score, at most 1. It ``was`` seen last at (2,) along and across."""
    dx, dy, turn = LIMITS.steps
    turns = np.radians(np.arange(0, 90, turn))
    first = _grid(np.arange(-LIMITS.off, line.far[-1] + LIMITS.off / 2, dx),
                  np.arange(-LIMITS.off, LIMITS.off + dy / 2, dy), turns, np.ones(1))
    if was is not None:
        around = [np.arange(v - LIMITS.near, v + LIMITS.near + d / 2, d) for v, d in zip(was, (dx, dy), strict=True)]
        first = np.concatenate([first, _grid(*around, turns, np.ones(1))])
    found = _score(edges, first, line, half)
    best, score, sizes = first[found.argmax()], float(found.max()), np.array(LIMITS.sizes)
    for step, turn in LIMITS.finer:
        near = _grid(best[0] + step * _AROUND, best[1] + step * _AROUND, best[2] + np.radians(turn) * _AROUND, sizes)
        found = _score(edges, near, line, half)
        best, score = near[found.argmax()], float(found.max())
        sizes = best[3:]
    return best, score


def _fitted(edges: npt.NDArray[np.float32], found: Array, line: _Line, half: float, size: float | None) -> Array:
    """The square fitted to the strongest edges near it: (4,) as `_top`. One of unknown size fits the lower edges of its
    near sides almost as well."""
    best = np.array([*found[:3], 1.0 if size is None else size])
    for step, turn, grow in LIMITS.exact:
        near = _grid(best[0] + step * _AROUND, best[1] + step * _AROUND, best[2] + np.radians(turn) * _AROUND,
                     best[3] + (grow * _AROUND if size is None else np.zeros(1)))
        strong = np.minimum(np.sqrt(np.maximum(_sides(edges, near, line, half), 0.0)), LIMITS.strong)
        best = near[strong.mean(axis=(0, 2)).argmax()]
    return best


_AROUND = np.arange(-2, 3)
_ALONG = np.linspace(-0.8, 0.8, 7)  # of half a side: where edges are measured
_INSIDE = np.array([(u, v) for u in (-0.6, -0.2, 0.2, 0.6) for v in (-0.6, -0.2, 0.2, 0.6)])


def _grid(*axes: Array) -> Array:
    """(N, D) of every combination."""
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))


def _halves(at: Array, line: _Line, half: float) -> Array:
    """(N,) half the sides of squares: what is higher appears larger."""
    scale = np.interp(at[:, 0], line.far, line.scale) if line.far[-1] > 1e-6 else 1.0
    return np.asarray(half * at[:, 3] * scale, float)


def _sides(edges: npt.NDArray[np.float32], at: Array, line: _Line, half: float) -> Array:
    """(4, N, M) squared gradients across the four sides of squares (N, 4): along, across, angle, size."""
    cos, sin, halves = np.cos(at[:, 2]), np.sin(at[:, 2]), _halves(at, line, half)
    out = []
    for nx, ny in ((cos, sin), (-sin, cos), (-cos, -sin), (sin, -cos)):
        x = at[:, :1] + halves[:, None] * (nx[:, None] - _ALONG * ny[:, None])
        y = at[:, 1:2] + halves[:, None] * (ny[:, None] + _ALONG * nx[:, None])
        j = _sampled(edges, x, y)
        out.append(j[..., 0] * (nx**2)[:, None] + 2 * j[..., 1] * (nx * ny)[:, None] + j[..., 2] * (ny**2)[:, None])
    return np.array(out)


def _score(edges: npt.NDArray[np.float32], at: Array, line: _Line, half: float) -> Array:
    """(N,) of squares as in `_sides`: how much of their sides is edges, less how much of their inside is."""
    soft = LIMITS.edge**2
    sides = _sides(edges, at, line, half)
    cos, sin, halves = np.cos(at[:, 2]), np.sin(at[:, 2]), _halves(at, line, half)
    x = at[:, :1] + halves[:, None] * (_INSIDE[:, 0] * cos[:, None] - _INSIDE[:, 1] * sin[:, None])
    y = at[:, 1:2] + halves[:, None] * (_INSIDE[:, 0] * sin[:, None] + _INSIDE[:, 1] * cos[:, None])
    j = _sampled(edges, x, y)
    inside = j[..., 0] + j[..., 2]
    return np.asarray((sides / (sides + soft)).mean(axis=(0, 2)) - (inside / (inside + soft)).mean(axis=1), float)


def _sampled(edges: npt.NDArray[np.float32], x: Array, y: Array) -> npt.NDArray[np.float32]:
    """(N, M, 3) at points in tiles from the place, along and across the line."""
    column, row = (((v + LIMITS.room) * LIMITS.px - 0.5).astype(np.float32) for v in (x, y))
    return np.asarray(cv2.remap(edges, column, row, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE), np.float32)
