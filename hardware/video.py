"""``video:FILE``: every frame of a film, with the film's own clock."""

from __future__ import annotations

from pathlib import Path
from typing import Self

import cv2
import numpy as np

from hardware.quiet import hush
from vision.frames import Frame, SourceError, SourceInfo


class VideoSource:
    """Any file that OpenCV's FFmpeg decodes (mp4, avi, mkv, mjpeg ...)."""

    def __init__(self, uri: str, path: str) -> None:
        self._path = Path(path)
        self.info = SourceInfo(uri=uri, model=f"video {self._path.name}", width=0, height=0, live=False)
        self._capture: cv2.VideoCapture | None = None
        self._next = 0

    def __enter__(self) -> Self:
        if not self._path.exists():
            raise SourceError(f"there is no video {self._path}")
        if self._path.is_dir():
            raise SourceError(f"{self._path} is a folder, not a video; a folder of pictures is folder:{self._path}")
        if not self._path.is_file():
            raise SourceError(f"{self._path} is no file; a webcam is usb:0")
        hush()
        capture = cv2.VideoCapture(str(self._path), cv2.CAP_FFMPEG)
        width, height = (int(capture.get(p)) for p in (cv2.CAP_PROP_FRAME_WIDTH, cv2.CAP_PROP_FRAME_HEIGHT))
        if not capture.isOpened() or width < 1 or height < 1:
            capture.release()
            raise SourceError(f"{self._path} is not a video that can be read")
        fps = capture.get(cv2.CAP_PROP_FPS)
        self.info = SourceInfo(uri=self.info.uri, model=self.info.model, width=width, height=height, live=False,
                               fps=fps if 0 < fps < 1000 else None)
        self._capture, self._next = capture, 0
        return self

    def __exit__(self, *exc: object) -> None:
        capture, self._capture = self._capture, None
        if capture is not None:
            capture.release()

    def read(self, timeout_s: float = 5.0) -> Frame | None:
        if self._capture is None:
            raise SourceError(f"{self.info.uri} is not open")
        ok, image = self._capture.read()
        if not ok:
            if self._next == 0:
                raise SourceError(f"{self._path} is not a video that can be read")
            return None
        number, self._next = self._next, self._next + 1
        return Frame(id=number, t_s=number / (self.info.fps or 25.0), source=self.info.uri,
                     bgr=np.asarray(image, np.uint8))
