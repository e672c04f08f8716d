"""Base of all live cameras: one thread that owns the device, and only the newest picture is kept.

A reader that is slower than the camera drops pictures but does not lag: there is no queue that could grow.
"""

from __future__ import annotations

import logging
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Self

import cv2
import numpy as np

from hardware.quiet import hush
from vision.frames import DeadSource, Frame, Image, LateFrame, SourceError, SourceInfo

BACKOFF_S = (0.2, 0.5, 1.0, 2.0, 4.0, 8.0)
_log = logging.getLogger("bastide.camera")


class LiveSource(ABC):
    """A camera with a thread of its own. ``Frame.id`` counts the camera's pictures, so gaps are dropped ones."""

    def __init__(self, uri: str, model: str, open_timeout_s: float = 12.0) -> None:
        self.info = SourceInfo(uri=uri, model=model, width=0, height=0, live=True)
        self._open_timeout_s = open_timeout_s
        self._news = threading.Condition()
        self._newest: Frame | None = None
        self._delivered: Frame | None = None
        self._count = 0
        self._opened = False
        self._error: SourceError | None = None
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._stuck: threading.Thread | None = None
        self.close_timeout_s = 10.0

    @abstractmethod
    def _run(self) -> None:
        """Own the device until ``_stop`` is set: publish every picture, release the device at the end.

        A SourceError ends the source; before the first picture any failure should raise one.
        """

    def _say(self, model: str | None = None, controls: Mapping[str, float | str] | None = None,
             fps: float | None = None) -> None:
        """Update ``info`` with the device's description of itself."""
        with self._news:
            self.info = replace(self.info, model=model or self.info.model, fps=fps or self.info.fps,
                                controls=self.info.controls if controls is None else dict(controls))

    def _publish(self, image: Image) -> None:
        self._put(Frame(id=self._count, t_s=time.monotonic(), source=self.info.uri, bgr=image))

    def _put(self, frame: Frame) -> None:
        """Make a frame the newest one. Called by the camera's own thread only."""
        with self._news:
            if frame.shape[:2] != (self.info.height, self.info.width):
                self.info = replace(self.info, width=frame.shape[1], height=frame.shape[0])
            self._opened = True
            missed, self._newest = self._newest, frame
            self._count += 1
            self._news.notify_all()
        _let_go(missed)

    def _owner(self) -> None:
        error: SourceError | None = None
        try:
            self._run()
            if not self._stop.is_set():
                error = SourceError(f"{self.info.uri} stopped")
        except SourceError as failure:
            error = failure
        except Exception as failure:  # a driver's own error must not die silently in its thread
            _log.warning("%s failed", self.info.uri, exc_info=failure)
            error = SourceError(f"{self.info.uri} failed: {failure}")
        with self._news:
            self._error = error
            self._news.notify_all()

    def __enter__(self) -> Self:
        if self._stuck is not None and self._stuck.is_alive():
            raise DeadSource(f"{self.info.uri} does not respond any more; restart bastide")
        self._stop.clear()
        self._newest, self._count, self._opened, self._error, self._stuck = None, 0, False, None, None
        self._thread = threading.Thread(target=self._owner, name=f"camera {self.info.uri}", daemon=True)
        self._thread.start()
        with self._news:
            self._news.wait_for(lambda: self._opened or self._error, self._open_timeout_s)
            opened, error = self._opened, self._error
        if not opened:
            self.__exit__()
            raise error or SourceError(f"{self.info.uri} gives no picture")
        return self

    def __exit__(self, *exc: object) -> None:
        self._stop.set()
        with self._news:
            self._news.notify_all()
        self._free_frames()
        thread, self._thread = self._thread, None
        if thread is not None and thread is not threading.current_thread():
            thread.join(self.close_timeout_s)
            if thread.is_alive():  # blocked in a device that will never answer
                self._stuck = thread
        self._free_frames()

    def _free_frames(self) -> None:
        """Release the camera's buffers that frames still hold."""
        with self._news:
            held = self._newest, self._delivered
            self._newest = self._delivered = None
        for frame in held:
            _let_go(frame)

    def read(self, timeout_s: float = 5.0) -> Frame | None:
        """The newest picture not delivered yet; None once the source is closed."""
        with self._news:
            if self._thread is None:
                raise SourceError(f"{self.info.uri} is not open")
            before, self._delivered = self._delivered, None
        _let_go(before)
        with self._news:
            self._news.wait_for(lambda: self._newest is not None or self._error or self._stop.is_set(), timeout_s)
            if self._stop.is_set():
                return None
            frame, self._newest = self._newest, None
            if frame is not None:
                self._delivered = frame
                return frame
            raise self._error or SourceError(f"no picture came from {self.info.uri} for {timeout_s:g} s")


def _let_go(frame: Frame | None) -> None:
    if isinstance(frame, LateFrame):
        frame.let_go()


class CaptureSource(LiveSource):
    """A camera opened by OpenCV; reopened, with growing pauses, when it stops giving pictures."""

    def __init__(self, uri: str, model: str, connect: Callable[[], cv2.VideoCapture],
                 missing: Callable[[], str]) -> None:
        super().__init__(uri, model)
        self._connect, self._missing = connect, missing

    def _settled(self, capture: cv2.VideoCapture, taken: int) -> None:
        """Called after every picture of a connection, ``taken`` counting from 1: the hook for fixing its controls."""

    def _run(self) -> None:
        hush()
        failures = 0
        while not self._stop.is_set():
            before = self._count
            capture = self._connect()
            try:
                while not self._stop.is_set():
                    ok, image = capture.read()
                    if not ok:
                        break
                    self._publish(np.asarray(image, np.uint8))
                    self._settled(capture, self._count - before)
            finally:
                capture.release()
            if not self._opened and not self._stop.is_set():
                raise SourceError(self._missing())
            failures = 0 if self._count > before else failures + 1
            self._stop.wait(BACKOFF_S[min(failures, len(BACKOFF_S) - 1)])
