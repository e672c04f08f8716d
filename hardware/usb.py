"""``usb:N``: a webcam by its number.

Options: ``size=WxH`` (default 1920x1080), ``exposure=X`` and ``focus=X`` in the camera's own units (default: the values
that its automatics settle on, then fixed).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import cv2

from hardware.live import CaptureSource
from hardware.options import asked, number

OPTIONS: Mapping[str, Callable[[str], float]] = {"exposure": number(0, 100_000), "focus": number(0, 10_000)}
SIZE = (1920, 1080)
SETTLE_FRAMES = 45  # most automatics adapt per frame
NAMES = Path("/sys/class/video4linux")
# V4L2's manual exposure is 1, automatic 3; setting a control that a camera lacks returns False.
_MANUAL_EXPOSURE, _OFF = 1.0, 0.0


class UsbSource(CaptureSource):
    """Requests MJPG at full HD and accepts what the camera gives. Exposure, white balance and focus are fixed."""

    def __init__(self, uri: str, rest: str) -> None:
        self._number, size, self._options = asked(uri, rest, OPTIONS)
        self._size = size or SIZE
        self._held: dict[str, float] = {}
        super().__init__(uri, camera_name(self._number), self._open,
                         lambda: f"there is no USB camera {self._number}, or another program is using it")

    def _open(self) -> cv2.VideoCapture:
        capture = cv2.VideoCapture(self._number, cv2.CAP_V4L2 if sys.platform == "linux" else cv2.CAP_ANY)
        if capture.isOpened():
            width, height = self._size
            capture.set(cv2.CAP_PROP_FOURCC, cv2.VideoWriter.fourcc(*"MJPG"))
            capture.set(cv2.CAP_PROP_FRAME_WIDTH, width)
            capture.set(cv2.CAP_PROP_FRAME_HEIGHT, height)
            capture.set(cv2.CAP_PROP_BUFFERSIZE, 1)
            self._say(model=camera_name(self._number), fps=capture.get(cv2.CAP_PROP_FPS) or None)
            if self._held:
                self._hold(capture)  # reconnected: restore the controls
        return capture

    def _settled(self, capture: cv2.VideoCapture, taken: int) -> None:
        if taken == SETTLE_FRAMES and not self._held:
            self._measure(capture)
            self._hold(capture)

    def _measure(self, capture: cv2.VideoCapture) -> None:
        """Read the values chosen by the automatics. A control that a camera lacks reads 0 or -1."""
        for name, prop in (("exposure", cv2.CAP_PROP_EXPOSURE), ("focus", cv2.CAP_PROP_FOCUS),
                           ("white_balance_k", cv2.CAP_PROP_WB_TEMPERATURE), ("gain", cv2.CAP_PROP_GAIN)):
            value = self._options.get(name, capture.get(prop))
            if value > 0 or name in self._options:
                self._held[name] = float(value)

    def _hold(self, capture: cv2.VideoCapture) -> None:
        """Switch the automatics off and set the fixed values; record those that the camera accepted."""
        said: dict[str, float | str] = {}
        for name, automatic, off, prop in (
                ("exposure", cv2.CAP_PROP_AUTO_EXPOSURE, _MANUAL_EXPOSURE, cv2.CAP_PROP_EXPOSURE),
                ("gain", None, _OFF, cv2.CAP_PROP_GAIN),
                ("white_balance_k", cv2.CAP_PROP_AUTO_WB, _OFF, cv2.CAP_PROP_WB_TEMPERATURE),
                ("focus", cv2.CAP_PROP_AUTOFOCUS, _OFF, cv2.CAP_PROP_FOCUS)):
            if name not in self._held:
                said[name] = "not offered"
                continue
            manual = automatic is None or capture.set(automatic, off)
            taken = capture.set(prop, self._held[name])
            said[name] = round(capture.get(prop), 3) if manual and taken else "automatic"
        self._say(controls=said)


def camera_name(index: int) -> str:
    """The kernel's name of the camera."""
    try:
        return (NAMES / f"video{index}" / "name").read_text("utf-8").strip() or "USB camera"
    except OSError:
        return "USB camera"
