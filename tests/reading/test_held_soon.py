"""Figures that were set free before looks had shown them with their holder: their owner has one more."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from held_tables import (
    HeldTable,
    after_bens,
    log,
    near,
)
from test_unseen_moves import ANNA, BEN, game, monk

from scoring.events import Event, FigurePlaced, TilePlaced
from scoring.expansions.tower import RansomPaid


def soon_back(shown: int, owner: Sequence[int] = (2,) * 12) -> HeldTable:
    """Anna takes one of Ben's followers, and his next tile is seen when he has one more again: ``owner`` are how many
    he is seen to have from look to look, after so many that have ``shown`` the follower with Anna."""
    events = list(game())
    table = HeldTable(log(events[:-2]))
    table.sees(near("red", red=3), near("blue", blue=1), times=8)
    table.sees(near("red", red=3, blue=1), near("blue", blue=1), times=shown)
    table.add(*events[-2:], *monk((1, 20))[:1])
    for count in owner:
        table.sees(near("red", red=3), near("blue", blue=count), times=1)
    after_bens(table)
    return table


@pytest.mark.parametrize("shown", [0, 1])
def test_one_that_was_set_free_before_looks_showed_it_is_known_by_its_owner(shown: int) -> None:
    made, = soon_back(shown).made()
    paid, = made.events
    assert isinstance(paid, RansomPaid) and (paid.player, paid.jailer) == (BEN, ANNA)
    assert made.asked == (not shown)
    assert made.beside == pytest.approx((2.0 + 3 * 0.35, 2.0) if shown else (14.175, 7.0), abs=0.2)


@pytest.mark.parametrize("owner", [(1,) * 12, (3,) * 12, (2, 2, 1, 2) * 3, (1,) * 8 + (2,) * 4, (1,) * 16 + (2,) * 12],
                         ids=["none", "two more", "unsteady", "only now", "long after"])
def test_where_its_owner_has_not_long_had_just_one_more_nothing_is_told(owner: Sequence[int]) -> None:
    assert not soon_back(0, owner).made()


def in_hand(table: HeldTable) -> int:
    return table.states()[-1].supply[BEN]["follower"]


def with_three_more() -> list[Event]:
    """As `game`, but Ben has put down fewer, among them the knight of an open city; Anna takes one in the end."""
    events = list(game())
    city = [TilePlaced(player=BEN, tile="base.E", at=(40, 5), rot=2),
            FigurePlaced(player=BEN, figure="follower", at=(40, 5), feature="city", where="S"),
            TilePlaced(player=ANNA, tile="base.U", at=(-33, 9), rot=0)]
    return [*events[:5], *events[5:-3][:9], *city, *events[-3:]]


@pytest.fixture(params=[0, 1])
def hardly_seen(request: pytest.FixtureRequest) -> HeldTable:
    """Anna holds one of Ben's followers, whom one look has shown, or none."""
    events = with_three_more()
    table = HeldTable(log(events[:-2]))
    own = near("red", red=3), near("blue", blue=in_hand(table))
    table.sees(*own, times=12)
    table.add(*events[-2:])
    table.sees(*own, times=8)
    if request.param:
        table.sees(near("red", red=3, blue=1), own[1], times=1)
        table.sees(*own, times=3)
    return table


@pytest.mark.parametrize("late", [0, 2, 5, 8])
def test_a_follower_that_is_logged_late_is_no_other_one_set_free(hardly_seen: HeldTable, late: int) -> None:
    count = in_hand(hardly_seen)
    tile, figure_placed = monk((1, 20))
    hardly_seen.add(tile)
    hardly_seen.sees(near("red", red=3), near("blue", blue=count - 1), times=late)
    hardly_seen.add(figure_placed)
    hardly_seen.sees(near("red", red=3), near("blue", blue=count - 1), times=8)
    after_bens(hardly_seen)
    assert not hardly_seen.made()


@pytest.mark.parametrize("late", [0, 4])
def test_a_follower_that_goes_home_after_scoring_is_no_other_one_set_free(hardly_seen: HeldTable, late: int) -> None:
    count = in_hand(hardly_seen)
    hardly_seen.add(TilePlaced(player=BEN, tile="base.E", at=(40, 6), rot=0))
    hardly_seen.sees(near("red", red=3), near("blue", blue=count), times=late)
    hardly_seen.sees(near("red", red=3), near("blue", blue=count + 1), times=10)
    after_bens(hardly_seen)
    assert not hardly_seen.made()
    hardly_seen.sees(near("red", red=3), near("blue", blue=count + 1), times=2)
    assert not hardly_seen.made() and hardly_seen.held.unseen() == {ANNA: 1}


def test_a_reader_that_begins_later_knows_nothing_of_what_was_usual() -> None:
    table = HeldTable(log(game()))
    table.sees(near("red", red=3), near("blue", blue=1), times=8)
    table.add(*monk((1, 20))[:1])
    table.sees(near("red", red=3), near("blue", blue=2), times=12)
    after_bens(table)
    assert not table.made()


def test_one_that_is_seen_again_was_not_set_free() -> None:
    events = list(game())
    table = HeldTable(log(events[:-2]))
    table.sees(near("red", red=3), near("blue", blue=1), times=8)
    table.add(*events[-2:], *monk((1, 20))[:1])
    table.sees(near("red", red=3), near("blue", blue=2), times=6)
    table.sees(near("red", red=3, blue=1), near("blue", blue=2), times=1)
    table.sees(near("red", red=3), near("blue", blue=2), times=6)
    after_bens(table)
    assert not table.made()


def test_who_comes_home_before_the_log_has_the_score_is_no_other_one_set_free(hardly_seen: HeldTable) -> None:
    """The log gets the tile that completes the city, and the next one, after the last look beside the board."""
    hardly_seen.sees(near("red", red=3), near("blue", blue=in_hand(hardly_seen) + 1), times=10)
    hardly_seen.add(TilePlaced(player=BEN, tile="base.E", at=(40, 6), rot=0))
    after_bens(hardly_seen)
    assert not hardly_seen.made()
