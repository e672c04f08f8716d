"""``usb:N``: a webcam by its number."""

from __future__ import annotations

import sys

import cv2

from hardware.live import CaptureSource

WIDTH, HEIGHT = 1920, 1080


class UsbSource(CaptureSource):
    """Asks for MJPG at 1920x1080 and takes what the camera gives."""

    def __init__(self, uri: str, number: int) -> None:
        self._number = number
        super().__init__(uri, "USB camera", self._open,
                         f"there is no USB camera {number}, or another program is using it")

    def _open(self) -> cv2.VideoCapture:
        capture = cv2.VideoCapture(self._number, cv2.CAP_V4L2 if sys.platform == "linux" else cv2.CAP_ANY)
        if capture.isOpened():
            capture.set(cv2.CAP_PROP_FOURCC, cv2.VideoWriter.fourcc(*"MJPG"))
            capture.set(cv2.CAP_PROP_FRAME_WIDTH, WIDTH)
            capture.set(cv2.CAP_PROP_FRAME_HEIGHT, HEIGHT)
            capture.set(cv2.CAP_PROP_BUFFERSIZE, 1)
        return capture
