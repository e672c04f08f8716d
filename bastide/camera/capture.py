"""Pictures for calibrating and aiming: from a file, or from a camera until one of them is usable."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bastide.camera.opening import is_device, open_camera, opened, wrong_source
from bastide.errors import UsageError
from vision.frames import Image, SourceError
from vision.images import ImageError, read_image

WARM_UP = 3  # frames of a live camera that are skipped while its exposure settles
MOST_FRAMES = 40
LEAST_SIDE_PX, LONGEST_TIMES = 64, 10  # limits of a plausible picture of a table


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """A picture with the address and the name of the camera that took it; not meaningful for a file."""

    bgr: Image
    uri: str
    model: str


def photograph(path: str) -> Image:
    """A picture file in which a table can be seen. Raises UsageError for any other."""
    try:
        bgr = read_image(path)
    except ImageError as e:
        raise UsageError(str(e)) from e
    if (odd := too_odd(bgr)) is not None:
        raise UsageError(f"{path}: {odd}")
    return bgr


def too_odd(bgr: Image) -> str | None:
    """Why a picture is too small or too narrow to be one of a table; None if it is not."""
    height, width = bgr.shape[:2]
    if min(height, width) >= LEAST_SIDE_PX and max(height, width) <= LONGEST_TIMES * min(height, width):
        return None
    return f"is {width} x {height} pixels; a photograph of a table has at least {LEAST_SIDE_PX} on each side and is " \
           f"at most {LONGEST_TIMES} times as long as wide"


@contextmanager
def shots(source: str, most: int | None = MOST_FRAMES) -> Iterator[Iterator[Shot]]:
    """Pictures of ``--source``: a single one from a picture file, else up to ``most`` frames (None: until it ends).

    Raises UsageError for a file that cannot be read and Failure for a camera that does not answer.
    """
    if _is_picture(source):
        yield iter([Shot(bgr=photograph(source), uri=f"image:{Path(source).name}", model="")])
        return
    with opened(open_camera(source)) as camera:
        def frames() -> Iterator[Shot]:
            skipped = taken = 0
            while most is None or taken < most:
                try:
                    frame = camera.read()
                except SourceError as e:
                    raise wrong_source(source, e) from e
                if frame is None:
                    return
                if is_device(source) and skipped < WARM_UP:
                    skipped += 1
                    continue
                if (odd := too_odd(frame.bgr)) is not None:
                    raise UsageError(f"--source: a picture of {camera.info.uri} {odd}")
                taken += 1
                yield Shot(bgr=frame.bgr, uri=camera.info.uri, model=camera.info.model)

        yield frames()


def _is_picture(source: str) -> bool:
    """A path rather than a URI: an existing file, or a name with a picture's file extension."""
    return Path(source).is_file() or (":" not in source)
