"""Piles of blocks: told, or asked about, in the turn in which a block was added."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from piles import EAST, FAR, FLOOR, SETUP, SOUTH, WEST, PilesTable, hardly_raised, raised_again, top, with_a_foundation
from tables import figure

from reading.game import GameReader
from reading.stack_limits import STACK
from reading.stack_turns import not_logged
from scoring.engine import fold
from scoring.events import FigurePlaced, GameEnded, TilePlaced, TurnEnded
from scoring.expansions.tower import Captured, TowerRaised
from scoring.expansions.tower_state import towers
from scoring.log import Amended, Retracted, effective, open_questions
from vision.looks import StackLook, TableLook


@pytest.fixture
def table() -> PilesTable:
    return with_a_foundation()


def test_a_block_is_told_in_the_turn_in_which_it_appeared(table: PilesTable) -> None:
    table.lays(EAST, "base.U", 0)
    table.piles[SOUTH] = top(1)
    table.sees()
    assert table.told(TowerRaised) == [TowerRaised(player=0, at=SOUTH)]
    table.lays(FAR, "base.U", 0)
    table.piles[SOUTH] = top(2)
    table.sees(4)
    assert table.told(TowerRaised) == [TowerRaised(player=0, at=SOUTH), TowerRaised(player=1, at=SOUTH)]
    state = fold(SETUP, table.book.events())
    assert towers(state).heights == {SOUTH: 2} and not state.issues and not table.book.questions


def test_a_block_that_is_found_late_belongs_to_the_turn_before(table: PilesTable) -> None:
    table.lays(EAST, "base.U", 0)
    table.piles[SOUTH] = top(1)
    table.tiles[FAR] = ("base.U", 0)
    table.sees(1, 1.0)
    table.sees(4)
    # both came between two looks: the newest turn could have added it, and so could the one before
    events = [e for e in table.book.events() if not isinstance(e, FigurePlaced)]
    assert [type(e).__name__ for e in events].count("TowerRaised") == 1


def test_noise_and_a_covered_top_are_no_blocks(table: PilesTable) -> None:
    table.lays(EAST, "base.U", 0)
    table.piles[SOUTH] = top(1)
    table.sees()
    for n in range(40):
        off = 0.004 * math.cos(n), 0.004 * math.sin(1.7 * n)
        table.piles[SOUTH] = top(1, off=off, yaw=0.4 + 0.03 * math.cos(2.3 * n)) if n % 9 else top(0)
        table.sees(1)
    assert len(table.told(TowerRaised)) == 1


def test_a_look_that_is_wrong_once_adds_no_block(table: PilesTable) -> None:
    table.lays(EAST, "base.U", 0)
    table.piles[SOUTH] = top(1)
    table.sees()
    table.piles[SOUTH] = top(2)
    table.sees(1, 1.2)
    table.piles[SOUTH] = top(1)
    table.sees(4, 1.2)
    assert len(table.told(TowerRaised)) == 1


def test_a_pile_that_was_knocked_is_not_higher(table: PilesTable) -> None:
    """Its top appears where no block more would have put it."""
    table.lays(EAST, "base.U", 0)
    table.piles[SOUTH] = top(1, floor=(0.08, 0.0))
    table.sees()
    table.piles[SOUTH] = top(1, floor=(0.08, 0.0), off=(-0.02, 0.015))
    table.sees()
    assert len(table.told(TowerRaised)) == 1


def test_a_pile_is_asked_about_until_an_empty_place_was_seen() -> None:
    """The print of a place may look like a block; once one was seen empty it does not."""
    table = PilesTable()
    table.piles[SOUTH] = top(1)
    table.lays(SOUTH, "tower.02", 0)
    assert not table.told(TowerRaised)
    table.sees(4)
    assert len(table.told(TowerRaised)) == 1 and table.book.questions == 1
    table.lays((0, 2), "tower.03", 0)
    table.piles[0, 2] = top(0)
    table.sees()
    table.piles[0, 2] = top(1)
    table.sees()
    assert len(table.told(TowerRaised)) == 2 and table.book.questions == 1


def test_what_people_took_back_is_not_told_again(table: PilesTable) -> None:
    table.lays(EAST, "base.U", 0)
    table.piles[SOUTH] = top(1)
    table.sees()
    seq = next(s for s, e in effective(table.book.entries) if isinstance(e, TowerRaised))
    table.book.say(Retracted(seq=seq))
    table.sees(5)
    assert not table.told(TowerRaised)


def test_what_no_turn_could_have_added_is_not_asked_about(table: PilesTable) -> None:
    """Each turn has one such move: a top that moved somewhat in a turn that had another one was knocked."""
    table.lays(EAST, "base.U", 0)
    table.piles[SOUTH] = top(1)
    table.sees()
    table.figures[0, 2] = (figure("base.B", 0, "cloister", "I", "blue"),)
    table.lays((0, 2), "base.B", 0)
    table.piles[SOUTH] = top(1, off=(0.3 * FLOOR[0], 0.3 * FLOOR[1]))
    table.sees(8)
    assert len(table.told(FigurePlaced)) == 2 and len(table.told(TowerRaised)) == 1 and not table.book.questions


def test_print_where_a_much_higher_pile_would_appear_is_no_first_block(table: PilesTable) -> None:
    """It looks the same each time, and once a block is there that is told."""
    heights = (-1.5, *(-6.8,) * 6, -5.0, -3.0, -1.2, -0.8, -1.0)  # as looked at, of none to 11 blocks
    print_ = StackLook(there=1.4, top=(0.86, 0.26), yaw=0.1, floor=FLOOR, heights=heights, tone=4.9)
    table.piles[SOUTH] = print_
    table.lays(EAST, "base.U", 0)
    table.lays(FAR, "base.U", 0)
    table.sees(6)
    assert not table.told(TowerRaised) and not table.book.questions
    table.piles[SOUTH] = replace(top(1), heights=(-6.0, -1.0, -0.6, -2.7, *(-6.6,) * 8), tone=4.3)
    table.sees()
    assert table.told(TowerRaised) == [TowerRaised(player=1, at=SOUTH)]


@pytest.mark.parametrize("beside", [0.1, 0.3])  # tiles
def test_a_first_block_covers_its_place(table: PilesTable, beside: float) -> None:
    """One that was put down beside the middle looks like a higher pile; what is as far away as that is print."""
    blocks = round(beside / math.hypot(*FLOOR))  # of the pile whose top would appear there
    heights = (-6.0, *(-0.8 * (n - blocks) ** 2 for n in range(blocks)), 0.0, -0.8, -3.2)
    table.lays(EAST, "base.U", 0)
    table.piles[SOUTH] = replace(top(blocks + 1, there=3.0), heights=heights)
    table.sees()
    assert table.told(TowerRaised) == ([TowerRaised(player=0, at=SOUTH)] if beside < STACK.covers else [])
    assert not table.book.questions


def test_a_film_that_ends_asks_about_a_block_once(table: PilesTable) -> None:
    """The last look shows a top elsewhere; people say that it is no block, and there are no more looks."""
    raised_again(table, top(2))
    table.sees(1)
    asked = 0
    for _ in range(5):
        for made in table.reader.finish(table.book.entries).decisions:
            table.book.commit(made)
            if made.events and isinstance(made.events[0], TowerRaised):
                asked += 1
                newest = max(seq for seq, e in effective(table.book.entries) if isinstance(e, TowerRaised))
                table.book.say(Retracted(seq=newest))
    assert asked == 1 and len(table.told(TowerRaised)) == 1


def test_a_block_that_people_confirm_says_nothing_of_the_next_one(table: PilesTable) -> None:
    """It is on the table already, and not told yet."""
    table.lays(EAST, "base.U", 0)
    table.piles[SOUTH] = top(1)
    table.sees()
    seq, first = next((seq, e) for seq, e in effective(table.book.entries) if isinstance(e, TowerRaised))
    table.lays(FAR, "base.U", 0)
    table.piles[SOUTH] = top(2)
    table.sees(2, 1.2)
    assert table.told(TowerRaised) == [first]
    table.book.say(Amended(seq=seq, body=first))
    table.sees()
    assert table.told(TowerRaised) == [first, TowerRaised(player=1, at=SOUTH)]
    assert not open_questions(table.book.entries)


def test_what_people_say_of_a_tile_is_nothing_about_the_pile_on_it(table: PilesTable) -> None:
    table.lays(EAST, "base.U", 0)
    table.piles[SOUTH] = top(1)
    table.sees(1)
    placed = next((seq, e) for seq, e in effective(table.book.entries) if isinstance(e, TilePlaced) and e.at == SOUTH)
    table.book.say(Amended(seq=placed[0], body=placed[1]))
    table.sees()
    assert table.told(TowerRaised) == [TowerRaised(player=0, at=SOUTH)]


def test_what_the_log_has_is_not_counted_again(table: PilesTable) -> None:
    """People enter a block that the camera hardly saw; the next one is one more."""
    table.lays(EAST, "base.U", 0)
    table.piles[SOUTH] = top(1)
    table.sees()
    table.lays(FAR, "base.U", 0)
    table.book.say(TowerRaised(player=1, at=SOUTH))
    table.sees()
    assert len(table.told(TowerRaised)) == 2
    table.lays((-3, 0), "base.U", 0)
    table.piles[SOUTH] = top(2)
    table.sees(4)
    assert [e.player for e in table.told(TowerRaised)] == [0, 1, 0]  # type: ignore[attr-defined]


def test_a_block_that_people_moved_to_another_pile_is_not_told_again() -> None:
    table = PilesTable()
    for at in (SOUTH, (0, 2)):
        table.piles[at] = top(0)
        table.lays(at, "tower.02", 0)
        table.lays(WEST if at == SOUTH else EAST, "base.U", 0)
    table.piles[SOUTH] = top(1)
    table.sees()
    seq = next(s for s, e in effective(table.book.entries) if isinstance(e, TowerRaised))
    table.book.say(Amended(seq=seq, body=TowerRaised(player=1, at=(0, 2))))
    table.sees(6)
    assert table.told(TowerRaised) == [TowerRaised(player=1, at=(0, 2))]
    assert not open_questions(table.book.entries)


def test_blocks_that_the_log_has_are_told_from_the_one_that_it_has_not() -> None:
    """A block that was doubtful is told in the turn in which it came, also when the next one is in the log already."""
    assert not_logged((20.0, 60.0), 1, [(50.0, 70.0)]) == (20.0,)
    assert not_logged((20.0, 60.0), 1, [(10.0, 30.0)]) == (60.0,)
    assert not_logged((20.0, 60.0, 90.0), 2, [(50.0, 70.0)]) == (20.0, 90.0)
    assert not_logged((20.0, 60.0), 1, []) == (60.0,)
    assert not_logged((20.0, 60.0), 0, []) == ()
    assert not_logged((20.0, 28.0), 1, [(10.0, 30.0)]) == (28.0,)  # seen as that turn ended: the next one's
    assert not_logged((28.0, 60.0), 1, [(10.0, 30.0)]) == (60.0,)
    assert not_logged((20.0, 60.0), 2, [(50.0, 70.0)]) == (20.0, 60.0)  # the log has one that no look showed


@pytest.mark.parametrize("taken", [True, False])
def test_a_block_added_while_the_top_was_covered_may_be_of_that_turn(table: PilesTable, taken: bool) -> None:
    """Looks in Anna's turn do not show the top, those in Ben's next turn show it raised. If a monk has been gone since
    her turn, it is hers, and has taken him; else people are asked."""
    table.lays(EAST, "base.U", 0)
    table.piles[SOUTH] = top(1)
    table.sees()
    table.lays((1, 1), "base.B", 0, figure("base.B", 0, "cloister", "I", "blue"))
    table.tiles[FAR] = ("base.U", 0)
    table.piles[SOUTH] = top(1, there=-3.0)
    table.sees(1)
    if taken:
        table.figures[1, 1] = ()
    table.sees(1)
    table.piles[SOUTH] = top(2)
    table.lays((-3, 0), "base.U", 0)
    table.sees()
    assert len(table.told(TowerRaised)) == 2
    assert table.book.questions == (0 if taken else 1)
    if taken:
        assert table.told(TowerRaised)[1] == TowerRaised(player=0, at=SOUTH)
        assert [(e.player, e.owner, e.at) for e in table.told(Captured)] == [(0, 1, (1, 1))]  # type: ignore[attr-defined]


@pytest.mark.parametrize(("moved", "by", "asked"), [(False, 0.6, True), (True, 0.6, False), (False, 0.3, False)])
def test_a_film_that_ends_without_a_move_asks_about_a_block_in_doubt(moved: bool, by: float, asked: bool) -> None:
    """No later look will tell. If somebody has put a figure down in that turn, no block was added; and a top that
    hardly appears elsewhere than before is worth nobody's time."""
    table = PilesTable()
    for at in (SOUTH, (0, 2)):
        table.piles[at] = top(0)
        table.lays(at, "tower.02", 0)
        table.lays(WEST if at == SOUTH else EAST, "base.U", 0)
        table.piles[at] = top(1)
        table.sees()
    assert len(table.told(TowerRaised)) == 2
    if moved:
        table.lays(FAR, "base.U", 0, figure("base.U", 0, "road", "E W", "red"))
    else:
        table.lays(FAR, "base.U", 0)
    table.piles[SOUTH] = top(1, off=(by * FLOOR[0], by * FLOOR[1]))
    table.sees(1, 1.2)
    assert not table.book.questions
    for made in table.reader.finish(table.book.entries).decisions:
        table.book.commit(made)
    assert table.told(TowerRaised)[2:] == ([TowerRaised(player=0, at=SOUTH)] if asked else [])
    assert table.book.questions == asked


def test_a_block_in_doubt_is_asked_about_when_people_end_the_game(table: PilesTable) -> None:
    """And it belongs before the end; what happens on the table afterwards is none of the game's."""
    hardly_raised(table)
    assert not table.book.questions
    table.book.say(GameEnded())
    del table.tiles[FAR]
    table.piles[SOUTH] = top(4)
    table.sees(6)
    assert table.told(TowerRaised)[1:] == [TowerRaised(player=1, at=SOUTH)] and table.book.questions == 1
    assert isinstance(table.events[-1], GameEnded) and len(table.told(TilePlaced)) == 4


def test_what_was_seen_of_a_turn_is_told_in_its_order_when_people_end_the_game(table: PilesTable) -> None:
    table.tiles[EAST], table.figures[EAST] = ("base.U", 0), (figure("base.U", 0, "road", "E W", "red"),)
    table.doubts[EAST] = {("base.U", 0): 0.0, ("base.D", 0): -1.0}
    table.tiles[2, 0] = "base.U", 0
    table.sees(1, 0.5)
    assert len(table.told(TilePlaced)) == 2  # another look would tell
    table.book.say(GameEnded())
    table.sees(6)
    assert [type(e) for e in table.events[-4:]] == [TilePlaced, FigurePlaced, TilePlaced, GameEnded]
    assert [e.at for e in table.told(TilePlaced) if isinstance(e, TilePlaced)][-2:] == [EAST, (2, 0)]


def test_who_is_taken_home_as_the_game_is_ended_was_hardly_captured(table: PilesTable) -> None:
    """People clear the table a moment before somebody taps: that is asked about."""
    table.lays((1, 1), "base.B", 0, figure("base.B", 0, "cloister", "I", "red"))
    table.lays(EAST, "base.U", 0)
    table.piles[SOUTH] = top(1)
    table.sees(6)
    assert table.told(TowerRaised) and not table.told(Captured)
    table.figures.clear()
    table.sees(3, 1.3)
    table.book.say(GameEnded())
    table.sees(3, 1.3)
    taken = [seq for seq, event in effective(table.book.entries) if isinstance(event, Captured)]
    assert len(taken) == 1 and taken[0] in open_questions(table.book.entries)


def test_a_block_belongs_to_the_turn_that_people_had_ended(table: PilesTable) -> None:
    hardly_raised(table)
    table.book.say(TurnEnded())
    table.book.say(GameEnded())
    table.sees(3)
    assert [type(e) for e in table.events[-3:]] == [TowerRaised, TurnEnded, GameEnded]


def test_a_reader_that_begins_after_the_end_tells_nothing(table: PilesTable) -> None:
    hardly_raised(table)
    table.book.say(GameEnded())
    table.reader = GameReader(SETUP)
    before = table.events
    table.lays((-3, 0), "base.U", 0)
    table.sees(6)
    assert table.events == before


def test_a_game_that_goes_on_after_all_is_followed_again(table: PilesTable) -> None:
    table.lays(EAST, "base.U", 0)
    table.book.say(GameEnded())
    table.sees(2)
    table.book.say(Retracted(seq=table.book.entries[-1].seq))
    table.lays(FAR, "base.U", 0)
    table.sees(6)
    assert table.events[-1] == TilePlaced(player=1, tile="base.U", at=FAR, rot=0)


def test_a_block_in_doubt_is_asked_about_after_a_long_pause(table: PilesTable) -> None:
    """Though no tile follows: whoever thinks for long, or has played the last tile, may be asked meanwhile."""
    hardly_raised(table)
    asked = []
    for _ in range(30):
        table.t_s += 1.0
        nothing = TableLook(frame=0, t_s=table.t_s, squares={})
        for made in table.reader.look(nothing, table.book.entries).decisions:
            table.book.commit(made)
        asked.append(table.book.questions)
    assert asked[10] == 0 and asked[-1] == 1
    assert table.told(TowerRaised)[1:] == [TowerRaised(player=1, at=SOUTH)]


def test_what_is_taken_for_a_tile_once_holds_up_no_block_for_long(table: PilesTable) -> None:
    """A hand looked like a tile where none can lie, and the place is not seen again."""
    table.lays(EAST, "base.U", 0)
    table.tiles[7, 7] = ("base.B", 0)
    table.tiles[FAR] = ("base.U", 0)
    table.sees(1)
    table.hidden = ((7, 7),)
    table.sees(2)
    table.piles[SOUTH] = top(1)
    table.sees(6)
    assert table.told(TowerRaised) == [TowerRaised(player=1, at=SOUTH)]


@pytest.mark.parametrize(("touched_s", "told"), [(29.0, 1), (2.0, 0)])
def test_a_block_added_during_a_long_motion_may_be_of_a_turn_before_the_newest(table: PilesTable, touched_s: float,
                                                                               told: int) -> None:
    """Hands are over the table while Ben lays a tile and adds a block and Anna lays one and claims it; no look tells
    which came first. In a short motion nobody does so much."""
    table.lays(EAST, "base.U", 0)
    table.piles[SOUTH] = top(1)
    table.sees()
    table.lays(FAR, "base.U", 0)
    table.tiles[1, 1], table.figures[1, 1] = ("base.B", 0), (figure("base.B", 0, "cloister", "I", "red"),)
    table.piles[SOUTH], table.touched_s = top(2), touched_s
    table.sees(1)
    table.touched_s = 0.0
    table.sees()
    assert table.told(TowerRaised)[1:] == told * [TowerRaised(player=1, at=SOUTH)]


@pytest.mark.parametrize(("touched_s", "told"), [(2.0, 1), (0.0, 0), (math.nan, 1)])
def test_a_block_is_added_by_a_hand(table: PilesTable, touched_s: float, told: int) -> None:
    """A top that appears elsewhere although nothing moved over its tile was misread, or is seen in another way."""
    table.lays(EAST, "base.U", 0)
    table.piles[SOUTH] = top(1)
    table.sees()
    table.lays(FAR, "base.U", 0)
    table.touched_s = 0.0
    table.sees()
    table.piles[SOUTH], table.touched_s = top(2), touched_s
    table.sees(1)
    table.touched_s = 0.0
    table.sees()
    assert len(table.told(TowerRaised)) == 1 + told


@pytest.mark.parametrize("idle", [True, False])
def test_who_did_nothing_else_may_have_added_a_block(table: PilesTable, idle: bool) -> None:
    """In two turns of five in which nothing else is done a block is added: what is hardly seen is asked about once such
    a turn is over."""
    table.lays(EAST, "base.U", 0)
    table.piles[SOUTH] = top(1)
    table.sees()
    monk = () if idle else (figure("base.B", 0, "cloister", "I", "blue"),)
    table.tiles[0, 2] = ("base.B", 0)
    table.figures[0, 2] = monk
    table.sees()
    table.piles[SOUTH] = top(1, off=(0.55 * FLOOR[0], 0.55 * FLOOR[1]))
    table.sees(1, 1.2)
    table.hidden = (SOUTH,)
    table.lays(FAR, "base.U", 0)
    table.sees(2)
    assert not fold(SETUP, table.book.events()).issues
    assert table.book.questions == idle and len(table.told(TowerRaised)) == 1 + idle


@pytest.mark.parametrize("back", [True, False])
def test_a_top_that_hardly_moved_waits_until_the_hand_beside_it_is_gone(table: PilesTable, back: bool) -> None:
    """The dragon was walked past the tower: a block would have moved its top by a little more, and a hand shades it."""
    table.lays(EAST, "base.U", 0)
    table.piles[SOUTH] = replace(top(1), tone=4.81)
    table.sees(6)
    table.lays(FAR, "base.U", 0)
    off = 1.0 * FLOOR[0], 1.0 * FLOOR[1]
    table.piles[SOUTH], table.touched_s = replace(top(1, off=off), tone=4.84), 5.0
    table.sees(1, 1.2)
    table.touched_s = 0.0
    table.sees(3, 1.5)
    assert len(table.told(TowerRaised)) == 1
    if back:
        table.piles[SOUTH], table.touched_s = replace(top(1), tone=4.81), 1.5
    table.sees(6, 3.0)
    assert len(table.told(TowerRaised)) == 2 - back and table.book.questions == 0
