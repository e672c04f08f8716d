"""Figures that lie with another player and are not taken in the log: people are told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from held_tables import (
    HOMES,
    HeldTable,
    bens_turn,
    log,
    near,
    watched_game,
)
from piles import SETUP
from test_unseen_moves import ANNA, BEN, game

from bastide.watching.notices import rows
from vision.looks import BesideLook


@pytest.fixture
def table() -> HeldTable:
    return bens_turn()


def watched_for(table: HeldTable, *lie: Sequence[BesideLook], seconds: int) -> dict[tuple[int, int], int]:
    table.sees(*lie, times=seconds // 2, every_s=2.0)
    return table.held.unlogged(table.states()[-1])


def test_one_that_lies_with_another_player_and_was_never_taken_is_noticed(table: HeldTable) -> None:
    """A follower that was put down and captured while arms lay over the table."""
    ours, theirs = near("red", red=3, blue=1), near("blue", blue=2)
    assert not watched_for(table, ours, theirs, seconds=60)
    more = near("red", red=3, blue=2)
    assert not watched_for(table, more, theirs, seconds=40)  # it may be logged late
    assert watched_for(table, more, theirs, seconds=10) == {(ANNA, BEN): 1}
    assert not watched_for(table, ours, theirs, seconds=4)


def test_print_that_looks_like_figures_of_others_is_no_such_one(table: HeldTable) -> None:
    ours, more = near("red", red=3, blue=1), near("red", red=3, blue=2)
    watched_for(table, ours, near("blue", blue=2), seconds=50)
    watched_for(table, more, near("blue", blue=2), seconds=20)
    watched_for(table, ours, near("blue", blue=2), seconds=4)
    assert not watched_for(table, more, near("blue", blue=2), seconds=60)


def test_a_place_that_is_hardly_known_yet_says_nothing_of_what_lies_there() -> None:
    table = HeldTable(log(game()))
    table.sees(near("red", red=3, blue=1), near("blue", blue=2), times=10)
    assert not watched_for(table, near("red", red=3, blue=2), near("blue", blue=2), seconds=80)


def test_an_arm_over_a_players_figures_says_nothing_of_what_lies_there(table: HeldTable) -> None:
    watched_for(table, near("red", red=3, blue=1), near("blue", blue=2), seconds=60)
    more, theirs = near("red", red=3, blue=2), near("blue", blue=2)
    watched_for(table, more, theirs, seconds=20)
    watched_for(table, theirs, seconds=8)
    assert watched_for(table, more, theirs, seconds=30) == {(ANNA, BEN): 1}


def test_what_lies_some_way_from_a_players_figures_may_be_anything(table: HeldTable) -> None:
    ours = near("red", red=3, blue=1)
    watched_for(table, ours, near("blue", blue=2), seconds=60)
    (x, y), one = HOMES["red"], ours[-1]
    for away, told in ((2.2, {}), (1.6, {(ANNA, BEN): 1})):
        lies = replace(one, at=(x + 0.35 + away, y))
        assert watched_for(table, [*ours, lies], near("blue", blue=2), seconds=60) == told


def test_a_place_to_which_somebody_moved_their_figures_has_to_become_known(table: HeldTable) -> None:
    watched_for(table, near("red", red=3, blue=1), near("blue", blue=2), seconds=60)
    assert not watched_for(table, near("green", red=3, blue=2), near("blue", blue=2), seconds=90)


def test_a_reader_asks_how_one_was_taken() -> None:
    table = watched_game()
    table.beside = (*near("red", red=3, blue=1), *near("blue", blue=2))
    table.sees(30)
    table.beside = (*near("red", red=3, blue=2), *near("blue", blue=2))
    table.sees(12)
    noticed, = (n for n in table.notices if n.code == "held_more")
    assert (noticed.player, noticed.owner, noticed.count, noticed.at) == (ANNA, BEN, 1, None)
    row, = rows([noticed], SETUP.players)[0]
    assert row["text"].startswith("Anna has figures of Ben (1)")
