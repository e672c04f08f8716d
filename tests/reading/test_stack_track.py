"""The belief about one pile of blocks: counted by where its top appears, and by its tone."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from piles import EAST, FLOOR, SOUTH, top, with_a_tower
from tables import look

from reading.alignment import Alignment
from reading.layings import Steps
from reading.limits import LIMITS
from reading.record import look_from_json, look_to_json
from reading.stack_limits import STACK
from reading.stack_track import Pile, StackTrack, began, looked_at
from reading.stacks import StackMoves
from vision.looks import SquareLook, StackLook, TableLook
from vision.stacks import LIMITS as VISION


def test_a_filter_counts_what_one_look_cannot() -> None:
    """Half way to the border of the picture a block displaces the top by some times the looks' noise."""
    track, t = began(0), 0.0
    for height in (0, 1, 2, 3, 4):
        for n in range(3):
            t += 4.0
            off = 0.003 * math.cos(5 * n + height), 0.003 * math.sin(3 * n + height)
            track = looked_at(track, top(height, floor=(0.03, 0.0), off=off, yaw=0.4 + 0.06 * height), t)
        assert track.height == height and track.above(height - 1)[1] > 1.8 and track.above(height)[1] < -1.8, track


def test_a_block_below_the_camera_is_counted_by_its_tone() -> None:
    """It hardly displaces the top, but it is another piece of wood; a shadow that passes is none."""
    tiny = (0.006, 0.0)
    for tones, height in (((0.0, 0.1, 0.1, 0.1), 2), ((0.0, 0.0, 0.0, 0.0), 1), ((0.0, -0.3, 0.0, 0.0), 1)):
        track, t = looked_at(began(0), top(0, floor=tiny), 0.0), 0.0
        for n, tone in enumerate(tones):
            for _ in range(2):
                t += 4.0
                off = 0.003 * math.cos(5 * t), 0.003 * math.sin(3 * t)
                blocks = 1 + (n > 0 and height > 1)
                track = looked_at(track, replace(top(blocks, floor=tiny, off=off), tone=4.4 + tone), t)
        assert track.height == height, (tones, track)


def test_a_pile_that_was_covered_is_as_it_was() -> None:
    """Where its top appeared before a follower closed it is known: the first look at it afterwards may be wrong."""
    before = looked_at(looked_at(began(2), top(2), 5.0), top(2), 10.0)
    closed = before.settled(2)
    after = looked_at(closed, top(2, off=(0.05, 0.0)), 60.0)
    for n in range(3):
        after = looked_at(after, top(2), 62.0 + 4.0 * n)
    assert after.height == 2 and before.settled(5).height == 5


def test_a_hand_over_a_top_for_one_look_adds_no_block() -> None:
    """Its shadow spoils place and tone of the same look; what follows is as it was."""
    floor = (0.006, 0.017)
    track, t = began(1), 0.0
    for n in range(8):
        t += 4.0
        off = 0.004 * math.cos(5 * n), 0.004 * math.sin(3 * n)
        track = looked_at(track, replace(top(1, floor=floor, off=off), tone=5.25 + 0.002 * math.cos(n)), t)
    track = looked_at(track, replace(top(1, floor=floor, off=(0.008, 0.030)), tone=5.14), t + 20.0)
    for after_s in (21.5, 23.0):
        track = looked_at(track, replace(top(1, floor=floor), tone=5.247), t + after_s)
    assert track.height == 1 and track.above(1)[1] < -1.8, track


@pytest.mark.parametrize("moved_s", [0.0, 1.5, math.nan])
def test_a_second_look_at_an_unchanged_picture_says_little_more_of_a_block(moved_s: float) -> None:
    """The hand that spoilt the first look may lie there still; if it moved, both looks were hardly wrong alike."""
    track = began(1)
    for n in range(8):
        track = looked_at(track, replace(top(1), tone=4.8), 4.0 * n, moved_s=0.0)
    raised = replace(top(2), tone=4.85)
    track = looked_at(track, raised, 40.0, moved_s=3.0)
    before = track.above(1)[1]
    after = looked_at(track, raised, 41.5, moved_s=moved_s).above(1)[1]
    assert (after - before < 2.0) == (moved_s == 0.0), (before, after)


def test_a_top_that_was_misread_at_first_is_counted_from_where_it_is() -> None:
    """A hand at the next tile was taken for the first block's top; then all looks agree on another place."""
    track, t = looked_at(began(0), replace(top(1, off=(0.55, 0.22), there=1.9), tone=4.56), 0.0), 0.0
    track = looked_at(track, replace(top(1, off=(0.55, 0.22), there=1.0), tone=4.55), 1.5).at_least(1)
    for height in (1, 2, 3):
        for n in range(4):
            t += 5.0
            off = 0.003 * math.cos(5 * n), 0.003 * math.sin(3 * n)
            track = looked_at(track, replace(top(height, off=off), tone=4.8 + 0.05 * height), t)
        assert track.height == height and track.above(height - 1)[1] > 1.8, (height, track)


def test_a_pile_that_is_seen_worse_than_others_is_counted_with_care() -> None:
    """Two edges may be a side of its top; which of them a look takes, changes. That is so at this pile alone."""
    moves, steady, twofold = StackMoves(Steps()), ("tower", SOUTH), ("tower", EAST)
    floor, modes = (0.024, 0.004), ((0.0, 0.0), (0.035, -0.008))

    def seen(n: int, off: tuple[float, float]) -> StackLook:
        small = 0.003 * math.cos(5 * n), 0.003 * math.sin(3 * n)
        return replace(top(1, floor=floor, off=(off[0] + small[0], off[1] + small[1])), tone=4.71)

    for n in range(16):
        usual, noise = moves.noise(steady, seen(n, (0.0, 0.0))), moves.noise(twofold, seen(n, modes[n % 2]))
    assert usual <= STACK.coarsest < 2.0 < noise

    def counted(noise: float) -> int:
        track = looked_at(began(1), seen(0, modes[0]), 0.0)
        for n in range(1, 4):
            track = looked_at(track, seen(n, modes[0]), 5.0 * n, noise)
        for n in range(4, 7):
            track = looked_at(track, seen(n, modes[1]), 5.0 * n, noise)
        return track.height

    assert counted(1.0) == 2 and counted(noise) == 1


@pytest.mark.parametrize(("touched_s", "height"), [(2.0, 2), (0.0, 1)])
def test_the_hand_may_have_been_there_before_a_look_that_was_wrong(touched_s: float, height: int) -> None:
    """Its shadow spoiled that one; the next shows the block, though nothing has moved since."""
    track = looked_at(began(1), top(1), 0.0)
    for n in range(1, 4):
        track = looked_at(track, top(1), 5.0 * n, moved_s=0.0)
    track = looked_at(track, replace(top(1), top=(0.62, 0.41), yaw=1.2), 20.0, moved_s=touched_s)
    for n in range(2):
        track = looked_at(track, top(2), 21.5 + 4.0 * n, moved_s=0.0)
    assert track.height == height


# looks at a pile below the camera at a simulated table, at "hard": s, where its top appears, its tone, for how long
# something had moved there. In the sixth look, and from then on, there is a block more.
BELOW = ((178.5, 0.575, 0.610, 0.73, 4.969, 2.0), (180.0, 0.576, 0.611, 0.75, 4.971, 0.0),
         (182.0, 0.579, 0.607, 0.73, 4.971, 0.0), (189.5, 0.577, 0.610, 0.73, 4.979, 2.0),
         (191.0, 0.569, 0.607, 0.76, 4.973, 0.0), (195.0, 0.570, 0.619, 0.83, 4.970, 2.0),
         (196.5, 0.574, 0.626, 0.82, 4.972, 0.0), (200.5, 0.574, 0.623, 0.82, 4.974, 2.0),
         (202.0, 0.578, 0.624, 0.81, 4.975, 0.0))


def test_a_block_that_is_hardly_seen_stays_possible() -> None:
    """Who vanished meanwhile may betray it later. Hypotheses that expect the same of the next look are one: else those
    of knocks that moved nothing crowd out the block."""
    track = looked_at(began(4), top(4, floor=(0.004, 0.004)), 173.0)
    for t_s, x, y, yaw, tone, moved_s in BELOW:
        look = StackLook(there=6.0, top=(x, y), yaw=yaw, floor=(0.002, 0.0045), heights=(-6.0, 0.0), tone=tone)
        track = looked_at(track, look, t_s, STACK.coarsest, moved_s)
    assert any((p.height, p.came_s) == (5, (195.0,)) and p.weight > -STACK.takes for p in track.piles)


# first looks at a block in the shadow of whoever leans over the table, and later ones without it, at another table
SHADED = ((53.0, 0.161, 0.290, 0.83, 4.253, 2.0, 3.9), (54.5, 0.152, 0.277, 0.78, 4.263, 0.0, 3.9),
          (70.0, 0.150, 0.309, 0.84, 4.296, 2.0, 3.6), (71.5, 0.145, 0.299, 0.87, 4.301, 0.0, 3.0))


def test_a_block_that_was_in_a_shadow_at_first_is_no_other_one_later() -> None:
    """Looks at one moment are in the same shadow; a tone that they alone told may be that of the shadow."""
    track = looked_at(began(0), top(0), 47.0)
    for t_s, x, y, yaw, tone, moved_s, there in SHADED:
        look = StackLook(there=there, top=(x, y), yaw=yaw, floor=(-0.009, -0.022), heights=(-4.0, 0.0), tone=tone)
        track = looked_at(track, look, t_s, moved_s=moved_s)
    assert track.above(1)[1] < LIMITS.agreed
    assert track.above(0)[1] > LIMITS.sure


def test_a_look_at_a_pile_is_kept_and_turned() -> None:
    seen = look(3.0, {(0, 0): ("tower.02", 0)})
    pile = replace(top(2), heights=(-6.0, -1.5, -0.5), tone=4.4321)
    whole = replace(seen, squares={at: replace(s, stacks={"tower": pile}) for at, s in seen.squares.items()})
    back: TableLook = look_from_json(look_to_json(whole))
    assert back.squares[0, 0].stacks["tower"].heights == pile.heights
    assert back.squares[0, 0].stacks["tower"].top == pytest.approx(pile.top, abs=1e-4)
    assert back.squares[0, 0].stacks["tower"].tone == 4.4321
    turned = Alignment(turns=1).look(whole).squares[0, 0].stacks["tower"]
    assert turned.top == pytest.approx((1 - pile.top[1], pile.top[0]))
    assert turned.floor == pytest.approx((-pile.floor[1], pile.floor[0]))


def test_variants_of_one_explanation_do_not_crowd_out_another_time_of_the_same_block() -> None:
    """Who vanishes later may tell that the block came then."""
    seen = top(2)
    near = [Pile(height=2, mean=(seen.top[0] + 0.0045 * n, seen.top[1] + 0.0045 * m, seen.yaw), var=(2e-5, 2e-5, 4e-3),
                 came_s=(10.0, 40.0)) for n in (-1, 0, 1) for m in (-1, 0, 1)]
    later = Pile(height=2, weight=-4.0, mean=(*seen.top, seen.yaw), var=(2e-5, 2e-5, 4e-3), came_s=(10.0, 100.0))
    after = looked_at(StackTrack(piles=(*near, later), looked_s=100.0, plain=True), seen, 105.0, moved_s=0.0)
    assert any(p.came_s == later.came_s for p in after.piles)


@pytest.mark.parametrize("new_below", [True, False])
def test_a_top_that_is_found_elsewhere_once_a_tile_lies_below_it_need_not_be_higher(new_below: bool) -> None:
    """Its far edge did not stand out from the table."""
    track, t = began(0), 0.0
    for _ in range(6):
        t += 4.0
        track = looked_at(track, top(1), t, moved_s=2.0 * (t < 5.0))
    for n in range(4):
        t += 4.0
        elsewhere = top(1, off=(0.7 * FLOOR[0], 0.7 * FLOOR[1]))
        track = looked_at(track, elsewhere, t, moved_s=2.0 * (n == 0), new_below=new_below and n == 0)
    assert (track.above(1)[1] < LIMITS.agreed) == new_below


@pytest.mark.parametrize(("at", "new_below"), [((1, 1), True), ((-1, 1), False)])
def test_a_tile_lies_below_a_top_that_appears_near_it(at: tuple[int, int], new_below: bool) -> None:
    moves = StackMoves(Steps())
    moves.tracks["tower", SOUTH] = looked_at(began(0), top(1, off=(0.35, 0.0)), 1.0)
    bare, tile = (SquareLook(there=there) for there in (-7.0, 7.0))
    for square in (bare, tile):
        moves._laid_below(TableLook(frame=1, t_s=2.0, squares={at: square}))
        assert (("tower", SOUTH) in moves._new_below) == (new_below and square is tile)


def test_it_counts_for_one_look_at_the_top() -> None:
    table = with_a_tower()
    moves = table.reader._stack_moves
    moves._new_below.add(("tower", SOUTH))
    table.sees(1)
    assert not moves._new_below


def test_a_hand_that_was_over_a_hidden_place_may_have_put_the_block_there_that_is_seen_later() -> None:
    hidden, bare = (looked_at(looked_at(began(0), top(0), 4.0, moved_s=0.0), top(0, there=there), 8.0, moved_s=2.0)
                    for there in (-0.3, -6.0))
    later, never = (looked_at(track, top(1), 12.0, moved_s=0.0).above(0)[1] for track in (hidden, bare))
    assert later - never > STACK.adds_not - STACK.adds - 1.0


def test_a_place_that_a_figure_hides_for_long_is_no_lost_top() -> None:
    hidden, missed = began(0), looked_at(began(1), top(1), 4.0)
    for n in range(6):
        look = top(0, there=-0.3)
        hidden, missed = (looked_at(track, look, 8.0 + 10.0 * n, moved_s=2.0) for track in (hidden, missed))
    assert missed.lost(70.0) and not hidden.lost(70.0)


def test_what_hides_a_place_wholly_is_known_by_what_looks_say_then() -> None:
    assert -VISION.unseen < STACK.veiled < STACK.unclear
