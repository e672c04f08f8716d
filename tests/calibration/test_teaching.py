"""Teaching: photographs of the sheet become a tile folder that reads the same tiles; a tile laid wrong is noticed."""

from __future__ import annotations

import numpy as np
import pytest
from drawings import base_pictures, base_set
from sheets import photograph, teaching_sheet

from calibration.targets import teaching_pages
from calibration.teaching import find_pages, tiles_on
from vision.tiles import TileMatcher

BASE = teaching_pages()[:2]


@pytest.mark.parametrize("page", BASE, ids=["page 1", "page 2"])
@pytest.mark.parametrize("size", [(2304, 1296), (1280, 720)], ids=["2304", "1280"])
def test_every_tile_on_a_page_is_seen_where_it_lies(page: object, size: tuple[int, int]) -> None:
    rng = np.random.default_rng(3)
    lying = {c.tile: base_pictures()[c.tile] for c in page.cells[1:]}  # type: ignore[attr-defined]
    photo = photograph(teaching_sheet(page, lying, rng), rng, size=size)  # type: ignore[arg-type]
    (seen,) = find_pages(photo)
    assert seen.page == page
    found = {t.tile: t.bgr for t in tiles_on(photo, seen)}
    assert found.keys() == lying.keys()  # the empty cell stays empty
    matcher = TileMatcher(base_set(), 48)
    for tile, bgr in found.items():
        scores = matcher.score(bgr[None])[0]
        assert scores.argmax() == 4 * matcher.ids.index(tile) and scores.max() > 0.8, tile


def test_a_sheet_turned_upside_down_is_read_as_printed() -> None:
    rng = np.random.default_rng(5)
    photo = photograph(teaching_sheet(BASE[0], base_pictures(), rng), rng)
    upside_down = np.ascontiguousarray(np.rot90(photo, 2))
    (seen,) = find_pages(upside_down)
    matcher = TileMatcher(base_set(), 48)
    for tile in tiles_on(upside_down, seen):
        assert matcher.score(tile.bgr[None])[0].argmax() == 4 * matcher.ids.index(tile.tile)


def test_no_sheet_no_pages() -> None:
    assert find_pages(np.full((720, 1280, 3), 90, np.uint8)) == ()
