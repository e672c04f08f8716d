"""The base game scored another way: every turn from scratch, by flooding the board from each segment.

Shares nothing with the engine but the tile catalogue and the names of options. Slow and simple on purpose.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from scoring.events import Event, FigurePlaced, TilePlaced, TurnEnded
from scoring.tiles import OPPOSITE, STEP, catalogue, turn, where

Cell = tuple[int, int, int]


class Flood:
    """A table of the base game: tiles by square, figures as (player, cell), scores."""

    def __init__(self, players: int, start: tuple[str, int]) -> None:
        self.tiles: dict[tuple[int, int], tuple[str, int]] = {(0, 0): start}
        self.figures: list[tuple[int, Cell]] = []
        self.scores = [0] * players

    def follow(self, event: Event, rules: Any) -> None:
        """What an event of a legal game does to this table."""
        match event:
            case TilePlaced(at=(x, y)):
                self.lay(x, y, event.tile, event.rot)
            case FigurePlaced(at=(x, y)):
                self.put(event.player, x, y, event.feature, event.where)
            case TurnEnded():
                self.end_turn(rules)

    def lay(self, x: int, y: int, tile: str, rot: int) -> None:
        self.tiles[x, y] = tile, rot

    def put(self, player: int, x: int, y: int, kind: str, place: str) -> None:
        tile, rot = self.tiles[x, y]
        for n, s in enumerate(catalogue()[tile].segments):
            if s.kind == kind and where(s, rot) == place:
                self.figures.append((player, (x, y, n)))

    def feature(self, cell: Cell) -> tuple[frozenset[Cell], bool]:
        """All cells connected with one, and whether an edge of theirs faces an empty square."""
        seen, todo, gap = {cell}, [cell], False
        while todo:
            x, y, n = todo.pop()
            tile, rot = self.tiles[x, y]
            segment = catalogue()[tile].segments[n]
            for atom in segment.atoms:
                side = turn(atom, rot)
                dx, dy = STEP[side[0]]
                other = self.tiles.get((x + dx, y + dy))
                if other is None:
                    gap = True
                    continue
                for m, s in enumerate(catalogue()[other[0]].segments):
                    if s.kind == segment.kind and OPPOSITE[side] in [turn(a, other[1]) for a in s.atoms] \
                            and (x + dx, y + dy, m) not in seen:
                        seen.add((x + dx, y + dy, m))
                        todo.append((x + dx, y + dy, m))
        return frozenset(seen), gap

    def kind(self, cell: Cell) -> str:
        return catalogue()[self.tiles[cell[:2]][0]].segments[cell[2]].kind

    def neighbours(self, cell: Cell) -> int:
        x, y, _ = cell
        return sum((x + dx, y + dy) in self.tiles for dx in (-1, 0, 1) for dy in (-1, 0, 1)) - 1

    def complete(self, cell: Cell) -> bool:
        kind = self.kind(cell)
        if kind == "cloister":
            return self.neighbours(cell) == 8
        return kind != "field" and not self.feature(cell)[1]

    def pay(self, cells: frozenset[Cell], points: int) -> None:
        count = Counter(p for p, c in self.figures if c in cells)
        for p, n in count.items():
            if n == max(count.values()):
                self.scores[p] += points

    def worth(self, cells: frozenset[Cell], kind: str, done: bool, rules: Any) -> int:
        cell = next(iter(cells))
        if kind == "cloister":
            return 1 + self.neighbours(cell)
        tiles = len({c[:2] for c in cells})
        shields = sum(catalogue()[self.tiles[c[:2]][0]].segments[c[2]].pennants for c in cells)
        double = kind == "city" and done and not (tiles == 2 and rules.two_tile_city == "half")
        return (tiles + (shields if kind == "city" else 0)) * (2 if double else 1)

    def end_turn(self, rules: Any) -> None:
        for _, cell in list(self.figures):
            if any(c == cell for _, c in self.figures) and self.complete(cell):
                cells = self.feature(cell)[0]
                self.pay(cells, self.worth(cells, self.kind(cell), True, rules))
                self.figures = [f for f in self.figures if f[1] not in cells]

    def end_game(self, rules: Any) -> None:
        farms = {self.feature(c)[0] for _, c in self.figures if self.kind(c) == "field"}
        for cells, kind in {(self.feature(c)[0], self.kind(c)) for _, c in self.figures if self.kind(c) != "field"}:
            self.pay(cells, self.worth(cells, kind, False, rules))
        supplied: dict[frozenset[Cell], set[frozenset[Cell]]] = {}
        for farm in farms:
            for x, y, n in farm:
                for c in catalogue()[self.tiles[x, y][0]].segments[n].cities:
                    city, gap = self.feature((x, y, c))
                    if not gap:
                        supplied.setdefault(city, set()).add(farm)
        for city in supplied.values():
            if rules.farm_scoring == "per_farm":
                for farm in city:
                    self.pay(farm, rules.farm_points_per_city)
            else:
                self.pay(frozenset().union(*city), rules.farm_points_per_city)
