"""The deformable grid, and joint inference, on synthetic numbers with known answers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.tiles import catalogue
from vision.joint import marginals
from vision.lattice import UNIT, Lattice, apply, area, neighbours, renamed, shown_twice, turned_square
from vision.nadir import height_direction

GRID = np.array([[92.0, -6.0, 300.0], [5.0, 80.0, 220.0], [0.003, -0.012, 1.0]])


def test_a_square_lies_as_its_neighbours_do():
    lattice = Lattice(grid=GRID)
    lattice.shifts = {(0, 0): (0.1, -0.05, 0.0), (1, 0): (0.1, -0.05, 0.0)}
    assert lattice.shift_of((2, 0), lattice.predict((2, 0))) == pytest.approx((0.1, -0.05, 0.0), abs=1e-6)
    assert lattice.shift_of((9, 9), lattice.predict((9, 9))) == pytest.approx((0, 0, 0), abs=1e-9)


def test_what_lies_off_the_perspective_does_not_bend_it():
    lattice = Lattice(grid=GRID @ np.diag([1.01, 0.99, 1.0]))  # it is hardly known beforehand
    for at in [(x, 0) for x in range(-4, 5)] + [(0, y) for y in range(-3, 4)]:
        lattice.shifts[at] = lattice.shift_of(at, Lattice(grid=GRID).predict(at))
    lattice.shifts[5, 0] = 1.0, 2.0, 1.58  # a tile at the rim that was taken for another one of its kind
    lattice.refit(0.3, 0.7)
    assert lattice.shift_of((-5, 3), Lattice(grid=GRID).predict((-5, 3))) == pytest.approx((0, 0, 0), abs=0.02)
    assert lattice.shifts[5, 0] == pytest.approx((1.0, 2.0, 1.58), abs=0.1)  # and lies where it lay


def test_a_part_that_was_pushed_away_does_not_bend_the_perspective():
    lattice, off = Lattice(grid=GRID.copy()), (0.2, 0.1, 0.03)
    for at in [(x, y) for x in range(5) for y in range(2)]:
        lattice.shifts[at] = off if at[0] > 2 else (0.0, 0.0, 0.0)
    before = {at: apply(lattice.pose(at, shift), UNIT) for at, shift in lattice.shifts.items()}
    for _ in range(5):  # one look after the other
        lattice.refit(0.3, 0.7)
    for at, corners in before.items():
        assert apply(lattice.pose(at, lattice.shifts[at]), UNIT) == pytest.approx(corners, abs=0.5)  # px


@pytest.mark.parametrize("east", [2, 3])
def test_a_part_that_was_pushed_away_shows_the_size_of_its_tiles(east):
    """They are seen where they lie; the size is the perspective's, which is bent. The larger part names the squares."""
    truth, off = Lattice(grid=GRID.copy()), (0.3, 0.2, 0.15)
    for at in [(x, y) for x in (-5, -4, -3) for y in range(3)] + [(x, y) for x in range(-2, east) for y in range(2)]:
        cos, sin = np.cos(off[2]), np.sin(off[2])
        x, y = np.array([[cos, -sin], [sin, cos]]) @ at + off[:2]
        truth.shifts[at] = (x - at[0], y - at[1], off[2]) if at[0] > -3 else (0.0, 0.0, 0.0)
    lattice = Lattice(grid=GRID @ np.array([[1.0, 0, 0], [0, 1.0, 0], [0.009, 0.004, 1.0]]))
    lattice.shifts = {at: lattice.shift_of(at, truth.pose(at, shift)) for at, shift in truth.shifts.items()}
    assert size_error(lattice, truth) > 0.04
    for _ in range(4):  # one look after the other
        lattice.refit(0.3, 0.7)
    assert size_error(lattice, truth) < 0.01
    largest = lattice.parts()[0]
    assert (largest[0][0] > -3) == (east == 3)
    assert np.abs([lattice.shifts[at] for at in largest]).max() < 0.02


def test_a_corner_on_the_horizon_leaves_the_perspective_as_it_was():
    grid = np.array([[1.0, 0, 0], [0, 1.0, 0], [-0.25, 0, 1.0]])
    lattice = Lattice(grid=grid.copy(), shifts={(x, 0): (0.0, 0.0, 0.0) for x in range(4)})
    with np.errstate(all="ignore"):
        lattice.refit(0.3, 0.7)
    assert (lattice.grid == grid).all()


def size_error(lattice, truth):
    """The largest error of a tile's side, as a fraction of it."""
    sides = [[np.sqrt(area(apply(one.pose(at, one.shifts[at]), UNIT))) for at in truth.shifts]
             for one in (lattice, truth)]
    return float(np.abs(np.divide(*sides) - 1).max())


def test_a_perspective_that_most_tiles_speak_against_is_left_as_it_was():
    lattice, random = Lattice(grid=GRID.copy()), np.random.default_rng(1)
    for n in range(12):
        lattice.shifts[n % 4, n // 4] = (*random.uniform(-0.9, 0.9, 2), 0.0)
    lattice.refit(0.05, 0.7)
    assert (lattice.grid == GRID).all()


def test_of_two_squares_that_show_one_tile_the_nearer_one_has_it():
    lattice = Lattice(grid=GRID)
    lattice.shifts = {(0, 0): (0.0, 0.0, 0.0), (1, 0): (0.02, 0.0, 0.0), (0, 1): (0.0, 0.0, 0.0)}
    seen = {at: lattice.pose(at, shift) for at, shift in lattice.shifts.items()}
    assert shown_twice(lattice, seen, 0.5) == set()
    seen[2, 0] = lattice.pose((1, 0), (0.03, 0.01, 0.0))  # looked for beside it, it is found on its neighbour
    assert shown_twice(lattice, seen, 0.5) == {(2, 0)}
    lattice.shifts[1, 0] = 0.7, 0.0, 0.0  # and where the neighbour was taken to lie elsewhere, the other way round
    seen[2, 0] = lattice.pose((2, 0), (0.0, 0.0, 0.0))
    seen[1, 0] = lattice.pose((2, 0), (0.05, 0.0, 0.0))
    lattice.shifts[2, 0] = 0.0, 0.0, 0.0
    assert shown_twice(lattice, seen, 0.5) == {(1, 0)}
    seen[1, 0] = lattice.pose((1, 0), (0.45, 0.0, 0.0))  # a tile that was laid askew has its own place
    assert shown_twice(lattice, seen, 0.5) == set()


def test_a_row_that_is_turned_goes_on_where_it_points():
    cos, sin = np.cos(0.2), np.sin(0.2)

    def turned(n):
        return n * cos - n, n * sin, 0.2

    lattice = Lattice(grid=GRID, shifts={(n, 0): turned(n) for n in range(3)})
    assert lattice.shift_of((3, 0), lattice.predict((3, 0))) == pytest.approx(turned(3), abs=1e-6)


def test_neighbours_and_area():
    assert neighbours([(0, 0)]) == {(1, 0), (-1, 0), (0, 1), (0, -1)}
    assert area(UNIT) == pytest.approx(1.0)


@pytest.mark.parametrize("tilt", [0.0, 0.35, 0.65])
def test_height_rises_as_a_real_camera_sees_it(tilt):
    focal, width, height = 1500.0, 1600, 1200
    rotation = np.array([[1, 0, 0], [0, np.cos(tilt), -np.sin(tilt)], [0, np.sin(tilt), np.cos(tilt)]])
    camera = np.array([[focal, 0, width / 2], [0, focal, height / 2], [0, 0, 1.0]])
    away = np.array([-4.0, -3.0, 14.0])
    grid = camera @ np.column_stack([rotation[:, 0], rotation[:, 1], away])
    up = height_direction(grid / grid[2, 2], (height, width))
    foot, top = np.array([2.0, 3.0, 0.0]), np.array([2.0, 3.0, -0.4])  # the third axis points down
    seen = [camera @ (rotation @ p + away) for p in (foot, top)]
    want = seen[1][:2] / seen[1][2]
    base = grid / grid[2, 2] @ np.array([2.0, 3.0, 1.0])
    got = base + 0.4 * up
    assert np.hypot(*(got[:2] / got[2] - want)) < (0.5 if tilt else 8.0)


@given(turns=st.integers(0, 3), shift=st.tuples(st.integers(-9, 9), st.integers(-9, 9)),
       squares=st.sets(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), min_size=1, max_size=8),
       bent=st.lists(st.tuples(*[st.floats(-0.1, 0.1)] * 3), min_size=8, max_size=8))
def test_squares_of_a_board_that_get_other_names_keep_their_pixels(turns, shift, squares, bent):
    """A game has its own north: a tile's place in the picture stays, corner for corner, turned as the board is."""
    lattice = Lattice(grid=GRID, shifts=dict(zip(sorted(squares), bent, strict=False)))

    def to(at):
        x, y = turned_square(at, turns)
        return x + shift[0], y + shift[1]

    again = renamed(lattice, to, turns)
    assert again.shifts.keys() == {to(at) for at in squares}
    for at in squares:
        before = apply(lattice.predict(at), UNIT)
        after = apply(again.predict(to(at)), UNIT)
        assert np.abs(after - np.roll(before, turns, axis=0)).max() < 1e-3  # the new north-west corner is an old one
    beside = sorted(neighbours(squares))[0]
    apart = apply(again.predict(to(beside)), [(0.5, 0.5)]) - apply(lattice.predict(beside), [(0.5, 0.5)])
    assert np.abs(apart).max() < 1.0, "an open square beside them is expected in the same place"


@given(turns=st.integers(0, 7), at=st.tuples(st.integers(-50, 50), st.integers(-50, 50)))
def test_a_square_comes_back_after_four_turns(turns, at):
    assert turned_square(turned_square(at, turns), -turns) == at
    x, y = turned_square((1, 0), 1)
    assert (x, y) == (0, 1), "east becomes south: clockwise as seen"


def test_a_board_without_squares_has_nothing_to_be_read():
    assert marginals({}, [catalogue()["base.U"]], {}) == {}


def test_neighbours_and_the_box_settle_what_a_square_alone_cannot():
    kinds = [catalogue()[t] for t in ("base.U", "base.V", "base.X")]
    sure = np.full((3, 4), -20.0)
    sure[2, 0] = 0.0  # a crossing: roads on all sides
    torn = np.full((3, 4), -20.0)
    torn[0, 0] = torn[0, 1] = 0.0  # a straight road, west-east or north-south
    unary = {(0, 0): sure, (1, 0): torn}
    belief = marginals(unary, kinds, {})[1, 0]
    along = max(range(2), key=lambda r: belief[0, r])
    assert _shows_road(kinds[0], along, "W")
    assert np.exp(belief).sum() == pytest.approx(1.0)
    either = np.full((3, 4), -20.0)
    either[0, 0], either[1, 0] = 0.0, -1.0
    apart = {(0, 0): either, (5, 5): either.copy(), (9, 9): either.copy()}
    free = marginals(apart, kinds, {})
    held = marginals(apart, kinds, {"base.U": 1})
    used = [sum(np.exp(b[0]).sum() for b in beliefs.values()) for beliefs in (free, held)]
    assert used[1] < used[0] - 0.5


def _shows_road(kind, rot, side):
    from scoring.tiles import edge

    return edge(kind, rot, side) == "R"
