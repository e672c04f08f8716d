"""Reads whose figure stands where on a board, in photographs and films.

A small network finds feet, postures and silhouettes on each tile (`vision.figurenet`); the colour is that of the
silhouette's own pixels (`vision.paint`). Each source adds its log-odds; `vision.occupancy` says which segment a figure
occupies.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import cv2
import numpy as np
import numpy.typing as npt

from scoring.tiles import Square
from vision.feet import LOWEST, ONE, Peak, by_paint, hardly_a_foot, is_in, log_odds, owners, peaks
from vision.figurenet import CROP_PX, KINDS, MARGIN, SHAPED, TILE_PX, FigureMaps, FigureNet
from vision.frames import Image
from vision.lattice import UNIT, Array, apply, area, rectify
from vision.looks import FigureLook, inside, probability, within
from vision.nadir import leans
from vision.paint import Print, colours_of, light_of, shown
from vision.tile_background import (
    EDGE_PX,
    INNER_PX,
    LIMITS,
    Bare,
    has_come,
    in_shadow,
    inner,
    shows_through,
    strange,
    unexplained,
    unlike_and_below,
)
from vision.view import View

_LIT_BY = 12  # number of tiles by which the light is measured
_SAME = 0.2  # the same for feet in two tiles' crops
_OVER = 0.06  # of a tile: how far over its border a foot may still be the tile's own
_PLACED = 0.03  # of a tile: uncertainty of a tile's border against its print
# Log-odds that a figure whose foot is on a border with no tile beyond it stands on the tile. In the recorded films all
# such feet are 0.02 of a tile inside or more (tests/reading/test_games.py). Chosen: 0.05 outside a corner is doubtful.
_ABOARD = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A detected figure: where it touches the table and its silhouette (N, 2) in the photograph, the part of its crop
    that it covers, the (u, v, l) of its paint, and the probability that it is a disc or a cube. ``neutral`` are
    log-odds of neutral pieces, where it is not considered a player's figure; ``new`` is the part of its log-odds that
    comes from what the tile looked like before. It stands ``elsewhere`` if its foot is on a tile that was not examined:
    then it only hides the print of this one. It was seen ``by_change`` alone if the network sees no silhouette where
    the tile looks different."""

    look: FigureLook
    px: tuple[float, float]
    outline_px: Array
    silhouette: npt.NDArray[np.bool_]
    uvl: Array
    round: float = 0.0
    new: float = 0.0
    neutral: Mapping[str, float] = field(default_factory=dict)
    elsewhere: bool = False
    by_change: bool = False


def read_figures(photo: Image, poses: Mapping[Square, Array], *, colours: Iterable[str] | None = None,
                 view: View | None = None, bare: Mapping[Square, Bare] | None = None,
                 board: Mapping[Square, Array] | None = None) -> dict[Square, tuple[FigureLook, ...]]:
    """The figures whose foot is on each tile of an undistorted BGR photograph, most certain first, unlikely ones
    included.

    ``poses`` (3, 3) take each tile's unit square to pixels; ``view`` has the camera's calibration (its size may differ)
    and this table's paints; ``bare`` are pictures of tiles without figures where some are known. ``colours`` are the
    players' (default: all paints that are sold). Raises ValueError for an unknown colour.
    """
    found = find_figures(photo, poses, colours=colours, view=view, bare=bare, board=board)
    return {at: tuple(s.look for s in seen) for at, seen in found.items()}


def find_figures(photo: Image, poses: Mapping[Square, Array], *, colours: Iterable[str] | None = None,
                 view: View | None = None, bare: Mapping[Square, Bare] | None = None,
                 board: Mapping[Square, Array] | None = None,
                 pieces: Collection[str] = ()) -> dict[Square, tuple[Seen, ...]]:
    """The same with silhouettes. ``board`` has all tiles if ``poses`` are some of them: the camera's position and the
    light are estimated from all. With the paints of neutral ``pieces``, also what only differs from the ``bare`` tiles.
    """
    if not poses:
        return {}
    lean = leans({**(board or {}), **poses}, photo.shape, view)
    crops = np.array([rectify(photo, pose, TILE_PX, MARGIN) for pose in poses.values()])
    felt = _net().ask(crops, np.array([lean[at] for at in poses]))
    others = [at for at in board or {} if at not in poses][:max(0, _LIT_BY - len(poses))]
    beside = [rectify(photo, board[at], TILE_PX) for at in others] if board else []
    light = light_of([*(inner(c) for c in crops), *beside])
    paints = view.paints if view is not None else None

    def plays(pixels: Image) -> bool:
        """Whether pixels have rather a player's paint than that of a neutral piece."""
        named = colours_of([shown(pixels, light)], light, colours, paints)[0]
        return max(named, key=lambda c: named[c], default="") not in pieces

    found: list[tuple[Square, Seen]] = []
    covered = np.zeros(crops.shape[:3], bool)
    for n, (at, pose) in enumerate(poses.items()):
        tile = _Tile(felt=felt, n=n, crop=crops[n], pose=pose, light=light)
        feet = by_paint(peaks(felt, n, LOWEST, lean[at]), felt, n, crops[n], light)
        owner = owners(felt, n, [p.foot for p in feet])
        covered[n] = np.isin(owner, [k for k, p in enumerate(feet) if log_odds(p.there) > 0])
        silhouettes = [owner == k for k in range(len(feet))]
        if bare and at in bare:
            found += [(at, seen) for seen in tile.against(bare[at], feet, silhouettes, plays, also=bool(pieces))]
        else:
            found += [(at, tile.seen(p, own)) for p, own in zip(feet, silhouettes, strict=True) if _near_the_tile(p)]
    single = _once(found, poses)
    every = [s for at in single for s in single[at]]
    named = colours_of([s.uvl for s in every], light, colours, paints,
                       [max(0.0, 2 * probability(s.look.there) - 1) for s in every])  # print is not paint
    print_ = Print(_bare_patches(crops, covered), light).density(np.array([s.uvl for s in every]).reshape(-1, 3))
    painted = [_painted(s, log, p) for s, log, p in zip(every, named, print_, strict=True)]
    like = iter(_like_the_others(painted, view.shapes if view is not None else None))
    tiles = {*poses, *(board or ())}
    return {at: tuple(sorted((_on_the_board(next(like), at, tiles) for _ in single[at]), key=lambda s: -s.look.there))
            for at in single}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tile:
    """A tile that is searched for figures: its ``crop``, the ``n``-th of those of which the network says ``felt``."""

    felt: FigureMaps
    n: int
    crop: Image
    pose: Array
    light: Array

    def seen(self, peak: Peak, silhouette: npt.NDArray[np.bool_]) -> Seen:
        return _seen(peak, self.crop, silhouette, self.pose, self.light)

    def against(self, bare: Bare, feet: Sequence[Peak], silhouettes: Sequence[npt.NDArray[np.bool_]],
                plays: Callable[[Image], bool], *, also: bool) -> Iterator[Seen]:
        """The figures by what the tile looked like before. A foot without a silhouette is a figure's where something
        has come in a paint that ``plays``; also where no foot is seen it may be something, if it is ``also`` asked for.
        """
        hidden = np.any(silhouettes, axis=0) if len(silhouettes) else np.zeros(self.crop.shape[:2], bool)
        known, below = unlike_and_below(self.crop, hidden, bare)
        faint = [p for p, own in zip(feet, silhouettes, strict=True) if not own.any()]
        objects = unexplained(below, hidden) if also or faint else []
        hardly = [hardly_a_foot(region, self.felt, self.n) for region in objects
                  if not any(is_in(region, p) for p in faint)] if also else []
        none = np.zeros(hidden.shape, bool)
        for peak, own in zip((*feet, *hardly), (*silhouettes, *[none] * len(hardly)), strict=True):
            if not _near_the_tile(peak):
                continue
            region = None if own.any() else next((r for r in objects if is_in(r, peak)), None)
            if region is not None and any(peak is p for p in faint) \
                    and _may_be_a_figure(self.crop, region, known, bare) and plays(self.crop[region]):
                own, objects = region, [r for r in objects if r is not region]  # one figure's, the surest foot's
            seen, more = self.seen(peak, own), _new(self.crop, own, known, bare)
            yield replace(seen, by_change=region is not None, new=more,
                          look=replace(seen.look, there=seen.look.there + more))


def _near_the_tile(peak: Peak) -> bool:
    """Whether a foot may be on the tile of its crop."""
    return bool((np.abs(peak.foot - 0.5) < 0.5 + _OVER).all())


def _new(crop: Image, silhouette: npt.NDArray[np.bool_], different: Array, bare: Bare) -> float:
    """Log-odds of a figure from what its tile looked like before. Where a shadow shows no print it may be grey wood."""
    odds = strange(different, silhouette)
    if odds <= 0.0 or not in_shadow(crop, silhouette, bare):
        return odds
    return LIMITS.like if shows_through(crop, silhouette, bare) > LIMITS.shown else 0.0


def _may_be_a_figure(crop: Image, region: npt.NDArray[np.bool_], different: Array, bare: Bare) -> bool:
    """Whether something has come there that is no larger than a figure with its shadow, and no hand covers the tile."""
    return region.sum() <= LIMITS.figure_px and not np.isnan(different).all() and has_come(crop, region, bare)


def _on_the_board(seen: Seen, at: Square, tiles: Collection[Square]) -> Seen:
    """Near a border without a tile beyond, includes the probability that the figure is on the tile and not on the table
    beside it."""
    spread = math.hypot(seen.look.spread, _PLACED)
    over = math.prod(within(depth, spread) for beyond, depth in inside(seen.look, at).items() if beyond not in tiles)
    likely = over / (over + (1 - over) * math.exp(-_ABOARD)) * probability(seen.look.there)
    there = math.log(likely / (1 - likely)) if 0 < likely < 1 else seen.look.there
    return replace(seen, look=replace(seen.look, there=there))


PAINTED, AT_LEAST, AT_MOST = 0.75, -3.0, 2.0  # weight and limits of the log-odds of paint against print


def _painted(seen: Seen, colours: Mapping[str, float], print_: float) -> Seen:
    """Adds the paints' likelihoods, and the log-odds that its colour is a paint and not this board's print."""
    if not colours:
        return seen
    odds = PAINTED * (float(np.logaddexp.reduce(list(colours.values()))) - print_)
    there = float(seen.look.there + min(max(odds, AT_LEAST), AT_MOST))
    best = max(colours.values())
    return replace(seen, look=replace(seen.look, there=there, colours={c: v - best for c, v in colours.items()}))


ALONE = -2.5  # limit of the log-odds against a piece of another make than all others on the table
LEARNED = 0.97  # probability that a piece is of the shape seen in its supply: a follower may replace a lost disc


def _like_the_others(every: Sequence[Seen], shapes: Mapping[str, str] | None = None) -> list[Seen]:
    """Followers of one table are either all flat silhouettes, or all discs or cubes: the other figures are evidence for
    or against a figure's make. Where ``shapes`` has the shape of its colour's pieces, that is used instead."""
    weight = np.array([probability(s.look.there) for s in every])
    round_ = np.array([s.round for s in every])
    out = []
    for n, seen in enumerate(every):
        others = float(weight.sum() - weight[n])
        share = (float(weight @ round_ - weight[n] * round_[n]) + 0.5) / (others + 1)
        best = max(seen.look.colours, key=seen.look.colours.__getitem__, default="")
        known = (shapes or {}).get(best)
        if known is not None:
            share = LEARNED if known in ("disc", "cube") else 1 - LEARNED
        odds = math.log(2 * (seen.round * share + (1 - seen.round) * (1 - share)))
        out.append(replace(seen, look=replace(seen.look, there=float(seen.look.there + max(ALONE, odds)))))
    return out


_PATCH = 5  # px of a crop: side of the patches in which print is compared with silhouettes


def _bare_patches(crops: Image, covered: npt.NDArray[np.bool_]) -> Image:
    """(N, 3) mean BGR of the tiles' patches that no silhouette covers."""
    n, tile = INNER_PX // _PATCH, slice(EDGE_PX, -EDGE_PX)
    patches = crops[:, tile, tile].reshape(len(crops), n, _PATCH, n, _PATCH, 3).mean(axis=(2, 4))
    free = ~covered[:, tile, tile].reshape(len(crops), n, _PATCH, n, _PATCH).any(axis=(2, 4))
    return np.asarray(patches[free][::max(1, free.sum() // 3000)], np.uint8)


@cache
def _net() -> FigureNet:
    return FigureNet()


def _seen(peak: Peak, crop: Image, silhouette: npt.NDArray[np.bool_], pose: Array, light: Array) -> Seen:
    shape = silhouette.astype(np.uint8)
    inner = cv2.erode(shape, np.ones((3, 3), np.uint8))
    pixels = crop[inner > 0] if inner.sum() > 12 else crop[shape > 0]
    if len(pixels) < 6:  # hardly a silhouette: use the foot's surroundings
        column, row = np.clip(((peak.foot + MARGIN) * TILE_PX).astype(int), 3, CROP_PX - 4)
        pixels = crop[row - 2:row + 3, column - 2:column + 3].reshape(-1, 3)
    outlines, _ = cv2.findContours(shape, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    outline = np.zeros((0, 2))
    if outlines:
        outline = (max(outlines, key=cv2.contourArea)[:, 0].astype(float) + 0.5) / TILE_PX - MARGIN
        outline = apply(pose, outline)
    px = apply(pose, peak.foot)[0]
    look = FigureLook(foot=(float(peak.foot[0]), float(peak.foot[1])), spread=peak.spread, there=log_odds(peak.there),
                      lying=_lying(peak), colours={}, pieces=_pieces(peak.kinds))
    return Seen(look=look, px=(float(px[0]), float(px[1])), outline_px=outline, silhouette=silhouette,
                uvl=shown(pixels, light), round=float(np.exp(peak.kinds[_ROUND]).sum()))


_ROUND = [KINDS.index("disc"), KINDS.index("cube")]


LYING = 0.8  # scale of the lying logit: below 1, because real pieces differ more from ours than held-out drawings do


def _lying(peak: Peak) -> float:
    """Log-odds that it lies; 0 for a disc or a cube."""
    unsaid = float(np.exp(peak.kinds[_ROUND]).sum())
    flat = unsaid * 0.5 + (1 - unsaid) * probability(LYING * peak.lying)
    return math.log(flat / (1 - flat))


def _pieces(kinds: Array) -> dict[str, float]:
    """Log-probabilities by the rules' pieces; a disc or a cube is a follower."""
    said = {kind: float(kinds[KINDS.index(kind)]) for kind in SHAPED}
    return {"follower": float(np.logaddexp.reduce(kinds[[0, *_ROUND]])), **said}


def _once(found: Sequence[tuple[Square, Seen]], poses: Mapping[Square, Array]) -> dict[Square, tuple[Seen, ...]]:
    """Merges the detections of a figure near a border, which is in the crops of two tiles: its foot is between the two
    detected feet, and it belongs to the tile with that point."""
    side = {at: math.sqrt(abs(area(apply(poses[at], UNIT)))) for at, _ in found}
    groups: list[list[tuple[Square, Seen]]] = []
    for at, seen in sorted(found, key=lambda f: -f[1].look.there):
        own = next((g for g in groups if math.dist(seen.px, g[0][1].px) < (ONE if at == g[0][0] else _SAME) * side[at]
                    ), None)
        if own is None:
            groups.append([(at, seen)])
        elif all(at != there for there, _ in own):
            own.append((at, seen))
    out: dict[Square, list[Seen]] = {at: [] for at in poses}
    for group in groups:
        if len(group) == 1:
            out[group[0][0]].append(group[0][1])
            continue
        weight = np.array([probability(seen.look.there) for _, seen in group])
        px = weight @ np.array([seen.px for _, seen in group]) / weight.sum()
        feet = [apply(np.linalg.inv(poses[at]), px)[0] for at, _ in group]
        n = min(range(len(group)), key=lambda k: float(np.abs(feet[k] - 0.5).max()))
        at, seen = group[n]
        look = replace(seen.look, foot=(float(feet[n][0]), float(feet[n][1])),
                       there=max(other.look.there for _, other in group))
        out[at].append(replace(seen, look=look, px=(float(px[0]), float(px[1]))))
    return {at: tuple(sorted(seen, key=lambda s: -s.look.there)) for at, seen in out.items()}
