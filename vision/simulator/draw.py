"""Anti-aliased drawing by supersampling small regions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from vision.frames import Image

Roi = tuple[int, int, int, int]  # x0, y0, x1, y1 in px, x1 and y1 exclusive


def around(points_px: npt.ArrayLike, size: tuple[int, int], margin: int = 2) -> Roi | None:
    """The bounding rectangle of points, clipped to the picture; None when nothing of it is in view."""
    p = np.asarray(points_px, float).reshape(-1, 2)
    x0, y0 = np.floor(p.min(0)).astype(int) - margin
    x1, y1 = np.ceil(p.max(0)).astype(int) + margin + 1
    x0, y0, x1, y1 = max(0, int(x0)), max(0, int(y0)), min(size[0], int(x1)), min(size[1], int(y1))
    return (x0, y0, x1, y1) if x1 > x0 and y1 > y0 else None


def union(a: Roi | None, b: Roi | None) -> Roi | None:
    if a is None or b is None:
        return a or b
    return min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3])


def overlap(a: Roi | None, b: Roi | None) -> bool:
    return a is not None and b is not None and a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def part(image: np.ndarray, roi: Roi) -> np.ndarray:
    """A view of the region."""
    return image[roi[1]:roi[3], roi[0]:roi[2]]


def blend(canvas: Image, colour: np.ndarray, alpha: npt.NDArray[np.float32]) -> None:
    """In place: ``canvas = colour * alpha + canvas * (1 - alpha)``; colour uint8 like canvas, alpha (h, w) 0..1."""
    canvas[:] = cv2.blendLinear(np.ascontiguousarray(colour), np.ascontiguousarray(canvas), alpha,
                                np.float32(1) - alpha)


def darken(canvas: Image, shade: npt.NDArray[np.float32]) -> None:
    """In place: multiply by ``1 - shade`` (h, w)."""
    factor = cv2.merge([255 - (shade * 255).astype(np.uint8)] * 3)
    canvas[:] = cv2.multiply(np.ascontiguousarray(canvas), factor, scale=1 / 255)


def picture(canvas: Image, art: Image, alpha: npt.NDArray[np.uint8], quad_px: npt.ArrayLike, soft: int = 2) -> None:
    """Warp a square picture onto a quadrilateral of the canvas (corners NW NE SE SW), edges anti-aliased."""
    quad = np.asarray(quad_px, np.float32).reshape(4, 2)
    roi = around(quad, (canvas.shape[1], canvas.shape[0]))
    if roi is None:
        return
    w, h = (roi[2] - roi[0]) * soft, (roi[3] - roi[1]) * soft
    n = len(art)
    src = np.array([(0, 0), (n, 0), (n, n), (0, n)], np.float32) - 0.5
    dst = (quad - (roi[0], roi[1]) + 0.5) * soft - 0.5
    m = cv2.getPerspectiveTransform(src, dst.astype(np.float32))
    big = cv2.warpPerspective(art, m, (w, h), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    mask = cv2.warpPerspective(alpha, m, (w, h), flags=cv2.INTER_LINEAR)
    size = (w // soft, h // soft)
    blend(part(canvas, roi), cv2.resize(big, size, interpolation=cv2.INTER_AREA), _share(mask, size))


def polygons(roi: Roi, shapes: Sequence[tuple[npt.ArrayLike, tuple[float, ...]]],
             soft: int = 4) -> tuple[Image, npt.NDArray[np.float32]]:
    """Filled polygons (px, BGR) painted in order over a region: colour (h, w, 3) and alpha (h, w)."""
    w, h = (roi[2] - roi[0]) * soft, (roi[3] - roi[1]) * soft
    first = shapes[0][1] if shapes else (0, 0, 0)
    big = np.full((h, w, 3), first, np.uint8)
    mask = np.zeros((h, w), np.uint8)
    for points, colour in shapes:
        p = np.asarray(points, float)
        fixed = np.round(((p - (roi[0], roi[1]) + 0.5) * soft - 0.5) * 16).astype(np.int32)
        cv2.fillPoly(big, [fixed], colour, cv2.LINE_AA, 4)
        cv2.fillPoly(mask, [fixed], 255, cv2.LINE_8, 4)
    size = (w // soft, h // soft)
    return np.asarray(cv2.resize(big, size, interpolation=cv2.INTER_AREA), np.uint8), _share(mask, size)


def _share(mask: npt.NDArray[np.integer[Any] | np.floating[Any]], size: tuple[int, int]) -> npt.NDArray[np.float32]:
    """A mask of 0..255 downscaled, as 0..1."""
    return cv2.resize(mask, size, interpolation=cv2.INTER_AREA).astype(np.float32) / np.float32(255)


def differs(one: Image, other: Image, by: int = 0) -> npt.NDArray[np.uint8]:
    """255 where a channel of two pictures (h, w, 3) differs by more than that, else 0: (h, w)."""
    blue, green, red = cv2.split(cv2.absdiff(one, other))  # NumPy's maximum over three channels takes ten times as long
    return np.asarray(cv2.threshold(cv2.max(cv2.max(blue, green), red), by, 255, cv2.THRESH_BINARY)[1], np.uint8)


def smear(before: Image, after: Image, motion_px: tuple[float, float]) -> None:
    """In place: motion blur of what differs between ``before`` and ``after``."""
    length = float(np.hypot(*motion_px)) / 2  # computed at half size: it is a blur
    if length < 2:
        return
    side = 2 * int(np.ceil(length / 2)) + 3
    kernel = np.zeros((side, side), np.float32)
    c, d = side / 2 - 0.5, np.asarray(motion_px) / 4
    ends = [tuple(int(round(v * 16)) for v in (c + s * d[0], c + s * d[1])) for s in (-1, 1)]
    cv2.line(kernel, ends[0], ends[1], 1.0, 1, cv2.LINE_8, 4)
    kernel /= max(1.0, float(kernel.sum()))
    moved = differs(before, after, 6)
    half = (max(1, after.shape[1] // 2), max(1, after.shape[0] // 2))
    cover = cv2.filter2D(cv2.resize(moved, half, interpolation=cv2.INTER_AREA), -1, kernel)
    blurred = cv2.filter2D(cv2.resize(after, half, interpolation=cv2.INTER_AREA), -1, kernel)
    size = (after.shape[1], after.shape[0])
    weight = cv2.resize(cover, size).astype(np.float32) / 255
    after[:] = cv2.blendLinear(cv2.resize(blurred, size), np.ascontiguousarray(before), weight, np.float32(1) - weight)


def shadow_of(roi: Roi, shapes: Sequence[npt.ArrayLike], soft_px: float) -> npt.NDArray[np.float32]:
    """Coverage (h, w) 0..1 of the union of polygons, blurred."""
    mask = np.zeros((roi[3] - roi[1], roi[2] - roi[0]), np.uint8)
    for points in shapes:
        fixed = np.round((np.asarray(points, float) - (roi[0], roi[1])) * 16).astype(np.int32)
        cv2.fillPoly(mask, [fixed], 255, cv2.LINE_AA, 4)
    return cv2.GaussianBlur(mask, (0, 0), max(0.5, soft_px)).astype(np.float32) / np.float32(255)
