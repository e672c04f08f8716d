"""Blocks, figures and neutral pieces that may have come in one turn, of which the rules allow one."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from piles import EAST, FAR, SOUTH, WEST, PilesTable, top
from tables import figure

from reading.logged_game import LoggedGame
from reading.policy import Decision, Shown
from reading.rival_moves import either, without_figures
from reading.sightings import NEUTRAL, Sighting
from scoring.events import FigurePlaced, Player, Setup, TilePlaced
from scoring.expansions.tower import TowerRaised
from scoring.rules import edition, with_options
from scoring.state import GameState
from scoring.tiles import Square
from vision.looks import probability

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


@pytest.mark.parametrize(("nats", "figures", "kept"), [
    (3.0, {"made": 2.0}, False), (3.0, {"shown": 2.0}, False), (5.0, {"made": 2.0}, True), (3.0, {}, True)])
def test_a_block_waits_for_a_figure_of_its_turn_that_is_about_as_likely(
        table: PilesTable, nats: float, figures: dict[str, float], kept: bool) -> None:
    log, states = known(table)
    made = [told(THIEF, figures["made"], EAST)] if "made" in figures else []
    shown = [Shown(event=THIEF, confidence=probability(figures["shown"]))] if "shown" in figures else []
    out = without_figures([block(nats)], made, shown, log, states, table.reader._steps)
    assert bool(out) is kept


def test_a_figure_of_another_turn_does_not_matter(table: PilesTable) -> None:
    log, states = known(table)
    made = [told(THIEF, 2.0, EAST)]
    older = log.groups[-3]
    assert older.at == SOUTH  # Anna's, too
    assert without_figures([block(3.0, older.last_seq)], made, [], log, states, table.reader._steps)


CAME_S = 1000.0


def seen(odds: float, came_s: float, at: Square = WEST) -> dict[str, dict[Square, Sighting]]:
    return {"fairy": {at: Sighting(odds=odds, t_s=came_s, came_s=came_s, foot=(at[0] + 0.5, at[1] + 0.5))}}


@pytest.mark.parametrize(("nats", "odds", "asked"), [(3.0, 3.0, True), (8.0, 3.0, False), (3.0, -3.0, False)])
def test_a_block_of_a_turn_in_which_the_fairy_may_have_come_is_asked_about(
        table: PilesTable, nats: float, odds: float, asked: bool) -> None:
    table.lays(FAR, "base.U", 0)  # Ben, who has a thief in the west
    log, states = known(table)
    out, = either([block(nats, player=1)], seen(odds, CAME_S), table.reader.belief, log, states, table.reader._steps)
    assert out.asked is asked
    if asked:
        margin = odds - NEUTRAL.absent  # over every other square
        assert out.confidence == pytest.approx(probability(nats - margin))
        assert math.isclose(sum(p for _, p in out.alternatives), 1.0)


def test_nobody_is_asked_where_she_came_in_another_turn_or_could_not(table: PilesTable) -> None:
    table.lays(FAR, "base.U", 0)
    log, states = known(table)
    since_s = table.reader.belief.since_s(FAR)
    steps, belief = table.reader._steps, table.reader.belief
    before, = either([block(3.0, player=1)], seen(3.0, since_s - 1.0), belief, log, states, steps)
    nobody, = either([block(3.0, player=1)], seen(3.0, CAME_S, at=EAST), belief, log, states, steps)
    later, = either([block(3.0, after=log.groups[-2].last_seq)], seen(3.0, CAME_S), belief, log, states, steps)
    assert not before.asked and not nobody.asked and not later.asked


def test_what_a_tile_is_read_as_now_does_not_matter(table: PilesTable) -> None:
    log, states = known(table)
    again = TilePlaced(player=0, tile="base.U", at=EAST, rot=2)
    made = [Decision(events=(again,), confidence=0.5, asked=False, alternatives=(), at=EAST, frame=0)]
    assert without_figures([block(3.0)], made, [], log, states, table.reader._steps)


def test_a_piece_that_is_hardly_seen_leaves_a_block_as_it_is(table: PilesTable) -> None:
    table.lays(FAR, "base.U", 0)
    log, states = known(table)
    out, = either([block(2.0, player=1)], seen(0.3, CAME_S), table.reader.belief, log, states, table.reader._steps)
    assert not out.asked


def test_a_walk_leaves_a_block_as_it_is() -> None:
    """The dragon walks once the block has been added."""
    table = PilesTable(SETUP)
    table.piles[SOUTH] = top(0)
    table.lays(SOUTH, "tower.02", 0)
    table.lays(EAST, "dragon.17", 0)
    table.lays(WEST, "base.U", 0)
    table.lays(FAR, "dragon.16", 0)  # Ben, and it walks
    log, states = known(table)
    walked = {"dragon": {(0, 0): replace(seen(3.0, CAME_S)["fairy"][WEST], foot=(0.5, 0.5))}}
    out, = either([block(3.0, player=1)], walked, table.reader.belief, log, states, table.reader._steps)
    assert not out.asked
