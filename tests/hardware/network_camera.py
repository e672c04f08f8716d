"""A network camera on this machine, under the test's control; what it speaks is its kind's own (mjpeg.py, rtsp.py)."""

from __future__ import annotations

import socketserver
import threading
from typing import Self

import numpy as np


class NetworkCamera:
    """Serves numbered grey pictures; ``stop`` cuts every connection, ``start`` takes the same port again."""

    handler: type[socketserver.BaseRequestHandler]  # one per connection: ``self.server`` is the camera's `Server`

    def __init__(self, size: tuple[int, int] = (320, 240), period_s: float = 0.02) -> None:
        self.size, self.period_s, self.port, self.served = size, period_s, 0, 0
        self._server: Server | None = None

    def start(self) -> Self:
        self._server = Server(self)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def stop(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            server.stopped.set()
            server.shutdown()
            server.server_close()

    def grey(self) -> np.ndarray:
        """The next picture, (height, width, 3)."""
        self.served += 1
        return np.full((self.size[1], self.size[0], 3), self.served % 200 + 20, np.uint8)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *exc: object) -> None:
        self.stop()


class Server(socketserver.ThreadingTCPServer):
    """A camera's server until it is stopped."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, camera: NetworkCamera) -> None:
        self.camera, self.stopped = camera, threading.Event()
        super().__init__(("127.0.0.1", camera.port), camera.handler)
