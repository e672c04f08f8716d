"""Large followers are told beside the other figures of their table, however large its wood looks."""

from __future__ import annotations

import pytest

from reading.belief import FigureTrack
from reading.sizes import sized, with_size


def track(n: int, larger: float) -> FigureTrack:
    return FigureTrack(id=n, foot=(n + 0.5, 0.5), spread=0.05, before_s=0.0, came_s=1.0, seen_s=2.0, looked_s=2.0,
                       weight=1.0, there=6.0, lying=-3.0, colours={"red": 0.0},
                       pieces={"follower": 0.0, "large": larger, "builder": -5.0})


@pytest.mark.parametrize("offset", [-1.5, 0.0, 1.0])
def test_the_ones_that_stand_out_are_large_whatever_the_offset_of_the_table(offset: float) -> None:
    ordinary = [track(n, -4.1 + offset) for n in range(8)]
    large = [track(n + 8, -2.0 + offset) for n in range(2)]
    said = sized([*ordinary, *large])
    assert all(said[f.id]["large"] < -1.5 and said[f.id]["follower"] == 0.0 for f in ordinary)
    assert all(said[f.id]["follower"] < -1.0 and said[f.id]["large"] == 0.0 for f in large)


def test_what_the_table_says_takes_the_place_of_what_a_figure_says_by_itself() -> None:
    own = track(1, -4.0)
    changed = with_size(own, {"follower": -3.0, "large": 0.0})
    assert changed.kinds["follower"] == pytest.approx(-3.0) and changed.kinds["large"] == pytest.approx(0.0)
    assert changed.kinds["builder"] == pytest.approx(-8.0)
    assert with_size(own, None) is own


def test_figures_that_say_nothing_of_their_size_are_left_out() -> None:
    silent = FigureTrack(id=3, foot=(0.5, 0.5), spread=0.05, before_s=0.0, came_s=1.0, seen_s=2.0, looked_s=2.0,
                         weight=1.0, there=6.0, lying=-3.0, colours={"red": 0.0}, pieces={})
    assert sized([silent]) == {}
