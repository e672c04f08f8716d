"""Figures that lie with another player and are not taken in the log."""

from __future__ import annotations

import pytest

from reading.surplus import Surplus

PAIR, BACK = (0, 1), (1, 0)


@pytest.fixture
def known() -> Surplus:
    """Both players' places have been looked at for a while."""
    made = Surplus()
    for n in range(30):
        made.look(2.0 * n, {PAIR: 0, BACK: 0})
    return made


def looks(surplus: Surplus, *more: int, since_s: float = 100.0) -> dict[tuple[int, int], int]:
    for n, count in enumerate(more):
        surplus.look(since_s + 2.0 * n, {PAIR: count, BACK: 0})
    return surplus.lasting()


def test_as_many_as_all_looks_show(known: Surplus) -> None:
    assert looks(known, 2, 1, *(20 * [2]), 3, 3) == {PAIR: 1}


def test_a_look_without_them_ends_it(known: Surplus) -> None:
    assert looks(known, *(12 * [1]), 0, *(12 * [1])) == {}


def test_looks_that_show_nothing_of_a_place_say_nothing(known: Surplus) -> None:
    assert looks(known, 1) == {}
    known.look(150.0, {BACK: 0})
    assert known.lasting() == {}
    known.look(152.0, {PAIR: 1, BACK: 0})
    assert known.lasting() == {PAIR: 1}


@pytest.mark.parametrize("player", PAIR)
def test_figures_that_were_moved_elsewhere_are_compared_anew(known: Surplus, player: int) -> None:
    assert looks(known, *(30 * [1])) == {PAIR: 1}
    known.forget(player)
    assert known.lasting() == {}


def test_a_place_to_which_figures_were_moved_has_to_become_known(known: Surplus) -> None:
    known.forget(PAIR[0])
    assert looks(known, *(30 * [1])) == {}
