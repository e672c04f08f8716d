"""The paths of the tiles' shapes, and places on a turned tile."""

from __future__ import annotations

import pytest

from scoring import geometry
from scoring.errors import InvalidNotation


def test_four_quarter_turns_bring_a_point_back() -> None:
    assert geometry.rotate_point(10, 20, 1) == (80, 10)
    assert geometry.rotate_point(*geometry.rotate_point(10, 20, 1), -1) == (10, 20)
    assert geometry.rotate_point(10, 20, 4) == (10, 20)


@pytest.mark.parametrize("path", ["", "L 1 1", "M 1", "M 0 0 l 3 3", "M 0 0 L 1 x", "M 0 0 A 1 1 0 0 0 3 3"])
def test_other_path_commands_are_refused(path: str) -> None:
    if not path:
        assert geometry.parse_path(path) == ()
        return
    with pytest.raises(InvalidNotation):
        geometry.parse_path(path)


def test_curves_pass_through_their_middle() -> None:
    (line,) = geometry.flatten("M 0 0 Q 50 100 100 0")
    assert (50.0, 50.0) in [(round(x, 6), round(y, 6)) for x, y in line]
    (line,) = geometry.flatten("M 0 0 C 0 100 100 100 100 0 Z")
    assert line[0] == line[-1] and max(y for _, y in line) == pytest.approx(75)
