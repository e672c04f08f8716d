"""Opening a camera: what its address means, and what to tell the user when it does not open."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bastide.errors import Failure, UsageError
from hardware.sources import UnknownSource, open_source
from vision.frames import Frame, FrameSource, SourceError

FILE_LIKE = ("sim", "video", "folder")  # sources that are input files, not devices


def open_camera(uri: str) -> FrameSource:
    """The camera behind a URI, ready for ``with``. A URI or an option that nobody knows is a usage error."""
    try:
        return open_source(uri)
    except SourceError as e:
        raise wrong_source(uri, e) from e


@contextmanager
def opened(camera: FrameSource) -> Iterator[FrameSource]:
    """The camera opened. What cannot be opened is a usage error when it is a file, a failure when it is a device."""
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

    Raises Failure for a camera that fails before anything was ``kept``; afterwards that is only said.
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
    """Whether a source is something that can be plugged in, not a file."""
    return uri.partition(":")[0].lower() not in FILE_LIKE


def wrong_source(uri: str, error: SourceError) -> UsageError | Failure:
    """What to tell the user of a source that cannot be opened."""
    wrong = isinstance(error, UnknownSource) or not is_device(uri)
    return UsageError(f"--source: {error}") if wrong else Failure(str(error))
