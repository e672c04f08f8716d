"""Piles of blocks: what the looks hardly show, and what else tells of a block."""

from __future__ import annotations

from dataclasses import replace

import pytest
from piles import EAST, FAR, FLOOR, SOUTH, PilesTable, hardly_raised, top, with_a_foundation
from tables import figure

from reading.stack_limits import STACK
from reading.stack_rise import StackRise
from reading.stack_track import Pile, StackTrack, began, looked_at
from scoring.expansions.tower import Captured, TowerRaised
from scoring.log import Retracted, effective


@pytest.fixture
def table() -> PilesTable:
    return with_a_foundation()


def test_a_block_that_is_known_to_have_come_in_a_turn_is_no_other_one() -> None:
    """The looks show one block, added at 60 s or at 128 s; it is told in the turn from 123 s on. What comes next is
    one more, not the one of 60 s."""
    known = {"mean": (0.53, 0.48, 0.4), "var": (2e-5, 2e-5, 4e-3)}
    early, late = (Pile(height=2, weight=w, came_s=(54.0, t), **known)  # type: ignore[arg-type]
                   for w, t in ((0.0, 60.0), (-0.3, 128.0)))
    track = StackTrack(piles=(early, late), looked_s=136.0, plain=True).logged(123.0, 136.0)
    assert [p.came_s[-1] for p in track.piles] == [128.0, 60.0]
    for n in range(2):
        track = looked_at(track, top(2, off=FLOOR), 147.0 + 4.0 * n, moved_s=2.0)
    assert (track.height, track.piles[0].came_s) == (3, (54.0, 128.0, 147.0))


def test_a_block_of_one_of_two_turns_is_of_the_other_if_people_say_so(table: PilesTable) -> None:
    """Two tiles and a block appear after a long motion. That the newer turn did not add it says that the older did."""
    table.lays(EAST, "base.U", 0)
    table.piles[SOUTH] = top(1)
    table.sees()
    table.tiles[FAR], table.tiles[1, 1] = ("base.U", 0), ("base.B", 0)
    table.piles[SOUTH], table.touched_s = top(2), 29.0
    table.sees(1)
    table.touched_s = 0.0
    table.sees(8)
    seq, asked = next((s, e) for s, e in reversed(effective(table.book.entries)) if isinstance(e, TowerRaised))
    assert asked == TowerRaised(player=0, at=SOUTH) and len(table.told(TowerRaised)) == 2 and table.book.questions == 1
    table.book.say(Retracted(seq=seq))
    table.sees(3)
    assert table.told(TowerRaised)[1:] == [TowerRaised(player=1, at=SOUTH)]


def test_looks_are_believed_less_once_people_deny_what_they_show(table: PilesTable) -> None:
    """A block in a turn that has a figure is asked about, and not again for each turn before it."""
    table.touched_s = 0.0
    for at, colour in zip((EAST, (2, 0), (3, 0), (4, 0)), 2 * ("red", "blue"), strict=True):
        table.lays(at, "base.B", 0, figure("base.B", 0, "cloister", "I", colour))
    table.piles[SOUTH], table.touched_s = top(1), 2.0
    table.sees(1)
    table.touched_s, asked = 0.0, list[TowerRaised]()
    for _ in range(8):
        table.sees(6)
        for seq, event in effective(table.book.entries):
            if isinstance(event, TowerRaised):
                asked.append(event)
                table.book.say(Retracted(seq=seq))
    assert [e.player for e in asked] == [1]


def test_a_block_in_doubt_is_asked_about_before_a_figure_hides_it(table: PilesTable) -> None:
    """The turn is over, and once somebody stands on the pile no look can tell any more."""
    hardly_raised(table)
    table.lays((1, 1), "base.U", 0)
    assert not table.book.questions
    table.piles[SOUTH] = top(1, there=-4.0)
    table.figures[SOUTH] = (replace(figure("base.U", 0, "road", "E W", "red"), foot=(0.53, 0.48)),)
    table.sees(3, 1.2)
    assert table.book.questions == 1
    assert table.told(TowerRaised)[1:] == [TowerRaised(player=1, at=SOUTH)]


def test_looks_tell_by_how_much_their_displacement_may_be_wrong() -> None:
    """The perspective of some tiles misses the point below the camera by tiles; the next one's says so."""
    rise = StackRise()
    assert rise.look(("tower", SOUTH), top(1)) == (0.0, 0.0)
    dx, dy = rise.look(("tower", SOUTH), top(1, floor=(-0.03, -0.02)))
    assert dx == pytest.approx(0.06 / 2**0.5) and dy == 0.0


def test_a_block_may_displace_the_top_the_other_way() -> None:
    """Where the point below the camera is not known; a top that moved so far is not the same, and hardly knocked."""
    def likely(unsure: tuple[float, float]) -> float:
        track = began(1)
        for n in range(4):
            track = looked_at(track, top(1), 5.0 * (n + 1), moved_s=0.0)
        for t_s, moved_s in ((30.0, 2.0), (32.0, 0.0)):
            track = looked_at(track, top(1, off=(-FLOOR[0], -FLOOR[1])), t_s, moved_s=moved_s, unsure=unsure)
        return track.above(1)[1]

    assert likely((0.0, 0.0)) < -STACK.doubtful < likely((0.04, 0.03))


def test_when_a_block_came_lately_is_remembered_when_the_next_one_comes() -> None:
    """Of those that came long ago it makes no difference; a hypothesis with one of those is not the same."""
    known = {"mean": (0.53, 0.48, 0.4), "var": (2e-5, 2e-5, 4e-3)}
    came = {(13.5, 20.5, 33.0): 0.0, (13.5, 33.0, 91.0): -1.8, (13.5, 21.0, 33.0): -0.5}
    piles = tuple(Pile(height=3, weight=w, came_s=times, **known) for times, w in came.items())  # type: ignore[arg-type]
    track = looked_at(StackTrack(piles=piles, looked_s=103.0, plain=True), top(2, off=FLOOR), 109.0, moved_s=2.0)
    raised = {p.came_s for p in track.piles if p.height == 4}
    assert raised == {(13.5, 20.5, 33.0, 109.0), (13.5, 33.0, 91.0, 109.0)}


def test_a_hand_that_only_passes_adds_hardly_a_block() -> None:
    def likely(moved_s: float) -> float:
        track = began(1)
        for n in range(3):
            track = looked_at(track, top(1), 5.0 * (n + 1), moved_s=0.0)
        track = looked_at(track, top(1, off=(0.7 * FLOOR[0], 0.7 * FLOOR[1])), 20.0, moved_s=moved_s)
        return track.above(1)[1]

    assert likely(0.0) < likely(0.5) == likely(STACK.brief_s) < likely(2.0)


def test_hypotheses_of_one_height_do_not_crowd_out_the_others() -> None:
    """Two edges may be a side of the top; which of them a look takes, changes."""
    track = began(1)
    for n in range(24):
        seen = top(1, floor=(0.002, 0.003), off=(0.02 * (n % 2), 0.004 * (n % 3)))
        track = looked_at(track, seen, 4.0 * (n + 1), noise=1.5, moved_s=2.0)
    heights = [p.height for p in track.piles]
    assert max(heights.count(h) for h in heights) <= STACK.of_height < STACK.most


@pytest.mark.parametrize("gone", [True, False])
def test_a_block_whose_top_is_not_seen_any_more_is_told_by_whom_it_took(table: PilesTable, gone: bool) -> None:
    """The film ends before the pile is seen again."""
    table.lays(EAST, "base.U", 0)
    table.piles[SOUTH] = top(1)
    table.sees()
    table.lays((1, 1), "base.B", 0, figure("base.B", 0, "cloister", "I", "blue"))
    table.lays(FAR, "base.U", 0)
    table.touched_s = 2.0
    table.piles[SOUTH] = top(1, there=-3.0)
    table.sees(1)
    table.touched_s = 0.0
    if gone:
        table.figures[1, 1] = ()
    table.sees(3, 1.2)
    for _ in range(2):
        for made in table.reader.finish(table.book.entries).decisions:
            table.book.commit(made)
    assert len(table.told(TowerRaised)) == 1 + gone
    assert len(table.told(Captured)) == gone


def test_a_pile_over_which_nothing_moved_in_a_turn_was_not_raised_in_it() -> None:
    """Where the only pile touched may have been raised, that is likelier than if there were another one."""
    track = began(1)
    for t_s, moved_s in ((10.0, 0.0), (20.0, 2.0), (30.0, 0.0)):
        track = looked_at(track, top(1), t_s, moved_s=moved_s)
    assert track.touched_in(12.0, 18.0) and track.touched_in(5.0, 25.0)  # by 20 s it had been touched
    assert not track.touched_in(21.0, 28.0) and not track.touched_in(0.0, 9.0)
