"""Pieces that are nobody's: where they stand is told by the rules as far as these know it, else by the looks."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from tables import Table, figure, look

from reading.sightings import Sightings, updated
from scoring.engine import fold
from scoring.events import Event, FigurePlaced, Player, Setup, TilePlaced
from scoring.expansions.dragon_moves import DragonMoved, FairyMoved, beasts
from scoring.log import Amended, Inserted, Retracted, effective, open_questions
from scoring.rules import edition, with_options
from scoring.tiles import Square
from vision.looks import NeutralLook, SquareLook, TableLook

RULES = with_options(edition(), {"fairy_mode": "follower", "princess_removal": "may"})
SETUP = Setup(expansions=("base", "dragon"), rules=RULES,
              players=(Player(name="Anna", colour="red"), Player(name="Ben", colour="blue")))
# a row of roads west of the start, a volcano east of it, and a tile that has the dragon walk
WEST, FAR, EAST, NORTH = (-1, 0), (-2, 0), (1, 0), (0, -1)
START = {(0, 0): ("base.D", 0)}
Tiles = dict[Square, tuple[str, int]]


class PiecesTable(Table):
    """A table with pieces that are nobody's: ``stands`` has their squares and feet, ``hidden`` are occluded squares,
    ``doubts`` the log-likelihoods of tiles that are not read clearly."""

    def __init__(self) -> None:
        super().__init__(SETUP)
        self.stands: dict[str, tuple[Square, tuple[float, float]]] = {}
        self.hidden: tuple[Square, ...] = ()
        self.doubts: dict[Square, dict[tuple[str, int], float]] = {}
        self.there: dict[str, float] = {}  # how clearly looks show the pieces, if not with 5 nats
        self.seen_as: dict[Square, SquareLook] = {}  # what looks show of a square instead
        self.sees()

    def look(self) -> TableLook:
        seen = look(self.t_s, self.tiles, self.figures, hidden=self.hidden, doubts=self.doubts)
        squares = {**seen.squares, **self.seen_as}
        for name, (at, foot) in self.stands.items():
            held: Mapping[str, NeutralLook] = {
                **squares[at].neutral, name: NeutralLook(there=self.there.get(name, 5.0), foot=foot)}
            squares[at] = type(squares[at])(there=5.0, tiles=squares[at].tiles, rest=squares[at].rest,
                                            figures=squares[at].figures, neutral=held)
        return TableLook(frame=seen.frame, t_s=seen.t_s, squares=squares, whole=True)

    def beyond_tiles(self) -> list[Event]:
        return [e for e in self.events if isinstance(e, DragonMoved | FairyMoved)]


def with_thief() -> PiecesTable:
    """Anna has laid a volcano in the east, Ben a road with a thief in the west."""
    made = PiecesTable()
    made.lays(EAST, "dragon.17", 0)
    made.stands["dragon"] = EAST, (0.5, 0.5)
    made.figures[WEST] = (figure("base.U", 0, "road", "E W", "blue"),)
    made.lays(WEST, "base.U", 0)
    return made


@pytest.fixture
def table() -> PiecesTable:
    return with_thief()


def test_where_the_rules_put_it_nothing_is_told(table: PiecesTable) -> None:
    assert [type(e).__name__ for e in table.events] == ["TilePlaced", "TilePlaced", "FigurePlaced"]
    assert beasts(fold(SETUP, table.events)).dragon == EAST


def test_a_walk_is_told_by_where_it_ended_and_whom_it_sent_home(table: PiecesTable) -> None:
    table.figures.clear()
    table.stands["dragon"] = FAR, (0.5, 0.5)
    table.lays(FAR, "dragon.16", 0)
    assert table.beyond_tiles() == [DragonMoved(player=0, path=((0, 0), WEST, FAR))]
    assert not fold(SETUP, table.events).standing


def test_a_walk_that_goes_on_is_one_walk(table: PiecesTable) -> None:
    table.lays(FAR, "dragon.16", 0)
    table.stands["dragon"] = (0, 0), (0.4, 0.6)
    table.sees()
    assert table.beyond_tiles() == [DragonMoved(player=0, path=((0, 0),))]
    table.figures.clear()
    table.stands["dragon"] = FAR, (0.5, 0.5)
    table.sees()
    assert table.beyond_tiles() == [DragonMoved(player=0, path=((0, 0), WEST, FAR))]


def test_a_walk_led_over_where_it_was_seen_on_its_way(table: PiecesTable) -> None:
    table.lays(NORTH, "base.E", 2, figure("base.E", 2, "city", "S", "red"))  # Anna
    table.lays((-1, -1), "base.B", 0, figure("base.B", 0, "cloister", "I", "blue"))  # Ben
    table.lays((2, 0), "dragon.16", 0)  # Anna: straight to the west, or around
    table.hidden = (-1, -1),  # whoever is there may have gone home
    table.figures.pop(WEST)
    table.figures.pop(NORTH)
    for at in ((0, 0), NORTH, WEST):
        table.stands["dragon"] = at, (0.4, 0.6)
        table.sees()
    assert table.beyond_tiles() == [DragonMoved(player=0, path=((0, 0), NORTH, (-1, -1), WEST))]
    assert not questions(table)


def test_a_walk_goes_on_after_what_people_told_of_its_turn(table: PiecesTable) -> None:
    table.lays(FAR, "dragon.16", 0)
    table.stands["dragon"] = (0, 0), (0.4, 0.6)
    table.sees()
    tile = next(seq for seq, e in reversed(effective(table.book.entries)) if isinstance(e, TilePlaced))
    farmer = FigurePlaced(player=0, figure="follower", at=FAR, feature="field", where="NL NR EL WR")
    table.book.say(Inserted(after=tile, body=farmer))
    table.figures[FAR] = (figure("dragon.16", 0, "field", "NL NR EL WR", "red"),)
    table.figures.pop(WEST)
    table.stands["dragon"] = WEST, (0.4, 0.6)
    table.sees()
    assert table.events[-2:] == [farmer, DragonMoved(player=0, path=((0, 0), WEST))] and not questions(table)


def test_a_walk_that_went_on_past_whoever_is_still_seen_is_asked(table: PiecesTable) -> None:
    table.lays(FAR, "dragon.16", 0, figure("dragon.16", 0, "field", "NL NR EL WR", "red"))
    table.stands["dragon"] = (0, 0), (0.4, 0.6)
    table.sees()
    assert table.beyond_tiles() == [DragonMoved(player=0, path=((0, 0),))]
    table.stands["dragon"] = FAR, (0.5, 0.5)
    table.sees(every_s=25.0)  # neither of the two on its way has been taken home
    assert questions(table) == [DragonMoved(player=0, path=((0, 0), WEST, FAR))]


def test_one_look_that_misses_a_figure_does_not_say_that_a_walk_led_over_it(table: PiecesTable) -> None:
    """A hand passes over it, while there are two ways to where the dragon is."""
    northeast = 1, -1
    table.lays(NORTH, "base.B", 0)
    table.lays(northeast, "base.B", 0, figure("base.B", 0, "cloister", "I", "blue"))
    table.lays(FAR, "dragon.16", 0)
    table.stands["dragon"] = NORTH, (0.4, 0.6)
    table.sees(1)
    (only,) = table.figures.pop(northeast)
    table.sees(1)
    table.figures[northeast] = (only,)
    table.sees(8)
    went, = {e.path for e in (*table.beyond_tiles(), *questions(table)) if isinstance(e, DragonMoved)}
    assert northeast not in went and NORTH in went


def test_where_it_cannot_have_gone_is_not_told(table: PiecesTable) -> None:
    table.lays(FAR, "base.V", 2)  # nothing has it walk
    table.stands["dragon"] = (0, 0), (0.5, 0.5)
    table.sees()
    assert not table.beyond_tiles()


def test_what_people_took_back_is_not_told_again(table: PiecesTable) -> None:
    table.figures.clear()
    table.stands["dragon"] = FAR, (0.5, 0.5)
    table.lays(FAR, "dragon.16", 0)
    table.book.say(Retracted(seq=len(table.book.entries)))
    table.sees()
    assert not table.beyond_tiles() and not open_questions(table.book.entries)


def test_it_goes_to_the_follower_of_whoever_had_not_put_one_down(table: PiecesTable) -> None:
    table.figures[FAR] = (figure("base.U", 0, "road", "E W", "red"),)
    table.lays(FAR, "base.U", 0)  # Anna, who cannot have moved it in the same turn
    table.lays(NORTH, "base.E", 2)  # Ben, with nobody
    table.stands["fairy"] = WEST, (0.7, 0.3)
    table.sees()
    moved, = table.beyond_tiles()
    assert isinstance(moved, FairyMoved) and (moved.player, moved.at) == (1, WEST)
    assert moved.beside is not None and moved.beside.owner == 1
    assert beasts(fold(SETUP, table.events)).fairy == WEST


def test_what_looks_only_a_little_like_one_that_was_not_there_yet_is_asked_about(table: PiecesTable) -> None:
    """Print on the edge of a tile that was pushed."""
    table.lays(FAR, "base.U", 0, figure("base.U", 0, "road", "E W", "red"))
    table.lays(NORTH, "base.E", 2)
    agreed(table)
    table.stands["fairy"], table.there["fairy"] = (WEST, (0.7, 0.3)), 2.4
    table.sees(10)
    moved, = table.beyond_tiles()
    assert questions(table) == [moved] and isinstance(moved, FairyMoved)
    agreed(table)
    table.lays((2, 0), "base.U", 0)
    table.stands["fairy"] = FAR, (0.7, 0.3)  # once it is there, faint looks tell where it goes
    table.sees(10)
    assert len(table.beyond_tiles()) == 2 and not questions(table)


def test_what_stood_there_before_the_tile_came_is_asked(table: PiecesTable) -> None:
    table.figures[FAR] = (figure("base.U", 0, "road", "E W", "red"),)
    table.lays(FAR, "base.U", 0)  # Anna has put one down and moves nothing by the rules
    table.stands["fairy"] = WEST, (0.7, 0.3)
    table.sees()
    assert not table.beyond_tiles()
    for seq, event in effective(table.book.entries):
        table.book.say(Amended(seq=seq, body=event))  # people say that all of it is right: one question at a time
    table.lays(NORTH, "base.E", 2)
    moved, = table.beyond_tiles()
    known = dict(effective(table.book.entries))
    assert [known[seq] for seq in open_questions(table.book.entries)] == [moved]


def test_without_a_clear_look_nothing_moves(table: PiecesTable) -> None:
    table.lays(FAR, "dragon.16", 0)
    table.stands.clear()  # a hand lies over it
    table.sees()
    assert [e for e in table.events if isinstance(e, TilePlaced)] and not table.beyond_tiles()


@pytest.fixture
def beside(table: PiecesTable) -> PiecesTable:
    """Anna has a follower in the far west, and Ben has moved the fairy to his in the west."""
    table.figures[FAR] = (figure("base.U", 0, "road", "E W", "red"),)
    table.lays(FAR, "base.U", 0)
    table.lays(NORTH, "base.E", 2)
    table.stands["fairy"] = WEST, (0.7, 0.3)
    table.sees()
    for seq, event in effective(table.book.entries):
        table.book.say(Amended(seq=seq, body=event))  # people say that all of it is right
    return table


def fairy_beside(made: PiecesTable) -> None:
    """Anna has a follower in the far west, and Ben has moved the fairy to his in the west; people say so."""
    made.lays(EAST, "dragon.17", 0)
    made.stands["dragon"] = EAST, (0.5, 0.5)
    made.lays(WEST, "base.U", 0, figure("base.U", 0, "road", "E W", "blue"))
    made.lays(FAR, "base.U", 0, figure("base.U", 0, "road", "E W", "red"))
    made.lays(NORTH, "base.E", 2)
    made.stands["fairy"] = WEST, (0.7, 0.3)
    made.sees()
    agreed(made)


def questions(table: PiecesTable) -> list[Event]:
    known = dict(effective(table.book.entries))
    return [known[seq] for seq in sorted(open_questions(table.book.entries))]


def test_one_that_left_and_is_not_found_is_asked_about(beside: PiecesTable) -> None:
    beside.lays((2, 0), "base.U", 0)  # Anna, with nobody
    del beside.stands["fairy"]
    beside.sees(6)
    assert not questions(beside)  # her turn goes on
    beside.lays((3, 0), "base.U", 0)
    beside.sees()
    asked, = questions(beside)
    assert isinstance(asked, FairyMoved) and (asked.player, asked.at) == (0, FAR)
    beside.book.say(Retracted(seq=max(open_questions(beside.book.entries))))
    beside.sees(6)
    beside.lays((4, 0), "base.U", 0)
    assert not questions(beside) and len(beside.beyond_tiles()) == 1


def test_one_that_is_not_found_is_asked_about_once(beside: PiecesTable) -> None:
    beside.lays((2, 0), "base.U", 0)  # Anna
    del beside.stands["fairy"]
    beside.sees(6)
    beside.lays((3, 0), "base.U", 0, figure("base.U", 0, "field", "NL NR EL WR", "blue"))
    beside.sees()
    beside.book.say(Retracted(seq=max(open_questions(beside.book.entries))))
    for x in (4, 5, 6):  # Ben might have put it beside his farmer
        beside.lays((x, 0), "base.U", 0)
        beside.sees(6)
    assert not questions(beside)


def test_one_that_nobody_can_have_moved_is_rather_overlooked(beside: PiecesTable) -> None:
    """It is not seen during a turn in which its player did something else; only the next player might have moved it."""
    farmer = figure("base.U", 0, "field", "NL NR EL WR", "red")
    beside.lays((2, 0), "base.U", 0, farmer)  # Anna
    seen = beside.stands.pop("fairy")
    beside.sees()
    beside.lays((3, 0), "base.U", 0)  # Ben: it was missed before this tile came
    beside.sees(6)
    assert not questions(beside)
    beside.lays((4, 0), "base.U", 0)  # Anna
    beside.stands["fairy"] = seen
    beside.sees(6)
    assert not questions(beside)


def test_what_people_took_back_of_one_turn_may_happen_in_a_later_one(beside: PiecesTable) -> None:
    beside.lays((2, 0), "base.U", 0)  # Anna
    there = beside.stands.pop("fairy")  # a hand lies over it
    beside.sees(6)
    beside.lays((3, 0), "base.U", 0)
    beside.sees()
    asked, = questions(beside)
    beside.book.say(Retracted(seq=max(open_questions(beside.book.entries))))
    beside.stands["fairy"] = there
    beside.sees(6)
    beside.lays((4, 0), "base.U", 0)  # Anna
    beside.stands["fairy"] = FAR, (0.7, 0.3)
    beside.sees()
    assert beside.beyond_tiles()[-1] == asked and not questions(beside)


def test_a_move_is_told_though_two_more_tiles_came_meanwhile(beside: PiecesTable) -> None:
    beside.lays((2, 0), "base.U", 0)
    beside.stands["fairy"] = FAR, (0.7, 0.3)
    beside.sees(1, every_s=1.0)
    beside.tiles[3, 0] = beside.tiles[4, 0] = "base.U", 0
    beside.sees(5)
    moved = beside.beyond_tiles()[-1]
    assert isinstance(moved, FairyMoved) and (moved.player, moved.at) == (0, FAR)


def test_what_people_took_back_is_not_asked_again_though_it_happened_before(beside: PiecesTable) -> None:
    told = beside.beyond_tiles()[-1]
    beside.lays((2, 0), "base.U", 0)
    beside.stands["fairy"] = FAR, (0.7, 0.3)
    beside.sees()  # Anna
    beside.stands["fairy"] = WEST, (0.7, 0.3)
    beside.lays((3, 0), "base.U", 0)
    beside.sees()
    assert beside.beyond_tiles()[-1] == told and len(beside.beyond_tiles()) == 3
    beside.book.say(Retracted(seq=next(s for s, e in reversed(list(effective(beside.book.entries))) if e == told)))
    beside.sees(6)
    assert len(beside.beyond_tiles()) == 2 and not questions(beside)


def agreed(table: Table) -> None:
    """People say that everything in the log is right."""
    for seq, event in effective(table.book.entries):
        table.book.say(Amended(seq=seq, body=event))


def test_another_walk_to_where_it_had_not_gone_is_asked(table: PiecesTable) -> None:
    table.lays(FAR, "dragon.16", 0)  # Anna
    agreed(table)
    seen = table.stands.pop("dragon")  # a hand lies over it
    table.sees()
    table.lays((2, 0), "base.U", 0)  # Ben
    table.sees(6)
    first, = questions(table)
    assert isinstance(first, DragonMoved) and first.player == 0
    table.book.say(Retracted(seq=max(open_questions(table.book.entries))))
    table.stands["dragon"] = seen
    table.sees(6)
    table.lays((3, 0), "base.U", 0)  # Anna
    agreed(table)
    table.stands["dragon"] = FAR, (0.5, 0.5)
    table.sees()
    assert not table.beyond_tiles() and not questions(table)
    table.lays((4, 0), "dragon.14", 0)  # Ben, only after it was seen there
    again, = questions(table)
    assert isinstance(again, DragonMoved) and (again.player, again.path[-1]) == (1, first.path[-1])


def test_a_move_is_told_with_the_next_tile_and_before_it(beside: PiecesTable) -> None:
    beside.lays((2, 0), "base.U", 0)  # Anna
    beside.stands["fairy"] = FAR, (0.7, 0.3)
    beside.sees(1, every_s=1.0)
    beside.sees(1, every_s=2.0)
    before = beside.events
    assert before[-1] == TilePlaced(player=0, tile="base.U", at=(2, 0), rot=0)
    beside.tiles[3, 0] = "base.U", 0
    beside.sees(1, every_s=2.0)
    moved, laid = beside.events[len(before):]
    assert isinstance(moved, FairyMoved) and (moved.player, moved.at) == (0, FAR)
    assert isinstance(laid, TilePlaced) and laid.at == (3, 0)


def test_one_that_was_missed_for_a_while_came_when_it_was_first_seen(beside: PiecesTable) -> None:
    beside.lays((2, 0), "base.U", 0)  # Anna
    seen = FAR, (0.7, 0.3)
    beside.stands["fairy"] = seen
    beside.sees(1, every_s=1.0)
    del beside.stands["fairy"]
    beside.lays((3, 0), "base.U", 0)  # Ben
    beside.stands["fairy"] = seen
    beside.tiles[4, 0] = "base.U", 0  # Anna
    beside.sees(3)
    events = beside.events
    moved = next(e for e in reversed(events) if isinstance(e, FairyMoved))
    assert (moved.player, moved.at) == (0, FAR) and not questions(beside)
    assert events[events.index(moved) - 1] == TilePlaced(player=0, tile="base.U", at=(2, 0), rot=0)


def test_one_that_was_seen_elsewhere_meanwhile_came_anew(beside: PiecesTable) -> None:
    """What was first seen there was print."""
    beside.lays((2, 0), "base.U", 0)  # Anna
    beside.stands["fairy"] = FAR, (0.7, 0.3)
    beside.sees(1, every_s=1.0)
    beside.stands["fairy"] = WEST, (0.7, 0.3)
    beside.lays((3, 0), "base.U", 0)  # Ben
    beside.stands["fairy"] = FAR, (0.7, 0.3)
    beside.lays((4, 0), "base.U", 0)  # Anna
    events = beside.events
    moved = next(e for e in reversed(events) if isinstance(e, FairyMoved))
    assert (moved.player, moved.at) == (0, FAR) and not questions(beside)
    assert events[events.index(moved) - 1] == TilePlaced(player=0, tile="base.U", at=(4, 0), rot=0)


@pytest.mark.parametrize("foot, moved", [((0.7, 0.48), True), ((0.72, 0.31), False)])
def test_one_that_came_back_to_another_place_of_its_tile_went_away_meanwhile(
        beside: PiecesTable, foot: tuple[float, float], moved: bool) -> None:
    beside.lays((2, 0), "base.U", 0)  # Anna
    del beside.stands["fairy"]
    beside.sees(2)
    beside.lays((3, 0), "base.U", 0)  # Ben
    beside.stands["fairy"] = WEST, foot
    beside.sees()
    if not moved:  # looks missed it
        assert not questions(beside) and len(beside.beyond_tiles()) == 1
        return
    away, = questions(beside)
    assert isinstance(away, FairyMoved) and (away.player, away.at) == (0, FAR)
    beside.book.say(Amended(seq=max(open_questions(beside.book.entries)), body=away))
    beside.sees()
    back = beside.beyond_tiles()[-1]
    assert isinstance(back, FairyMoved) and (back.player, back.at) == (1, WEST)
    beside.lays((4, 0), "base.U", 0)  # Anna
    beside.lays((5, 0), "base.U", 0)  # Ben
    assert not questions(beside) and len(beside.beyond_tiles()) == 3


def test_a_faint_look_while_it_is_seen_elsewhere_does_not_make_its_square_one_where_it_was() -> None:
    """Else it would count as overlooked there, rather than as hidden from every look."""
    def sees(t_s: float, odds: float) -> TableLook:
        squares = {at: SquareLook(there=5.0, seen=1.0, tiles={("base.U", 0): 0.0}, rest=-9.0, figures=(), neutral=there)
                   for at, there in ((WEST, {"fairy": NeutralLook(there=4.0, foot=(0.5, 0.5))} if odds < 4.0 else {}),
                                     (FAR, {"fairy": NeutralLook(there=odds, foot=(0.8, 0.3))} if odds else {}))}
        return TableLook(frame=round(10 * t_s), t_s=t_s, squares=squares, whole=False)

    for odds, known in ((0.4, False), (4.0, True)):
        sights: dict[str, Sightings] = {}
        for t_s, seen in ((0.0, 0.0), (5.0, 0.0), (10.0, 0.0), (15.0, odds), (16.5, odds if known else 0.0)):
            sights = updated(sights, sees(t_s, seen), ["fairy"])
        assert sights["fairy"][FAR].known is known
