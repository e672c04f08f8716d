"""Pieces are told beside the other figures of their table, however large its wood looks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reading.belief import FigureTrack
from reading.pieces import kinds


def track(n: int, length: float, *, lying: float = -3.0, pig: float = -6.0, builder: float = -2.4) -> FigureTrack:
    return FigureTrack(id=n, foot=(n + 0.5, 0.5), spread=0.05, before_s=0.0, came_s=1.0, seen_s=2.0, looked_s=2.0,
                       weight=1.0, there=6.0, lying=lying, colours={"red": 0.0}, length=length, measured=1.0,
                       pieces={"follower": 0.0, "large": -4.0, "builder": builder, "pig": pig})


INNS = ("follower", "large")
TRADERS = ("follower", "builder", "pig")


@pytest.mark.parametrize("scale", [0.85, 1.0, 1.15])
@pytest.mark.parametrize("larger", [1.17, 1.28])
def test_the_ones_that_stand_out_are_large_whatever_the_scale_of_the_table(scale: float, larger: float) -> None:
    ordinary = [track(n, (0.33 if n % 2 else 0.36) * scale * (0.98 + 0.005 * n), lying=3.0 if n % 2 else -3.0)
                for n in range(8)]
    large = [track(8, 0.36 * larger * scale), track(9, 0.33 * larger * scale, lying=3.0)]
    said = kinds([*ordinary, *large], INNS)
    assert all(said[f.id].kinds["large"] < -1.0 and said[f.id].kinds["follower"] == 0.0 for f in ordinary)
    assert all(said[f.id].kinds["follower"] < -1.0 and said[f.id].kinds["large"] == 0.0 for f in large)


def test_a_table_of_equal_figures_has_no_large_ones() -> None:
    said = kinds([track(n, 0.41) for n in range(6)], INNS)
    assert all(f.kinds["large"] < -1.0 for f in said.values())


def test_a_short_one_that_stands_is_a_builder_and_one_that_lies_is_none() -> None:
    others = [track(n, 0.36 + 0.005 * n) for n in range(6)]
    said = kinds([*others, track(8, 0.29, builder=-1.0), track(9, 0.27, lying=3.0, builder=-1.0)], TRADERS)
    assert said[8].kinds["builder"] == 0.0 and said[8].kinds["follower"] < -1.0
    assert all(said[n].kinds["builder"] < -0.5 for n in (*range(6), 9))


@pytest.mark.parametrize(("pig", "is_one"), [(1.0, True), (-2.0, True), (-6.0, False), (-12.0, False)])
def test_a_pig_is_told_by_the_network_against_what_it_says_of_followers(pig: float, is_one: bool) -> None:
    said = kinds([track(1, 0.36), track(2, 0.38, pig=pig)], TRADERS)[2].kinds
    assert (said["pig"] > said["follower"] + 1.0) == is_one and (said["pig"] < said["follower"] - 1.0) != is_one


def test_pieces_that_the_box_does_not_have_are_not_told_and_figures_that_say_nothing_are_left_out() -> None:
    silent = FigureTrack(id=3, foot=(0.5, 0.5), spread=0.05, before_s=0.0, came_s=1.0, seen_s=2.0, looked_s=2.0,
                         weight=1.0, there=6.0, lying=-3.0, colours={"red": 0.0}, pieces={})
    said = kinds([silent, track(1, 0.36)], ("follower",))
    assert set(said) == {1} and said[1].kinds == {"follower": 0.0}


def test_without_a_length_the_network_says_what_is_large() -> None:
    others = [replace(track(n, 0.0), pieces={"follower": 0.0, "large": -4.0}) for n in range(5)]
    large = replace(track(9, 0.0), pieces={"follower": 0.0, "large": -1.5})
    said = kinds([*others, large], INNS)
    assert said[9].kinds["large"] == 0.0 > said[9].kinds["follower"]
    assert all(said[n].kinds["follower"] == 0.0 > said[n].kinds["large"] for n in range(5))
