"""What all live cameras share: one thread that owns the device, and only the newest picture kept.

A reader that is slower than the camera loses pictures, never time: there is no queue that could grow.
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Self

import cv2

from hardware.quiet import hush
from vision.frames import Frame, Image, SourceError, SourceInfo

BACKOFF_S = (0.2, 0.5, 1.0, 2.0, 4.0, 8.0)


class LiveSource(ABC):
    """A camera with a thread of its own. ``Frame.id`` counts what the camera gave, so gaps are dropped pictures."""

    def __init__(self, uri: str, model: str, open_timeout_s: float = 12.0) -> None:
        self.info = SourceInfo(uri=uri, model=model, width=0, height=0, live=True)
        self._open_timeout_s = open_timeout_s
        self._news = threading.Condition()
        self._newest: Frame | None = None
        self._count = 0
        self._opened = False
        self._error = ""
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @abstractmethod
    def _run(self) -> None:
        """Own the device until ``_stop`` is set: publish every picture, give the device back at the end.

        A SourceError ends the source; until the first picture any failure should be one.
        """

    def _publish(self, image: Image) -> None:
        with self._news:
            if not self._opened:
                height, width = image.shape[:2]
                self.info = SourceInfo(uri=self.info.uri, model=self.info.model, width=width, height=height, live=True,
                                       fps=self.info.fps)
                self._opened = True
            self._newest = Frame(id=self._count, t_s=time.monotonic(), source=self.info.uri, bgr=image)
            self._count += 1
            self._news.notify_all()

    def _owner(self) -> None:
        try:
            self._run()
            error = "" if self._stop.is_set() else f"{self.info.uri} stopped"
        except SourceError as failure:
            error = str(failure)
        except Exception as failure:  # a driver's own error must not die silently in its thread
            error = f"{self.info.uri} failed: {failure}"
        with self._news:
            self._error = error
            self._news.notify_all()

    def __enter__(self) -> Self:
        self._stop.clear()
        self._newest, self._count, self._opened, self._error = None, 0, False, ""
        self._thread = threading.Thread(target=self._owner, name=f"camera {self.info.uri}", daemon=True)
        self._thread.start()
        with self._news:
            self._news.wait_for(lambda: self._opened or self._error, self._open_timeout_s)
            opened, error = self._opened, self._error
        if not opened:
            self.__exit__()
            raise SourceError(error or f"{self.info.uri} gives no picture")
        return self

    def __exit__(self, *exc: object) -> None:
        self._stop.set()
        with self._news:
            self._news.notify_all()
        thread, self._thread = self._thread, None
        if thread is not None and thread is not threading.current_thread():
            thread.join(10.0)

    def read(self, timeout_s: float = 5.0) -> Frame | None:
        """The newest picture that was not delivered yet; None once the source is closed."""
        with self._news:
            if self._thread is None:
                raise SourceError(f"{self.info.uri} is not open")
            self._news.wait_for(lambda: self._newest is not None or self._error or self._stop.is_set(), timeout_s)
            if self._stop.is_set():
                return None
            frame, self._newest = self._newest, None
            if frame is not None:
                return frame
            raise SourceError(self._error or f"no picture came from {self.info.uri} for {timeout_s:g} s")


class CaptureSource(LiveSource):
    """A camera that OpenCV opens; opened anew, with growing pauses, when it stops giving pictures."""

    def __init__(self, uri: str, model: str, connect: Callable[[], cv2.VideoCapture], missing: str) -> None:
        super().__init__(uri, model)
        self._connect, self._missing = connect, missing

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
                    self._publish(image)
            finally:
                capture.release()
            if not self._opened and not self._stop.is_set():
                raise SourceError(self._missing)
            failures = 0 if self._count > before else failures + 1
            self._stop.wait(BACKOFF_S[min(failures, len(BACKOFF_S) - 1)])
