"""A real MJPEG camera on this machine, under the test's control."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self

import cv2
import numpy as np


class MjpegCamera:
    """Serves numbered grey pictures at ``url``; ``stop`` cuts every connection, ``start`` takes the same port again."""

    def __init__(self, size: tuple[int, int] = (320, 240), period_s: float = 0.02) -> None:
        self._size, self._period_s, self.port = size, period_s, 0
        self.served = 0
        self._server: ThreadingHTTPServer | None = None
        self._quit = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/video"

    def start(self) -> Self:
        camera, self._quit = self, threading.Event()
        stopped = self._quit

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=frame")
                self.end_headers()
                try:
                    while not stopped.wait(camera._period_s):
                        data = camera.picture()
                        self.wfile.write(b"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: "
                                         + str(len(data)).encode() + b"\r\n\r\n" + data + b"\r\n")
                except OSError:
                    return

            def log_message(self, *args: object) -> None:
                return

        class Server(ThreadingHTTPServer):
            allow_reuse_address = True
            daemon_threads = True

        self._server = Server(("127.0.0.1", self.port), Handler)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def stop(self) -> None:
        self._quit.set()
        server, self._server = self._server, None
        if server is not None:
            server.shutdown()
            server.server_close()

    def picture(self) -> bytes:
        self.served += 1
        image = np.full((self._size[1], self._size[0], 3), self.served % 200 + 20, np.uint8)
        return cv2.imencode(".jpg", image)[1].tobytes()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *exc: object) -> None:
        self.stop()
