"""The background model of the table: a square in its colours has no tile, unless tiles have its colours, too."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from scoring.tiles import Square
from vision.astray import ASTRAY
from vision.attention import Attention
from vision.background import CELLS, BareTable, Levels, bare_evidence
from vision.senses import TileEvidence

A = Attention()
GREEN, GRASS, TOWN = (52.0, -26.0, 30.0, 0.5), (58.0, -20.0, 38.0, 6.0), (60.0, 20.0, 25.0, 9.0)
MEADOW, BLURRED = (*GREEN[:3], 5.0), (*GREEN[:3], 0.7)  # print in the very colours of the table
SHADOW = (37.0, -20.3, 23.4, 0.4)  # two fifths of the light on the table
GAP: Square = (4, 1)


def levels(colour: tuple[float, ...], seed: int, noise: float = 0.3) -> Levels:
    """(CELLS, CELLS, 4) of a square of that colour (L, a, b) and contrast."""
    off = np.random.default_rng(seed).normal(0, noise, (CELLS, CELLS, 4))
    return np.asarray(np.array(colour) + off, np.float32)


BARE = {(n, 9): levels(GREEN, n) for n in range(12)}


def left(there: float, tiles: list[tuple[float, ...]], bare: dict[Square, Levels],
         known: tuple[tuple[float, ...], ...] = (), gap: tuple[float, ...] = GREEN) -> tuple[float, bool]:
    """The log-odds of a tile in a gap that looks like the table, and whether it counts as bare, among ``tiles`` that
    surely lie, of these colours, while the tiles of other looks are ``known``."""
    table = BareTable(squares=bare)
    before = {(n, 3): levels(colour, 70 + n) for n, colour in enumerate(known)}
    table.keep({*bare, *before}, before, A)
    seen = {GAP: levels(gap, 99, 0.1), **{(n, 0): levels(colour, 50 + n) for n, colour in enumerate(tiles)}}
    evidence = {at: TileEvidence(pose=np.eye(3), there=there if at == GAP else 7.0, loglik=np.zeros((1, 4)),
                             seen=1.0)
                for at in seen}
    out = bare_evidence(evidence, seen, table, A)
    return evidence[GAP].there, GAP in out


def test_a_gap_in_the_tables_colours_is_bare() -> None:
    assert left(2.0, [TOWN] * 6, BARE) == (2.0 + A.table_odds, True)


def test_what_surely_is_a_tile_is_one_in_the_tables_colours_too() -> None:
    assert left(5.0, [TOWN] * 40, BARE) == (5.0, False)
    assert left(3.6, [TOWN], BARE) == (3.6, False)  # the only grass that lies: the table may look like the tiles


def test_on_a_table_that_looks_like_the_tiles_colours_say_nothing() -> None:
    assert left(2.0, [GREEN, *[TOWN] * 5], BARE) == (2.0, False)
    assert left(2.0, [GRASS] * 6, BARE)[1]  # textured print of nearly its colour does not look like it


def test_what_looks_as_it_did_when_it_was_bare_is_bare() -> None:
    assert left(5.0, [GREEN] * 6, {GAP: levels(GREEN, 3)}) == (5.0 + A.bare_odds, True)
    assert not left(5.0, [GREEN] * 6, {GAP: levels(TOWN, 3)})[1]


@pytest.mark.parametrize("gap", [GREEN, SHADOW])
@pytest.mark.parametrize("there", [1.0, 4.2, 5.5])
def test_what_has_the_tables_colours_but_not_the_texture_of_print_is_bare(there: float, gap: tuple[float, ...]) -> None:
    cup = {(20, 9): levels(TOWN, 20)}  # a square counts as bare that has little of the table's colour
    odds, bare = left(there, [], BARE | cup, (MEADOW, TOWN, MEADOW, MEADOW), gap)
    assert odds < A.there and bare


def test_the_texture_tells_where_something_else_reaches_over_the_edge_of_a_square() -> None:
    def reaching(columns: int) -> float:
        gap = levels(GREEN, 7)
        gap[:, CELLS - columns:] = levels(TOWN, 7)[:, CELLS - columns:]
        table, tiles = BareTable(squares=BARE), {(n, 0): levels(MEADOW, n) for n in range(4)}
        table.keep({*BARE, *tiles}, tiles, A)
        return table.texture_odds(GAP, gap, A)

    assert reaching(3) < -A.lies  # three quarters of the inner cells are the table's


@pytest.mark.parametrize("rows", [1, 2])
def test_the_texture_tells_nothing_if_too_few_inner_cells_have_the_tables_colours(rows: int) -> None:
    gap = levels(GREEN, 7)
    gap[2:2 + rows, 2:6] = levels(TOWN, 7)[2:2 + rows, 2:6]
    table, tiles = BareTable(squares=BARE), {(n, 0): levels(MEADOW, n) for n in range(4)}
    table.keep({*BARE, *tiles}, tiles, A)
    assert (table.texture_odds(GAP, gap, A) < 0.0) == (rows == 1)


def test_print_in_the_tables_colours_is_a_tile() -> None:
    assert left(4.2, [], BARE, (MEADOW,) * 4, MEADOW) == (4.2, False)


@pytest.mark.parametrize("known", [(MEADOW,) * 2, (TOWN,) * 6])
def test_texture_tells_nothing_while_that_of_print_in_the_tables_colours_is_unknown(
        known: tuple[tuple[float, ...], ...]) -> None:
    assert left(5.0, [TOWN], BARE, known) == (5.0, False)


def test_texture_tells_little_in_a_picture_in_which_print_has_none() -> None:
    odds, bare = left(5.0, [TOWN], BARE, (BLURRED,) * 6)
    assert odds > A.plainly and not bare


def test_what_was_told_of_a_square_is_not_the_print_that_it_is_compared_with() -> None:
    table, tiles = BareTable(squares=BARE), {GAP: levels(GREEN, 1), **{(n, 0): levels(MEADOW, n) for n in range(2)}}
    table.keep({*BARE, *tiles}, tiles, A)
    assert table.texture_odds(GAP, levels(GREEN, 9), A) == 0.0  # only two others
    table.keep({*BARE, *tiles, (5, 5)}, {(5, 5): levels(MEADOW, 4)}, A)
    assert table.texture_odds(GAP, levels(GREEN, 9), A) < -A.lies


def test_a_place_near_a_tile_that_lay_is_bare_by_its_texture_alone() -> None:
    table, tiles = BareTable(squares=BARE), {(n, 0): levels(MEADOW, n) for n in range(4)}
    bare = partial(table.is_bare, GAP, a=A, was=True, share=ASTRAY.bare)
    assert not bare(levels(GREEN, 8))  # no print is known
    table.keep({*BARE, *tiles}, tiles, A)
    assert bare(levels(GREEN, 8)) and not bare(levels(MEADOW, 8))
