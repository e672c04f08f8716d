"""What a hand carries over the board is no figure on a tile below it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tables import TWO, Table, figure

from scoring.events import FigurePlaced

RED = figure("base.U", 1, "road", "N S", "red")


@pytest.fixture
def table() -> Table:
    """Four tiles lie in a row; the one on (1, 0) is not the newest."""
    made = Table(TWO)
    for at in ((1, 0), (2, 0), (-1, 0), (3, 0)):
        made.lays(at, "base.U", 1)
    assert not made.told(FigurePlaced)
    return made


@pytest.mark.parametrize("stays", [True, False])
@pytest.mark.parametrize("there", [2.5, 4.0])
def test_a_figure_on_an_older_tile_is_told_when_a_second_look_has_seen_it(table: Table, there: float,
                                                                          stays: bool) -> None:
    """A single look may have seen a piece on its way to another tile, which the next one does not show any more."""
    table.figures[1, 0] = (replace(RED, there=there),)
    table.sees(1)
    assert len(table.told(FigurePlaced)) == 0
    if not stays:
        table.figures.clear()
    table.sees(1, 1.5)
    table.sees(9)
    assert len(table.told(FigurePlaced)) == stays and not table.book.questions


def test_a_glimpse_that_no_other_look_checks_is_told_late(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    table.figures[1, 0] = (replace(RED, there=2.5),)
    table.sees(1)
    whole = table.look
    monkeypatch.setattr(table, "look", lambda: replace(whole(), whole=False))
    del table.tiles[1, 0]  # nobody looks at it again
    table.sees(3)
    assert len(table.told(FigurePlaced)) == 0
    table.sees(3)
    assert len(table.told(FigurePlaced)) == 1


@pytest.mark.parametrize("stays", [True, False])
@pytest.mark.parametrize("there", [2.4, 4.0])
def test_a_doubtful_figure_seen_with_its_tile_is_told_when_a_second_look_has_seen_it(table: Table, there: float,
                                                                                     stays: bool) -> None:
    """The hand that lays the tile may still be over it."""
    table.figures[4, 0] = (replace(RED, there=there),)
    table.tiles[4, 0] = "base.U", 1
    table.sees(1)
    assert len(table.told(FigurePlaced)) == (there > 3.0)
    if not stays:
        table.figures.clear()
    table.sees(1, 1.5)
    table.sees(9)
    assert not stays or len(table.told(FigurePlaced)) == 1
    assert stays or there > 3.0 or not table.told(FigurePlaced)


def test_a_clear_figure_on_the_newest_tile_is_told_at_once(table: Table) -> None:
    """Also if earlier looks have shown the tile without it: now somebody puts one there."""
    table.figures[3, 0] = (RED,)
    table.sees(1)
    assert len(table.told(FigurePlaced)) == 1


@pytest.mark.parametrize(("missed", "told"), [(0, 1), (1, 1), (4, 0)])
def test_an_unclear_figure_of_the_last_looks_is_told_at_the_end(table: Table, missed: int, told: int) -> None:
    """Nobody will look again, and one look may have missed it."""
    table.figures[4, 0] = (replace(RED, there=2.9),)
    table.tiles[4, 0] = "base.U", 1
    table.sees(1)
    table.figures.clear()
    table.sees(missed, 2.0)
    assert not table.told(FigurePlaced) and not table.book.questions
    for made in table.reader.finish(table.book.entries).decisions:
        table.book.commit(made)
    assert len(table.told(FigurePlaced)) == told


def test_print_that_comes_and_goes_withholds_no_figure_beside_it(table: Table) -> None:
    beside = replace(figure("base.U", 1, "road", "N S", "blue"), foot=(0.12, 0.15), there=2.5)
    for n in range(6):
        table.figures[1, 0] = (RED, beside) if n % 3 == 0 else (RED,)
        table.sees(1)
    assert len(table.told(FigurePlaced)) == 1
