"""``sim:``: a simulated table as a camera. It delivers frames only; the ground truth stays in the simulator."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Self
from urllib.parse import unquote

from vision.frames import Frame, SourceError, SourceInfo
from vision.simulator import Simulator, load, options_from


class SimSource:
    """``transcript=FILE&seed=N[&level=..][&size=WxH][&fps=..][&rest=..][&turns=..][&tiles=DIR][&pace=X]``.

    Every frame is delivered, as fast as it is requested; with ``pace=1`` no faster than the simulated clock, with
    ``pace=2`` no faster than twice that.
    """

    def __init__(self, uri: str, query: str) -> None:
        given: dict[str, str] = {}
        for item in filter(None, query.split("&")):
            key, equals, value = item.partition("=")
            if not equals or not value:
                raise SourceError(f"sim option {item!r} should be written key=value")
            given[key] = unquote(value)
        if "transcript" not in given:
            raise SourceError(f"source {uri!r} needs a game: sim:transcript=FILE&seed=N")
        self._transcript = Path(given.pop("transcript"))
        self._seed = int(_number("seed", given.pop("seed", "0"), whole=True))
        self._pace = _number("pace", given.pop("pace", "0"))
        self._options = options_from(given)
        self._uri = uri
        self.info = SourceInfo(uri=uri, model="simulated table", width=self._options.size[0],
                               height=self._options.size[1], live=False, fps=self._options.fps)
        self._frames: Iterator[Frame] | None = None
        self._started_s = 0.0
        self._closed = threading.Event()

    def __enter__(self) -> Self:
        self._frames = iter(Simulator(load(self._transcript), self._seed, self._options))
        self._closed.clear()
        self._started_s = time.monotonic()
        return self

    def __exit__(self, *exc: object) -> None:
        self._closed.set()
        self._frames = None

    def read(self, timeout_s: float = 5.0) -> Frame | None:
        frames = self._frames
        if frames is None:
            raise SourceError(f"{self._uri} is not open")
        frame = next(frames, None)
        if frame is None or self._closed.is_set():
            return None
        if self._pace:
            self._closed.wait(max(0.0, self._started_s + frame.t_s / self._pace - time.monotonic()))
        return Frame(id=frame.id, t_s=frame.t_s, source=self._uri, bgr=frame.bgr)


def _number(name: str, text: str, whole: bool = False) -> float:
    try:
        value = int(text) if whole else float(text)
        if value < 0:
            raise ValueError
    except ValueError:
        raise SourceError(f"sim option {name}={text!r} should be a {'whole ' if whole else ''}number") from None
    return value
