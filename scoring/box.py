"""The contributions of the chosen expansions, merged slot by slot; built once per game."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from scoring.contributions import (
    Attempt,
    Choice,
    Expansion,
    Handler,
    Kind,
    Piece,
    Problem,
    Question,
    Rate,
    Stage,
    Step,
    View,
)
from scoring.errors import InvalidNotation
from scoring.events import Event, StartTile
from scoring.expansions import KNOWN, chosen
from scoring.rules import Rules, edition
from scoring.scores import Item
from scoring.state import Feature
from scoring.tiles import Square, Tile, catalogue, product, turn, where


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A rotated tile, prepared for merging: per segment its kind, place, open ends, marks and bordered cities.

    ``owner`` maps an edge or half-edge to its segment, ``named`` a kind and a place; ``around`` are the segments that
    are completed by their eight neighbours.
    """

    tile: Tile
    edges: str
    kinds: tuple[str, ...]
    where: tuple[str, ...]
    ends: tuple[int, ...]
    marks: tuple[Mapping[str, int], ...]
    cities: tuple[tuple[int, ...], ...]
    owner: Mapping[str, int]
    named: Mapping[tuple[str, str], int]
    around: tuple[int, ...]


class Box:
    """The merged contributions of the chosen expansions. Equal for equal choices; has no game state."""

    def __init__(self, names: tuple[str, ...], rules: Rules, players: int) -> None:
        self.expansions: tuple[Expansion, ...] = chosen(names)
        self.rules = rules
        # a figure of a box that is not in play keeps its weight, but the supply has none
        self.pieces: Mapping[str, Piece] = {p.name: p for e in KNOWN.values() for p in e.pieces}
        self.counts: Mapping[str, int] = {p.name: p.count(players) for e in self.expansions for p in e.pieces}
        self.neutrals = tuple(n for e in self.expansions for n in e.neutrals)
        self.stacks = tuple(s for e in self.expansions for s in e.stacks)
        self.dials = tuple(d for e in self.expansions for d in e.dials)
        self.awaited = frozenset(d.awaited for d in self.dials)
        self.late = self.awaited | {n.awaited for n in self.neutrals if n.awaited}
        self.kinds: Mapping[str, Kind] = {k.name: k for e in self.expansions for k in e.kinds}
        self.handlers: Mapping[type[Event], Handler[Any]] = {h.event: h for e in self.expansions for h in e.handlers}
        self.steps: tuple[Step, ...] = _in_order([s for e in self.expansions if e.steps for s in e.steps(rules)])
        self.slots: Mapping[str, int] = {s.name: n for n, s in enumerate(self.steps)}
        self.runs = tuple(s.run for s in self.steps)
        self.stages: tuple[Stage, ...] = tuple(s for e in self.expansions for s in e.stages)
        self.laid = tuple(f for e in self.expansions for f in e.laid)
        self.completed = tuple(f for e in self.expansions for f in e.completed)
        self.put_away = tuple(f for e in self.expansions for f in e.put_away)
        self._held_back = tuple(h for e in self.expansions for h in e.held_back)
        self._placing = tuple(c for e in self.expansions for c in e.placing)
        self._deploying = tuple(c for e in self.expansions for c in e.deploying)
        self._reaches = tuple(r for e in self.expansions for r in e.reaches)
        self.reaching = bool(self._reaches)  # whether figures may ever be deployed elsewhere than on the last tile
        self._shows = tuple(e.shows for e in self.expansions if e.shows)
        self._draws = tuple(e.draws for e in self.expansions if e.draws)
        self._holds = tuple(e.holds for e in self.expansions if e.holds)
        self.bonuses = tuple(b for e in self.expansions for b in e.bonuses)
        self._rates = tuple(r for e in self.expansions for r in e.rates)
        self._farm_extras = tuple(x for e in self.expansions for x in e.farm_extras)
        self.asks = tuple(e.questions for e in self.expansions if e.questions)
        self._off_board = tuple(e.off_board for e in self.expansions if e.off_board)
        self.holds_off_board = bool(self._off_board)
        self._shapes: dict[tuple[str, int], Shape] = {}
        self._tiles = {**catalogue(), **{t.id: t for e in KNOWN.values() for t in e.tiles}}
        # start tiles are taken out of the box before the game, used or not (R-RIVER-01)
        self.set_aside = tuple(o.tile.tile for e in self.expansions for o in e.starts)
        boxed = [name for e in self.expansions for name in e.products]
        self.contents: Mapping[str, int] = {t.id: t.count for name in boxed for t in product(name).tiles}

    def tile(self, name: str) -> Tile:
        """A tile kind of any product, or of a start board."""
        return self._tiles[name]

    def shape(self, name: str, rot: int) -> Shape:
        """The rotated tile, cached."""
        found = self._shapes.get((name, rot))
        if found is None:
            found = self._shapes[name, rot] = self._shape(self.tile(name), rot)
        return found

    def _shape(self, tile: Tile, rot: int) -> Shape:
        segments = tile.segments
        marks = []
        for s in segments:
            carried: dict[str, int] = {}
            for e in self.expansions:
                for mark, count in e.marks(s) if e.marks else ():
                    carried[mark] = carried.get(mark, 0) + count
            marks.append(carried)
        around = tuple(n for n, s in enumerate(segments) if s.kind in self.kinds and
                       self.kinds[s.kind].closes == "around")
        return Shape(tile=tile, edges="".join(tile.edges[(n - rot) % 4] for n in range(4)),
                     kinds=tuple(s.kind for s in segments), where=tuple(where(s, rot) for s in segments),
                     ends=tuple(len(s.atoms) for s in segments), marks=tuple(marks),
                     cities=tuple(s.cities for s in segments), around=around,
                     named={(s.kind, where(s, rot)): n for n, s in reversed(tuple(enumerate(segments)))},
                     owner={turn(a, rot): n for n, s in enumerate(segments) for a in s.atoms})

    def start(self) -> StartTile:
        """The start tile before turn 1 under the rules in force (R-SETUP-01, R-RIVER-01, R-SETUP-07)."""
        offers = [o for e in self.expansions for o in e.starts]
        asked = [o for o in offers if o.value == self.rules.start]
        if not asked and self.rules.start == edition(self.rules.edition).start:
            asked = offers  # the default, and its box is not in play: another start is used
        if not asked:
            raise InvalidNotation(f"rule start={self.rules.start} needs its expansion; chosen are "
                                  f"{', '.join(e.name for e in self.expansions)}")
        unasked = [o for o in offers if o.takes_over]
        return (unasked or asked)[-1].tile

    def off_board(self, view: View) -> Iterator[tuple[int, str, int]]:
        """Pieces that are neither in supply nor on the board, as (player, piece, count)."""
        for held in self._off_board:
            yield from held(view)

    def held_figures(self, view: View, player: int) -> Iterator[tuple[int, str]]:
        """The figures of others that a player holds, as (owner, figure)."""
        for holds in self._holds:
            for held in holds(view, player):
                yield from held.get("figures", ())

    def rate(self, feature: Feature, complete: bool) -> Rate | None:
        """The points per counted unit of the feature, after the adjustments of all expansions."""
        kind = self.kinds.get(feature.kind)
        if kind is None or kind.rate is None:
            return None
        rate = kind.rate(self.rules, feature, complete)
        for change in self._rates:
            rate = change(self.rules, feature, complete, rate)
        return rate

    def placing(self, view: View, tile: Tile, at: Square, rot: int) -> Iterator[Problem]:
        """The rules' objections to a tile on a square."""
        return (p for check in self._placing if (p := check(view, tile, at, rot)))

    def deploying(self, view: View, attempt: Attempt) -> Iterator[Problem]:
        """The rules' objections to deploying a figure on a place."""
        return (p for check in self._deploying if (p := check(view, attempt)))

    def reaches(self, view: View, attempt: Attempt) -> bool:
        """Whether an expansion lets the figure be deployed elsewhere than on the last tile."""
        return any(reach(view, attempt) for reach in self._reaches)

    def spot(self, view: View, at: Square, feature: str, place: str) -> bool:
        """Whether the tile has that place although it is not a segment."""
        return any(e.spots(view, at, feature, place) for e in self.expansions if e.spots)

    def farm_extras(self, view: View, farm: Feature, player: int) -> list[Item]:
        """The extra points of one player for one city of a farm."""
        return [i for extra in self._farm_extras if (i := extra(view, farm, player))]

    def can_draw(self, view: View) -> bool:
        """Whether a tile remains that may be drawn now (A-22, A-42)."""
        for kind, n in view.left.items():
            if n > 0 and not (self._held_back and any(held(view, self.tile(kind)) for held in self._held_back)):
                return True
        return False

    def questions(self, view: View) -> list[Question]:
        """Questions about facts that the camera cannot see and the rules need before play continues."""
        return [q for ask in self.asks for q in ask(view)]

    def offers(self, view: View) -> Iterator[Question]:
        """Questions about events that may have happened unseen."""
        for e in self.expansions:
            if e.offers:
                yield from e.offers(view)

    def moves(self, view: View) -> Iterator[Choice]:
        """The moves that the rules allow a player now."""
        for e in self.expansions:
            if e.moves:
                yield from e.moves(view)

    def shows(self, view: View) -> dict[str, object]:
        """The state of the expansions other than tiles and figures, and how it is drawn."""
        out = {k: v for show in self._shows for k, v in show(view).items()}
        if self._draws:
            out["drawn"] = [shape for draw in self._draws for shape in draw(view)]
        if self._holds:
            out["held"] = [[one for hold in self._holds for one in hold(view, player)]
                           for player in range(len(view.setup.players))]
        return out


@cache
def box_for(names: tuple[str, ...], rules: Rules, players: int) -> Box:
    """The box for these expansions; their order does not matter. Raises InvalidNotation."""
    order = tuple(e.name for e in chosen(names) if e.name in names)
    return Box(names, rules, players) if order == names else box_for(order, rules, players)


def _in_order(steps: Iterable[Step]) -> tuple[Step, ...]:
    """The slots of a turn: each right after the one it names; of two after the same one, the later in this list comes
    first, so that an expansion's step precedes the next one of the base game."""
    waiting = list(steps)
    out: list[Step] = []
    while waiting:
        for n, s in enumerate(waiting):
            names = [o.name for o in out]
            if not s.after or s.after in names:
                out.insert(names.index(s.after) + 1 if s.after else len(out), waiting.pop(n))
                break
        else:
            raise InvalidNotation(f"turn steps {', '.join(s.name for s in waiting)} follow no known step")
    return tuple(out)
