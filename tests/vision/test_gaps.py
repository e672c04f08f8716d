"""Tiles that do not lie where the board would have them: beside a gap, or on the other side of one."""

from __future__ import annotations

import films
import numpy as np
import pytest
from films import TILE_PX, Film, corner

from bastide.notices import rows
from scoring.tiles import catalogue
from vision.artwork import draw_tile
from vision.board import Board
from vision.lattice import UNIT, Lattice, apply
from vision.motion import Motion
from vision.tileset import drawn_tileset

OFF = 0.3  # of a tile


@pytest.fixture(scope="module")
def tileset():
    return drawn_tileset(tuple(t for t in catalogue() if t.startswith("base.")))


def laid_off(image, tile, at, off):
    x, y = corner(at)
    x, y = x + round(off[0] * TILE_PX), y + round(off[1] * TILE_PX)
    out = image.copy()
    out[y:y + TILE_PX, x:x + TILE_PX] = draw_tile(catalogue()[tile], TILE_PX)
    return out


@pytest.mark.parametrize("off", [(0.0, OFF), (0.1, 0.28)])
def test_a_tile_that_is_laid_with_a_gap_is_read_where_it_lies(tileset, off):
    film, image = Film(tileset), films.lay(films.cloth(), "base.D", (0, 0))
    film.feed(image, 4)
    (proposal,) = film.feed(laid_off(image, "base.U", (0, 1), off), 16)
    assert (proposal.events[0].at, proposal.events[0].tile) == ((0, 1), "base.U") and not proposal.asked
    middle = apply(film.watcher.poses[0, 1], [[0.5, 0.5]])[0]
    assert np.abs(middle - np.add(corner((0, 1)), TILE_PX * (np.array(off) + 0.5))).max() < 0.06 * TILE_PX


def test_what_is_no_tile_or_far_from_every_square_is_not_read(tileset):
    x, y = corner((0, 1))
    image = films.lay(films.cloth(), "base.D", (0, 0))
    lid = image.copy()
    lid[y + 20:y + 84, x:x + TILE_PX] = (30, 60, 90)
    for other in (lid, laid_off(image, "base.U", (0, 1), (0.0, 0.6))):  # it is on its way, or set aside
        film = Film(tileset)
        film.feed(image, 4)
        assert not film.feed(other, 20)


def test_a_board_that_was_pushed_in_two_is_not_taken_for_a_larger_one():
    grid = np.array([[TILE_PX, 0, 300.0], [0, TILE_PX, 200.0], [0, 0, 1.0]])
    squares = {(x, y): (OFF if x >= 4 else 0.0, 0.0, 0.0) for x in range(6) for y in range(3)}
    lattice = Lattice(grid=grid, shifts=dict(squares))
    board = Board(lattice, Motion((480, 854)))
    board.bend()
    for at in squares:
        corners = apply(board.poses[at], UNIT)
        assert np.abs(np.ptp(corners, axis=0) - TILE_PX).max() < 0.01 * TILE_PX
        assert np.abs(corners[0] - (300 + (at[0] + squares[at][0]) * TILE_PX, 200 + at[1] * TILE_PX)).max() < 0.5
    beyond = apply(lattice.predict((6, 1)), UNIT)[0]  # it joins those that were pushed
    assert np.abs(beyond - (300 + (6 + OFF) * TILE_PX, 200 + TILE_PX)).max() < 0.1 * TILE_PX


def test_what_cannot_be_read_is_told_until_it_is_gone(tileset):
    film, image = Film(tileset), films.lay(films.cloth(), "base.D", (0, 0))
    film.feed(image, 4)
    x, y = corner((1, 0))
    strange = image.copy()
    cells = np.random.default_rng(2).integers(0, 255, (8, 8, 3)).astype(np.uint8)  # a card of another game
    strange[y:y + TILE_PX, x:x + TILE_PX] = np.kron(cells, np.ones((8, 8, 1), np.uint8))
    assert not film.feed(strange, 24)
    (notice,) = film.notices
    assert (notice.code, notice.at) == ("unread", (1, 0)) and notice.now is not None
    assert rows([notice], film.state.setup.players)[0][0]["now"]
    assert not film.feed(image, 24) and not film.notices
    small = image.copy()
    small[y + 10:y + 40, x + 4:x + 34] = (30, 60, 90)  # a coin, a die
    assert not film.feed(small, 24) and not film.notices



def test_print_that_was_pushed_with_its_tile_is_no_figure(tileset):
    tile, step = "base.M", (0.08, -0.06)
    film, image = Film(tileset), films.lay(films.cloth(), "base.D", (0, 0))
    film.feed(image, 4)
    for other, at in (("base.U", (0, 1)), ("base.E", (0, -1))):
        image = films.lay(image, other, at)
        film.feed(image, 4)
    film.feed(films.lay(image, tile, (1, 0)), 6)
    assert film.state.last_tile == (1, 0) and film.state.tiles[1, 0].tile == tile
    pushed = laid_off(image, tile, (1, 0), step)
    assert not film.feed(films.arm(pushed, (480, 250)), 4) and not film.feed(pushed, 8)
    middle = apply(film.watcher.poses[1, 0], [[0.5, 0.5]])[0]
    assert np.abs(middle - np.add(corner((1, 0)), TILE_PX * (np.array(step) + 0.5))).max() < 0.03 * TILE_PX


def test_print_that_was_pushed_a_little_is_no_figure_that_has_gone(tileset, monkeypatch):
    tile, step = "base.M", (-0.06, -0.08)
    monkeypatch.setattr("vision.upkeep._PUSHED", 2.0)  # as when little of it differs in grey
    film, image = Film(tileset), films.lay(films.cloth(), "base.D", (0, 0))
    film.feed(image, 4)
    pushed = laid_off(image, tile, (1, 0), step)
    image = films.lay(image, tile, (1, 0))
    film.feed(image, 4)
    for other, at in (("base.U", (0, 1)), ("base.E", (0, -1))):
        image, pushed = films.lay(image, other, at), films.lay(pushed, other, at)
        film.feed(image, 4)
    assert not film.feed(pushed, 10)
