"""A watcher keeps the pictures that it compares, not those that they were made from."""

from __future__ import annotations

import weakref

import numpy as np

from bastide.table.demo_game import demo_game
from bastide.watching.watcher import make_watcher
from vision.find import BoardFinder
from vision.tileset import SIZE_PX, Specimen, TileSet

EMPTY_TABLE = np.full((360, 640, 3), 120, np.uint8)


def pictures(count: int = 3) -> TileSet:
    rng = np.random.default_rng(1)
    return TileSet(name="own", size_px=SIZE_PX, specimens=tuple(
        Specimen(tile="base.D", bgr=rng.integers(0, 256, (SIZE_PX, SIZE_PX, 3), np.uint8)) for _ in range(count)))


def test_a_watcher_lets_go_of_the_pictures_it_can_have_again() -> None:
    tiles = pictures()
    kept = [weakref.ref(s.bgr) for s in tiles.specimens]
    watcher = make_watcher(tiles, demo_game(5, turns=2).setup, again=pictures)
    del tiles
    assert watcher.tracker.sense._sources and not any(ref() is not None for ref in kept)


def test_pictures_are_had_again_once_when_no_tile_is_spotted() -> None:
    asked = list[int]()

    def again() -> TileSet:
        asked.append(1)
        return pictures()

    finder = BoardFinder(pictures(), again=again)
    assert not asked
    for _ in range(2):
        assert finder.find(EMPTY_TABLE) is None
    assert len(asked) == 1 and finder._sightings is not None


def test_pictures_that_are_gone_are_not_asked_for_again() -> None:
    asked = list[int]()

    def gone() -> TileSet:
        asked.append(1)
        return TileSet.empty()

    finder = BoardFinder(pictures(), again=gone)
    for _ in range(2):
        assert finder.find(EMPTY_TABLE) is None
    assert len(asked) == 1
