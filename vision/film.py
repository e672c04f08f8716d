"""Writes pictures as a film that phones and browsers play: VP8 in WebM, with the encoder in OpenCV's wheel.

The encoder has a process of its own (`vision.film_encoder`): it takes 40 MB in many blocks for as long as a film takes,
among which whatever else the program allocates meanwhile would fragment the heap of a process that runs for days.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import cv2
import numpy as np

from vision.film_encoder import FRAMES
from vision.frames import Image

KIND = "video/webm"
SUFFIX = ".webm"


def write_film(path: Path, pictures: Iterable[tuple[Image, int]], *, fps: int, size: tuple[int, int]) -> int:
    """Write BGR pictures of ``size`` (width, height in pixels, both even), each shown for the given number of frames.
    Returns the film's number of frames. Raises OSError when it cannot be written; then no file of that name is left."""
    part = path.with_name(f".{path.stem}.part{SUFFIX}")
    room = Path(__file__).parents[1]
    try:
        with subprocess.Popen([sys.executable, "-m", "vision.film_encoder", str(part.absolute()), str(fps),
                               *map(str, size)], cwd=room, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as encoder:
            try:
                frames = _sent(encoder, pictures)
                reason = encoder.communicate()[0].decode("utf-8", "replace").strip()
            except BaseException:
                encoder.kill()
                encoder.communicate()  # what it no longer takes must not hide the reason
                raise
        if encoder.returncode or not frames or not part.is_file() or not part.stat().st_size:
            raise OSError(0, f"{path}: {reason or 'the film could not be written'}")
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
    return frames


def _sent(encoder: subprocess.Popen[bytes], pictures: Iterable[tuple[Image, int]]) -> int:
    """Send the pictures as far as the encoder takes them; their number of frames."""
    assert encoder.stdin is not None
    frames = 0
    for picture, shown in pictures:
        try:
            encoder.stdin.write(FRAMES.pack(shown))
            encoder.stdin.write(np.ascontiguousarray(picture).data)
        except BrokenPipeError:  # it gave up, and says why
            break
        frames += shown
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
