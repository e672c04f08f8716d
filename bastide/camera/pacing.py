"""Slows a source down to a multiple of its own time, so that people can follow a recording."""

from __future__ import annotations

import threading
import time
from typing import Self

from vision.frames import Frame, FrameSource


class Paced:
    """Delivers another source's frames no earlier than their time divided by ``speed``; 0, from which it may be changed
    at any time, is as fast as possible."""

    def __init__(self, source: FrameSource, speed: float, stop: threading.Event) -> None:
        self.speed = speed
        self._source, self._stop = source, stop
        self._begun: tuple[float, float] | None = None

    @property
    def info(self):  # type: ignore[no-untyped-def]
        return self._source.info

    def __enter__(self) -> Self:
        self._source.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        self._source.__exit__(*exc)

    def read(self, timeout_s: float = 5.0) -> Frame | None:
        """The next frame at its time; None at the end or when asked to stop."""
        frame = self._source.read(timeout_s)
        if frame is not None and self.speed > 0:
            now = time.monotonic()
            start, first_s = self._begun or (now, frame.t_s)
            self._begun = start, first_s
            if self._stop.wait(max(0.0, start + (frame.t_s - first_s) / self.speed - now)):
                return None
        return frame
