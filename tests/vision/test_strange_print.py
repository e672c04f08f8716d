"""Figures on artwork of which only our own drawings are known."""

from __future__ import annotations

import films
import pytest
from films import Film, lay, stand

from scoring.tiles import catalogue
from vision.placements import PlacementReader
from vision.tileset import drawn_tileset


@pytest.mark.parametrize(("colour", "asked"), [("black", True), ("red", False)])
def test_what_is_dark_on_print_that_nobody_has_seen_is_asked_about(monkeypatch, colour, asked):
    """It may be a hut, a wood or a garden; no print has the other paints."""
    monkeypatch.setattr(films, "COLOURS", (colour, "blue", "yellow"))
    monkeypatch.setattr(PlacementReader, "guesses", lambda self, tile: True)
    film = Film(drawn_tileset(tuple(t for t in catalogue() if t.startswith("base."))))
    image = lay(films.cloth(), "base.D", (0, 0))
    film.feed(image, 4)
    road = next(n for n, s in enumerate(catalogue()["base.U"].segments) if s.kind == "road")
    laid = stand(lay(image, "base.U", (0, 1)), "base.U", (0, 1), 0, road, colour)
    figure = next(p for p in film.feed(laid, 6) if p.events[0].DO == "deploy")
    assert figure.confidence > 0.97 and figure.asked == asked
