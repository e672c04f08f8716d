"""Whole games told to the page's JSON interface as people tell them: no player named, with or without the ends of
turns, the wheel before its tile or after it. The scores are right after every turn, and nothing is an issue.

`benchmarks/replay_games.py` does it with all recorded games.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest
from recorded import OWN, load, name
from replaying import made, page, recorded, told

sys.path.append(str(Path(__file__).parents[1] / "scoring"))
from random_games import random_game  # noqa: E402

WHEEL = (("wheel",), ("wheel", "inns", "traders"))


@pytest.mark.parametrize("ends", [False, True], ids=["no-ends", "ends"])
@pytest.mark.parametrize("path", OWN[::6], ids=name)
def test_a_recorded_game_told_without_names(path: Path, ends: bool, tmp_path: Path) -> None:
    with page(tmp_path) as client:
        assert not [*told(client, recorded(load(path)), ends=ends)]


@pytest.mark.parametrize("path", OWN[2::14], ids=name)
def test_a_recorded_game_told_in_any_order(path: Path, tmp_path: Path) -> None:
    with page(tmp_path) as client:
        assert not [*told(client, recorded(load(path)), ends=False, shuffled=True)]


@pytest.mark.parametrize("seed", range(3))
def test_a_game_of_several_boxes_told_in_any_order(seed: int, tmp_path: Path) -> None:
    """After the tile comes everything else: the dragon's way before the follower that it ate, the wheel after all."""
    boxes = (("wheel", "dragon", "tower", "traders"), ("base", "dragon", "tower"), ("wheel", "inns"))[seed]
    game = made(*random_game(seed, *boxes, tiles=35, name="wheel" if "wheel" in boxes else None))
    with page(tmp_path) as client:
        assert not [*told(client, game, ends=False, shuffled=True, rng=random.Random(seed))]


@pytest.mark.parametrize("remembered", [True, False], ids=["before", "late"])
@pytest.mark.parametrize("seed", range(2))
def test_a_game_with_the_wheel_told_without_names(seed: int, remembered: bool, tmp_path: Path) -> None:
    """R-WHEEL-03, R-WHEEL-11: the scores are those of the wheel before its tile, whenever it was told."""
    game = made(*random_game(seed, *WHEEL[seed % 2], tiles=45, name="wheel"))
    with page(tmp_path) as client:
        rng = random.Random(seed)  # people forget to say that a turn is over
        assert not [*told(client, game, ends=True, remembered=remembered, rng=rng)]
