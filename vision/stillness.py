"""Motion detection: where the table has been still, and for how long. Works on a small grey copy of the frame and
ignores changes of light.

Frames are compared at most every `Pace.step_s`, so that cameras of 4 and of 30 frames a second give the same result.
Changes of lamp or exposure, common to a wide area, are removed before comparing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from scoring.tiles import Square
from vision.frames import Image
from vision.lattice import UNIT, Array, apply

Grey = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Seconds, pixels of the small picture, grey levels of 255. Levels were measured on films of webcams and of a
    Camera Module 3: the noise of two averaged frames stays below 5."""

    step_s: float = 0.19
    gap_s: float = 1.0  # time without frames from which something may have happened unseen
    width_px: int = 480
    moved: float = 9.0  # grey levels between two frames
    spare: float = 0.004  # fraction of a square that may flicker from noise
    block_px: int = 8  # light is estimated per block
    speck: float = 12.0  # pixels of the small picture: smaller outlines are not shown
    outlines: int = 12  # that are
    window: int = 11  # blocks: a change common to most of an area this wide is light


class Stillness:
    """Compares each frame with the one before."""

    def __init__(self, shape: Sequence[int], pace: Pace | None = None, *, begun_s: float | None = None) -> None:
        self.pace = pace if pace is not None else Pace()
        self.scale = min(1.0, self.pace.width_px / shape[1])
        self.size = (round(shape[1] * self.scale), round(shape[0] * self.scale))
        self.moved: Mask = np.zeros(self.size[::-1], bool)
        self.last_s: Grey = np.full(self.size[::-1], -np.inf, np.float32)  # last motion of each pixel, on our clock
        self.now_s = 0.0  # seconds since ``begun_s``, the first frame unless it is given
        self.then_s = 0.0  # the same of the frame that the newest one was compared with
        self.gaps_s: deque[tuple[float, float]] = deque(maxlen=16)  # times without frames, until somebody clears them
        self.begun_s = begun_s
        self._before: tuple[Grey, Grey] | None = None
        self._halves: dict[int, Image] = {}

    def feed(self, image: Image, t_s: float) -> bool:
        """One frame in colour or grey; returns whether it was compared: frames that come too soon are skipped."""
        if self.begun_s is None:
            self.begun_s = t_s
        now_s = t_s - self.begun_s
        if self._before is not None and 0 <= now_s - self.now_s < self.pace.step_s:
            return False
        grey: Grey = np.asarray(cv2.GaussianBlur(self._small(image).astype(np.float32), (0, 0), 0.8), np.float32)
        now = grey, self._blocks(grey)
        if self._before is not None and now_s - self.now_s > self.pace.gap_s:
            self.gaps_s.append((self.now_s, now_s))
        self.then_s, self.now_s = self.now_s if self._before is not None else now_s, now_s
        if self._before is None:
            self.moved = np.ones(grey.shape, bool)
        elif float(cv2.absdiff(grey, self._before[0]).max()) <= 0.75 * self.pace.moved:
            self.moved = np.zeros(grey.shape, bool)  # nothing moved and no lamp was switched
        else:
            self.moved = self._difference(now, self._before) > self.pace.moved
        self.last_s[self.moved] = now_s
        self._before = now
        return True

    def restless(self, boxes: npt.NDArray[np.int32], for_s: float) -> npt.NDArray[np.float64]:
        """(N,) fraction of each of the boxes (N, 4: x0, y0, x1, y1 of the small picture) that moved within
        ``for_s``."""
        return self._part(self.lately(for_s), boxes)

    def lately(self, for_s: float) -> Mask:
        """(h, w) where the small picture moved within ``for_s``."""
        return np.asarray(self.last_s > self.now_s - for_s)

    def moving(self, boxes: npt.NDArray[np.int32]) -> npt.NDArray[np.float64]:
        """(N,) fraction of each box that moved in the last frame."""
        return self._part(self.moved, boxes) if self.moved.any() else np.zeros(len(boxes))

    def boxes(self, poses: Mapping[Square, Array], grow: float) -> npt.NDArray[np.int32]:
        """(N, 4) boxes around squares, larger by ``grow`` tiles on every side, clipped to the small picture."""
        out = np.zeros((len(poses), 4), np.int32)
        for n, pose in enumerate(poses.values()):
            corners = apply(pose, UNIT * (1 + 2 * grow) - grow) * self.scale
            out[n, :2], out[n, 2:] = np.floor(corners.min(axis=0)), np.ceil(corners.max(axis=0)) + 1
        return np.clip(out, 0, [*self.size, *self.size]).astype(np.int32)

    def outlines(self) -> list[npt.NDArray[np.float64]]:
        """(N, 2) outlines of motion in the last frame, px of the picture, largest first."""
        if not self.moved.any():
            return []
        found, _ = cv2.findContours(self.moved.view(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
        large = sorted((c for c in found if cv2.contourArea(c) > self.pace.speck), key=cv2.contourArea, reverse=True)
        return [np.asarray(cv2.approxPolyDP(c, 1.5, True)[:, 0] / self.scale, float)
                for c in large[:self.pace.outlines]]

    @staticmethod
    def _part(mask: Mask, boxes: npt.NDArray[np.int32]) -> npt.NDArray[np.float64]:
        sums = cv2.integral(mask.view(np.uint8))
        x0, y0, x1, y1 = boxes.T
        inside = sums[y1, x1] - sums[y0, x1] - sums[y1, x0] + sums[y0, x0]
        return np.asarray(inside / np.maximum((x1 - x0) * (y1 - y0), 1), float)

    def _small(self, image: Image) -> Image:
        """The picture grey and downscaled. Halving is several times as fast as any other factor."""
        halves, n = self._halves, 0
        if image.ndim == 3:
            image = halves[0] = np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY, halves.get(0)), np.uint8)
        while image.shape[1] >= 2 * self.size[0] and not (image.shape[0] | image.shape[1]) & 1:
            n, half = n + 1, (image.shape[1] // 2, image.shape[0] // 2)
            image = halves[n] = np.asarray(cv2.resize(image, half, halves.get(n), interpolation=cv2.INTER_AREA),
                                           np.uint8)
        return np.asarray(cv2.resize(image, self.size, interpolation=cv2.INTER_AREA), np.uint8)

    def _blocks(self, grey: Grey) -> Grey:
        step = 1 / self.pace.block_px
        return np.asarray(cv2.resize(grey, None, fx=step, fy=step, interpolation=cv2.INTER_AREA), np.float32)

    def _difference(self, a: tuple[Grey, Grey], b: tuple[Grey, Grey]) -> Grey:
        """Absolute difference after removing the change common to the surroundings. Their median change counts, not the
        mean: a dark tile on a bright table does not darken the table."""
        steps = 400.0  # per log unit: the median filter works on bytes
        ratio = np.log((a[1] + 1.0) / (b[1] + 1.0))
        lamp = float(np.median(ratio))  # a change common to the whole picture is not limited
        rest = np.clip((ratio - lamp) * steps + 128.5, 0, 255).astype(np.uint8)
        change = cv2.medianBlur(rest, self.pace.window).astype(np.float32)
        light = np.exp((cv2.GaussianBlur(change, (0, 0), 1.0) - 128.0) / steps)
        expected = np.clip(cv2.resize(light, a[0].shape[::-1], interpolation=cv2.INTER_LINEAR), 0.75, 1.33)
        return np.asarray(cv2.absdiff(a[0], expected * float(np.exp(lamp)) * b[0]), np.float32)
