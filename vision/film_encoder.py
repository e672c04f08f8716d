"""The process in which `vision.film` encodes: pictures come on standard input, the film goes to a file.

``python -m vision.film_encoder FILE FPS WIDTH HEIGHT``. Each picture is its number of frames (`FRAMES`) and its BGR
bytes, row by row. Exit code 1, with the reason as a line on standard output, when the film cannot be written. Its
priority is that of the thread that starts it.
"""

from __future__ import annotations

import struct
import sys
from pathlib import Path
from typing import BinaryIO

import cv2
import numpy as np

FRAMES = struct.Struct("<I")


def encode(path: Path, fps: float, size: tuple[int, int], pictures: BinaryIO) -> str | None:
    """Write the film; why it cannot be written, if so."""
    writer = cv2.VideoWriter(str(path), cv2.CAP_FFMPEG, cv2.VideoWriter.fourcc(*"VP80"), fps, size)
    if not writer.isOpened():
        return "this build of OpenCV writes no films"
    try:
        while head := pictures.read(FRAMES.size):
            body = pictures.read(3 * size[0] * size[1])
            picture = np.frombuffer(body, np.uint8).reshape(size[1], size[0], 3)
            for _ in range(FRAMES.unpack(head)[0]):
                writer.write(picture)
    except (ValueError, struct.error):  # the sender is gone
        return "the last picture is incomplete"
    finally:
        writer.release()
    return None


def main(argv: list[str]) -> int:
    why = encode(Path(argv[0]), float(argv[1]), (int(argv[2]), int(argv[3])), sys.stdin.buffer)
    if why:
        print(why)
    return 1 if why else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
