"""What a hand carries over the board is no figure on a tile below it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tables import TWO, Table, figure

from scoring.events import FigurePlaced


@pytest.mark.parametrize("stays", [True, False])
def test_a_figure_on_an_older_tile_is_told_when_a_second_look_has_seen_it(stays: bool) -> None:
    """A single look may have seen a piece on its way to another tile."""
    table = Table(TWO)
    for at in ((1, 0), (2, 0), (-1, 0), (3, 0)):
        table.lays(at, "base.U", 1)
    told = len(table.told(FigurePlaced))
    table.figures[1, 0] = (replace(figure("base.U", 1, "road", "N S", "red"), there=2.5),)
    table.sees(1)
    assert len(table.told(FigurePlaced)) == told
    if not stays:
        table.figures.clear()
    table.sees(3)
    assert len(table.told(FigurePlaced)) == told + stays
