"""Piles of blocks: what decides between two explanations of the same looks."""

from __future__ import annotations

from dataclasses import replace

import pytest
from piles import EAST, FAR, FLOOR, SOUTH, WEST, PilesTable, top, with_a_foundation
from tables import figure

from reading.stack_track import Pile
from scoring.expansions.tower import Captured, TowerRaised
from scoring.log import Amended, Retracted, effective, open_questions
from scoring.tiles import Square
from vision.looks import FigureLook, TableLook


class PartlyTouched(PilesTable):
    """A table on which nothing moves over some squares (``still``), whatever happens elsewhere."""

    still: tuple[Square, ...] = ()

    def look(self) -> TableLook:
        seen = super().look()
        return replace(seen, squares={at: replace(s, touched_s=0.0) if at in self.still else s
                                      for at, s in seen.squares.items()})


def with_towers(*places: tuple[Square, Square]) -> PartlyTouched:
    """On each first square a tower of one block, which was put there in the turn of the tile on the second one."""
    made = PartlyTouched()
    for at, beside in places:
        made.piles[at] = top(0)
        made.lays(at, "tower.02", 0)
        made.lays(beside, "base.U", 0)
        made.piles[at] = top(1)
        made.sees()
    made.touched_s = 0.0
    made.sees(1)
    return made


@pytest.mark.parametrize("differ", [True, False])
def test_looks_that_differ_about_a_displacement_allow_another_one(differ: bool) -> None:
    """With few tiles nobody knows where the point below the camera is; where all looks agree, a top that appears
    elsewhere was misread."""
    table, other = with_a_foundation(), (FLOOR[0], -FLOOR[1])
    table.lays(EAST, "base.U", 0)

    def sees(times: int, off: tuple[float, float] = (0.0, 0.0)) -> None:
        for n in range(times):
            floor = other if differ and n % 2 else FLOOR
            table.piles[SOUTH] = replace(top(1, off=off), floor=floor)
            table.sees(1)

    sees(6)
    table.tiles[FAR] = ("base.U", 0)
    sees(3)
    table.piles[SOUTH] = top(1, off=other)
    table.sees(4)
    assert len(table.told(TowerRaised)) == 1 + differ and not table.book.questions


@pytest.mark.parametrize("touched", [True, False])
def test_a_pile_over_which_nothing_moved_is_no_other_place_for_an_idle_turns_block(touched: bool) -> None:
    """If only one pile was touched in a turn without another move, what is hardly seen there is worth a question."""
    table = with_towers((SOUTH, WEST), ((0, 2), EAST))
    table.touched_s = 2.0
    table.still = () if touched else ((0, 2),)
    table.tiles[FAR], table.piles[SOUTH] = ("base.U", 0), top(1, off=(0.36 * FLOOR[0], 0.36 * FLOOR[1]))
    table.sees(1, 1.2)
    table.touched_s = 0.0
    table.sees(1, 1.2)
    table.hidden = (SOUTH,)
    table.lays((-3, 0), "base.U", 0)
    table.sees(2)
    assert table.book.questions == (not touched) and len(table.told(TowerRaised)) == 2 + (not touched)


@pytest.mark.parametrize("on_the_way", [True, False])
def test_a_hand_that_changed_nothing_else_has_rather_put_a_block_down(on_the_way: bool) -> None:
    """The same top is worth a question if the hand came back over the pile after the tile had been laid."""
    table = with_towers((SOUTH, WEST))
    table.tiles[FAR], table.touched_s = ("base.U", 0), 2.0
    if not on_the_way:
        table.still = (SOUTH,)
        table.sees(1)
        table.still, table.touched_s = (), 0.0
        table.sees(1)
        table.touched_s = 2.0
    table.piles[SOUTH] = top(1, off=(0.33 * FLOOR[0], 0.33 * FLOOR[1]))
    table.sees(1)
    table.touched_s = 0.0
    table.lays((-3, 0), "base.U", 0)
    table.sees(2)
    assert table.book.questions == (not on_the_way)


def test_a_block_is_surer_if_the_next_one_came_in_a_turn_without_another_move() -> None:
    """Two blocks wait for what looked like a tile."""
    def confidence(*moved: FigureLook) -> float:
        table = with_a_foundation()
        table.lays(EAST, "base.U", 0)
        table.piles[SOUTH] = top(1)
        table.sees()
        table.tiles[7, 7], table.tiles[FAR] = ("base.B", 0), ("base.U", 0)
        table.sees(1)
        table.hidden = ((7, 7),)
        table.piles[SOUTH] = top(2)
        table.sees(3, 1.0)
        table.tiles[1, 1], table.figures[1, 1] = ("base.B", 0), moved
        table.sees(2, 2.0)
        table.piles[SOUTH] = top(3)
        table.sees(2, 1.5)
        table.tiles[-3, 0] = "base.U", 0  # the turn before is over
        table.sees(2, 2.0)
        assert len(table.told(TowerRaised)) == 1
        table.sees(2)
        told = [e.confidence for e in table.book.entries if isinstance(getattr(e.body, "body", e.body), TowerRaised)]
        return told[1]

    assert confidence() > 0.999 > confidence(figure("base.B", 0, "cloister", "I", "red"))


def two_turns(table: PilesTable, *at: Square) -> None:
    """Two tiles and a block on a pile of one come to sight after a long motion."""
    table.tiles |= {square: ("base.U", 0) for square in at}
    table.piles[SOUTH], table.touched_s = top(2), 29.0
    table.sees(1)
    table.touched_s = 0.0


def take_back_the_newest(table: PilesTable) -> None:
    seq = max(seq for seq, e in effective(table.book.entries) if isinstance(e, TowerRaised))
    table.book.say(Retracted(seq=seq))


def confirm(table: PilesTable) -> None:
    seq, = open_questions(table.book.entries)
    table.book.say(Amended(seq=seq, body=dict(effective(table.book.entries))[seq]))


def test_a_block_of_one_of_two_turns_that_people_confirmed_is_none_if_they_take_it_back() -> None:
    """That one of the two had added it was so until they said in which."""
    table = with_a_foundation()
    table.lays(EAST, "base.U", 0)
    table.piles[SOUTH] = top(1)
    table.sees()
    two_turns(table, FAR, (-3, 0))
    table.sees(8)
    assert len(table.told(TowerRaised)) == 2
    confirm(table)
    table.sees(2)
    take_back_the_newest(table)
    table.sees(6)
    assert len(table.told(TowerRaised)) == 1 and table.book.questions == 1


def test_a_block_that_is_none_after_all_says_nothing_of_a_later_one() -> None:
    """It was of one of two turns, and not asked about because another question was open; then it was a misread top."""
    table = with_a_foundation()
    table.doubts[EAST] = {("base.U", 0): 0.0, ("base.W", 0): -0.5}
    table.lays(EAST, "base.U", 0)
    table.piles[SOUTH] = top(1)
    table.sees()
    table.lays(FAR, "base.U", 0)
    table.lays((-3, 0), "base.U", 0)
    assert table.book.questions == 1
    two_turns(table, (-4, 0), (-5, 0))
    table.hidden = (SOUTH,)
    table.sees(5)
    table.hidden, table.piles[SOUTH] = (), top(1)
    table.sees()
    assert len(table.told(TowerRaised)) == 1
    confirm(table)
    table.sees(2)
    table.lays((-6, 0), "base.U", 0)
    table.lays((-7, 0), "base.U", 0)
    table.piles[SOUTH], table.touched_s = top(2), 2.0
    table.sees(1)
    table.touched_s = 0.0
    table.sees()
    assert len(table.told(TowerRaised)) == 2
    take_back_the_newest(table)
    table.sees(6)
    assert len(table.told(TowerRaised)) == 1 and table.book.questions == 1


def test_a_block_that_was_told_by_whom_it_took_came_in_that_turn() -> None:
    """By the looks alone it may as well have come in the turn before."""
    table = with_a_foundation()
    table.lays(EAST, "base.U", 0)
    table.piles[SOUTH] = top(1)
    table.sees()
    table.lays((1, 1), "base.B", 0, figure("base.B", 0, "cloister", "I", "blue"))
    early_s = table.t_s
    table.lays(FAR, "base.U", 0)
    table.piles[SOUTH], table.figures[1, 1] = top(2), ()
    table.sees(1)
    piles, key = table.reader._stack_moves, ("tower", SOUTH)
    late = piles.tracks[key].piles[0]
    first_s, late_s = late.came_s
    piles.tracks[key] = replace(piles.tracks[key], piles=(replace(late, came_s=(first_s, early_s)),
                                                          replace(late, weight=-0.5), Pile(height=1, weight=-6.0)))
    table.hidden = (SOUTH,)
    table.sees(6, 1.5)
    assert table.told(TowerRaised)[1:] == [TowerRaised(player=0, at=SOUTH)] and len(table.told(Captured)) == 1
    assert piles.tracks[key].piles[0].came_s == (first_s, late_s)
