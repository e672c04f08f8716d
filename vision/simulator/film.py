"""Effects of the sensor and the file format: slow gain drift, noise, JPEG."""

from __future__ import annotations

import cv2
import numpy as np

from vision.frames import Image
from vision.simulator.options import Options


class Film:
    """Stateful and deterministic: frame n of one film is always the same."""

    def __init__(self, options: Options, rng: np.random.Generator) -> None:
        self._level, self._rng = options.conditions, rng
        w, h = options.size
        pad = 64
        grain = rng.standard_normal((h + pad, w + pad, 3), np.float32)
        shared = rng.standard_normal((h + pad, w + pad, 1), np.float32)
        noise = np.round((0.6 * grain + 0.8 * shared) * np.float32(self._level.noise)).astype(np.int16)
        self._up, self._down = (np.clip(n, 0, 255).astype(np.uint8) for n in (noise, -noise))
        self._pad, self._tick = pad, 0
        self._phases = rng.uniform(0, 6.3, 4)

    def develop(self, image: Image) -> Image:
        """In place where possible: ``image`` must not be used afterwards."""
        level, h, w = self._level, *image.shape[:2]
        t = self._tick
        self._tick += 1
        drift = 1 + 0.03 * level.light * np.sin(t / 90 + self._phases[0])
        gains = drift * (1 + 0.03 * level.cast * np.sin(t / 140 + self._phases[1:]))
        table = np.clip(np.arange(256)[:, None] * gains, 0, 255).astype(np.uint8)[None]
        cv2.LUT(image, table, image)
        dx, dy = (int(n) for n in self._rng.integers(0, self._pad, 2))
        cv2.add(image, self._up[dy:dy + h, dx:dx + w], image)
        cv2.subtract(image, self._down[dy:dy + h, dx:dx + w], image)
        if level.quality:
            ok, data = cv2.imencode(".jpg", image, (cv2.IMWRITE_JPEG_QUALITY, level.quality))
            if ok:
                return np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)
        return image
