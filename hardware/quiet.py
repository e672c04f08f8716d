"""Silences OpenCV and FFmpeg, which write to standard error when a camera is missing; we print our own message."""

from __future__ import annotations

import os

import cv2


def hush() -> None:
    """Call before opening a capture. The user's environment variables take precedence."""
    os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", "-8")
    if "OPENCV_LOG_LEVEL" not in os.environ:
        cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_ERROR)
