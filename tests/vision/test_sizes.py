"""How wide a figure's wood is: measured alike however it stands or lies, and whichever paint it has."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from test_figure_reading import BOARD, camera, stand, table

from training.make_size_crops import cuts
from training.pieces import board
from training.scenes import pool
from vision.figurenet import FigureNet
from vision.figures import find_figures
from vision.sizes import CUT_PX, USUAL, measured

PAINTS = ("red", "yellow", "black", "green", "pink", "blue")


def widths(tilt: float, *, lying: bool) -> dict[str, list[float]]:
    """Logarithms of the widths relative to a follower's, by piece, of one on each tile of a board."""
    eye = camera(tilt)
    picture, poses = table(BOARD, eye)
    placed = {}
    for n, at in enumerate(sorted(BOARD)):
        placed[at] = "large" if n % 3 == 0 else "follower"
        stand(picture, eye, BOARD, at, (0.5, 0.5), PAINTS[n % 6], lying=lying, figure=placed[at], yaw=37.0 * n)
    out: dict[str, list[float]] = {"follower": [], "large": []}
    for at, seen in measured(picture, poses, find_figures(picture, poses), poses).items():
        if seen and seen[0].look.there > 0:
            out[placed[at]].append(math.log(seen[0].look.width / USUAL))
            assert 0.01 < seen[0].look.width_spread < 0.2
    assert len(out["follower"]) >= 6 and len(out["large"]) >= 3
    return out


@pytest.mark.parametrize("lying", [False, True])
@pytest.mark.parametrize("tilt", [0.0, 0.45])
def test_large_wood_is_wider_than_ordinary_wood_whichever_way_it_lies(tilt: float, lying: bool) -> None:
    said = widths(tilt, lying=lying)
    apart = np.mean(said["large"]) - np.mean(said["follower"])
    spread = math.sqrt((np.var(said["large"]) + np.var(said["follower"])) / 2)
    assert apart > 0.08 and apart > 2.5 * spread  # 0.145 with a caliper
    assert abs(np.mean(said["follower"])) < 0.08


def test_what_is_no_figure_is_not_measured() -> None:
    picture, poses = table(BOARD, camera())
    found = measured(picture, poses, find_figures(picture, poses), poses)
    assert all(s.look.width == 0.0 for seen in found.values() for s in seen if s.look.there <= 0)


def test_what_is_a_figure_only_because_the_tile_has_changed_is_not_measured() -> None:
    picture, poses = table(BOARD, camera())
    at = sorted(BOARD)[0]
    stand(picture, camera(), BOARD, at, (0.5, 0.5), "red")
    seen = find_figures(picture, poses)[at][0]
    assert seen.look.there > 0
    for new, known in ((seen.look.there - 0.1, True), (seen.look.there + 0.1, False)):
        told = measured(picture, poses, {at: (replace(seen, new=new),)}, poses)[at][0]
        assert (told.look.width > 0) == known


def test_training_cuts_are_as_the_reader_makes_them_and_know_the_width() -> None:
    rng = np.random.default_rng(5)
    edition, tiles = pool(rng, [], 12)
    made = [c for _ in range(6) for c in cuts(rng, board(rng, edition, tiles, (0.85, 1.25)), FigureNet())]
    assert len(made) > 20
    for picture, lean, (width, _, lying) in made:
        assert picture.shape == (CUT_PX, CUT_PX, 4) and 0.0 <= lean < 2.0 and lying in (0, 1)
        assert 0.2 < width < 0.9
    assert np.mean([picture[..., 3].any() for picture, _, _ in made]) > 0.8  # of most there is a silhouette
