"""Followers of two sizes on piles and on tiles laid long ago: compared with the other figures of their table, too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from piles import EAST, FAR, SETUP, SOUTH, WEST, PilesTable, top
from tables import figure, look

from reading.belief import TableBelief
from reading.doubtful import piece_doubts
from reading.figure_track import FigureTrack
from reading.layings import Steps
from reading.logged_game import logged_game
from reading.policy import Moment
from reading.stack_track import Pile, StackTrack
from reading.stacks import StackMoves
from scoring.engine import fold
from scoring.events import Event, FigurePlaced, TilePlaced
from scoring.expansions.tower import TowerRaised
from scoring.log import LogEntry, effective, open_questions
from vision.looks import FigureLook

INNS = replace(SETUP, expansions=("base", "inns", "tower"))
TOPS = {FAR: (-1.02, 0.45)}  # over the next tile
GUARD = FigurePlaced(player=0, figure="follower", at=FAR, feature="tower", where="I")


def of_width(look: FigureLook, width: float, large: float = -3.1) -> FigureLook:
    """A figure of that width (tiles), of which the network says ``large`` nats against an ordinary follower."""
    return replace(look, width=width, width_spread=0.05, pieces={"follower": 0.0, "large": large})


def put_on_top(width: float, large: float) -> PilesTable:
    """A table of monks 0.36 tiles wide; Ben closes Anna's tower with a follower of that width."""
    table = PilesTable(INNS)
    table.piles[SOUTH] = top(0)
    table.lays(SOUTH, "tower.02", 0)
    for n, at in enumerate([(-1, 1), (1, 1), (0, 2), (-1, 2), (1, 2)]):
        monk = figure("base.B", 0, "cloister", "I", "red" if n % 2 else "blue")
        table.lays(at, "base.B", 0, of_width(monk, 0.355 + 0.002 * n))
    table.piles[SOUTH] = top(1)
    table.lays(EAST, "base.U", 0)
    assert table.told(TowerRaised) == [TowerRaised(player=0, at=SOUTH)]
    table.lays(WEST, "base.U", 0)
    guard = replace(figure("base.U", 0, "road", "E W", "blue"), foot=(0.53, 0.48))
    table.figures[SOUTH] = (of_width(guard, width, large),)
    table.piles[SOUTH] = top(1, off=(0.03, 0.01), there=1.0)
    table.sees(4)
    return table


@pytest.mark.parametrize(("width", "large", "piece"), [(0.47, -3.0, "large"), (0.36, -3.3, "follower")])
def test_who_is_put_on_a_pile_is_compared_with_the_other_figures(width: float, large: float, piece: str) -> None:
    table = put_on_top(width, large)
    guards = [e for e in table.told(FigurePlaced) if e.feature == "tower"]  # type: ignore[attr-defined]
    assert [e.figure for e in guards] == [piece] and not table.book.questions  # type: ignore[attr-defined]


@pytest.mark.parametrize("later", [0, 4])  # turns: the film may end, or the game go on
@pytest.mark.parametrize(("said", "asked", "amended"), [
    ({"follower": 0.0, "large": 5.0}, [], ["large"]),
    ({"follower": 0.0, "large": 1.5}, ["large"], []),
    ({"follower": 0.0, "large": -6.0}, [], []),
])
def test_the_size_of_one_on_a_pile_is_amended_or_asked_about(said: Mapping[str, float], asked: list[str],
                                                             amended: list[str], later: int) -> None:
    """He appears over another tile than the pile's, and histories do not weigh who stands on older tiles."""
    events: list[Event] = [TilePlaced(player=0, tile="base.U", at=WEST, rot=0),
                           TilePlaced(player=1, tile="tower.02", at=FAR, rot=0), TowerRaised(player=1, at=FAR),
                           TilePlaced(player=0, tile="base.U", at=EAST, rot=0), GUARD]
    events += [TilePlaced(player=(n + 1) % 2, tile="base.U", at=(n + 2, 0), rot=0) for n in range(later)]
    log = logged_game([LogEntry(seq=n, body=e, source="camera", confidence=0.9) for n, e in enumerate(events, 1)])
    seen = FigureTrack(id=1, foot=(-0.95, 0.47), spread=0.05, before_s=0.0, came_s=1.0, seen_s=2.0, looked_s=2.0,
                       weight=1.0, there=6.0, lying=-3.0, colours={"red": 0.0}, width=0.4, measured=1.0, pieces={})
    doubts, changed = piece_doubts(
        TableBelief(figures={1: seen}), log, {1: replace(seen, pieces=said, settled=True)}, fold(INNS, events),
        {"red": 0}, Moment(frame=9, t_s=9.0), TOPS)
    first = [d.decision.alternatives[0][0][0] for d in doubts.values()]
    assert [e.figure for e in first if isinstance(e, FigurePlaced)] == asked
    assert [d.events[0].figure for d in changed if isinstance(d.events[0], FigurePlaced)] == amended


def test_that_somebody_stands_there_does_not_wait_for_his_size() -> None:
    """He is told at once; his size is asked about when nothing more will tell."""
    table = put_on_top(0.415, -3.0)
    guards = [e for e in table.told(FigurePlaced) if e.feature == "tower"]  # type: ignore[attr-defined]
    assert len(guards) == 1 and not table.book.questions
    for made in table.reader.finish(table.book.entries).decisions:
        table.book.commit(made)
    assert table.book.questions == 1
    seq, = open_questions(table.book.entries)
    assert dict(effective(table.book.entries))[seq] in guards


def test_who_stands_on_a_high_pile_appears_wider_than_on_a_tile() -> None:
    """How near the camera is follows from how much farther apart the tops of piles appear than their places."""
    moves, near = StackMoves(Steps()), 11.0 / 700.0  # of the camera's height above the table
    tiles = {(x, 0): ("tower.02", 0) for x in range(-4, 5)}
    seen = look(5.0, tiles)
    floors = {at: (near / (1.0 - near) * at[0], 0.0) for at in tiles}
    moves.look(replace(seen, squares={at: replace(s, stacks={"tower": top(1, floor=floors[at])})
                                      for at, s in seen.squares.items()}), fold(SETUP, []))
    pile = Pile(height=6, mean=(0.6, 0.5, 0.4), var=(1e-5, 1e-5, 1e-3))
    moves.tracks["tower", FAR] = StackTrack(piles=(pile,))
    guard = FigureTrack(id=1, foot=(FAR[0] + 0.62, FAR[1] + 0.48), spread=0.05, before_s=0.0, came_s=1.0, seen_s=2.0,
                        looked_s=2.0, weight=1.0, there=6.0, lying=-3.0, colours={"red": 0.0}, pieces={}, width=0.40)
    other = replace(guard, id=2, foot=(0.5, 0.5))
    belief = TableBelief(figures={1: guard, 2: other})
    told = moves.lowered(belief)
    assert told.figures[1].width == pytest.approx(0.40 * (1.0 - 6 * near), rel=0.005)
    assert told.figures[2] is other and moves.lowered(belief).figures[1] is told.figures[1]
    moves.tracks["tower", FAR] = replace(moves.tracks["tower", FAR], plain=True)
    assert moves.lowered(belief) is belief  # nobody stands there
    moves.tracks["tower", FAR] = StackTrack(piles=(replace(pile, height=200),))  # no pile reaches the camera
    assert 0.0 < moves.lowered(belief).figures[1].width < guard.width
