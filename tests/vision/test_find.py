"""The board finder: a single tile, boards between distractors, loose rows, a known board."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from scoring.tiles import catalogue
from training.editions import invent
from training.invented import Painter
from training.tables import back_of_tile, score_track
from vision.board_corners import BoardCorners
from vision.find import BoardFinder
from vision.joining import Limits, joined
from vision.lattice import UNIT, Lattice, apply
from vision.spotting import Spot

_spec = importlib.util.spec_from_file_location("read_tables", Path(__file__).with_name("read_tables.py"))
tables = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(tables)
SIDE = 84.0


@pytest.fixture(scope="module")
def finder():
    return BoardFinder()


def floor(rng, degrees):
    """Floor boards with seams and grain, turned."""
    big = np.zeros((2200, 2200, 3), np.float32)
    grain = cv2.resize(rng.standard_normal((700, 12)).astype(np.float32), (2200, 2200), interpolation=cv2.INTER_CUBIC)
    big[:] = (58, 96, 142)
    for n, y in enumerate(range(0, 2200, 130)):
        big[y:y + 130] *= rng.uniform(0.8, 1.15)
        big[y:y + 3] *= 0.4
        x = int(rng.integers(2200)) if n else 0
        big[y:y + 130, x:x + 3] *= 0.4
    big *= 1 + 0.1 * grain[..., None]
    turn = cv2.getRotationMatrix2D((1100, 1100), degrees, 1.0)
    return np.clip(cv2.warpAffine(big, turn, (2200, 2200))[600:1600, 400:1800], 0, 255).astype(np.uint8)


def put(picture, image, middle, wide, high, degrees):
    turn = np.radians(degrees)
    across, down = np.array([np.cos(turn), np.sin(turn)]) * wide, np.array([-np.sin(turn), np.cos(turn)]) * high
    corners = (UNIT - 0.5) @ np.stack([across, down]) + middle
    h, w = image.shape[:2]
    to = cv2.getPerspectiveTransform((UNIT * (w, h) - 0.5).astype(np.float32), corners.astype(np.float32))
    cv2.fillConvexPoly(picture, np.round(corners + 4).astype(np.int32), (25, 30, 38), cv2.LINE_AA)
    cv2.warpPerspective(image, to, picture.shape[1::-1], dst=picture, flags=cv2.INTER_AREA,
                        borderMode=cv2.BORDER_TRANSPARENT)
    return corners


def clutter(picture, rng, edition):
    """A score track, tiles face down in piles, a cup."""
    put(picture, score_track(rng, edition), (240, 170), 420, 300, rng.uniform(-15, 15))
    back = back_of_tile(rng)
    for n in range(3):
        put(picture, back, (1180, 300 + 150 * n), SIDE, SIDE, rng.uniform(0, 90))
    for r, colour in ((80, (60, 60, 170)), (66, (20, 30, 40))):
        cv2.circle(picture, (200, 850), r, colour, -1, cv2.LINE_AA)


def scene(seed, board, degrees, fan=(0.0, 0.0)):
    """(picture, corners by square) of an invented edition's board. ``fan``: by how much (tiles, degrees) each column is
    displaced and turned further than the one before."""
    rng = np.random.default_rng(seed)
    edition = invent(rng)
    painter = Painter(edition, rng)
    pictures = {t: painter.paint(catalogue()[t]).copy() for t in sorted({tile for tile, _ in board.values()})}
    picture = floor(rng, 27)
    clutter(picture, rng, edition)
    turn = np.radians(degrees)
    u = np.array([np.cos(turn), np.sin(turn)]) * SIDE
    v = np.array([-u[1], u[0]])
    centre = np.array([max(at[n] for at in board) / 2 for n in range(2)])
    corners = {}
    for (x, y), (tile, rot) in sorted(board.items()):
        away = fan[0] * x * (x + 1) / 2
        middle = np.array([720.0, 540.0]) + (x - centre[0]) * u + (y - centre[1] + away) * v
        shown = np.ascontiguousarray(np.rot90(pictures[tile], -rot))
        corners[x, y] = put(picture, shown, middle, 0.985 * SIDE, 0.985 * SIDE, degrees + fan[1] * x)
    noisy = picture * np.array([0.85, 1.0, 1.1]) + rng.normal(0, 4, picture.shape)
    return np.clip(noisy, 0, 255).astype(np.uint8), corners, (rng, edition)


def matched(found, corners):
    """Squares of the truth that a pose lies on, and poses on nothing."""
    middles = {at: c.mean(axis=0) for at, c in corners.items()}
    hit, extra = set(), []
    for pose in found.poses.values():
        seen = apply(pose, UNIT)
        near = [at for at, m in middles.items() if np.linalg.norm(seen.mean(axis=0) - m) < 0.15 * SIDE]
        if near and 0.85 < np.linalg.norm(seen[1] - seen[0]) / SIDE < 1.15:
            hit.add(near[0])
        else:
            extra.append(seen)
    return hit, extra


@pytest.mark.parametrize("seed", [1, 3, 4])
def test_a_board_turned_on_a_wooden_floor_between_other_things(finder, seed):
    board = tables.legal_board(5, 4, seed)
    del board[0, 0], board[4, 3], board[2, 0]
    picture, corners, _ = scene(seed, board, 27)
    found = finder.find(picture)
    sure = {at: pose for at, pose in found.poses.items() if found.present[at] > 0.9}
    hit, extra = matched(replace(found, poses=sure), corners)
    assert hit == board.keys() and not extra
    assert all(p < 0.5 for p in found.refused.values()) and len(found.poses) <= len(board) + 1


@pytest.mark.parametrize("degrees", [0, 20, 45, 70])
def test_a_tile_alone(finder, degrees):
    picture, corners, _ = scene(11 + degrees, {(0, 0): ("base.D", 1)}, degrees)
    found = finder.find(picture)
    assert found is not None
    assert matched(found, corners) == ({(0, 0)}, [])


@pytest.mark.parametrize("size", [0.9, 1.12])
def test_where_few_tiles_lie_their_size_is_that_of_their_corners(finder, size):
    """The network sees about half of a deviation, and no neighbour says more."""
    off = []
    for seed in range(12, 20):
        picture, corners, _ = scene(seed, {(0, 0): ("base.D", 1)}, 9 * seed)
        own = cv2.getPerspectiveTransform(UNIT.astype(np.float32), corners[0, 0].astype(np.float32))
        around_middle = np.array([[size, 0, 0.5 - size / 2], [0, size, 0.5 - size / 2], [0, 0, 1.0]])
        assert finder.find(picture) is not None
        board = BoardCorners({(0, 0): apply(own @ around_middle, UNIT)}, Lattice(grid=np.eye(3)))
        board.fit()
        found = finder._finished(picture, board)
        off.append(np.abs(apply(np.linalg.inv(own) @ found.poses[0, 0], UNIT) - UNIT).max())
    assert np.median(off) < 0.028


def test_other_things_are_no_board(finder):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        picture = floor(rng, 27)
        clutter(picture, rng, invent(rng))
        assert finder.find(picture) is None


def test_rows_that_fan_out_are_followed(finder):
    board = tables.legal_board(8, 3, 6)
    picture, corners, _ = scene(6, board, 8, fan=(0.028, 2.0))  # 1.3 mm and 2 degrees a tile
    hit, extra = matched(finder.find(picture), corners)
    assert len(hit) >= 23 and not extra


def test_a_known_board_keeps_its_names(finder):
    board = tables.legal_board(4, 3, 7)
    picture, _, _ = scene(7, board, 10)
    found = finder.find(picture)
    named = Lattice(grid=found.lattice.grid @ np.array([[1, 0, -5], [0, 1, 9], [0, 0, 1.0]]),
                    shifts={(x + 5, y - 9): s for (x, y), s in found.lattice.shifts.items()})
    moved = cv2.warpAffine(picture, np.array([[1, 0, 7.0], [0, 1, -5.0]]), picture.shape[1::-1])
    again = finder.find(moved, near=named)
    assert set(again.poses) == {(x + 5, y - 9) for x, y in found.poses}
    for at, pose in again.poses.items():
        went = apply(pose, [[0.5, 0.5]]) - apply(named.predict(at), [[0.5, 0.5]])
        assert np.abs(went - [7, -5]).max() < 4


def test_spots_are_joined_where_they_continue_each_other():
    turn = np.array([[0.96, 0.28], [-0.28, 0.96]]) * 50
    sides = [(turn[0], turn[1]), (turn[1], -turn[0])]  # each tile names its own sides as it likes
    tiles = [Spot(middle=np.array([300.0, 300.0]) + np.array([x, y]) @ turn, u=sides[k % 2][0], v=sides[k % 2][1],
                  likely=0.9) for k, (x, y) in enumerate([(0, 0), (1, 0), (2, 0), (1, 1), (3, 1)])]
    half = Spot(middle=np.array([330.0, 330.0]), u=turn[0] / 2, v=turn[1] / 2, likely=0.8)
    first, *others = joined([*tiles, half], Limits())
    assert len(first) == 5 and [len(o) for o in others] == [1]
    assert {(x - min(a for a, _ in first), y - min(b for _, b in first)) for x, y in first} == {
        (0, 0), (1, 0), (2, 0), (1, 1), (3, 1)}
