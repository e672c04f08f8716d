"""The start tile is found where it lies alone, in a paint that nobody has taught, turned as it lies."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pytest

from bastide.demo_game import demo_game
from scoring.engine import new_game
from scoring.tiles import product
from scoring.transcript import write
from vision.finding import BoardFinder
from vision.keypoints import Sighting
from vision.lattice import UNIT, apply
from vision.lone import blots, find_lone_tile
from vision.placements import PlacementReader
from vision.simulator import Options, Simulator
from vision.tiles import TileMatcher
from vision.tileset import drawn_tileset

KINDS = tuple(t.id for t in product("base").tiles)
MATCHER = TileMatcher(drawn_tileset(["base.D"]), 48)


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Our tiles in another paint: other greens, darker towns, drawn with softer lines."""
    folder = tmp_path_factory.mktemp("foreign")
    for s in drawn_tileset(KINDS).specimens:
        hsv = cv2.cvtColor(cv2.GaussianBlur(s.bgr, (0, 0), 1.2), cv2.COLOR_BGR2HSV).astype(np.int16)
        hsv[..., 0] = (hsv[..., 0] + 9) % 180
        hsv[..., 1] = np.clip(hsv[..., 1] * 1.25, 0, 255)
        hsv[..., 2] = np.clip(hsv[..., 2] * 0.8, 0, 255)
        cv2.imwrite(str(folder / f"{s.tile}.png"), cv2.cvtColor(hsv.astype(np.uint8), cv2.COLOR_HSV2BGR))
    return folder


@pytest.mark.parametrize("level", ["easy", "normal", "hard"])
@pytest.mark.parametrize("seed", [1, 2])
def test_the_start_tile_is_found_as_it_lies(level: str, seed: int, foreign: Path) -> None:
    game = demo_game(seed, turns=1)
    simulator = Simulator(json.loads(json.dumps(write(game))), seed,
                          Options(level=level, tiles=foreign, fps=4.0, rest=4, turns=1))
    frame = next(iter(simulator))
    tiles = drawn_tileset(KINDS)
    state = new_game(game.setup)
    lattice = BoardFinder(tiles, PlacementReader(tiles), "base.D").find(frame.bgr, state)
    assert lattice is not None
    ((at, _),) = state.tiles.items()
    corners = apply(lattice.pose(at, lattice.shifts[at]), UNIT)
    true = simulator.truth.corners_px(at)
    side = np.linalg.norm(true[1] - true[0])
    assert np.abs(corners - true).max() < 0.05 * side  # also says that it is turned the right way


def test_a_bare_table_and_other_square_things_are_no_tile() -> None:
    rng = np.random.default_rng(2)
    table = np.full((864, 1536, 3), (70, 110, 150), np.uint8)
    table = np.clip(table + rng.normal(0, 6, table.shape), 0, 255).astype(np.uint8)
    assert find_lone_tile(table, MATCHER, "base.D") is None
    cv2.rectangle(table, (400, 300), (480, 380), (40, 90, 30), -1)  # a stack, face down
    cv2.circle(table, (440, 340), 20, (90, 140, 80), 3)
    assert len(blots(table)) > 0 and find_lone_tile(table, MATCHER, "base.D") is None


@pytest.mark.parametrize("seen", ["slanted", "nothing"])
def test_a_start_tile_of_our_own_is_not_taken_for_another_edition_nor_found_slanted(seen, monkeypatch) -> None:
    game = demo_game(3, turns=1)
    simulator = Simulator(json.loads(json.dumps(write(game))), 3, Options(level="normal", fps=4.0, rest=4, turns=1))
    frame = next(iter(simulator))
    tiles, state = drawn_tileset(KINDS), new_game(game.setup)
    reader = PlacementReader(tiles)
    finder = BoardFinder(tiles, reader, "base.D")
    ((at, placed),) = state.tiles.items()
    true = simulator.truth.corners_px(at)
    upright = cv2.getAffineTransform(UNIT[:3].astype(np.float32), np.roll(true, -placed.rot, axis=0)[:3].astype(
        np.float32))
    slant = np.array([[1, 0.35, -0.175], [0, 1, 0], [0, 0, 1.0]])  # as six keypoints of a small tile may have it
    few = [Sighting(tile="base.D", pose=upright @ slant, votes=6)] if seen == "slanted" else []
    monkeypatch.setattr(finder._finder, "find", lambda bgr: few)
    monkeypatch.setattr("vision.finding.find_lone_tile", (lambda *a: None) if few else find_lone_tile)
    lattice = finder.find(frame.bgr, state)
    assert lattice is not None and not reader.foreign
    corners = apply(lattice.pose(at, lattice.shifts[at]), UNIT)
    assert np.abs(corners - true).max() < 0.05 * np.linalg.norm(true[1] - true[0])
