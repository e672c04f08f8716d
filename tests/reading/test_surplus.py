"""Figures that lie with another player and are not taken in the log."""

from __future__ import annotations

import pytest

from reading.surplus import Surplus

PAIR, BACK = (0, 1), (1, 0)
NONE = {PAIR: 0, BACK: 0}


class Looks:
    """Looks at both players' places, two seconds apart, each showing so many of the pair's figures."""

    def __init__(self) -> None:
        self.surplus, self.t_s, self.logged = Surplus(), 0.0, dict(NONE)
        self.show(*(30 * [0]))

    def show(self, *counts: int) -> dict[tuple[int, int], int]:
        for count in counts:
            self.t_s += 2.0
            self.surplus.look(self.t_s, {PAIR: count, BACK: 0}, self.logged)
        return self.surplus.lasting(self.logged)


@pytest.fixture
def known() -> Looks:
    return Looks()


def test_as_many_as_all_looks_show(known: Looks) -> None:
    assert known.show(2, 1, *(20 * [2]), 3, 3) == {PAIR: 1}


def test_one_look_without_them_does_not_end_it(known: Looks) -> None:
    assert known.show(*(12 * [1]), 0, *(12 * [1])) == {PAIR: 1}
    assert known.show(0) == {PAIR: 1}
    assert known.show(0) == {}


def test_two_looks_without_them_do_and_it_may_happen_again(known: Looks) -> None:
    assert known.show(*(3 * [1]), 0, 0, *(12 * [1])) == {}
    assert known.show(*(12 * [1])) == {PAIR: 1}


def test_what_comes_and_goes_without_a_reason_is_no_figure(known: Looks) -> None:
    known.show(*(10 * [1]), *(10 * [0]))
    assert known.show(*(30 * [1])) == {}


def test_figures_that_the_log_explained_say_nothing_against_later_ones(known: Looks) -> None:
    known.show(*(30 * [1]))
    known.logged[PAIR] = 1
    known.show(*(30 * [1]))
    assert known.show(*(30 * [2])) == {PAIR: 1}


def test_what_the_log_has_is_known_at_once(known: Looks) -> None:
    known.show(*(30 * [1]))
    known.logged[PAIR] = 1
    assert known.surplus.lasting(known.logged) == {}
    assert known.show(*(30 * [1])) == {}
    known.logged[PAIR] = 0
    assert known.show(*(12 * [1])) == {}  # it may be taken home still
    assert known.show(*(12 * [1])) == {PAIR: 1}


def test_looks_that_show_nothing_of_a_place_say_nothing(known: Looks) -> None:
    known.show(1)
    known.surplus.look(known.t_s + 50.0, {BACK: 0}, NONE)
    assert known.surplus.lasting(NONE) == {}
    known.surplus.look(known.t_s + 52.0, {PAIR: 1, BACK: 0}, NONE)
    assert known.surplus.lasting(NONE) == {PAIR: 1}
    known.surplus.look(known.t_s + 120.0, {BACK: 0}, NONE)
    assert known.surplus.lasting(NONE) == {}


def test_what_was_there_often_before_is_something_else(known: Looks) -> None:
    surplus = Surplus()
    for n in range(90):
        surplus.look(2.0 * n, {PAIR: n % 10 < 4}, NONE)
    for n in range(90, 150):
        surplus.look(2.0 * n, {PAIR: 1}, NONE)
    assert surplus.lasting(NONE) == {}


@pytest.mark.parametrize("player", PAIR)
def test_figures_that_were_moved_elsewhere_are_compared_anew(known: Looks, player: int) -> None:
    assert known.show(*(30 * [1])) == {PAIR: 1}
    known.surplus.forget(player)
    assert known.surplus.lasting(NONE) == {}


def test_a_place_to_which_figures_were_moved_has_to_become_known(known: Looks) -> None:
    known.surplus.forget(PAIR[0])
    assert known.show(*(30 * [1])) == {}
