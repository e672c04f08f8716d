"""The self-test: people lay ten tiles and three figures as shown, and get the reading with its confidence and time, and
advice on how to improve it.

The layout is part of a legal game with the boxes and the players on the table, so nothing in it has to be fetched from
another box. People may lay it anywhere and rotated: it is found by the relative positions of the tiles.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypedDict

import numpy as np

from bastide.table.demo_game import PLAYERS, demo_game
from calibration.advice import AdviceJson
from calibration.aim import look
from calibration.documents import LensResult
from scoring.engine import fold
from scoring.events import Player, Setup, TilePlaced
from scoring.tiles import Square, catalogue
from vision.frames import Image
from vision.read import PhotoReader, PhotoReading, TileReading
from vision.view import View

TILES, FIGURES = 10, 3
_SEEDS = range(1, 80)


class TileToLay(TypedDict):
    """A tile of a layout."""

    at: list[int]
    tile: str
    rot: int


class FigureToPut(TypedDict):
    """A figure of a layout."""

    player: int
    at: list[int]
    feature: str
    where: str


class LayoutJson(TypedDict):
    """A `Layout` for a page."""

    tiles: list[TileToLay]
    figures: list[FigureToPut]


class WrongTile(TypedDict):
    """A tile that was ``read`` as another one, or not at all."""

    at: list[int]
    tile: str
    read: str | None


class TilesRead(TypedDict):
    """The number of tiles expected and read correctly, and the errors."""

    wanted: int
    right: int
    wrong: list[WrongTile]


class MissedFigure(TypedDict):
    """A figure that was not seen."""

    at: list[int]
    player: int
    feature: str


class FiguresRead(TypedDict):
    """The same for figures."""

    wanted: int
    right: int
    wrong: list[MissedFigure]


class Outcome(TypedDict):
    """The reading of a layout: ``sure`` is the least confidence of a correctly read tile, ``extra`` the number of tiles
    seen elsewhere."""

    tiles: TilesRead
    figures: FiguresRead
    sure: float
    extra: int


class Tested(Outcome):
    """The same with the ``seconds`` that reading took, and advice about light, height and focus."""

    seconds: float
    advice: list[AdviceJson]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The requested layout: kind and quarter turns by square, and figures (player, square, feature, where)."""

    tiles: Mapping[Square, tuple[str, int]]
    figures: tuple[tuple[int, Square, str, str], ...]

    def to_json(self) -> LayoutJson:
        """For a page."""
        return {"tiles": [{"at": list(at), "tile": tile, "rot": rot} for at, (tile, rot) in self.tiles.items()],
                "figures": [{"player": p, "at": list(at), "feature": feature, "where": where}
                            for p, at, feature, where in self.figures]}


def layout(setup: Setup) -> Layout:
    """Ten tiles and three figures of this game's boxes and players."""
    boxes = ("base",) if "base" in setup.expansions else setup.expansions
    return _layout(boxes, setup)


@lru_cache(maxsize=4)
def _layout(boxes: tuple[str, ...], setup: Setup) -> Layout:
    best: Layout | None = None
    for seed in _SEEDS:
        game = demo_game(seed, turns=TILES - 1, rules=setup.rules, expansions=boxes, players=_three(setup.players))
        state = fold(game.setup, game.events)
        laid = sum(isinstance(e, TilePlaced) for e in game.events)  # a start may be of more than one tile
        standing = [(f.player % len(setup.players), f.at, f.feature, f.where) for f in state.figures
                    if f.feature != "field"]
        found = Layout(tiles={at: (p.tile, p.rot) for at, p in state.tiles.items()}, figures=tuple(standing[:FIGURES]))
        if best is None or len(found.figures) > len(best.figures):
            best = found
        if laid == TILES - 1 and len(found.figures) == FIGURES:
            return found
    assert best is not None
    return best


def _three(players: tuple[Player, ...]) -> tuple[Player, ...]:
    """A single player lays the pieces of two."""
    return players[:FIGURES] if len(players) > 1 else PLAYERS


def held_against(reading: PhotoReading, wanted: Layout, colours: tuple[str, ...]) -> Outcome:
    """Compares a reading with a layout, independent of its position and rotation on the table."""
    read = {t.at: t for t in reading.tiles}
    turn, (dx, dy) = _placed({at: (t.tile, t.rot) for at, t in read.items()}, wanted.tiles)
    there = {at: (*_moved(at, turn, dx, dy),) for at in wanted.tiles}
    right, wrong = list[TileReading](), list[WrongTile]()
    for at, (tile, rot) in wanted.tiles.items():
        seen = read.get(there[at])
        if seen is not None and _same((seen.tile, seen.rot), (tile, (rot + turn) % 4)):
            right.append(seen)
        else:
            wrong.append({"at": list(at), "tile": tile, "read": None if seen is None else seen.tile})
    figures = [(f.colour, f.at, f.feature) for f in reading.figures]
    missed: list[MissedFigure] = [
        {"at": list(at), "player": p, "feature": feature} for p, at, feature, _ in wanted.figures
        if (colours[p], there[at], feature) not in figures]
    return {"tiles": {"wanted": len(wanted.tiles), "right": len(right), "wrong": wrong},
            "figures": {"wanted": len(wanted.figures), "right": len(wanted.figures) - len(missed), "wrong": missed},
            "sure": round(min((t.confidence for t in right), default=0.0), 3),
            "extra": len(read.keys() - set(there.values()))}


def _moved(at: Square, turn: int, dx: int, dy: int) -> Square:
    x, y = at
    for _ in range(turn):
        x, y = -y, x
    return x + dx, y + dy


def _same(a: tuple[str, int], b: tuple[str, int]) -> bool:
    """Equal, or equivalent by the rules."""
    return catalogue()[a[0]].signature(a[1]) == catalogue()[b[0]].signature(b[1])


def _placed(read: Mapping[Square, tuple[str, int]], wanted: Mapping[Square, tuple[str, int]]
            ) -> tuple[int, Square]:
    """The quarter turns and the shift that align the largest number of expected tiles with the reading."""
    best, found = -1.0, (0, (0, 0))
    for turn in range(4):
        shifts = {(x - p, y - q) for x, y in read for p, q in (_moved(at, turn, 0, 0) for at in wanted)}
        for dx, dy in shifts:
            here = {_moved(at, turn, dx, dy): (tile, (rot + turn) % 4) for at, (tile, rot) in wanted.items()}
            score = sum(_same(read[at], one) for at, one in here.items() if at in read) + 0.01 * len(here.keys() & read)
            if score > best:
                best, found = score, (turn, (dx, dy))
    return found


def self_test(picture: Image, lens: LensResult, reader: PhotoReader, wanted: Layout,
              colours: tuple[str, ...]) -> Tested:
    """Read one raw picture (BGR) of a layout and compare it."""
    view = View(size=(picture.shape[1], picture.shape[0]), matrix=lens.matrix, distortion=np.array(lens.distortion))
    reading = reader.read(picture, colours=colours, view=view)
    aim = look(picture, lens, reader=reader)
    return {**held_against(reading, wanted, colours), "seconds": round(sum(reading.seconds.values()), 1),
            "advice": [a.to_json() for a in aim.advice]}
