"""How long a wooden figure looks in a picture: a coarse solid of the piece, seen from where the camera hangs.

The length of a silhouette is its spread along its longest axis (the root of the larger second moment). Of what can be
measured of figures 1.3 px a mm small it tells sizes apart best: the area hangs on what paint and shade do to the edge.
Lengths are millimetres on the table; a silhouette is a mask in the crop of a tile (`vision.standing`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import cv2
import numpy as np
import numpy.typing as npt

from vision.lattice import Array, apply

TILE_MM = 45.0
_YAWS = 12  # over half a turn: front and back of what stands are alike, head and legs of what lies are not
_FINE = 4  # bits of a pixel in what is drawn
_ALIKE, _ALIKE_LYING = 0.75, 0.7  # part that silhouette and solid share: below it the silhouette is not whole
_AS_GOOD = 0.02  # difference of that part between turns that fit about as well
# Head, arms and legs of whatever is cut from a board: right half from the top down, parts of width and of height.
_HALF = ((0.0, 1.0), (0.16, 0.95), (0.17, 0.78), (0.12, 0.70), (0.5, 0.60), (0.5, 0.45), (0.26, 0.42), (0.44, 0.0),
         (0.13, 0.0), (0.0, 0.17))

Mask = npt.NDArray[np.bool_]


def longer(silhouette: Mask, pieces_mm: Mapping[str, tuple[float, float, float]], lying: Mapping[str, bool],
           pose: Array, nadir_px: tuple[float, float], height_mm: float, foot: Array, px: int,
           margin: float) -> dict[str, float]:
    """By piece, the logarithm of a silhouette's length over what the piece would have there, turned as it fits best.
    Empty for a silhouette that is like none of them: part of it is hidden, or of another thing.

    ``pieces_mm`` are width, height and depth of the standing piece, ``pose`` is the tile's, ``foot`` (2,) about where
    the figure stands in tile steps; the camera hangs ``height_mm`` above ``nadir_px``; the mask has ``px`` per tile and
    ``margin`` tiles around it.
    """
    middle, length = _middle_and_length(silhouette)
    area, back = float(silhouette.sum()), np.linalg.inv(pose)
    out: dict[str, float] = {}
    whole = False
    for name, size_mm in pieces_mm.items():
        alike, off, at = list[float](), list[float](), foot
        for n in range(_YAWS * 2 if lying[name] else _YAWS):
            for _ in range(2):  # the second time in its place
                seen = _seen(solid(*size_mm, lying[name], n), at, pose, back, np.array(nadir_px), height_mm)
                drawn = _drawn((seen + margin) * px, silhouette.shape)
                if not drawn.any():
                    return {}
                where, expected = _middle_and_length(drawn)
                at = at + (middle - where) / px
            both = float((drawn & silhouette).sum())
            alike.append(both / (area + float(drawn.sum()) - both))
            off.append(float(np.log(length / expected)))
        weights = np.exp((np.array(alike) - max(alike)) / _AS_GOOD)
        out[name] = float(np.average(off, weights=weights))
        whole |= max(alike) >= (_ALIKE_LYING if lying[name] else _ALIKE)
    return out if whole else {}


def _middle_and_length(mask: Mask) -> tuple[Array, float]:
    y, x = np.nonzero(mask)
    middle = np.array([x.mean(), y.mean()])
    dx, dy = x - middle[0], y - middle[1]
    half = float((dx * dx - dy * dy).mean()) / 2
    larger = float((dx * dx + dy * dy).mean()) / 2 + float(np.hypot(half, (dx * dy).mean()))
    return middle, float(np.sqrt(max(larger, 1e-6)))


@cache
def solid(width_mm: float, height_mm: float, deep_mm: float, lying: bool, turn: int) -> Array:
    """(2, N, 3) front and back of a piece that stands or lies, so many steps turned."""
    half = np.array(_HALF)
    outline = np.vstack([half, (half * (-1, 1))[-2:0:-1]]) * (width_mm, height_mm)
    sides = []
    for depth in (0.0, deep_mm):
        flat = np.full(len(outline), depth)
        sides.append(np.column_stack([outline[:, 0], outline[:, 1] - height_mm / 2, flat]) if lying else
                     np.column_stack([outline[:, 0], flat - deep_mm / 2, outline[:, 1]]))
    angle = np.pi * turn / _YAWS
    cos, sin = np.cos(angle), np.sin(angle)
    return np.asarray(np.stack(sides) @ np.array([[cos, sin, 0], [-sin, cos, 0], [0, 0, 1]]))


def _seen(points_mm: Array, foot: Array, pose: Array, back: Array, nadir_px: Array, height_mm: float) -> Array:
    """(2, N, 2) where points over the foot are seen, in tile steps: what is higher is seen away from the nadir."""
    flat = points_mm.reshape(-1, 3)
    px = apply(pose, flat[:, :2] / TILE_MM + foot)
    px = nadir_px + (px - nadir_px) * (height_mm / (height_mm - flat[:, 2:]))
    return apply(back, px).reshape(2, -1, 2)


def _drawn(points: Array, shape: tuple[int, ...]) -> Mask:
    """The prism between two outlines (2, N, 2), filled."""
    out = np.zeros(shape, np.uint8)
    front, back = np.round((points - 0.5) * 2**_FINE).astype(np.int32)
    cv2.fillPoly(out, [front], 1, cv2.LINE_8, _FINE)
    cv2.fillPoly(out, [back], 1, cv2.LINE_8, _FINE)
    sides = np.stack([front, np.roll(front, -1, 0), np.roll(back, -1, 0), back], axis=1)
    for side in sides:
        cv2.fillConvexPoly(out, cv2.convexHull(side), 1, cv2.LINE_8, _FINE)
    return out.astype(bool)
