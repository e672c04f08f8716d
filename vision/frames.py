"""Frames and where they come from. The only part of vision that hardware/ may import."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
import numpy.typing as npt

Image = npt.NDArray[np.uint8]


class SourceError(Exception):
    """The camera or file cannot be opened or read. The message is one sentence that says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One picture: ``bgr`` is uint8 (height, width, 3), ``t_s`` seconds on a monotonic clock (file time for files)."""

    id: int
    t_s: float
    source: str
    bgr: Image


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceInfo:
    """What a source says of itself. ``live`` sources drop frames that nobody took; others deliver every frame."""

    uri: str
    model: str
    width: int
    height: int
    live: bool
    fps: float | None = None


class FrameSource(Protocol):
    """A camera of any kind. Open it with ``with``; nothing happens before."""

    info: SourceInfo

    def __enter__(self) -> Self: ...

    def __exit__(self, *exc: object) -> None: ...

    def read(self, timeout_s: float = 5.0) -> Frame | None:
        """The next frame (file-like sources) or the newest not yet delivered (live ones).

        None when the source has ended. Raises SourceError when it failed or nothing came within ``timeout_s``.
        """
        ...
