"""Whose turn it is, when a turn was not seen: one question, and the game goes on from there."""

from __future__ import annotations

import films
import pytest
from films import COLOURS, Film, lay, stand

from scoring.engine import new_game, step
from scoring.events import FigurePlaced, TilePlaced
from scoring.tiles import catalogue
from vision.tileset import drawn_tileset


@pytest.fixture(scope="module")
def tileset():
    return drawn_tileset(tuple(t for t in catalogue() if t.startswith("base.")))


class Table(Film):
    """Commits corrections and what is put in late as well."""

    def __init__(self, tileset):
        super().__init__(tileset)
        self.events = []

    def feed(self, image, times):
        out = []
        for _ in range(times):
            for proposal in super().feed(image, 1):
                out.append(proposal)
                at = [n for n, e in enumerate(self.events) if isinstance(e, TilePlaced)
                      and e.at in (proposal.replaces, proposal.after)]
                if proposal.replaces is not None:
                    self.events[at[0]] = proposal.events[0]
                elif proposal.after is not None:
                    n = at[0] + 1
                    if isinstance(proposal.events[0], TilePlaced):
                        n += sum(isinstance(e, FigurePlaced) for e in self.events[n:n + 1])
                    self.events.insert(n, proposal.events[0])
                else:
                    self.events.append(proposal.events[0])
                self.state = new_game(self.state.setup)
                for event in self.events:
                    self.state = step(self.state, event)
        return out


def road_of(tile):
    return next(n for n, s in enumerate(catalogue()[tile].segments) if s.kind == "road")


def test_a_figure_of_somebody_else_says_whose_tile_it_is_and_the_turns_go_on_from_there(tileset):
    table, image = Table(tileset), lay(films.cloth(), "base.D", (0, 0))
    table.feed(image, 4)
    image = lay(image, "base.V", (1, 0))
    table.feed(image, 4)
    assert table.state.player == 0
    image = stand(image, "base.V", (1, 0), 0, road_of("base.V"), COLOURS[1])  # nobody saw the first player's tile
    tile, figure = table.feed(image, 8)
    assert tile.replaces == (1, 0) and tile.events[0].player == 1 and not tile.asked
    assert figure.asked and figure.events[0].player == 1
    image = lay(image, "base.U", (0, 1))
    (following,) = table.feed(image, 8)
    assert following.events[0].player == 2 and not following.asked
    assert not any(issue.code == "wrong_player" and issue.turn > 1 for issue in table.state.issues)


@pytest.mark.parametrize("claimed", [False, True])
def test_a_tile_of_a_turn_that_was_missed_has_its_place_when_it_is_found(tileset, claimed):
    table, image = Table(tileset), lay(films.cloth(), "base.D", (0, 0))
    table.feed(image, 4)
    image = lay(image, "base.V", (1, 0))
    assert len(table.feed(image, 6)) == 1
    hidden = image.copy()
    x, y = films.corner((0, 1))
    hidden[y:y + films.TILE_PX, x:x + films.TILE_PX] = (200, 190, 215)  # the second player's tile lies below a card
    assert not table.feed(hidden, 24)
    third = stand(lay(hidden, "base.E", (-1, 0)), "base.E", (-1, 0), 0, 1, COLOURS[2])
    assert any(p.asked for p in table.feed(third, 10))
    third = lay(third, "base.U", (0, 1))
    if claimed:
        third = stand(third, "base.U", (0, 1), 0, road_of("base.U"), COLOURS[1])
    found = table.feed(third, 20)
    assert found[0].asked and found[0].after == (1, 0) and found[0].events[0].player == 1
    assert [e.player for e in table.events if isinstance(e, TilePlaced)] == [0, 1, 2]
    assert [e.player for e in table.events if isinstance(e, FigurePlaced)] == ([1, 2] if claimed else [2])
    (following,) = table.feed(lay(third, "base.W", (2, 0), 1), 12)
    assert following.events[0].player == 0
