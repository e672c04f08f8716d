"""The width of a figure's wood: over several looks, and in recordings."""

from __future__ import annotations

import math
from typing import Any

import pytest

from reading.record import look_from_json, look_to_json
from reading.widths import averaged
from scoring.errors import InvalidNotation
from vision.looks import FigureLook, SquareLook, TableLook


def look(width: float, spread: float) -> FigureLook:
    return FigureLook(foot=(0.5, 0.5), spread=0.03, there=4.0, lying=3.0, colours={"red": 0.0},
                      pieces={"follower": 0.0}, width=width, width_spread=spread)


def test_looks_count_by_how_well_they_see_and_do_not_make_the_width_surer() -> None:
    known = averaged((0.0, 0.0, 0.0), look(0.36, 0.03), 1.0)
    assert known == (0.36, 0.03, 1.0)
    assert averaged(known, look(0.0, 0.0), 1.0) == known  # not measured
    width, spread, measured = averaged(known, look(0.40, 0.06), 1.0)
    assert math.log(width) == pytest.approx((4 * math.log(0.36) + math.log(0.40)) / 5)
    assert 0.03 < spread < 0.06 and measured == 2.0
    again = averaged(known, look(0.36, 0.03), 5.0)
    assert again == (pytest.approx(0.36), pytest.approx(0.03), 6.0)


def recorded(figure: FigureLook) -> dict[str, Any]:
    seen = SquareLook(there=5.0, seen=1.0, tiles={}, rest=-9.0, figures=(figure,))
    return dict(look_to_json(TableLook(frame=1, t_s=1.0, squares={(0, 0): seen})))


def read_back(data: dict[str, Any]) -> FigureLook:
    return (look_from_json(data).squares[0, 0].figures or ())[0]


def test_a_width_is_recorded_where_it_was_measured() -> None:
    assert read_back(recorded(look(0.4, 0.05))) == look(0.4, 0.05)
    plain = recorded(look(0.0, 0.0))
    assert len(plain["s"][0][6][0]) == 7 and read_back(plain) == look(0.0, 0.0)


@pytest.mark.parametrize(("told", "lying", "width"), [(0.36, -3.0, 0.36), (0.33, 3.0, 0.36), (0.0, 3.0, 0.0)])
def test_older_recordings_have_the_length_of_the_silhouette(told: float, lying: float, width: float) -> None:
    data = recorded(look(0.4, 0.05))
    data["s"][0][6][0][4], data["s"][0][6][0][7] = lying, told
    old = read_back(data)
    assert old.width == pytest.approx(width, abs=0.005) and (old.width_spread > 0.05) == (told > 0)


@pytest.mark.parametrize("told", [[0.4, 0.0], [-0.3, 0.05], [math.nan, 0.05], [0.4], "0.4", [None, None]])
def test_what_is_no_width_is_refused(told: object) -> None:
    data = recorded(look(0.4, 0.05))
    data["s"][0][6][0][7] = told
    with pytest.raises(InvalidNotation):
        look_from_json(data)
