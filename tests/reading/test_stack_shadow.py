"""What the shadow of a pile says of its height."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import pytest
from piles import EAST, FAR, FLOOR, SOUTH, PilesTable, top, with_a_foundation

from reading.alignment import Alignment
from reading.record import look_from_json, look_to_json
from reading.stack_limits import LAMP
from reading.stack_shadow import Lamp, StackShadows
from scoring.events import TilePlaced
from scoring.expansions.tower import TowerRaised
from scoring.log import Retracted, effective
from scoring.notation import InvalidNotation
from vision.looks import SECTORS, SquareLook, StackLook, TableLook

WAY, STEP = 5, 0.03  # in which shadows fall, and by what each block adds
PLACE, OTHER = ("tower", SOUTH), ("tower", EAST)
MORE = ((2, 0), (3, 0), (4, 0), (5, 0), (6, 0))


def darkened(area: float, way: int = WAY) -> tuple[float, ...]:
    """A shadow that darkens by so much, and two directions beside it in part."""
    off = [min((n - way) % SECTORS, (way - n) % SECTORS) for n in range(SECTORS)]
    return tuple(area * max(0.0, 1.0 - n / 3) for n in off)


def shaded(height: int, area: float, off: tuple[float, float] = (0.0, 0.0)) -> StackLook:
    return replace(top(height, off=off), darkened=darkened(area))


def raised(table: PilesTable, tile: tuple[int, int], *looks: StackLook) -> None:
    """A turn with a block: a tile, then the pile as the looks show it, the hand between them, and stays."""
    table.lays(tile, "base.U", 0)
    table.touched_s = 2.0
    for look in looks:
        table.piles[SOUTH] = look
        table.sees(1)
    table.touched_s = 0.0
    table.sees(6)


def with_four_blocks(step: float = STEP) -> PilesTable:
    table = with_a_foundation()
    for n, tile in enumerate((EAST, *MORE[:3]), 1):
        raised(table, tile, shaded(n, n * step))
    assert len(table.told(TowerRaised)) == 4
    return table


def blocks(table: PilesTable, *looks: StackLook) -> int:
    """How many blocks the game has, or asks about, after one more turn."""
    raised(table, MORE[3], *looks)
    table.lays(FAR, "base.U", 0)
    table.sees(8)
    return len(table.told(TowerRaised))


UNMOVED = partial(shaded, 5, off=(-FLOOR[0], -FLOOR[1]))


def test_a_longer_shadow_is_a_block_where_the_top_hardly_moves() -> None:
    assert blocks(with_four_blocks(), UNMOVED(5 * STEP)) == 5
    assert blocks(with_four_blocks(), UNMOVED(4 * STEP)) == 4


def test_without_a_lamp_shadows_say_nothing() -> None:
    assert blocks(with_four_blocks(step=0.0), UNMOVED(STEP)) == 4


@pytest.mark.parametrize("first", [0.3, 0.5, 1.0])
def test_one_longer_shadow_is_one_block(first: float) -> None:
    """A look that shows the block half-way, and its shadow or a part of it, is followed by one that shows all."""
    half = shaded(5, (4 + first) * STEP, off=(-0.5 * FLOOR[0], -0.5 * FLOOR[1]))
    assert blocks(with_four_blocks(), half, shaded(5, 5 * STEP)) == 5


@pytest.mark.parametrize(("looks", "off"), [(1, 0.3), (6, 0.3)])
def test_a_pile_that_is_knocked_after_a_block_has_no_other_one(looks: int, off: float) -> None:
    """Its shadow is that of the block, also where a single look saw it before."""
    table = with_four_blocks()
    table.lays(MORE[3], "base.U", 0)
    table.touched_s, table.piles[SOUTH] = 2.0, shaded(5, 5 * STEP)
    table.sees(1)
    table.touched_s = 0.0
    table.sees(looks - 1)
    raised(table, MORE[4], shaded(5, 5 * STEP, off=(off * FLOOR[0], off * FLOOR[1])))
    table.lays(FAR, "base.U", 0)
    table.sees(8)
    assert len(table.told(TowerRaised)) == 5


@pytest.mark.parametrize("tile", [False, True])
def test_blocks_that_are_taken_back_say_nothing_of_the_lamp(tile: bool) -> None:
    """Also with the tile of their turn."""
    table = with_four_blocks()
    assert table.reader._stack_moves._shadows.lamp is not None
    taken_back = (TowerRaised, TilePlaced) if tile else (TowerRaised,)
    for kind in taken_back:
        table.book.say(Retracted(seq=[s for s, event in effective(table.book.entries) if isinstance(event, kind)][-1]))
    table.sees(1)
    assert table.reader._stack_moves._shadows.lamp is None


def looked_at(*shadows: float, each: int = 8, hand: float = 0.8) -> StackShadows:
    """So many looks at each of these shadows, a second apart; a hand casts another one on the first look at each."""
    seen = StackShadows()
    for n in range(each * len(shadows)):
        both = zip(darkened(shadows[n // each]), darkened(hand * (n % each == 0), way=12), strict=True)
        seen.look(PLACE, replace(top(1), darkened=tuple(a + b for a, b in both)), float(n))
    return seen


def test_a_lamp_is_known_from_some_blocks() -> None:
    seen = looked_at(0.0, STEP, 2 * STEP, 3 * STEP, 4 * STEP)
    for turn in (1, 1, 2):
        seen.learn(PLACE, turn, 8.0 * turn)
        assert seen.lamp is None  # it might be anything
    seen.learn(PLACE, 3, 24.0)
    lamp = seen.lamp
    assert lamp is not None and lamp.sector == WAY and lamp.step == pytest.approx(STEP)
    assert seen.log_odds(PLACE, [32.0], [8.0, 16.0, 24.0, 32.0]) > 3.0
    assert seen.log_odds(PLACE, [28.0], [8.0, 16.0, 24.0, 28.0]) < 0.0
    assert seen.log_odds(PLACE, [39.0], [8.0, 16.0, 24.0, 39.0]) == 0.0  # too few looks yet
    assert seen.log_odds(OTHER, [32.0], [32.0]) == 0.0  # nothing was seen there
    seen.forget(PLACE, {2, 3})
    assert seen.lamp is None
    seen.learn(PLACE, 1, 16.0)  # which is that of another one
    assert seen.lamp is None
    seen.learn(PLACE, 1, 12.0)  # when nothing came
    assert seen.lamp is None
    seen.learn(PLACE, 1, 8.0)
    assert seen.lamp == lamp


@pytest.mark.parametrize(("grown", "known"), [((1, 1, 0), False), ((1, 1, 1), True), ((0.1,) * 3, False),
                                              ((0.8, 1, 1.2), True), ((1, 1, 1, 0), True),
                                              ((1, 0, 1, 0), False)])
def test_what_most_blocks_have_darkened_is_the_lamps(grown: tuple[float, ...], known: bool) -> None:
    total, shadows = 0.0, [0.0]
    for blocks in grown:
        shadows.append(total := total + blocks * STEP)
    seen = looked_at(*shadows, hand=0.0)
    for turn in range(1, len(shadows)):
        seen.learn(PLACE, turn, 8.0 * turn)
    lamp = seen.lamp
    assert (lamp is not None) == known
    assert lamp is None or lamp.sector == WAY and lamp.step == pytest.approx(STEP)


def test_blocks_with_few_looks_between_them_are_judged_together() -> None:
    seen = looked_at(0.0, *(n * STEP for n in range(1, 5)))
    for turn in (1, 2, 3):
        seen.learn(PLACE, turn, 8.0 * turn)
    logged = [8.0, 16.0, 24.0]
    one = seen.log_odds(PLACE, [32.0], [*logged, 32.0])
    for other in (31.0, 33.0):
        assert seen.log_odds(PLACE, [other, 32.0], [*logged, other, 32.0]) < one
    assert seen.log_odds(PLACE, [32.0, 32.0], [*logged, 32.0, 32.0]) < one
    assert seen.log_odds(PLACE, [24.0], [8.0, 16.0, 24.0, 24.0]) < 0.0  # one of the two is the game's
    assert seen.log_odds(PLACE, [30.0], [30.0]) < 0.0 and seen.log_odds(PLACE, [25.0], []) == 0.0
    assert seen.log_odds(PLACE, [25.0], [*logged, 25.0]) < 0.0  # the game has what darkened it
    far = seen.log_odds(PLACE, [28.0, 32.0], [*logged, 28.0, 32.0])
    assert far == pytest.approx(one + seen.log_odds(PLACE, [28.0], [*logged, 28.0]), abs=0.3)


def test_what_two_blocks_have_darkened_is_no_ones() -> None:
    """Also if that there are two is learned later; what was learned long ago stays."""
    seen = looked_at(0.0, STEP, 2 * STEP, 3 * STEP, each=4, hand=0.0)
    for n in range(16, 30):
        seen.look(PLACE, replace(top(1), darkened=darkened((5 if n >= 22 else 4 if n >= 20 else 3) * STEP)), float(n))
    for turn in (1, 2, 3):
        seen.learn(PLACE, turn, 4.0 * turn)
    lamp = seen.lamp
    assert lamp is not None and lamp.step == pytest.approx(STEP)
    seen.learn(PLACE, 4, 20.0)
    between = seen.lamp
    assert between is not None and between.step == pytest.approx(STEP)
    seen.learn(PLACE, 5, 22.0)
    assert seen._grown.keys() == {(PLACE, turn) for turn in (1, 2, 3, 5)}
    assert seen.log_odds(PLACE, [20.0, 22.0], [20.0, 22.0]) > 3.0 > seen.log_odds(PLACE, [22.0], [20.0, 22.0])
    for n in range(30, 60):
        seen.look(PLACE, replace(top(1), darkened=darkened(0.0)), float(n))
    seen.learn(PLACE, 6, 50.0)
    assert seen.lamp is not None


def test_looks_at_one_block_end_where_the_next_one_comes() -> None:
    seen = looked_at(0.0, STEP, 2 * STEP, 3 * STEP, each=3, hand=0.0)
    for turn in (1, 2, 3):
        seen.learn(PLACE, turn, 3.0 * turn)
    lamp = seen.lamp
    assert lamp is not None and lamp.step == pytest.approx(STEP)
    one = seen.log_odds(PLACE, [9.0], [3.0, 6.0, 9.0])
    assert one > 3.0 and seen.log_odds(PLACE, [6.0, 9.0], [9.0, 3.0, 6.0]) == pytest.approx(2 * one, abs=0.1)


def test_what_a_shadow_says() -> None:
    lamp = Lamp(sector=0, step=STEP)  # the directions are a circle
    longer, other_way, much, same, shorter = (lamp.log_odds(darkened(area, way), 1) for area, way in (
        (STEP, SECTORS - 1), (STEP, 8), (2.0, 0), (0.0, 0), (-STEP, 0)))
    assert 3.0 < longer < LAMP.tells
    assert -3.0 < max(same, other_way) < 0.0  # it may have been hidden
    assert much == pytest.approx(0.0, abs=0.01) == shorter  # something else has come or gone
    assert lamp.log_odds(darkened(2 * STEP, 0), 2) > 3.0 > 1.0 > lamp.log_odds(darkened(STEP, 0), 2, 1)
    assert lamp.log_odds(darkened(0.006, 0), 1) < 0.5  # as looks differ


def test_two_lamps_make_two_shadows() -> None:
    lamp = Lamp(sector=0, step=STEP)
    for other in (0.8 * STEP, 1.1 * STEP):
        both = tuple(a + b for a, b in zip(darkened(STEP, 0), darkened(other, 8), strict=True))
        assert lamp.log_odds(both, 1) > 3.0
    assert lamp.log_odds(tuple(a + b for a, b in zip(darkened(STEP, 0), darkened(8 * STEP, 8), strict=True)), 1) < 0.0


def recorded(pile: StackLook) -> TableLook:
    return TableLook(frame=1, t_s=1.0, squares={(0, 0): SquareLook(there=5.0, stacks={"tower": pile})})


def test_shadows_turn_with_the_board_and_are_recorded() -> None:
    look = recorded(pile := shaded(1, STEP))
    turned = Alignment(turns=1).look(look)
    (stack,) = (s.stacks["tower"] for s in turned.squares.values())
    assert stack.darkened == darkened(STEP, WAY + SECTORS // 4)
    assert Alignment(turns=3).look(turned).squares[0, 0].stacks["tower"].darkened == pile.darkened
    again = look_from_json(look_to_json(look)).squares[0, 0].stacks["tower"]
    assert again.darkened == pytest.approx(pile.darkened, abs=1e-4) and again.tone is None


@pytest.mark.parametrize("told", [(0.1,) * (SECTORS - 1), (math.nan,) * SECTORS, ("x",) * SECTORS, 5])
def test_what_is_no_shadow_is_refused(told: object) -> None:
    data = look_to_json(recorded(shaded(1, STEP)))
    data["s"][0][8]["tower"][8] = told  # type: ignore[index]
    with pytest.raises(InvalidNotation):
        look_from_json(data)
