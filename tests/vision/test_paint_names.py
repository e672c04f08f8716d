"""The colours that players may have are those that figures are read in."""

from __future__ import annotations

from bastide.inputs import COLOURS
from vision import paint


def test_every_colour_that_a_player_may_have_is_a_paint_that_is_read() -> None:
    assert set(COLOURS) == set(paint.COLOURS)
