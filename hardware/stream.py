"""``http(s)://`` and ``rtsp://``: a network camera or a phone. MJPEG or whatever OpenCV's FFmpeg understands."""

from __future__ import annotations

import cv2

from hardware.live import CaptureSource

OPEN_TIMEOUT_MS = 5000
READ_TIMEOUT_MS = 3000


def without_password(uri: str) -> str:
    """The address as it may be shown and stored: without what stands before the @."""
    scheme, slashes, rest = uri.partition("//")
    host, slash, path = rest.partition("/")
    return f"{scheme}{slashes}{host.rpartition('@')[2]}{slash}{path}"


class StreamSource(CaptureSource):
    """Reconnects when the camera goes away; ``read`` raises SourceError while nothing comes."""

    def __init__(self, uri: str) -> None:
        self._address = uri
        shown = without_password(uri)
        super().__init__(shown, "network camera", self._open,
                         f"{shown} gives no picture: is the camera on and in the same network?")

    def _open(self) -> cv2.VideoCapture:
        return cv2.VideoCapture(self._address, cv2.CAP_FFMPEG, [
            cv2.CAP_PROP_OPEN_TIMEOUT_MSEC, OPEN_TIMEOUT_MS, cv2.CAP_PROP_READ_TIMEOUT_MSEC, READ_TIMEOUT_MS])
