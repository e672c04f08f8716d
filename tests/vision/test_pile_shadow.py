"""What darkens around a pile of blocks, by direction."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from vision.looks import SECTORS
from vision.pile_shadow import PileShadows

PX = 80
POSE = np.array([[PX, 0.0, 2 * PX], [0.0, PX, 2 * PX], [0.0, 0.0, 1.0]])  # of the middle one of 5 x 5 tiles
AT, SPOT = (3, -2), (0.5, 0.5)
TILES = {(x, y) for x in range(1, 6) for y in range(-4, 1)}
EAST, SOUTH = 0, SECTORS // 4


def table(*shades: tuple[int, int, int, int], seed: int = 1, by: float = 0.5) -> np.ndarray:
    """A printed table; ``shades`` (left, top, right, bottom) in px from the place are in a shadow."""
    print_ = np.random.default_rng(seed).uniform(60, 200, (50, 50, 3)).astype(np.float32)
    picture = cv2.resize(print_, (5 * PX, 5 * PX), interpolation=cv2.INTER_LINEAR)
    for left, top, right, bottom in shades:
        middle = 2 * PX + PX // 2
        picture[middle + top:middle + bottom, middle + left:middle + right] *= by
    return picture.astype(np.uint8)


def grown(*pictures: np.ndarray, tiles: tuple[set[tuple[int, int]], ...] = ()) -> list[tuple[float, ...]]:
    """What the looks at these pictures say."""
    shadows = PileShadows()
    return [shadows.look(picture, POSE, "pile", AT, SPOT, tiles[n] if tiles else TILES)
            for n, picture in enumerate(pictures)]


def test_a_longer_shadow_darkens_where_it_falls() -> None:
    first, same, second, third = grown(*(table((15, -12, right, 12)) for right in (30, 30, 54, 78)))
    assert first == same == (0.0,) * SECTORS
    assert int(np.argmax(second)) in (EAST, 1, SECTORS - 1) and second[SECTORS // 2] == second[SOUTH] == 0.0
    assert 0.08 < second[EAST] < 0.15  # 24 px by 24, and its soft edges
    assert third[EAST] == pytest.approx(2 * second[EAST], rel=0.2)


def test_what_becomes_brighter_again_is_subtracted() -> None:
    arm = (-150, 40, 150, 100)
    _, shaded, past = grown(table(), table(arm), table())
    assert shaded[SOUTH] > 0.3 and past == pytest.approx((0.0,) * SECTORS, abs=1e-9)


def test_light_on_all_of_it_is_no_shadow() -> None:
    bright = table().astype(float)
    assert grown(table(), (0.7 * bright).astype(np.uint8))[1] == (0.0,) * SECTORS


def test_something_of_another_colour_is_no_shadow() -> None:
    wood = table()
    wood[2 * PX + 28:2 * PX + 52, 2 * PX + 55:2 * PX + 79] = (40, 40, 160)
    assert grown(table(), wood)[1] == pytest.approx((0.0,) * SECTORS, abs=0.01)


def test_a_new_tile_is_no_shadow() -> None:
    """Even if it is as dark as one."""
    left = (40, -40, 120, 40)
    beside = {(AT[0] + 1, AT[1])}
    known, without = grown(table(), table(left), tiles=(TILES - beside, TILES))[1], grown(table(), table(left))[1]
    assert without[EAST] > 0.5 and known == pytest.approx((0.0,) * SECTORS, abs=0.01)


def test_where_an_arm_darkens_most_of_it_nothing_is_said() -> None:
    """Nor is the next look compared with that one."""
    arm = (-200, -200, 200, 0)
    _, shaded, past = grown(table(), table(arm), table((15, -12, 54, 12)))
    assert shaded == () and past[EAST] > 0.05


@pytest.mark.parametrize(("left", "told"), [(1.2, True), (2.2, False)])
def test_near_the_edge_of_the_picture(left: float, told: bool) -> None:
    """What is beyond is no shadow, whatever moves there."""
    pose, shadows = POSE.copy(), PileShadows()
    pose[0, 2] -= left * PX
    dark = table()
    dark[:, :4] //= 2
    for picture in (table(), dark):
        shades = shadows.look(picture, pose, "pile", AT, SPOT, TILES)
    assert shades == ((0.0,) * SECTORS if told else ())
