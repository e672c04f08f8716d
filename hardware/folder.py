"""``folder:DIR[?fps=N]``: the pictures of a folder in name order. Other files are not read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Self
from urllib.parse import parse_qsl

import cv2
import numpy as np

from vision.frames import MAX_FILE_BYTES, MAX_PIXELS, Frame, Image, SourceError, SourceInfo, size_of

PICTURES = (".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff")


class FolderSource:
    """Pictures in natural sort order of their names; ``fps`` (default 4) only sets their clock."""

    def __init__(self, uri: str, rest: str) -> None:
        path, _, query = rest.partition("?")
        fps = 4.0
        for key, value in parse_qsl(query, keep_blank_values=True):
            if key != "fps":
                raise SourceError(f"a folder has no option {key!r}; known is fps")
            try:
                fps = float(value)
                if not 0 < fps <= 1000:
                    raise ValueError
            except ValueError:
                raise SourceError(f"folder option fps={value!r} should be a number above 0") from None
        self._folder, self._fps, self._next = Path(path), fps, 0
        self._files: list[Path] | None = None
        self.info = SourceInfo(uri=uri, model=f"folder {self._folder.name}", width=0, height=0, live=False, fps=fps)

    def __enter__(self) -> Self:
        if not self._folder.is_dir():
            what = "is a file, not a folder" if self._folder.exists() else "does not exist"
            raise SourceError(f"{self._folder} {what}")
        files = [f for f in self._folder.iterdir()
                 if f.suffix.lower() in PICTURES and not f.name.startswith(".") and f.is_file()]
        if not files:
            raise SourceError(f"there are no pictures in {self._folder}")
        self._files, self._next = sorted(files, key=_order), 0
        height, width = _read(self._files[0]).shape[:2]
        self.info = SourceInfo(uri=self.info.uri, model=self.info.model, width=width, height=height, live=False,
                               fps=self._fps)
        return self

    def __exit__(self, *exc: object) -> None:
        self._files = None

    def read(self, timeout_s: float = 5.0) -> Frame | None:
        if self._files is None:
            raise SourceError(f"{self.info.uri} is not open")
        if self._next >= len(self._files):
            return None
        number, self._next = self._next, self._next + 1
        return Frame(id=number, t_s=number / self._fps, source=self.info.uri, bgr=_read(self._files[number]))


def _order(path: Path) -> tuple[list[tuple[int, str]], str]:
    parts = re.split(r"(\d+)", path.name)
    return [(int(p), "") if p.isdecimal() else (-1, p) for p in parts], path.name


def _read(path: Path) -> Image:
    try:
        with open(path, "rb") as f:
            data = f.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise SourceError(f"cannot read {path}: {error.strerror or error}") from None
    size = size_of(data)
    if size is not None and size[0] * size[1] > MAX_PIXELS or len(data) > MAX_FILE_BYTES:
        raise SourceError(f"{path} has more than {MAX_PIXELS // 1_000_000} million pixels; make it smaller")
    try:
        image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR) if size is not None else None
    except cv2.error:
        image = None
    if image is None:
        raise SourceError(f"{path} is not an image")
    return np.asarray(image, np.uint8)
