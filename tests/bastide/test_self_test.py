"""The self-test: a correct layout passes in any orientation, and mistakes are named."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parents[1] / "vision"))
from drawings import base_set  # noqa: E402
from read_tables import photograph, put  # noqa: E402

from bastide.camera import self_test as module
from bastide.camera.self_test import FIGURES, TILES, Layout, layout, self_test
from bastide.table.demo_game import demo_game
from bastide.table.setup import TWO
from bastide.tiles.art import box_contents
from calibration.apply import usual_lens
from scoring.engine import new_game
from scoring.events import Player, Setup
from scoring.geometry import spot_of
from scoring.rules import edition
from scoring.tiles import Square, catalogue, segment_index
from scoring.transcript import Game
from vision.read import PhotoReader

COLOURS = tuple(p.colour for p in TWO)
SETUP = Setup(players=TWO, rules=edition())


def laid(shown: Layout, instead: dict[Square, tuple[str, int]] | None = None) -> np.ndarray:
    """A photograph of the layout, with other tiles on some squares."""
    left, top = (min(at[n] for at in shown.tiles) for n in (0, 1))
    board = {(x - left, y - top): tile for (x, y), tile in {**shown.tiles, **(instead or {})}.items()}
    picture, grid = photograph(base_set(), board, seed=4, tilt=0.02, jitter=0.01, noise=2.0)
    for player, (x, y), feature, where in shown.figures:
        tile, rot = shown.tiles[x, y]
        kind = catalogue()[tile]
        index = segment_index(kind, rot, feature, where)
        assert index is not None
        u, v = spot_of(kind, index, rot)
        foot = grid @ np.array([x - left + u / 100, y - top + v / 100, 1.0])
        put(picture, (float(foot[0] / foot[2]), float(foot[1] / foot[2])), COLOURS[player])
    return picture


@pytest.fixture(scope="module")
def reader() -> PhotoReader:
    return PhotoReader(base_set(), counts=box_contents(("base",)))


@pytest.mark.parametrize("turn", [0, 1])
def test_what_lies_as_shown_is_right_however_the_table_is_turned(reader: PhotoReader, turn: int) -> None:
    shown = layout(SETUP)
    picture = np.ascontiguousarray(np.rot90(laid(shown), turn))
    told = self_test(picture, usual_lens((picture.shape[1], picture.shape[0])), reader, shown, COLOURS)
    assert told["tiles"] == {"wanted": TILES, "right": TILES, "wrong": []} and told["extra"] == 0
    assert told["figures"] == {"wanted": FIGURES, "right": FIGURES, "wrong": []}
    assert 0.5 < told["sure"] <= 1.0 and told["seconds"] > 0


def test_a_tile_that_lies_otherwise_is_named(reader: PhotoReader) -> None:
    shown = layout(SETUP)
    at = next(at for at, (tile, _) in shown.tiles.items() if tile == "base.H")
    picture = laid(shown, {at: ("base.V", 0)})
    told = self_test(picture, usual_lens((picture.shape[1], picture.shape[0])), reader, shown, COLOURS)
    assert [(tuple(w["at"]), w["tile"], w["read"]) for w in told["tiles"]["wrong"]] == [(at, "base.H", "base.V")]
    assert told["tiles"]["right"] == TILES - 1


def test_an_empty_table_is_told_as_nothing_seen(reader: PhotoReader) -> None:
    shown = layout(SETUP)
    told = self_test(np.full((360, 640, 3), 118, np.uint8), usual_lens((640, 360)), reader, shown, COLOURS)
    assert told["tiles"]["right"] == told["figures"]["right"] == 0 and told["sure"] == 0.0
    assert all(w["read"] is None for w in told["tiles"]["wrong"]) and told["advice"]


@pytest.mark.parametrize("boxes", [("base",), ("base", "river"), ("base", "inns", "traders"), ("wheel",)])
def test_every_box_has_a_layout_of_tiles_that_it_holds(boxes: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    played = []

    def noted(seed: int, **wanted: Any) -> Game:
        played.append(seed)
        return demo_game(seed, **wanted)

    monkeypatch.setattr(module, "demo_game", noted)
    one = Setup(players=(Player(name="A", colour="red"),), rules=edition(), expansions=boxes)
    module._layout.cache_clear()
    shown = layout(one)
    assert len(played) < 10  # of 79: the first with three figures is taken
    held = {t.tile for t in new_game(one).tiles.values()} | set(box_contents(boxes)) | set(box_contents(("base",)))
    assert {tile for tile, _ in shown.tiles.values()} <= held and len(shown.figures) == FIGURES
    assert {p for p, *_ in shown.figures} == {0}
