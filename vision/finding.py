"""Where the board lies: the start tile anywhere in the picture, then every tile that the game says lies already."""

from __future__ import annotations

import numpy as np

from scoring.state import GameState
from vision.frames import Image
from vision.keypoints import SightingFinder
from vision.lattice import Array, Lattice
from vision.lone import find_lone_tile
from vision.placements import FLOOR, PlacementReader
from vision.tiles import TileMatcher
from vision.tileset import TileSet

_LIKE = 0.05  # correlation by which a known tile may be worse than the best picture on its square
_TURN = np.array([[0.0, 1, 0], [-1, 0, 0], [0, 0, 1]])
_MIDDLE = np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0, 1.0]])


def turned(upright: Array, rot: int) -> Array:
    """The pose of a square on which a tile with this upright pose lies turned by ``rot``."""
    return upright @ _MIDDLE @ np.linalg.matrix_power(_TURN, rot) @ np.linalg.inv(_MIDDLE)


class BoardFinder:
    """Finds the lattice by the taught picture of the start tile, and adopts the tiles of a game that goes on.

    Where only our own drawing of it is known, the start tile is found lying alone, in whatever paint.
    """

    def __init__(self, tileset: TileSet, reader: PlacementReader, start_tile: str) -> None:
        start = tileset.only([start_tile])
        self._finder = SightingFinder(start)
        self._lone = TileMatcher(start, 48) if start.drawn else None
        self._start_tile = start_tile
        self._reader = reader
        self._start = reader.ids.index(start_tile)

    def find(self, bgr: Image, state: GameState) -> Lattice | None:
        """The board in one frame, or None. ``state`` names the start tile's square and rotation, and what else lies."""
        at, placed = next(iter(state.tiles.items()))
        for sighting in self._finder.find(bgr)[:5]:
            upright = np.vstack([sighting.pose, [0, 0, 1.0]])
            pose = turned(upright, placed.rot)
            settled = self._reader.settler.settle(bgr, pose)
            if settled.scores[self._start, placed.rot] < max(FLOOR + 0.1, settled.best - 0.03):
                continue
            step_back = np.array([[1, 0, -at[0]], [0, 1, -at[1]], [0, 0, 1.0]])
            lattice = Lattice(grid=settled.pose @ step_back, shifts={at: (0.0, 0.0, 0.0)})
            self._adopt(bgr, state, lattice, at)
            return lattice
        if self._lone is not None and len(state.tiles) == 1:
            found = find_lone_tile(bgr, self._lone, self._start_tile)
            if found is not None:
                step_back = np.array([[1, 0, -at[0]], [0, 1, -at[1]], [0, 0, 1.0]])
                return Lattice(grid=turned(found.pose, placed.rot) @ step_back, shifts={at: (0.0, 0.0, 0.0)})
        return None

    def _adopt(self, bgr: Image, state: GameState, lattice: Lattice, start: tuple[int, int]) -> None:
        """Poses of the tiles that lie already, from the start tile outwards: each is predicted by its neighbours.

        A tile that cannot be seen well (under a hand, a figure) keeps its prediction.
        """
        def steps(at: tuple[int, int]) -> int:
            return abs(at[0] - start[0]) + abs(at[1] - start[1])

        for at in sorted(state.tiles.keys() - {start}, key=steps):
            pose: Array = lattice.predict(at)
            placed = state.tiles[at]
            if placed.tile in self._reader.ids:
                settled = self._reader.settler.settle(bgr, pose)
                own = settled.scores[self._reader.ids.index(placed.tile), placed.rot]
                if own > max(FLOOR, settled.best - _LIKE):
                    pose = settled.pose
            lattice.shifts[at] = lattice.shift_of(at, pose)
