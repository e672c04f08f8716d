"""Pieces that are nobody's: where they stood meanwhile, and moves of turns that the log does not have yet."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tables import figure
from test_neutral import EAST, FAR, WEST, PiecesTable, agreed, questions

from reading.neutral import stood
from reading.sightings import LoggedPile, Sighting, updated
from scoring.expansions.dragon_moves import DragonMoved, FairyMoved
from scoring.notation import FigureRef
from scoring.tiles import Point, Square
from vision.looks import NeutralLook, SquareLook, StackLook, TableLook

NORTH, NORTH_WEST = (1, -1), (-1, -1)


@pytest.fixture
def beside() -> PiecesTable:
    """Ben has moved the fairy to his thief in the west; he has a monk in the north, and Anna one in the far west."""
    made = PiecesTable()
    made.lays(EAST, "base.U", 0)
    made.lays(WEST, "base.U", 0, figure("base.U", 0, "road", "E W", "blue"))
    made.lays(FAR, "base.U", 0, figure("base.U", 0, "road", "E W", "red"))
    made.lays(NORTH, "base.B", 0, figure("base.B", 0, "cloister", "I", "blue"))
    made.lays((2, 0), "base.U", 0)  # Anna
    made.stands["fairy"] = WEST, (0.7, 0.3)
    made.lays((3, 0), "base.U", 0)  # Ben
    agreed(made)
    return made


def went(table: PiecesTable) -> list[tuple[int, Square]]:
    """Who has moved the fairy since Ben did first, and where."""
    return [(e.player, e.at) for e in table.beyond_tiles()[1:] if isinstance(e, FairyMoved)]


def test_where_it_stood_while_tiles_were_not_known_is_told_though_it_has_left(beside: PiecesTable) -> None:
    assert len(beside.beyond_tiles()) == 1
    beside.tiles[4, 0] = "base.U", 0  # Anna
    beside.stands["fairy"] = FAR, (0.7, 0.3)
    beside.sees(2, every_s=1.5)
    beside.tiles[5, 0] = "base.U", 0  # Ben
    beside.stands["fairy"] = NORTH, (0.7, 0.3)
    beside.sees(6)
    assert went(beside) == [(0, FAR), (1, NORTH)] and not questions(beside)


@pytest.fixture
def walked() -> PiecesTable:
    """The dragon has walked along a row of roads, from a volcano in the east to its end in the west."""
    made = PiecesTable()
    for at in (EAST, WEST, FAR, (2, 0), (3, 0)):
        made.lays(at, "base.U", 0)
    made.stands["dragon"] = (4, 0), (0.5, 0.5)
    made.lays((4, 0), "dragon.17", 0)  # Ben
    made.stands["dragon"] = FAR, (0.5, 0.5)
    made.lays((5, 0), "dragon.16", 0)  # Anna
    return made


def test_where_it_was_held_before_it_was_put_back_it_never_stood(beside: PiecesTable) -> None:
    beside.tiles[4, 0] = "base.U", 0  # Anna
    beside.sees(2, every_s=1.5)
    beside.stands["fairy"] = FAR, (0.7, 0.3)
    beside.sees(2, every_s=1.5)
    del beside.stands["fairy"]
    beside.sees(1, every_s=1.5)
    beside.tiles[5, 0] = "base.U", 0  # Ben
    beside.sees(3, every_s=2.0)
    beside.stands["fairy"] = WEST, (0.7, 0.3)
    beside.sees(6)
    assert len(beside.beyond_tiles()) == 1 and not questions(beside)


@pytest.mark.parametrize("foot", [(0.3, 0.7), (0.7, 0.3)])
def test_where_it_stood_for_a_turn_before_it_went_back_is_told_or_asked_about(beside: PiecesTable,
                                                                             foot: Point) -> None:
    """It went back to another place of its tile, or to the same one, where looks may have missed it all the time. The
    turn's tile was read only then."""
    beside.tiles[4, 0] = "base.U", 0  # Anna
    beside.doubts[4, 0] = {("base.U", 0): 0.0, ("base.V", 0): -0.1}
    beside.stands["fairy"] = FAR, (0.7, 0.3)
    beside.sees(3, every_s=2.5)
    beside.doubts.clear()
    beside.tiles[5, 0] = "base.U", 0  # Ben
    beside.stands["fairy"] = WEST, foot
    beside.sees(3, every_s=2.5)
    away, same = FairyMoved(player=0, at=FAR, beside=FigureRef(owner=0, figure="follower", feature="road",
                                                               where="E W")), foot == (0.7, 0.3)
    if same:
        assert questions(beside) == [away]
        agreed(beside)
    beside.sees(8)
    assert away in beside.events and went(beside) == [(0, FAR), (1, WEST)] and not questions(beside)


def test_a_hand_that_looks_like_it_once_elsewhere_does_not_end_its_stay(beside: PiecesTable) -> None:
    beside.tiles[4, 0] = "base.U", 0  # Anna
    beside.stands["fairy"] = FAR, (0.7, 0.3)
    beside.sees(1, every_s=1.5)
    beside.stands["fairy"] = EAST, (0.2, 0.9)
    beside.sees(1, every_s=1.5)
    beside.stands["fairy"] = FAR, (0.7, 0.3)
    beside.sees(1, every_s=1.5)
    beside.tiles[5, 0] = "base.U", 0  # Ben
    beside.stands["fairy"] = NORTH, (0.7, 0.3)
    beside.sees(8)
    assert went(beside) == [(0, FAR), (1, NORTH)]


def test_what_may_be_a_pile_is_asked_about() -> None:
    table = PiecesTable()
    pile = StackLook(there=6.0, top=(0.5, 0.5), yaw=0.0, floor=(0.02, -0.03), heights=(-6.0, -0.2, -2.0))
    piece = NeutralLook(there=5.1, foot=(0.5, 0.5))
    seen = SquareLook(there=5.0, seen=1.0, tiles={("base.U", 0): 0.0}, rest=-9.0, figures=(),
                      neutral={"dragon": piece}, stacks={"tower": pile})
    look = TableLook(frame=1, t_s=1.0, squares={FAR: seen}, whole=False)
    assert updated({}, look, ["dragon"])["dragon"][FAR].piled
    plain = replace(look, squares={FAR: replace(seen, stacks={})})
    assert not updated({}, plain, ["dragon"])["dragon"][FAR].piled
    table.lays(EAST, "dragon.17", 0)
    table.stands["dragon"] = EAST, (0.5, 0.5)
    table.lays(WEST, "dragon.16", 0)
    del table.stands["dragon"]
    table.seen_as[0, 0] = replace(seen, tiles={("base.D", 0): 0.0})
    table.sees(6)
    assert questions(table) == [DragonMoved(player=1, path=((0, 0),))]


def test_where_it_stood_in_the_newest_turn_it_was_on_its_way(walked: PiecesTable) -> None:
    walked.lays((6, 0), "dragon.14", 0)  # Ben
    entries = len(walked.book.entries)
    for at in (WEST, (0, 0)):
        walked.stands["dragon"] = at, (0.5, 0.5)
        walked.sees(2, every_s=1.5)
    walked.stands["dragon"] = EAST, (0.5, 0.5)
    walked.sees(6)
    assert [e.body for e in walked.book.entries[entries:]] == [DragonMoved(player=1, path=(WEST, (0, 0), EAST))]


def test_it_went_there_in_the_turn_of_a_tile_that_is_not_known_yet() -> None:
    """The tile is read only later, the piece at once; the last step of the walk before was not seen."""
    table = PiecesTable()
    for at, tile in ((EAST, "base.U"), (WEST, "base.U"), (FAR, "base.U"), (NORTH_WEST, "base.B"), ((2, 0), "base.U")):
        table.lays(at, tile, 0)
    table.stands["dragon"] = (3, 0), (0.5, 0.5)
    table.lays((3, 0), "dragon.17", 0)  # Ben
    table.stands["dragon"] = WEST, (0.5, 0.5)
    table.lays((4, 0), "dragon.16", 0)  # Anna
    first, = table.told(DragonMoved)
    unknown(table, (5, 0), "dragon.14")  # Ben
    table.stands["dragon"] = NORTH_WEST, (0.5, 0.5)
    table.sees(6, every_s=2.0)
    assert table.told(DragonMoved) == [first] and not questions(table)
    table.doubts.clear()
    table.sees()
    assert [getattr(e, "player", None) for e in table.told(DragonMoved)] == [0, 1]


def test_where_it_stood_in_the_turn_of_an_unknown_tile_is_not_told_of_an_older_one(beside: PiecesTable) -> None:
    for at in ((4, 0), (5, 0), (6, 0)):
        beside.lays(at, "base.U", 0)  # Anna and Ben, who do nothing
    unknown(beside, (7, 0), "base.U")  # Ben
    beside.stands["fairy"] = NORTH, (0.7, 0.3)
    beside.sees(2, every_s=1.5)
    del beside.stands["fairy"]
    beside.sees(5, every_s=2.0)
    assert len(beside.beyond_tiles()) == 1 and not questions(beside)


def unknown(table: PiecesTable, at: Square, tile: str) -> None:
    """A tile that cannot be told from a similar one yet."""
    other = "base.V" if tile == "base.U" else "base.U"
    table.tiles[at], table.doubts[at] = (tile, 0), {(tile, 0): 0.0, (other, 0): -2.5}
    table.sees(1, every_s=2.0)


def test_a_pile_of_the_same_wood_is_not_the_piece() -> None:
    """Its blocks have the fairy's colour. One that the game does not have would be new: it may be the piece."""
    piece = NeutralLook(there=5.0, foot=(0.52, 0.44))
    pile = StackLook(there=6.0, top=(0.56, 0.42), yaw=0.0, floor=(0.02, -0.03), heights=(-6.0, -2.0, -0.2))

    def odds(foot: Point, logged: LoggedPile | None, pile: StackLook = pile) -> float:
        square = SquareLook(there=5.0, seen=1.0, tiles={("base.U", 0): 0.0}, rest=-9.0, figures=(),
                            neutral={"fairy": replace(piece, foot=foot)}, stacks={"tower": pile})
        look = TableLook(frame=1, t_s=1.0, squares={FAR: square}, whole=False)
        return updated({}, look, ["fairy"], {FAR: logged} if logged else {})["fairy"][FAR].odds

    logged = LoggedPile(top=(0.55, 0.43), blocks=2)
    covered = replace(pile, there=-5.0, top=(0.9, 0.9))  # by a figure on top: the look found no top
    for foot in (piece.foot, (0.51, 0.58)):
        assert odds(foot, logged) < 0.0 < odds(foot, None) < 2.0
        assert odds(foot, logged, covered) < 0.0 < odds(foot, None, covered) == piece.there
        assert odds(foot, replace(logged, top=None), covered) == piece.there
    assert odds((0.2, 0.8), logged) == odds((0.2, 0.8), None) == odds((0.2, 0.8), logged, covered) == piece.there
    below = (0.55, 0.72)  # where the lowest block of a high pile stands
    assert odds(below, replace(logged, blocks=9), covered) < 0.0 < odds(below, logged, covered)


STAY = Sighting(odds=3.0, peak=3.0, t_s=30.0, came_s=20.0, first_s=20.0, found_s=22.0, foot=(0.5, 0.5))
LEFT, NOW_AT = replace(STAY, odds=-4.0, found_s=10.0), replace(STAY, first_s=25.0, found_s=30.0)


@pytest.mark.parametrize(("stay", "left", "now_at"), [
    (replace(STAY, found_s=20.0), LEFT, NOW_AT),  # in a single look
    (replace(STAY, odds=0.4), LEFT, NOW_AT),  # hardly seen
    (replace(STAY, piled=True), LEFT, NOW_AT),  # maybe a block
    (STAY, replace(LEFT, found_s=21.0), NOW_AT),  # before it had left
    (STAY, LEFT, replace(NOW_AT, first_s=21.0)),  # while it was seen where it is now
    (STAY, LEFT, replace(NOW_AT, odds=-0.5)),  # it is seen nowhere
])
def test_what_does_not_count_as_having_stood_somewhere(stay: Sighting, left: Sighting, now_at: Sighting) -> None:
    assert stood(STAY, LEFT, NOW_AT) and not stood(stay, left, now_at)


def test_that_it_came_by_is_as_sure_as_the_look_that_saw_it_whatever_older_looks_said() -> None:
    """A walk leads over a square on which nobody had seen the piece for long."""
    sights = updated({}, TableLook(frame=0, t_s=0.0, squares={}), ["dragon"])
    for t_s, there in [*((5.0 * n, -8.0) for n in range(3)), (40.0, 2.6), (41.5, 2.6)]:
        seen = SquareLook(there=5.0, figures=(), neutral={"dragon": NeutralLook(there=there, foot=(0.5, 0.5))})
        sights = updated(sights, TableLook(frame=round(t_s * 10), t_s=t_s, squares={FAR: seen}), ["dragon"])
    sight = sights["dragon"][FAR]
    assert sight.found_s > sight.first_s and 0.0 < sight.peak < 2.5 and sight.clearest == 2.6


def test_a_follower_where_it_stands_says_no_more_against_the_piece_than_an_empty_tile() -> None:
    """That he is surely not the fairy does not say that she is not beside him."""
    def odds(*looks: tuple[float, float]) -> float:
        sights = updated({}, TableLook(frame=0, t_s=0.0, squares={}), ["fairy"])
        for n, (there, x) in enumerate(looks):
            square = SquareLook(there=5.0, figures=(), neutral={"fairy": NeutralLook(there=there, foot=(x, 0.5))})
            sights = updated(sights, TableLook(frame=n, t_s=5.0 * n, squares={FAR: square}), ["fairy"])
        return sights["fairy"][FAR].odds

    follower, nothing, seen = (-8.0, 0.2), (-2.0, 0.5), (5.2, 0.7)
    assert odds(*[follower] * 9, seen) == odds(*[nothing] * 9, seen) > 2.5
    assert odds(seen, follower) == odds(seen, nothing) > odds(seen, (-8.0, 0.7))  # he stands where she stood


@pytest.fixture
def moved(beside: PiecesTable) -> PiecesTable:
    """Anna has a monk in the east, too. She has moved the fairy beside her thief."""
    beside.lays((4, 0), "base.B", 0, figure("base.B", 0, "cloister", "I", "red"))
    beside.lays((5, 0), "base.U", 0)  # Ben
    beside.lays((4, -1), "base.B", 0)  # Anna
    beside.stands["fairy"] = FAR, (0.7, 0.3)
    beside.sees(6)
    assert fairies(beside) == [(0, FAR)] and not questions(beside)
    return beside


def fairies(table: PiecesTable) -> list[tuple[int, Square]]:
    return [(e.player, e.at) for e in table.beyond_tiles()[1:] if isinstance(e, FairyMoved)]


def test_a_move_to_where_it_was_seen_for_long_is_not_taken_back_without_a_question(moved: PiecesTable) -> None:
    """It seems to stand beside her monk before the next tile lies: that may be print."""
    moved.stands["fairy"] = (4, 0), (0.7, 0.3)
    moved.sees(8)
    assert len(fairies(moved)) == 1 and len(questions(moved)) == 1
