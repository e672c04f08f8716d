"""Detection of signs, on our own drawings and on an invented edition that the network has not seen."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from scoring.tiles import catalogue
from training.scenes import own_drawings, pool, sign_scene
from vision.artwork import draw_tile
from vision.signs import CROP_PX, MARGIN, SIGNS, SignNet, loglik, signs_of

TILE_PX = round(CROP_PX / (1 + 2 * MARGIN))


@pytest.fixture(scope="module")
def net() -> SignNet:
    return SignNet()


def on_green(picture: np.ndarray) -> np.ndarray:
    crop = np.full((CROP_PX, CROP_PX, 3), (60, 120, 90), np.uint8)
    at = (CROP_PX - TILE_PX) // 2
    crop[at:at + TILE_PX, at:at + TILE_PX] = cv2.resize(picture, (TILE_PX, TILE_PX), interpolation=cv2.INTER_AREA)
    return crop


def test_our_own_drawings_show_the_signs_that_their_kinds_have(net: SignNet) -> None:
    kinds = [t for t in catalogue().values() if t.product in ("base", "inns", "traders")]
    said = net.ask(np.array([on_green(draw_tile(t, 192)) for t in kinds])) > 0
    has = np.array([signs_of(t) for t in kinds])
    assert has.any(axis=0).all()  # each sign is on some
    assert (said == has).mean() > 0.98
    assert (said & has).sum() > 0.9 * has.sum()


def test_an_edition_that_nobody_saw_is_read_by_what_all_share(net: SignNet) -> None:
    rng = np.random.default_rng(990)
    crops, has = [], []
    own = own_drawings()
    for _ in range(4):
        edition, tiles = pool(rng, own)
        for _ in range(40):
            crop, where = sign_scene(rng, edition, tiles)
            crops.append(crop)
            has.append(~np.isnan(where[:, 0]))
    said, true = net.ask(np.array(crops)), np.array(has)
    assert true.sum() > 40
    wins = (said[true][:, None] > said[~true][None]).mean()  # area under the curve
    assert wins > 0.93


def test_a_kind_gains_by_its_signs_and_never_more_than_a_limit() -> None:
    kinds = [catalogue()[i] for i in ("base.U", "inns.15", "base.N", "traders.02")]
    yes_inn = np.where(np.array(SIGNS) == "inn", 50.0, -50.0)[None]
    each = loglik(yes_inn, kinds)[0]
    assert each.argmax() == 1
    assert each[1] - each[0] == pytest.approx(3.0)
    assert each[3] - each[2] == pytest.approx(-3.0)
    nothing = loglik(np.full((1, len(SIGNS)), -50.0), kinds)[0]
    assert nothing[0] == nothing[2] == nothing.max()


def test_a_crop_turned_by_a_half_turn_says_the_same(net: SignNet) -> None:
    crop = on_green(draw_tile(catalogue()["traders.02"], 192))
    assert np.allclose(net.ask(crop[None]), net.ask(np.rot90(crop, 2)[None]), atol=1e-4)
