"""Figures that looks miss because a neutral piece was put down beside them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from piles import EAST, FLOOR, SETUP, SOUTH, WEST, PilesTable, top
from tables import figure, look

from reading.belief import TableBelief, updated
from reading.overlooked import Overlooked
from reading.removals import TAKEN
from reading.sightings import LoggedPile
from scoring.expansions.dragon_moves import FairyMoved
from scoring.expansions.tower import Captured, TowerRaised
from scoring.tiles import Square
from vision.looks import NeutralLook, StackLook, TableLook

BESIDE = (1, 1)
MONK = replace(figure("base.B", 0, "cloister", "I", "blue"), foot=(0.7, 0.5))
NEAR, AWAY = (0.05, 0.5), (0.6, 0.5)  # on the next tile
UNSEEN = LoggedPile()


def with_a_piece(seen: TableLook, foot: tuple[float, float] | None, at: Square = (2, 1), *,
                 kind: str = "dragon", there: float = 4.0) -> TableLook:
    if foot is None:
        return seen
    neutral = {kind: NeutralLook(there=there, foot=foot)}
    return replace(seen, squares={**seen.squares, at: replace(seen.squares[at], neutral=neutral)})


def missed(*steps: tuple[bool, tuple[float, float] | None], there: float = 4.0,
           pile: StackLook | None = None, logged: LoggedPile = UNSEEN) -> tuple[float, float | None]:
    """With what weight and since when the monk is missed, after looks 5 s apart: whether each shows him, and where it
    shows a piece (``there``: its log-odds), on whose tile the game has a ``pile``."""
    tiles = {(0, 0): ("base.D", 0), BESIDE: ("base.B", 0), (2, 1): ("base.U", 0)}
    belief, overlooked = TableBelief(), Overlooked()
    for n, (shown, foot) in enumerate(steps):
        one = with_a_piece(look(5.0 * n, tiles, {BESIDE: (MONK,)} if shown else {}), foot, there=there)
        if pile is not None:
            one = replace(one, squares={**one.squares, (2, 1): replace(one.squares[2, 1], stacks={"tower": pile})})
        belief = updated(belief, one)
        overlooked.look(one, belief, {} if pile is None else {(2, 1): logged})
    monk, = overlooked.without(belief).figures.values()
    return monk.missed, monk.missed_s


def test_who_vanishes_when_a_piece_comes_close_may_stand_there() -> None:
    assert missed((True, None), (False, NEAR), (False, NEAR)) == (0.0, None)
    weight, since_s = missed((True, None), (False, AWAY), (False, AWAY))
    assert weight >= TAKEN and since_s == 5.0


def test_what_looks_a_little_like_a_piece_is_rather_a_hand() -> None:
    weight, since_s = missed((True, None), (False, NEAR), (False, NEAR), there=1.1)
    assert weight >= TAKEN and since_s == 5.0


def test_a_pile_of_the_piece_s_wood_hides_nobody() -> None:
    pile = StackLook(there=6.0, top=(NEAR[0] + FLOOR[0], NEAR[1] + FLOOR[1]), yaw=0.0, floor=FLOOR, heights=(-6.0, 0.0))
    covered = {"pile": replace(pile, there=-4.0), "logged": LoggedPile(top=pile.top, blocks=1)}  # by who stands on it
    for how in ({"pile": pile}, covered):
        weight, since_s = missed((True, None), (False, NEAR), (False, NEAR), **how)
        assert weight >= TAKEN and since_s == 5.0


def test_he_is_gone_once_the_piece_is_elsewhere_and_he_is_not_seen() -> None:
    weight, since_s = missed((True, None), (False, NEAR), (False, NEAR), (False, AWAY), (False, None))
    assert weight >= TAKEN and since_s == 15.0


def test_a_look_that_may_have_overlooked_him_takes_nothing_from_the_next_ones() -> None:
    """Two looks soon after one that shows something like a piece beside him, as when a hand takes him up."""
    tiles = {(0, 0): ("base.D", 0), BESIDE: ("base.B", 0), (2, 1): ("base.U", 0)}
    belief, overlooked = TableBelief(), Overlooked()
    for t_s, shown, foot in ((0.0, True, None), (20.0, False, NEAR), (21.5, False, None), (23.0, False, None)):
        one = with_a_piece(look(t_s, tiles, {BESIDE: (MONK,)} if shown else {}), foot)
        belief = updated(belief, one)
        overlooked.look(one, belief, {})
    monk, = overlooked.without(belief).figures.values()
    assert monk.missed >= TAKEN and monk.missed_s == 21.5


def test_who_was_seen_beside_the_piece_is_told_from_it() -> None:
    weight, since_s = missed((True, NEAR), (True, None), (False, NEAR), (False, NEAR))
    assert weight >= TAKEN and since_s == 10.0
    assert missed((True, NEAR), (True, None), (False, (0.05, 0.75)), (False, (0.05, 0.75))) == (0.0, None)


def test_a_piece_that_comes_back_to_its_old_place_hides_him_like_a_new_one() -> None:
    assert missed((True, NEAR), (True, AWAY), (True, None), (False, NEAR), (False, NEAR)) == (0.0, None)


def test_a_piece_stays_where_a_look_that_leaves_its_square_out_does_not_show_it() -> None:
    """Such a look takes print elsewhere for it, or a hand."""
    tiles = {(0, 0): ("base.D", 0), BESIDE: ("base.B", 0), (2, 1): ("base.U", 0), (5, 1): ("base.U", 0)}
    belief, overlooked = TableBelief(), Overlooked()
    for n, (monk, places) in enumerate([(True, [(2, 1)]), (True, [(5, 1)]), (False, [(2, 1)]), (False, [(2, 1)])]):
        one = look(5.0 * n, tiles, {BESIDE: (MONK,)} if monk else {}, whole=False)
        for at in places:
            one = with_a_piece(one, NEAR, at)
        one = replace(one, squares={at: s for at, s in one.squares.items() if at in (BESIDE, *places)})
        belief = updated(belief, one)
        overlooked.look(one, belief, {})
    monk, = overlooked.without(belief).figures.values()
    assert monk.missed >= TAKEN


def test_who_comes_where_a_piece_stands_is_told_from_it() -> None:
    """A hand hides the piece when he is seen."""
    weight, since_s = missed((False, NEAR), (True, None), (False, NEAR), (False, NEAR))
    assert weight >= TAKEN and since_s == 10.0


def test_who_is_seen_again_is_missed_anew() -> None:
    assert missed((True, None), (False, AWAY), (True, None), (False, NEAR)) == (0.0, None)
    assert missed((True, None), (False, NEAR), (True, NEAR), (False, NEAR))[1] == 15.0


class PieceTable(PilesTable):
    """A table with piles and a neutral piece: which one, and its square and foot."""

    kind, at = "dragon", (2, 1)
    foot: tuple[float, float] | None = None

    def look(self) -> TableLook:
        return with_a_piece(super().look(), self.foot, self.at, kind=self.kind)


@pytest.mark.parametrize(("foot", "taken"), [(NEAR, 0), (AWAY, 1)])
def test_a_block_took_nobody_beside_whom_a_piece_was_put_down(foot: tuple[float, float], taken: int) -> None:
    table = PieceTable(replace(SETUP, expansions=("base", "dragon", "tower")))
    table.piles[SOUTH] = top(0)
    table.lays(SOUTH, "tower.02", 0)  # Anna
    table.lays(WEST, "base.U", 0)
    table.lays(EAST, "base.U", 0)
    table.lays(BESIDE, "base.B", 0, MONK)  # Ben
    table.lays((2, 1), "base.U", 1)
    table.piles[SOUTH], table.foot = top(1), foot
    table.figures[BESIDE] = ()
    table.sees(4)
    assert len(table.told(TowerRaised)) == 1 and len(table.told(Captured)) == taken
    table.figures[BESIDE] = (MONK,)
    table.sees()
    assert len(table.told(Captured)) == taken


@pytest.mark.parametrize(("foot", "moves"), [((0.52, 0.48), 0), ((0.85, 0.15), 1)])
def test_a_tower_under_a_follower_is_not_the_fairy_but_she_may_be_beside_it(
        foot: tuple[float, float], moves: int) -> None:
    """He covers the top, so that the look finds no pile; its wood has her colour."""
    table = PieceTable(replace(SETUP, expansions=("base", "dragon", "tower")))
    table.piles[SOUTH] = top(0)
    table.lays(SOUTH, "tower.02", 0)  # Anna
    monk = figure("base.B", 0, "cloister", "I", "blue")
    table.lays(WEST, "base.B", 0, monk)  # Ben
    table.piles[SOUTH] = top(1)
    table.lays(EAST, "base.U", 0)  # Anna, who raises the tower
    assert len(table.told(TowerRaised)) == 1
    table.piles[SOUTH] = replace(top(1), there=-4.0, top=(0.9, 0.9))
    table.figures[SOUTH] = (replace(monk, foot=top(1).top),)
    table.lays((2, 0), "base.U", 0)  # Ben
    table.lays((3, 0), "base.U", 0)
    table.kind, table.at, table.foot = "fairy", SOUTH, foot
    table.lays((4, 0), "base.U", 0)  # Ben
    table.sees(6)
    assert sum(isinstance(e.body, FairyMoved) for e in table.book.entries) == moves
