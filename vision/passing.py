"""Open squares that a hand passed over: what it left may be as bright as the table, and is told by its colour."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from scoring.tiles import Square
from vision.frames import Frame, Image
from vision.lattice import Array, rectify
from vision.motion import Area, Look

_PX = 24  # a square's picture
_TOUCHED = 0.12  # part of a square in which something must have moved
_HUE, _PART = 0.03, 0.5  # change of a channel's share of the light, and of the square: a tile has 0.9, others 0.15
_DARK = 4.0  # grey levels that are added, so that the noise of black has no colour


class Passing:
    """Counts how often each of them was looked at since. ``tries`` are the still frames after which that is due."""

    def __init__(self, tries: Sequence[int], still_s: float) -> None:
        self._tries, self._still_s = tries, still_s
        self._looks: dict[Square, int] = {}

    def note(self, at: Square, area: Area, look: Look) -> None:
        """To be told of every open square with every frame."""
        if look.moved.any():
            moved = area.of(look.moved)
            if moved.size and float(moved.mean()) > _TOUCHED:
                self._looks[at] = 0

    def due(self, at: Square, pose: Array, area: Area, look: Look, before: Image | None, now: Frame) -> bool | None:
        """Whether a square should be read now; None while it is not known yet, or was read a moment ago. ``before``
        is the table as it was last at rest."""
        looks = self._looks.get(at)
        if looks is None or before is None:
            return False
        if not area.inside.any():  # the board was pushed, and the square out of the picture
            del self._looks[at]
            return False
        frames, seconds = look.still(area)
        if frames < self._tries[0] or seconds < self._still_s or area.of(look.hands).any():
            return None
        if looks >= len(self._tries) or not looks and not recoloured(before, now.bgr, pose):
            del self._looks[at]
            return False
        if frames < self._tries[looks]:
            return None
        self._looks[at] = looks + 1
        return True


def recoloured(before: Image, now: Image, pose: Array) -> bool:
    """Whether most of a square has other colours than before, in whatever light."""
    a, b = (_shares(rectify(image, pose, _PX)) for image in (before, now))
    return float((np.abs(a - b).max(axis=2) > _HUE).mean()) > _PART


def _shares(crop: Image) -> Array:
    """What part of the light each channel has, (n, n, 3)."""
    soft = cv2.GaussianBlur(crop.astype(np.float32), (0, 0), 1.5) + _DARK
    return np.asarray(soft / soft.sum(axis=2, keepdims=True))
