"""Matching pictures with squares cell by cell: an occlusion affects only the cells that it covers."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import cv2
import numpy as np
import pytest
from drawings import base_set

from vision import fitting
from vision.fitting import CELLS, SIZE_PX, PictureFit
from vision.tiles import in_all_turns
from vision.tileset import TileSet

_spec = importlib.util.spec_from_file_location("read_tables", Path(__file__).with_name("read_tables.py"))
tables = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(tables)


@pytest.fixture(scope="module")
def board():
    """(picture, poses, what lies there), and the fit of one picture of each kind that lies."""
    laid = tables.legal_board(3, 2, 11)
    picture, grid = tables.photograph(base_set(), laid, seed=11, jitter=0.0)
    poses = {at: grid @ np.array([[1, 0, at[0]], [0, 1, at[1]], [0, 0, 1.0]]) for at in laid}
    tiles = base_set()
    first = {s.tile: s for s in reversed(tiles.specimens)}
    one = TileSet(name="one", size_px=tiles.size_px, specimens=tuple(first[t] for t in sorted(first)))
    return picture, poses, laid, PictureFit(one)


def margin(fit, picture, pose, tile):
    """By how much the right kind, in any quarter turn, fits better than every other."""
    said = fit.fits(picture, [pose])[0]
    own = fit.ids.index(tile)
    return said[own].max() - np.delete(said, own, axis=0).max()


def test_the_right_picture_fits_best_a_little_off_and_with_a_figure_on_it(board):
    picture, poses, laid, fit = board
    for at, (tile, _) in laid.items():
        off = poses[at] @ np.array([[1, 0, 0.03], [0, 1, -0.02], [0, 0, 1.0]])
        assert margin(fit, picture, off, tile) > 1.0, (at, tile)
        covered = picture.copy()
        middle = cv2.perspectiveTransform(np.array([[[0.4, 0.6]]]), poses[at])[0, 0]
        side = float(np.sqrt(abs(np.linalg.det(poses[at][:2, :2]))))
        cv2.circle(covered, tuple(int(v) for v in middle), round(0.18 * side), (20, 20, 200), -1)
        assert margin(fit, covered, off, tile) > 0.0, (at, tile)


def test_every_tile_fits_best_in_the_quarter_turn_in_which_it_lies(board):
    """The edges of its print turn with it, also where cells are hidden."""
    picture, poses, laid, fit = board
    seen = np.ones((1, CELLS, CELLS), np.float32)
    seen[0, :3] = 0.0
    quarter = np.array([[0, -1, 1], [1, 0, 0], [0, 0, 1.0]])  # a square that is seen from its side
    for at, (tile, rot) in laid.items():
        for n in range(4):
            pose = poses[at] @ np.linalg.matrix_power(quarter, n)
            for counts in (None, seen):
                own = fit.fits(picture, [pose], counts)[0, fit.ids.index(tile)]
                right = (rot - n) % 4
                assert own.argmax() == right and np.delete(own, right).max() < own[right] - 1.0, (at, tile, right, own)


def test_cells_turn_as_whole_pictures_do():
    """The channels' signs stand in `vision.tiles` and, cell by cell, here."""
    upright = np.random.default_rng(7).normal(size=(3, 5, SIZE_PX, SIZE_PX)).astype(np.float32)
    for rot in range(4):
        turned = np.empty_like(fitting._cells(upright))
        fitting._turn(fitting._cells(upright), rot, turned)
        assert np.array_equal(turned, fitting._cells(in_all_turns(upright)[:, rot]))


def test_many_pictures_of_a_kind_leave_quarter_turns_without_a_candidate(board):
    """Eight pictures of one kind in two of its turns are the best of all."""
    picture, poses, laid, fit = board
    tiles = base_set()
    roads = [s for s in tiles.specimens if s.tile == "base.U"]
    noise = np.random.default_rng(5)
    taught = [type(s)(tile=s.tile, bgr=np.clip(s.bgr + noise.normal(0, 6, s.bgr.shape), 0, 255).astype(np.uint8))
              for n in range(8) for s in (*roads[:1], *(t for t in tiles.specimens if t.tile in fit.ids))]
    many = PictureFit(TileSet(name="many", size_px=tiles.size_px, specimens=tuple(taught)))
    said = many.fits(picture, list(poses.values()))
    for (tile, rot), own in zip(laid.values(), said, strict=True):
        assert np.unravel_index(own.argmax(), own.shape) == (many.ids.index(tile), rot)


def test_a_kind_counts_by_its_best_specimen(board):
    picture, poses, laid, fit = board
    tiles = base_set()
    at, (tile, _) = next(iter(laid.items()))
    rng = np.random.default_rng(2)
    noise = type(tiles.specimens[0])(tile=tile, bgr=rng.integers(0, 255, tiles.specimens[0].bgr.shape).astype(np.uint8))
    more = PictureFit(TileSet(name="more", size_px=tiles.size_px, specimens=(*tiles.specimens, noise)))
    fit = PictureFit(tiles)
    own = fit.ids.index(tile)
    best = fit.fits(picture, [poses[at]])[0, own].max()
    assert more.fits(picture, [poses[at]])[0, own].max() == pytest.approx(best, abs=1.0)
