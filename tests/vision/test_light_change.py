"""How the light on a tile has changed, by its print."""

from __future__ import annotations

import numpy as np
import pytest

from vision.light_change import light_change

PX = 24


def places() -> tuple[np.ndarray, np.ndarray]:
    row, column = (np.mgrid[0:PX, 0:PX] + 0.5) / PX
    return column, row


def test_the_light_is_that_at_the_place_asked_for() -> None:
    x, y = places()
    change = 0.1 - 0.2 * x + 0.15 * y
    assert light_change(change, 0.6, 0.1) == pytest.approx((0.1 - 0.12 + 0.015, 0.25), abs=0.003)
    assert light_change(change, 0.0, 1.0) == pytest.approx((0.25, 0.25), abs=0.003)


def test_what_lies_on_a_third_of_the_tile_does_not_count() -> None:
    x, y = places()
    change = 0.1 - 0.2 * x + np.random.default_rng(1).normal(0.0, 0.01, x.shape)
    change[y > 2 / 3] -= 0.9
    change[:4] = np.nan
    assert light_change(change, 0.5, 0.9) == pytest.approx((0.0, 0.2), abs=0.015)


def test_a_few_pixels_tell_no_slope() -> None:
    change = np.full((PX, PX), np.nan)
    change[0, :6] = 0.02 * np.arange(6)
    assert abs(light_change(change, 0.9, 0.9)[0]) < 0.2
    with pytest.raises(ValueError, match="no pixel"):
        light_change(np.full((PX, PX), np.nan), 0.5, 0.5)
