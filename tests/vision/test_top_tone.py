"""The tone of a top in changing light."""

from __future__ import annotations

import numpy as np
import pytest

from vision.looks import StackLook
from vision.top_tone import TopTones, steepness

PX = 24


def places() -> tuple[np.ndarray, np.ndarray]:
    row, column = (np.mgrid[0:PX, 0:PX] + 0.5) / PX
    return column, row


@pytest.mark.parametrize(("right", "down"), [(-0.2, 0.15), (0.0, 0.3), (0.0, 0.0)])
def test_how_steep_the_light_changes(right: float, down: float) -> None:
    x, y = places()
    assert steepness(0.1 + right * x + down * y) == pytest.approx(np.hypot(right, down), abs=0.003)


def test_what_lies_on_a_third_of_the_tile_does_not_count() -> None:
    x, y = places()
    change = 0.1 - 0.2 * x + np.random.default_rng(1).normal(0.0, 0.01, x.shape)
    change[y > 2 / 3] -= 0.9
    change[:4] = np.nan
    assert steepness(change) == pytest.approx(0.2, abs=0.015)


def test_a_few_pixels_tell_no_slope() -> None:
    change = np.full((PX, PX), np.nan)
    change[0, :6] = 0.02 * np.arange(6)  # 0.48 per tile
    assert steepness(change) < 0.4
    with pytest.raises(ValueError, match="no pixel"):
        steepness(np.full((PX, PX), np.nan))


def seen_at(wood: int, print_: int, gain: float = 1.0, shade: float = 0.0, first: int = 90) -> float | None:
    """The tone of a block of ``wood`` grey on a tile of ``print_`` grey, in so much more light than at a first look,
    when its wood was ``first``; a ``shade`` darkens the tile towards one side."""
    pose, tones, told = np.diag([80.0, 80.0, 1.0]), TopTones(), None
    look = StackLook(there=5.0, top=(0.5, 0.45), yaw=0.3, floor=(0.0, -0.05), heights=(0.0,))
    for grey, light, slope in ((first, 1.0, 0.0), (wood, gain, shade)):
        picture = np.full((80, 80, 3), float(print_))
        picture[25:47, 29:51] = grey
        lit = picture * light * np.exp(-slope * np.linspace(0.0, 1.0, 80))[:, None, None]
        told = tones.tone(np.clip(lit, 0, 255).astype(np.uint8), pose, "place", (0.5, 0.5), look)
    return told


def test_a_tone_is_that_of_the_wood_in_any_light() -> None:
    same, darker, lighter = (seen_at(90, 120, gain) for gain in (1.0, 0.6, 1.6))
    assert same is not None and darker == pytest.approx(same, abs=0.03) and lighter == pytest.approx(same, abs=0.02)
    assert seen_at(108, 120, 0.6) == pytest.approx(same + np.log(1.2), abs=0.02)


def test_an_overexposed_top_has_none() -> None:
    """All towers of a table had other blocks on top when a lamp was dimmed."""
    assert seen_at(200, 120, 1.6) is None
    assert seen_at(200, 120, 1.0) is not None


def test_a_tile_on_which_a_shadow_ends_tells_none() -> None:
    assert seen_at(90, 120, 1.0, shade=0.3) is None
    assert seen_at(90, 120, 1.0, shade=0.05) == pytest.approx(seen_at(90, 120), abs=0.03)


def test_print_that_is_overexposed_at_first_is_compared_with_a_later_look() -> None:
    pose, tones = np.diag([80.0, 80.0, 1.0]), TopTones()
    look = StackLook(there=5.0, top=(0.5, 0.45), yaw=0.3, floor=(0.0, -0.05), heights=(0.0,))
    told = []
    for print_ in (255, 120, 120):
        picture = np.full((80, 80, 3), print_, np.uint8)
        picture[25:47, 29:51] = 90
        told.append(tones.tone(picture, pose, "place", (0.5, 0.5), look))
    assert told[0] is None and told[1] == told[2] == pytest.approx(np.log(94), abs=0.01)
