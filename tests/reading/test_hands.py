"""What a hand carries over the board is no figure on a tile below it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tables import TWO, Table, figure

from scoring.events import FigurePlaced


@pytest.mark.parametrize("stays", [True, False])
def test_a_figure_on_an_older_tile_is_told_when_a_second_look_has_seen_it(stays: bool) -> None:
    """A single look may have seen a piece on its way to another tile, which the next one does not show any more."""
    table = Table(TWO)
    for at in ((1, 0), (2, 0), (-1, 0), (3, 0)):
        table.lays(at, "base.U", 1)
    told = len(table.told(FigurePlaced))
    table.figures[1, 0] = (replace(figure("base.U", 1, "road", "N S", "red"), there=2.5),)
    table.sees(1)
    assert len(table.told(FigurePlaced)) == told
    if not stays:
        table.figures.clear()
    table.sees(1, 1.5)
    table.sees(9)
    assert len(table.told(FigurePlaced)) == told + stays and not table.book.questions


def test_a_glimpse_that_no_other_look_checks_is_told_late(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table(TWO)
    for at in ((1, 0), (2, 0), (-1, 0), (3, 0)):
        table.lays(at, "base.U", 1)
    told = len(table.told(FigurePlaced))
    table.figures[1, 0] = (replace(figure("base.U", 1, "road", "N S", "red"), there=2.5),)
    table.sees(1)
    whole = table.look
    monkeypatch.setattr(table, "look", lambda: replace(whole(), whole=False))
    del table.tiles[1, 0]  # nobody looks at it again
    table.sees(3)
    assert len(table.told(FigurePlaced)) == told
    table.sees(3)
    assert len(table.told(FigurePlaced)) == told + 1


def test_print_that_comes_and_goes_withholds_no_figure_beside_it() -> None:
    table = Table(TWO)
    for at in ((1, 0), (2, 0), (-1, 0), (3, 0)):
        table.lays(at, "base.U", 1)
    told = len(table.told(FigurePlaced))
    real = figure("base.U", 1, "road", "N S", "red")
    beside = replace(figure("base.U", 1, "road", "N S", "blue"), foot=(0.12, 0.15), there=2.5)
    for n in range(6):
        table.figures[1, 0] = (real, beside) if n % 3 == 0 else (real,)
        table.sees(1)
    assert len(table.told(FigurePlaced)) == told + 1
