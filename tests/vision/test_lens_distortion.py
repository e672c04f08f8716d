"""Lens distortion is estimated from the tiles of a board, and carelessly laid boards are not mistaken for it."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from vision.lattice import UNIT, apply
from vision.lens_distortion import distortion_of

SIZE = (1600, 1200)
MIDDLE, HALF = (np.array(SIZE) - 1) / 2, float(np.hypot(*(np.array(SIZE) - 1))) / 2


def board(seed: int, k1: float = 0.0, fan: float = 0.0, jitter: float = 0.02, wide: int = 10, high: int = 7):
    """Corners by square: turned, seen aslant, laid by hand; ``k1`` as OpenCV bends (focal length 0.75 widths)."""
    rng = np.random.default_rng(seed)
    grid = cv2.getPerspectiveTransform(
        (UNIT * (wide, high)).astype(np.float32),
        np.array([[170, 140], [1430, 100], [1520, 1120], [90, 1090]], np.float32)).astype(float)
    matrix = np.array([[0.75 * SIZE[0], 0, MIDDLE[0]], [0, 0.75 * SIZE[0], MIDDLE[1]], [0, 0, 1]])
    out = {}
    aside = np.cumsum(rng.normal(0, fan, (high, wide, 2)), axis=1)  # each column further off than the one before
    for x in range(wide):
        for y in range(high):
            turn = rng.normal(0, jitter)
            spin = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
            corners = (UNIT - 0.5) @ spin.T + 0.5 + (x, y) + rng.normal(0, jitter, 2) + aside[y, x]
            rays = (apply(grid, corners) - MIDDLE) / matrix[0, 0]
            bent, _ = cv2.projectPoints(np.column_stack([rays, np.ones(4)])[:, None], np.zeros(3), np.zeros(3), matrix,
                                        np.array([k1, 0, 0, 0, 0.0]))
            out[x, y] = bent[:, 0]
    return out


@pytest.mark.parametrize("k1", [-0.2, -0.12, 0.15])
def test_a_bend_is_told_with_its_size_and_what_a_calibration_would_gain(k1):
    found = distortion_of(board(1, k1), SIZE)
    assert found is not None
    ray = MIDDLE / (0.75 * SIZE[0])
    straight = 1.0  # where a straight lens would show what the picture's corner shows
    for _ in range(50):
        straight = 1 / (1 + k1 * float(ray @ ray) * straight**2)
    assert found.corner_px == pytest.approx(abs(straight - 1) * HALF, rel=0.4) and (found.k < 0) == (k1 < 0)
    assert found.straight < 0.75 * found.now


@pytest.mark.parametrize(("fan", "jitter"), [(0.0, 0.01), (0.0, 0.05), (0.03, 0.03)])
def test_a_straight_lens_over_a_loose_board_is_left_alone(fan, jitter):
    assert sum(distortion_of(board(seed, 0.0, fan, jitter), SIZE) is not None for seed in range(30)) <= 1


def test_a_few_tiles_say_nothing_of_a_lens():
    assert distortion_of(board(1, -0.25, wide=3, high=3), SIZE) is None
