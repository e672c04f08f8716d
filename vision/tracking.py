"""Assembles a tracker from its parts: the board finder, the senses and the figure reader."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial

import numpy as np

from scoring.tiles import Square, Tile
from vision.astray import found_astray
from vision.beside import BesideSense
from vision.board_search import BoardSearch
from vision.dial import DialPiece
from vision.figures import Seen, find_figures
from vision.find import BoardFinder
from vision.frames import Image
from vision.lattice import Array, Lattice, apply
from vision.neutral import Kind, Neutrals
from vision.occupancy import hidden_by
from vision.paint import PAINTS
from vision.senses import TileSense
from vision.sizes import measured
from vision.stacks import Kind as BlockKind
from vision.stacks import Stacks
from vision.start_board import StartBoard, StartBoardFinder, StartSquares
from vision.tile_background import TileBackground
from vision.tileset import TileSet
from vision.tracker import Tracker
from vision.view import View

SURELY = 0.85  # mean probability of a board's tiles from which it is accepted at the start; else people are asked
MAYBE = -5.0  # log-odds of a figure from which what it covers is no background
AROUND = (0.12, 0.2, 0.35, 0.6)  # of the picture's long side: sizes of the area searched around a point


def make_tracker(kinds: Sequence[Tile], tiles: TileSet | None, colours: Sequence[str], view: View | None,
                 neutrals: Sequence[Kind] = (), stacks: Sequence[BlockKind] = (), *,
                 again: Callable[[], TileSet] | None = None,
                 start: Mapping[Square, tuple[str, int]] | None = None, dial: DialPiece | None = None,
                 sized: bool = False, beside: bool = False) -> Tracker:
    """A tracker for a table with these kinds of tiles, figures of these colours, neutral pieces, and blocks. ``again``
    returns the pictures of ``tiles`` once more if they are needed; ``start`` are the tile and the quarter turns of
    every square of a start board of several squares, on which ``dial`` finds a piece. With ``sized`` figures are
    measured: players have pieces that differ in size. With ``beside`` figures beside the board are looked for."""
    finder = BoardFinder(tiles, again=again)
    edges = {kind.id: kind.edges for kind in kinds}
    whole = StartBoardFinder(StartBoard({at: edges[tile][-rot % 4:] + edges[tile][:-rot % 4]
                                         for at, (tile, rot) in start.items()})) if start else None
    paints = {**PAINTS, **(view.paints if view is not None else {})}
    known = [c for c in colours if c in paints]  # an unknown paint cannot be detected

    others = Neutrals(neutrals, known, view, others=[paint for kind in stacks for paint in kind.paints])
    background = TileBackground()
    stand: dict[Square, tuple[Seen, ...]] = {}  # what was last seen on each tile

    def find(bgr: Image) -> Lattice | None:
        if whole is not None:
            tiles = cache(lambda: finder.find(bgr))
            lattice = whole.find(bgr, lambda: lying.lattice if (lying := tiles()) is not None else None)
            if lattice is not None:
                return lattice
            found = tiles()
        else:
            found = finder.find(bgr)
        if found is None or float(np.mean(list(found.present.values()))) < SURELY:
            return None
        return found.lattice

    def find_at(bgr: Image, point: tuple[float, float]) -> Lattice | None:
        """Search in increasingly large parts of the picture around the point, where there is less to compete with the
        tile."""
        for part in AROUND:
            half = part * max(bgr.shape[:2]) / 2
            x0, y0 = (max(0, round(v - half)) for v in point)
            found = finder.find(np.ascontiguousarray(bgr[y0:round(point[1] + half), x0:round(point[0] + half)]))
            away = np.array([[1, 0, x0], [0, 1, y0], [0, 0, 1.0]])
            if found is not None and any(_on(away @ pose, point) for pose in found.poses.values()):
                return Lattice(grid=away @ found.lattice.grid, shifts=dict(found.lattice.shifts))
        return None

    def figures(bgr: Image, poses: Mapping[Square, Array], lattice: Lattice) -> Mapping[Square, tuple[Seen, ...]]:
        board = {at: lattice.pose(at, shift) for at, shift in lattice.shifts.items()}
        background.keep(board.keys())
        bare = background.bare()
        found = find_figures(bgr, poses, colours=[*known, *others.paints], view=view, bare=bare, board=board,
                             pieces={paint for kind in others.kinds for paint in kind.paints})
        if sized:
            found = measured(bgr, poses, found, board, view)
        told = others.told(bgr, poses, found, board, bare)
        for at in stand.keys() - board.keys():
            del stand[at]
        stand.update(told)
        background.update(bgr, poses, hidden_by(stand, MAYBE))
        return told

    sense = TileSense(kinds, tiles)
    return Tracker(sense, BoardSearch(find, find_at), figures, start=StartSquares(start or {}), dial=dial,
                   astray=partial(found_astray, sense), stacks=Stacks(stacks, view) if stacks else None,
                   beside=BesideSense(known, view.paints if view is not None else {}) if beside else None)


def _on(pose: Array, point: tuple[float, float]) -> bool:
    """Whether a point of the picture lies on a tile, or just beside it."""
    step = apply(np.linalg.inv(pose), [point])[0]
    return bool((np.abs(step - 0.5) < 0.65).all())
