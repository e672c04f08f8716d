"""Stillness is measured in seconds and locally, and changes of light are not motion."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from vision.stillness import Stillness

POSE = np.array([[60.0, 0, 200], [0, 60.0, 100], [0, 0, 1]])
AWAY = np.array([[60.0, 0, 20], [0, 60.0, 190], [0, 0, 1]])


@pytest.fixture
def table():
    rng = np.random.default_rng(3)
    return cv2.GaussianBlur(rng.integers(60, 200, (270, 480, 3)).astype(np.uint8), (0, 0), 3)


def noisy(picture, n):
    return np.clip(picture + np.random.default_rng(n).normal(0, 2, picture.shape), 0, 255).astype(np.uint8)


def thing_on(picture):
    out = picture.copy()
    out[110:150, 210:250] = (235, 235, 235)
    return out


def restless(stillness, pose, for_s):
    return float(stillness.restless(stillness.boxes({(0, 0): pose}, 0.1), for_s)[0])


@pytest.mark.parametrize("fps", [2, 5, 15, 60])
def test_a_square_is_still_after_as_many_seconds_at_any_rate(table, fps):
    stillness = Stillness(table.shape)
    n = 0
    for _ in range(3 * fps):
        stillness.feed(noisy(table, n), n / fps)
        n += 1
    laid, moved_s, still_s = thing_on(table), n / fps, None
    for _ in range(3 * fps):
        stillness.feed(noisy(laid, n), n / fps)
        if still_s is None and restless(stillness, POSE, 1.0) == 0.0:
            still_s = n / fps - moved_s
        assert restless(stillness, AWAY, 1.0) == 0.0, "elsewhere nothing moved"
        n += 1
    assert still_s is not None and 0.9 <= still_s <= 1.25 + 1 / fps


def test_frames_that_come_too_soon_are_left_out(table):
    stillness = Stillness(table.shape)
    compared = [stillness.feed(table, n / 60) for n in range(61)]
    assert sum(compared) == 1 + 5  # the first, and one in every 0.2 s of 60 pictures a second
    assert stillness.feed(table, -100.0), "a clock that was set back does not stop it"


def test_what_moved_is_where_it_moved(table):
    stillness = Stillness(table.shape)
    stillness.feed(table, 0.0)
    assert stillness.moved.all(), "before the first frame nothing was known to be still"
    stillness.feed(thing_on(table), 1.0)
    boxes = stillness.boxes({(0, 0): POSE, (1, 0): AWAY}, 0.0)
    here, there = stillness.moving(boxes)
    assert here > 0.3 and there == 0.0
    stillness.feed(thing_on(table), 2.0)
    assert not stillness.moved.any()


@pytest.mark.parametrize("factor", [0.55, 1.6])
def test_a_lamp_that_is_switched_moves_nothing_and_a_tile_laid_meanwhile_does(table, factor):
    dark = (table * 0.6).astype(np.uint8)
    stillness = Stillness(table.shape)
    stillness.feed(dark, 0.0)
    stillness.feed(np.clip(dark * factor, 0, 255).astype(np.uint8), 1.0)
    assert stillness.moved.mean() < 0.002
    stillness.feed(dark, 2.0)
    stillness.feed(np.clip(thing_on(dark) * factor, 0, 255).astype(np.uint8), 3.0)
    here, there = stillness.moving(stillness.boxes({(0, 0): POSE, (1, 0): AWAY}, 0.0))
    assert here > 0.3 and there < 0.01


def test_light_that_falls_off_to_one_side_moves_nothing(table):
    stillness = Stillness(table.shape)
    stillness.feed(table, 0.0)
    lamp = np.linspace(0.85, 1.1, table.shape[1])[None, :, None]
    stillness.feed(np.clip(table * lamp, 0, 255).astype(np.uint8), 1.0)
    assert stillness.moved.mean() < 0.01


def test_a_grey_picture_says_the_same_as_the_coloured_one(table):
    one, other = Stillness(table.shape), Stillness(table.shape)
    for t_s, picture in ((0.0, table), (1.0, thing_on(table))):
        one.feed(picture, t_s)
        other.feed(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), t_s)
    assert (one.moved == other.moved).mean() > 0.999
