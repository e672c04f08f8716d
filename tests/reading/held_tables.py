"""A table at which players hold figures of each other, and what lies beside its board."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, cast

from piles import SETUP, SOUTH, PilesTable, top
from tables import figure
from test_unseen_moves import ANNA, BEN, game, monk

from reading.belief import TableBelief
from reading.held import HeldFigures
from reading.layings import Steps
from reading.logged_game import logged_game
from reading.policy import Decision, Moment
from scoring.engine import new_game, step
from scoring.events import Event, FigurePlaced, Setup, TilePlaced
from scoring.expansions.tower import Captured, TowerRaised
from scoring.log import LogEntry
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
class HeldTable:
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


class WatchedTable(PilesTable):
    """A table that a reader watches, with what lies ``beside`` it."""

    beside: tuple[BesideLook, ...] = ()

    def look(self) -> TableLook:
        return replace(super().look(), beside=self.beside)


def watched_game() -> WatchedTable:
    """Anna holds one of Ben's followers."""
    table = WatchedTable()
    for event in game():
        table.book.say(event)
        if isinstance(event, TilePlaced):
            table.tiles[event.at] = event.tile, event.rot
        elif isinstance(event, FigurePlaced) and event.at not in ((1, 1), (5, 5)):
            table.figures[event.at] = (figure("base.B", 0, event.feature, event.where, "blue"),)
    table.piles[SOUTH] = top(1)
    return table


def bens_turn() -> HeldTable:
    """Anna holds one of Ben's followers, and both are seen beside the board; then Ben lays a tile."""
    made = HeldTable(log(game()))
    made.sees(near("red", red=3, blue=1), near("blue", blue=2))
    made.add(*monk((1, 20))[:1])
    return made


def after_bens(table: HeldTable) -> None:
    table.add(TilePlaced(player=ANNA, tile="base.U", at=(-30, 9), rot=0))


def with_two_taken() -> list[Event]:
    return [*game(), *monk((1, 1)), TilePlaced(player=ANNA, tile="base.U", at=(-31, 9), rot=0),
            TowerRaised(player=ANNA, at=SOUTH),
            Captured(player=ANNA, owner=BEN, figure="follower", at=(1, 1), feature="cloister", where="I")]
