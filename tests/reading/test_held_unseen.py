"""Figures that a player holds and looks do not show: people are told."""

from __future__ import annotations

from dataclasses import replace

import pytest
from held_tables import HeldTable, after_bens, bens_turn, log, near, watched_game, with_two_taken
from piles import SOUTH
from test_unseen_moves import ANNA, BEN, game, monk

from scoring.events import TilePlaced
from scoring.expansions.tower import Captured, RansomPaid, TowerRaised
from scoring.log import Inserted, Retracted
from scoring.notation import FigureRef


@pytest.fixture
def table() -> HeldTable:
    return bens_turn()


def test_figures_that_nobody_sees_with_their_holder_are_noticed(table: HeldTable) -> None:
    assert not table.held.unseen()
    table.sees(near("red", red=3), near("blue", blue=2), times=40)
    assert not table.held.unseen()  # it has left, and that is for a question
    fresh = HeldTable(log(game()))
    fresh.sees(near("red", red=3), near("blue", blue=2), times=30)
    assert not fresh.held.unseen()  # it may still be on its way there
    fresh.sees(near("red", red=3), near("blue", blue=2))
    assert fresh.held.unseen() == {ANNA: 1}
    fresh.sees(near("red", red=3, blue=1), near("blue", blue=2), times=1)
    assert not fresh.held.unseen()


def test_figures_that_left_when_nobody_can_have_paid_are_noticed(table: HeldTable) -> None:
    """Something lies over them since after Anna's tile, and the next one is hers, too."""
    after_bens(table)
    table.sees(near("red", red=3, blue=1), near("blue", blue=2), times=6)
    table.sees(near("red", red=3), near("blue", blue=2))
    table.add(TilePlaced(player=ANNA, tile="base.U", at=(-30, 12), rot=0))
    table.sees(near("red", red=3), near("blue", blue=2), times=40)
    assert not table.held.unseen()  # they may be asked about
    assert not table.made()
    assert table.held.unseen() == {ANNA: 1}


def test_figures_are_noticed_whose_holder_is_not_seen_at_all() -> None:
    table = HeldTable(log(game()))
    table.sees(near("blue", blue=2), times=32)
    assert table.held.unseen() == {ANNA: 1}


def test_a_reader_asks_for_them_to_be_put_in_view() -> None:
    table = watched_game()
    table.beside = (*near("red", red=3), *near("blue", blue=2))
    table.sees(40)
    noticed, = (n for n in table.notices if n.code == "held")
    assert (noticed.player, noticed.count, noticed.at) == (ANNA, 1, None)
    table.beside = (*near("red", red=3, blue=1), *near("blue", blue=2))
    table.sees(2)
    assert not [n for n in table.notices if n.code == "held"]


def test_where_something_else_looks_like_the_player_s_figures_nothing_is_told() -> None:
    """A score track beside Anna's figures has squares of Ben's colour, of which looks do not see each."""
    events = list(game())
    table, squares = HeldTable(log(events[:-2])), near("red", blue=4)
    squares = [replace(b, at=(b.at[0], b.at[1] + 1.0)) for b in squares]
    for n in range(20):
        table.sees(near("red", red=3), near("blue", blue=2), squares[n % 2:], times=1)
    table.add(*events[-2:])
    table.sees(near("red", red=3, blue=1), near("blue", blue=2), squares, times=32)
    assert table.held.unseen() == {ANNA: 1}
    table.add(*monk((1, 20))[:1])
    table.sees(near("red", red=3), near("blue", blue=3), squares[1:])
    after_bens(table)
    assert not table.made()


def test_one_that_was_denied_to_be_set_free_is_out_of_view_after_a_while(table: HeldTable) -> None:
    table.sees(near("red", red=3), near("blue", blue=2))
    after_bens(table)
    made, = table.made()
    table.add(Inserted(after=made.after or 0, body=made.events[0]))
    table.add(Retracted(seq=len(table.entries)), source="hand")
    table.sees(near("red", red=3), near("blue", blue=2), times=60)
    assert not table.held.unseen()
    table.sees(near("red", red=3), near("blue", blue=2), times=70)
    assert table.held.unseen() == {ANNA: 1} and not table.made()


def test_one_that_looks_showed_long_before_the_log_had_it_is_no_other_thing() -> None:
    events = list(game())
    table = HeldTable(log(events[:-2]))
    table.sees(near("red", red=3), near("blue", blue=2), times=8)
    table.sees(near("red", red=3, blue=1), near("blue", blue=2), times=14)
    table.add(*events[-2:], *monk((1, 20))[:1])
    table.sees(near("red", red=3, blue=1), near("blue", blue=2), times=32)
    assert not table.held.unseen()
    table.sees(near("red", red=3), near("blue", blue=3))
    after_bens(table)
    assert table.made()


def test_of_two_that_are_held_one_is_out_of_view() -> None:
    table = HeldTable(log(with_two_taken()))
    table.sees(near("red", red=3, blue=1), near("blue", blue=1), times=32)
    assert table.held.unseen() == {ANNA: 1}


def test_what_lies_there_besides_is_known_when_the_next_one_is_taken() -> None:
    events = list(game())
    table, squares = HeldTable(log(events[:-2])), [replace(b, at=(b.at[0], b.at[1] + 1.0)) for b in near("red", blue=4)]
    table.sees(near("red", red=3), near("blue", blue=2), squares, times=20)
    free = RansomPaid(player=BEN, jailer=ANNA, released=FigureRef(owner=BEN, figure="follower"))
    table.add(*events[-2:])
    table.sees(near("red", red=3), near("blue", blue=2), squares)
    table.add(*monk((1, 20))[:1], free)
    table.sees(near("red", red=3), near("blue", blue=3), squares)
    table.add(TilePlaced(player=ANNA, tile="base.U", at=(-30, 9), rot=0), TowerRaised(player=ANNA, at=SOUTH),
              Captured(player=ANNA, owner=BEN, figure="follower", at=(4, 1), feature="cloister", where="I"))
    table.sees(near("red", red=3), near("blue", blue=3), squares, times=32)
    assert table.held.unseen() == {ANNA: 1}
