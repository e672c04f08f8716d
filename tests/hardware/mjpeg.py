"""A real MJPEG camera on this machine, under the test's control."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from http.server import BaseHTTPRequestHandler

import cv2
from network_camera import NetworkCamera, Server


def send(handler: BaseHTTPRequestHandler, pictures: Iterable[bytes]) -> None:
    """Answer a request with JPEGs, one after the other, until there are no more or the client disconnects."""
    handler.send_response(200)
    handler.send_header("Content-Type", "multipart/x-mixed-replace; boundary=frame")
    handler.end_headers()
    try:
        for data in pictures:
            handler.wfile.write(b"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: "
                                + str(len(data)).encode() + b"\r\n\r\n" + data + b"\r\n")
    except OSError:
        return


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        send(self, self._pictures())

    def _pictures(self) -> Iterator[bytes]:
        camera = self.server.camera
        while not self.server.stopped.wait(camera.period_s):
            yield camera.picture()

    def log_message(self, *args: object) -> None:
        return


class MjpegCamera(NetworkCamera):
    """At ``url``."""

    handler = Handler

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/video"

    def picture(self) -> bytes:
        """The next picture as JPEG."""
        return cv2.imencode(".jpg", self.grey())[1].tobytes()
