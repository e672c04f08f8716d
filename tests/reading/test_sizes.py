"""Large followers are told beside the other figures of their table, however large its wood looks."""

from __future__ import annotations

import pytest

from reading.belief import FigureTrack
from reading.sizes import sized, with_size


def track(n: int, length: float, *, lying: float = -3.0) -> FigureTrack:
    return FigureTrack(id=n, foot=(n + 0.5, 0.5), spread=0.05, before_s=0.0, came_s=1.0, seen_s=2.0, looked_s=2.0,
                       weight=1.0, there=6.0, lying=lying, colours={"red": 0.0}, length=length, measured=1.0,
                       pieces={"follower": 0.0, "large": -4.0, "builder": -5.0})


@pytest.mark.parametrize("scale", [0.85, 1.0, 1.15])
@pytest.mark.parametrize("larger", [1.17, 1.28])
def test_the_ones_that_stand_out_are_large_whatever_the_scale_of_the_table(scale: float, larger: float) -> None:
    ordinary = [track(n, (0.33 if n % 2 else 0.36) * scale * (0.98 + 0.005 * n), lying=3.0 if n % 2 else -3.0)
                for n in range(8)]
    large = [track(8, 0.36 * larger * scale), track(9, 0.33 * larger * scale, lying=3.0)]
    said = sized([*ordinary, *large])
    assert all(said[f.id]["large"] < -1.0 and said[f.id]["follower"] == 0.0 for f in ordinary)
    assert all(said[f.id]["follower"] < -1.0 and said[f.id]["large"] == 0.0 for f in large)


def test_a_table_of_equal_figures_has_no_large_ones() -> None:
    said = sized([track(n, 0.41) for n in range(6)])
    assert all(s["large"] < -1.0 for s in said.values())


def test_what_the_table_says_takes_the_place_of_what_a_figure_says_by_itself() -> None:
    own = track(1, 0.36)
    changed = with_size(own, {"follower": -3.0, "large": 0.0})
    assert changed.kinds["follower"] == pytest.approx(-3.0) and changed.kinds["large"] == pytest.approx(0.0)
    assert changed.kinds["builder"] == pytest.approx(-8.0)
    assert with_size(own, None) is own


def test_figures_whose_length_was_not_seen_are_left_out() -> None:
    assert sized([track(3, 0.0)]) == {}
