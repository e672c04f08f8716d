"""A real MJPEG camera on this machine, under the test's control."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler

import cv2
from network_camera import NetworkCamera, Server


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=frame")
        self.end_headers()
        camera = self.server.camera
        try:
            while not self.server.stopped.wait(camera.period_s):
                data = camera.picture()
                self.wfile.write(b"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: "
                                 + str(len(data)).encode() + b"\r\n\r\n" + data + b"\r\n")
        except OSError:
            return

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
