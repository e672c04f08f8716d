"""Times without frames, and squares that nobody watched: what was done then may be any turn's."""

from __future__ import annotations

from dataclasses import replace

import pytest
from piles import EAST, FAR, SOUTH, WEST, PilesTable, top
from tables import START, look

from reading.belief import TableBelief, updated
from scoring.expansions.tower import TowerRaised
from scoring.log import Retracted, open_questions
from scoring.tiles import Square
from vision.looks import TableLook

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


@pytest.mark.parametrize(("looks", "at_s"), [
    ([seen(5.0, bare=(EAST,)), seen(60.0, EAST)], 60.0),
    ([seen(5.0, bare=(EAST,)), seen(50.0, (0, 0), gap_s=(20.0, 50.0)), seen(60.0, EAST)], 20.0),
    ([seen(5.0, bare=(EAST,)), seen(60.0, EAST, gap_s=(20.0, 60.0))], 20.0),
    ([seen(50.0, bare=(EAST,), gap_s=(20.0, 50.0)), seen(60.0, EAST)], 60.0),  # it was bare after the gap
    ([seen(50.0, (0, 0), whole=True, gap_s=(20.0, 50.0)), seen(60.0, EAST)], 60.0),
    ([seen(50.0, (0, 0), gap_s=(20.0, 50.0)), seen(60.0, EAST)], 20.0),
])
def test_a_tile_may_have_been_laid_while_there_were_no_frames(looks: list[TableLook], at_s: float) -> None:
    assert begun_s(EAST, FIRST, *looks) == at_s


@pytest.mark.parametrize(("looks", "at_s"), [
    ([seen(40.0, EAST), seen(60.0, NEXT)], 40.0),
    ([seen(40.0, EAST), seen(45.0, bare=(NEXT,)), seen(60.0, NEXT)], 60.0),
    ([seen(40.0, EAST), seen(45.0, (0, 0), EAST, whole=True), seen(60.0, NEXT)], 60.0),
    ([seen(40.0, EAST, gap_s=(20.0, 40.0)), seen(60.0, NEXT)], 20.0),
])
def test_a_square_is_watched_once_a_tile_is_known_beside_it(looks: list[TableLook], at_s: float) -> None:
    assert begun_s(NEXT, FIRST, seen(5.0, bare=(EAST,)), *looks) == at_s


def test_the_first_tile_lay_there_since_it_was_seen() -> None:
    assert begun_s((0, 0), seen(30.0, (0, 0), gap_s=(1.0, 30.0))) == 30.0


class BlindTable(PilesTable):
    """Looks do not show the squares that are ``left`` out: those are bare, unless there were no frames before the look
    (``gap_s``)."""

    left: tuple[Square, ...] = ()
    gap_s: tuple[float, float] | None = None

    def look(self) -> TableLook:
        made, gap_s, self.gap_s = super().look(), self.gap_s, None
        squares = {at: s for at, s in made.squares.items() if at not in self.left}
        return replace(made, squares=squares, whole=gap_s is None, gaps_s=() if gap_s is None else (gap_s,))


@pytest.mark.parametrize(("gap_s", "players"), [(20.0, [1, 0]), (3.0, [0, 1]), (0.0, [0, 1])])
def test_a_block_added_while_there_were_no_frames_may_be_of_the_newest_turn(gap_s: float, players: list[int]) -> None:
    """Anna lays a tile, Ben lays another one beside it, and one of them adds a block. Ben's square is looked at after
    the look that shows the block; if it was seen bare until then, or there was hardly time, it is rather Anna's."""
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
    table.lays(FAR, "base.U", 0)
    table.sees(8)
    first, = table.told(TowerRaised)
    assert table.book.questions == 1
    seq, = open_questions(table.book.entries)
    table.book.say(Retracted(seq=seq))
    table.sees(8)
    raised = [first, *table.told(TowerRaised)]
    assert [e.player for e in raised if isinstance(e, TowerRaised)] == players
