"""Small tables to look at, square by square."""

from __future__ import annotations

from collections.abc import Mapping

from looks_replayed import Book

from reading.game import GameReader
from reading.noticing import Notice
from scoring.events import Event, Player, Setup
from scoring.geometry import spot_of
from scoring.rules import edition
from scoring.tiles import Square, catalogue, segment_index
from vision.looks import FigureLook, SquareLook, TableLook

TWO = Setup(players=(Player(name="Anna", colour="red"), Player(name="Ben", colour="blue")), rules=edition())
Tiles = Mapping[Square, tuple[str, int]]
START: Tiles = {(0, 0): ("base.D", 0)}


def figure(tile: str, rot: int, feature: str, where: str, colour: str, *, there: float = 4.0,
           lying: float | None = None) -> FigureLook:
    """A figure on a segment, as it is seen."""
    index = segment_index(catalogue()[tile], rot, feature, where)
    assert index is not None
    x, y = spot_of(catalogue()[tile], index, rot)
    side = 4.0 if feature == "field" else -4.0
    return FigureLook(foot=(x / 100, y / 100), spread=0.05, there=there, lying=side if lying is None else lying,
                      colours={p.colour: 0.0 if p.colour == colour else -7.0 for p in TWO.players})


def look(t_s: float, tiles: Tiles, figures: Mapping[Square, tuple[FigureLook, ...]] | None = None, *,
         whole: bool = True, hidden: tuple[Square, ...] = (), margin: float = 10.0,
         doubts: Mapping[Square, Mapping[tuple[str, int], float]] | None = None) -> TableLook:
    """A look at a table on which these tiles lie: each read as it is by ``margin`` nats, or by what ``doubts`` say."""
    squares = {}
    for at, reading in tiles.items():
        says = dict((doubts or {}).get(at, {reading: 0.0}))
        squares[at] = SquareLook(there=5.0, seen=0.1 if at in hidden else 1.0, tiles=says, rest=-margin,
                                 figures=tuple((figures or {}).get(at, ())))
    return TableLook(frame=round(t_s * 10), t_s=t_s, squares=squares, whole=whole)


class Table:
    """A reader that sees what is laid out (``tiles``, ``figures``), look by look, and the log that it comes to.
    Subclasses lay out more, and add it to what a look shows."""

    def __init__(self, setup: Setup, tiles: Tiles = START) -> None:
        self.reader, self.book, self.t_s = GameReader(setup), Book(), 0.0
        self.tiles = dict(tiles)
        self.figures: dict[Square, tuple[FigureLook, ...]] = {}
        self.notices: tuple[Notice, ...] = ()

    def look(self) -> TableLook:
        return look(self.t_s, self.tiles, self.figures)

    def sees(self, times: int = 3, every_s: float = 5.0) -> None:
        for _ in range(times):
            self.t_s += every_s
            said = self.reader.look(self.look(), self.book.entries)
            self.notices = said.notices
            for made in said.decisions:
                self.book.commit(made)

    def lays(self, at: Square, tile: str, rot: int, *figures: FigureLook) -> None:
        self.tiles[at] = tile, rot
        if figures:
            self.figures[at] = figures
        self.sees()

    @property
    def events(self) -> list[Event]:
        return list(self.book.events())

    def told(self, kind: type[Event]) -> list[Event]:
        return [e for e in self.events if isinstance(e, kind)]
