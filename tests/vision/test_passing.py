"""What a hand leaves on an open square is seen by its colour where its grey says nothing."""

from __future__ import annotations

import cv2
import films
import numpy as np
import pytest
from films import Film, arm, corner, lay

from scoring.engine import step
from scoring.events import GameEnded
from scoring.tiles import catalogue
from vision.frames import Frame
from vision.motion import Area, Motion
from vision.passing import Passing, recoloured
from vision.placements import PlacementReader
from vision.tileset import drawn_tileset

DIM = 0.22
SLEEVE = (250, 250, 250)


@pytest.fixture(scope="module")
def tileset():
    return drawn_tileset(tuple(t for t in catalogue() if t.startswith("base.")))


def table():
    """A purple cloth as bright as a meadow."""
    tile = lay(films.cloth(), "base.D", (0, 0))
    x, y = corner((0, 0))
    grey = float(cv2.cvtColor(tile, cv2.COLOR_BGR2GRAY)[y:y + films.TILE_PX, x:x + films.TILE_PX].mean())
    colour = np.array([120, 70, 110], float)
    noise = np.random.default_rng(3).normal(0, 4, (films.SIZE[1], films.SIZE[0], 1))
    return np.clip(colour * grey / (colour @ (0.114, 0.587, 0.299)) + noise, 0, 255).astype(np.uint8)


def dimmed(image):
    return (image * DIM).astype(np.uint8)


def test_a_tile_as_bright_as_the_table_is_read_when_the_hand_has_gone(tileset, monkeypatch):
    monkeypatch.setattr(PlacementReader, "glance", lambda *_: 0.0)  # it has a figure, say
    film, bare = Film(tileset), lay(table(), "base.D", (0, 0))
    film.feed(dimmed(bare), 8)
    x, y = corner((0, 1))
    for under in (bare, lay(bare, "base.U", (0, 1))):
        film.feed(dimmed(arm(under, (x + 30, y + 20), SLEEVE)), 4)
    (proposal,) = film.feed(dimmed(lay(bare, "base.U", (0, 1))), 8)
    assert (proposal.events[0].tile, proposal.events[0].at) == ("base.U", (0, 1))


def test_a_hand_that_leaves_nothing_and_another_light_change_no_colour():
    before, pose = lay(table(), "base.D", (0, 0)), np.array([[64, 0, 400.0], [0, 64, 264], [0, 0, 1]])
    noise = np.random.default_rng(1).normal(0, 2, before.shape)
    for light in (0.25, 0.6, 1.2):
        assert not recoloured(dimmed(before), np.clip(before * light * DIM + noise, 0, 255).astype(np.uint8), pose)
    assert recoloured(dimmed(before), dimmed(lay(before, "base.U", (0, 1))), pose)


def test_a_square_that_was_pushed_out_of_the_picture_is_waited_for_no_longer():
    motion, image = Motion((*films.SIZE[::-1], 3)), table()
    passing = Passing((2, 6, 14), 0.2)
    on = Area(rows=slice(10, 40), columns=slice(10, 40), inside=np.ones((30, 30), bool))
    off = Area(rows=slice(0, 2), columns=slice(0, 2), inside=np.zeros((2, 2), bool))
    look = motion.feed(image, 0.0)  # nothing is known yet: all of it has moved
    passing.note((0, 1), on, look)
    frame = Frame(id=1, t_s=0.0, source="test", bgr=image)
    assert passing.due((0, 1), np.eye(3), on, look, image, frame) is None
    assert passing.due((0, 1), np.eye(3), off, look, image, frame) is False
    assert off.part(np.ones(look.moved.shape, bool)) == 0.0
    assert passing.due((0, 1), np.eye(3), on, look, image, frame) is False


def test_a_tile_that_comes_when_the_game_is_over_is_proposed_and_nothing_breaks(tileset):
    film, image = Film(tileset), lay(films.cloth(), "base.D", (0, 0))
    film.feed(image, 4)
    film.state = step(film.state, GameEnded())
    proposals = film.feed(lay(image, "base.U", (0, 1)), 8)
    assert [p.events[0].at for p in proposals][:1] == [(0, 1)] and (0, 1) not in film.state.tiles
