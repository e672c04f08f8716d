"""draw_frames.py DIR: the frames that the virtual camera gives, one after the other."""

from __future__ import annotations

import sys
from pathlib import Path

import cv2
import numpy as np

SIZE = (2304, 1296)
COUNT = 6
RED, GREEN, BLUE = (30, 30, 220), (40, 200, 40), (210, 60, 30)
BOXES = {"red": ((96, 96), (480, 288)), "green": ((1728, 960), (2208, 1200)), "blue": ((96, 960), (480, 1200))}
STEP_PX = 192  # the white square moves by this from frame to frame


def frame(n: int) -> np.ndarray:
    """A picture that is different in every corner, with a white square that says which one it is."""
    image = np.full((SIZE[1], SIZE[0], 3), 96, np.uint8)
    for name, colour in (("red", RED), ("green", GREEN), ("blue", BLUE)):
        cv2.rectangle(image, *BOXES[name], colour, -1)
    cv2.rectangle(image, (576 + n * STEP_PX, 576), (576 + n * STEP_PX + 143, 719), (255, 255, 255), -1)
    return image


def which(grey: np.ndarray) -> int:
    """Which frame a grey picture of any size shows, -1 when none."""
    scale = grey.shape[1] / SIZE[0]
    levels = [float(grey[round(648 * scale), round((576 + n * STEP_PX + 72) * scale)]) for n in range(COUNT)]
    best = int(np.argmax(levels))
    return best if levels[best] > 200 > 150 > sorted(levels)[-2] else -1


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(COUNT):
        cv2.imwrite(str(folder / f"frame{number}.jpg"), frame(number), [cv2.IMWRITE_JPEG_QUALITY, 95])
