"""Which of the heaps of a paint is the home of that player's figures."""

from __future__ import annotations

from collections.abc import Sequence

from reading.heaps import Heaps, Place
from vision.looks import BesideLook

HEAP, TRACK, CAPTOR = (2.0, 2.0), (9.0, 2.0), (9.0, 9.0)


def lying(at: Place, count: int) -> list[BesideLook]:
    return [BesideLook(at=(at[0] + 0.3 * n, at[1]), count=1, colours={}) for n in range(count)]


def sees(heaps: Heaps, in_hand: int, *there: tuple[Place, int], others: Sequence[BesideLook] = (), holds: int = 0,
         times: int = 8, held: Sequence[tuple[Place | None, int]] = ()) -> Place | None:
    """Where home is after some looks: the nearest of the places above."""
    for _ in range(times):
        heaps.look([b for at, count in there for b in lying(at, count)], others, in_hand, holds, held)
    return heaps.home and min((HEAP, TRACK, CAPTOR), key=lambda at: abs(at[0] - heaps.home.at[0])  # type: ignore
                              + abs(at[1] - heaps.home.at[1]))  # type: ignore[union-attr]


def test_squares_of_a_score_track_are_more_than_anybody_has_in_hand() -> None:
    assert sees(Heaps(), 7, (TRACK, 10), (HEAP, 7)) == HEAP


def test_what_does_not_change_with_what_is_in_hand_is_not_home() -> None:
    heaps = Heaps()
    assert sees(heaps, 7, (TRACK, 6), (HEAP, 5)) == TRACK
    for gone in range(1, 6):
        where = sees(heaps, 7 - gone, (TRACK, 6), (HEAP, 5 - gone))
    assert where == HEAP


def test_where_others_lie_is_another_s_home() -> None:
    assert sees(Heaps(), 3, (CAPTOR, 3), (HEAP, 2), others=lying(CAPTOR, 4)) == HEAP


def test_prisoners_do_not_speak_against_a_home() -> None:
    assert sees(Heaps(), 7, (HEAP, 7), (TRACK, 6), others=lying(HEAP, 4), holds=4) == HEAP


def test_a_home_that_came_into_view_late_is_found() -> None:
    heaps = Heaps()
    assert sees(heaps, 7, (TRACK, 2)) == TRACK
    for in_hand in (6, 7, 6, 5, 4, 3):
        where = sees(heaps, in_hand, (HEAP, in_hand - 2), (TRACK, 2))
    assert where == HEAP


def test_a_home_that_is_always_counted_badly_stays() -> None:
    heaps = Heaps()
    for in_hand in (7, 6, 5, 4, 3, 4, 3):
        where = sees(heaps, in_hand, (HEAP, in_hand - 3), (TRACK, 2))
    assert where == HEAP


def test_a_home_that_was_hidden_for_a_while_stays() -> None:
    heaps = Heaps()
    sees(heaps, 7, (HEAP, 7), (TRACK, 2), times=30)
    sees(heaps, 6, (TRACK, 2))
    assert sees(heaps, 5, (HEAP, 5), (TRACK, 2)) == HEAP


def test_a_heap_that_was_moved_is_home_where_it_is_now() -> None:
    heaps = Heaps()
    assert sees(heaps, 7, (HEAP, 7)) == HEAP
    assert sees(heaps, 7, (CAPTOR, 7), times=5) == HEAP  # for a moment
    assert sees(heaps, 7, (CAPTOR, 7), times=1) == CAPTOR


def test_what_lay_there_long_before_is_not_the_heap_that_was_moved() -> None:
    heaps = Heaps()
    assert sees(heaps, 7, (HEAP, 7), (TRACK, 3), times=30) == HEAP
    assert sees(heaps, 7, (TRACK, 3), times=60) == HEAP
    assert sees(heaps, 7, (TRACK, 3), (CAPTOR, 7), times=2) == CAPTOR


def test_who_has_nothing_in_hand_is_at_home_where_it_was() -> None:
    """All that lies there of his is a prisoner, whom the log may not have yet."""
    heaps = Heaps()
    for in_hand in (7, 4, 1):
        sees(heaps, in_hand, (HEAP, in_hand))
    assert sees(heaps, 0, (CAPTOR, 1), times=20) == HEAP
    assert sees(heaps, 1, (CAPTOR, 1), held=[(None, 1)], times=20) == HEAP  # the last of his is hidden


def test_a_home_that_is_counted_badly_stays_while_it_is_hidden() -> None:
    """What is known of it is how it was counted when it was seen."""
    heaps = Heaps()
    for in_hand in (7, 6, 5, 6):
        sees(heaps, in_hand, (HEAP, in_hand - 3), (TRACK, 2))
    for in_hand in (5, 6, 5, 6, 5, 6):
        assert sees(heaps, in_hand, (TRACK, 2)) == HEAP
    assert sees(heaps, 5, (HEAP, 2), (TRACK, 2)) == HEAP


def test_one_figure_beside_a_hidden_heap_does_not_carry_it_off() -> None:
    heaps = Heaps()
    sees(heaps, 7, (HEAP, 7))
    sees(heaps, 7, ((HEAP[0] + 2.3, HEAP[1]), 1), times=1)
    assert heaps.home is not None and heaps.home.at[0] < HEAP[0] + 2.0
