"""How much darker what is around a pile of blocks is, by direction."""

from __future__ import annotations

from collections.abc import Set

import cv2
import numpy as np
import pytest

from scoring.tiles import Square
from vision.looks import SECTORS
from vision.pile_shadow import LIMITS, PileShadows

PX = 80
POSE = np.array([[PX, 0.0, 2 * PX], [0.0, PX, 2 * PX], [0.0, 0.0, 1.0]])  # of the middle one of 5 x 5 tiles
AT, SPOT = (3, -2), (0.6, 0.35)
PLACE = round(2.6 * PX), round(2.35 * PX)  # in the picture
TILES = {(x, y) for x in range(1, 6) for y in range(-4, 1)}
EAST, SOUTH, WEST, NORTH = range(0, SECTORS, SECTORS // 4)
NOTHING = (0.0,) * SECTORS
HAND = (70, 110, 190)
Box = tuple[int, int, int, int]  # left, top, right, bottom in px from the place
LONGER = (15, -12, 54, 12)


def table(*shades: Box, hand: Box | None = None, by: float = 0.5) -> np.ndarray:
    """A printed table with ``shades`` and a hand on it."""
    print_ = np.random.default_rng(1).uniform(60, 200, (50, 50, 3)).astype(np.float32)
    picture = cv2.resize(print_, (5 * PX, 5 * PX), interpolation=cv2.INTER_LINEAR)
    for box in shades:
        picture[part(box)] *= by
    if hand is not None:
        picture[part(hand)] = HAND
    return picture.astype(np.uint8)


def part(box: Box) -> tuple[slice, slice]:
    left, top, right, bottom = box
    x, y = PLACE
    return slice(max(0, y + top), max(0, y + bottom)), slice(max(0, x + left), max(0, x + right))


def darker(*pictures: np.ndarray, tiles: tuple[Set[Square], ...] = (), pose: np.ndarray = POSE,
           outlines_px: tuple[np.ndarray, ...] = ()) -> list[tuple[float, ...]]:
    """What looks at these pictures say."""
    shadows = PileShadows()
    return [shadows.look(picture, pose, "pile", AT, SPOT, tiles[n] if tiles else TILES, outlines_px)
            for n, picture in enumerate(pictures)]


def test_a_longer_shadow_darkens_where_it_falls() -> None:
    first, same, second, third = darker(*(table((15, -12, right, 12)) for right in (30, 30, 54, 78)))
    assert first == same == NOTHING
    assert int(np.argmax(second)) in (EAST, 1, SECTORS - 1) and second[WEST] == second[SOUTH] == second[NORTH] == 0.0
    assert second[EAST] == pytest.approx(24 * 24 / PX**2 * np.log(2), rel=0.2)  # 24 px by 24, half as bright
    assert third[EAST] == pytest.approx(2 * second[EAST], rel=0.2)
    assert darker(table((15, -12, 30, 12)), table((15, -12, 30, 12), (-12, 15, 12, 54)))[1][SOUTH] > 0.05


def test_it_may_grow_in_small_steps_and_shrink() -> None:
    """Whatever the looks in between show."""
    shades = [*range(30, 79, 6), 54, 30]
    told = [said[EAST] for said in darker(*(table((15, -12, right, 12)) for right in shades))]
    assert told == sorted(told[:-2]) + told[-2:]
    assert told[-2] == pytest.approx(told[shades.index(54)], abs=0.02) and told[-1] == pytest.approx(0.0, abs=0.01)


def test_what_is_faintly_darker_is_no_shadow() -> None:
    assert darker(table(), table(LONGER, by=0.95))[1] == NOTHING
    deep, faint, past = (said[EAST] for said in darker(
        table(), table(LONGER), table(LONGER, by=0.91), table(LONGER, by=0.97))[1:])
    assert deep > faint > 0.005 and past < 0.001  # hysteresis
    assert darker(table(), table(LONGER, by=0.91))[1][EAST] < 0.002


def test_the_shadow_of_an_arm_goes_with_it() -> None:
    _, shaded, past = darker(table(), table((-150, 40, 150, 100)), table())
    assert shaded[SOUTH] > 0.3 and past == pytest.approx(NOTHING, abs=0.005)


def test_what_a_hand_covers_stays_as_it_was() -> None:
    """Also if it casts a shadow there first, or the pile's shadow has grown when it is gone."""
    over = (10, -20, 60, 20)
    told = darker(table(), table(over), table(hand=over), table(), table())
    assert told[-1] == told[-2] == pytest.approx(NOTHING, abs=0.005)
    assert darker(table(), table(LONGER), table(LONGER, hand=over))[2][EAST] > 0.06
    assert darker(table(), table(hand=over), table(LONGER))[2][EAST] > 0.06


def test_light_on_all_of_it_is_no_shadow() -> None:
    bright = table().astype(float)
    gradual = [(bright * gain).astype(np.uint8) for gain in (1.0, 0.9, 0.8, 0.7, 1.0)]
    assert darker(*gradual) == [NOTHING] * 5


def test_light_that_changes_slowly_from_one_side_is_none() -> None:
    side = np.linspace(0.0, 1.0, 5 * PX)[None, :, None]
    pictures = [(table() * (1.0 - 0.006 * n * side)).astype(np.uint8) for n in range(80)]
    assert darker(*pictures)[-1] == pytest.approx(NOTHING, abs=0.005)


def test_something_of_another_colour_is_no_shadow() -> None:
    wood = table()
    wood[part((20, -12, 44, 12))] = (40, 40, 160)
    assert darker(table(), wood)[1] == pytest.approx(NOTHING, abs=0.005)
    assert darker(table(), *[wood] * LIMITS.adopted, wood)[-1] == pytest.approx(NOTHING, abs=0.005)


def test_what_is_dark_where_a_figure_is_seen_is_none() -> None:
    left, top, right, bottom = box = (20, -12, 44, 12)
    outline = np.array(PLACE, float) + [(left, top), (right, top), (right, bottom), (left, bottom)]
    hidden = darker(table(), table(box), outlines_px=(outline, np.zeros((0, 2))))[1]
    assert hidden == pytest.approx(NOTHING, abs=0.005) and darker(table(), table(box))[1][EAST] > 0.04


@pytest.mark.parametrize("gone", [False, True])
def test_a_tile_that_comes_or_goes_is_no_shadow(gone: bool) -> None:
    """Even if it is as dark as one; what it shows then counts."""
    beside = {(AT[0] + 1, AT[1])}
    left, top = round(3 * PX) - PLACE[0], round(2 * PX) - PLACE[1]
    lying = (left, top, left + PX, top + PX)
    tiles: list[Set[Square]] = [TILES - beside, TILES, TILES, TILES]
    if gone:
        tiles = [TILES, *[TILES - beside] * 3]
    told = darker(table(), table(lying), table(lying), table(lying, (left, top, left + PX, top + PX // 2)),
                  tiles=tuple(tiles))
    assert told[1] == told[2] == pytest.approx(NOTHING, abs=0.005) and told[3][EAST] > 0.2
    assert darker(table(), table(lying))[1][EAST] > 0.4


def test_a_shadow_stays_one_on_a_new_tile() -> None:
    beside = {(AT[0] + 1, AT[1])}
    tiles = (TILES - beside, TILES - beside, TILES - beside)
    shaded = table((15, -12, 78, 12))
    known = darker(table(), shaded, shaded, shaded, shaded, tiles=(*tiles, TILES, TILES))
    assert known[1] == known[2] == pytest.approx(known[4], abs=0.001)


def test_the_shadow_of_an_arm_that_lays_a_tile_goes_with_it() -> None:
    """Also if the first look at the tile still shows it, or the look before."""
    beside = {(AT[0] + 1, AT[1])}
    left, top = round(3 * PX) - PLACE[0], round(2 * PX) - PLACE[1]
    arm = table((left, top, left + PX, top + PX))
    told = darker(table(), arm, table(), table(), table(), tiles=(TILES - beside, TILES - beside, TILES, TILES, TILES))
    assert told[-1] == pytest.approx(NOTHING, abs=0.005)
    told = darker(table(), table(), arm, table(), table(), tiles=(TILES - beside, TILES - beside, TILES, TILES, TILES))
    assert told[-1] == pytest.approx(NOTHING, abs=0.005)


def test_what_a_figure_hides_of_a_new_tile_is_learned_when_it_is_gone() -> None:
    beside = {(AT[0] + 1, AT[1])}
    left, top = round(3 * PX) - PLACE[0], round(2 * PX) - PLACE[1]
    dark = table((left, top, left + PX, top + PX))
    outline = np.array(PLACE, float) + [(left, top), (left + PX, top), (left + PX, top + PX), (left, top + PX)]
    shadows = PileShadows()
    for picture, tiles, outlines in ((table(), TILES - beside, ()), *[(dark, TILES, (outline,))] * 2,
                                     *[(dark, TILES, ())] * 2):
        told = shadows.look(picture, POSE, "pile", AT, SPOT, tiles, outlines)
    assert told == pytest.approx(NOTHING, abs=0.005)


def test_light_that_becomes_less_over_a_new_tile_is_none() -> None:
    beside = {(AT[0] + 1, AT[1])}
    left, top = round(3 * PX) - PLACE[0], round(2 * PX) - PLACE[1]
    lying = table((left, top, left + PX, top + PX))
    dim = (0.7 * lying).astype(np.uint8)
    told = darker(table(), dim, dim, lying, tiles=(TILES - beside, TILES, TILES, TILES))
    assert told[-1] == pytest.approx(NOTHING, abs=0.005)


def test_tiles_on_all_sides_are_learned_at_once() -> None:
    few: Set[Square] = {AT}
    other = table()[::-1].copy()
    own = slice(2 * PX, 3 * PX)
    other[own, own] = table()[own, own]
    shaded = other.copy()
    shaded[part((-12, 35, 12, 60))] //= 2
    told = darker(table(), other, other, shaded, tiles=(few, TILES, TILES, TILES))
    assert told[1] == told[2] == pytest.approx(NOTHING, abs=0.005) and told[3][SOUTH] > 0.03


def test_where_an_arm_darkens_most_of_it_nothing_is_said() -> None:
    """Nor are later looks compared with that one, until the light is seen to stay so."""
    arm = (-200, -200, 200, 0)
    _, shaded, past = darker(table(), table(arm), table(LONGER))
    assert shaded == () and past[EAST] > 0.05
    shaded = table(LONGER, arm)
    told = darker(table(), table(LONGER), table(LONGER), *[shaded] * (LIMITS.adopted + 1),
                  table(LONGER, arm, (-12, 15, 12, 54)))
    assert told[3:3 + LIMITS.adopted] == [()] * LIMITS.adopted
    assert told[3 + LIMITS.adopted] == pytest.approx(told[2], abs=0.001)
    assert told[-1][EAST] == pytest.approx(told[2][EAST], abs=0.02) and told[-1][SOUTH] > 0.05


def test_a_hand_in_the_first_look_is_forgotten() -> None:
    over = (10, -20, 60, 20)
    told = darker(table(hand=over), *[table()] * (LIMITS.adopted + 1), table(LONGER))
    assert told[-2] == pytest.approx(NOTHING, abs=0.005) and told[-1][EAST] > 0.06


@pytest.mark.parametrize(("left", "told"), [(1.2, True), (2.4, False)])
def test_near_the_edge_of_the_picture(left: float, told: bool) -> None:
    """What is beyond is no shadow, whatever moves there."""
    pose = POSE.copy()
    pose[0, 2] -= left * PX
    dark = table()
    dark[:, :4] //= 2
    assert darker(table(), dark, pose=pose)[1] == (NOTHING if told else ())


def test_what_was_beyond_the_edge_is_no_shadow_when_it_is_seen() -> None:
    shadows, away = PileShadows(), POSE.copy()
    away[0, 2] -= 1.2 * PX
    moved = np.zeros_like(table())
    moved[:, :-96] = table()[:, 96:]
    for picture, pose in ((moved, away), (table(), POSE)):
        told = shadows.look(picture, pose, "pile", AT, SPOT, TILES)
    assert told == pytest.approx(NOTHING, abs=0.005)


def test_what_is_black_or_overexposed_says_nothing() -> None:
    print_ = table()
    for level in (5, 255):
        other = print_.copy()
        other[part(LONGER)] = level
        again = other.copy()
        again[part(LONGER)] = level // 2
        assert darker(other, again)[1] == pytest.approx(NOTHING, abs=0.005)
