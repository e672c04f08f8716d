"""Feet so close, along the direction in which tops lean, that they may be one figure's."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from vision.feet import by_paint, peaks
from vision.figurenet import CELLS, CROP_PX, KINDS, MARGIN, TILE_PX, FigureMaps
from vision.paint import PAINTS

LEAN = np.array([0.8, 0.0])  # of a camera that looks from a side
FEET = (0.35, 0.5), (0.62, 0.5)
BLUE, GREEN, GRASS = (175, 85, 30), (55, 120, 30), (70, 150, 110)
LIGHT = np.array([0.062, 0.165, 0.155])


def felt(second: float = 1.5) -> FigureMaps:
    """The network's output for two feet: the logit of the ``second``, and silhouettes of 0.24 tiles around them."""
    middles = (np.arange(CELLS) + 0.5) * CROP_PX / CELLS / TILE_PX - MARGIN
    x, y = np.meshgrid(middles, middles)
    apart = np.array([np.hypot(x - fx, y - fy) for fx, fy in FEET])
    foot, home = np.full((CELLS, CELLS), -8.0), np.empty((2, CELLS, CELLS))
    for d, logit in zip(apart, (2.0, second), strict=True):
        foot[np.unravel_index(d.argmin(), d.shape)] = logit
    near = apart.argmin(axis=0)
    for k, (fx, fy) in enumerate(FEET):
        home[0][near == k], home[1][near == k] = (fx - x)[near == k], (fy - y)[near == k]
    flat, kinds = np.zeros((1, CELLS, CELLS)), np.full((1, len(KINDS), CELLS, CELLS), -2.0)
    return FigureMaps(foot=foot[None], place=np.zeros((1, 2, CELLS, CELLS)), lying=flat, kinds=kinds,
                      silhouette=np.where(apart.min(axis=0) < 0.12, 4.0, -4.0)[None], home=home[None])


def crop(*colours: tuple[int, int, int]) -> np.ndarray:
    """A picture of grass, with wood of these colours around the feet."""
    out = np.full((CROP_PX, CROP_PX, 3), GRASS, np.uint8)
    fine = (np.arange(CROP_PX) + 0.5) / TILE_PX - MARGIN
    x, y = np.meshgrid(fine, fine)
    for (fx, fy), colour in zip(FEET, colours, strict=True):
        out[np.hypot(x - fx, y - fy) < 0.13] = colour
    return out


def feet(maps: FigureMaps, picture: np.ndarray) -> list[float]:
    found = by_paint(peaks(maps, 0, -2.5, LEAN), maps, 0, picture, LIGHT)
    return sorted(round(float(p.foot[0]), 1) for p in found)


@pytest.mark.parametrize("pair", [*combinations(("red", "blue", "green", "yellow", "black"), 2)], ids="-".join)
def test_the_usual_paints_are_always_different(pair: tuple[str, str]) -> None:
    one, other = (tuple(reversed(PAINTS[name].rgb)) for name in pair)
    assert len(feet(felt(), crop(one, other))) == 2


def test_they_are_one_figures_if_the_paint_is_the_same() -> None:
    assert len(peaks(felt(), 0, -2.5, LEAN)) == 1
    assert feet(felt(), crop(BLUE, BLUE)) == [pytest.approx(0.5, abs=0.1)]


def test_they_are_two_figures_if_the_paints_differ() -> None:
    assert feet(felt(), crop(BLUE, GREEN)) == pytest.approx([f[0] for f in FEET], abs=0.06)


def test_the_wood_of_another_figure_is_no_paint_of_theirs() -> None:
    """A third foot is a figure of its own: its silhouette adjoins that of the second one, which has hardly any."""
    maps = felt()
    middles = (np.arange(CELLS) + 0.5) * CROP_PX / CELLS / TILE_PX - MARGIN
    x, y = np.meshgrid(middles, middles)
    third = np.hypot(x - 0.62, y - 0.74) < 0.14
    maps.foot[0][np.unravel_index(np.hypot(x - 0.62, y - 0.74).argmin(), x.shape)] = 1.8
    near = np.hypot(x - 0.62, y - 0.5) < 0.14
    maps.silhouette[0][near] = -4.0
    maps.silhouette[0][third] = 4.0
    maps.home[0][:, third] = np.array([0.62 - x[third], 0.74 - y[third]])
    picture = crop(BLUE, BLUE)
    fine = (np.arange(CROP_PX) + 0.5) / TILE_PX - MARGIN
    u, v = np.meshgrid(fine, fine)
    picture[np.hypot(u - 0.62, v - 0.74) < 0.15] = GREEN
    found = peaks(maps, 0, -2.5, LEAN)
    assert len(found) == 2 == len(by_paint(found, maps, 0, picture, LIGHT))


def test_a_foot_that_is_hardly_one_is_none_of_another_paint() -> None:
    assert len(feet(felt(-1.5), crop(BLUE, GREEN))) == 1


def test_a_silhouette_that_is_hardly_seen_has_no_paint_of_its_own() -> None:
    maps = felt()
    maps.silhouette[0][:, CELLS // 2 + 1:] = -4.0
    assert len(feet(maps, crop(BLUE, GREEN))) == 1
