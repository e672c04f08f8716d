"""Bumps, lamps and hands in a simulated game: each is classified correctly, and measured in millimetres."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import cv2
import numpy as np
import pytest

from bastide.table.demo_game import demo_game
from calibration.drift import DriftWatch, Reference, compare, ghost, put_back
from scoring.transcript import write
from vision.frames import Image
from vision.simulator import Options, Simulator
from vision.simulator.camera import Camera

SIZE = (1024, 576)
FPS = 2.0


@cache
def film(level: str) -> tuple[tuple[Image, ...], Camera]:
    """Some turns with hands, figures, gain drift, noise and JPEG."""
    game = json.loads(json.dumps(write(demo_game(6, turns=4 if level == "normal" else 2))))
    simulator = Simulator(game, 6, Options(level=level, size=SIZE, fps=FPS, rest=3))
    return tuple(frame.bgr for frame in simulator), simulator.truth.camera


def bumped(image: Image, camera: Camera, x_mm: float = 0.0, y_mm: float = 0.0, *, turn_deg: float = 0.0,
           tilt_deg: float = 0.0) -> tuple[Image, np.ndarray]:
    """The picture after the camera's arm was moved; and (2,) mm by which its centre moves on the table."""
    x, y, z = camera.position_mm
    a, b, c = camera.tilt
    after = replace(camera, position_mm=(x - x_mm, y - y_mm, z),
                    tilt=(a + np.radians(tilt_deg), b, c + np.radians(turn_deg)))
    straight = after.homography() @ np.linalg.inv(camera.homography())
    middle = np.array([[SIZE[0] / 2, SIZE[1] / 2]])
    now = np.append(camera.undistort(middle)[0], 1.0) @ straight.T
    moved = camera.table_mm(_bent(camera, now[:2] / now[2])) - camera.table_mm(middle)
    return cv2.warpPerspective(image, straight, SIZE, borderMode=cv2.BORDER_REFLECT), moved[0]


def _bent(camera: Camera, straight: np.ndarray) -> np.ndarray:
    n = (straight - camera.centre_px) / camera.focal_px
    r2 = float(n @ n)
    return (n * (1 + camera.k1 * r2 + camera.k2 * r2 * r2) * camera.focal_px + camera.centre_px)[None]


def in_table_axes(camera: Camera, shift_mm: tuple[float, float]) -> np.ndarray:
    """A shift as the picture shows it in the axes of the table, which the camera's roll turns."""
    c, s = np.cos(camera.tilt[2]), np.sin(camera.tilt[2])
    return np.array([[c, s], [-s, c]]) @ shift_mm


@pytest.mark.parametrize("level", ["normal", "hard"])
def test_a_bump_in_a_game_is_noticed_within_ten_seconds_and_nothing_else_is(level: str) -> None:
    frames, camera = film(level)
    mm = 1 / camera.scale((0.0, 0.0))
    watch = DriftWatch(frames[0], mm, 0.0)
    for n, frame in enumerate(frames):
        assert watch.feed(frame, n / FPS) is None, f"a false alarm at {n / FPS} s"
    for shift in ((3.0, 0.0), (-2.2, 2.2)) if level == "normal" else ((-2.2, 2.2),):
        begin = len(frames) // 2
        watch = DriftWatch(frames[0], mm, 0.0)
        told = None
        for n, frame in enumerate(frames[1:begin + 21], 1):
            image, truth = bumped(frame, camera, *shift) if n >= begin else (frame, np.zeros(2))
            told = watch.feed(image, n / FPS)
            if told is not None:
                break
        assert told is not None and told.verdict == "moved" and (n - begin) / FPS <= 10
        assert np.hypot(*(in_table_axes(camera, told.shift_mm) - truth)) < 0.7
        assert told.mendable


@pytest.mark.parametrize(("x", "y", "turn", "tilt"), [(8, -5, 0, 0), (-20, 12, 0, 0), (4, 3, 1.0, 0), (0, 0, -2.0, 0),
                                                      (0, 0, 0, 0.6), (45, 20, 0, 0)])
def test_how_far_it_moved_is_measured_on_a_board_that_grew(x: float, y: float, turn: float, tilt: float) -> None:
    frames, camera = film("normal")
    mm = 1 / camera.scale((0.0, 0.0))
    image, truth = bumped(frames[-1], camera, x, y, turn_deg=turn, tilt_deg=tilt)
    seen = compare(Reference(frames[0], mm), image)
    assert seen.verdict == "moved"
    assert np.hypot(*(in_table_axes(camera, seen.shift_mm) - truth)) < 0.8 + 0.02 * np.hypot(*truth)
    assert seen.turn_deg == pytest.approx(turn, abs=0.1)
    assert seen.mendable == (abs(x) < 40)


def test_another_light_is_no_bump() -> None:
    frames, camera = film("normal")
    reference = Reference(frames[0], 1 / camera.scale((0.0, 0.0)))
    lamp = np.linspace(0.55, 1.0, SIZE[0])[None, :, None] * np.array([0.8, 0.95, 1.05])
    lit = np.clip(frames[-1] * lamp, 0, 255).astype(np.uint8)
    assert compare(reference, lit).verdict == "light"
    assert compare(reference, frames[-1]).verdict == "same"
    both, truth = bumped(lit, camera, 6, 0)
    seen = compare(reference, both)
    assert seen.verdict == "moved" and seen.light < 0.9
    assert np.hypot(*(in_table_axes(camera, seen.shift_mm) - truth)) < 1.0


def test_a_watch_tells_of_light_and_takes_the_new_view() -> None:
    frames, camera = film("normal")
    watch = DriftWatch(frames[0], 1.0, 0.0)
    dark = (frames[0] * 0.6).astype(np.uint8)
    assert watch.feed(dark, 2.0) is None
    told = watch.feed(dark, 4.0)
    assert told is not None and told.verdict == "light" and told.light == pytest.approx(0.6, abs=0.05)
    watch.accept(dark, 5.0)
    assert watch.feed(dark, 7.0) is None and watch.feed(dark, 9.0) is None


def test_an_arm_that_sinks_slowly_is_told_though_no_step_is_a_bump() -> None:
    frames, camera = film("normal")
    watch = DriftWatch(frames[0], 1 / camera.scale((0.0, 0.0)), 0.0)
    told = None
    for n in range(1, 9):
        image, _ = bumped(frames[0], camera, 0.8 * n, 0)
        for t in (32.0 * n, 32.0 * n + 3):
            told = told or watch.feed(image, t)
    assert told is not None and told.verdict == "moved"


def test_what_cannot_be_said_is_not_said() -> None:
    frames, _ = film("normal")
    reference = Reference(frames[0], 1.0)
    assert compare(reference, np.full_like(frames[0], 90)).verdict == "unsure"
    assert compare(reference, frames[0][::2, ::2]).verdict == "unsure"
    assert compare(Reference(np.full_like(frames[0], 90), 1.0), frames[0]).verdict == "unsure"
    nothing = np.zeros(frames[0].shape[:2], bool)
    assert compare(reference, frames[0], nothing).verdict == "unsure"


def test_people_are_told_how_to_put_it_back() -> None:
    frames, camera = film("normal")
    image, _ = bumped(frames[0], camera, 30, -12)
    reference = Reference(frames[0], 1 / camera.scale((0.0, 0.0)))
    drift = compare(reference, image)
    shown = ghost(reference, drift)
    advice = put_back(drift)
    assert advice.parts["x_mm"] == pytest.approx(-drift.shift_mm[0], abs=0.1)
    assert "to the left" in advice.text and "down" in advice.text
    x0, y0, x1, y1 = shown["arrows_px"][0]  # type: ignore[index]
    assert x1 < x0 and y1 > y0, "from where it is to where it belongs"
    assert json.loads(json.dumps(shown))["furthest_mm"] > 25
    assert reference.ghost().shape[2] == 3
