"""Print that looks like a neutral piece: learned while the piece is seen more clearly where the log has it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from tables import figure
from test_neutral import EAST, WEST, PiecesTable, questions
from test_neutral import FAR as WESTERN

from reading.sightings import Sightings, stands_on, updated
from scoring.expansions.dragon_moves import FairyMoved
from scoring.log import Retracted, open_questions
from scoring.tiles import Square
from vision.looks import NeutralLook, SquareLook, TableLook

HERE, PRINT, FAR = (0, 0), (1, 0), (2, 0)
FOOT = (0.2, 0.3)


def looks(*each: Mapping[Square, float], has: Square | None = HERE, feet: Mapping[Square, tuple[float, float]] = {},
          before: Mapping[str, Sightings] | None = None, t_s: float = 0.0) -> dict[str, Sightings]:
    """The sightings after looks, four seconds apart, that show the fairy with these log-odds; 0: not there."""
    sights = dict(before or {})
    for n, seen in enumerate(each):
        squares = {at: SquareLook(there=5.0, figures=(), neutral={"fairy": NeutralLook(
            there=odds, foot=feet.get(at, FOOT))} if odds else {}) for at, odds in seen.items()}
        look = TableLook(frame=n, t_s=t_s + 4.0 * n, squares=squares)
        sights = updated(sights, look, ["fairy"], stand={"fairy": has})
    return sights


def test_what_looks_like_it_while_it_is_clearly_elsewhere_is_print_for_good() -> None:
    learned = looks({HERE: 7.0, PRINT: 5.0})
    assert learned["fairy"][PRINT].odds < 0.0 and not learned["fairy"][PRINT].known
    later = looks({HERE: 0.0, PRINT: 5.5}, {PRINT: 5.0}, {PRINT: 5.5}, before=learned, t_s=10.0)
    assert later["fairy"][PRINT].odds < 0.0
    unlearned = looks({HERE: 7.0}, {HERE: 0.0, PRINT: 5.5}, {PRINT: 5.0}, {PRINT: 5.5})
    assert unlearned["fairy"][PRINT].odds > 5.0


def test_looks_that_took_it_for_the_piece_before_count_no_more() -> None:
    sights = looks({HERE: 7.0}, {PRINT: 5.0}, {PRINT: 5.0})
    assert sights["fairy"][PRINT].odds > 5.0
    sights = looks({HERE: 7.0, PRINT: 5.0}, before=sights, t_s=20.0)
    assert sights["fairy"][PRINT].odds < 0.0 and not sights["fairy"][PRINT].known


@pytest.mark.parametrize("seen", [{HERE: 7.0, PRINT: 6.0}, {PRINT: 5.0}, {HERE: 5.0, PRINT: 7.0}],
                         ids=["hardly-clearer", "alone", "less-clear"])
def test_it_takes_a_clearer_sight_of_the_piece_where_the_log_has_it(seen: Mapping[Square, float]) -> None:
    assert not looks(seen)["fairy"][PRINT].prints
    assert not looks({HERE: 7.0, PRINT: 5.0}, has=FAR)["fairy"][PRINT].prints
    assert not looks({HERE: 7.0, PRINT: 5.0}, has=None)["fairy"][PRINT].prints


def test_the_piece_itself_is_seen_where_print_is_known() -> None:
    """More clearly than the print, or in another place of the tile."""
    learned = looks({HERE: 7.0, PRINT: 4.0}, {HERE: 7.0, PRINT: 4.6})
    (known,) = learned["fairy"][PRINT].prints
    assert known.looks == 2 and known.odds == pytest.approx(4.3)
    over = looks({HERE: 0.0, PRINT: 7.8}, {PRINT: 7.8}, before=learned, t_s=10.0)
    assert stands_on(over["fairy"]) is not None and over["fairy"][PRINT].odds > 5.0
    beside = looks({HERE: 0.0, PRINT: 4.5}, {PRINT: 4.5}, before=learned, t_s=10.0, feet={PRINT: (0.6, 0.3)})
    assert beside["fairy"][PRINT].odds > 4.0


def test_print_whose_look_changes_with_the_light_remains_print() -> None:
    learned = looks({HERE: 7.0, PRINT: 2.0})
    slowly = looks({PRINT: 3.0}, {PRINT: 3.5}, {PRINT: 3.8}, {PRINT: 4.0}, before=learned, t_s=10.0)
    assert slowly["fairy"][PRINT].odds < 0.0
    at_once = looks({PRINT: 4.0}, before=learned, t_s=10.0)
    assert at_once["fairy"][PRINT].odds > 0.0


def test_where_it_stood_before_it_came_to_where_it_is_remains_known() -> None:
    sights = looks({FAR: 7.0}, {FAR: 7.0}, {FAR: 0.0, HERE: 7.0})
    sights = looks({HERE: 7.0, FAR: 4.0}, before=sights, t_s=20.0)
    assert sights["fairy"][FAR].prints and sights["fairy"][FAR].known


def test_what_a_hand_looks_like_in_several_places_is_one_piece_at_most() -> None:
    hand = looks({HERE: 0.0, PRINT: 0.0, FAR: 0.0}, {HERE: 7.2, PRINT: 7.2, FAR: 7.5}, has=None)
    assert all(s.odds < 0.0 for s in hand["fairy"].values())
    one = looks({HERE: 0.0, PRINT: 0.0, FAR: 0.0}, {HERE: 7.2, PRINT: 2.0, FAR: 0.0}, has=None)
    assert one["fairy"][HERE].odds > 4.0 > 0.0 > one["fairy"][PRINT].odds


def test_what_people_deny_of_a_place_is_print_and_not_asked_about_in_turns_to_come() -> None:
    table = PiecesTable()
    table.lays(EAST, "dragon.17", 0)
    table.stands["dragon"] = EAST, (0.5, 0.5)
    table.lays(WEST, "base.U", 0, figure("base.U", 0, "road", "E W", "blue"))
    table.lays(WESTERN, "base.U", 0, figure("base.U", 0, "field", "NL NR EL WR", "red"))
    places = (WEST, (0.7, 0.3)), (WESTERN, (0.7, 0.3))
    table.there["fairy"] = 2.2  # print looks a little like her, and so she is asked about
    denied = 0
    for n in range(6):
        table.lays((2 + n, 0), "base.U", 0)
        table.stands["fairy"] = places[n % 2]
        table.sees(6)
        for event in questions(table):
            assert isinstance(event, FairyMoved)
            table.book.say(Retracted(seq=max(open_questions(table.book.entries))))
            denied += 1
    assert denied == 2  # once for each place
    table.there["fairy"] = 6.0
    table.sees(6)
    moved, = table.beyond_tiles()
    assert isinstance(moved, FairyMoved) and moved.at == table.stands["fairy"][0]


def test_a_hand_that_looks_like_it_beside_where_it_was_all_the_time_changes_nothing() -> None:
    here = looks({HERE: 5.0, PRINT: 0.0}, {HERE: 5.0}, {HERE: 5.0})
    hand = looks({HERE: 5.0, PRINT: 5.6}, before=here, t_s=20.0)
    assert hand["fairy"][HERE].came_s == here["fairy"][HERE].came_s
    assert hand["fairy"][HERE].odds >= here["fairy"][HERE].odds and hand["fairy"][PRINT].odds < 0.0
