"""Where the board lies: the start tile anywhere in the picture, then every tile that the game says lies already."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from scoring.state import GameState
from scoring.tiles import Square
from vision.frames import Image
from vision.keypoints import Sighting, SightingFinder
from vision.lattice import Array, Lattice, apply
from vision.lone import find_lone_tile
from vision.placements import FLOOR, PLAIN, PlacementReader
from vision.tiles import TileMatcher
from vision.tileset import TileSet, drawn_tileset

_LIKE = 0.05  # correlation by which a known tile may be worse than the best picture on its square
_NEAR = 0.25  # of a tile: how far the middle of a sighting may lie from its square's
_SHOWN = 0.5  # part of a game's tiles that must be seen where the board is believed to lie
_ROUNDS = 3
_TURN = np.array([[0.0, 1, 0], [-1, 0, 0], [0, 0, 1]])
_MIDDLE = np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0, 1.0]])


def turned(upright: Array, rot: int) -> Array:
    """The pose of a square on which a tile with this upright pose lies turned by ``rot``."""
    return upright @ _MIDDLE @ np.linalg.matrix_power(_TURN, rot) @ np.linalg.inv(_MIDDLE)


def squared(pose: Array) -> Array:
    """The square of a pose's place, size and direction. A few keypoints on a small tile tell these well and its slant
    badly, and a lattice that begins with a slant misses the neighbours."""
    u, _, v = np.linalg.svd(pose[:2, :2])
    size = float(np.sqrt(abs(np.linalg.det(pose[:2, :2]))))
    out = pose.copy()
    out[:2, :2] = size * (u @ v)
    out[:2, 2] += (pose[:2, :2] - out[:2, :2]) @ np.array([0.5, 0.5])
    return out


def _step_back(at: Square) -> Array:
    """From a square's own pose to the lattice's."""
    return np.array([[1, 0, -at[0]], [0, 1, -at[1]], [0, 0, 1.0]])


class BoardFinder:
    """Finds the lattice by the taught picture of the start tile, and adopts the tiles of a game that goes on.

    A start tile that is too small or too bent for keypoints, or of which only our own drawing is known, is found lying
    alone, in whatever paint.
    """

    def __init__(self, tileset: TileSet, reader: PlacementReader, start_tile: str) -> None:
        start = tileset.only([start_tile])
        self._finder = SightingFinder(start)
        self._lone, self._drawn = TileMatcher(start, 48), start.drawn
        self._drawing = self._lone if start.drawn else TileMatcher(drawn_tileset([start_tile]), 48)
        self._start_tile = start_tile
        self._reader = reader
        self._start = reader.ids.index(start_tile)
        self._tileset = tileset
        self._every: SightingFinder | None = None

    def find(self, bgr: Image, state: GameState) -> Lattice | None:
        """The board in one frame, or None. ``state`` names the start tile's square and rotation, and what else lies."""
        if len(state.tiles) > 2 and (again := self.find_again(bgr, state)) is not None:
            return again
        at, placed = next(iter(state.tiles.items()))
        poses: list[Array] = []
        for sighting in self._finder.find(bgr)[:5]:
            upright = np.vstack([sighting.pose, [0, 0, 1.0]])
            poses += [upright, squared(upright)]
        found, like = self._start_at(bgr, poses, at, placed.rot)
        if len(state.tiles) > 1:
            if found is not None:
                self._adopt(bgr, state, found, at)
            return found
        if like < PLAIN and (lone := find_lone_tile(bgr, self._lone, self._start_tile)) is not None:
            again, better = self._start_at(bgr, [lone.pose], at, placed.rot)
            if better > max(like, PLAIN if self._drawn else -1.0):
                found = again
        if found is not None:
            return found
        # also where its kind is taught: copies differ in their drawing, and this may be another edition
        if (lone := find_lone_tile(bgr, self._drawing, self._start_tile)) is None:
            return None
        self._reader.foreign = True
        return Lattice(grid=turned(lone.pose, placed.rot) @ _step_back(at), shifts={at: (0.0, 0.0, 0.0)})

    def _start_at(self, bgr: Image, uprights: list[Array], at: Square, rot: int) -> tuple[Lattice | None, float]:
        """The lattice by which the taught start tile is seen best, if it really lies about one of these poses (as it
        lies at ``rot`` 0), and how well its picture agrees there."""
        best: tuple[Lattice | None, float] = None, -1.0
        for upright in uprights:
            settled = self._reader.settler.settle(bgr, turned(upright, rot))
            own = float(settled.scores[self._start, rot])
            for _ in range(_ROUNDS):  # each may pull the pose a little further into place
                again = self._reader.settler.settle(bgr, settled.pose)
                if again.scores[self._start, rot] <= own:
                    break
                settled, own = again, float(again.scores[self._start, rot])
            if own > best[1] and own >= max(FLOOR + 0.1, settled.best - 0.03):
                best = Lattice(grid=settled.pose @ _step_back(at), shifts={at: (0.0, 0.0, 0.0)}), own
        return best

    def find_again(self, bgr: Image, state: GameState) -> Lattice | None:
        """The board of a game that goes on, by whichever of its tiles are seen: the start tile may be hidden, and
        other tiles of its kind may lie."""
        if self._every is None:
            self._every = SightingFinder(self._tileset)
        sightings = self._every.find(bgr)
        best: tuple[int, Array, Square] | None = None
        for sighting in sightings[:12]:
            for at, placed in state.tiles.items():
                if placed.tile != sighting.tile:
                    continue
                pose = turned(np.vstack([sighting.pose, [0, 0, 1.0]]), placed.rot)
                grid = pose @ _step_back(at)
                count = self._agree(grid, sightings, state)
                if best is None or count > best[0]:
                    best = count, grid, at
        if best is None or best[0] < 2:
            return None
        _, grid, at = best
        settled = self._reader.settler.settle(bgr, Lattice(grid=grid, shifts={}).pose(at, (0.0, 0.0, 0.0)))
        lattice = Lattice(grid=settled.pose @ _step_back(at), shifts={at: (0.0, 0.0, 0.0)})
        shown = 1 + self._adopt(bgr, state, lattice, at)
        return lattice if shown >= _SHOWN * len(state.tiles) else None

    def _agree(self, grid: Array, sightings: list[Sighting], state: GameState) -> int:
        """How many sightings show the tile that lies there in the game, turned as it is turned there."""
        back = np.linalg.inv(grid)
        count = 0
        for s in sightings:
            upright = np.vstack([s.pose, [0, 0, 1.0]])
            centre = apply(back, [s.centre])[0]
            at = (int(np.floor(centre[0])), int(np.floor(centre[1])))
            placed = state.tiles.get(at)
            if placed is None or placed.tile != s.tile or np.abs(centre - np.array(at) - 0.5).max() > _NEAR:
                continue
            corner = apply(back, apply(turned(upright, placed.rot), [[0.0, 0.0]]))[0]
            count += bool(np.abs(corner - np.array(at)).max() < 2 * _NEAR)
        return count

    def _adopt(self, bgr: Image, state: GameState, lattice: Lattice, start: tuple[int, int],
               rest: Iterable[Square] | None = None) -> int:
        """Poses of the tiles that lie already (``rest``: all but the start), from the start tile outwards: each is
        predicted by its neighbours. How many of them are seen there.

        A tile that cannot be seen well (under a hand, a figure) keeps its prediction.
        """
        seen = 0
        def steps(at: tuple[int, int]) -> int:
            return abs(at[0] - start[0]) + abs(at[1] - start[1])

        for at in sorted(state.tiles.keys() - {start} if rest is None else rest, key=steps):
            pose: Array = lattice.predict(at)
            placed = state.tiles[at]
            if placed.tile in self._reader.ids:
                settled = self._reader.settler.settle(bgr, pose)
                own = settled.scores[self._reader.ids.index(placed.tile), placed.rot]
                if own > max(FLOOR, settled.best - _LIKE):
                    pose = settled.pose
                    seen += 1
            lattice.shifts[at] = lattice.shift_of(at, pose)
        return seen
