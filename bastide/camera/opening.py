"""Opens a camera by its address, with error messages for the user."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bastide.errors import Failure, UsageError
from hardware.sources import UnknownSource, open_source
from vision.frames import Frame, FrameSource, SourceError

FILE_LIKE = ("sim", "video", "folder")  # sources that are input files, not devices


def open_camera(uri: str) -> FrameSource:
    """The camera of a URI, ready for ``with``. An unknown URI or option is a usage error."""
    try:
        return open_source(uri)
    except SourceError as e:
        raise wrong_source(uri, e) from e


@contextmanager
def opened(camera: FrameSource) -> Iterator[FrameSource]:
    """The opened camera. A file that cannot be opened is a usage error, a device a failure."""
    try:
        camera.__enter__()
    except SourceError as e:
        raise wrong_source(camera.info.uri, e) from e
    try:
        yield camera
    finally:
        camera.__exit__(None, None, None)


def looks(camera: FrameSource, every_s: float, wanted: Callable[[], bool], kept: Callable[[], bool]) -> Iterator[Frame]:
    """A frame every ``every_s`` seconds while more is ``wanted``, until the source ends.

    Raises Failure for a camera that fails before anything was ``kept``; afterwards it only prints a message.
    """
    looked_s = -every_s
    while wanted():
        try:
            frame = camera.read()
        except SourceError as e:
            if not kept():
                raise Failure(str(e)) from e
            print(f"{e}; what was seen until then is kept", file=sys.stderr)
            return
        if frame is None:
            return
        if frame.t_s - looked_s >= every_s:
            looked_s = frame.t_s
            yield frame


def is_device(uri: str) -> bool:
    """Whether a source is a device, not a file."""
    return uri.partition(":")[0].lower() not in FILE_LIKE


def wrong_source(uri: str, error: SourceError) -> UsageError | Failure:
    """The error for a source that cannot be opened."""
    wrong = isinstance(error, UnknownSource) or not is_device(uri)
    return UsageError(f"--source: {error}") if wrong else Failure(str(error))
