"""Figures of others beside the board: whoever has left was set free."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from held_tables import HOMES, HeldTable, after_bens, bens_turn, log, near, watched_game, with_two_taken
from piles import EAST, SETUP, SOUTH, WEST
from test_unseen_moves import ANNA, BEN, game, monk

from reading.policy import Decision
from reading.record import look_from_json, look_to_json
from scoring.events import Player, TilePlaced
from scoring.expansions.tower import Captured, RansomPaid, TowerRaised
from scoring.expansions.tower_state import towers
from scoring.log import Inserted, Retracted
from vision.looks import BesideLook, TableLook


@pytest.fixture
def table() -> HeldTable:
    return bens_turn()


def test_a_reader_tells_it_from_its_looks() -> None:
    table = watched_game()
    table.beside = (*near("red", red=3, blue=1), *near("blue", blue=2))
    table.lays(EAST, "base.U", 0)
    table.beside = (*near("red", red=3), *near("blue", blue=3))
    table.sees(2, 1.0)
    assert not table.told(RansomPaid)
    table.lays(WEST, "base.U", 0)
    table.sees(6)  # tiles that touch no others are told late
    paid, = table.told(RansomPaid)
    assert isinstance(paid, RansomPaid) and (paid.player, paid.jailer) == (BEN, ANNA)
    here = table.events.index(paid)
    assert table.events[here - 1] == next(e for e in table.events if isinstance(e, TilePlaced) and e.at == EAST)
    table.sees(3)
    assert len(table.told(RansomPaid)) == 1


def test_looks_are_recorded_with_what_lies_beside_the_board() -> None:
    look = TableLook(frame=1, t_s=1.0, squares={}, beside=tuple(near("red", red=1, blue=1)))
    assert look_from_json(dict(look_to_json(look))) == look
    assert look_from_json(dict(look_to_json(replace(look, beside=())))).beside == ()
    assert look_from_json(dict(look_to_json(replace(look, beside=None)))).beside is None


def test_one_that_left_and_lies_with_its_owner_again_was_bought_back(table: HeldTable) -> None:
    ben = len(table.entries)
    table.sees(near("red", red=3), near("blue", blue=3))
    assert not table.made()  # Ben's turn may not be over
    after_bens(table)
    assert not table.made(after_s=-20.0)  # what was taken meanwhile may not be logged yet
    made, = table.made()
    paid, = made.events
    assert isinstance(paid, RansomPaid) and (paid.player, paid.jailer) == (BEN, ANNA)
    assert not made.asked and made.after == ben and made.at == (1, 20)
    assert made.beside == pytest.approx((2.0 + 3 * 0.35, 2.0))
    table.add(Inserted(after=ben, body=paid))
    table.sees(near("red", red=3), near("blue", blue=3))
    assert not table.made()


def test_it_is_asked_about_where_its_owner_does_not_have_one_more(table: HeldTable) -> None:
    table.sees(near("red", red=3), near("blue", blue=2))
    after_bens(table)
    made, = table.made()
    assert made.asked and [len(events) for events, _ in made.alternatives] == [1, 0]
    table.add(Inserted(after=made.after or 0, body=made.events[0]))
    table.add(Retracted(seq=len(table.entries)), source="hand")
    table.sees(near("red", red=3), near("blue", blue=2))
    assert not table.made()  # people said that it was something else


def test_one_look_that_misses_it_says_nothing(table: HeldTable) -> None:
    table.sees(near("red", red=3), near("blue", blue=3), times=1)
    after_bens(table)
    assert not table.made()
    table.sees(near("red", red=3, blue=1), near("blue", blue=3), times=1)
    table.sees(near("red", red=3), near("blue", blue=3), times=1)
    assert not table.made()


def test_one_look_that_shows_it_says_nothing() -> None:
    table = HeldTable(log(game()))
    table.sees(near("red", red=3), near("blue", blue=2))
    table.sees(near("red", red=3, blue=1), near("blue", blue=2), times=1)
    table.add(*monk((1, 20))[:1])
    table.sees(near("red", red=3), near("blue", blue=2))
    after_bens(table)
    assert not table.made()


def test_figures_of_unknown_paint_are_nobodys(table: HeldTable) -> None:
    doubtful = [replace(b, colours={**b.colours, "green": -1.0}) for b in near("red", red=3, blue=1)[3:]]
    table.sees(near("red", red=3), doubtful, near("blue", blue=2))
    after_bens(table)
    assert table.made()


def test_it_is_told_in_the_turn_in_which_it_left(table: HeldTable) -> None:
    table.sees(near("red", red=3), near("blue", blue=3))
    for n in range(2):
        after_bens(table)
        table.add(TilePlaced(player=BEN, tile="base.U", at=(-30 - n, 12), rot=0))
    made, = table.made()
    assert made.at == (1, 20)


def test_whoever_could_not_pay_bought_none_back() -> None:
    events = [*game()]
    del events[2]  # Ben's knight, who brought him his points
    table = HeldTable(log(events))
    table.sees(near("red", red=3, blue=1), near("blue", blue=2))
    table.add(*monk((1, 20))[:1])
    table.sees(near("red", red=3), near("blue", blue=3))
    after_bens(table)
    assert not table.made()


def test_what_was_never_seen_there_cannot_have_left() -> None:
    table = HeldTable(log(game()))
    table.sees(near("red", red=3), near("blue", blue=2), times=4)
    table.add(*monk((1, 20))[:1])
    table.sees(near("red", red=3), near("blue", blue=3), times=4)
    after_bens(table)
    assert not table.made() and not table.made(last=True)


def test_what_was_seen_there_before_it_was_taken_is_another_one() -> None:
    events = [*game()]
    table = HeldTable(log(events[:-3]))
    table.sees(near("red", red=3, blue=1), near("blue", blue=2))
    table.sees(near("red", red=3), near("blue", blue=2))
    table.add(*events[-3:])
    table.sees(near("red", red=3), near("blue", blue=2))
    table.add(*monk((1, 20))[:1])
    after_bens(table)
    assert not table.made()


def test_one_that_was_taken_and_bought_back_before_the_log_had_either() -> None:
    """A block and whom it took are logged some seconds late."""
    events = [*game()]
    table = HeldTable(log(events[:-2]))
    table.sees(near("red", red=3, blue=1), near("blue", blue=2))
    table.add(*events[-2:])
    table.add(*monk((1, 20))[:1])
    table.sees(near("red", red=3), near("blue", blue=3))
    after_bens(table)
    made, = table.made()
    assert made.at == (1, 20)


def stood(missed_s: float) -> Any:
    """A track of Anna's figure that looks have missed since then; the last one that saw it was long before."""
    return SimpleNamespace(seen_s=missed_s - 90.0, missed_s=missed_s, paint_among=lambda _: "red")


def exchange(table: HeldTable) -> None:
    """Anna's own follower is taken in Ben's turn: the two are exchanged when it is over."""
    table.add(TowerRaised(player=BEN, at=(3, 1)),
              Captured(player=BEN, owner=ANNA, figure="follower", at=(3, 2), feature="cloister", where="I"))


@pytest.fixture
def with_two_towers() -> HeldTable:
    """As ``table``, and a follower of Anna's within reach of a tower that Ben is about to raise."""
    events = [*game()]
    hers = [TilePlaced(player=ANNA, tile="base.B", at=(3, 2), rot=0), *(replace(e, player=ANNA, at=(3, 2))
            for e in monk((3, 2))[1:])]
    tower = TilePlaced(player=BEN, tile="tower.03", at=(3, 1), rot=0)
    table = HeldTable(log([*events[:-3], *hers, tower, *events[-3:]]))
    table.sees(near("red", red=3, blue=1), near("blue", blue=2))
    table.add(*monk((1, 20))[:1])
    return table


def test_an_exchange_sets_both_free(with_two_towers: HeldTable) -> None:
    table = with_two_towers
    table.by_square[3, 2] = [stood(table.t_s)]
    exchange(table)
    table.sees(near("red", red=4), near("blue", blue=3))
    assert not table.made(last=True)
    after_bens(table)
    table.sees(near("red", red=4), near("blue", blue=3))
    assert not table.made()


def not_exchanged(table: HeldTable, *, looks: int = 8, every_s: float = 4.0, with_anna: int = 0, before: int = 8,
                  with_ben: int = 1) -> list[Decision]:
    """Ben buys his follower back and captures Anna's in the same turn, which looks have shown with him ever since."""
    table.sees(near("red", red=3, blue=1), near("blue", blue=2), times=before)
    exchange(table)
    after_bens(table)
    table.sees(near("red", red=3, blue=with_anna), near("blue", blue=3, red=with_ben), times=looks, every_s=every_s)
    return table.made(after_s=0.0)


def test_where_the_captured_one_stays_with_its_captor_there_was_no_exchange(with_two_towers: HeldTable) -> None:
    seq = next(e.seq for e in with_two_towers.entries if getattr(e.body, "at", None) == (1, 20))
    made, = not_exchanged(with_two_towers)
    paid, = made.events
    assert isinstance(paid, RansomPaid) and (paid.player, paid.jailer) == (BEN, ANNA)
    assert made.after == seq and not made.asked and made.beside is not None
    with_two_towers.add(Inserted(after=seq, body=paid))
    with_two_towers.sees(near("red", red=3), near("blue", blue=3, red=1), times=8, every_s=4.0)
    assert not with_two_towers.made()


def test_it_may_be_seen_only_after_the_next_turn_of_its_captor(with_two_towers: HeldTable) -> None:
    seq = next(e.seq for e in with_two_towers.entries if getattr(e.body, "at", None) == (1, 20))
    assert not not_exchanged(with_two_towers, looks=0)
    with_two_towers.add(*monk((1, 24))[:1])
    with_two_towers.sees(near("red", red=3), near("blue", blue=3, red=1), times=8, every_s=4.0)
    made, = with_two_towers.made(after_s=0.0)
    assert made.after == seq


def test_one_that_lay_there_before_the_turn_of_the_capture_is_another_one(with_two_towers: HeldTable) -> None:
    with_two_towers.since_s[1, 20] = 1000.0
    assert not not_exchanged(with_two_towers)


def test_where_both_are_seen_with_their_captors_people_are_asked(with_two_towers: HeldTable) -> None:
    """They may have forgotten the exchange."""
    made, = not_exchanged(with_two_towers, with_anna=1)
    assert made.asked and isinstance(made.events[0], RansomPaid)
    with_two_towers.add(Inserted(after=made.after or 0, body=made.events[0]))
    with_two_towers.add(Retracted(seq=with_two_towers.entries[-1].seq), source="hand")
    assert not with_two_towers.made()


@pytest.mark.parametrize("seen", [{"looks": 5}, {"every_s": 2.0}, {"with_ben": 0}, {"before": 1}],
                         ids=["few-looks", "soon", "not-seen", "unknown-before"])
def test_what_is_hardly_seen_with_its_captor_was_exchanged(with_two_towers: HeldTable, seen: dict[str, Any]) -> None:
    if "before" in seen:  # something of her paint lay there all the time
        with_two_towers.sees(near("red", red=3, blue=1), near("blue", blue=2, red=1), times=20)
    assert not not_exchanged(with_two_towers, **seen)


def test_one_that_had_left_before_the_other_was_taken_was_bought_back(with_two_towers: HeldTable) -> None:
    table = with_two_towers
    table.sees(near("red", red=3), near("blue", blue=3))
    table.by_square[3, 2] = [stood(table.t_s + 2.0)]
    exchange(table)
    table.sees(near("red", red=3), near("blue", blue=3, red=1))
    made, = table.made()
    assert isinstance(made.events[0], RansomPaid) and made.events[0].player == BEN


def test_while_a_question_is_open_nothing_is_asked(table: HeldTable) -> None:
    table.sees(near("red", red=3), near("blue", blue=2))
    after_bens(table)
    table.entries[-1] = replace(table.entries[-1], asked=True)
    assert not table.made() and table.made(last=True)


def test_a_player_who_holds_none_has_none_to_lose() -> None:
    """Of three players the one in the middle holds one of another; figures of neighbours are not mixed up."""
    three = replace(SETUP, players=(*SETUP.players, Player(name="Carl", colour="green")))
    table = HeldTable(log(game()), setup=three)
    table.sees(near("red", red=3, blue=1), near("blue", blue=2, green=1), near("green", green=4))
    table.add(*monk((1, 20))[:1])
    table.sees(near("red", red=3, blue=1), near("blue", blue=2), near("green", green=5))
    table.add(TilePlaced(player=2, tile="base.U", at=(-30, 9), rot=0))
    assert not table.made()


@pytest.mark.parametrize("apart", [1.5, 3.0])
def test_heaps_that_lie_side_by_side_are_not_mixed_up(apart: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies between two homes may be either's, and only leaves when it is played."""
    monkeypatch.setitem(HOMES, "blue", (2.0, 2.0 + apart))
    table = HeldTable(log(game()))
    between = [BesideLook(at=(2.0, 2.0 + 0.3 * apart), count=1, colours={"red": -8.0, "blue": 0.0, "green": -8.0})]
    table.sees(near("red", red=3), near("blue", blue=2), between)
    table.add(*monk((1, 20)))
    table.sees(near("red", red=3), near("blue", blue=2))
    after_bens(table)
    assert not table.made()


def test_whom_scoring_sends_home_was_not_bought_back(table: HeldTable) -> None:
    """Ben's monastery is complete in that turn: he has one more in hand, and the log knows why. Where Anna's prisoner
    is, people are asked."""
    table.add(*(TilePlaced(player=ANNA, tile="base.U", at=(x, y), rot=0)
                for x in (0, 1, 2) for y in (0, 1, 2) if (x, y) not in ((1, 1), (0, 1), (0, 0))))
    states = table.states()
    before = states[-1].supply[BEN]["follower"]
    standing = next(f for f in states[-1].figures if f.player == BEN and f.at == (4, 1))
    table.add(TowerRaised(player=ANNA, at=SOUTH),
              Captured(player=BEN, owner=BEN, figure="follower", at=standing.at, feature="cloister", where="I"))
    assert table.states()[-1].supply[BEN]["follower"] == before + 1
    table.sees(near("red", red=3), near("blue", blue=3))
    after_bens(table)
    made, = table.made()
    assert made.asked


def test_of_two_that_are_held_one_left() -> None:
    table = HeldTable(log(with_two_taken()))
    assert len(towers(table.states()[-1]).prisoners) == 2
    table.sees(near("red", red=3, blue=2), near("blue", blue=1))
    table.add(*monk((1, 20))[:1])
    table.sees(near("red", red=3, blue=1), near("blue", blue=2))
    after_bens(table)
    made, = table.made()
    table.add(Inserted(after=made.after or 0, body=made.events[0]))
    assert not table.made() and not table.made(last=True)  # the log has changed since the last look
    table.sees(near("red", red=3, blue=1), near("blue", blue=2))
    assert not table.made()


def test_where_all_that_lay_there_is_gone_the_camera_or_the_heap_was_moved(table: HeldTable) -> None:
    table.sees(near("blue", blue=2))
    after_bens(table)
    assert not table.made()


def test_the_last_that_lies_beside_the_board_is_not_at_home_where_another_holds_it(table: HeldTable) -> None:
    table.sees(near("red", red=3, blue=1), times=10)  # Ben has put down all of his
    table.sees(near("red", red=3, blue=1), near("blue", blue=1), times=3)
    after_bens(table)
    assert not table.made()


def test_a_heap_that_was_moved_is_found_again(table: HeldTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(HOMES, "red", (9.0, 9.0))
    table.sees(near("red", red=3, blue=1), near("blue", blue=2), times=8)
    after_bens(table)
    assert not table.made()
    table.add(TilePlaced(player=BEN, tile="base.U", at=(-31, 12), rot=0))
    table.sees(near("red", red=3), near("blue", blue=3))
    table.add(TilePlaced(player=ANNA, tile="base.U", at=(-32, 12), rot=0))
    made, = table.made()
    assert made.at == (-31, 12)


def test_one_that_leaves_in_somebody_elses_turn_was_not_bought_back() -> None:
    three = replace(SETUP, players=(*SETUP.players, Player(name="Carl", colour="green")))
    table = HeldTable(log(game()), setup=three)
    table.add(*monk((1, 20))[:1])
    table.add(TilePlaced(player=2, tile="base.U", at=(-30, 9), rot=0))
    lie = near("blue", blue=2), near("green", green=4)
    table.sees(near("red", red=3, blue=1), *lie)
    table.sees(near("red", red=3), *lie)
    after_carls = TilePlaced(player=ANNA, tile="base.U", at=(-31, 9), rot=0)
    table.add(after_carls)
    assert not table.made()


def test_in_a_log_without_a_turn_of_the_owner_nothing_is_told(table: HeldTable) -> None:
    table.sees(near("red", red=3), near("blue", blue=3))
    after_bens(table)
    assert table.made()
    mine = [e for e in table.entries if not (isinstance(e.body, TilePlaced) and e.body.player == BEN)]
    table.entries[:] = [replace(e, seq=n) for n, e in enumerate(mine, 1)]
    assert not table.made()


def test_where_few_looks_showed_something_else_one_may_be_told() -> None:
    events = list(game())
    table = HeldTable(log(events[:-2]))
    for n in range(60):
        table.sees(near("red", red=3, blue=not n % 3), near("blue", blue=2), times=1)
    table.add(*events[-2:])
    table.sees(near("red", red=3, blue=1), near("blue", blue=2), times=4)
    table.add(*monk((1, 20))[:1])
    table.sees(near("red", red=3), near("blue", blue=3))
    after_bens(table)
    assert table.made()
