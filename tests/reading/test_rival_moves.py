"""Blocks, figures and neutral pieces that may have come in one turn, of which the rules allow one."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from piles import EAST, FAR, SOUTH, WEST, PilesTable, top
from tables import figure

from reading import policy
from reading.logged_game import LoggedGame
from reading.policy import Decision, Doubt, Moment
from reading.rival_moves import either, without_figures
from reading.sightings import NEUTRAL, Sighting
from scoring.events import Event, FigurePlaced, Player, Setup, TilePlaced
from scoring.expansions.dragon_moves import FairyMoved
from scoring.expansions.tower import TowerRaised
from scoring.log import Retracted, effective, open_questions
from scoring.rules import edition, with_options
from scoring.state import GameState
from scoring.tiles import Square
from vision.looks import NeutralLook, TableLook, probability

SETUP = Setup(expansions=("base", "dragon", "tower"), rules=with_options(edition(), {"fairy_mode": "follower"}),
              players=(Player(name="Anna", colour="red"), Player(name="Ben", colour="blue")))
THIEF = FigurePlaced(player=0, figure="follower", at=EAST, feature="road", where="E W")


@pytest.fixture
def table() -> PilesTable:
    """Anna has laid a tile with a foundation, Ben a road with a thief, and Anna another road."""
    made = PilesTable(SETUP)
    made.piles[SOUTH] = top(0)
    made.lays(SOUTH, "tower.02", 0)
    made.lays(WEST, "base.U", 0, figure("base.U", 0, "road", "E W", "blue"))
    made.lays(EAST, "base.U", 0)
    return made


def known(table: PilesTable) -> tuple[LoggedGame, list[GameState]]:
    log = table.reader._log(table.book.entries)
    return log, list(table.reader._prefix.states([line.event for line in log.lines]))


def block(nats: float, after: int | None = None, player: int = 0) -> Decision:
    return told(TowerRaised(player=player, at=SOUTH), nats, SOUTH, after)


def told(event: TowerRaised | FigurePlaced, nats: float, at: Square, after: int | None = None) -> Decision:
    return Decision(events=(event,), confidence=probability(nats), asked=False, alternatives=(), at=at, frame=0,
                    after=after)


@pytest.mark.parametrize(("nats", "figures", "kept"), [(3.0, [2.0], False), (5.0, [2.0], True), (3.0, [], True)])
def test_a_block_waits_for_a_figure_of_its_turn_that_is_about_as_likely(
        table: PilesTable, nats: float, figures: list[float], kept: bool) -> None:
    log, states = known(table)
    made = [told(THIEF, sure, EAST) for sure in figures]
    raised, told_ = without_figures([block(nats)], [], made, log, states, table.reader._steps)
    assert bool(raised) is kept and list(told_) == made
    doubt = Doubt(decision=replace(block(nats), asked=True), gain=1.0, due=True)
    _, asked = without_figures([], [doubt], [*made, doubt.decision], log, states, table.reader._steps)
    assert (doubt.decision in asked) is kept


def test_a_figure_of_another_turn_does_not_matter(table: PilesTable) -> None:
    log, states = known(table)
    made = [told(THIEF, 2.0, EAST)]
    older = log.groups[-3]
    assert older.at == SOUTH  # Anna's, too
    assert without_figures([block(3.0, older.last_seq)], [], made, log, states, table.reader._steps)[0]


CAME_S = 1000.0


def seen(odds: float, came_s: float, at: Square = WEST) -> dict[str, dict[Square, Sighting]]:
    return {"fairy": {at: Sighting(odds=odds, t_s=came_s, came_s=came_s, foot=(at[0] + 0.5, at[1] + 0.5))}}


def weighed(table: PilesTable, made: Decision, pieces: dict[str, dict[Square, Sighting]],
            t_s: float = CAME_S + 5.0) -> tuple[list[Decision], list[Decision]]:
    """The block if it is told, and if it is asked about."""
    log, states = known(table)
    told_, doubts = either([made], pieces, table.reader.belief, log, states, table.reader._steps,
                           Moment(frame=0, t_s=t_s))
    return told_, [d.decision for d in doubts]


@pytest.mark.parametrize(("nats", "odds", "as_told", "as_asked"), [
    (3.0, 1.0, 0, 1), (8.0, 1.0, 1, 0), (3.0, -3.0, 1, 0), (3.0, 6.0, 0, 0)],
    ids=["either", "surely-a-block", "no-fairy", "surely-the-fairy"])
def test_a_block_of_a_turn_in_which_the_fairy_may_have_come_is_asked_about(
        table: PilesTable, nats: float, odds: float, as_told: int, as_asked: int) -> None:
    table.lays(FAR, "base.U", 0)  # Ben, who has a thief in the west
    told_, asked = weighed(table, block(nats, player=1), seen(odds, CAME_S))
    assert (len(told_), len(asked)) == (as_told, as_asked)
    for out in asked:
        assert out.confidence == pytest.approx(probability(nats - (odds - NEUTRAL.absent)))  # over every other square
        assert math.isclose(sum(p for _, p in out.alternatives), 1.0)


def test_a_block_waits_until_what_may_be_a_hand_has_been_the_fairy_for_some_seconds(table: PilesTable) -> None:
    table.lays(FAR, "base.U", 0)
    assert weighed(table, block(3.0, player=1), seen(1.0, CAME_S), t_s=CAME_S + 1.0) == ([], [])


def test_nobody_is_asked_where_she_came_in_another_turn_or_could_not(table: PilesTable) -> None:
    table.lays(FAR, "base.U", 0)
    made, since_s = block(3.0, player=1), table.reader.belief.since_s(FAR)
    assert weighed(table, made, seen(1.0, since_s - 1.0)) == ([made], [])
    assert weighed(table, made, seen(1.0, CAME_S, at=EAST)) == ([made], [])
    older = block(3.0, after=known(table)[0].groups[-2].last_seq)
    assert weighed(table, older, seen(1.0, CAME_S)) == ([older], [])


def test_what_a_tile_is_read_as_now_does_not_matter(table: PilesTable) -> None:
    log, states = known(table)
    again = TilePlaced(player=0, tile="base.U", at=EAST, rot=2)
    made = [Decision(events=(again,), confidence=0.5, asked=False, alternatives=(), at=EAST, frame=0)]
    assert without_figures([block(3.0)], [], made, log, states, table.reader._steps)[0]


def test_a_piece_that_is_hardly_seen_leaves_a_block_as_it_is(table: PilesTable) -> None:
    table.lays(FAR, "base.U", 0)
    made = block(2.0, player=1)
    assert weighed(table, made, seen(0.3, CAME_S)) == ([made], [])


def test_a_walk_leaves_a_block_as_it_is() -> None:
    """The dragon walks once the block has been added."""
    table = PilesTable(SETUP)
    table.piles[SOUTH] = top(0)
    table.lays(SOUTH, "tower.02", 0)
    table.lays(EAST, "dragon.17", 0)
    table.lays(WEST, "base.U", 0)
    table.lays(FAR, "dragon.16", 0)  # Ben, and it walks
    walked = {"dragon": {(0, 0): replace(seen(1.0, CAME_S)["fairy"][WEST], foot=(0.5, 0.5))}}
    made = block(3.0, player=1)
    assert weighed(table, made, walked) == ([made], [])


class Both(PilesTable):
    """A table on which pieces stand, too: ``stands`` has their squares, ``there`` how clearly they are seen."""

    def __init__(self) -> None:
        self.stands: dict[str, Square] = {}
        self.there = 5.0
        super().__init__(SETUP)

    def look(self) -> TableLook:
        seen = super().look()
        pieces = {at: {n: NeutralLook(there=self.there, foot=(0.7, 0.3)) for n, on in self.stands.items() if on == at}
                  for at in seen.squares}
        return replace(seen, squares={at: replace(s, neutral=pieces[at]) for at, s in seen.squares.items()})


def top_and_fairy(there: float, after: int = 0) -> Both:
    """In Ben's turn a top moves, and after so many looks the fairy stands there, as clearly as that."""
    table = Both()
    table.piles[SOUTH], table.there = top(0), there
    table.lays(SOUTH, "tower.02", 0)  # Anna
    table.lays(WEST, "base.U", 0, figure("base.U", 0, "road", "E W", "blue"))
    table.lays(EAST, "base.U", 0)
    table.piles[SOUTH] = top(1)
    table.sees()
    table.lays(FAR, "base.U", 0)  # Ben
    table.piles[SOUTH] = top(2)
    table.sees(after)
    table.stands["fairy"] = WEST
    return table


def moves(table: Both) -> list[Event]:
    return [e for e in table.events if isinstance(e, TowerRaised | FairyMoved)]


@pytest.mark.parametrize("after", [0, 3])
@pytest.mark.parametrize("there", [2.6, 3.5, 4.0, 4.5, 5.0])
def test_never_are_both_reported_by_one_look(there: float, after: int) -> None:
    table = top_and_fairy(there, after)
    before = len(moves(table))
    for _ in range(8):
        table.sees(1)
        assert len(moves(table)) <= before + (before < 2)  # one of both, if the block was not told before she came


def test_a_block_is_told_when_people_take_back_the_move_that_excluded_it() -> None:
    table = top_and_fairy(10.0)
    table.sees(4)
    moved = moves(table)[-1]
    assert isinstance(moved, FairyMoved)
    table.book.say(Retracted(seq=next(s for s, e in effective(table.book.entries) if e == moved)))
    table.sees(6)
    assert [type(e) for e in moves(table)] == [TowerRaised, TowerRaised]


@pytest.mark.parametrize(("there", "block_first"), [(1.0, True), (5.0, False)])
def test_a_table_where_a_top_moves_while_the_fairy_comes(there: float, block_first: bool) -> None:
    """Either is reported or asked about, never both; the fairy if people say that there was no block."""
    table = top_and_fairy(there)
    table.sees(4)
    new = [e for e in table.events if isinstance(e, TowerRaised | FairyMoved)][1:]
    assert len(new) == 1 and isinstance(new[0], TowerRaised) is block_first
    asked = sorted(open_questions(table.book.entries))
    assert len(asked) <= 1
    for seq in asked:
        table.book.say(Retracted(seq=seq))
    table.sees(4)
    assert [type(e) for e in table.events if isinstance(e, TowerRaised | FairyMoved)] == [TowerRaised, FairyMoved]


def test_a_table_where_a_figure_and_a_block_would_be_told_by_one_look() -> None:
    table = Both()
    table.piles[SOUTH] = top(0)
    table.lays(SOUTH, "tower.02", 0)
    table.lays(WEST, "base.U", 0)
    table.lays(EAST, "base.U", 0)  # Anna's turn: has a thief come, or a block?
    decide = table.reader._stack_moves.decide
    thief = Decision(events=(THIEF,), confidence=probability(2.0), asked=False, alternatives=(), at=EAST, frame=0)

    def told_both(*args: object) -> tuple[list[Decision], list[Doubt]]:
        return [*decide(*args)[0], block(3.0)], []  # type: ignore[arg-type]

    def decisions(*args: object, **kw: object) -> object:
        made, shown, doubts = policy.decisions(*args, **kw)  # type: ignore[arg-type]
        return (*made, thief), shown, doubts

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table.reader._stack_moves.__class__, "decide", lambda _, *args: told_both(*args))
        patch.setattr("reading.game.decisions", decisions)
        table.t_s += 5.0
        made = table.reader.look(table.look(), table.book.entries).decisions
    assert [d.events for d in made] == [(THIEF,)]
