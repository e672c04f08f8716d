"""What the shadow of a pile says of its height."""

from __future__ import annotations

from dataclasses import replace

import pytest
from piles import EAST, FAR, FLOOR, SOUTH, PilesTable, top, with_a_foundation

from reading.alignment import Alignment
from reading.record import look_from_json, look_to_json
from reading.stack_limits import SHADOW
from reading.stack_shadow import Lamp, StackShadows
from scoring.expansions.tower import TowerRaised
from vision.looks import SECTORS, SquareLook, StackLook, TableLook

WAY, STEP = 5, 0.1  # in which shadows fall, and by what each block adds
PLACE = ("tower", SOUTH)
MORE = ((2, 0), (3, 0), (4, 0), (5, 0))


def shades(area: float, way: int = WAY) -> tuple[float, ...]:
    """A shadow of that area, which two directions beside it see in part."""
    return tuple(area * max(0.0, 1.0 - abs(n - way) / 3) for n in range(SECTORS))


def shaded(height: int, area: float, off: tuple[float, float] = (0.0, 0.0)) -> StackLook:
    return replace(top(height, off=off), shades=shades(area))


def raised(table: PilesTable, to: StackLook, tile: tuple[int, int]) -> None:
    """A turn with a block: a tile, then the pile as the looks show it."""
    table.lays(tile, "base.U", 0)
    table.touched_s = 2.0
    table.piles[SOUTH] = to
    table.sees(1)
    table.touched_s = 0.0
    table.sees(6)


def with_three_blocks(step: float = STEP) -> PilesTable:
    table = with_a_foundation()
    for n, tile in enumerate((EAST, *MORE[:2]), 1):
        raised(table, shaded(n, n * step), tile)
    assert len(table.told(TowerRaised)) == 3
    return table


def blocks(table: PilesTable, area: float, off: tuple[float, float] = (-FLOOR[0], -FLOOR[1])) -> int:
    """How many blocks the game has after one more turn in which the top seems not to move, but its shadow may."""
    raised(table, shaded(4, area, off), MORE[2])
    table.lays(FAR, "base.U", 0)
    table.sees(8)
    return len(table.told(TowerRaised))


def test_a_longer_shadow_is_a_block_where_the_top_hardly_moves() -> None:
    assert blocks(with_three_blocks(), 4 * STEP) == 4
    assert blocks(with_three_blocks(), 3 * STEP) == 3


def test_without_a_lamp_shadows_say_nothing() -> None:
    assert blocks(with_three_blocks(step=0.0), STEP) == 3


def test_a_lamp_is_known_from_some_blocks() -> None:
    seen = StackShadows()
    for n in range(30):
        hand = 0.8 * (n == 8)
        seen.look(PLACE, replace(top(1), shades=tuple(
            a + b for a, b in zip(shades(STEP * (n // 8)), shades(hand, way=12), strict=True))), float(n))
    seen.learn(PLACE, 8.0)
    assert seen.lamp() is None  # it might be anything
    seen.learn(PLACE, 8.0)
    assert seen.lamp() is None  # the same block
    seen.learn(PLACE, 16.0)
    lamp = seen.lamp()
    assert lamp is not None and lamp.sector == WAY and lamp.step == pytest.approx(STEP)
    assert seen.log_odds(PLACE, 24.0) > 3.0 > 0.0 > seen.log_odds(PLACE, 12.0)
    assert seen.log_odds(PLACE, 29.0) == 0.0  # too few looks yet
    assert seen.log_odds(("tower", EAST), 24.0) == 0.0  # nothing was seen there


def test_what_a_shadow_says() -> None:
    lamp = Lamp(sector=0, step=STEP)  # the directions are a circle
    longer, other_way, much, same, shorter = (lamp.log_odds(shades(area, way)) for area, way in (
        (STEP, 1), (STEP, 8), (2.0, 0), (0.0, 0), (-STEP, 0)))
    assert 3.0 < longer <= SHADOW.most
    assert max(same, other_way, much, shorter) < 0.0
    assert min(same, other_way, much, shorter) > -3.0  # it may have been hidden


def test_shadows_turn_with_the_board_and_are_recorded() -> None:
    pile = shaded(1, STEP)
    look = TableLook(frame=1, t_s=1.0, squares={(0, 0): SquareLook(there=5.0, stacks={"tower": pile})})
    turned = Alignment(turns=1).look(look)
    (stack,) = (s.stacks["tower"] for s in turned.squares.values())
    assert stack.shades == shades(STEP, WAY + SECTORS // 4)
    assert Alignment(turns=3).look(turned).squares[0, 0].stacks["tower"].shades == pile.shades
    again = look_from_json(look_to_json(look)).squares[0, 0].stacks["tower"]
    assert again.shades == pytest.approx(pile.shades, abs=1e-4) and again.tone is None
