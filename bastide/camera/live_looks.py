"""Processes live pictures of the camera in use while the page polls: a thread of its own, which ends by itself after
the last request."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from bastide.camera.calibrated import CalibratedCamera
from bastide.camera.capture import Shot
from web.protocol import CommandError

WANTED_S = 5.0  # the camera is read for so long after the last request
_PICTURE_S, _EVERY_S, _CLOSING_S = 2.0, 0.3, 15.0
_log = logging.getLogger("bastide.calibration")


class LiveLooks:
    """Passes every raw picture of the camera to ``look`` while it is wanted. Thread-safe."""

    def __init__(self, camera: CalibratedCamera, look: Callable[[Shot], None], *, name: str,
                 present: Callable[[], bool], clock: Callable[[], float] = time.monotonic) -> None:
        """``present`` tells whether the camera gives pictures."""
        self._camera, self._look, self._name, self._present, self._clock = camera, look, name, present, clock
        self._lock, self._ended = threading.Lock(), threading.Event()
        self._thread: threading.Thread | None = None
        self._wanted_s = float("-inf")

    def want(self) -> None:
        """Start, or keep running. Raises CommandError without a camera."""
        if not self._present():
            raise CommandError("no_camera", "no camera watches this table")
        with self._lock:
            self._wanted_s = self._clock()
            if not self._ended.is_set() and (self._thread is None or not self._thread.is_alive()):
                self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Stop after the current picture."""
        self._ended.set()
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join(_CLOSING_S)

    def _work(self) -> None:
        while not self._ended.is_set():
            with self._lock:
                if self._clock() - self._wanted_s > WANTED_S:
                    self._thread = None
                    return
            shot = self._camera.raw(_PICTURE_S)
            if shot is not None:
                try:
                    self._look(shot)
                except Exception as e:  # the next picture may be a better one
                    _log.error("%s: a frame could not be processed", self._name, exc_info=e)
            self._ended.wait(_EVERY_S)
