"""Checks whether a camera's picture is usable at all: black, overexposed, frozen, truncated, too infrequent.

Runs before the watcher sees the frame: an invalid picture must not become a move. All measures are taken on a small
grey copy, 160 pixels wide; levels are of 255.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from vision.frames import Frame, Image

WIDTH = 160
BLACK_LEVEL = 14  # a dark room with a distant lamp is above it, a covered lens below
BLINDED_LEVEL, BLINDED_PART = 250, 0.6  # white tablecloths stay below this level with automatic exposure
FROZEN_S = 4.0  # no sensor gives the same noise twice; a driver that hangs gives the same buffer again and again
HALF_PART = 0.12  # rows without any detail from the bottom up: what a decoder makes of a truncated picture
SLOW_S = 4.0
SURE_FRAMES = 2  # one bad picture is dropped silently, the second is reported

TEXT = {
    "camera_black": "the camera sees nothing but black: is the cap on, or the lamp off?",
    "camera_blinded": "the camera is blinded: too much light, or its exposure is wrong",
    "camera_frozen": "the camera gives the same picture again and again",
    "camera_half": "the camera's pictures arrive damaged: check its cable or the network",
    "camera_slow": "the camera gives a picture only every few seconds; what happens in between is not seen",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """``code`` is a key of TEXT or empty; ``use`` says whether the picture may be read, ``said`` whether the fault has
    lasted long enough to be reported."""

    code: str = ""
    use: bool = True
    said: bool = False

    @property
    def text(self) -> str:
        return TEXT.get(self.code, "")


class PictureCheck:
    """Checks frames one after the other. Only ``live`` sources can hang; files may repeat pictures."""

    def __init__(self, *, live: bool) -> None:
        self._live = live
        self._before: np.ndarray | None = None
        self._same_since_s: float | None = None
        self._last_s: float | None = None
        self._slow = 0
        self._bad = 0
        self._code = ""

    def look(self, frame: Frame) -> Verdict:
        """The verdict on this frame."""
        code = self._fault(frame)
        gap = frame.t_s - self._last_s if self._last_s is not None else 0.0
        self._last_s = frame.t_s
        self._slow = min(3, self._slow + 1) if self._live and gap > SLOW_S else max(0, self._slow - 1)
        if code:
            self._bad = self._bad + 1 if code == self._code else 1
            self._code = code
            return Verdict(code=code, use=False, said=self._bad >= SURE_FRAMES or code in ("camera_frozen",))
        self._bad, self._code = 0, ""
        return Verdict(code="camera_slow", said=True) if self._slow >= 2 else Verdict()

    def _fault(self, frame: Frame) -> str:
        picture = frame.bgr if frame.luma is None else frame.luma
        height = max(1, round(picture.shape[0] * WIDTH / picture.shape[1]))
        small = cv2.resize(picture, (WIDTH, height), interpolation=cv2.INTER_NEAREST)
        if self._frozen(small, frame.t_s):
            return "camera_frozen"
        grey = small if small.ndim == 2 else small.max(axis=2)
        if float(np.percentile(grey, 99)) < BLACK_LEVEL:
            return "camera_black"
        if float(((small if small.ndim == 2 else small.min(axis=2)) >= BLINDED_LEVEL).mean()) > BLINDED_PART:
            return "camera_blinded"
        flat = np.asarray(np.ptp(small.reshape(height, WIDTH, -1).astype(np.int16), axis=1).max(axis=1) <= 2)
        bare = int(np.argmin(flat[::-1])) if not flat.all() else height
        return "camera_half" if HALF_PART * height < bare < height else ""

    def _frozen(self, small: np.ndarray, t_s: float) -> bool:
        same = self._live and self._before is not None and self._before.shape == small.shape \
            and bool((self._before == small).all())
        self._before = small
        if not same:
            self._same_since_s = None
            return False
        if self._same_since_s is None:
            self._same_since_s = t_s
        return t_s - self._same_since_s >= FROZEN_S


def brightness(bgr: Image) -> float:
    """Mean level of a picture."""
    return float(cv2.cvtColor(bgr, cv2.COLOR_BGR2GRAY).mean())


def sharpness(bgr: Image) -> float:
    """Sharpness of the sharpest edges: the 99th percentile of the difference to a blur of one pixel."""
    grey = cv2.cvtColor(bgr, cv2.COLOR_BGR2GRAY)
    return float(np.percentile(cv2.absdiff(grey, cv2.GaussianBlur(grey, (0, 0), 1.0)), 99))
