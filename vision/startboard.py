"""A start board of several squares (the wheel's, R-SETUP-07), of which nobody has a picture: found like a lone tile, by
its outline and our own drawing of it, and then every square of it lies where the board says."""

from __future__ import annotations

import cv2
import numpy as np

from scoring.state import GameState
from scoring.tiles import Square, catalogue
from vision.finding import BoardFinder
from vision.frames import Image
from vision.lattice import Lattice
from vision.lone import find_lone_tile
from vision.placements import PlacementReader
from vision.tiles import TileMatcher
from vision.tileset import Specimen, TileSet

_SQUARE_PX = 48
_KIND = "board"
_GRASS, _ROOFS, _DUST, _DISC = (70, 150, 110), (60, 90, 150), (215, 225, 230), (190, 200, 205)  # BGR
_TOWN, _ROAD = 0.42, 0.8  # of a square: a town's reach from its edge, of the way to the middle: a road's end
_EDGES = {"N": np.array([0.5, 0.0]), "E": np.array([1.0, 0.5]), "S": np.array([0.5, 1.0]), "W": np.array([0.0, 0.5])}


def board_finder(tileset: TileSet, reader: PlacementReader, start_tile: str) -> BoardFinder:
    """Whatever finds a board that begins with this tile, which may be a square of a start board. Raises TileSetError
    for a tile of which the set has no picture."""
    if start_tile in catalogue():
        return BoardFinder(tileset, reader, start_tile)
    return StartBoardFinder(tileset, reader)


class StartBoardFinder(BoardFinder):
    """Finds the lattice by a start board of several squares. Its print is never known."""

    def __init__(self, tileset: TileSet, reader: PlacementReader) -> None:
        self._reader, self._tileset, self._every = reader, tileset, None
        self._drawn: tuple[tuple[Square, ...], TileMatcher] | None = None

    def find(self, bgr: Image, state: GameState) -> Lattice | None:
        """The board in one frame, or None. Beside other tiles it is no square any more: then the tiles of which
        something was learned must tell."""
        squares = tuple(sorted(at for at, placed in state.tiles.items() if placed.tile not in catalogue()))
        if not squares:
            return None
        if len(state.tiles) > len(squares) and (again := super().find_again(bgr, state)) is not None:
            return again
        if self._drawn is None or self._drawn[0] != squares:
            self._drawn = squares, _drawing(squares, state)
        left, top, side = squares[0][0], squares[0][1], round(len(squares) ** 0.5)
        lone = find_lone_tile(bgr, self._drawn[1], _KIND, side=side)
        if lone is None:
            return None
        self._reader.foreign = True
        steps = np.array([[1 / side, 0, -left / side], [0, 1 / side, -top / side], [0, 0, 1.0]])
        lattice = Lattice(grid=lone.pose @ steps, shifts=dict.fromkeys(squares, (0.0, 0.0, 0.0)))
        rest = {at: p for at, p in state.tiles.items() if at not in lattice.shifts}
        if rest:
            self._adopt(bgr, state, lattice, squares[0], rest)
        return lattice

    def find_again(self, bgr: Image, state: GameState) -> Lattice | None:
        """The board of a game that goes on."""
        return self.find(bgr, state)


def _drawing(squares: tuple[Square, ...], state: GameState) -> TileMatcher:
    """Our own drawing of the whole board as it lies in the grid: grass, the towns and roads at its rim, and a disc
    where the wheel is."""
    (left, top), side = squares[0], round(len(squares) ** 0.5)
    px = _SQUARE_PX
    whole = np.full((side * px, side * px, 3), _GRASS, np.uint8)
    cv2.circle(whole, (side * px // 2, side * px // 2), px, _DISC, -1, cv2.LINE_AA)
    for x, y in squares:
        placed = state.tiles[x, y]
        square = np.full((px, px, 3), _GRASS, np.uint8)
        segments = state.box.tile(placed.tile).segments
        for segment in segments:
            for atom in segment.atoms if segment.kind in ("city", "road") else ():
                middle = _EDGES[atom[0]] * px
                if segment.kind == "city":
                    cv2.circle(square, middle.astype(int), round(_TOWN * px), _ROOFS, -1, cv2.LINE_AA)
                else:
                    inwards = middle + (px / 2 - middle) * _ROAD
                    cv2.line(square, middle.astype(int), inwards.astype(int), _DUST, px // 8, cv2.LINE_AA)
        if segments:
            row, column = (y - top) * px, (x - left) * px
            whole[row:row + px, column:column + px] = np.rot90(square, -placed.rot)
    picture = Specimen(tile=_KIND, bgr=whole, drawn=True)
    return TileMatcher(TileSet(name="drawn", size_px=len(whole), specimens=(picture,)), 2 * px)
