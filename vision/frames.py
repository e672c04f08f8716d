"""Frames and where they come from. The only part of vision that hardware/ may import."""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt

Image = npt.NDArray[np.uint8]
MAX_PIXELS = 60_000_000  # of a picture file: more is not even decoded, it would fill a small machine's memory
MAX_FILE_BYTES = 200_000_000


class SourceError(Exception):
    """The camera or file cannot be opened or read. The message is one sentence that says what to do."""


class DeadSource(SourceError):
    """The device cannot be used again by this process: only starting the program anew helps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One picture: ``bgr`` is uint8 (height, width, 3), ``t_s`` seconds on a monotonic clock (file time for files).

    ``luma``, uint8 (height, width), is the same view small and grey, where the camera makes one too.
    """

    id: int
    t_s: float
    source: str
    bgr: Image
    luma: Image | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Height, width and channels of ``bgr``, without fetching it."""
        return self.bgr.shape


_BGR: Any = Frame.__dict__["bgr"]  # the slot behind the name, which LateFrame hides


class LateFrame(Frame):
    """A frame whose full picture stays with the camera until somebody looks at it: most only show that nothing moved.

    ``fetch`` copies it out of the camera's memory, ``free`` gives that memory back; each is called at most once. The
    source lets go of a frame when it delivers the next one; what nobody has looked at by then is gone.
    """

    __slots__ = ("_fetch", "_free", "_lock", "_shape")
    _fetch: Callable[[], Image]
    _free: Callable[[], None] | None
    _lock: threading.Lock
    _shape: tuple[int, ...]

    def __init__(self, *, id: int, t_s: float, source: str, luma: Image | None, shape: tuple[int, ...],
                 fetch: Callable[[], Image], free: Callable[[], None]) -> None:
        values = {"id": id, "t_s": t_s, "source": source, "luma": luma, "_shape": shape, "_fetch": fetch,
                  "_free": free, "_lock": threading.Lock()}
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def shape(self) -> tuple[int, ...]:
        return self._shape

    @property
    def bgr(self) -> Image:
        with self._lock:
            if not hasattr(super(), "bgr"):
                if self._free is None:
                    raise SourceError("that picture is gone: the camera has given a newer one")
                _BGR.__set__(self, self._fetch())
                self._give_back()
            return super().bgr

    def let_go(self) -> None:
        """Give the camera its memory back. A picture that was fetched before stays."""
        with self._lock:
            self._give_back()

    def _give_back(self) -> None:
        free = self._free
        object.__setattr__(self, "_free", None)
        if free is not None:
            free()


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceInfo:
    """What a source says of itself. ``live`` sources drop frames that nobody took; others deliver every frame.

    ``controls`` are those in force: exposure_us, gain, red_gain, blue_gain, focus_dioptres and whatever else it sets.
    """

    uri: str
    model: str
    width: int
    height: int
    live: bool
    fps: float | None = None
    controls: Mapping[str, float | str] = field(default_factory=dict)


class FrameSource(Protocol):
    """A camera of any kind. Open it with ``with``; nothing happens before."""

    @property
    def info(self) -> SourceInfo: ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *exc: object) -> None: ...

    def read(self, timeout_s: float = 5.0) -> Frame | None:
        """The next frame (file-like sources) or the newest not yet delivered (live ones).

        Look at its ``bgr`` before reading the next one: a camera may keep the picture no longer than that.
        None when the source has ended. Raises SourceError when it failed or nothing came within ``timeout_s``.
        """
        ...


def size_of(data: bytes) -> tuple[int, int] | None:
    """Width and height that a picture file says it has, without decoding it: PNG, JPEG, WebP, BMP or TIFF.

    None for anything else, for a file that ends before it says so, and for a PNG that ends before one of its parts.
    """
    try:
        if data[:8] == b"\x89PNG\r\n\x1a\n" and data[12:16] == b"IHDR":
            return struct.unpack_from(">II", data, 16) if _chunks_fit(data) else None
        if data[:2] == b"\xff\xd8":
            return _jpeg_size(data)
        if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
            return _webp_size(data)
        if data[:2] == b"BM":
            width, height = struct.unpack_from("<ii", data, 18)
            return abs(width), abs(height)
        if data[:4] in (b"II*\0", b"MM\0*"):
            return _tiff_size(data)
    except (struct.error, IndexError):
        pass
    return None


def _chunks_fit(png: bytes) -> bool:
    """Whether all parts of a PNG lie within it. OpenCV makes room for as much as a part claims to be."""
    at = 8
    while png[at + 4:at + 8] != b"IEND":
        at += 12 + struct.unpack_from(">I", png, at)[0]
        if at > len(png):
            return False
    return True


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    at = 2
    while data[at] == 0xFF:
        marker = data[at + 1]
        if marker == 0xFF:  # padding
            at += 1
        elif marker in (0x01, *range(0xD0, 0xD9)):  # marks without content
            at += 2
        elif 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", data, at + 5)
            return width, height
        else:
            at += 2 + max(2, struct.unpack_from(">H", data, at + 2)[0])
    return None


def _webp_size(data: bytes) -> tuple[int, int] | None:
    match data[12:16]:
        case b"VP8 ":
            width, height = struct.unpack_from("<HH", data, 26)
            return width & 0x3FFF, height & 0x3FFF
        case b"VP8L":
            bits = struct.unpack_from("<I", data, 21)[0]
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8X":
            return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
    return None


def _tiff_size(data: bytes) -> tuple[int, int] | None:
    order = "<" if data[:2] == b"II" else ">"
    first = struct.unpack_from(order + "I", data, 4)[0]
    found: dict[int, int] = {}
    for n in range(struct.unpack_from(order + "H", data, first)[0]):
        tag, kind = struct.unpack_from(order + "HH", data, first + 2 + 12 * n)
        if tag in (256, 257):
            found[tag] = struct.unpack_from(order + ("H" if kind == 3 else "I"), data, first + 10 + 12 * n)[0]
    return (found[256], found[257]) if len(found) == 2 else None
