"""Frames and where they come from. The only part of vision that hardware/ may import."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt

Image = npt.NDArray[np.uint8]
MAX_PIXELS = 60_000_000  # of a picture file: larger ones are not decoded, they would fill a small machine's memory
MAX_FILE_BYTES = 200_000_000


class SourceError(Exception):
    """The camera or file cannot be opened or read. The message is one sentence that says what to do."""


class DeadSource(SourceError):
    """The device cannot be used again by this process: only a restart of the program helps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One picture: ``bgr`` is uint8 (height, width, 3), ``t_s`` seconds on a monotonic clock (file time for files).

    ``luma``, uint8 (height, width), is a downscaled grey copy, where the camera provides one.
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


_BGR: Any = Frame.__dict__["bgr"]  # the slot descriptor, which LateFrame shadows


class LateFrame(Frame):
    """A frame whose full picture stays in the camera's memory until it is accessed: most frames only show that nothing
    moved.

    ``fetch`` copies it out of the camera's memory, ``free`` releases that buffer; each is called at most once. The
    source releases a frame when it delivers the next one; a picture not accessed by then is lost.
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
                    raise SourceError("that picture is gone: the camera has delivered a newer one")
                _BGR.__set__(self, self._fetch())
                self._give_back()
            return super().bgr

    def let_go(self) -> None:
        """Release the camera's buffer. A picture that was fetched before stays."""
        with self._lock:
            self._give_back()

    def _give_back(self) -> None:
        free = self._free
        object.__setattr__(self, "_free", None)
        if free is not None:
            free()


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceInfo:
    """A source's description of itself. ``live`` sources drop frames that were not fetched; others deliver every frame.

    ``controls`` are the camera controls in effect: exposure_us, gain, red_gain, blue_gain, focus_dioptres and others.
    """

    uri: str
    model: str
    width: int
    height: int
    live: bool
    fps: float | None = None
    controls: Mapping[str, float | str] = field(default_factory=dict)


class FrameSource(Protocol):
    """A camera of any kind. Use it as a context manager: ``with`` opens it."""

    @property
    def info(self) -> SourceInfo: ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *exc: object) -> None: ...

    def read(self, timeout_s: float = 5.0) -> Frame | None:
        """The next frame (file-like sources) or the newest not yet delivered (live ones).

        Access its ``bgr`` before reading the next one: a camera may keep the picture no longer than that.
        None when the source has ended. Raises SourceError when it failed or nothing came within ``timeout_s``.
        """
        ...


def size_of(data: bytes) -> tuple[int, int] | None:
    """Width and height from a picture file's header, without decoding it: PNG, JPEG, WebP, BMP or TIFF.

    None for anything else, for a file truncated before that, and for a PNG with a chunk that is corrupt or longer than
    the file: OpenCV allocates as much as a chunk's length says.
    """
    from PIL import BmpImagePlugin, ImageFile, JpegImagePlugin, PngImagePlugin, TiffImagePlugin, WebPImagePlugin

    # Not Image.open: it has its own warning and error for many pixels, and knows formats that we do not read.
    known: Mapping[bytes, Callable[[BytesIO], ImageFile.ImageFile]] = {
        b"\x89PNG": PngImagePlugin.PngImageFile, b"\xff\xd8": JpegImagePlugin.JpegImageFile,
        b"RIFF": WebPImagePlugin.WebPImageFile, b"BM": BmpImagePlugin.BmpImageFile,
        b"II*\0": TiffImagePlugin.TiffImageFile, b"MM\0*": TiffImagePlugin.TiffImageFile}
    for begins, kind in known.items():
        if data.startswith(begins):
            try:
                with warnings.catch_warnings(action="ignore"), kind(BytesIO(data)) as picture:  # about odd EXIF
                    size = picture.size
                    if begins == b"\x89PNG":
                        picture.verify()
                    return size
            except Exception:  # a corrupt file can raise anything in the decoder: not a picture
                return None
    return None
