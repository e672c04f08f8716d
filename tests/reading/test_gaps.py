"""Times without frames, and squares that nobody watched: what was done then may be any turn's."""

from __future__ import annotations

from dataclasses import replace

import pytest
from piles import EAST, FAR, SOUTH, WEST, PilesTable, top, with_a_foundation
from tables import START, look

from reading.belief import TableBelief, updated
from scoring.events import TilePlaced
from scoring.expansions.tower import TowerRaised
from scoring.log import Retracted, open_questions
from scoring.tiles import Square
from vision.looks import SquareLook, TableLook

U = ("base.U", 0)
NEXT: Square = (2, 0)


def seen(t_s: float, *squares: Square, gap_s: tuple[float, float] | None = None, whole: bool = False,
         bare: tuple[Square, ...] = ()) -> TableLook:
    """A look at these squares alone, on which tiles lie, and at ``bare`` ones."""
    made = look(t_s, {at: START.get(at, U) for at in (*squares, *bare)}, whole=whole)
    return replace(made, gaps_s=() if gap_s is None else (gap_s,), squares={
        at: replace(square, there=-5.0, tiles={}) if at in bare else square for at, square in made.squares.items()})


def begun_s(at: Square, *looks: TableLook) -> float:
    belief = TableBelief()
    for each in looks:
        belief = updated(belief, each)
    return belief.begun_s(at)


FIRST = seen(0.0, (0, 0), whole=True)


BARE = seen(5.0, bare=(EAST,))


@pytest.mark.parametrize(("looks", "at_s"), [
    ([BARE, seen(60.0, EAST)], 60.0),
    ([BARE, seen(57.0, (0, 0), gap_s=(20.0, 57.0)), seen(60.0, EAST)], 20.0),
    ([BARE, seen(60.0, EAST, gap_s=(20.0, 60.0))], 20.0),
    ([BARE, seen(50.0, (0, 0), gap_s=(20.0, 50.0)), seen(60.0, EAST)], 60.0),  # it would have been seen before
    ([BARE, seen(50.0, (0, 0), gap_s=(20.0, 50.0)), seen(54.5, (0, 0), gap_s=(53.0, 54.5)), seen(57.0, EAST)], 20.0),
    ([BARE, seen(40.0, (0, 0), gap_s=(20.0, 40.0)), seen(54.5, (0, 0), gap_s=(53.0, 54.5)), seen(57.0, EAST)], 53.0),
    ([seen(58.0, bare=(EAST,), gap_s=(20.0, 58.0)), seen(60.0, EAST)], 60.0),  # it was bare after the gap
    ([BARE, seen(58.0, (0, 0), whole=True, gap_s=(20.0, 58.0)), seen(60.0, EAST)], 60.0),
    ([seen(57.0, (0, 0), gap_s=(20.0, 57.0)), seen(60.0, EAST)], 20.0),
    ([BARE, seen(15.0, (0, 0), gap_s=(2.0, 4.9)), seen(60.0, EAST)], 60.0),
])
def test_a_tile_may_have_been_laid_while_there_were_no_frames(looks: list[TableLook], at_s: float) -> None:
    """What changed then is looked at soon after."""
    assert begun_s(EAST, FIRST, *looks) == at_s


@pytest.mark.parametrize(("looks", "at_s"), [
    ([seen(57.0, EAST), seen(60.0, NEXT)], 57.0),
    ([seen(40.0, EAST), seen(60.0, NEXT)], 60.0),  # it would have been looked at before
    ([seen(57.0, EAST), seen(58.0, bare=(NEXT,)), seen(60.0, NEXT)], 60.0),
    ([seen(57.0, EAST), seen(58.0, (0, 0), EAST, whole=True), seen(60.0, NEXT)], 60.0),
    ([seen(57.0, EAST, gap_s=(20.0, 57.0)), seen(60.0, NEXT)], 20.0),
    ([seen(57.0, EAST), seen(58.5, (2, 1)), seen(60.0, NEXT)], 57.0),  # the first of those beside it
])
def test_a_square_is_watched_once_a_tile_is_known_beside_it(looks: list[TableLook], at_s: float) -> None:
    assert begun_s(NEXT, FIRST, BARE, *looks) == at_s


@pytest.mark.parametrize(("since_s", "t_s", "begun_s"), [
    (5.0, 51.0, 20.0), (5.0, 54.5, 20.0), (51.0, 55.0, 53.0), (5.0, 70.0, None), (60.0, 61.0, None),
    (5.0, 40.0, None),  # the look itself was in it
])
def test_the_time_without_frames_before_a_look(since_s: float, t_s: float, begun_s: float | None) -> None:
    belief = TableBelief(gaps_s=((8.0, 9.0), (20.0, 50.0), (53.0, 54.5)))
    assert belief.gap_before_s(since_s, t_s) == begun_s


def test_the_first_tile_lay_there_since_it_was_seen() -> None:
    assert begun_s((0, 0), seen(30.0, (0, 0), gap_s=(1.0, 30.0))) == 30.0


def test_a_gap_before_a_look_that_shows_no_board_is_one() -> None:
    """The board was pushed meanwhile, and is found by the next look."""
    table = PilesTable()
    for n in range(1, 5):
        table.lays((n, 0), "base.U", 0)
    lost = replace(look(100.0, {(9, 9): ("base.B", 2), (9, 8): U}), gaps_s=((90.0, 100.0),))
    assert table.reader.look(lost, table.book.entries).status == "lost"
    table.t_s = 100.0
    table.tiles[-1, 0] = U
    table.sees(1, 1.0)
    assert table.reader.belief.begun_s((-1, 0)) == 90.0


class BlindTable(PilesTable):
    """Looks do not show the squares that are ``left`` out: those are bare, unless there were no frames before the look
    (``gap_s``)."""

    left: tuple[Square, ...] = ()
    gap_s: tuple[float, float] | None = None

    def look(self) -> TableLook:
        made, gap_s, self.gap_s = super().look(), self.gap_s, None
        squares = {at: s for at, s in made.squares.items() if at not in self.left}
        return replace(made, squares=squares, whole=gap_s is None, gaps_s=() if gap_s is None else (gap_s,))


def two_tiles(gap_s: float) -> BlindTable:
    """Anna lays a tile, Ben lays another one beside it, and one of them adds a block, within 20 s; in the last of them
    there are no frames. Ben's square is looked at after the look that shows the block."""
    table = BlindTable()
    table.piles[SOUTH] = top(0)
    table.lays(SOUTH, "tower.02", 0)
    table.lays(WEST, "base.U", 0)
    table.tiles |= {EAST: U, NEXT: U}
    table.piles[SOUTH] = top(1)
    table.left, table.touched_s = (NEXT,), 20.0
    if gap_s:
        table.gap_s = table.t_s + 20.0 - gap_s, table.t_s + 20.0
    table.sees(1, 20.0)
    table.left, table.touched_s = (), 0.0
    table.sees(1, 0.5)
    return table


def raised_by(table: PilesTable, questions: int) -> list[int]:
    """Who added the block, and who did if people deny that."""
    table.lays(FAR, "base.U", 0)
    table.sees(8)
    first = table.told(TowerRaised)
    assert table.book.questions == questions
    for seq in open_questions(table.book.entries):
        table.book.say(Retracted(seq=seq))
        table.sees(8)
        first += table.told(TowerRaised)
    return [e.player for e in first if isinstance(e, TowerRaised)]


@pytest.mark.parametrize(("gap_s", "players"), [(20.0, [1, 0]), (3.0, [0, 1]), (0.0, [0, 1])])
def test_a_block_added_while_there_were_no_frames_may_be_of_the_newest_turn(gap_s: float, players: list[int]) -> None:
    """If Ben's square was seen bare until then, or there was hardly time, it is rather Anna's."""
    assert raised_by(two_tiles(gap_s), 1) == players


def test_what_happened_in_an_earlier_gap_is_not_forgotten_in_the_next_one() -> None:
    table = two_tiles(20.0)
    table.gap_s = table.t_s + 0.6, table.t_s + 1.7
    assert raised_by(table, 1) == [1, 0]


class ArmTable(PilesTable):
    """An arm may be over a square without a tile, which looks see so much of then (``over``)."""

    over: float | None = None

    def look(self) -> TableLook:
        made = super().look()
        if self.over is None:
            return made
        return replace(made, whole=False, squares={
            **made.squares, NEXT: SquareLook(there=-5.0, seen=self.over, figures=None)})


@pytest.mark.parametrize(("over", "covered_s", "questions"), [(1.0, 8.0, 0), (0.1, 8.0, 1), (0.1, 3.0, 0)])
def test_a_block_added_under_an_arm_over_the_next_tile_is_asked_about(over: float, covered_s: float,
                                                                      questions: int) -> None:
    """Ben's arm rests where his tile is found later, while the block is seen: Anna's, or his."""
    table = ArmTable()
    table.piles[SOUTH], table.touched_s = top(0), 0.0
    table.lays(SOUTH, "tower.02", 0)
    table.lays(WEST, "base.U", 0)
    table.lays(EAST, "base.U", 0)
    table.over = over
    table.sees(1, 3.0)
    table.piles[SOUTH], table.touched_s = top(1), 3.0
    table.sees(1, covered_s)
    table.over, table.touched_s = None, 0.0
    table.tiles[NEXT] = U
    table.sees(4, 2.0)
    assert raised_by(table, questions)[0] == questions


def test_a_block_before_a_tile_that_people_enter_is_of_the_turn_before() -> None:
    table = with_a_foundation()
    table.touched_s = 3.0
    table.lays(EAST, "base.U", 0)
    table.piles[SOUTH] = top(1)
    table.sees(1)
    table.book.say(TilePlaced(player=1, tile="base.U", at=FAR, rot=0))  # and the camera does not see it
    table.touched_s = 0.0
    table.sees()
    assert table.told(TowerRaised) == [TowerRaised(player=0, at=SOUTH)] and not table.book.questions
