"""The background model of tiles: what is new on one, whatever the light does."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from vision.figurenet import CROP_PX
from vision.lattice import Array
from vision.looks import CELLS
from vision.tile_background import (
    EDGE_PX,
    INNER_PX,
    LIMITS,
    Bare,
    Differences,
    TileBackground,
    changed,
    has_come,
    in_shadow,
    inner,
    sharper,
    shows_through,
    strange,
    unexplained,
    unlike,
    unlike_and_below,
)

AT, SIDE = (2, 3), 60
POSE: Array = np.array([[SIDE, 0.0, 40.0], [0.0, SIDE, 40.0], [0.0, 0.0, 1.0]])
Mask = npt.NDArray[np.bool_]


def print_(seed: int = 1) -> npt.NDArray[np.uint8]:
    """A picture of a town's print, 140 x 140: houses some pixels wide."""
    noise = np.random.default_rng(seed).normal(size=(140, 140, 3)).astype(np.float32)
    soft = cv2.GaussianBlur(noise, (0, 0), 2.5)
    grey = cv2.GaussianBlur(noise[..., :1], (0, 0), 2.5)[..., None]
    return np.asarray(np.clip(np.array([90.0, 130.0, 170.0]) + 160 * grey + 20 * soft, 5, 250), np.uint8)


def crop(picture: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """The crop of the tile at `POSE`, as the figure reader cuts it, with a camera's noise."""
    noise = np.random.default_rng(int(picture.sum()) % 1000).normal(0, 4, picture.shape)
    picture = np.clip(picture + noise, 0, 255).astype(np.uint8)
    edge = EDGE_PX / INNER_PX
    back = np.array([[SIDE * (1 + 2 * edge) / CROP_PX, 0.0, 40 - SIDE * edge],
                     [0.0, SIDE * (1 + 2 * edge) / CROP_PX, 40 - SIDE * edge], [0, 0, 1]])
    return np.asarray(cv2.warpPerspective(picture, back, (CROP_PX, CROP_PX), flags=cv2.WARP_INVERSE_MAP), np.uint8)


def with_wood(picture: npt.NDArray[np.uint8], colour: tuple[int, int, int] | None = None) -> npt.NDArray[np.uint8]:
    """A smooth piece on the tile, 24 x 14 pixels of 60, by default in the print's own mean colour."""
    out = picture.copy()
    out[60:74, 55:79] = colour if colour is not None else picture.reshape(-1, 3).mean(axis=0)
    return out


WOOD: Mask = np.zeros((CROP_PX, CROP_PX), bool)  # where it is in the crop
WOOD[40:52, 36:56] = True
BESIDE: Mask = np.roll(WOOD, 18, axis=0)


def told(model: TileBackground, picture: npt.NDArray[np.uint8], where: Mask = WOOD) -> float:
    return strange(unlike(crop(picture), WOOD, model.bare()[AT]), where, 5.0)


def seen(model: TileBackground, picture: npt.NDArray[np.uint8], times: int = 2, covered: Mask | None = None) -> None:
    """Some looks at the tile, of which a mask of the crop may be a piece."""
    for _ in range(times):
        model.update(picture, {AT: POSE}, {} if covered is None else {AT: inner(covered)})


@pytest.fixture
def model() -> TileBackground:
    made = TileBackground()
    seen(made, print_())
    return made


def test_wood_in_the_prints_own_colour_is_new(model: TileBackground) -> None:
    assert told(model, with_wood(print_())) > 2.0
    assert told(model, with_wood(print_()), BESIDE) < -1.0
    assert told(model, print_()) < -1.0


@pytest.mark.parametrize("light", [(0.6, 0.6, 0.6), (1.2, 1.0, 0.8)])
def test_another_light_changes_nothing(model: TileBackground, light: tuple[float, float, float]) -> None:
    lit = np.clip(print_() * np.array(light), 0, 255).astype(np.uint8)
    assert told(model, lit) < -1.0
    assert told(model, np.clip(with_wood(print_()) * np.array(light), 0, 255).astype(np.uint8)) > 2.0


def test_the_structure_below_a_wide_shadow_is_what_it_was(model: TileBackground) -> None:
    shadow = print_().astype(float)
    shadow[45:90, 45:95] *= 0.75
    assert told(model, shadow.astype(np.uint8)) < told(model, with_wood(print_())) - 1.0


def test_what_may_be_a_piece_is_not_learned(model: TileBackground) -> None:
    seen(model, with_wood(print_()), 20, WOOD)
    assert told(model, with_wood(print_())) > 2.0


def test_what_was_never_seen_without_a_piece_says_nothing() -> None:
    made = TileBackground()
    seen(made, with_wood(print_()), 3, WOOD)
    assert told(made, with_wood(print_())) == 0.0
    seen(made, print_())  # it was taken up
    assert told(made, with_wood(print_())) > 2.0


def test_what_appears_where_a_piece_stood_is_compared_in_its_own_light() -> None:
    made = TileBackground()
    seen(made, with_wood(print_()), 3, WOOD)
    dark = np.clip(print_() * np.array([0.6, 0.75, 0.9]), 0, 255).astype(np.uint8)
    for _ in range(5):
        seen(made, dark, 1)
        assert told(made, dark) <= 0.0


def test_a_hand_over_a_new_tile_is_not_learned() -> None:
    made = TileBackground()
    hand = print_().copy()
    hand[40:75, 40:100] = (120, 150, 210)
    seen(made, hand, 1)
    assert told(made, print_()) == 0.0
    seen(made, print_())
    assert told(made, print_()) < -1.0


def test_a_change_that_stays_is_learned_after_a_while_and_a_passing_one_is_not(model: TileBackground) -> None:
    seen(model, with_wood(print_()), LIMITS.adopted - 1)
    assert told(model, with_wood(print_())) > 2.0
    seen(model, print_(), 1)  # and gone again
    seen(model, with_wood(print_()), LIMITS.adopted - 1)
    assert told(model, with_wood(print_())) > 2.0
    seen(model, with_wood(print_()), 3)
    assert told(model, with_wood(print_())) < -1.0


def test_what_looks_different_each_time_is_not_learned(model: TileBackground) -> None:
    for n in range(3 * LIMITS.adopted):
        seen(model, with_wood(print_(), (40, 90, 200) if n % 2 else (120, 60, 60)), 1)
    assert told(model, with_wood(print_(), (40, 90, 200))) > 2.0


def test_another_tile_says_nothing_is_learned_anew_and_one_that_lies_elsewhere_forgotten(model: TileBackground) -> None:
    assert told(model, print_(2)) == 0.0
    seen(model, print_(2))
    assert told(model, print_(2)) < -1.0 < 2.0 < told(model, with_wood(print_(2)))
    model.keep([AT])
    assert model.bare().keys() == {AT}
    model.keep([])
    assert not model.bare()


def test_the_region_that_changed_around_a_seed(model: TileBackground) -> None:
    seed = np.zeros((CROP_PX, CROP_PX), bool)
    seed[44:48, 44:48] = True
    different = unlike(crop(with_wood(print_())), seed, model.bare()[AT])
    region = changed(different, seed, seed)
    around = cv2.dilate(WOOD.astype(np.uint8), np.ones((7, 7))) > 0
    assert region[WOOD].mean() > 0.5 and (region & ~around).mean() < 0.01
    hidden = seed | (WOOD & (np.arange(CROP_PX) > 48))  # another piece stands over half of it
    assert not (changed(different, seed, hidden) & hidden & ~seed).any()
    assert not changed(unlike(crop(print_()), seed, model.bare()[AT]), seed, seed).any()


@pytest.mark.parametrize("light", [1.0, 0.7])
def test_what_comes_has_an_outline_and_what_goes_had_one(model: TileBackground, light: float) -> None:
    there, gone = with_wood(print_()), np.clip(print_() * light, 0, 255).astype(np.uint8)
    bare, learned = model.bare()[AT], TileBackground()
    seen(learned, there)
    ghost = learned.bare()[AT]
    assert sharper(crop(np.clip(there * light, 0, 255).astype(np.uint8)), WOOD, bare) > 0.2
    assert sharper(crop(gone), WOOD, ghost) < 0.0  # print has edges of its own
    assert abs(sharper(crop(gone), WOOD, bare)) < 0.2  # neither
    unknown = replace(bare, free=bare.free & ~inner(cv2.dilate(WOOD.astype(np.uint8), np.ones((9, 9))) > 0))
    assert math.isnan(sharper(crop(there), WOOD, unknown))


@pytest.mark.parametrize("light", [0.4, 0.7, 1.2])
def test_print_shows_through_a_change_of_light_and_not_through_wood(model: TileBackground, light: float) -> None:
    bare, lit = model.bare()[AT], print_().astype(float)
    lit[:, 55:] *= light
    assert shows_through(crop(np.clip(lit, 0, 255).astype(np.uint8)), WOOD, bare) > 0.5
    assert shows_through(crop(with_wood(print_())), WOOD, bare) < 0.1
    assert shows_through(crop(print_()), WOOD & False, bare) == 0.0  # nothing is known of it
    plain = replace(bare, bgr=np.full_like(bare.bgr, 128.0))
    assert abs(shows_through(crop(print_()), WOOD, plain)) < 0.1


def in_shade(picture: npt.NDArray[np.uint8], shade: float | tuple[float, ...], columns: int = 24,
             ) -> npt.NDArray[np.uint8]:
    """A shadow with sharp edges where `with_wood` has a piece, of 24 columns, or in some of these."""
    out = picture.astype(float)
    out[60:74, 55:55 + columns] *= shade
    return np.clip(out, 0, 255).astype(np.uint8)


@pytest.mark.parametrize("light", [1.0, 0.7])
@pytest.mark.parametrize(("changed_", "shadow"), [
    (lambda p: in_shade(p, 0.4), True), (lambda p: in_shade(p, 0.7), True),
    (lambda p: in_shade(p, 1.0), False), (lambda p: in_shade(p, 1.5), False),  # a shadow is darker
    (lambda p: in_shade(p, (0.4, 0.4, 0.5)), False),  # and has the print's colour
    (with_wood, False), (lambda p: with_wood(p, (40, 45, 40)), False), (lambda p: with_wood(p, (50, 120, 60)), False)])
def test_a_shadow_is_darker_print(model: TileBackground, light: float, shadow: bool,
                                  changed_: Callable[[npt.NDArray[np.uint8]], npt.NDArray[np.uint8]]) -> None:
    """Its edges are sharper than the print was, too; wood is no darker print, not even black wood."""
    bare, now = model.bare()[AT], crop(np.clip(changed_(print_()) * light, 0, 255).astype(np.uint8))
    assert in_shadow(now, WOOD, bare) == shadow
    assert not shadow or not has_come(now, WOOD, bare)
    assert not in_shadow(now, WOOD, replace(bare, free=bare.free & ~inner(WOOD)))  # nothing is known of it


@pytest.mark.parametrize(("columns", "shadow"), [(15, True), (8, False)])
def test_the_outline_of_a_shadow_may_be_drawn_too_wide(model: TileBackground, columns: int, shadow: bool) -> None:
    assert in_shadow(crop(in_shade(print_(), 0.4, columns)), WOOD, model.bare()[AT]) == shadow


def test_part_of_what_has_come_may_be_its_shadow(model: TileBackground) -> None:
    bare, now = model.bare()[AT], in_shade(print_(), 0.5)
    now[60:74, 55:69] = 40, 45, 40
    assert has_come(crop(now), WOOD, bare)
    learned = TileBackground()
    seen(learned, with_wood(print_(), (40, 45, 40)))
    assert not has_come(crop(print_()), WOOD, learned.bare()[AT])  # it has gone


def with_a_dragon(picture: npt.NDArray[np.uint8], light: float = 1.0) -> npt.NDArray[np.uint8]:
    """A long red piece and its shadow on the tile, together on more than half of its 60 x 60 pixels."""
    out = picture * light
    out[42:98, 51:70] *= 0.4
    out[40:98, 70:86] = np.array((30, 20, 150)) * light
    return np.clip(out, 0, 255).astype(np.uint8)


@pytest.mark.parametrize("light", [1.0, 0.8])
def test_a_piece_that_covers_most_of_a_tile_is_where_it_looks_different(model: TileBackground, light: float) -> None:
    now, none = crop(with_a_dragon(print_(), light)), np.zeros((CROP_PX, CROP_PX), bool)
    assert np.isnan(unlike(now, none, model.bare()[AT])).all()  # it may be a hand
    _, different = unlike_and_below(now, none, model.bare()[AT])
    dragon = np.zeros(none.shape, bool)
    dragon[EDGE_PX + 2:-EDGE_PX - 4, EDGE_PX + 26:EDGE_PX + 37] = True
    assert strange(different, dragon) > 2.0
    region, = unexplained(different, none)
    assert region[dragon].mean() > 0.8 and not region[:, EDGE_PX + 42:].any()
    assert not unexplained(different, region)  # its silhouette is known
    assert not unexplained(unlike_and_below(crop(print_()), none, model.bare()[AT])[1], none)
    assert np.isnan(unlike_and_below(crop(print_(2)), none, model.bare()[AT])[1]).all()  # another tile


def test_a_tile_is_not_forgotten_below_a_piece_that_covers_most_of_it(model: TileBackground) -> None:
    seen(model, with_a_dragon(print_()), LIMITS.adopted - 1)
    assert told(model, print_()) < -1.0 < 2.0 < told(model, with_wood(print_()))


def test_its_pixels_are_the_cells_of_what_figures_hide() -> None:
    assert INNER_PX == CELLS


def test_differences_of_the_tiles_around_are_where_these_lie() -> None:
    """In the crop of the tile; unknown between the tiles, where one is not known, and where none lies."""
    def at(x: int, y: int) -> Array:
        return POSE @ np.array([[1.0, 0.0, x], [0.0, 1.0, y], [0.0, 0.0, 1.0]])

    east, south, beyond = (AT[0] + 1, AT[1]), (AT[0], AT[1] + 1), (AT[0] + 2, AT[1])
    board = {AT: at(0, 0), east: at(1, 0), south: at(0, 1), beyond: at(2, 0)}
    known = {square: np.full((INNER_PX, INNER_PX), float(n)) for n, square in enumerate(board)}
    known[AT] = np.arange(INNER_PX**2, dtype=float).reshape(INNER_PX, INNER_PX)
    known[east][:, 10:] = np.nan
    nothing = Bare(bgr=np.zeros((0, 0, 3), np.float32), free=np.zeros((0, 0), bool))
    around = Differences(np.zeros((0, 0, 3), np.uint8), board, {square: nothing for square in board}, known).around(AT)
    assert (inner(around) == known[AT]).all()
    edge = EDGE_PX + INNER_PX
    assert (around[EDGE_PX + 5:edge - 5, edge + 3:edge + 9] == 1.0).all() and np.isnan(around[:, edge + 12:]).all()
    assert (around[edge + 3:, EDGE_PX + 5:edge - 5] == 2.0).all() and np.isnan(around[:EDGE_PX - 1]).all()
    alone = Differences(np.zeros((0, 0, 3), np.uint8), board, {AT: nothing}, known).around(AT)
    assert np.isfinite(alone).sum() == INNER_PX**2
