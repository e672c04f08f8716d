"""Our drawn tiles: they show their shapes, differ where they should, and repeat exactly."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from scoring.tiles import catalogue, product
from vision import shapes
from vision.artwork import draw_tile, segment_masks
from vision.artwork.__main__ import main

TILES = catalogue()


def likeness(a: np.ndarray, b: np.ndarray) -> float:
    """Correlation of two pictures' grey values."""
    one, two = (cv2.cvtColor(p, cv2.COLOR_BGR2GRAY).astype(float).ravel() for p in (a, b))
    return float(np.corrcoef(one, two)[0, 1])


@pytest.mark.parametrize("size_px", [24, 128, 300])
def test_a_tile_is_a_square_bgr_picture_of_any_size(size_px: int) -> None:
    picture = draw_tile(TILES["base.D"], size_px)
    assert picture.shape == (size_px, size_px, 3) and picture.dtype == np.uint8
    assert picture.flags.c_contiguous


@pytest.mark.parametrize("tile", TILES.values(), ids=list(TILES))
def test_every_kind_can_be_drawn(tile) -> None:  # type: ignore[no-untyped-def]
    assert draw_tile(tile, 64).std() > 20


def test_equal_arguments_give_equal_pictures() -> None:
    tile = TILES["base.L"]
    assert np.array_equal(draw_tile(tile, 96, variant=1, seed=5), draw_tile(tile, 96, variant=1, seed=5))


def test_turning_turns_the_whole_picture_clockwise() -> None:
    upright = draw_tile(TILES["base.J"], 80)
    for rot in range(4):
        assert np.array_equal(draw_tile(TILES["base.J"], 80, rot=rot), np.rot90(upright, -rot))
    assert np.array_equal(draw_tile(TILES["base.J"], 80, rot=1)[0, -1], upright[0, 0])


def test_copies_of_a_kind_differ_in_details_only() -> None:
    for name in ("base.B", "base.U", "base.E"):
        first, second = draw_tile(TILES[name], 128), draw_tile(TILES[name], 128, variant=1)
        assert not np.array_equal(first, second)
        assert likeness(first, second) > 0.6


def test_a_small_picture_shows_the_same_as_a_large_one() -> None:
    for name in ("base.F", "base.W", "dragon.10"):
        large = cv2.resize(draw_tile(TILES[name], 512), (96, 96), interpolation=cv2.INTER_AREA)
        assert likeness(large, draw_tile(TILES[name], 96)) > 0.97


def test_kinds_and_turns_can_be_told_apart_by_correlation() -> None:
    """A copy with other details is nearest to its own kind and turn among all base tiles."""
    pictures = {t.id: draw_tile(t, 48) for t in product("base").tiles}
    for tile in product("base").tiles:
        copy = draw_tile(tile, 48, variant=3, seed=9)
        scores = {(name, rot): likeness(copy, np.rot90(p, -rot)) for name, p in pictures.items() for rot in range(4)}
        assert max(scores, key=lambda k: scores[k]) == (tile.id, 0)


def test_masks_part_the_tile_as_the_geometry_does() -> None:
    for name in ("base.D", "base.X", "river.06", "traders.07"):
        tile = TILES[name]
        masks = segment_masks(tile, 200)
        assert len(masks) == len(tile.segments)
        total = np.sum(masks, axis=0)
        assert total.max() == 1 and (total == 0).mean() < 0.01
        for n, (x, y) in enumerate(s.spot for s in tile.segments):
            assert masks[n][int(y * 2), int(x * 2)]
        grid = shapes.labels(tile)
        assert np.mean([(masks[n] == (grid == n)).mean() for n in range(len(masks))]) > 0.99


def test_roads_are_pale_and_fields_green() -> None:
    tile = TILES["base.U"]
    picture, masks = draw_tile(tile, 200), segment_masks(tile, 200)
    for segment, mask in zip(tile.segments, masks, strict=True):
        blue, green, red = picture[mask].mean(axis=0)
        if segment.kind == "road":
            assert min(blue, green, red) > 140
        else:
            assert green > red + 15 and green > blue + 30


def test_the_sheet_command_writes_a_picture(tmp_path: Path) -> None:
    out = tmp_path / "river.png"
    assert main(["--sheet", "river", "--size", "40", str(out)]) == 0
    assert cv2.imread(str(out)).shape[1] > 240


def test_the_sheet_command_says_why_it_cannot_write(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--sheet", "river", "--size", "40", str(tmp_path / "no" / "river.png")]) == 1
    assert "cannot write" in capsys.readouterr().err
    with pytest.raises(SystemExit) as stop:
        main(["--sheet", "moon", "x.png"])
    assert stop.value.code == 2
