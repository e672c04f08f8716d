"""What a hand's visit to the board has changed, and whether that explains it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tables import figure, look

from reading.belief import TableBelief, updated
from reading.visits import Visits
from scoring.tiles import Square
from vision.looks import FigureLook, NeutralLook, TableLook

HERE, BESIDE, FAR = (0, 0), (1, 0), (5, 0)
ROAD = ("base.U", 0)


def watched(*looks: TableLook) -> tuple[Visits, TableBelief]:
    visits, belief = Visits(), TableBelief()
    for each in looks:
        visits.look(each)
        belief = updated(belief, each)
    return visits, belief


def touched(seen: TableLook, *over: Square, for_s: float = 2.0) -> TableLook:
    return replace(seen, squares={at: replace(s, touched_s=for_s if at in over else 0.0)
                                  for at, s in seen.squares.items()})


@pytest.mark.parametrize(("new", "explained"), [(BESIDE, True), (FAR, False)])
def test_a_tile_explains_the_visit_that_passed_over_it(new: Square, explained: bool) -> None:
    before = {HERE: ROAD, (4, 0): ROAD}
    visits, belief = watched(*(touched(look(t, before)) for t in (5.0, 6.2)),
                             *(touched(look(t, {**before, new: ROAD}), HERE, BESIDE) for t in (20.0,)),
                             touched(look(21.2, {**before, new: ROAD})))
    assert HERE in visits.over(20.0)
    assert visits.explained(6.2, 20.0, 2.0, belief) == explained


def test_what_came_long_before_a_visit_does_not_explain_it() -> None:
    """The square had not been looked at since: nothing had moved over it."""
    before, then = {HERE: ROAD}, {HERE: ROAD, BESIDE: ROAD}
    visits, belief = watched(*(touched(look(t, before)) for t in (5.0, 6.2)),
                             *(touched(look(t, then), BESIDE) for t in (20.0, 21.2)),
                             touched(look(40.0, then), HERE, BESIDE), touched(look(41.2, then)))
    assert not visits.explained(6.2, 40.0, 2.0, belief)
    assert visits.explained(6.2, 20.0, 2.0, belief)


def test_a_brief_motion_is_no_long_one() -> None:
    visits, _ = watched(touched(look(5.0, {HERE: ROAD}), HERE, for_s=0.5))
    assert visits.over(5.0) == {HERE} and not visits.over(5.0, longer_s=1.0)
    assert not visits.over(10.0)


@pytest.mark.parametrize("comes", [True, False])
def test_a_figure_that_comes_or_goes_explains_a_visit(comes: bool) -> None:
    red: dict[Square, tuple[FigureLook, ...]] = {BESIDE: (figure("base.U", 0, "road", "E W", "red"),)}
    tiles = {HERE: ROAD, BESIDE: ROAD}
    first, then = ({}, red) if comes else (red, {})
    times = [(t, first) for t in (5.0, 9.0, 13.0)], [(t, then) for t in (20.0, 21.2, 24.0, 27.0, 30.0, 33.0, 36.0)]
    visits, belief = watched(*(touched(look(t, tiles, f)) for t, f in times[0]),
                             *(touched(look(t, tiles, f), *([HERE, BESIDE] if t == 20.0 else [])) for t, f in times[1]))
    assert visits.explained(13.0, 20.0, 2.0, belief)
    assert not visits.explained(20.0, 33.0, 2.0, belief)


@pytest.mark.parametrize("pushed", [True, False])
def test_a_figure_that_was_pushed_explains_a_visit(pushed: bool) -> None:
    red = figure("base.U", 0, "road", "E W", "red")
    then = replace(red, foot=(red.foot[0] - 0.3, red.foot[1])) if pushed else red
    tiles = {HERE: ROAD, BESIDE: ROAD}
    visits, belief = watched(*(touched(look(t, tiles, {BESIDE: (red,)})) for t in (5.0, 9.0, 13.0)),
                             touched(look(20.0, tiles, {BESIDE: (then,)}), HERE, BESIDE),
                             *(touched(look(t, tiles, {BESIDE: (then,)})) for t in (21.2, 24.0)))
    assert visits.explained(13.0, 20.0, 2.0, belief) == pushed


@pytest.mark.parametrize("moves", [True, False])
def test_a_neutral_piece_that_moves_explains_a_visit(moves: bool) -> None:
    def seen(t_s: float, there: bool) -> TableLook:
        made = look(t_s, {HERE: ROAD, BESIDE: ROAD})
        piece = {"dragon": NeutralLook(there=6.0, foot=(0.5, 0.5))} if there else {}
        return replace(made, squares={at: replace(s, neutral=piece if at == BESIDE else {})
                                      for at, s in made.squares.items()})

    visits, belief = watched(touched(seen(5.0, True)), touched(seen(20.0, not moves), HERE, BESIDE))
    assert visits.explained(5.0, 20.0, 2.0, belief) == moves
