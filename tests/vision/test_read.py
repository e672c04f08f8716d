"""Whole rendered photographs: the board is found and read exactly; errors are reported."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import cv2
import numpy as np
import pytest
from drawings import base_set

from scoring.geometry import spot_of
from scoring.tiles import catalogue, where
from vision.lattice import apply
from vision.occupancy import Rejected
from vision.overlay import draw_detected, draw_reading
from vision.read import PhotoReader, box_counts
from vision.structure import StructureNet

_spec = importlib.util.spec_from_file_location("read_tables", Path(__file__).with_name("read_tables.py"))
tables = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(tables)


@pytest.fixture(scope="module")
def tiles():
    return base_set()


@pytest.fixture(scope="module")
def reader(tiles):
    return PhotoReader(tiles, counts=box_counts(["base"]))


def _shape(tile, rot):
    return sorted((s.kind, where(s, rot), s.pennants) for s in catalogue()[tile].segments)


def _placed(reading):
    x, y = (min(t.at[n] for t in reading.tiles) for n in range(2))
    return {(t.at[0] - x, t.at[1] - y): t for t in reading.tiles}


def _assert_reads(reading, board):
    got = _placed(reading)
    assert got.keys() == board.keys()
    wrong = [at for at in board if _shape(got[at].tile, got[at].rot) != _shape(*board[at])]
    assert not wrong


@pytest.mark.parametrize("seed", [1, 2])
def test_a_drawn_table_is_read_exactly(tiles, reader, seed):
    board = tables.legal_board(5, 4, seed)
    del board[2, 1], board[0, 0]  # a hole, and a corner that is missing
    picture, _ = tables.photograph(tiles, board, seed=seed)
    reading = reader.read(picture)
    _assert_reads(reading, board)
    assert reading.figures == ()
    assert np.mean([t.confidence for t in reading.tiles]) > 0.9


def test_corners_are_where_the_tiles_are(tiles, reader):
    board = tables.legal_board(4, 3, 5)
    picture, grid = tables.photograph(tiles, board, seed=5, jitter=0.0)
    for at, tile in _placed(reader.read(picture)).items():
        want = apply(grid, np.array([[0, 0], [1, 0], [1, 1], [0, 1]]) + at)
        assert np.abs(tile.corners_px - want).max() < 0.06 * tables.TILE_PX


def test_the_answer_does_not_depend_on_the_photographs_size_or_turn(tiles, reader):
    board = tables.legal_board(4, 3, 6)
    picture, _ = tables.photograph(tiles, board, seed=6)
    large = cv2.resize(picture, None, fx=1.7, fy=1.7, interpolation=cv2.INTER_CUBIC)
    _assert_reads(reader.read(large), board)
    turned = np.ascontiguousarray(np.rot90(picture, -1))
    _assert_reads(reader.read(turned), {(2 - y, x): (tile, rot + 1) for (x, y), (tile, rot) in board.items()})


def test_figures_are_read_with_their_feature(tiles, reader):
    board = tables.legal_board(5, 4, 9)
    picture, grid = tables.photograph(tiles, board, seed=9, tilt=0.0, jitter=0.0)
    places = {}
    names = iter(("red", "blue", "black"))
    plain = [at for at in board if board[at][0][-1] in "DEHIJKLUVWX" and 0 < at[0] < 4]
    for at in (plain[0], plain[len(plain) // 2], plain[-1]):
        tile, rot = board[at]
        n = next(n for n, s in enumerate(catalogue()[tile].segments) if s.kind != "field")
        colour = next(names)
        spot = spot_of(catalogue()[tile], n, rot)
        foot = apply(grid, [(at[0] + spot[0] / 100, at[1] + spot[1] / 100)])[0]
        tables.put(picture, tuple(foot), colour)
        places[colour, at] = catalogue()[tile].segments[n].kind
    reading = reader.read(picture)
    _assert_reads(reading, board)
    low = [min(t.at[n] for t in reading.tiles) for n in range(2)]
    got = {(f.colour, (f.at[0] - low[0], f.at[1] - low[1])): f.feature for f in reading.figures}
    assert got == places
    document = reading.to_json()
    assert set(document) == {"tiles", "figures", "issues"}
    assert set(document["figures"][0]) == {"colour", "figure", "at", "feature", "where", "confidence", "px"}
    assert set(document["tiles"][0]) == {"tile", "at", "rot", "confidence", "corners_px"}
    drawn = draw_reading(picture, reading)
    assert drawn.shape == picture.shape and (drawn != picture).any()
    bare = picture.copy()
    draw_detected(bare)
    assert (bare == picture).all()  # nothing is drawn but what is handed in
    for part in ({"lattice": reading.lattice, "tiles": reading.tiles}, {"figures": reading.figures},
                 {"rejected": [Rejected(outline_px=reading.tiles[0].corners_px, why="a shadow")]}):
        canvas = picture.copy()
        draw_detected(canvas, **part)
        assert (canvas != picture).any()


def test_tiles_over_the_border_are_left_out_and_said(tiles, reader):
    """Wherever a column is cut in its second half it is left out; where enough of it shows, it is said."""
    board = tables.legal_board(4, 3, 11)
    picture, _ = tables.photograph(tiles, board, seed=11)
    said = []
    for cut in (4.6, 4.62, 4.64, 4.66):
        reading = reader.read(np.ascontiguousarray(picture[:, :int(cut * tables.TILE_PX)]))
        assert len(reading.tiles) == 9
        told = any("border" in issue for issue in reading.issues)
        assert told == any(r.why == "over the border" for r in reading.rejected)
        said.append(told)
    assert any(said)


@pytest.mark.parametrize("picture", [
    np.zeros((300, 400, 3), np.uint8),
    np.random.default_rng(0).integers(0, 255, (300, 400, 3)).astype(np.uint8),
])
def test_a_picture_without_a_board_says_so(reader, picture):
    reading = reader.read(picture)
    assert reading.tiles == () and reading.figures == ()
    assert len(reading.issues) == 1 and "no board" in reading.issues[0]


def test_a_lens_that_bends_is_said_once_and_a_straight_one_is_not(tiles, reader):
    board = tables.legal_board(7, 5, 1)
    picture, _ = tables.photograph(tiles, board, seed=1, tilt=0.3, jitter=0.01)
    height, width = picture.shape[:2]
    matrix = np.array([[0.7 * width, 0, width / 2], [0, 0.7 * width, height / 2], [0, 0, 1]])
    seen = np.stack(np.meshgrid(np.arange(width), np.arange(height)), -1).reshape(-1, 1, 2).astype(np.float64)
    straight = cv2.undistortPoints(seen, matrix, np.array([-0.16, 0, 0, 0, 0]), P=matrix)
    x, y = straight.reshape(height, width, 2).astype(np.float32).transpose(2, 0, 1)
    bent = reader.read(cv2.remap(picture, x, y, cv2.INTER_LINEAR), figures=False)
    assert len(bent.tiles) == len(board)
    (told,) = [issue for issue in bent.issues if "lens" in issue]
    assert "calibrate lens" in told and "px" in told
    assert not [issue for issue in reader.read(picture, figures=False).issues if "lens" in issue]


def test_the_network_is_asked_a_few_times_a_tile(tiles, reader, monkeypatch):
    """The cost of a photograph: some of the tiles lead to the others, and no square is evaluated twice."""
    board = tables.legal_board(8, 6, 2)
    picture, _ = tables.photograph(tiles, board, seed=2)
    asked = []
    ask = StructureNet._forward
    monkeypatch.setattr(StructureNet, "_forward", lambda net, crops: (asked.append(len(crops)), ask(net, crops))[1])
    assert len(reader.read(picture, figures=False).tiles) == len(board)
    assert sum(asked) < 11 * len(board)
