"""Of the blocks that may have been added to several piles in one turn, only one was."""

from __future__ import annotations

import pytest
from piles import EAST, FAR, SOUTH, top, with_a_foundation
from tables import figure

from reading.limits import LIMITS
from reading.logged_game import LoggedEvent, LoggedTurn
from reading.policy import Decision
from reading.rival_piles import Block, one_of_each
from reading.stack_turns import Way
from scoring.events import TilePlaced
from scoring.expansions.tower import TowerRaised
from scoring.log import effective, open_questions
from scoring.tiles import Square


def turn(seq: int) -> LoggedTurn:
    laid = TilePlaced(player=0, tile="base.U", at=(seq, 0), rot=0)
    return LoggedTurn(tile=LoggedEvent(seq=seq, event=laid, pinned=False, asked=False), rest=())


NOW, BEFORE = turn(2), turn(1)


def block(at: Square, likely: float, takes: tuple[int, ...] = (7,), group: LoggedTurn = NOW, *,
          asked: bool = False) -> Block:
    event = TowerRaised(player=0, at=at)
    made = Decision(events=(event,), confidence=0.9, asked=asked, alternatives=(), at=at, frame=1)
    return Block(made=made, likely=likely, way=Way(group=group, back=0, event=event, weight=0.0,
                                                   takes=dict.fromkeys(takes, 5.0)))


HERE, THERE = (0, 1), (0, 3)


def test_the_likelier_of_two_is_asked_about_with_the_other_as_an_answer() -> None:
    made, = one_of_each([block(HERE, 4.7), block(THERE, 5.5)], [])
    assert made.asked and [[e.at for e in events if isinstance(e, TowerRaised)]
                           for events, _ in made.alternatives] == [[THERE], [HERE], []]
    assert made.confidence == pytest.approx(0.69, abs=0.01) and sum(p for _, p in made.alternatives) == pytest.approx(1)


def test_one_that_is_likelier_by_far_is_told_alone() -> None:
    only, = one_of_each([block(HERE, 4.9 - LIMITS.agreed), block(THERE, 5.0)], [])
    assert only == block(THERE, 5.0).made and not only.asked


@pytest.mark.parametrize("other", [block(HERE, 5.0, (8,)), block(HERE, 5.0, ()), block(HERE, 5.0, group=BEFORE)],
                         ids=["another figure", "nobody", "another turn"])
def test_blocks_that_do_not_exclude_each_other_are_both_told(other: Block) -> None:
    told = one_of_each([other, block(THERE, 4.9)], [])
    assert len(told) == 2 and not any(made.asked for made in told)


def test_one_of_which_people_are_asked_about_a_likelier_rival_is_not_told() -> None:
    rival = block(HERE, 5.0, asked=True)
    assert not one_of_each([block(THERE, 4.0)], [rival])
    both, = one_of_each([block(THERE, 5.5)], [rival])
    assert both.asked and both.at == THERE


def test_what_two_towers_explain_as_well_is_asked_about() -> None:
    """Looks show a block on both at once, and the monk between them is gone."""
    table = with_a_foundation()
    table.lays(EAST, "base.U", 0)  # Anna
    table.lays((1, 1), "base.B", 0, figure("base.B", 0, "cloister", "I", "blue"))  # Ben
    table.piles[1, 2] = top(0)
    table.lays((1, 2), "tower.02", 0)  # Anna
    table.lays(FAR, "base.U", 0)  # Ben
    table.lays((-3, 0), "base.U", 0)  # Anna
    assert [e.player for e in table.told(TilePlaced)] == [0, 1, 0, 1, 0, 1, 0]  # type: ignore[attr-defined]
    table.piles[SOUTH] = table.piles[1, 2] = top(1)
    table.figures[1, 1] = ()
    table.sees(6)
    asked, = (e for s, e in effective(table.book.entries) if s in open_questions(table.book.entries))
    assert asked == table.told(TowerRaised)[-1] and len(table.told(TowerRaised)) == 1
