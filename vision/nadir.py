"""The point below the camera in the picture, and with it which way is up and how tops lean.

A board's perspective tells it, well if the camera looks from a side and the tiles are an exact lattice. Tiles that
people have laid are none, and their common displacements look like a perspective, however many there are; and a camera
on an arm looks about straight down. `upright` combines both by how reliable they are, for piles, whose height is told
by small displacements. Figures are given the perspective alone (`leans`): it is right for a camera that looks from a
side also where few or loose tiles hardly show that.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import cv2
import numpy as np

from scoring.tiles import Square
from vision.lattice import UNIT, Array, apply, area
from vision.view import USUAL_FOCAL, View, matrix_of


@dataclass(frozen=True, slots=True, kw_only=True)
class NadirLimits:
    """Distances in picture widths. "measured": by `benchmarks/nadir.py`."""

    tilted: float = 0.05  # of the point below a camera over the table from the picture's middle (measured: 0.01 to
    # 0.06 with tilts up to 5 degrees)
    oblique: float = 0.3  # share of the cameras that look at the table from a side (assumed)
    wide: float = 0.5  # of that point then (assumed)
    together: float = 1.6  # error of the perspective relative to that of displacements common to all tiles as large as
    # those left by its fit (chosen: more costs oblique cameras, less those above a loosely laid board)
    least: float = 0.01  # of that error: lens distortion (chosen)
    few: int = 5  # tiles up to which nothing is left by the fit that would tell its error
    rough: float = 0.2  # error of the perspective then (chosen)


LIMITS = NadirLimits()
FOLLOWER = 0.36  # of a tile: how high a follower stands


def board_grid(poses: Mapping[Square, Array]) -> Array:
    """(3, 3) homography from tile steps to pixels, fitted to all poses."""
    if len(poses) < 3:
        at, pose = next(iter(poses.items()))
        return np.asarray(pose @ np.array([[1, 0, -at[0]], [0, 1, -at[1]], [0, 0, 1.0]]))
    steps = np.concatenate([UNIT + at for at in poses])
    pixels = np.concatenate([apply(pose, UNIT) for pose in poses.values()])
    grid, _ = cv2.findHomography(steps, pixels, 0)
    return np.asarray(grid, float)


def height_direction(grid: Array, shape: tuple[int, ...], matrix: Array | None = None) -> Array:
    """(3,) homogeneous pixels per tile of height: a point p (homogeneous, on the table) raised by h is at p + h * this.

    Two columns of the homography are two axes of the table seen by the camera; square pixels and the picture's middle
    as principal point give the focal length (R. Hartley and A. Zisserman, Multiple View Geometry, 8.8) and the third.
    A calibrated camera's ``matrix`` gives both.
    """
    height, width = shape[:2]
    x, y = (width / 2, height / 2) if matrix is None else matrix[:2, 2]
    centred = np.array([[1, 0, -x], [0, 1, -y], [0, 0, 1.0]]) @ grid
    a, b = centred[:, 0], centred[:, 1]
    usual = float(max(height, width))
    # the axes are orthogonal and equally long: two equations for the squared focal length, weighted by how well the
    # view conditions them
    said = np.array([a[0] * b[0] + a[1] * b[1], a[0] ** 2 + a[1] ** 2 - b[0] ** 2 - b[1] ** 2])
    by = np.array([a[2] * b[2], a[2] ** 2 - b[2] ** 2])
    square = -float(said @ by) / max(float(by @ by), 1e-24)
    f = math.sqrt(square) if (0.6 * usual) ** 2 < square < (2.5 * usual) ** 2 else 1.05 * usual
    f = f if matrix is None else float(matrix[0, 0])
    rays = np.stack([[a[0] / f, a[1] / f, a[2]], [b[0] / f, b[1] / f, b[2]]])
    step = np.sqrt(np.linalg.norm(rays[0]) * np.linalg.norm(rays[1]))
    normal = np.cross(rays[0], rays[1])
    normal *= -step / np.linalg.norm(normal)  # x east, y south, so the third axis points down: up is its opposite
    up = np.array([normal[0] * f, normal[1] * f, normal[2]])
    out: Array = np.array([[1, 0, x], [0, 1, y], [0, 0, 1.0]]) @ up
    return out


def upright(grid: Array, board: Mapping[Square, Array], shape: tuple[int, ...], view: View | None) -> Array:
    """(3,) as `height_direction`; ``grid`` (3, 3) is the homography of the ``board``."""
    matrix = matrix_of(view, shape)
    up = height_direction(grid, shape, matrix)
    near = float(np.mean([grid[2] @ (x + 0.5, y + 0.5, 1.0) for x, y in board]))
    below, tall = up[:2] / up[2], -near / up[2]  # px; tiles above the board
    size = max(shape[:2])
    side = float(np.median([math.sqrt(abs(area(apply(pose, UNIT)))) for pose in board.values()]))
    focal = USUAL_FOCAL * size if matrix is None else float(matrix[0, 0])
    if view is not None and view.rotation is not None:
        below, weight = np.array(view.eye.nadir_px) * shape[1] / view.size[0], 1.0
    else:
        middle = np.array([shape[1] / 2, shape[0] / 2]) if matrix is None else matrix[:2, 2]
        share, weight = _combined((below - middle) / size, _error(grid, board, focal) / size)
        below = middle + share * (below - middle)
    tall = math.exp((1.0 - weight) * math.log(max(tall, 1.0)) + weight * math.log(focal / side))
    return np.asarray(-near / tall * np.array([*below, 1.0]), float)


def leans(poses: Mapping[Square, Array], shape: tuple[int, ...], view: View | None = None) -> dict[Square, Array]:
    """By square (2,): the displacement, in tiles, of a point one tile above its foot there."""
    if not poses:
        return {}
    grid = board_grid(poses)
    up = height_direction(grid, shape, matrix_of(view, shape))
    out = {}
    for at, pose in poses.items():
        foot = grid @ (at[0] + 0.5, at[1] + 0.5, 1.0)
        ends = np.array([foot, foot + FOLLOWER * up])
        low, high = apply(np.linalg.inv(pose), ends[:, :2] / ends[:, 2:])
        out[at] = (high - low) / FOLLOWER
    return out


def _combined(off: Array, error: float) -> tuple[float, float]:
    """Which part of its distance (2,) from the middle to believe a perspective with that error, and the probability
    that the camera looks about straight down; a mean of both kinds of cameras."""
    odds = math.log((1.0 - LIMITS.oblique) / LIMITS.oblique)
    parts = []
    for usual, sign in ((LIMITS.tilted, 1.0), (LIMITS.wide, -1.0)):
        var = usual**2 + error**2
        odds += sign * (-0.5 * float(off @ off) / var - math.log(var))
        parts.append(usual**2 / var)
    down = 1.0 / (1.0 + math.exp(-min(max(odds, -50.0), 50.0)))
    return down * parts[0] + (1.0 - down) * parts[1], down


def _error(grid: Array, board: Mapping[Square, Array], focal: float) -> float:
    """The standard deviation of the perspective's point below the camera, px: from how far the tiles' middles are from
    their places, as if those displacements had one cause and not one for each tile."""
    size = focal / USUAL_FOCAL
    if len(board) <= LIMITS.few:
        return LIMITS.rough * size
    places = np.array([(x + 0.5, y + 0.5) for x, y in board])
    seen = np.array([apply(pose, [(0.5, 0.5)])[0] for pose in board.values()])
    left = float(((apply(grid, places) - seen) ** 2).sum()) / (2 * len(board) - 8)
    c = seen - seen.mean(axis=0)
    affine = np.column_stack([np.ones(len(c)), c])
    bent = [c * c[:, n:n + 1] for n in (0, 1)]  # how a small perspective displaces them, px per unit of its two terms
    bent = [b - affine @ np.linalg.lstsq(affine, b, rcond=None)[0] for b in bent]
    known = sum(b.T @ b for b in bent) / len(board)
    if np.linalg.cond(known) > 1e9:  # all in one row
        return LIMITS.rough * size
    one = math.sqrt(left * float(np.trace(np.linalg.inv(known))) / 2.0)
    return math.hypot(LIMITS.together * one * focal**2, LIMITS.least * size)
