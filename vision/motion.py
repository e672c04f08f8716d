"""Where the table is still, and where it differs from how it was last read. Works on a small grey copy of the frame.

Both answers are made blind to lamps: what changed for wide surroundings alike is taken out before comparing, and what
has not moved for a while becomes the settled view. The view before that is kept until all is calm again: the shadow of
an arm that rested leaves no mark when it goes. Stillness is kept for every pixel, so that a hand at the supply does
not keep the other side of the table from being read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from vision.frames import Image

WIDTH_PX = 480
FURNITURE_S = 3.0  # what has not moved for so long may be part of the table
HAND_S = 20.0  # but what reaches in from the border may be an arm that rests
_MOVING = 9.0  # grey levels between two frames: above camera noise after averaging
_CHANGED = 11.0  # grey levels against the settled view
_HAND_PART = 0.004  # part of the picture: a region at the border larger than this is an arm, a head or a sleeve
_DRIFT = 0.2
_REST_S = 5.0  # without any change: what lies there now is the table
_RESTING = 0.0005  # of the picture that may differ meanwhile
_BLOCK_PX = 8  # light is compared block by block
_LAMP_WINDOW = 11  # blocks: what changes alike for most of a place this wide, several tiles, is light
_LAMP_STEPS = 400.0  # per log unit: the median filter works on bytes
_RIM_PX = 41  # how wide a shadow's border may be
_STILL_FRAMES = 2  # without movement, before a shadow is taken for one that stays
_LONG_S = 1e3
_SURE_MOVED = 0.004  # of a region: more than noise flickers
_MOST_FRAMES = 30_000  # a count that fits its type
_SOLID, _NEAR = np.ones((5, 5), np.uint8), np.ones((9, 9), np.uint8)
_STAYED = 9.0  # grey levels from how a place was seen before: the same thing lies there
_SHARP, _LEAST = 0.18, 0.03  # of a region's difference (log units) that its border may rise by per pixel
_SHARP_RIM = 0.08  # of a region's border that is as sharp: shadows have up to 0.07, arms 0.14 to 0.44
_PATCH_PX, _PRINT_DENSE = 21, 0.15  # a part of a tile, and how much print it shows at least
_PRINT, _PRINT_PART = 0.05, 0.1  # log units per pixel inside, and of the region: shadows have 0.06, arms 0.2 to 0.4

Grey = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """A part of the small picture: what is ``inside`` of the box of these rows and columns. Most are a tile's."""

    rows: slice
    columns: slice
    inside: Mask

    def of(self, whole: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The values (N,) of a small picture in this area; none when it lies outside."""
        return whole[self.rows, self.columns][self.inside]

    def part(self, whole: Mask) -> float:
        """How much of this area is set in a mask: nothing where it lies outside."""
        box = whole[self.rows, self.columns]
        size = np.count_nonzero(self.inside) if box.any() else 0  # a box may cut the picture where its area does not
        return np.count_nonzero(box & self.inside) / size if size else 0.0

    def put(self, whole: npt.NDArray[Any], value: bool) -> None:
        """Set a mask in this area."""
        whole[self.rows, self.columns][self.inside] = value


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What one frame says, pixel by pixel: whether it ``moved`` since the frame before, for how many frames and
    seconds it has been still, whether it ``changed`` against the settled view, and which of the changed ones belong to
    things that reach in from the border (``hands``)."""

    moved: Mask
    changed: Mask
    hands: Mask
    still_frames: npt.NDArray[np.int16]
    still_s: Grey

    def still(self, *areas: Area) -> tuple[int, float]:
        """For how many frames and seconds (nearly) all of these areas has been still."""
        frames, seconds = (np.concatenate([a.of(whole) for a in areas]) for whole in (self.still_frames, self.still_s))
        if not frames.size:
            return 0, 0.0
        spare = int(_SURE_MOVED * frames.size)
        return int(np.partition(frames, spare)[spare]), float(np.partition(seconds, spare)[spare])


class Motion:
    """Compares each frame with the one before and with the view that was last settled."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.scale = min(1.0, WIDTH_PX / shape[1])
        self.size = (round(shape[1] * self.scale), round(shape[0] * self.scale))
        self.squares: Mask | None = None  # where a tile may come: what lies within is no arm
        self._before: tuple[Grey, Grey] | None = None
        self._settled: tuple[Grey, Grey] | None = None
        self._calm: tuple[Grey, Grey] | None = None  # the settled view without what was only absorbed since
        self._rest_s = 0.0
        self._now: tuple[Grey, Grey] | None = None
        self._t_s = 0.0
        self._frames = np.zeros(self.size[::-1], np.int16)
        self._seconds = np.zeros(self.size[::-1], np.float32)
        self._lying = np.zeros(self.size[::-1], np.float32)  # what was seen still at every place
        self._stayed = np.zeros(self.size[::-1], np.float32)  # for how many seconds, arms in between left out
        self._same: Mask = np.zeros(self.size[::-1], bool)  # where that is seen now
        # memory that every frame uses again: to take it from the system costs as much as what is worked out in it
        self._halves: dict[int, Any] = {}
        self._room: Grey = np.zeros(self.size[::-1], np.float32)

    def feed(self, image: Image, t_s: float) -> Look:
        """One frame, taken at ``t_s``: in colour, or a grey picture of the same view in any size."""
        grey = cv2.GaussianBlur(self._small(image).astype(np.float32), (0, 0), 0.8)
        now = self._now = (grey, _surroundings(grey))
        moved = np.ones(grey.shape, bool)
        if self._before is not None:
            moved = _difference(now, self._before, self._room) > _MOVING
        step = float(np.clip(t_s - self._t_s, 0.0, 1.0))
        self._count(moved, step)
        self._follow(grey, moved, step)
        self._before, self._t_s = now, t_s
        changed = np.zeros(grey.shape, bool)
        if self._settled is not None and self._calm is not None:
            changed = _difference(now, self._settled, self._room) > _CHANGED
            if self._calm is not self._settled and changed.any():
                changed &= _difference(now, self._calm, self._room) > _CHANGED
            self._drift(grey, changed)
            self._rest_s = self._rest_s + step if np.count_nonzero(changed) / changed.size < _RESTING else 0.0
            if self._rest_s > _REST_S:
                self._calm = self._settled
        hands, lit = self._hands(changed)
        if lit.any():  # a shadow came or went: with its soft rim, or the settled view would get borders of its own
            rim = cv2.dilate(lit.astype(np.uint8), np.ones((_RIM_PX, _RIM_PX), np.uint8)) > 0
            self.absorb(lit | (rim & ~changed))
            changed &= ~lit
        return Look(moved=moved, changed=changed, hands=hands, still_frames=self._frames, still_s=self._seconds)

    def _count(self, moved: Mask, step: float) -> None:
        """For how many frames and seconds every place has been still. What earlier frames said stays as it was."""
        frames = np.minimum(self._frames, _MOST_FRAMES - 1)
        frames += 1
        seconds = self._seconds + np.float32(step)
        np.minimum(seconds, np.float32(_LONG_S), out=seconds)
        if moved.any():
            frames[moved], seconds[moved] = 0, 0
        self._frames, self._seconds = frames, seconds

    def _follow(self, grey: Grey, moved: Mask, step: float) -> None:
        """What lies at every place, and for how long it has been seen there."""
        same = cv2.absdiff(grey, self._lying, self._room) < _STAYED
        if same.all() and not moved.any():
            self._stayed += np.float32(step)
        else:
            np.add(self._stayed, np.float32(step), out=self._stayed, where=same & ~moved)
            another = ~same & (self._seconds >= FURNITURE_S)
            np.copyto(self._lying, grey, where=another)
            np.copyto(self._stayed, self._seconds, where=another)
        self._same = same

    def _drift(self, grey: Grey, changed: Mask) -> None:
        """The settled view follows slowly what it shows, but not near what has changed."""
        assert self._settled is not None
        held = self._settled[0]
        ahead = np.subtract(grey, held, out=self._room)
        ahead *= _DRIFT
        if changed.any():
            np.add(held, ahead, out=held, where=cv2.dilate(changed.view(np.uint8), _NEAR) == 0)
        else:
            held += ahead

    def _small(self, image: Image) -> Image:
        """The picture grey and small. Halving is several times as fast as any other step."""
        halves, n = self._halves, 0
        if image.ndim == 3:
            image = halves[0] = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY, halves.get(0))
        while image.shape[1] >= 2 * self.size[0] and not (image.shape[0] | image.shape[1]) & 1:
            n, half = n + 1, (image.shape[1] // 2, image.shape[0] // 2)
            image = halves[n] = cv2.resize(image, half, halves.get(n), interpolation=cv2.INTER_AREA)
        return np.asarray(cv2.resize(image, self.size, interpolation=cv2.INTER_AREA), np.uint8)

    def settle(self, where: Mask | Area | None = None) -> None:
        """Take the present frame as the settled view, everywhere or only ``where``: it has been looked at."""
        self._settled, self._calm = self._with_now(self._settled, where), self._with_now(self._calm, where)

    def absorb(self, where: Mask) -> None:
        """The same for what nobody knows and has lain there for a while. If it goes away again, nothing happened."""
        self._settled = self._with_now(self._settled, where)

    def _with_now(self, view: tuple[Grey, Grey] | None, where: Mask | Area | None) -> tuple[Grey, Grey]:
        assert self._now is not None
        grey = self._now[0].copy()
        if isinstance(where, Area) and view is not None:
            held = view[0].copy()
            held[where.rows, where.columns][where.inside] = where.of(grey)
            grey = held
        elif where is not None and view is not None:
            grey = np.where(where, grey, view[0])
        return grey, _surroundings(grey)

    def shift(self, moved: npt.NDArray[np.float64]) -> None:
        """The camera was bumped: the settled view as it looks now, ``moved`` (3, 3) in px of the small picture."""
        assert self._now is not None
        if self._settled is None or self._calm is None:
            return
        seen = cv2.warpPerspective(np.ones(self._now[0].shape, np.uint8), moved, self.size)
        greys = (np.where(seen > 0, cv2.warpPerspective(view[0], moved, self.size), self._now[0])
                 for view in (self._settled, self._calm))
        self._settled, self._calm = ((grey, _surroundings(grey)) for grey in greys)

    @property
    def settled(self) -> bool:
        """Whether there is a settled view to compare with."""
        return self._settled is not None

    def _hands(self, changed: Mask) -> tuple[Mask, Mask]:
        """What reaches in from the picture's border, is too large for a figure and has not lain there long; and what
        is still again and differs by its light alone."""
        h, w = changed.shape
        hands, lit = np.zeros(changed.shape, bool), np.zeros(changed.shape, bool)
        least = _HAND_PART * h * w
        if np.count_nonzero(changed) < least / 2:
            return hands, lit
        closed = cv2.morphologyEx(changed.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((7, 7), np.uint8))
        count, labels, stats, _ = cv2.connectedComponentsWithStats(closed)
        for n in range(1, count):
            x, y, width, height, size = stats[n]
            if size < least:
                continue
            region = labels == n
            still = float((self._frames[region] < _STILL_FRAMES).mean()) <= _SURE_MOVED
            if self._light(region):
                lit |= region & still & ~self._printed(region)
                continue
            sides = sum(map(int, (x <= 1, y <= 1, x + width >= w - 1, y + height >= h - 1)))
            if sides >= 3:  # an arm comes from one side or round a corner: the camera was bumped
                return np.zeros_like(hands), lit
            beside = region if self.squares is None else region & ~self.squares
            if not sides or beside.sum() < least / 2:  # or it is a tile near the border
                continue
            young = (self._seconds < HAND_S) & ~(self._same & (self._stayed >= HAND_S))  # what is seen now, not before
            fresh = cv2.morphologyEx((region & young).astype(np.uint8), cv2.MORPH_OPEN, _SOLID)
            if fresh.sum() > _SURE_MOVED * size:  # single pixels flicker
                hands |= region
        return hands, lit

    def _light(self, region: Mask) -> bool:
        """Whether a region differs from the settled view by its light alone, however much."""
        ratio, slope = self._ratio()
        if float((slope[region] > _PRINT).mean()) > _PRINT_PART:
            return False
        sharp = slope > max(_LEAST, _SHARP * abs(float(np.median(ratio[region]))))
        solid = region.astype(np.uint8)
        rim = (cv2.dilate(solid, np.ones((5, 5), np.uint8)) > cv2.erode(solid, np.ones((7, 7), np.uint8)))
        rim[[0, 1, -2, -1]] = rim[:, [0, 1, -2, -1]] = False
        return bool(rim.any()) and float(sharp[rim].mean()) < _SHARP_RIM

    def _printed(self, region: Mask) -> Mask:
        """Where in a region something lies that was not there before: a tile that came as a shadow went."""
        print_ = (region & (self._ratio()[1] > _PRINT)).astype(np.float32)
        dense = cv2.boxFilter(print_, -1, (_PATCH_PX, _PATCH_PX)) > _PRINT_DENSE
        return cv2.dilate(dense.astype(np.uint8), np.ones((_PATCH_PX, _PATCH_PX), np.uint8)) > 0

    def _ratio(self) -> tuple[Grey, Grey]:
        """How much brighter it is than the settled view (log units), and how steeply that changes per pixel."""
        assert self._now is not None and self._settled is not None
        ratio = np.log(cv2.GaussianBlur(self._now[0] + 8, (0, 0), 1.0) /
                       cv2.GaussianBlur(self._settled[0] + 8, (0, 0), 1.0))
        along, down = (cv2.Sobel(ratio, cv2.CV_32F, x, 1 - x, scale=0.125) for x in (1, 0))
        return ratio, np.hypot(along, down)


def _difference(a: tuple[Grey, Grey], b: tuple[Grey, Grey], room: Grey) -> Grey:
    """Absolute difference after taking out what changed for the surroundings alike: a lamp, a person's shade.

    The middle of what changed around counts, not the mean: a dark tile on a bright table does not darken the table.
    It is worked out in ``room``, until the next one.
    """
    ratio = np.log((a[1] + 1.0) / (b[1] + 1.0))
    lamp = float(np.median(ratio))  # what is alike in the whole picture may be as much as it likes
    steps = np.clip((ratio - lamp) * _LAMP_STEPS + 128.5, 0, 255).astype(np.uint8)
    change = cv2.medianBlur(steps, _LAMP_WINDOW).astype(np.float32)
    light = np.exp((cv2.GaussianBlur(change, (0, 0), 1.0) - 128.0) / _LAMP_STEPS)
    cv2.resize(light, a[0].shape[::-1], room, interpolation=cv2.INTER_LINEAR)
    np.clip(room, 0.75, 1.33, out=room)
    room *= float(np.exp(lamp))
    room *= b[0]
    cv2.absdiff(a[0], room, room)
    return room


def _surroundings(grey: Grey) -> Grey:
    """The picture in blocks, by which light is compared."""
    return np.asarray(cv2.resize(grey, None, fx=1 / _BLOCK_PX, fy=1 / _BLOCK_PX, interpolation=cv2.INTER_AREA),
                      np.float32)
