"""Movement is worked out in little memory and few steps: with the same result as worked out plainly."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from vision import motion
from vision.frames import Image
from vision.motion import Grey, Look, Mask, Motion

Pair = tuple[Grey, Grey]
HEIGHT, WIDTH = 540, 960


class Plain(Motion):
    """The same with a new array for every step, and nothing left out on quiet frames."""

    def feed(self, image: Image, t_s: float) -> Look:
        grey = cv2.GaussianBlur(halved(image, self.size).astype(np.float32), (0, 0), 0.8)
        now = self._now = (grey, motion._surroundings(grey))
        moved = np.ones(grey.shape, bool)
        if self._before is not None:
            moved = difference(now, self._before) > motion._MOVING
        self._frames = np.where(moved, 0, np.minimum(self._frames + 1, 30_000)).astype(np.int16)
        step = float(np.clip(t_s - self._t_s, 0.0, 1.0))
        self._seconds = np.where(moved, 0, np.minimum(self._seconds + step, motion._LONG_S)).astype(np.float32)
        same = np.abs(grey - self._lying) < motion._STAYED
        self._stayed += np.where(same & ~moved, np.float32(step), np.float32(0))
        another = ~same & (self._seconds >= motion.FURNITURE_S)
        self._lying[another], self._stayed[another] = grey[another], self._seconds[another]
        self._same = same
        self._before, self._t_s = now, t_s
        changed = np.zeros(grey.shape, bool)
        if self._settled is not None and self._calm is not None:
            changed = difference(now, self._settled) > motion._CHANGED
            if self._calm is not self._settled:
                changed &= difference(now, self._calm) > motion._CHANGED
            quiet = ~cv2.dilate(changed.astype(np.uint8), np.ones((9, 9), np.uint8)).astype(bool)
            held = self._settled[0]
            held[quiet] += motion._DRIFT * (grey[quiet] - held[quiet])
            self._rest_s = self._rest_s + step if float(changed.mean()) < motion._RESTING else 0.0
            if self._rest_s > motion._REST_S:
                self._calm = self._settled
        hands, lit = self._hands(changed)
        if lit.any():
            rim = cv2.dilate(lit.astype(np.uint8), np.ones((motion._RIM_PX, motion._RIM_PX), np.uint8)) > 0
            self.absorb(lit | (rim & ~changed))
            changed &= ~lit
        return Look(moved=moved, changed=changed, hands=hands, still_frames=self._frames, still_s=self._seconds)


def halved(image: Image, size: tuple[int, int]) -> Image:
    small = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY) if image.ndim == 3 else image
    while small.shape[1] >= 2 * size[0] and not (small.shape[0] | small.shape[1]) & 1:
        small = cv2.resize(small, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.resize(small, size, interpolation=cv2.INTER_AREA), np.uint8)


def difference(a: Pair, b: Pair) -> Grey:
    ratio = np.log((a[1] + 1.0) / (b[1] + 1.0))
    lamp = float(np.median(ratio))
    steps = np.clip((ratio - lamp) * motion._LAMP_STEPS + 128.5, 0, 255).astype(np.uint8)
    change = cv2.medianBlur(steps, motion._LAMP_WINDOW).astype(np.float32)
    light = np.exp((cv2.GaussianBlur(change, (0, 0), 1.0) - 128.0) / motion._LAMP_STEPS)
    light = cv2.resize(light, a[0].shape[::-1], interpolation=cv2.INTER_LINEAR)
    return np.asarray(np.abs(a[0] - float(np.exp(lamp)) * np.clip(light, 0.75, 1.33) * b[0]), np.float32)


def film(seed: int) -> list[tuple[Image, float]]:
    """A printed table under a noisy camera: quiet, an arm, a tile that stays, a shadow, an arm that rests, a lamp."""
    rng = np.random.default_rng(seed)
    table = cv2.resize(rng.integers(60, 200, (HEIGHT // 12, WIDTH // 12, 3), np.uint8), (WIDTH, HEIGHT))
    out, t_s = [], 0.0
    for n in range(72):
        if n == 24:
            table[200:280, 400:480] = rng.integers(0, 255, (80, 80, 3), np.uint8)
        seen = table.astype(np.float32)
        if 16 <= n < 24 or 40 <= n < 58:
            reach = min(260 + 24 * n, 600) if n < 24 else 520 + (n < 43) * 9 * n
            seen[150:240, :reach] = (60, 90, 160)
        if 30 <= n < 36:
            seen[300:500, 500:800] *= 0.6
        seen *= 0.8 if n >= 62 else 1.0
        seen += rng.integers(-2, 3, seen.shape)
        t_s += float(rng.choice([0.25, 0.25, 0.5, 2.0]))
        out.append((np.clip(seen, 0, 255).astype(np.uint8), t_s))
    return out


@pytest.mark.parametrize("seed", [1, 2])
def test_the_same_as_worked_out_plainly(seed: int) -> None:
    """Every look and everything that is kept is the same to the bit, also while views are settled and absorbed."""
    spare, plain = Motion((HEIGHT, WIDTH, 3)), Plain((HEIGHT, WIDTH, 3))
    calm_frames, seen = 0, {"moved": 0, "changed": 0, "hands": 0}
    kept: list[tuple[Look, list[npt.NDArray[np.generic]]]] = []
    for n, (image, t_s) in enumerate(film(seed)):
        looks = []
        for one in (spare, plain):
            look = one.feed(image if n % 5 else cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), t_s)
            if n == 4:
                one.settle()
            elif n == 28:
                one.settle(motion.Area(rows=slice(90, 150), columns=slice(190, 250), inside=np.ones((60, 60), bool)))
            absorbed: Mask = look.changed & (look.still_s > motion.FURNITURE_S) & ~look.hands
            if n % 7 == 3 and absorbed.any():
                one.absorb(absorbed)
            looks.append(look)
        for name in ("moved", "changed", "hands", "still_frames", "still_s"):
            a, b = (getattr(look, name) for look in looks)
            assert a.dtype == b.dtype and np.array_equal(a, b), (n, name)
        for name in ("_stayed", "_lying", "_same"):
            assert np.array_equal(getattr(spare, name), getattr(plain, name)), (n, name)
        assert spare._rest_s == plain._rest_s
        for a, b in ((spare._settled, plain._settled), (spare._calm, plain._calm), (spare._before, plain._before)):
            assert (a is None) == (b is None)
            assert a is None or b is None or all(map(np.array_equal, a, b)), n
        calm_frames += not looks[0].moved.any() and not looks[0].changed.any()
        for name in seen:
            seen[name] += bool(getattr(looks[0], name).any())
        kept.append((looks[0], [looks[0].still_frames.copy(), looks[0].still_s.copy(), looks[0].changed.copy()]))
    assert calm_frames > 10 and min(seen.values()) > 3, (calm_frames, seen)
    for look, then in kept:  # what an earlier frame said is not written over by later ones
        assert all(map(np.array_equal, then, (look.still_frames, look.still_s, look.changed)))
