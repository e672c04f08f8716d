"""``http(s)://`` and ``rtsp://``: a network camera or a phone. MJPEG or whatever OpenCV's FFmpeg understands."""

from __future__ import annotations

import base64
import http.client
import time
import urllib.error
import urllib.request
from urllib.parse import unquote, urlsplit

import cv2

from hardware.live import CaptureSource

OPEN_TIMEOUT_MS = 5000
READ_TIMEOUT_MS = 3000
_ASK_S = 3.0
_ENDING = "the app shows the address of its video, which often ends in /video"


def without_password(uri: str) -> str:
    """The address for display and storage: without the user info before the @."""
    scheme, slashes, rest = uri.partition("//")
    host, slash, path = rest.partition("/")
    return f"{scheme}{slashes}{host.rpartition('@')[2]}{slash}{path}"


class StreamSource(CaptureSource):
    """Reconnects when the connection is lost; ``read`` raises SourceError while there are no pictures."""

    def __init__(self, uri: str) -> None:
        self._address = uri
        self._opening_s = 0.0
        super().__init__(without_password(uri), "network camera", self._open, self._why)

    def _open(self) -> cv2.VideoCapture:
        begun = time.monotonic()
        capture = cv2.VideoCapture(self._address, cv2.CAP_FFMPEG, [
            cv2.CAP_PROP_OPEN_TIMEOUT_MSEC, OPEN_TIMEOUT_MS, cv2.CAP_PROP_READ_TIMEOUT_MSEC, READ_TIMEOUT_MS])
        self._opening_s = time.monotonic() - begun
        return capture

    def _why(self) -> str:
        """The message for a camera that never gave a picture; an HTTP server's response is examined."""
        answer = ""
        if self._address.lower().startswith("http") and self._opening_s < OPEN_TIMEOUT_MS / 2000:
            answer = what_is_there(self._address)
        return f"{self.info.uri} {answer or 'gives no picture: is the camera on and in the same network?'}"


def what_is_there(address: str) -> str:
    """What an HTTP address serves instead of pictures, as the end of a sentence; empty if that explains nothing."""
    parts = urlsplit(without_password(address))
    headers = {}
    try:
        given = urlsplit(address)
        if given.username is not None:
            name = f"{unquote(given.username)}:{unquote(given.password or '')}"
            headers["Authorization"] = "Basic " + base64.b64encode(name.encode()).decode()
        request = urllib.request.Request(parts.geturl(), headers=headers)
        with urllib.request.urlopen(request, timeout=_ASK_S) as reply:
            kind = reply.headers.get_content_type()
    except urllib.error.HTTPError as refused:
        if refused.code in (401, 403):
            return "does not accept this name and password" if headers else \
                f"asks for a name and a password: give {parts.scheme}://NAME:PASSWORD@{parts.netloc}{parts.path}"
        return f"has no pictures ({refused.code}): {_ENDING}" if refused.code in (404, 410) else ""
    except (OSError, ValueError, http.client.HTTPException):
        return ""
    return f"is a web page and no camera: {_ENDING}" if kind in ("text/html", "application/xhtml+xml") else ""
