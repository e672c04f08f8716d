"""A dial on the start board: where its piece stopped is told before the tile that made it move."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from tables import Table, figure

from scoring.engine import fold, new_game
from scoring.events import FigurePlaced, Player, Setup, TilePlaced
from scoring.expansions.wheel import SEGMENTS, CrownTaken, PlagueTook, WheelTurned, wheel
from scoring.log import Amended, Retracted, effective, open_questions
from scoring.rules import edition
from scoring.state import GameState
from scoring.tiles import Square
from vision.looks import NeutralLook, SquareLook, TableLook

SETUP = Setup(expansions=("wheel",), rules=edition(),
              players=(Player(name="Anna", colour="red"), Player(name="Ben", colour="blue")))
BOARD = {at: (p.tile, p.rot) for at, p in new_game(SETUP).tiles.items()}
NORTH, WEST, EAST = (2, -1), (-1, 3), (4, 2)  # a tile with a road each, beside the board's roads
PLAIN = ("wheel.32", 3)
SIGNED = ("wheel.33", 0)


def point(section: str, far: float = 0.6) -> tuple[Square, tuple[float, float]]:
    """A square and a point of it in the middle of a section, so many tiles from the board's middle."""
    deg = 90 + 60 * SEGMENTS.index(section) + 2  # first to the east, clockwise
    x, y = 2 + far * math.sin(math.radians(deg)), 2 - far * math.cos(math.radians(deg))
    at = math.floor(x), math.floor(y)
    return at, (x - at[0], y - at[1])


class DialTable(Table):
    """A table with a start board; ``piece`` is the section on which its piece stands."""

    def __init__(self, setup: Setup = SETUP) -> None:
        super().__init__(setup, BOARD)
        self.setup = setup
        self.piece: str | None = "fortune"
        self.hidden: Square | None = None
        self.bare: Square | None = None
        self.sees()

    def look(self) -> TableLook:
        seen = super().look()
        squares = dict(seen.squares)
        if self.piece is not None:
            at, foot = point(self.piece)
            squares[at] = replace(squares[at], neutral={"pig": NeutralLook(there=4.0, foot=foot)})
        if self.bare is not None and self.bare not in self.tiles:
            squares[self.bare] = SquareLook(there=-5.0, seen=1.0, figures=())
        if self.hidden is not None:
            squares[self.hidden] = replace(squares[self.hidden], seen=0.1)
        return replace(seen, squares=squares)

    def turns_to(self, section: str | None) -> None:
        self.piece = section
        self.sees()

    def puts(self, section: str, colour: str, **looks: Any) -> None:
        at, foot = point(section, 1.1)
        made = figure("base.U", 0, "road", "E W", colour)
        self.figures[at] = (replace(made, foot=foot, **looks),)
        self.sees()

    @property
    def state(self) -> GameState:
        return fold(self.setup, self.events)


@pytest.fixture
def table() -> DialTable:
    return DialTable()


def test_how_far_it_went_is_told_before_the_tile(table: DialTable) -> None:
    table.lays(NORTH, *PLAIN)
    table.turns_to("storm")
    table.lays(WEST, *SIGNED)
    assert [type(e) for e in table.events] == [TilePlaced, WheelTurned, TilePlaced]
    assert table.events[1] == WheelTurned(player=1, steps=3)
    assert wheel(table.state).pig == "storm" and not table.state.issues
    assert not open_questions(table.book.entries)


def test_before_the_first_tile_too(table: DialTable) -> None:
    table.turns_to("tax")
    table.lays(WEST, *SIGNED)
    assert table.events[0] == WheelTurned(player=0, steps=1)
    assert not table.state.issues


def test_a_move_for_the_next_tile_waits_for_it(table: DialTable) -> None:
    table.lays(NORTH, *PLAIN)
    table.turns_to("tax")
    assert [type(e) for e in table.events] == [TilePlaced]


def test_two_turns_in_a_row(table: DialTable) -> None:
    table.turns_to("famine")
    table.lays(WEST, *SIGNED)
    table.turns_to("inquisition")
    table.lays(EAST, "wheel.31", 0)
    assert [e for e in table.events if isinstance(e, WheelTurned)] == [
        WheelTurned(player=0, steps=2), WheelTurned(player=1, steps=2)]
    assert not table.state.issues


def test_a_tile_that_looks_alike_has_the_sign_if_it_moved(table: DialTable) -> None:
    table.lays(NORTH, *PLAIN)
    table.turns_to("tax")
    table.tiles[EAST] = ("wheel.28", 0)  # of its shape there are seven with the sign and one without
    table.sees(6)
    assert WheelTurned(player=1, steps=1) in table.events


def test_where_nobody_saw_it_stop_people_are_asked(table: DialTable) -> None:
    table.turns_to(None)
    table.lays(WEST, *SIGNED)
    table.sees(12, 10.0)
    (asked,) = open_questions(table.book.entries)
    assert isinstance(dict(effective(table.book.entries))[asked], WheelTurned)


def test_a_stop_that_came_to_sight_with_the_tile_before_is_the_move_of_the_next_one(table: DialTable) -> None:
    """An arm lay over two squares and the disc while both tiles were laid."""
    table.tiles |= {NORTH: PLAIN, WEST: SIGNED}
    table.figures[NORTH] = (figure("wheel.32", 3, "road", "N", "red"),)
    table.figures[WEST] = (figure("wheel.33", 0, "road", "W", "blue"),)
    table.turns_to("tax")
    assert [e for e in table.events if isinstance(e, TilePlaced | WheelTurned)] == [
        TilePlaced(player=0, tile="wheel.32", at=NORTH, rot=3), WheelTurned(player=1, steps=1),
        TilePlaced(player=1, tile="wheel.33", at=WEST, rot=0)]
    assert not open_questions(table.book.entries)


def lays_two_signed(table: DialTable, section: str) -> None:
    """An arm lay over both squares and the disc: the tiles and the piece's stop come to sight in one look."""
    table.tiles |= {WEST: SIGNED, EAST: ("wheel.31", 0)}
    table.figures |= {WEST: (figure("wheel.33", 0, "road", "W", "red"),),
                      EAST: (figure("wheel.31", 0, "road", "E W", "blue"),)}
    table.turns_to(section)
    table.sees()


def test_of_two_moves_that_nobody_saw_only_one_pair_may_fit(table: DialTable) -> None:
    lays_two_signed(table, "famine")
    assert table.told(WheelTurned) == [WheelTurned(player=0, steps=1), WheelTurned(player=1, steps=1)]
    assert not table.state.issues and not table.book.questions


@pytest.mark.parametrize(("gone", "first"), [(True, 1), (False, 2)])
def test_who_went_home_says_where_the_piece_stopped_in_between(table: DialTable, gone: bool, first: int) -> None:
    table.lays(NORTH, *PLAIN)
    table.puts("tax", "red")
    table.lays((1, -1), "wheel.32", 0)  # Ben's: the next two tiles are Anna's and his
    if gone:
        table.figures[point("tax", 1.1)[0]] = ()
    lays_two_signed(table, "storm")
    assert [e.steps for e in table.told(WheelTurned) if isinstance(e, WheelTurned)] == [first, 3 - first]
    assert not table.book.questions


def test_where_it_stopped_in_between_is_asked_if_nothing_tells(table: DialTable) -> None:
    lays_two_signed(table, "storm")
    (seq,) = open_questions(table.book.entries)
    assert table.told(WheelTurned) in ([WheelTurned(player=0, steps=1)], [WheelTurned(player=0, steps=2)])
    table.book.say(Amended(seq=seq, body=WheelTurned(player=0, steps=2)))
    table.sees()
    assert table.told(WheelTurned) == [WheelTurned(player=0, steps=2), WheelTurned(player=1, steps=1)]
    assert table.book.questions == 1 and wheel(table.state).pig == "storm"


def test_what_people_took_back_is_not_told_again(table: DialTable) -> None:
    table.turns_to("tax")
    table.lays(WEST, *SIGNED)
    seq = next(seq for seq, e in effective(table.book.entries) if isinstance(e, WheelTurned))
    table.book.say(Retracted(seq=seq))
    table.sees(6)
    assert not any(isinstance(e, WheelTurned) for e in table.events)


def test_a_figure_on_a_section_is_its_players_of_the_last_tile(table: DialTable) -> None:
    table.lays(NORTH, *PLAIN)
    table.puts("famine", "red")
    assert table.events[1:] == [CrownTaken(player=0, figure="follower", segment="famine")]


def test_print_that_looked_like_a_figure_for_a_while_did_not_come_then(table: DialTable) -> None:
    """Before any tile lies; once the print is known it is seen no more, and somebody comes there much later."""
    table.puts("famine", "blue", there=1.0)
    at, _ = point("famine", 1.1)
    table.figures[at] = ()
    table.lays(NORTH, *PLAIN)
    table.sees(4)
    table.lays(WEST, "wheel.32", 0)
    table.puts("famine", "blue")
    table.sees()
    assert [type(e) for e in table.events] == [TilePlaced, TilePlaced, CrownTaken]
    assert table.told(CrownTaken) == [CrownTaken(player=1, figure="follower", segment="famine")]
    assert table.book.questions == 0


def test_a_figure_that_slips_to_the_next_square_of_its_section_is_one_figure(table: DialTable) -> None:
    """The squares of a section are not looked at together: one may still be known with the figure, another has it."""
    table.lays(NORTH, *PLAIN)
    made = figure("base.U", 0, "road", "E W", "red")
    table.figures[0, 2] = (replace(made, foot=(0.98, 0.05)),)  # the section reaches over four squares
    table.sees()
    table.lays(WEST, "wheel.32", 0)
    table.lays(EAST, "wheel.32", 0)
    only, table.figures[0, 2], table.figures[1, 2] = (1, 2), (), (replace(made, foot=(0.02, 0.05)),)
    for _ in range(3):
        table.t_s += 5.0
        seen = table.look()
        told = table.reader.look(replace(seen, squares={only: seen.squares[only]}, whole=False), table.book.entries)
        for decision in told.decisions:
            table.book.commit(decision)
    table.sees()
    assert table.told(CrownTaken) == [CrownTaken(player=0, figure="follower", segment="storm")]


def test_a_figure_that_came_after_the_next_tile_is_of_a_turn_whose_tile_was_hidden(table: DialTable) -> None:
    """An arm lies over the tile that its player has just laid, on the other side of the board."""
    table.lays(NORTH, *PLAIN)
    table.lays(WEST, "wheel.32", 0)
    table.tiles[EAST], table.hidden = ("wheel.32", 0), EAST
    table.puts("famine", "red")
    table.hidden = None
    table.sees()
    at = next(n for n, e in enumerate(table.events) if isinstance(e, CrownTaken))
    assert table.events[at - 1:] == [TilePlaced(player=0, tile="wheel.32", at=EAST, rot=0),
                                     CrownTaken(player=0, figure="follower", segment="famine")]


def test_two_stops_before_one_tile_are_two_moves(table: DialTable) -> None:
    """A tile with a sign was put away: nobody sees that, but the piece stood still between the two."""
    table.turns_to("tax")
    table.turns_to("famine")
    table.lays(WEST, *SIGNED)
    table.sees()
    assert table.told(WheelTurned) == [WheelTurned(player=0, steps=1), WheelTurned(player=0, steps=1)]


def test_who_puts_a_figure_back_where_one_has_just_gone_home_is_seen_to(table: DialTable) -> None:
    """The piece stops there, and its player takes the same place again: few looks show it empty."""
    table.lays(NORTH, *PLAIN)
    table.puts("famine", "red")
    table.lays(WEST, "wheel.32", 0)
    table.figures[point("famine", 1.1)[0]] = ()
    table.piece = "famine"
    table.sees(1)
    table.tiles[EAST] = SIGNED
    table.puts("famine", "red")
    table.sees()
    assert table.told(CrownTaken) == 2 * [CrownTaken(player=0, figure="follower", segment="famine")]
    assert table.state.scores[0] == 3


def test_a_figure_that_came_one_tile_late_is_told_after_a_while(table: DialTable) -> None:
    table.lays(NORTH, *PLAIN)
    table.lays(WEST, "wheel.32", 0)
    table.puts("famine", "red")
    assert not table.told(CrownTaken)
    table.sees(4)
    assert [type(e) for e in table.events] == [TilePlaced, CrownTaken, TilePlaced]


def test_a_figure_that_one_look_misses_is_of_the_turn_in_which_it_came(table: DialTable) -> None:
    """It came one tile late, and a hand hides it just before its player's next tile."""
    table.lays(NORTH, *PLAIN)
    table.lays(WEST, "wheel.32", 0)
    table.puts("famine", "red")
    assert not table.told(CrownTaken)
    at = point("famine", 1.1)[0]
    stands, table.figures[at] = table.figures[at], ()
    table.sees(1, 0.5)
    table.figures[at] = stands
    table.lays(EAST, "wheel.32", 0)
    table.sees(4)
    assert [type(e) for e in table.events] == [TilePlaced, CrownTaken, TilePlaced, TilePlaced]


def test_a_figure_that_was_overlooked_and_whose_players_newest_turn_has_one_is_asked_about(table: DialTable) -> None:
    """The piece stood beside it, and looks took both for print. No turn has two figures."""
    table.lays(NORTH, *PLAIN)
    table.lays(WEST, "wheel.32", 0)
    table.lays(EAST, "wheel.32", 0)
    table.puts("famine", "red")
    table.puts("inquisition", "red")
    table.sees(8)
    (seq,) = open_questions(table.book.entries)
    told = dict(effective(table.book.entries))
    assert told[seq] in table.events[1:2] and table.told(CrownTaken)[1:] == [
        CrownTaken(player=0, figure="follower", segment="famine")]
    assert told[seq] == CrownTaken(player=0, figure="follower", segment="inquisition")
    table.book.say(Retracted(seq=seq))
    table.sees(8)
    assert not open_questions(table.book.entries) and len(table.told(CrownTaken)) == 1


@pytest.mark.parametrize("tiles", [1, 8])
def test_a_figure_that_looks_hardly_show_for_long_is_asked_about_in_its_turn(table: DialTable, tiles: int) -> None:
    """It is on print of its paint; after a few more tiles it is seen."""
    table.lays(NORTH, *PLAIN)
    table.puts("famine", "red", there=0.2)
    for x in range(1, tiles + 1):
        table.lays((NORTH[0] + x, NORTH[1]), "wheel.32", 0)
    assert not table.told(CrownTaken)
    table.puts("famine", "red")
    table.sees(8)
    assert table.told(CrownTaken) == [CrownTaken(player=0, figure="follower", segment="famine")]
    kinds = [type(e) for e in table.events]
    assert kinds.index(CrownTaken) == 1  # in the first turn
    assert len(open_questions(table.book.entries)) == (tiles > 1)


def test_a_move_goes_with_its_tile_to_another_player(table: DialTable) -> None:
    """Whose turn it was is known later: a player only put a tile away."""
    table.turns_to("tax")
    table.lays(WEST, *SIGNED)
    seq, tile = next((seq, e) for seq, e in effective(table.book.entries) if isinstance(e, TilePlaced))
    table.book.say(Amended(seq=seq, body=replace(tile, player=1)))
    table.sees()
    assert table.told(WheelTurned) == [WheelTurned(player=1, steps=1)]


@pytest.mark.parametrize(("before", "corrected"), [(0, 2), (2, 0)])
def test_a_move_does_not_keep_its_tile_from_following_a_correction(before: int, corrected: int) -> None:
    """People say whose the tile before was: the next one is the next player's, and so is the move before it."""
    table = DialTable(THREE)
    table.lays(NORTH, *PLAIN)
    (seq, tile), = effective(table.book.entries)
    for player in (before, corrected):
        table.book.say(Amended(seq=seq, body=replace(tile, player=player)))  # type: ignore[type-var]
        table.sees()
        if player == before:
            table.piece = "storm"
            table.lays(WEST, *SIGNED)
        due = (player + 1) % 3
        assert laid_by(table) == [(NORTH, player), (WEST, due)]
        assert table.told(WheelTurned) == [WheelTurned(player=due, steps=3)]


def test_a_figure_in_a_hand_over_a_section_is_not_put_there(table: DialTable) -> None:
    """Twice one look shows it; two more, soon after, do not, and then nobody touches the board for long."""
    table.lays(NORTH, *PLAIN)
    at, foot = point("famine", 0.6)
    for _ in range(2):
        table.figures[at] = (replace(figure("base.U", 0, "road", "E W", "red"), foot=foot),)
        table.sees(1)
        table.figures[at] = ()
        table.sees(2, 1.5)
    for _ in range(4):
        table.t_s += 5.0
        told = table.reader.look(TableLook(frame=1, t_s=table.t_s, squares={}), table.book.entries)
        for decision in told.decisions:
            table.book.commit(decision)
    assert not table.told(CrownTaken)


def test_who_took_a_section_hardly_put_a_figure_on_the_tile_too(table: DialTable) -> None:
    """A figure in a hand over the tile, on its way to the board, and a tile that completes what it would stand on."""
    road = figure("wheel.31", 1, "road", "N S", "red", there=5.0)
    table.turns_to("storm")
    table.tiles[NORTH], table.figures[NORTH] = ("wheel.31", 1), (road,)
    table.sees(1)
    table.figures[NORTH] = ()
    table.puts("famine", "red")
    table.lays((2, -2), "wheel.27", 3)
    table.sees()
    assert table.told(CrownTaken) == [CrownTaken(player=0, figure="follower", segment="famine")]
    asked = open_questions(table.book.entries)
    assert not [e for seq, e in effective(table.book.entries) if isinstance(e, FigurePlaced) and seq not in asked]


def test_what_people_took_back_may_be_told_of_another_turn(table: DialTable) -> None:
    table.turns_to("tax")
    table.lays(WEST, *SIGNED)
    seq = next(seq for seq, e in effective(table.book.entries) if isinstance(e, WheelTurned))
    table.book.say(Amended(seq=seq, body=WheelTurned(player=0, steps=3)))
    table.lays(NORTH, *PLAIN)
    table.turns_to("inquisition")
    table.lays(EAST, "wheel.31", 0)
    assert table.told(WheelTurned) == [WheelTurned(player=0, steps=3), WheelTurned(player=0, steps=1)]


def test_a_large_follower_on_a_section_is_told_by_its_size() -> None:
    table = DialTable(replace(SETUP, expansions=("wheel", "inns")))
    ordinary: dict[str, Any] = {"pieces": {"follower": 0.0, "large": -4.0}, "width": 0.35, "width_spread": 0.05}
    large: dict[str, Any] = {"pieces": {"follower": -4.0, "large": 0.0}, "width": 0.43, "width_spread": 0.05}
    table.lays(NORTH, *PLAIN, replace(figure("wheel.32", 3, "road", "N", "red"), **ordinary))
    table.lays(WEST, "wheel.32", 0)
    table.puts("famine", "blue", **ordinary)
    table.lays(EAST, "wheel.32", 0)
    table.puts("inquisition", "red", **large)
    assert table.told(CrownTaken) == [CrownTaken(player=1, figure="follower", segment="famine"),
                                      CrownTaken(player=0, figure="large", segment="inquisition")]
    assert not open_questions(table.book.entries)


@pytest.mark.parametrize(("on_tile", "on_section", "asked"), [(2.5, 4.0, True), (4.0, 4.0, True), (9.0, 1.5, False)])
def test_a_figure_on_a_section_and_one_on_the_tile_are_one_too_many(table: DialTable, on_tile: float,
                                                                    on_section: float, asked: bool) -> None:
    table.lays(NORTH, *PLAIN, figure("wheel.32", 3, "road", "N", "red", there=on_tile))
    table.puts("famine", "red", there=on_section)
    table.lays(WEST, "wheel.32", 0)
    table.sees(8)
    told = dict(effective(table.book.entries))
    assert bool(open_questions(table.book.entries)) == asked == (table.book.questions > 0)
    assert asked == any(isinstance(told[seq], CrownTaken) for seq in open_questions(table.book.entries))
    assert table.told(FigurePlaced)


def test_it_goes_home_when_the_piece_stops_there_and_another_one_may_follow(table: DialTable) -> None:
    table.lays(NORTH, *PLAIN)
    table.puts("famine", "red")
    table.turns_to("famine")
    table.figures[point("famine", 1.1)[0]] = ()
    table.lays(WEST, *SIGNED)
    assert table.state.scores[0] == 3 and not table.state.standing
    table.puts("famine", "blue")
    assert table.events[-1] == CrownTaken(player=1, figure="follower", segment="famine")


def test_whom_the_plague_took_is_told_by_who_is_gone(table: DialTable) -> None:
    table.lays(NORTH, *PLAIN, figure("wheel.32", 3, "road", "N", "red"))
    table.turns_to("storm")
    table.lays(WEST, *SIGNED, figure("wheel.33", 0, "road", "N", "blue"))
    table.lays((3, -1), "wheel.28", 1, figure("wheel.28", 1, "field", "NR EL ER SL SR WL", "red"))
    table.turns_to("plague")
    table.figures[NORTH] = table.figures[WEST] = ()
    table.lays(EAST, "wheel.31", 0)
    table.sees()
    assert [e for e in table.events if isinstance(e, PlagueTook)] == [
        PlagueTook(player=1, figure="follower", at=WEST, feature="road", where="N"),
        PlagueTook(player=0, figure="follower", at=NORTH, feature="road", where="N")]
    assert not table.state.issues


FOUR = replace(SETUP, players=(*SETUP.players, Player(name="Cleo", colour="green"),
                               Player(name="Dora", colour="yellow")))
THREE = replace(FOUR, players=FOUR.players[:3])


def painted(colour: str) -> dict[str, Any]:
    return {"colours": {p.colour: 0.0 if p.colour == colour else -7.0 for p in FOUR.players}}


def laid_by(table: DialTable) -> list[tuple[Square, int]]:
    """The tiles in the log, in order, each with its player."""
    return [(e.at, e.player) for e in table.told(TilePlaced) if isinstance(e, TilePlaced)]


def lays_asked(table: DialTable) -> tuple[int, TilePlaced]:
    """The tile of which it is asked who laid it."""
    (seq,) = open_questions(table.book.entries)
    tile = dict(effective(table.book.entries))[seq]
    assert isinstance(tile, TilePlaced)
    return seq, tile


def test_a_figure_on_a_section_is_a_reason_to_ask_whether_a_player_was_passed_over() -> None:
    """Ben only puts a tile away, Cleo lays the next one and takes a section."""
    table = DialTable(THREE)
    table.lays(NORTH, *PLAIN)
    table.puts("famine", "red", **painted("red"))
    table.lays(WEST, "wheel.32", 0)
    table.puts("inquisition", "green", **painted("green"))
    table.lays(EAST, "wheel.32", 0)
    table.sees()
    seq, tile = lays_asked(table)
    assert tile.at == EAST
    table.book.say(Amended(seq=seq, body=replace(tile, player=0)))
    table.sees()
    assert laid_by(table) == [(NORTH, 0), (WEST, 2), (EAST, 0)]
    assert table.told(CrownTaken) == [CrownTaken(player=0, figure="follower", segment="famine"),
                                      CrownTaken(player=2, figure="follower", segment="inquisition")]
    assert not open_questions(table.book.entries)


def two_sections() -> DialTable:
    """Ben only puts a tile away, Cleo and Anna lay the next ones and take a section each."""
    table = DialTable(THREE)
    table.lays(NORTH, *PLAIN)
    table.lays(WEST, "wheel.32", 0)
    table.puts("inquisition", "green", **painted("green"))
    table.lays(EAST, "wheel.32", 0)
    table.puts("famine", "red", **painted("red"))
    table.lays((2, -2), "wheel.27", 3)
    table.sees()
    return table


def test_two_of_them_leave_no_doubt() -> None:
    table = two_sections()
    told = dict(laid_by(table))
    assert (told[WEST], told[EAST], told[2, -2]) == (2, 0, 1)
    assert CrownTaken(player=2, figure="follower", segment="inquisition") in table.told(CrownTaken)
    assert CrownTaken(player=0, figure="follower", segment="famine") in table.told(CrownTaken)


@pytest.mark.parametrize("looks", [1, 12])
def test_figures_that_a_hand_hides_still_say_whose_the_tiles_were(looks: int) -> None:
    table = two_sections()
    before, hidden = list(table.book.entries), dict(table.figures)
    table.figures.clear()
    table.sees(looks, 1.0)
    table.figures |= hidden
    table.sees()
    assert table.book.entries == before


def test_print_that_looked_like_a_figure_for_a_while_says_nothing_of_a_player() -> None:
    table = DialTable(THREE)
    table.lays(NORTH, *PLAIN)
    made = replace(figure("base.U", 0, "road", "E W", "green"), there=5.0, **painted("green"))
    for section in ("famine", "inquisition", "tax", "plague"):
        at, foot = point(section, 1.1)
        table.figures[at] = (replace(made, foot=foot),)
    table.sees(2)
    table.figures.clear()
    table.sees(2)
    table.piece = "storm"
    table.lays(WEST, *SIGNED)
    assert laid_by(table) == [(NORTH, 0), (WEST, 1)]
    assert WheelTurned(player=1, steps=3) in table.events


def test_when_it_was_is_asked_if_nothing_tells() -> None:
    """Figures on sections say that somebody was passed over before Dora, but not who: the tile before hers is Ben's or
    Cleo's."""
    table = DialTable(FOUR)
    table.lays(NORTH, *PLAIN)
    table.puts("famine", "red", **painted("red"))
    table.lays(WEST, "wheel.32", 0)
    table.lays(EAST, "wheel.32", 0)
    table.puts("inquisition", "yellow", **painted("yellow"))
    table.lays((2, -2), "wheel.27", 3)
    table.puts("storm", "red", **painted("red"))
    table.lays((3, -1), "wheel.28", 1)
    table.sees()
    seq, tile = lays_asked(table)
    assert tile.at == WEST
    table.book.say(Amended(seq=seq, body=replace(tile, player=2)))
    table.sees()
    assert laid_by(table) == [(NORTH, 0), (WEST, 2), (EAST, 3), ((2, -2), 0), ((3, -1), 1)]
    assert CrownTaken(player=3, figure="follower", segment="inquisition") in table.told(CrownTaken)
    assert not open_questions(table.book.entries)


def test_a_figure_that_was_sent_home_before_its_turn_was_known_is_told() -> None:
    """Ben only put a tile away, so Cleo's figure came in what was taken for Ben's turn; Anna's move sends it home."""
    table = DialTable(THREE)
    table.lays(NORTH, *PLAIN)
    table.lays(WEST, "wheel.32", 0)
    table.puts("storm", "green", **painted("green"))
    table.figures[point("storm", 1.1)[0]] = ()
    table.turns_to("storm")
    table.lays(EAST, "wheel.31", 0)
    seq, tile = next((seq, e) for seq, e in effective(table.book.entries) if isinstance(e, TilePlaced) and e.at == WEST)
    table.book.say(Amended(seq=seq, body=replace(tile, player=2)))
    table.sees()
    assert [type(e) for e in table.events] == [TilePlaced, TilePlaced, CrownTaken, WheelTurned, TilePlaced]
    assert table.told(CrownTaken) == [CrownTaken(player=2, figure="follower", segment="storm")]


def test_a_figure_that_should_have_gone_home_and_was_missed_once_is_asked_about(table: DialTable) -> None:
    """A hand hides it for one look; whether it was taken home and put back nobody can tell."""
    table.lays(NORTH, *PLAIN)
    table.puts("storm", "red")
    table.lays(WEST, "wheel.32", 0)
    at = point("storm", 1.1)[0]
    stands, table.figures[at] = table.figures[at], ()
    table.piece = "storm"
    table.sees(1)
    table.figures[at] = stands
    table.lays(EAST, "wheel.31", 0)
    table.sees()
    (seq,) = open_questions(table.book.entries)
    assert dict(effective(table.book.entries))[seq] == CrownTaken(player=0, figure="follower", segment="storm")


def test_a_figure_on_a_section_follows_when_its_tile_turns_out_to_be_another_players(table: DialTable) -> None:
    table.lays(NORTH, *PLAIN)
    table.puts("famine", "red")
    table.lays(WEST, "wheel.32", 0)
    seq, tile = next((seq, e) for seq, e in effective(table.book.entries) if isinstance(e, TilePlaced))
    table.book.say(Amended(seq=seq, body=replace(tile, player=1)))
    table.sees()
    assert not [e for e in table.told(CrownTaken) if table.events[table.events.index(e) - 1] == replace(tile, player=1)]


def test_a_figure_told_in_its_players_turn_before_moves_to_the_one_in_which_it_came(table: DialTable) -> None:
    """Both tiles came to sight together, and the newer one was taken for Ben's."""
    table.tiles |= {NORTH: PLAIN, WEST: ("wheel.32", 0)}
    table.sees()
    table.puts("famine", "red")
    table.sees()
    (claim,) = table.told(CrownTaken)
    (first, second) = laid_by(table)
    assert table.events.index(claim) == 1 and (first[1], second[1]) == (0, 1)
    seq, tile = next((seq, e) for seq, e in effective(table.book.entries) if isinstance(e, TilePlaced) and e.player)
    table.book.say(Amended(seq=seq, body=replace(tile, player=0)))
    table.sees(6)
    assert [type(e) for e in table.events] == [TilePlaced, TilePlaced, CrownTaken]
    assert table.told(CrownTaken) == [claim]


def asked_after_a_plain_tile(table: DialTable) -> int:
    """The entry that is asked about when the piece stopped before a tile without the sign: a tile with the sign was put
    away, and the one that came instead has none, nor has any with its edges."""
    table.bare = NORTH
    table.turns_to("tax")
    table.lays(NORTH, *PLAIN)
    assert not open_questions(table.book.entries)  # it may turn out to have the sign
    table.sees()
    (seq,) = open_questions(table.book.entries)
    return seq


def test_a_stop_before_a_tile_without_the_sign_is_asked_about(table: DialTable) -> None:
    seq = asked_after_a_plain_tile(table)
    assert table.events == [WheelTurned(player=0, steps=1), TilePlaced(player=0, tile="wheel.32", at=NORTH, rot=3)]
    assert dict(effective(table.book.entries))[seq] == table.events[0]
    table.turns_to("storm")
    table.lays(WEST, *SIGNED)
    assert table.told(WheelTurned)[1:] == [WheelTurned(player=1, steps=2)]


def test_that_no_tile_was_put_away_is_not_asked_again(table: DialTable) -> None:
    table.book.say(Retracted(seq=asked_after_a_plain_tile(table)))
    table.sees(12)
    assert not table.told(WheelTurned) and not open_questions(table.book.entries)


@pytest.mark.parametrize("signed", [True, False])
def test_a_stop_that_came_to_sight_with_such_a_tile_waits_for_the_next_one(table: DialTable, signed: bool) -> None:
    table.tiles[NORTH] = PLAIN
    table.turns_to("tax")
    table.sees(3)
    assert not table.told(WheelTurned)
    table.lays(WEST, *(SIGNED if signed else ("wheel.32", 0)))
    assert table.told(WheelTurned) == [WheelTurned(player=int(signed), steps=1)]
    assert bool(open_questions(table.book.entries)) is not signed


def test_a_stop_that_was_misread_for_a_while_is_none(table: DialTable) -> None:
    table.turns_to("tax")
    table.turns_to("fortune")
    table.lays(NORTH, *PLAIN)
    table.sees(6)
    assert not table.told(WheelTurned) and not open_questions(table.book.entries)


class ClothTable(DialTable):
    """A green table beside the board: where no tile lies it is read as the board's print."""

    def look(self) -> TableLook:
        seen = super().look()
        cloth = SquareLook(there=3.3, tiles={(BOARD[1, 1][0], rot): -1.4 for rot in range(4)}, rest=-9.6, figures=())
        return replace(seen, squares={NORTH: cloth, **seen.squares})


def test_a_table_that_looks_like_the_boards_print_is_no_tile() -> None:
    table = ClothTable()
    table.lays(WEST, "wheel.32", 0)
    table.sees(6)
    table.lays(EAST, "wheel.32", 0)
    table.sees(6)
    assert [e.at for e in table.events if isinstance(e, TilePlaced)] == [WEST, EAST]
    assert table.reader.belief.lying().keys() == {*BOARD, WEST, EAST}
    table.lays(NORTH, *PLAIN)
    assert [e.at for e in table.events if isinstance(e, TilePlaced)] == [WEST, EAST, NORTH]
    assert not open_questions(table.book.entries)


def test_a_tile_that_may_be_the_boards_print_is_one() -> None:
    table = DialTable()
    either = SquareLook(there=5.0, tiles={PLAIN: -0.7, BOARD[1, 1]: -0.7}, rest=-9.6, figures=())
    for _ in range(8):
        table.t_s += 5.0
        seen = table.look()
        told = table.reader.look(replace(seen, squares={**seen.squares, NORTH: either}), table.book.entries)
        for made in told.decisions:
            table.book.commit(made)
    assert [(e.at, e.tile) for e in table.events if isinstance(e, TilePlaced)] == [(NORTH, PLAIN[0])]
