"""Pictures for calibrating and aiming: from a file, or from a camera until one of them is of use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bastide.errors import Failure, UsageError
from bastide.tables import is_device, open_camera, opened, wrong_source
from vision.frames import Image, SourceError
from vision.images import ImageError, read_image

WARM_UP = 3  # frames of a live camera that go by before it is believed: exposure settles
MOST_FRAMES = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """A picture with the address and the name of the camera that took it; of a file both say little."""

    bgr: Image
    uri: str
    model: str


@contextmanager
def shots(source: str, most: int | None = MOST_FRAMES) -> Iterator[Iterator[Shot]]:
    """Pictures of ``--source``: one of a picture file, else up to ``most`` frames (None: until it ends).

    Raises UsageError for a file that cannot be read and Failure for a camera that does not answer.
    """
    if _is_picture(source):
        try:
            yield iter([Shot(bgr=read_image(source), uri=f"image:{Path(source).name}", model="")])
        except ImageError as e:
            raise UsageError(str(e)) from e
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
                taken += 1
                yield Shot(bgr=frame.bgr, uri=camera.info.uri, model=camera.info.model)

        yield frames()


def first_shot(source: str) -> Shot:
    """One picture of ``--source``."""
    with shots(source, 1) as pictures:
        for shot in pictures:
            return shot
    raise Failure(f"{source}: gave no picture")


def _is_picture(source: str) -> bool:
    """A path rather than a URI: a file that is there, or a name with a picture's ending."""
    return Path(source).is_file() or (":" not in source)
