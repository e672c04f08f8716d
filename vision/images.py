"""Pictures in and out of files and bytes."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np

from scoring.errors import unreadable
from vision.frames import Image

MAX_PIXELS = 60_000_000


class ImageError(Exception):
    """A picture that cannot be read. The message is one sentence naming the file."""


def read_image(path: str) -> Image:
    """A picture as BGR uint8 (height, width, 3), turned upright as its EXIF says. Raises ImageError."""
    file = Path(path)
    try:
        data = np.frombuffer(file.read_bytes(), np.uint8)
    except OSError as e:
        raise ImageError(unreadable(path, e, "picture")) from e
    try:
        image = cv2.imdecode(data, cv2.IMREAD_COLOR) if data.size else None
    except cv2.error:
        image = None
    if image is None:
        raise ImageError(f"{path}: is not a picture that can be read (JPEG, PNG, WebP, TIFF)")
    if image.shape[0] * image.shape[1] > MAX_PIXELS:
        raise ImageError(f"{path}: has more than {MAX_PIXELS // 1_000_000} million pixels; make it smaller")
    return np.asarray(image, np.uint8)


def write_image(path: str, image: Image) -> None:
    """Write a picture in the format of its name. Raises ImageError."""
    try:
        ok = cv2.imwrite(path, image)
    except cv2.error:
        ok = False
    if not ok:
        raise ImageError(f"{path}: could not be written; use a name ending in .png or .jpg in a folder that exists")


def encode_jpeg(image: Image, quality: int = 85) -> bytes:
    """A picture as JPEG bytes."""
    ok, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality])
    if not ok:
        raise ImageError("a picture could not be packed as JPEG")
    return data.tobytes()


def encode_png(image: Image) -> bytes:
    """A picture as PNG bytes, without loss."""
    ok, data = cv2.imencode(".png", image)
    if not ok:
        raise ImageError("a picture could not be packed as PNG")
    return data.tobytes()
