"""Writes pictures as a film that phones and browsers play: VP8 in WebM, with the encoder in OpenCV's wheel."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import cv2
import numpy as np

from vision.frames import Image

KIND = "video/webm"
SUFFIX = ".webm"


def write_film(path: Path, pictures: Iterable[tuple[Image, int]], *, fps: int, size: tuple[int, int]) -> int:
    """Write BGR pictures of ``size`` (width, height in pixels, both even), each shown for the given number of frames.
    Returns the film's number of frames. Raises OSError when it cannot be written; then no file of that name is left."""
    part = path.with_name(f".{path.stem}.part{SUFFIX}")
    writer, frames = cv2.VideoWriter(str(part), cv2.CAP_FFMPEG, cv2.VideoWriter.fourcc(*"VP80"), float(fps), size), 0
    try:
        if not writer.isOpened():
            raise OSError(0, f"{path}: this build of OpenCV writes no films")
        for picture, shown in pictures:
            for _ in range(shown):
                writer.write(picture)
            frames += shown
        writer.release()
        if not frames or not part.is_file() or not part.stat().st_size:
            raise OSError(0, f"{path}: the film could not be written")
        os.replace(part, path)
    finally:
        writer.release()
        part.unlink(missing_ok=True)
    return frames


def fitted(picture: Image, size: tuple[int, int], ground_bgr: tuple[int, int, int] = (0, 0, 0)) -> Image:
    """The whole picture scaled and centred on a canvas of that size (width, height) and colour."""
    width, height = size
    scale = min(width / picture.shape[1], height / picture.shape[0])
    across, down = max(1, round(picture.shape[1] * scale)), max(1, round(picture.shape[0] * scale))
    small = cv2.resize(picture, (across, down), interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
    out = np.full((height, width, 3), ground_bgr, np.uint8)
    left, top = (width - across) // 2, (height - down) // 2
    out[top:top + down, left:left + across] = small
    return out
