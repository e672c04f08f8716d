"""Reads and writes pictures as files and bytes."""

from __future__ import annotations

import cv2
import numpy as np

from scoring.errors import unreadable
from vision.frames import MAX_FILE_BYTES, MAX_PIXELS, Image, size_of


class ImageError(Exception):
    """A picture that cannot be read. The message is one sentence naming the file."""


def read_image(path: str) -> Image:
    """A picture as BGR uint8 (height, width, 3), rotated according to its EXIF. Raises ImageError."""
    try:
        with open(path, "rb") as f:
            data = f.read(MAX_FILE_BYTES + 1)
    except OSError as e:
        raise ImageError(unreadable(path, e, "picture")) from e
    return decoded(data, path)


def decoded(data: bytes, path: str) -> Image:
    """The same from bytes, which came from ``path``. Too large pictures are not decoded. Raises ImageError."""
    size = size_of(data)
    if size is not None and size[0] * size[1] > MAX_PIXELS or len(data) > MAX_FILE_BYTES:
        raise ImageError(f"{path}: has more than {MAX_PIXELS // 1_000_000} million pixels; make it smaller")
    try:
        image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR) if size is not None else None
    except cv2.error:
        image = None
    if image is None:
        raise ImageError(f"{path}: is not a picture that can be read (JPEG, PNG, WebP, TIFF, BMP)")
    return np.asarray(image, np.uint8)


def write_image(path: str, image: Image) -> None:
    """Write a picture in the format of its file extension. Raises ImageError."""
    try:
        ok = cv2.imwrite(path, image)
    except cv2.error:
        ok = False
    if not ok:
        raise ImageError(f"{path}: could not be written; use a name ending in .png or .jpg in a folder that exists")


def reduced(image: Image, long_side_px: int) -> Image:
    """The picture, downscaled if necessary so that its longer side has at most ``long_side_px`` pixels."""
    scale = min(1.0, long_side_px / max(image.shape[:2]))
    if scale == 1:
        return image
    return np.asarray(cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8)


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
