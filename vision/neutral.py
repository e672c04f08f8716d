"""Neutral pieces, which stand on the board among the players' figures: detected where the figure network sees feet, and
recognised by their length and by a paint that no player has.

The network was trained on followers: a long piece is several feet to it. A region of one colour around its silhouettes
is taken as one piece, whose length is compared with that of each kind and of followers. Where the network sees hardly
a foot and no silhouette (unpainted wood on a town, or touching a follower), the region is grown from the foot itself,
and where it sees none at all, from where the tile looks different than before. A tile also looks different where the
light has changed, and where somebody has left who had been learned as background: print shows through a change of
light, and what comes has an outline that was not there, while what goes leaves none.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import cv2
import numpy as np
import numpy.typing as npt

from scoring.tiles import Square
from vision.figurenet import CROP_PX, MARGIN, TILE_PX
from vision.figures import AT_LEAST, AT_MOST, PAINTED, Seen
from vision.frames import Image
from vision.lattice import UNIT, Array, apply, area, rectify
from vision.looks import NeutralLook
from vision.nadir import leans
from vision.tile_background import (
    Bare,
    Differences,
    changed,
    may_be_new,
    sharper,
    shows_through,
    strange,
    surely_new,
    unlike_and_below,
)
from vision.view import View

_RISES = 0.3  # of its height: mean displacement of a piece's top from its foot in the picture
TILE_MM = 45.0  # reference for the sizes of the pieces


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A piece of which a table has one: its width, height and depth (mm), and the paints (of `vision.paint`) that
    makers use for it."""

    name: str
    wood_mm: tuple[float, float, float]
    paints: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NeutralLimits:
    """Lengths are natural logarithms of tiles, weights nats. Chosen on simulated tables: no such wood was measured."""

    follower: tuple[float, float] = (-0.99, 0.13)  # length of a player's figure: 0.37 of a tile
    cut: float = 0.12  # deviation of a measured length of a known kind
    makers: float = 0.13  # and between makers
    same_uv: float = 0.45  # distance in (u, v) within one paint
    same_light: float = 0.7  # and in lightness: sides are in shadow
    reach: tuple[float, ...] = (1.5, 1.0, 0.6)  # factors of these tolerances, tried in this order
    solid: float = 0.68  # least part of its rectangle that a piece covers: 0.72 to 0.82, and 0.4 to 0.6 with print
    least: float = -4.0  # log-odds of a foot below which nothing is grown from it
    speck: int = 12  # px of a crop: smaller silhouettes are noise
    faint: float = -6.0  # the same as ``least`` for a foot in a piece's own paint
    painted: float = 2.0  # least margin of that paint over the players'
    dot_px: int = 3  # radius around such a foot from which its region is grown
    ungrown_px: int = 60  # area of a region that has hardly grown: then it is what has changed there
    fits: float = 3.0  # most standard deviations by which the length of that region is not a piece's
    covers: float = 0.75  # least part of its foot's area that such a region covers: makers differ, print is small
    beyond: float = 0.1  # tiles by which a foot is clearly on the next tile (chosen)
    seldom: float = -1.5  # prior log-odds that a figure is one of them
    spoiled: float = -5.5  # floor of a length's log-likelihood, relative to the likeliest
    most: float = 8.0  # limit of one look's log-odds
    unlike: float = 4.0  # by which the network's log-odds are lower for such a foot than for a follower's
    unseen: float = 9.0  # the same where it sees no silhouette (chosen on two simulated tables)
    sharper: float = 0.1  # least natural logarithm by which the outline of what differs is sharper than before (chosen:
    # a fairy's is by more, where somebody has left it is not)
    shows_through: float = 0.2  # most of the print's contrast that is seen in it (chosen, likewise)
    new: float = 5.0  # most evidence from a tile that looked different there before
    sure: float = 3.0  # log-odds from which a look is used to learn its paint
    floor: float = -9.0  # floor of a paint's log-likelihood


LIMITS = NeutralLimits()
_SPREAD = math.hypot(LIMITS.cut, LIMITS.makers)  # of the logarithm of a length


def _usual(kind: Kind) -> float:
    """Logarithm of the length (tiles) that a piece has in a picture."""
    wide, high, deep = kind.wood_mm
    return math.log(max(wide, deep + _RISES * high) / TILE_MM)


def _largest(kind: Kind, lean: float) -> float:
    """The largest area (tiles squared) of a piece and of the side of it that its ``lean`` shows."""
    wide, high, deep = kind.wood_mm
    return wide * (deep + lean * high) * math.exp(4 * LIMITS.makers) / TILE_MM**2  # two deviations of either side


@dataclass(slots=True)
class Neutrals:
    """Finds the pieces of these kinds among the detected figures; keep it for a whole game: it learns a piece's paint
    from its sightings. ``others`` are the paints of what else stands on the board and is no player's."""

    kinds: Sequence[Kind]
    players: Collection[str]
    view: View | None = None
    others: Collection[str] = ()
    _paints: dict[str, dict[str, float]] = field(default_factory=dict)  # by kind: number of certain sightings per paint

    @property
    def paints(self) -> tuple[str, ...]:
        """The paints that are searched for besides the players'."""
        every = (*(p for kind in self.kinds for p in kind.paints), *self.others)
        return tuple(dict.fromkeys(p for p in every if p not in self.players))

    def told(self, photo: Image, poses: Mapping[Square, Array], found: Mapping[Square, Sequence[Seen]],
             board: Mapping[Square, Array], bare: Mapping[Square, Bare] | None = None,
             ) -> dict[Square, tuple[Seen, ...]]:
        """The detections with log-odds of each kind, one for each piece, on the tile on which it stands; the feet that
        belong to it become less likely a player's. ``found`` was read with all `paints` and the players', and with
        ``bare``, what tiles looked like before."""
        if not self.kinds:
            return {at: tuple(self._of_players(s) for s in seen) for at, seen in found.items()}
        lean = leans({**board, **poses}, photo.shape, self.view)
        before = Differences(photo, {**board, **poses}, bare or {})
        blobs = [b for at, seen in found.items() if (seeds := self._seeds(seen))
                 for b in self._blobs(at, lean[at], seen, seeds, before)]
        out: dict[Square, list[Seen]] = {at: list(seen) for at, seen in found.items()}
        taken: list[_Blob] = []
        for blob in sorted(blobs, key=lambda b: -max(b.odds.values())):
            side = math.sqrt(abs(area(apply(poses[blob.at], UNIT))))
            again = any(math.dist(blob.px, other.px) < 0.5 * side for other in taken)  # in another tile's crop
            if not again:
                taken.append(blob)
                self._learn(blob)
            best = max(blob.odds.values())
            for n in blob.feet:
                seen = out[blob.at][n]
                out[blob.at][n] = replace(seen, look=replace(
                    seen.look, there=-float(np.logaddexp(-seen.look.there, best))))
            home = _stands_on(blob, poses, board)
            if not again:
                first, elsewhere = out[blob.at][blob.feet[0]], home not in out
                home = blob.at if elsewhere else home
                foot = apply(np.linalg.inv(poses[home]), blob.px)[0]
                out[home].append(replace(first, elsewhere=elsewhere, look=replace(
                    first.look, there=-12.0, foot=(float(foot[0]), float(foot[1])), width=0.0, width_spread=0.0),
                    px=blob.px, silhouette=_shifted(blob.mask, home[0] - blob.at[0], home[1] - blob.at[1]),
                    neutral=blob.odds))
        return {at: tuple(s if s.neutral else self._of_players(s) for s in seen) for at, seen in out.items()}

    def _of_players(self, seen: Seen) -> Seen:
        """A detection with the players' paints alone: another paint must not make a player's figure likelier."""
        mine = {c: v for c, v in seen.look.colours.items() if c in self.players}
        if len(mine) in (0, len(seen.look.colours)):  # there is nothing to tell apart
            return seen
        best = max(mine.values())
        less = PAINTED * float(np.logaddexp.reduce(list(seen.look.colours.values()))
                               - np.logaddexp.reduce(list(mine.values())))
        return replace(seen, look=replace(seen.look, there=seen.look.there - min(less, AT_MOST - AT_LEAST),
                                          colours={c: v - best for c, v in mine.items()}))

    def _seeds(self, found: Sequence[Seen]) -> dict[int, npt.NDArray[np.bool_]]:
        """By the index of a foot the (S, S) mask from which its region is grown: its silhouette, else a dot around a
        foot in the paint of a piece that the network hardly sees, or not at all where the tile looks different. A paint
        that may be a player's too is sought only there."""
        paints = {paint for kind in self.kinds for paint in kind.paints}
        out = {}
        for n, s in enumerate(found):
            named = s.look.colours
            margin = max((named.get(p, LIMITS.floor) for p in paints - set(self.players)), default=LIMITS.floor) - max(
                (v for c, v in named.items() if c in self.players), default=LIMITS.floor)
            shared = max(named, key=lambda c: named[c], default="") in paints & set(self.players)
            own = margin > LIMITS.painted  # a paint that no player has
            if s.silhouette.sum() > LIMITS.speck and s.look.there > LIMITS.least:
                out[n] = s.silhouette
            elif own and s.look.there > LIMITS.faint or (own or shared) and s.by_change:
                dot = np.zeros(s.silhouette.shape, np.uint8)
                column, row = ((np.array(s.look.foot) + MARGIN) * TILE_PX).astype(int)
                out[n] = cv2.circle(dot, (int(column), int(row)), LIMITS.dot_px, 1, -1) > 0
        return out

    def _blobs(self, at: Square, lean: Array, found: Sequence[Seen], seeds: Mapping[int, npt.NDArray[np.bool_]],
               before: Differences) -> list[_Blob]:
        """Groups of feet in one tile's crop that are connected by one colour."""
        pose = before.board[at]
        crop = rectify(before.photo, pose, TILE_PX, MARGIN)
        hidden = np.logical_or.reduce([s.silhouette for s in found])
        bare = before.bare.get(at)
        different, below = unlike_and_below(crop, hidden, bare) if bare is not None else (None, None)
        around, uvl, steep = before.around(at), _uvl(crop), float(np.hypot(*lean))
        left = [n for n, s in enumerate(found) if s.look.there > LIMITS.least or n in seeds]
        out = []
        while (first := next((n for n in left if n in seeds), None)) is not None:
            feet, mask = self._region(uvl, around, seeds[first], first, [(n, found[n]) for n in left], steep)
            box = _box(mask)
            if different is not None and mask.sum() < LIMITS.ungrown_px:
                mask = mask | changed(different, mask, hidden)
                box = _box(mask)
            left = [n for n in left if n not in feet]
            by_change = found[first].by_change
            if by_change and bare is not None and (sharper(crop, mask, bare) < LIMITS.sharper
                                                   or shows_through(crop, mask, bare) > LIMITS.shows_through):
                continue  # something has gone from there, or the light has changed
            outlined = any(found[n].silhouette.sum() > LIMITS.speck for n in feet)
            expected = LIMITS.unlike if outlined else LIMITS.unseen
            first = max(feet, key=lambda n: found[n].look.there)
            if different is not None and below is not None:  # beyond what was said of its foot
                new = below if found[first].by_change else different
                expected += strange(new, mask, LIMITS.new) - found[first].new
            length = max(box[1]) / TILE_PX
            colours = _mean([found[n].look.colours for n in feet])
            there = found[first].look.there
            middle = (np.array(box[0]) + 0.5) / TILE_PX - MARGIN
            odds, paints = {}, {}
            for kind in self.kinds:
                covered = math.inf if outlined else mask.sum() / TILE_PX**2
                odds[kind.name], paints[kind.name] = self._odds(kind, length, colours, covered, steep)
                if by_change and max(colours, key=lambda c: colours[c], default="") not in kind.paints:
                    odds[kind.name] = -LIMITS.most  # a hand is as long, in another paint
            raw = dict(odds)
            for name in raw:  # it is at most one of them, and as likely an object at all as the network says
                others = float(np.logaddexp.reduce([0.0, *(o for n, o in raw.items() if n != name)]))
                real = -float(np.logaddexp(others - raw[name], -there - expected))
                odds[name] = min(max(real, -LIMITS.most), LIMITS.most)
            tall = {kind.name: kind.wood_mm[1] / TILE_MM for kind in self.kinds}
            height = tall[max(odds, key=lambda name: odds[name])]
            px = apply(pose, middle - 0.5 * height * lean)[0]
            out.append(_Blob(at=at, feet=feet, mask=mask, length=float(length), odds=odds, paints=paints,
                             px=(float(px[0]), float(px[1]))))
        return out

    def _region(self, uvl: npt.NDArray[np.float32], around: Array, seed: npt.NDArray[np.bool_], first: int,
                left: Sequence[tuple[int, Seen]], lean: float) -> tuple[list[int], npt.NDArray[np.bool_]]:
        """The region that is grown from a seed, and the feet in it, of those ``left``. If it is not compact, or
        larger than any piece, it has run into print of its colour: then it is grown without what looks as before
        (``around``: differences), or only where something is known to have changed, and the one whose length fits a
        piece best is taken. The same is done where a foot was seen by a change alone. A silhouette that does not grow
        is its region."""
        def grown(reach: float, allowed: npt.NDArray[np.bool_]) -> tuple[list[int], npt.NDArray[np.bool_]]:
            mask = _grown(uvl, seed, reach, allowed)
            feet = [n for n, s in left if n == first or _within(mask, s)]
            return feet, np.logical_or.reduce([mask, *(s.silhouette for n, s in left if n in feet)])

        most = max(_largest(kind, lean) for kind in self.kinds) * TILE_PX**2
        small = seed.sum() < LIMITS.ungrown_px

        def compact(mask: npt.NDArray[np.bool_]) -> bool:
            _, (wide, long), _ = _box(mask)
            return bool((LIMITS.ungrown_px if small else 0) <= mask.sum() <= most
                        and mask.sum() >= LIMITS.solid * (wide + 1) * (long + 1))

        whole = next((g for reach in LIMITS.reach if compact((g := grown(reach, np.ones_like(seed)))[1])), None)
        if (whole is None or dict(left)[first].by_change) and not np.isnan(around).all():
            masks = may_be_new(around), surely_new(around)
            parts = [g for reach in LIMITS.reach for allowed in masks
                     if compact((g := grown(reach, allowed))[1])]
            whole = min(parts, key=lambda g: self._misfit(max(_box(g[1])[1]) / TILE_PX), default=whole)
        return whole or grown(0.0, np.ones_like(seed))

    def _misfit(self, length: float) -> float:
        """By how many standard deviations a length (tiles) differs from that of the kind that it fits best."""
        return min(abs(math.log(length) - _usual(kind)) / _SPREAD for kind in self.kinds)

    def _odds(self, kind: Kind, length: float, colours: Mapping[str, float], covered: float, lean: float,
              ) -> tuple[float, str]:
        """Log-odds that a piece of this length and colour is of that kind and not a player's figure, and its paint. A
        region without an outline, which has ``covered`` so much (tiles squared; infinite with an outline), must fit in
        size: no less than most of its foot, and no more than that with the side that its ``lean`` (tiles per tile of
        height) shows."""
        known = self._paints.get(kind.name, {})
        total = sum(known.values())
        each = {p: colours.get(p, LIMITS.floor) + math.log((known.get(p, 0.0) + 0.2) / (total + 0.2 * len(kind.paints)))
                for p in kind.paints}
        own = float(np.logaddexp.reduce(list(each.values())))
        theirs = [v for c, v in colours.items() if c in self.players]
        others = float(np.logaddexp.reduce(theirs)) - math.log(max(1, len(theirs))) if theirs else 0.0
        usual, (wide, _, deep) = _usual(kind), kind.wood_mm
        size = _log_normal(math.log(length), (usual, _SPREAD)) - _log_normal(math.log(length), LIMITS.follower)
        if covered < math.inf and (abs(math.log(length) - usual) > LIMITS.fits * _SPREAD or not (
                LIMITS.covers * wide * deep / TILE_MM**2 <= covered <= _largest(kind, lean))):
            size = -LIMITS.most
        odds = LIMITS.seldom + max(own, LIMITS.floor) - max(others, LIMITS.floor) + size
        return odds, max(each, key=lambda p: each[p])

    def _learn(self, blob: _Blob) -> None:
        name = max(blob.odds, key=lambda n: blob.odds[n])
        if blob.odds[name] > LIMITS.sure:
            known = self._paints.setdefault(name, {})
            known[blob.paints[name]] = known.get(blob.paints[name], 0.0) + 1.0


def _within(mask: npt.NDArray[np.bool_], seen: Seen) -> bool:
    """Whether a foot's silhouette is in a mask, or the foot itself if the silhouette is tiny."""
    if seen.silhouette.sum() > LIMITS.speck:
        return bool(mask[seen.silhouette].mean() > 0.5)
    column, row = np.clip(((np.array(seen.look.foot) + MARGIN) * TILE_PX).astype(int), 2, CROP_PX - 3)
    return bool(mask[row - 2:row + 3, column - 2:column + 3].any())


def best_of(found: Sequence[Seen]) -> dict[str, NeutralLook]:
    """The likeliest detection of each piece on one tile; of those only seen over it, none."""
    out: dict[str, NeutralLook] = {}
    for seen in found:
        for name, odds in seen.neutral.items() if not seen.elsewhere else ():
            if name not in out or odds > out[name].there:
                out[name] = NeutralLook(there=odds, foot=seen.look.foot)
    return out


@dataclass(frozen=True, slots=True, kw_only=True)
class _Blob:
    """A region of one colour: the tile in whose crop it was seen, the indices of its feet there, its (S, S) mask."""

    at: Square
    feet: list[int]
    mask: npt.NDArray[np.bool_]
    length: float
    odds: Mapping[str, float]
    paints: Mapping[str, str]
    px: tuple[float, float]


def _shifted(mask: npt.NDArray[np.bool_], columns: int, rows: int) -> npt.NDArray[np.bool_]:
    """What a tile's crop shows, as far as it is in the crop of the tile so many columns and rows away."""
    move = np.array([[1, 0, -columns * TILE_PX], [0, 1, -rows * TILE_PX]])
    return np.asarray(cv2.warpAffine(mask.astype(np.uint8), move, mask.shape[::-1], flags=cv2.INTER_NEAREST) > 0)


def _stands_on(blob: _Blob, poses: Mapping[Square, Array], board: Mapping[Square, Array]) -> Square:
    """The tile on which its foot is: of ``poses``, those examined, or another one of the ``board`` if the foot is
    clearly beyond the tile on which it was seen."""
    for at in dict.fromkeys([*poses, *board]):
        pose, beyond = (poses[at], 0.5) if at in poses else (board[at], 0.5 - LIMITS.beyond)
        near = max(abs(at[0] - blob.at[0]), abs(at[1] - blob.at[1])) <= 1
        if near and (np.abs(apply(np.linalg.inv(pose), blob.px)[0] - 0.5) < beyond).all():
            return at
    return blob.at


def _uvl(crop: Image) -> npt.NDArray[np.float32]:
    """(S, S, 3) logarithms of red over green, of blue over green, and of lightness."""
    soft = cv2.GaussianBlur(crop, (0, 0), 0.8).astype(np.float32)
    linear = np.power(soft / 255, 2.2) + 0.012
    logs = np.log(linear)
    return np.stack([logs[..., 2] - logs[..., 1], logs[..., 0] - logs[..., 1], np.log(linear.mean(axis=2))], axis=-1)


def _box(mask: npt.NDArray[np.bool_]) -> tuple[tuple[float, float], tuple[float, float], float]:
    """The smallest rectangle around a mask, as `cv2.minAreaRect` gives it."""
    outline, _ = cv2.findContours(mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    middle, sides, angle = cv2.minAreaRect(np.concatenate(outline).astype(np.float32))
    return (middle[0], middle[1]), (sides[0], sides[1]), angle


def _grown(uvl: npt.NDArray[np.float32], silhouette: npt.NDArray[np.bool_], reach: float,
           allowed: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Region growing: (S, S) mask of what has the silhouette's colour and is connected with it where that is
    ``allowed`` (S, S); ``reach`` scales how different it may be."""
    if not reach:
        return silhouette.copy()
    inner = cv2.erode(silhouette.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    own = np.median(uvl[inner if inner.sum() > 8 else silhouette], axis=0)
    apart = (uvl - own) / (LIMITS.same_uv, LIMITS.same_uv, LIMITS.same_light)
    alike = (((apart**2).sum(axis=2) < 2.0 * reach**2) & allowed).astype(np.uint8)
    alike = cv2.morphologyEx(alike, cv2.MORPH_OPEN, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (5, 5)))
    _, parts = cv2.connectedComponents(alike)
    count = np.bincount(parts[silhouette], minlength=2)
    count[0] = 0
    grown = parts == int(count.argmax()) if count.max() > 0 else np.zeros_like(silhouette)
    return np.asarray(grown | silhouette if grown.sum() < 0.4 * CROP_PX**2 else silhouette.copy(), bool)


def _mean(colours: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Mean over several feet of one piece: they are not independent."""
    names = {c for row in colours for c in row}
    return {c: float(np.mean([row.get(c, LIMITS.floor) for row in colours])) for c in names}


def _log_normal(value: float, how: tuple[float, float]) -> float:
    """Log-density with a heavy tail: some silhouettes are cut off, or merged with another one."""
    mean, deviation = how
    return float(np.logaddexp(-0.5 * ((value - mean) / deviation) ** 2, LIMITS.spoiled)) - math.log(deviation)
