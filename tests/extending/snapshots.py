"""The camera of docs/extending.md on this machine: each request is answered with one picture."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler

import cv2
from network_camera import NetworkCamera, Server


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        data = cv2.imencode(".jpg", self.server.camera.grey())[1].tobytes()
        self.send_response(200)
        self.send_header("Content-Type", "image/jpeg")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: object) -> None:
        return


class SnapshotCamera(NetworkCamera):
    """At ``url``."""

    handler = Handler

    @property
    def url(self) -> str:
        return f"snapshot:http://127.0.0.1:{self.port}/capture"
