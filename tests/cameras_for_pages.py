"""A fake camera whose picture a test sets, a loop that takes its frames, and waiting for the results."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from bastide.camera.calibrated import CalibratedCamera
from vision.frames import Frame, Image, SourceInfo


class Showing:
    """Shows one picture for as long as the test does not put another before it."""

    def __init__(self, picture: Image, model: str = "imx708") -> None:
        self.picture = picture
        h, w = picture.shape[:2]
        self.info = SourceInfo(uri="usb:0", model=model, width=w, height=h, live=True)
        self.frames = 0

    def __enter__(self) -> Showing:
        return self

    def __exit__(self, *exc: object) -> None:
        pass

    def read(self, timeout_s: float = 5.0) -> Frame | None:
        self.frames += 1
        return Frame(id=self.frames, t_s=self.frames / 10, source="usb:0", bgr=self.picture)


@contextmanager
def watched(camera: CalibratedCamera) -> Iterator[list[Frame]]:
    """A loop that takes frames and keeps the last."""
    end, last = threading.Event(), list[Frame]()

    def run() -> None:
        while not end.wait(0.02):
            frame = camera.read()
            assert frame is not None
            last[:] = [frame]

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield last
    finally:
        end.set()
        thread.join(5.0)


def until(made: Any, holds: Callable[[Any], Any]) -> Any:
    """The first ``made.state()`` for which that holds; two minutes are given."""
    waited = threading.Event()
    for _ in range(2400):
        state = made.state()
        if holds(state):
            return state
        waited.wait(0.05)
    raise AssertionError(made.state())
