"""A webcam as OpenCV's V4L2 backend shows it: properties that it has or has not, automatics, a plug to pull."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import cv2
import numpy as np

PERIOD_S = 0.004
SETTLES = {cv2.CAP_PROP_EXPOSURE: 312.0, cv2.CAP_PROP_FOCUS: 35.0, cv2.CAP_PROP_WB_TEMPERATURE: 3900.0,
           cv2.CAP_PROP_GAIN: 12.0}
AUTOMATIC = {cv2.CAP_PROP_EXPOSURE: cv2.CAP_PROP_AUTO_EXPOSURE, cv2.CAP_PROP_FOCUS: cv2.CAP_PROP_AUTOFOCUS,
             cv2.CAP_PROP_WB_TEMPERATURE: cv2.CAP_PROP_AUTO_WB}


class Webcam:
    """``lacks`` are the properties that this model does not offer."""

    def __init__(self, lacks: tuple[int, ...] = ()) -> None:
        self.plugged, self.served, self.lacks = True, 0, lacks
        self.captures: list[Capture] = []

    def capture(self, number: int, backend: int = 0) -> Capture:
        made = Capture(self, self.plugged and number == 0)
        self.captures.append(made)
        return made

    def stop(self) -> None:
        self.plugged = False

    def start(self) -> None:
        self.plugged = True


class Capture:
    def __init__(self, webcam: Webcam, opened: bool) -> None:
        self._webcam, self._opened, self.released = webcam, opened, False
        self.props: dict[int, float] = {cv2.CAP_PROP_AUTO_EXPOSURE: 3.0, cv2.CAP_PROP_AUTOFOCUS: 1.0,
                                        cv2.CAP_PROP_AUTO_WB: 1.0, cv2.CAP_PROP_FPS: 30.0, **SETTLES}
        self._pace = threading.Event()

    def isOpened(self) -> bool:  # noqa: N802
        return self._opened

    def set(self, prop: int, value: float) -> bool:
        if prop in self._webcam.lacks:
            return False
        automatic = AUTOMATIC.get(prop)
        if automatic is not None and self.props[automatic] == (3.0 if automatic == cv2.CAP_PROP_AUTO_EXPOSURE else 1):
            return False  # a real one rejects changes of a control in automatic mode
        self.props[prop] = value
        return True

    def get(self, prop: int) -> float:
        return 0.0 if prop in self._webcam.lacks else self.props.get(prop, 0.0)

    def read(self) -> tuple[bool, np.ndarray | None]:
        self._pace.wait(PERIOD_S)
        if not (self._opened and self._webcam.plugged):
            return False, None
        self._webcam.served += 1
        size = int(self.props.get(cv2.CAP_PROP_FRAME_HEIGHT, 480)), int(self.props.get(cv2.CAP_PROP_FRAME_WIDTH, 640))
        return True, np.full((*size, 3), self._webcam.served % 200 + 20, np.uint8)

    def release(self) -> None:
        self.released = True


@contextmanager
def attached(webcam: Webcam) -> Iterator[Webcam]:
    with patch("cv2.VideoCapture", webcam.capture):
        yield webcam
    assert all(c.released for c in webcam.captures)
