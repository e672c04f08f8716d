"""Illumination normalisation: pictures taken under different light become alike, and their print is preserved."""

from __future__ import annotations

from functools import cache

import numpy as np

from scoring.tiles import catalogue
from vision.artwork import draw_tile
from vision.artwork.painter import segment_masks
from vision.illumination import normalised

SIDE = 96
KINDS = [f"base.{letter}" for letter in "ADEGHJNPUVWX"]


@cache
def drawing_of(kind):
    return draw_tile(catalogue()[kind], SIDE)


@cache
def fields(kind):
    tile = catalogue()[kind]
    masks = [m for m, s in zip(segment_masks(tile, SIDE), tile.segments, strict=True) if s.kind == "field"]
    return np.any(masks, axis=0) if masks else np.zeros((SIDE, SIDE), bool)


def lit(picture, rng):
    """The picture under a lamp of its own: brighter or darker, of another colour, from one side."""
    gain, (dx, dy) = np.exp(rng.uniform(-0.35, 0.35) + rng.uniform(-0.1, 0.1, 3)), rng.uniform(-0.25, 0.25, 2)
    along = np.linspace(-0.5, 0.5, SIDE)
    light = np.exp(dx * along[None, :] + dy * along[:, None])[:, :, None] * gain
    return np.clip(picture * 0.7 * light, 0, 255).astype(np.uint8)


def grass(kind, picture):
    mask = fields(kind)
    return np.median(picture[mask], axis=0) if mask.any() else None


def test_grass_has_one_colour_again():
    rng = np.random.default_rng(4)
    true = [drawing_of(k) for k in KINDS]
    seen = [lit(picture, rng) for picture in true]
    even = normalised([(catalogue()[k], picture) for k, picture in zip(KINDS, seen, strict=True)])

    def spread(pictures):
        colours = [c for k, p in zip(KINDS, pictures, strict=True) if (c := grass(k, p)) is not None]
        return float(np.std(colours, axis=0).mean())

    assert spread(even) < 0.4 * spread(seen), (spread(seen), spread(even))
    # the print is preserved: each picture matches its own drawing under the set's common light
    for picture, drawing in zip(even, true, strict=True):
        like = np.corrcoef(picture.mean(axis=2).ravel(), drawing.mean(axis=2).ravel())[0, 1]
        assert like > 0.9


def test_light_from_one_side_is_taken_away():
    rng = np.random.default_rng(8)
    seen = [lit(drawing_of(k), rng) for k in KINDS]
    even = normalised([(catalogue()[k], picture) for k, picture in zip(KINDS, seen, strict=True)])

    def slanted(pictures):
        """How much brighter the grass is on one side than on the other, beside the drawing, over all tiles."""
        out, half = [], np.arange(SIDE) < SIDE // 2
        for kind, picture in zip(KINDS, pictures, strict=True):
            drawing, mask = drawing_of(kind), fields(kind)
            left, right = mask & half[None, :], mask & ~half[None, :]
            if min(left.sum(), right.sum()) > 400:
                ratio = [np.log(np.median(p[left]) / np.median(p[right])) for p in (picture, drawing)]
                out.append(abs(ratio[0] - ratio[1]))
        return float(np.mean(out))

    assert slanted(even) < 0.75 * slanted(seen), (slanted(seen), slanted(even))


def test_one_picture_has_nothing_to_be_like():
    picture = drawing_of("base.D")
    assert normalised([(catalogue()["base.D"], picture)])[0] is picture and normalised([]) == []
