"""The background model of the table: a square in its colours has no tile, unless tiles have its colours, too."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from scoring.tiles import Square
from vision.attention import Attention
from vision.background import CELLS, bare_evidence
from vision.senses import TileEvidence

A = Attention()
GREEN, GRASS, TOWN = (52.0, -26.0, 30.0, 0.5), (58.0, -20.0, 38.0, 6.0), (60.0, 20.0, 25.0, 9.0)
GAP: Square = (4, 1)
Levels = npt.NDArray[np.float32]


def levels(colour: tuple[float, ...], seed: int, noise: float = 0.3) -> Levels:
    """(CELLS, CELLS, 4) of a square of that colour (L, a, b) and contrast."""
    off = np.random.default_rng(seed).normal(0, noise, (CELLS, CELLS, 4))
    return np.asarray(np.array(colour) + off, np.float32)


BARE = {(n, 9): levels(GREEN, n) for n in range(12)}


def left(there: float, tiles: list[tuple[float, ...]], bare: dict[Square, Levels]) -> tuple[float, bool]:
    """The log-odds of a tile in a gap that looks like the table, and whether it counts as bare, among ``tiles`` that
    surely lie, of these colours."""
    seen = {GAP: levels(GREEN, 99), **{(n, 0): levels(colour, 50 + n) for n, colour in enumerate(tiles)}}
    evidence = {at: TileEvidence(pose=np.eye(3), there=there if at == GAP else 7.0, loglik=np.zeros((1, 4)),
                             seen=1.0)
                for at in seen}
    out = bare_evidence(evidence, seen, bare, A)
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
