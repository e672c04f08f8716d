"""Untaught artwork: invented editions, never trained on, are read by what all editions have in common."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import cv2
import numpy as np
import pytest
from drawings import base_set

from scoring.tiles import EDGES, catalogue, edge, where
from training.editions import invent
from training.invented import Painter
from vision.find import BoardFinder
from vision.lattice import UNIT, apply
from vision.read import PhotoReader, box_counts
from vision.structure import CROP_PX, LETTERS, PAIRS, StructureNet, truth_of
from vision.tileset import Specimen, TileSet

_spec = importlib.util.spec_from_file_location("read_tables", Path(__file__).with_name("read_tables.py"))
tables = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(tables)
KINDS = [catalogue()[t] for t in tables.BASE]


def invented_tiles(seed):
    rng = np.random.default_rng(seed)
    painter = Painter(invent(rng), rng)
    return TileSet(name="invented", size_px=96,
                   specimens=tuple(Specimen(tile=t.id, bgr=painter.paint(t).copy()) for t in KINDS))


def shape(tile, rot):
    return sorted((s.kind, where(s, rot), s.pennants) for s in catalogue()[tile].segments)


def test_editions_never_seen_are_read_without_their_pictures():
    reader, wrong = PhotoReader(base_set(), counts=box_counts(["base"])), 0
    for seed in (9001, 9002, 9003):
        board = tables.legal_board(5, 4, seed)
        del board[2, 1], board[4, 3]
        picture, _ = tables.photograph(invented_tiles(seed), board, seed=seed)
        reading = reader.read(picture, figures=False)
        low = [min(t.at[n] for t in reading.tiles) for n in range(2)]
        got = {(t.at[0] - low[0], t.at[1] - low[1]): t for t in reading.tiles}
        assert got.keys() == board.keys()
        right = [at for at in board if shape(got[at].tile, got[at].rot) == shape(*board[at])]
        wrong += len(board) - len(right)
        assert {at for at in board if got[at].confidence > 0.95} <= set(right)
    assert wrong <= 2  # of 54


def test_a_few_tiles_on_a_large_table_are_found_with_their_figures():
    """The wood grain of the table has more lines than the board, and the artwork is unknown."""
    seed = 9011
    board = tables.legal_board(4, 2, seed)
    small, grid = tables.photograph(invented_tiles(seed), board, seed=seed, tilt=0.02)
    rng = np.random.default_rng(seed)
    grain = cv2.resize(rng.standard_normal((190, 5)).astype(np.float32), (1800, 1350), interpolation=cv2.INTER_CUBIC)
    picture = np.clip(np.array([62, 88, 120]) * (1 + 0.12 * grain[..., None]), 0, 255).astype(np.uint8)
    away = np.array([640, 420])
    view = picture[away[1]:away[1] + small.shape[0], away[0]:away[0] + small.shape[1]]
    tiles = np.abs(small.astype(int) - small[2:8, 2:8].reshape(-1, 3).mean(axis=0)).max(axis=2) > 30
    inside = cv2.morphologyEx(tiles.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((15, 15), np.uint8)) > 0
    view[inside] = small[inside]
    for at, colour in (((0, 0), "red"), ((2, 1), "blue")):
        tables.put(picture, tuple(apply(grid, [(at[0] + 0.5, at[1] + 0.5)])[0] + away), colour)
    reading = PhotoReader(base_set(), counts=box_counts(["base"])).read(picture)
    low = [min(t.at[n] for t in reading.tiles) for n in range(2)]
    assert {(t.at[0] - low[0], t.at[1] - low[1]) for t in reading.tiles} == board.keys()
    assert {(f.colour, f.at[0] - low[0], f.at[1] - low[1]) for f in reading.figures} == {("red", 0, 0), ("blue", 2, 1)}
    for figure in reading.figures:
        assert cv2.pointPolygonTest(figure.outline_px.astype(np.float32), figure.px, True) > -30
    assert any(r.why.startswith("empty") for r in reading.rejected)


def test_corners_lie_on_the_tiles():
    board = tables.legal_board(4, 3, 5)
    picture, grid = tables.photograph(invented_tiles(9005), board, seed=5, jitter=0.0)
    found = BoardFinder().find(picture)
    assert found is not None and len(found.poses) == len(board)
    for pose in found.poses.values():
        steps = apply(np.linalg.inv(grid), apply(pose, UNIT))
        assert np.abs(steps - np.round(steps)).max() < 0.09


@pytest.mark.parametrize("picture", [
    np.zeros((300, 400, 3), np.uint8),
    np.random.default_rng(0).integers(0, 255, (300, 400, 3)).astype(np.uint8),
])
def test_no_board_where_there_is_none(picture):
    assert BoardFinder().find(picture) is None


def test_what_a_turned_tile_shows():
    for kind in KINDS:
        for rot in range(4):
            truth = truth_of(kind, rot)
            assert "".join(LETTERS[n] for n in truth[:4]) == "".join(edge(kind, rot, side) for side in EDGES)
    towns = dict(zip(PAIRS, truth_of(catalogue()["base.F"], 1)[4:], strict=False))
    assert towns[0, 2] == 1 and towns[1, 3] == -1  # one town from north to south; no towns in the east and west
    assert truth_of(catalogue()["base.H"], 0)[4 + PAIRS.index((0, 2))] == 0  # two towns that do not meet


def test_a_turned_crop_gets_the_turned_answer():
    rng = np.random.default_rng(3)
    crops = rng.integers(0, 255, (2, CROP_PX, CROP_PX, 3)).astype(np.uint8)
    net = StructureNet()
    one, other = net.ask(crops, turns=4), net.ask(np.rot90(crops, -1, axes=(1, 2)), turns=4)
    assert np.allclose(other.sides, np.roll(one.sides, 1, axis=1), atol=1e-3)
    assert np.allclose(other.yes[:, -2:], one.yes[:, -2:], atol=1e-3)
    clockwise = np.stack([1 - one.corners[..., 1], one.corners[..., 0]], axis=-1)
    assert np.allclose(other.corners, np.roll(clockwise, 1, axis=1), atol=1e-3)
    assert np.allclose(one.loglik(KINDS), np.roll(other.loglik(KINDS), -1, axis=2), atol=2e-2)
