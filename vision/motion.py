"""Whether the table is still, and where it differs from how it was last read. Works on a small grey copy of the frame.

Both answers are made blind to lamps: a change of brightness of the whole picture is taken out before comparing, and
what did not change follows slow drift.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.frames import Image

WIDTH_PX = 480
_MOVING = 9.0  # grey levels between two frames: above camera noise after averaging
_CHANGED = 11.0  # grey levels against the settled view
_STILL_PART = 0.0006  # part of the watched area that may flicker while it counts as still
_HAND_PART = 0.004  # part of the picture: a region at the border larger than this is an arm, a head or a sleeve
_DRIFT = 0.2
_LAMP_PX = 24.0  # wider than a tile: what changes over this width alike is light
_FORGOTTEN = 8  # still frames after which what reaches in from the border is furniture, not a hand

Grey = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What one frame says: ``moving`` part of the watched area, frames it has been ``still``, the ``changed`` pixels
    against the settled view and, among them, those of things that reach in from the border (``hands``)."""

    moving: float
    still: int
    changed: Mask
    hands: Mask


class Motion:
    """Compares each frame with the one before and with the view that was last settled."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.scale = min(1.0, WIDTH_PX / shape[1])
        self.size = (round(shape[1] * self.scale), round(shape[0] * self.scale))
        self._before: Grey | None = None
        self._settled: Grey | None = None
        self._now: Grey | None = None
        self._still = 0

    def small(self, bgr: Image) -> Grey:
        """The frame as it is compared: (h, w) grey, averaged down."""
        grey = cv2.cvtColor(cv2.resize(bgr, self.size, interpolation=cv2.INTER_AREA), cv2.COLOR_BGR2GRAY)
        return cv2.GaussianBlur(grey.astype(np.float32), (0, 0), 0.8)

    def feed(self, bgr: Image, watched: Mask | None) -> Look:
        """One frame. ``watched`` (h, w) is the area in which movement matters, None for everywhere."""
        now = self._now = self.small(bgr)
        area = np.ones(now.shape, bool) if watched is None else watched
        moving = 1.0
        if self._before is not None:
            moving = float((_difference(now, self._before) > _MOVING)[area].mean()) if area.any() else 0.0
        self._still = self._still + 1 if moving < _STILL_PART else 0
        self._before = now
        changed = np.zeros(now.shape, bool)
        if self._settled is not None:
            changed = _difference(now, self._settled) > _CHANGED
            if self._still > 1:
                quiet = ~cv2.dilate(changed.astype(np.uint8), np.ones((9, 9), np.uint8)).astype(bool)
                self._settled[quiet] += _DRIFT * (now[quiet] - self._settled[quiet])
        hands = _hands(changed) if self._still < _FORGOTTEN else np.zeros(now.shape, bool)
        return Look(moving=moving, still=self._still, changed=changed, hands=hands)

    def settle(self, keep: Mask | None = None) -> None:
        """Take the present frame as the settled view, except where ``keep`` says that the old one stays."""
        assert self._now is not None
        fresh = self._now.copy()
        if keep is not None and self._settled is not None:
            fresh[keep] = self._settled[keep]
        self._settled = fresh

    @property
    def settled(self) -> bool:
        """Whether there is a settled view to compare with."""
        return self._settled is not None


def _difference(a: Grey, b: Grey) -> Grey:
    """Absolute difference after taking out what changed for the surroundings alike: a lamp, a person's shade."""
    light = _surroundings(a) / (_surroundings(b) + 1.0)
    return np.asarray(np.abs(a - np.clip(light, 0.75, 1.33) * b), np.float32)


def _surroundings(grey: Grey) -> Grey:
    """What a pixel's wide surroundings look like on average; blurred small, since it is smooth."""
    step = 8
    small = cv2.resize(grey, None, fx=1 / step, fy=1 / step, interpolation=cv2.INTER_AREA)
    small = cv2.GaussianBlur(small, (0, 0), _LAMP_PX / step)
    return np.asarray(cv2.resize(small, grey.shape[::-1], interpolation=cv2.INTER_LINEAR), np.float32)


def _hands(changed: Mask) -> Mask:
    """The parts of the change that reach in from the picture's border and are too large for a figure."""
    closed = cv2.morphologyEx(changed.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((7, 7), np.uint8))
    count, labels, stats, _ = cv2.connectedComponentsWithStats(closed)
    out = np.zeros(changed.shape, bool)
    h, w = changed.shape
    for n in range(1, count):
        x, y, width, height, size = stats[n]
        touches = x <= 1 or y <= 1 or x + width >= w - 1 or y + height >= h - 1
        if touches and size > _HAND_PART * h * w:
            out |= labels == n
    return out
