"""The matcher on crops whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from scoring.tiles import catalogue
from vision.tiles import TileMatcher, channels, in_all_turns
from vision.tileset import drawn_tileset

BASE = tuple(t for t in catalogue() if t.startswith("base."))


@pytest.fixture(scope="module")
def tiles():
    return drawn_tileset(BASE, size_px=96)


@pytest.fixture(scope="module")
def matcher(tiles):
    return TileMatcher(tiles, 48)


def _crops(tiles, rot):
    return np.array([np.ascontiguousarray(np.rot90(bgr, -rot)) for _, bgr in tiles.images])


@pytest.mark.parametrize("rot", range(4))
def test_every_tile_is_itself_in_every_quarter_turn(tiles, matcher, rot):
    scores = matcher.score(_crops(tiles, rot))
    assert scores.shape == (24, 24, 4) and scores.dtype == np.float32
    best = scores.reshape(24, -1).argmax(axis=1)
    assert [(int(n) // 4, int(n) % 4) for n in best] == [(n, rot) for n in range(24)]
    assert scores.max(axis=(1, 2)).min() > 0.95


def test_brightness_contrast_cast_and_a_falling_light_change_little(tiles, matcher):
    ramp = np.linspace(0.5, 1.1, 96)[None, None, :, None]
    crops = _crops(tiles, 0) * 0.7 * ramp * np.array([0.75, 1.0, 1.15])
    scores = matcher.score(np.clip(crops, 0, 255).astype(np.uint8))
    assert (scores.reshape(24, -1).argmax(axis=1) == np.arange(24) * 4).all()


def test_channels_of_a_turned_picture_are_turned_channels(tiles, matcher):
    turned = channels(np.array([np.ascontiguousarray(np.rot90(bgr, -1)) for _, bgr in tiles.images]))
    turned = turned[..., 8:-8, 8:-8] - turned[..., 8:-8, 8:-8].mean(axis=(2, 3), keepdims=True)
    own = channels(np.array([bgr for _, bgr in tiles.images]))
    rows = in_all_turns(own)[:, 1, :, 8:-8, 8:-8]
    assert np.abs(rows - rows.mean(axis=(2, 3), keepdims=True) - turned).mean() < 0.01 * np.abs(turned).mean()


def test_crops_must_be_square_pictures(matcher):
    with pytest.raises(ValueError, match="crops are"):
        matcher.score(np.zeros((2, 40, 30, 3), np.uint8))
