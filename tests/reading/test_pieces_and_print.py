"""Print that looks like a neutral piece: learned while the piece is seen more clearly where the log has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from tables import figure
from test_neutral import EAST, WEST, PiecesTable, agreed, questions, with_thief
from test_neutral import FAR as WESTERN

from reading.piece_print import PRINT as LIMITS
from reading.sightings import Sightings, believed, denied, stands_on, updated
from scoring.expansions.dragon_moves import FairyMoved
from scoring.log import Amended, Inserted, Retracted, effective, open_questions
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
    learned = looks({HERE: 7.0, PRINT: 5.0}, {HERE: 7.0, PRINT: 5.0})
    assert learned["fairy"][PRINT].odds < 0.0 and not learned["fairy"][PRINT].known
    later = looks({HERE: 0.0, PRINT: 5.5}, {PRINT: 5.0}, {PRINT: 5.5}, before=learned, t_s=10.0)
    assert later["fairy"][PRINT].odds < 0.0
    unlearned = looks({HERE: 7.0}, {HERE: 0.0, PRINT: 5.5}, {PRINT: 5.0}, {PRINT: 5.5})
    assert unlearned["fairy"][PRINT].odds > 5.0


def test_looks_that_took_it_for_the_piece_before_count_no_more() -> None:
    sights = looks({HERE: 7.0}, {PRINT: 5.0}, {PRINT: 5.0})
    assert sights["fairy"][PRINT].odds > 5.0
    sights = looks({HERE: 7.0, PRINT: 5.0}, {HERE: 7.0, PRINT: 5.0}, before=sights, t_s=20.0)
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


def test_one_look_may_have_seen_a_hand() -> None:
    once = looks({HERE: 7.0, PRINT: 5.0})
    assert looks({HERE: 0.0, PRINT: 5.5}, {PRINT: 5.0}, before=once, t_s=10.0)["fairy"][PRINT].odds > 5.0
    before = looks({HERE: 7.0}, {PRINT: 5.0}, {PRINT: 5.0})
    assert looks({HERE: 7.0, PRINT: 5.0}, before=before, t_s=20.0)["fairy"][PRINT].known
    soon = looks({HERE: 7.0, PRINT: 5.0}, before=once, t_s=1.5)
    assert looks({HERE: 0.0, PRINT: 5.5}, {PRINT: 5.0}, before=soon, t_s=10.0)["fairy"][PRINT].odds > 5.0


def test_what_is_left_to_see_where_it_was_does_not_hide_where_it_is() -> None:
    """Print of the tile, in another place or in the same one."""
    before = looks(*3 * [{HERE: 7.0, FAR: 0.0}])
    for left, foot in ((0.5, FOOT), (6.5, (0.8, 0.7))):
        gone = looks(*4 * [{HERE: left, FAR: 7.5}], before=before, feet={HERE: foot}, t_s=20.0)
        assert gone["fairy"][FAR].odds > 1.0 > 0.0 > gone["fairy"][HERE].odds


def test_print_is_not_looked_for_where_the_log_has_the_piece() -> None:
    learned = looks(*2 * [{HERE: 7.0, PRINT: 5.0}])
    there = looks({HERE: 0.0, PRINT: 5.0}, {PRINT: 4.0}, has=PRINT, before=learned, t_s=10.0)
    assert there["fairy"][PRINT].odds > 5.0 and not there["fairy"][PRINT].prints  # it was no print


def test_what_is_seen_elsewhere_makes_nothing_clearer() -> None:
    here = looks({HERE: 5.0}, {HERE: 5.0})
    both = looks({HERE: 4.5, PRINT: 0.5}, has=None, before=here, t_s=20.0)
    assert both["fairy"][HERE].odds <= looks({HERE: 4.5}, has=None, before=here, t_s=20.0)["fairy"][HERE].odds


def test_one_that_is_still_believed_to_be_there_has_not_come_again() -> None:
    """A look takes a figure in its place for no piece."""
    here = looks(*4 * [{HERE: 7.0}])
    missed = looks({HERE: -2.5}, before=here, t_s=20.0)["fairy"][HERE]
    assert missed.odds > 0.0 and missed.came_s == here["fairy"][HERE].came_s


def test_what_people_deny_is_as_clear_as_it_was() -> None:
    """Print that is clearer than it was known to be."""
    event = FairyMoved(player=0, at=PRINT)
    learned = looks(*2 * [{HERE: 7.0, PRINT: 3.0}])
    seen = looks({HERE: 0.0, PRINT: 6.5}, {PRINT: 6.8}, has=None, before=learned, t_s=10.0)
    assert seen["fairy"][PRINT].known
    refused = {"fairy": denied(seen["fairy"], PRINT, event)}
    (known,) = refused["fairy"][PRINT].prints
    assert known.odds == pytest.approx(6.8) and known.known and not refused["fairy"][PRINT].known
    assert believed(refused["fairy"], [event]) == refused["fairy"]
    (learned_,) = believed(refused["fairy"], [])[PRINT].prints  # people have taken back what they said
    assert learned_.denied is None and learned_.looks == known.looks
    once = {"fairy": denied(looks({HERE: 0.0, PRINT: 6.5}, {PRINT: 6.5}, has=None)["fairy"], PRINT, event)}
    assert once["fairy"][PRINT].prints and not believed(once["fairy"], [])[PRINT].prints


def test_a_look_that_does_not_find_it_any_more_takes_nothing_from_what_people_deny() -> None:
    seen = looks({PRINT: 6.5}, {PRINT: 6.5}, {PRINT: 6.5}, {PRINT: -1.0}, has=None)
    (known,) = denied(seen["fairy"], PRINT, FairyMoved(player=0, at=PRINT))[PRINT].prints
    assert known.odds == pytest.approx(6.5)


def test_two_hands_turns_apart_are_no_print() -> None:
    once = looks({HERE: 7.0, PRINT: 5.0})
    again = looks({HERE: 7.0, PRINT: 5.0}, before=once, t_s=200.0)
    (seen,) = again["fairy"][PRINT].prints
    assert not seen.known


def test_the_prints_of_a_square_are_few() -> None:
    feet = [{PRINT: (0.1 + 0.2 * (n % 5), 0.1 + 0.2 * (n // 5))} for n in range(25)]
    sights: Mapping[str, Sightings] = {}
    for n, where in enumerate(feet):
        sights = looks({HERE: 7.0, PRINT: 3.0}, feet=where, before=sights, t_s=5.0 * n)
    assert len(sights["fairy"][PRINT].prints) == LIMITS.most


def test_print_whose_look_changes_with_the_light_remains_print() -> None:
    learned = looks({HERE: 7.0, PRINT: 2.0}, {HERE: 7.0, PRINT: 2.0})
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


def prints_of(table: PiecesTable, name: str) -> dict[Square, int]:
    return {at: len(s.prints) for at, s in table.reader._neutral_moves.seen[name].items() if s.prints}


def test_what_people_confirm_or_correct_is_no_print() -> None:
    """A walk that was told in two steps, and the player of a move."""
    table = with_thief()
    table.lays(WESTERN, "dragon.16", 0)
    for at, foot in (((0, 0), (0.4, 0.6)), (WESTERN, (0.5, 0.5))):
        table.figures.clear()
        table.stands["dragon"] = at, foot
        table.sees()
    agreed(table)
    table.sees()
    walk, = table.beyond_tiles()
    seq = next(s for s, e in effective(table.book.entries) if e == walk)
    table.book.say(Amended(seq=seq, body=replace(walk, path=((0, 0), WEST))))
    table.sees()
    table.book.say(Retracted(seq=seq))  # nobody had asked
    table.sees()
    assert not prints_of(table, "dragon")


def asked_about_her() -> tuple[PiecesTable, FairyMoved]:
    """What looks a little like the fairy stands beside Ben's thief in the west, and people are asked."""
    table = PiecesTable()
    table.lays(EAST, "dragon.17", 0)
    table.stands["dragon"] = EAST, (0.5, 0.5)
    table.lays(WEST, "base.U", 0, figure("base.U", 0, "road", "E W", "blue"))
    table.lays(WESTERN, "base.U", 0)
    table.lays((2, 0), "base.U", 0)
    table.there["fairy"] = 2.2
    table.stands["fairy"] = WEST, (0.7, 0.3)
    table.sees(6)
    table.lays((3, 0), "base.U", 0)
    event, = questions(table)
    assert isinstance(event, FairyMoved)
    return table, event


def test_where_people_say_at_once_that_it_is_no_print_is_learned() -> None:
    """They correct it; or say no to the question, and then enter the move themselves, in another turn."""
    table, event = asked_about_her()
    asked = max(open_questions(table.book.entries))
    table.book.say(Amended(seq=asked, body=replace(event, player=0)))  # it was Anna
    table.sees()
    assert not prints_of(table, "fairy")
    table.book.say(Retracted(seq=asked))
    table.book.say(Inserted(after=table.book.entries[0].seq, body=event))
    table.sees()
    assert not prints_of(table, "fairy")


@pytest.mark.parametrize("confirmed", [False, True], ids=["denied-then-entered", "confirmed-then-taken-back"])
def test_what_people_say_otherwise_than_no_to_a_question_is_no_print(confirmed: bool) -> None:
    """A look comes in between."""
    table, event = asked_about_her()
    asked = max(open_questions(table.book.entries))
    table.book.say(Amended(seq=asked, body=event) if confirmed else Retracted(seq=asked))
    table.sees(1)
    assert prints_of(table, "fairy") == ({} if confirmed else {WEST: 1})
    table.book.say(Retracted(seq=asked) if confirmed else Inserted(after=table.book.entries[0].seq, body=event))
    table.sees()
    assert not prints_of(table, "fairy")


def test_what_people_no_longer_deny_is_no_print() -> None:
    table, _ = asked_about_her()
    table.book.say(Retracted(seq=max(open_questions(table.book.entries))))
    table.sees()
    assert prints_of(table, "fairy") == {WEST: 1}
    table.book.say(Retracted(seq=table.book.entries[-1].seq))  # undo
    table.sees()
    assert not prints_of(table, "fairy")
