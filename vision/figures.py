"""Reads whose figure stands where on a board, in photographs and films.

A small network finds feet, postures and silhouettes on each tile (`vision.figurenet`); the colour is that of the
silhouette's own pixels (`vision.paint`). Each source adds its log-odds; `vision.occupancy` says which segment a figure
occupies.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import cv2
import numpy as np
import numpy.typing as npt

from scoring.tiles import Square
from vision.figurenet import CELLS, CROP_PX, KINDS, MARGIN, SHAPED, TILE_PX, FigureMaps, FigureNet
from vision.frames import Image
from vision.lattice import UNIT, Array, apply, area, rectify
from vision.looks import FigureLook, inside, probability, within
from vision.nadir import leans
from vision.paint import SEEN, Print, colours_of, light_of, shown
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

_LOW = -2.5  # logit of a foot's cell below which nothing is reported
_LIT_BY = 12  # number of tiles by which the light is measured
_ONE = 0.19  # of a tile: feet closer than this are one figure's; wood is 9 mm thick
_OTHER = 20.0  # squared distance of two silhouettes' colours, in deviations of one paint on one table, from which they
# are two figures' (chosen: less than red, blue, green, yellow and black are apart)
_OWN = 0.024  # of a tile's area: least part of a silhouette whose colour is its figure's, a quarter of a follower
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

    def paint_of(pixels: Image) -> str:
        named = colours_of([shown(pixels, light)], light, colours, paints)[0]
        return max(named, key=lambda c: named[c], default="")

    found = []
    covered = np.zeros(crops.shape[:3], bool)
    for n, (at, pose) in enumerate(poses.items()):
        around = by_paint(peaks(felt, n, _LOW, lean[at]), felt, n, crops[n], light)
        owner = owners(felt, n, [p.foot for p in around])
        covered[n] = np.isin(owner, [k for k, p in enumerate(around) if _there(p.there) > 0])
        before = bare.get(at) if bare else None
        known, below = unlike_and_below(crops[n], owner >= 0, before) if before is not None else (None, None)
        faint = [k for k in range(len(around)) if not (owner == k).any()]
        objects = unexplained(below, owner >= 0) if below is not None and (pieces or faint) else []
        if pieces:
            around += [_hardly_a_foot(region, felt, n) for region in objects
                       if not any(_in(region, around[k]) for k in faint)]
        for k, peak in enumerate(around):
            if (np.abs(peak.foot - 0.5) < 0.5 + _OVER).all():
                own = owner == k
                region = None if own.any() else next((r for r in objects if _in(r, peak)), None)
                if region is not None and before is not None and known is not None and k in faint \
                        and _may_be_a_figure(crops[n], region, known, before) \
                        and paint_of(crops[n][region]) not in pieces:
                    own, objects = region, [r for r in objects if r is not region]  # one figure's, the surest foot's
                seen = replace(_seen(peak, crops[n], own, pose, light), by_change=region is not None)
                if before is not None and known is not None:
                    more = _new(crops[n], own, known, before)
                    seen = replace(seen, new=more, look=replace(seen.look, there=seen.look.there + more))
                found.append((at, seen))
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


def _new(crop: Image, silhouette: npt.NDArray[np.bool_], different: Array, bare: Bare) -> float:
    """Log-odds of a figure from what its tile looked like before. Where a shadow shows no print it may be grey wood."""
    odds = strange(different, silhouette)
    if odds <= 0.0 or not in_shadow(crop, silhouette, bare):
        return odds
    return LIMITS.like if shows_through(crop, silhouette, bare) > LIMITS.shown else 0.0


def _may_be_a_figure(crop: Image, region: npt.NDArray[np.bool_], different: Array, bare: Bare) -> bool:
    """Whether something has come there that is no larger than a figure with its shadow, and no hand covers the tile."""
    return region.sum() <= LIMITS.figure_px and not np.isnan(different).all() and has_come(crop, region, bare)


def _hardly_a_foot(region: npt.NDArray[np.bool_], felt: FigureMaps, n: int) -> Peak:
    """A foot where in a region of a crop the network is least sure that there is none."""
    middles = ((_MIDDLES + MARGIN) * TILE_PX).astype(int)
    logits = np.where(region[np.ix_(middles, middles)], felt.foot[n], -np.inf)
    row, column = np.unravel_index(int(logits.argmax()), logits.shape)
    return Peak(foot=np.array([_MIDDLES[column], _MIDDLES[row]]), spread=SPREAD, there=float(logits[row, column]),
                lying=float(felt.lying[n, row, column]), kinds=felt.kinds[n, :, row, column])


def _in(region: npt.NDArray[np.bool_], peak: Peak) -> bool:
    """Whether a foot is in a region of its crop."""
    column, row = np.clip(((peak.foot + MARGIN) * TILE_PX).astype(int), 0, CROP_PX - 1)
    return bool(region[row, column])


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Peak:
    foot: Array  # (2,) tiles
    spread: float  # tiles
    there: float  # logit
    lying: float  # logit
    kinds: Array  # (6,) log-probabilities
    parts: tuple[Peak, ...] = ()  # the feet detected, if it is the mean of several


_STEP = CROP_PX / CELLS / TILE_PX
_MIDDLES = (np.arange(CELLS) + 0.5) * _STEP - MARGIN


def peaks(felt: FigureMaps, n: int, lowest: float, lean: Array | None = None) -> list[Peak]:
    """Feet detected in a crop, on the tile or around it, most certain first.

    In an oblique view a foot's position along the ``lean`` is uncertain: two feet one behind the other are one
    figure's, somewhere between them.
    """
    foot = felt.foot[n]
    top = (foot == cv2.dilate(foot, np.ones((3, 3)))) & (foot > lowest)
    cells = sorted(np.argwhere(top).tolist(), key=lambda c: -foot[c[0], c[1]])
    groups: list[list[Peak]] = []
    for row, column in cells:
        at = np.array([_MIDDLES[column], _MIDDLES[row]]) + felt.place[n, :, row, column]
        peak = Peak(foot=at, spread=SPREAD, there=float(foot[row, column]), lying=float(felt.lying[n, row, column]),
                    kinds=felt.kinds[n, :, row, column])
        own = next((g for g in groups if _apart(at - g[0].foot, lean) < _ONE), None)
        if own is None:
            groups.append([peak])
        else:
            own.append(peak)
    return [_mean(group) for group in groups]


def _mean(group: Sequence[Peak]) -> Peak:
    """One figure's feet as one, the first of them the most certain."""
    if len(group) == 1:
        return group[0]
    weight = np.array([probability(_there(p.there)) for p in group])
    weight /= weight.sum()
    places = np.array([p.foot for p in group])
    middle = weight @ places
    spread = math.sqrt(SPREAD**2 + float(weight @ ((places - middle) ** 2).sum(axis=1)) / 2)
    return replace(group[0], foot=middle, spread=spread, parts=tuple(group))


def by_paint(found: Sequence[Peak], felt: FigureMaps, n: int, crop: Image, light: Array) -> list[Peak]:
    """The figures of a crop, where feet that were taken for one figure's are several's if the silhouettes below them
    have different paints: somebody put a figure close to another one."""
    parts = [(m, part) for m, peak in enumerate(found) for part in peak.parts or (peak,)]
    if len(parts) == len(found):
        return list(found)
    whose, out = owners(felt, n, [part.foot for _, part in parts]), list[Peak]()
    for m, peak in enumerate(found):
        groups: list[tuple[Array, list[Peak]]] = []
        for k, (own, part) in enumerate(parts):
            pixels = crop[whose == k]
            if own != m or _there(part.there) <= 0.0 or len(pixels) < _OWN * TILE_PX**2:
                continue
            uvl = shown(pixels, light)
            alike = next((g for c, g in groups if float((((c - uvl) / SEEN) ** 2).sum()) / 2 < _OTHER), None)
            if alike is None:
                groups.append((uvl, [part]))
            else:
                alike.append(part)
        out += [peak] if len(groups) < 2 else [_mean(group) for _, group in groups]
    return sorted(out, key=lambda p: -p.there)


def _apart(way: Array, lean: Array | None) -> float:
    """Distance of two feet in tiles, with less weight along the lean."""
    far = 0.0 if lean is None else float(np.hypot(*lean))
    if lean is None or far < 1e-6:
        return float(np.hypot(*way))
    along = float(way @ lean) / far
    return math.hypot(math.sqrt(max(0.0, float(way @ way) - along**2)), along / (1 + 1.2 * far))


def owners(felt: FigureMaps, n: int, feet: Sequence[Array]) -> npt.NDArray[np.int64]:
    """(CROP_PX, CROP_PX) index of the foot whose silhouette a pixel belongs to, -1 for none."""
    if not feet:
        return np.full((CROP_PX, CROP_PX), -1)
    size = (CROP_PX, CROP_PX)
    x, y = (cv2.resize(felt.home[n, k], size, interpolation=cv2.INTER_LINEAR) for k in (0, 1))
    covered = cv2.resize(felt.silhouette[n], size, interpolation=cv2.INTER_LINEAR) > 0
    fine = (np.arange(CROP_PX) + 0.5) / TILE_PX - MARGIN
    apart = np.array([np.hypot(x + fine[None] - f[0], y + fine[:, None] - f[1]) for f in feet])
    near = apart.argmin(axis=0)
    return np.where(covered & (apart.min(axis=0) < 0.3), near, -1)


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
    look = FigureLook(foot=(float(peak.foot[0]), float(peak.foot[1])), spread=peak.spread, there=_there(peak.there),
                      lying=_lying(peak), colours={}, pieces=_pieces(peak.kinds))
    return Seen(look=look, px=(float(px[0]), float(px[1])), outline_px=outline, silhouette=silhouette,
                uvl=shown(pixels, light), round=float(np.exp(peak.kinds[_ROUND]).sum()))


SPREAD = 0.03  # of a tile: standard deviation of a foot
_ROUND = [KINDS.index("disc"), KINDS.index("cube")]


THERE = (2.42, 0.9)  # scale and shift of a foot's logit: `training.calibrate_figures`
LYING = 0.8  # scale of the lying logit: below 1, because real pieces differ more from ours than held-out drawings do


def _there(logit: float) -> float:
    return THERE[0] * logit + THERE[1]


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
        own = next((g for g in groups if math.dist(seen.px, g[0][1].px) < (_ONE if at == g[0][0] else _SAME) * side[at]
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
