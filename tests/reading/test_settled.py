"""What people have settled about one tile or figure counts for others of its kind."""

from __future__ import annotations

from dataclasses import replace

import pytest
from test_deciding import Game, U, knight
from test_pieces import INNS, track

from reading.belief import TableBelief
from reading.limits import LIMITS
from reading.logged_game import logged_game
from reading.pieces import kinds
from reading.settled import Settled, misprints
from reading.tile_track import Looks
from scoring.events import FigurePlaced, TilePlaced
from scoring.log import Amended, LogEntry

FIRST, SECOND = (0, -1), (1, -1)  # two cities of three sides
AS_Q = {FIRST: {("base.Q", 1): 0.0, ("base.R", 1): -4.0}, SECOND: {("base.Q", 2): 0.0, ("base.R", 2): -4.0}}
ONE = {FIRST: ("base.R", 1)}
TWO_OF_THEM = {**ONE, SECOND: ("base.R", 2)}


@pytest.fixture
def game() -> Game:
    made = Game()
    made.sees({})
    return made


def laid(game: Game) -> list[str]:
    return [e.tile for e in game.events if isinstance(e, TilePlaced)]


@pytest.mark.parametrize("misread", [True, False])
def test_a_tile_that_looks_like_a_corrected_one_is_asked_about(game: Game, misread: bool) -> None:
    """The set's three-sided city without a pennant looks as if it had one; or the first one was read right."""
    doubts = AS_Q if misread else {SECOND: AS_Q[SECOND]}
    game.sees(ONE, doubts=doubts, times=6)
    assert laid(game) == ["base.Q" if misread else "base.R"]
    (tile,) = game.events
    assert isinstance(tile, TilePlaced)
    game.book.say(Amended(seq=1, body=replace(tile, tile="base.R")))
    game.sees(TWO_OF_THEM, doubts=doubts)
    game.sees({**TWO_OF_THEM, (-1, 0): U}, doubts=doubts)
    game.sees({**TWO_OF_THEM, (-1, 0): U, (-2, 0): U}, doubts=doubts, times=6)
    asked = [e.at for e in game.asked() if isinstance(e, TilePlaced)]
    assert asked == ([SECOND] if misread else [])
    if not misread:
        assert laid(game)[1] == "base.Q"


def test_a_second_correction_is_believed(game: Game) -> None:
    looks = Looks(alike=0.5, weight=3.0, sums={("base.Q", 1): 0.0, ("base.R", 1): -6.0}, rest=-30.0, there=9.0)
    once, twice = misprints([(("base.R", 1), looks)]), misprints([(("base.R", 1), looks)] * 2)
    assert [(m.tile, m.like, m.turns) for m in twice] == [("base.R", "base.Q", 0)]
    assert 0.2 < once[0].probability < twice[0].probability <= LIMITS.all_printed


def test_a_kind_that_was_read_right_is_no_misprint() -> None:
    wrong = Looks(alike=0.5, weight=3.0, sums={("base.Q", 1): 0.0, ("base.R", 1): -6.0}, rest=-30.0, there=9.0)
    right = replace(wrong, sums={("base.Q", 2): -20.0, ("base.R", 2): 0.0})
    assert misprints([(("base.R", 2), right)]) == ()
    assert misprints([(("base.R", 1), wrong), (("base.R", 2), right)]) == ()


def test_a_settled_piece_shows_how_long_its_wood_is() -> None:
    """Where the large ones are hardly larger, one that is known to be large makes a second one plain."""
    others = [track(n, 0.36) for n in range(4)]
    large, second = track(8, 0.42), track(9, 0.42)
    before = kinds([*others, large, second], INNS)[9].kinds
    after = kinds([*others, replace(large, piece="large"), second], INNS)[9].kinds
    assert after["large"] - after["follower"] > before["large"] - before["follower"] + 0.3


def test_the_track_of_a_settled_figure_is_the_one_of_its_square_and_paint() -> None:
    red, blue = track(1, 0.36), replace(track(2, 0.36), foot=(1.2, 0.2), colours={"blue": 0.0})
    belief = TableBelief(figures={1: red, 2: blue})
    log = logged_game([
        LogEntry(seq=1, body=TilePlaced(player=0, tile="base.U", at=(1, 0), rot=0), at_s=0.0, source="camera"),
        LogEntry(seq=2, body=FigurePlaced(player=0, figure="large", at=(1, 0), feature="road", where="E W"),
                 at_s=0.0, source="hand")])
    told = Settled().applied(belief, log, {"red": 0, "blue": 1})
    assert {i: f.piece for i, f in told.figures.items()} == {1: "large", 2: ""}


def test_without_answers_nothing_is_applied(game: Game) -> None:
    game.sees(TWO_OF_THEM, {FIRST: (knight("red"),)}, times=4)
    belief = game.reader.belief
    assert Settled().applied(belief, logged_game(game.book.entries), {"red": 0, "blue": 1}) is belief
