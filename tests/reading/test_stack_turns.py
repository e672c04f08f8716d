"""Piles of blocks: several blocks that one look shows first, and a top that no look finds any more."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace

import pytest
from piles import EAST, FAR, FLOOR, SOUTH, PilesTable, top, with_a_foundation, with_a_tower
from tables import figure
from test_neutral import agreed

from reading.limits import LIMITS
from reading.logged_game import LoggedTurn
from reading.stack_limits import STACK
from reading.stack_track import Pile, StackTrack, began, looked_at
from reading.stack_turns import Way, betrays, likeliest, turns_of
from scoring.events import GameEnded
from scoring.expansions.tower import Captured, TowerRaised
from scoring.log import Retracted, effective, open_questions
from scoring.tiles import Square

BESIDE = (1, 1), (-1, 1)  # the foundation


def laid_unseen(table: PilesTable, *tiles: Square, blocks: int) -> None:
    """Arms are over the table for several turns: tiles and blocks of all of them are seen at once."""
    table.tiles.update({at: ("base.U", 0) for at in tiles})
    table.piles[SOUTH] = replace(top(blocks), heights=(-6.0, -1.4, -1.1, -1.3))
    table.touched_s = 30.0
    table.sees(1)
    table.touched_s = 0.0
    table.sees(6)


def blocks(table: PilesTable) -> list[int]:
    return [e.player for e in table.told(TowerRaised) if isinstance(e, TowerRaised)]


def test_two_blocks_that_are_seen_first_at_once_are_two_where_two_have_vanished() -> None:
    table = with_a_foundation()
    for at, colour in zip(BESIDE, ("red", "blue"), strict=True):
        table.lays(at, "base.B", 0, figure("base.B", 0, "cloister", "I", colour))
    for at in BESIDE:
        table.figures[at] = ()
    laid_unseen(table, EAST, (2, 0), blocks=2)
    agreed(table)  # whom each took, and that the second one is one
    table.sees(6)
    assert blocks(table) == [0, 1]
    asked = [e for e in table.book.entries if e.asked and isinstance(getattr(e.body, "body", e.body), TowerRaised)]
    assert len(asked) == 1


def test_the_same_may_be_one_where_one_has_vanished() -> None:
    """A block takes one, and nobody is taken twice."""
    table = with_a_foundation()
    table.lays(BESIDE[0], "base.B", 0, figure("base.B", 0, "cloister", "I", "red"))
    table.lays(FAR, "base.U", 0)
    table.figures[BESIDE[0]] = ()
    laid_unseen(table, EAST, (2, 0), blocks=1)
    assert len(blocks(table)) == 1


def test_two_blocks_on_a_known_pile_may_be_two_turns_blocks() -> None:
    """By how much a block displaces the top is hardly known yet, so people are asked of both turns."""
    table = with_a_tower()
    laid_unseen(table, FAR, (2, 0), blocks=3)
    for _ in range(2):
        agreed(table)
        table.sees(6)
    assert blocks(table) == [0, 1, 0] and table.book.questions == 2


def test_blocks_below_a_top_that_no_look_finds_are_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once two more tiles lie there: rather somebody stands on it, who is asked about sooner."""
    monkeypatch.setattr("reading.game.covered_tops", lambda *given: [])
    table = with_a_tower()
    asked: list[object] = []
    for at in (FAR, (2, 0), (3, 0)):
        table.piles[SOUTH], table.touched_s = top(1, there=-3.0), 3.0
        table.lays(at, "base.U", 0)
        table.touched_s = 0.0
        table.sees(6)
        known = dict(effective(table.book.entries))
        for seq in open_questions(table.book.entries):
            asked.append(known[seq])
            table.book.say(Retracted(seq=seq))
    assert [e.player for e in asked if isinstance(e, TowerRaised)] == [1]
    assert not table.told(Captured)


def test_what_people_say_of_a_lost_top_is_not_asked_again_while_it_is_not_seen() -> None:
    table, asked = with_a_tower(), 0
    table.piles[SOUTH], table.touched_s = top(1, there=-3.0), 3.0
    for at in (FAR, (2, 0), (3, 0)):
        table.lays(at, "base.U", 0)
        table.touched_s = 0.0
    for _ in range(4):
        table.touched_s = 1.5  # hands go on passing
        table.sees(6)
        known = dict(effective(table.book.entries))
        for seq in open_questions(table.book.entries):
            asked += isinstance(known[seq], TowerRaised)
            table.book.say(Retracted(seq=seq))
    assert asked == 1


def test_a_top_that_is_missed_for_a_while_raises_no_question() -> None:
    table = with_a_tower()
    table.lays(FAR, "base.U", 0)
    table.piles[SOUTH], table.touched_s = top(1, there=-3.0), 3.0
    table.sees(2)
    table.piles[SOUTH], table.touched_s = top(1), 0.0
    table.sees(6)
    assert table.book.questions == 0


def beside_a_monk() -> PilesTable:
    """Ben has added a block within whose reach Anna's monk stands."""
    made = with_a_foundation()
    made.lays(BESIDE[0], "base.B", 0, figure("base.B", 0, "cloister", "I", "red"))
    made.lays(EAST, "base.U", 0)
    made.piles[SOUTH] = top(1)
    made.sees(2)
    return made


def test_whoever_was_seen_after_the_next_tile_was_taken_by_its_block() -> None:
    """That tile is not in the log yet, since it is not read for sure."""
    table = beside_a_monk()
    table.sees(2)
    table.tiles[2, 0] = "base.U", 0
    table.doubts[2, 0] = {("base.U", 0): 0.0, ("base.V", 0): -0.4}
    table.sees(2)
    table.figures.pop(BESIDE[0])
    table.piles[SOUTH] = top(2)
    table.sees(10)
    assert blocks(table) == [1, 0]
    assert [e.player for e in table.told(Captured) if isinstance(e, Captured)] == [0]


def test_at_the_end_a_tile_that_is_never_logged_keeps_nobody_from_being_taken() -> None:
    table = beside_a_monk()
    table.tiles[9, 9] = "base.U", 0  # far away from the board
    table.sees(2)
    table.figures.pop(BESIDE[0])
    table.sees(6)
    for made in table.reader.finish(table.book.entries).decisions:
        table.book.commit(made)
    assert [e.owner for e in table.told(Captured) if isinstance(e, Captured)] == [0]


def way(back: int, weight: float = 0.0, takes: Collection[int] = ()) -> Way:
    return Way(group=LoggedTurn(tile=None), back=back, event=TowerRaised(player=0, at=SOUTH), weight=weight,
               takes=dict.fromkeys(takes, STACK.takes))


def test_blocks_are_of_turns_of_their_own_in_the_order_in_which_they_came() -> None:
    turns = [way(0, -6.0), way(1), way(2)]
    assert [w.back for w in turns_of([turns, turns])] == [2, 1]
    assert [w.back for w in turns_of([[way(1)], [way(1)]])] == [1, 1]  # too few turns: one of the blocks is none


def test_how_likely_a_block_is_in_another_turn_is_known_too() -> None:
    """People who deny it in one turn say nothing of the other one."""
    piles = tuple(Pile(height=height, weight=weight, came_s=came) for height, weight, came in (
        (1, 0.0, (10.0,)), (2, -0.2, (10.0, 60.0)), (2, -0.5, (10.0, 128.0)), (2, -0.9, (10.0, 61.0))))
    track, early, late = StackTrack(piles=piles, looked_s=136.0, plain=True), way(1), way(0)
    found = likeliest(track, 1, lambda came_s: iter([early if came_s < 100.0 else late]), [(5.0, 20.0)], lost=False)
    assert found is not None and found.came_s == 60.0 and found.ways == [early]
    assert (found.margin, found.rival) == pytest.approx((-0.2, -0.5))
    only = likeliest(track, 1, lambda came_s: iter([early]), [(5.0, 20.0)], lost=False)
    assert only is not None and only.rival == -LIMITS.floor


def test_nobody_is_taken_twice() -> None:
    turns = [way(0, -1.0), way(1, 0.0, [7]), way(2, -3.0, [7]), way(3, -3.0, [8])]
    assert [w.back for w in turns_of([turns])] == [1]
    assert [w.back for w in turns_of([turns, turns])] == [3, 1]


def test_print_that_vanished_speaks_for_no_block() -> None:
    assert betrays(12.0) == pytest.approx(STACK.takes, abs=0.01) and betrays(-12.0) == pytest.approx(0.0, abs=1e-4)
    assert betrays(0.0) == pytest.approx(-math.log(0.5 + 0.5 * math.exp(-STACK.takes)))


def test_a_block_that_may_take_either_leaves_the_one_whom_alone_another_may_take() -> None:
    either, only = way(1, 0.0, [7, 8]), way(2, -1.0, [7])
    assert [w.back for w in turns_of([[only, way(3)], [either]])] == [2, 1]


@pytest.mark.parametrize(("moved_s", "several"), [(30.0, True), (9.0, False)])
def test_a_look_after_several_turns_may_show_several_blocks(moved_s: float, several: bool) -> None:
    """A hand has to be there for as long as two turns take."""
    floor = 2 * FLOOR[0], 2 * FLOOR[1]
    known = looked_at(looked_at(began(0), top(0), 10.0, moved_s=0.0), top(1, floor=floor), 20.0, moved_s=2.0)
    assert looked_at(known, top(3, floor=floor), 60.0, moved_s=moved_s).height == 1 + 2 * several


def test_how_high_a_new_pile_is_is_told_by_the_look_too() -> None:
    """That it was not looked at before says nothing of how long hands were there."""
    seen = replace(top(1), heights=(-6.0, -9.0, -0.1))
    assert looked_at(began(0), seen, 20.0, moved_s=30.0).height == 2
    assert looked_at(began(0), seen, 20.0, moved_s=2.0).height == 1


def test_a_block_that_nobody_sees_may_have_been_added_before_each_look_with_a_hand_there() -> None:
    track = looked_at(began(1), top(1), 20.0, moved_s=0.0)
    for t_s, moved_s in (30.0, 0.5), (31.5, 0.0), (50.0, 3.0), (52.0, 0.5):
        track = looked_at(track, top(1, there=-3.0), t_s, moved_s=moved_s)
    assert [(p.height, p.came_s) for p in track.unseen()] == [(2, (30.0,)), (2, (50.0,))]
    assert [p.came_s for p in track.at_least(2).unseen()] == [(30.0, 50.0)]


def test_a_top_is_lost_after_several_looks_and_a_while() -> None:
    track = looked_at(began(1), top(1), 20.0, moved_s=0.0)
    missed = replace(track, looks=(*track.looks, *((t, False, 0.0) for t in (30.0, 31.0))))
    assert not missed.lost(60.0) and missed.lost(math.inf)  # at the end no look comes any more
    assert not replace(missed, looks=missed.looks[:-1]).lost(math.inf)
    lost = replace(missed, looks=(*missed.looks, (32.0, False, 0.0)))
    assert lost.lost(60.0) and not lost.lost(45.0)
    assert not replace(lost, looks=(*lost.looks, (40.0, True, 0.0))).lost(90.0)


@pytest.mark.parametrize(("gone", "late"), [
    ("with the block", 0), ("with the block", 8), ("taken back", 0), ("before it", 0), ("never", 0)])
def test_whom_a_block_took_out_of_its_reach_betrays_one_below_it(gone: str, late: int) -> None:
    """Ben's block was laid so that the top hardly moved, and Anna's next one takes his follower three squares away.
    People may answer some turns later."""
    taken, table = gone in ("with the block", "taken back"), betrayed(gone)
    assert [e.player for e in table.told(TowerRaised)] == ([0, 1, 0] if taken else [0, 0])
    assert not table.told(Captured)  # there may be no block, and another reason why he is gone
    for x in range(3, 3 + late):
        table.lays((x, 0), "base.U", 0)
    if gone == "taken back":
        seq, = open_questions(table.book.entries)
        table.book.say(Retracted(seq=seq))
    agreed(table)
    table.sees(6)
    assert [(e.player, e.at) for e in table.told(Captured)] == ([(0, (3, 1))] if gone == "with the block" else [])


@pytest.mark.parametrize("by_hand", [True, False])
def test_at_the_end_it_is_asked_whom_a_block_in_doubt_took(by_hand: bool) -> None:
    """There is no later look with which it could be told once people have answered."""
    table = betrayed("with the block")
    if by_hand:
        table.book.say(GameEnded())
        table.sees(3)
    else:
        while made := table.reader.finish(table.book.entries).decisions:
            for decision in made:
                table.book.commit(decision)
    captured, = table.told(Captured)
    asked = [event for seq, event in effective(table.book.entries) if seq in open_questions(table.book.entries)]
    assert captured in asked and [type(e) for e in asked].count(TowerRaised) == 1
    assert isinstance(table.events[-1], GameEnded) == by_hand


def betrayed(gone: str) -> PilesTable:
    """What looks show of it, unless the follower vanished before that block, or never."""
    table = with_a_foundation()
    table.lays(BESIDE[0], "base.B", 0)
    table.lays((2, 1), "base.B", 0)
    table.lays(BESIDE[1], "base.B", 0)
    table.lays((3, 1), "base.B", 0, figure("base.B", 0, "cloister", "I", "blue"))
    table.lays(EAST, "base.U", 0)
    table.piles[SOUTH] = top(1)
    table.sees(6)
    assert blocks(table) == [0]
    table.lays(FAR, "base.U", 0)
    hardly = 0.2 * FLOOR[0], 0.2 * FLOOR[1]
    table.piles[SOUTH], table.touched_s = top(1, off=hardly), 2.0
    table.sees(1)
    table.touched_s = 0.0
    if gone == "before it":
        table.figures[3, 1] = ()
    table.sees(6)
    table.lays((2, 0), "base.U", 0)
    table.piles[SOUTH], table.touched_s = top(2, off=hardly), 2.0
    if gone in ("with the block", "taken back"):
        table.figures[3, 1] = ()
    table.sees(1)
    table.touched_s = 0.0
    table.sees(6)
    return table
