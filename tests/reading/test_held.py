"""Figures that players hold of each other, seen beside the board: whoever has left was set free."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
from piles import EAST, SETUP, SOUTH, WEST, PilesTable, top
from tables import figure
from test_unseen_moves import ANNA, BEN, game, monk

from bastide.watching.notices import rows
from reading.belief import TableBelief
from reading.held import HeldFigures
from reading.layings import Steps
from reading.logged_game import logged_game
from reading.policy import Decision, Moment
from reading.record import look_from_json, look_to_json
from scoring.engine import new_game, step
from scoring.events import Event, FigurePlaced, Player, Setup, TilePlaced
from scoring.expansions.tower import Captured, RansomPaid, TowerRaised
from scoring.expansions.tower_state import towers
from scoring.log import Inserted, LogEntry, Retracted
from scoring.notation import FigureRef
from scoring.state import GameState
from scoring.tiles import Square
from vision.looks import BesideLook, TableLook

HOMES: dict[str, tuple[float, float]] = {"red": (2.0, 2.0), "blue": (14.0, 7.0), "green": (2.0, 9.0)}
COLOURS = {"red": ANNA, "blue": BEN}
TURN_S = 30.0


def near(home: str, **counts: int) -> list[BesideLook]:
    """Figures that lie near the home of one colour, in a row, some of each paint."""
    (x, y), out = HOMES[home], []
    for colour, count in counts.items():
        for _ in range(count):
            out.append(BesideLook(at=(x + 0.35 * len(out), y), count=1,
                                  colours={c: 0.0 if c == colour else -8.0 for c in HOMES}))
    return out


@dataclass
class _Table:
    """The log of a game, when each of its tiles came to sight, and what was counted beside the board."""

    entries: list[LogEntry]
    setup: Setup = SETUP
    t_s: float = 0.0

    def __post_init__(self) -> None:
        self.held = HeldFigures({p.colour: n for n, p in enumerate(self.setup.players)})
        self.since_s: dict[Square, float] = {}
        self.by_square: dict[Square, list[Any]] = {}
        for entry in self.entries:
            self._came(entry.body)

    def _came(self, body: object) -> None:
        if isinstance(body, TilePlaced):
            self.t_s += TURN_S
            self.since_s[body.at] = self.t_s

    def add(self, *bodies: object, source: str = "camera") -> None:
        for body in bodies:
            self.entries.append(LogEntry(seq=len(self.entries) + 1, body=cast(Event, body), source=source))
            self._came(body)

    def states(self) -> list[GameState]:
        out = [new_game(self.setup)]
        for line in logged_game(self.entries).lines:
            out.append(step(out[-1], line.event))
        return out

    def sees(self, *lie: Sequence[BesideLook], times: int = 2, every_s: float = 1.0) -> None:
        for _ in range(times):
            self.t_s += every_s
            self.held.look(TableLook(frame=round(self.t_s), t_s=self.t_s, squares={},
                                     beside=tuple(b for heap in lie for b in heap)),
                           state := self.states()[-1], Steps().closed(state))

    def made(self, after_s: float = 25.0, *, last: bool = False) -> list[Decision]:
        belief = SimpleNamespace(since_s=lambda at: self.since_s.get(at, float("inf")), by_square=self.by_square)
        return self.held.decide(cast(TableBelief, belief), logged_game(self.entries), self.states(), Steps(),
                                Moment(frame=0, t_s=self.t_s + after_s, last=last))


def log(events: Iterator[Event] | Sequence[Event]) -> list[LogEntry]:
    return [LogEntry(seq=n, body=e, source="camera") for n, e in enumerate(events, 1)]


class _Watched(PilesTable):
    """A table that a reader watches, with what lies ``beside`` it."""

    beside: tuple[BesideLook, ...] = ()

    def look(self) -> TableLook:
        return replace(super().look(), beside=self.beside)


def watched_game() -> _Watched:
    """Anna holds one of Ben's followers."""
    table = _Watched()
    for event in game():
        table.book.say(event)
        if isinstance(event, TilePlaced):
            table.tiles[event.at] = event.tile, event.rot
        elif isinstance(event, FigurePlaced) and event.at not in ((1, 1), (5, 5)):
            table.figures[event.at] = (figure("base.B", 0, event.feature, event.where, "blue"),)
    table.piles[SOUTH] = top(1)
    return table


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


@pytest.fixture
def table() -> _Table:
    """Anna holds one of Ben's followers, and both are seen beside the board; then Ben lays a tile."""
    made = _Table(log(game()))
    made.sees(near("red", red=3, blue=1), near("blue", blue=2))
    made.add(*monk((1, 20))[:1])
    return made


def after_bens(table: _Table) -> None:
    table.add(TilePlaced(player=ANNA, tile="base.U", at=(-30, 9), rot=0))


def test_one_that_left_and_lies_with_its_owner_again_was_bought_back(table: _Table) -> None:
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


def test_it_is_asked_about_where_its_owner_does_not_have_one_more(table: _Table) -> None:
    table.sees(near("red", red=3), near("blue", blue=2))
    after_bens(table)
    made, = table.made()
    assert made.asked and [len(events) for events, _ in made.alternatives] == [1, 0]
    table.add(Inserted(after=made.after or 0, body=made.events[0]))
    table.add(Retracted(seq=len(table.entries)), source="hand")
    table.sees(near("red", red=3), near("blue", blue=2))
    assert not table.made()  # people said that it was something else


def test_one_look_that_misses_it_says_nothing(table: _Table) -> None:
    table.sees(near("red", red=3), near("blue", blue=3), times=1)
    after_bens(table)
    assert not table.made()
    table.sees(near("red", red=3, blue=1), near("blue", blue=3), times=1)
    table.sees(near("red", red=3), near("blue", blue=3), times=1)
    assert not table.made()


def test_one_look_that_shows_it_says_nothing() -> None:
    table = _Table(log(game()))
    table.sees(near("red", red=3), near("blue", blue=2))
    table.sees(near("red", red=3, blue=1), near("blue", blue=2), times=1)
    table.add(*monk((1, 20))[:1])
    table.sees(near("red", red=3), near("blue", blue=2))
    after_bens(table)
    assert not table.made()


def test_figures_of_unknown_paint_are_nobodys(table: _Table) -> None:
    doubtful = [replace(b, colours={**b.colours, "green": -1.0}) for b in near("red", red=3, blue=1)[3:]]
    table.sees(near("red", red=3), doubtful, near("blue", blue=2))
    after_bens(table)
    assert table.made()


def test_it_is_told_in_the_turn_in_which_it_left(table: _Table) -> None:
    table.sees(near("red", red=3), near("blue", blue=3))
    for n in range(2):
        after_bens(table)
        table.add(TilePlaced(player=BEN, tile="base.U", at=(-30 - n, 12), rot=0))
    made, = table.made()
    assert made.at == (1, 20)


def test_whoever_could_not_pay_bought_none_back() -> None:
    events = [*game()]
    del events[2]  # Ben's knight, who brought him his points
    table = _Table(log(events))
    table.sees(near("red", red=3, blue=1), near("blue", blue=2))
    table.add(*monk((1, 20))[:1])
    table.sees(near("red", red=3), near("blue", blue=3))
    after_bens(table)
    assert not table.made()


def test_what_was_never_seen_there_cannot_have_left() -> None:
    table = _Table(log(game()))
    table.sees(near("red", red=3), near("blue", blue=2), times=4)
    table.add(*monk((1, 20))[:1])
    table.sees(near("red", red=3), near("blue", blue=3), times=4)
    after_bens(table)
    assert not table.made() and not table.made(last=True)


def test_what_was_seen_there_before_it_was_taken_is_another_one() -> None:
    events = [*game()]
    table = _Table(log(events[:-3]))
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
    table = _Table(log(events[:-2]))
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


def exchange(table: _Table) -> None:
    """Anna's own follower is taken in Ben's turn: the two are exchanged when it is over."""
    table.add(TowerRaised(player=BEN, at=(3, 1)),
              Captured(player=BEN, owner=ANNA, figure="follower", at=(3, 2), feature="cloister", where="I"))


@pytest.fixture
def with_two_towers() -> _Table:
    """As ``table``, and a follower of Anna's within reach of a tower that Ben is about to raise."""
    events = [*game()]
    hers = [TilePlaced(player=ANNA, tile="base.B", at=(3, 2), rot=0), *(replace(e, player=ANNA, at=(3, 2))
            for e in monk((3, 2))[1:])]
    table = _Table(log([*events[:-3], *hers, TilePlaced(player=BEN, tile="tower.03", at=(3, 1), rot=0), *events[-3:]]))
    table.sees(near("red", red=3, blue=1), near("blue", blue=2))
    table.add(*monk((1, 20))[:1])
    return table


def test_an_exchange_sets_both_free(with_two_towers: _Table) -> None:
    table = with_two_towers
    table.by_square[3, 2] = [stood(table.t_s)]
    exchange(table)
    table.sees(near("red", red=4), near("blue", blue=3))
    assert not table.made(last=True)
    after_bens(table)
    table.sees(near("red", red=4), near("blue", blue=3))
    assert not table.made()


def not_exchanged(table: _Table, *, looks: int = 8, every_s: float = 4.0, with_anna: int = 0, before: int = 8,
                  with_ben: int = 1) -> list[Decision]:
    """Ben buys his follower back and captures Anna's in the same turn, which looks have shown with him ever since."""
    table.sees(near("red", red=3, blue=1), near("blue", blue=2), times=before)
    exchange(table)
    after_bens(table)
    table.sees(near("red", red=3, blue=with_anna), near("blue", blue=3, red=with_ben), times=looks, every_s=every_s)
    return table.made(after_s=0.0)


def test_where_the_captured_one_stays_with_its_captor_there_was_no_exchange(with_two_towers: _Table) -> None:
    seq = next(e.seq for e in with_two_towers.entries if getattr(e.body, "at", None) == (1, 20))
    made, = not_exchanged(with_two_towers)
    paid, = made.events
    assert isinstance(paid, RansomPaid) and (paid.player, paid.jailer) == (BEN, ANNA)
    assert made.after == seq and not made.asked and made.beside is not None
    with_two_towers.add(Inserted(after=seq, body=paid))
    with_two_towers.sees(near("red", red=3), near("blue", blue=3, red=1), times=8, every_s=4.0)
    assert not with_two_towers.made()


def test_it_may_be_seen_only_after_the_next_turn_of_its_captor(with_two_towers: _Table) -> None:
    seq = next(e.seq for e in with_two_towers.entries if getattr(e.body, "at", None) == (1, 20))
    assert not not_exchanged(with_two_towers, looks=0)
    with_two_towers.add(*monk((1, 24))[:1])
    with_two_towers.sees(near("red", red=3), near("blue", blue=3, red=1), times=8, every_s=4.0)
    made, = with_two_towers.made(after_s=0.0)
    assert made.after == seq


def test_one_that_lay_there_before_the_turn_of_the_capture_is_another_one(with_two_towers: _Table) -> None:
    with_two_towers.since_s[1, 20] = 1000.0
    assert not not_exchanged(with_two_towers)


def test_where_both_are_seen_with_their_captors_people_are_asked(with_two_towers: _Table) -> None:
    """They may have forgotten the exchange."""
    made, = not_exchanged(with_two_towers, with_anna=1)
    assert made.asked and isinstance(made.events[0], RansomPaid)
    with_two_towers.add(Inserted(after=made.after or 0, body=made.events[0]))
    with_two_towers.add(Retracted(seq=with_two_towers.entries[-1].seq), source="hand")
    assert not with_two_towers.made()


@pytest.mark.parametrize("seen", [{"looks": 5}, {"every_s": 2.0}, {"with_ben": 0}, {"before": 1}],
                         ids=["few-looks", "soon", "not-seen", "unknown-before"])
def test_what_is_hardly_seen_with_its_captor_was_exchanged(with_two_towers: _Table, seen: dict[str, Any]) -> None:
    if "before" in seen:  # something of her paint lay there all the time
        with_two_towers.sees(near("red", red=3, blue=1), near("blue", blue=2, red=1), times=20)
    assert not not_exchanged(with_two_towers, **seen)


def test_one_that_had_left_before_the_other_was_taken_was_bought_back(with_two_towers: _Table) -> None:
    table = with_two_towers
    table.sees(near("red", red=3), near("blue", blue=3))
    table.by_square[3, 2] = [stood(table.t_s + 2.0)]
    exchange(table)
    table.sees(near("red", red=3), near("blue", blue=3, red=1))
    made, = table.made()
    assert isinstance(made.events[0], RansomPaid) and made.events[0].player == BEN


def test_while_a_question_is_open_nothing_is_asked(table: _Table) -> None:
    table.sees(near("red", red=3), near("blue", blue=2))
    after_bens(table)
    table.entries[-1] = replace(table.entries[-1], asked=True)
    assert not table.made() and table.made(last=True)


def test_a_player_who_holds_none_has_none_to_lose() -> None:
    """Of three players the one in the middle holds one of another; figures of neighbours are not mixed up."""
    three = replace(SETUP, players=(*SETUP.players, Player(name="Carl", colour="green")))
    table = _Table(log(game()), setup=three)
    table.sees(near("red", red=3, blue=1), near("blue", blue=2, green=1), near("green", green=4))
    table.add(*monk((1, 20))[:1])
    table.sees(near("red", red=3, blue=1), near("blue", blue=2), near("green", green=5))
    table.add(TilePlaced(player=2, tile="base.U", at=(-30, 9), rot=0))
    assert not table.made()


@pytest.mark.parametrize("apart", [1.5, 3.0])
def test_heaps_that_lie_side_by_side_are_not_mixed_up(apart: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies between two homes may be either's, and only leaves when it is played."""
    monkeypatch.setitem(HOMES, "blue", (2.0, 2.0 + apart))
    table = _Table(log(game()))
    between = [BesideLook(at=(2.0, 2.0 + 0.3 * apart), count=1, colours={"red": -8.0, "blue": 0.0, "green": -8.0})]
    table.sees(near("red", red=3), near("blue", blue=2), between)
    table.add(*monk((1, 20)))
    table.sees(near("red", red=3), near("blue", blue=2))
    after_bens(table)
    assert not table.made()


def test_whom_scoring_sends_home_was_not_bought_back(table: _Table) -> None:
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


def with_two_taken() -> list[Event]:
    return [*game(), *monk((1, 1)), TilePlaced(player=ANNA, tile="base.U", at=(-31, 9), rot=0),
            TowerRaised(player=ANNA, at=SOUTH),
            Captured(player=ANNA, owner=BEN, figure="follower", at=(1, 1), feature="cloister", where="I")]


def test_of_two_that_are_held_one_left() -> None:
    table = _Table(log(with_two_taken()))
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


def test_where_all_that_lay_there_is_gone_the_camera_or_the_heap_was_moved(table: _Table) -> None:
    table.sees(near("blue", blue=2))
    after_bens(table)
    assert not table.made()


def test_the_last_that_lies_beside_the_board_is_not_at_home_where_another_holds_it(table: _Table) -> None:
    table.sees(near("red", red=3, blue=1), times=10)  # Ben has put down all of his
    table.sees(near("red", red=3, blue=1), near("blue", blue=1), times=3)
    after_bens(table)
    assert not table.made()


def test_a_heap_that_was_moved_is_found_again(table: _Table, monkeypatch: pytest.MonkeyPatch) -> None:
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
    table = _Table(log(game()), setup=three)
    table.add(*monk((1, 20))[:1])
    table.add(TilePlaced(player=2, tile="base.U", at=(-30, 9), rot=0))
    lie = near("blue", blue=2), near("green", green=4)
    table.sees(near("red", red=3, blue=1), *lie)
    table.sees(near("red", red=3), *lie)
    after_carls = TilePlaced(player=ANNA, tile="base.U", at=(-31, 9), rot=0)
    table.add(after_carls)
    assert not table.made()


def test_in_a_log_without_a_turn_of_the_owner_nothing_is_told(table: _Table) -> None:
    table.sees(near("red", red=3), near("blue", blue=3))
    after_bens(table)
    assert table.made()
    mine = [e for e in table.entries if not (isinstance(e.body, TilePlaced) and e.body.player == BEN)]
    table.entries[:] = [replace(e, seq=n) for n, e in enumerate(mine, 1)]
    assert not table.made()


def test_figures_that_nobody_sees_with_their_holder_are_noticed(table: _Table) -> None:
    assert not table.held.unseen()
    table.sees(near("red", red=3), near("blue", blue=2), times=40)
    assert not table.held.unseen()  # it has left, and that is for a question
    fresh = _Table(log(game()))
    fresh.sees(near("red", red=3), near("blue", blue=2), times=30)
    assert not fresh.held.unseen()  # it may still be on its way there
    fresh.sees(near("red", red=3), near("blue", blue=2))
    assert fresh.held.unseen() == {ANNA: 1}
    fresh.sees(near("red", red=3, blue=1), near("blue", blue=2), times=1)
    assert not fresh.held.unseen()


def test_figures_that_left_when_nobody_can_have_paid_are_noticed(table: _Table) -> None:
    """Something lies over them since after Anna's tile, and the next one is hers, too."""
    after_bens(table)
    table.sees(near("red", red=3, blue=1), near("blue", blue=2), times=6)
    table.sees(near("red", red=3), near("blue", blue=2))
    table.add(TilePlaced(player=ANNA, tile="base.U", at=(-30, 12), rot=0))
    table.sees(near("red", red=3), near("blue", blue=2), times=40)
    assert not table.held.unseen()  # they may be asked about
    assert not table.made()
    assert table.held.unseen() == {ANNA: 1}


def test_figures_are_noticed_whose_holder_is_not_seen_at_all() -> None:
    table = _Table(log(game()))
    table.sees(near("blue", blue=2), times=32)
    assert table.held.unseen() == {ANNA: 1}


def test_a_reader_asks_for_them_to_be_put_in_view() -> None:
    table = watched_game()
    table.beside = (*near("red", red=3), *near("blue", blue=2))
    table.sees(40)
    noticed, = (n for n in table.notices if n.code == "held")
    assert (noticed.player, noticed.count, noticed.at) == (ANNA, 1, None)
    table.beside = (*near("red", red=3, blue=1), *near("blue", blue=2))
    table.sees(2)
    assert not [n for n in table.notices if n.code == "held"]


def test_where_something_else_looks_like_the_player_s_figures_nothing_is_told() -> None:
    """A score track beside Anna's figures has squares of Ben's colour, of which looks do not see each."""
    events = list(game())
    table, squares = _Table(log(events[:-2])), near("red", blue=4)
    squares = [replace(b, at=(b.at[0], b.at[1] + 1.0)) for b in squares]
    for n in range(20):
        table.sees(near("red", red=3), near("blue", blue=2), squares[n % 2:], times=1)
    table.add(*events[-2:])
    table.sees(near("red", red=3, blue=1), near("blue", blue=2), squares, times=32)
    assert table.held.unseen() == {ANNA: 1}
    table.add(*monk((1, 20))[:1])
    table.sees(near("red", red=3), near("blue", blue=3), squares[1:])
    after_bens(table)
    assert not table.made()


def soon_back(shown: int, owner: Sequence[int] = (2,) * 12) -> _Table:
    """Anna takes one of Ben's followers, and his next tile is seen when he has one more again: ``owner`` are how many
    he is seen to have from look to look, after so many that have ``shown`` the follower with Anna."""
    events = list(game())
    table = _Table(log(events[:-2]))
    table.sees(near("red", red=3), near("blue", blue=1), times=8)
    table.sees(near("red", red=3, blue=1), near("blue", blue=1), times=shown)
    table.add(*events[-2:], *monk((1, 20))[:1])
    for count in owner:
        table.sees(near("red", red=3), near("blue", blue=count), times=1)
    after_bens(table)
    return table


@pytest.mark.parametrize("shown", [0, 1])
def test_one_that_was_set_free_before_looks_showed_it_is_known_by_its_owner(shown: int) -> None:
    made, = soon_back(shown).made()
    paid, = made.events
    assert isinstance(paid, RansomPaid) and (paid.player, paid.jailer) == (BEN, ANNA)
    assert made.asked == (not shown)
    assert made.beside == pytest.approx((2.0 + 3 * 0.35, 2.0) if shown else (14.175, 7.0), abs=0.2)


@pytest.mark.parametrize("owner", [(1,) * 12, (3,) * 12, (2, 2, 1, 2) * 3, (1,) * 8 + (2,) * 4, (1,) * 16 + (2,) * 12],
                         ids=["none", "two more", "unsteady", "only now", "long after"])
def test_where_its_owner_has_not_long_had_just_one_more_nothing_is_told(owner: Sequence[int]) -> None:
    assert not soon_back(0, owner).made()


def in_hand(table: _Table) -> int:
    return table.states()[-1].supply[BEN]["follower"]


def with_three_more() -> list[Event]:
    """As `game`, but Ben has put down fewer, among them the knight of an open city; Anna takes one in the end."""
    events = list(game())
    city = [TilePlaced(player=BEN, tile="base.E", at=(40, 5), rot=2),
            FigurePlaced(player=BEN, figure="follower", at=(40, 5), feature="city", where="S"),
            TilePlaced(player=ANNA, tile="base.U", at=(-33, 9), rot=0)]
    return [*events[:5], *events[5:-3][:9], *city, *events[-3:]]


@pytest.fixture(params=[0, 1])
def hardly_seen(request: pytest.FixtureRequest) -> _Table:
    """Anna holds one of Ben's followers, whom one look has shown, or none."""
    events = with_three_more()
    table = _Table(log(events[:-2]))
    own = near("red", red=3), near("blue", blue=in_hand(table))
    table.sees(*own, times=12)
    table.add(*events[-2:])
    table.sees(*own, times=8)
    if request.param:
        table.sees(near("red", red=3, blue=1), own[1], times=1)
        table.sees(*own, times=3)
    return table


@pytest.mark.parametrize("late", [0, 2, 5, 8])
def test_a_follower_that_is_logged_late_is_no_other_one_set_free(hardly_seen: _Table, late: int) -> None:
    count = in_hand(hardly_seen)
    tile, figure_placed = monk((1, 20))
    hardly_seen.add(tile)
    hardly_seen.sees(near("red", red=3), near("blue", blue=count - 1), times=late)
    hardly_seen.add(figure_placed)
    hardly_seen.sees(near("red", red=3), near("blue", blue=count - 1), times=8)
    after_bens(hardly_seen)
    assert not hardly_seen.made()


@pytest.mark.parametrize("late", [0, 4])
def test_a_follower_that_goes_home_after_scoring_is_no_other_one_set_free(hardly_seen: _Table, late: int) -> None:
    count = in_hand(hardly_seen)
    hardly_seen.add(TilePlaced(player=BEN, tile="base.E", at=(40, 6), rot=0))
    hardly_seen.sees(near("red", red=3), near("blue", blue=count), times=late)
    hardly_seen.sees(near("red", red=3), near("blue", blue=count + 1), times=10)
    after_bens(hardly_seen)
    assert not hardly_seen.made()
    hardly_seen.sees(near("red", red=3), near("blue", blue=count + 1), times=2)
    assert not hardly_seen.made() and hardly_seen.held.unseen() == {ANNA: 1}


def test_a_reader_that_begins_later_knows_nothing_of_what_was_usual() -> None:
    table = _Table(log(game()))
    table.sees(near("red", red=3), near("blue", blue=1), times=8)
    table.add(*monk((1, 20))[:1])
    table.sees(near("red", red=3), near("blue", blue=2), times=12)
    after_bens(table)
    assert not table.made()


def test_one_that_was_denied_to_be_set_free_is_out_of_view_after_a_while(table: _Table) -> None:
    table.sees(near("red", red=3), near("blue", blue=2))
    after_bens(table)
    made, = table.made()
    table.add(Inserted(after=made.after or 0, body=made.events[0]))
    table.add(Retracted(seq=len(table.entries)), source="hand")
    table.sees(near("red", red=3), near("blue", blue=2), times=60)
    assert not table.held.unseen()
    table.sees(near("red", red=3), near("blue", blue=2), times=70)
    assert table.held.unseen() == {ANNA: 1} and not table.made()


def test_one_that_looks_showed_long_before_the_log_had_it_is_no_other_thing() -> None:
    events = list(game())
    table = _Table(log(events[:-2]))
    table.sees(near("red", red=3), near("blue", blue=2), times=8)
    table.sees(near("red", red=3, blue=1), near("blue", blue=2), times=14)
    table.add(*events[-2:], *monk((1, 20))[:1])
    table.sees(near("red", red=3, blue=1), near("blue", blue=2), times=32)
    assert not table.held.unseen()
    table.sees(near("red", red=3), near("blue", blue=3))
    after_bens(table)
    assert table.made()


def test_one_that_is_seen_again_was_not_set_free() -> None:
    events = list(game())
    table = _Table(log(events[:-2]))
    table.sees(near("red", red=3), near("blue", blue=1), times=8)
    table.add(*events[-2:], *monk((1, 20))[:1])
    table.sees(near("red", red=3), near("blue", blue=2), times=6)
    table.sees(near("red", red=3, blue=1), near("blue", blue=2), times=1)
    table.sees(near("red", red=3), near("blue", blue=2), times=6)
    after_bens(table)
    assert not table.made()


def test_who_comes_home_before_the_log_has_the_score_is_no_other_one_set_free(hardly_seen: _Table) -> None:
    """The log gets the tile that completes the city, and the next one, after the last look beside the board."""
    hardly_seen.sees(near("red", red=3), near("blue", blue=in_hand(hardly_seen) + 1), times=10)
    hardly_seen.add(TilePlaced(player=BEN, tile="base.E", at=(40, 6), rot=0))
    after_bens(hardly_seen)
    assert not hardly_seen.made()


def test_of_two_that_are_held_one_is_out_of_view() -> None:
    table = _Table(log(with_two_taken()))
    table.sees(near("red", red=3, blue=1), near("blue", blue=1), times=32)
    assert table.held.unseen() == {ANNA: 1}


def test_where_few_looks_showed_something_else_one_may_be_told() -> None:
    events = list(game())
    table = _Table(log(events[:-2]))
    for n in range(60):
        table.sees(near("red", red=3, blue=not n % 3), near("blue", blue=2), times=1)
    table.add(*events[-2:])
    table.sees(near("red", red=3, blue=1), near("blue", blue=2), times=4)
    table.add(*monk((1, 20))[:1])
    table.sees(near("red", red=3), near("blue", blue=3))
    after_bens(table)
    assert table.made()


def test_what_lies_there_besides_is_known_when_the_next_one_is_taken() -> None:
    events = list(game())
    table, squares = _Table(log(events[:-2])), [replace(b, at=(b.at[0], b.at[1] + 1.0)) for b in near("red", blue=4)]
    table.sees(near("red", red=3), near("blue", blue=2), squares, times=20)
    free = RansomPaid(player=BEN, jailer=ANNA, released=FigureRef(owner=BEN, figure="follower"))
    table.add(*events[-2:])
    table.sees(near("red", red=3), near("blue", blue=2), squares)
    table.add(*monk((1, 20))[:1], free)
    table.sees(near("red", red=3), near("blue", blue=3), squares)
    table.add(TilePlaced(player=ANNA, tile="base.U", at=(-30, 9), rot=0), TowerRaised(player=ANNA, at=SOUTH),
              Captured(player=ANNA, owner=BEN, figure="follower", at=(4, 1), feature="cloister", where="I"))
    table.sees(near("red", red=3), near("blue", blue=3), squares, times=32)
    assert table.held.unseen() == {ANNA: 1}


def watched_for(table: _Table, *lie: Sequence[BesideLook], seconds: int) -> dict[tuple[int, int], int]:
    table.sees(*lie, times=seconds // 2, every_s=2.0)
    return table.held.unlogged(table.states()[-1])


def test_one_that_lies_with_another_player_and_was_never_taken_is_noticed(table: _Table) -> None:
    """A follower that was put down and captured while arms lay over the table."""
    ours, theirs = near("red", red=3, blue=1), near("blue", blue=2)
    assert not watched_for(table, ours, theirs, seconds=60)
    more = near("red", red=3, blue=2)
    assert not watched_for(table, more, theirs, seconds=40)  # it may be logged late
    assert watched_for(table, more, theirs, seconds=10) == {(ANNA, BEN): 1}
    assert not watched_for(table, ours, theirs, seconds=4)


def test_print_that_looks_like_figures_of_others_is_no_such_one(table: _Table) -> None:
    ours, more = near("red", red=3, blue=1), near("red", red=3, blue=2)
    watched_for(table, ours, near("blue", blue=2), seconds=50)
    watched_for(table, more, near("blue", blue=2), seconds=20)
    watched_for(table, ours, near("blue", blue=2), seconds=4)
    assert not watched_for(table, more, near("blue", blue=2), seconds=60)


def test_a_place_that_is_hardly_known_yet_says_nothing_of_what_lies_there() -> None:
    table = _Table(log(game()))
    table.sees(near("red", red=3, blue=1), near("blue", blue=2), times=10)
    assert not watched_for(table, near("red", red=3, blue=2), near("blue", blue=2), seconds=80)


def test_an_arm_over_a_players_figures_says_nothing_of_what_lies_there(table: _Table) -> None:
    watched_for(table, near("red", red=3, blue=1), near("blue", blue=2), seconds=60)
    more, theirs = near("red", red=3, blue=2), near("blue", blue=2)
    watched_for(table, more, theirs, seconds=20)
    watched_for(table, theirs, seconds=8)
    assert watched_for(table, more, theirs, seconds=30) == {(ANNA, BEN): 1}


def test_what_lies_some_way_from_a_players_figures_may_be_anything(table: _Table) -> None:
    ours = near("red", red=3, blue=1)
    watched_for(table, ours, near("blue", blue=2), seconds=60)
    (x, y), one = HOMES["red"], ours[-1]
    for away, told in ((2.2, {}), (1.6, {(ANNA, BEN): 1})):
        lies = replace(one, at=(x + 0.35 + away, y))
        assert watched_for(table, [*ours, lies], near("blue", blue=2), seconds=60) == told


def test_a_place_to_which_somebody_moved_their_figures_has_to_become_known(table: _Table) -> None:
    watched_for(table, near("red", red=3, blue=1), near("blue", blue=2), seconds=60)
    assert not watched_for(table, near("green", red=3, blue=2), near("blue", blue=2), seconds=90)


def test_a_reader_asks_how_one_was_taken() -> None:
    table = watched_game()
    table.beside = (*near("red", red=3, blue=1), *near("blue", blue=2))
    table.sees(30)
    table.beside = (*near("red", red=3, blue=2), *near("blue", blue=2))
    table.sees(12)
    noticed, = (n for n in table.notices if n.code == "held_more")
    assert (noticed.player, noticed.owner, noticed.count, noticed.at) == (ANNA, BEN, 1, None)
    row, = rows([noticed], SETUP.players)[0]
    assert row["text"].startswith("Anna has figures of Ben (1)")
