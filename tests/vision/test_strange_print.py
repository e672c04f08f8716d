"""Print that nobody has seen: figures on it, and tables that look a little like it."""

from __future__ import annotations

from dataclasses import replace

import cv2
import films
import numpy as np
import pytest
from films import Film, lay, stand

from bastide.demo_game import demo_game
from scoring.engine import new_game
from scoring.tiles import catalogue
from vision.placements import FLOOR, PlacementReader
from vision.tileset import drawn_tileset


@pytest.mark.parametrize(("colour", "strange", "asked"), [
    ("black", "nobody taught it", True), ("black", "another copy was taught", True),
    ("red", "nobody taught it", False)])
def test_what_is_dark_on_print_that_nobody_has_seen_is_asked_about(monkeypatch, colour, strange, asked):
    """It may be a hut, a wood or a garden; no print has the other paints."""
    monkeypatch.setattr(films, "COLOURS", (colour, "blue", "yellow"))
    if strange == "nobody taught it":
        monkeypatch.setattr(PlacementReader, "guesses", lambda self, tile: True)
    elif strange == "another copy was taught":
        read = PlacementReader.read
        monkeypatch.setattr(PlacementReader, "read", lambda *args: (p := read(*args)) and replace(p, score=0.6))
    film = Film(drawn_tileset(tuple(t for t in catalogue() if t.startswith("base."))))
    image = lay(films.cloth(), "base.D", (0, 0))
    film.feed(image, 4)
    road = next(n for n, s in enumerate(catalogue()["base.U"].segments) if s.kind == "road")
    laid = stand(lay(image, "base.U", (0, 1)), "base.U", (0, 1), 0, road, colour)
    figure = next(p for p in film.feed(laid, 6) if p.events[0].DO == "deploy")
    assert figure.confidence > 0.97 and figure.asked == asked


@pytest.mark.parametrize("seed", [0, 5])
def test_a_grained_table_with_a_pale_line_is_no_road(seed):
    """As like a straight road as worn print can be, and nothing of a tile's structure."""
    rng = np.random.default_rng(seed)
    grain = cv2.GaussianBlur(rng.normal(0, 60, (1, 480)).astype(np.float32), (0, 0), 3).repeat(480, 0)
    grain += cv2.GaussianBlur(rng.normal(0, 30, (480, 480)).astype(np.float32), (0, 0), 2)
    grain += 70 * np.exp(-0.5 * ((np.arange(480) - 240) / 5) ** 2)[None, :]
    table = np.clip(grain[..., None] + (95, 115, 125), 0, 255).astype(np.uint8)
    reader = PlacementReader(drawn_tileset(tuple(t for t in catalogue() if t.startswith("base."))))
    pose = np.array([[64, 0, 208.0], [0, 64, 208], [0, 0, 1]])
    state = new_game(demo_game(1, turns=1).setup)
    found = reader.read(table, pose, (0, 1), state)
    assert reader.like[0] == "base.U" and reader.like[2] > FLOOR and found is None
