"""A table with piles of blocks, for the tests of them."""

from __future__ import annotations

import math
from dataclasses import replace

from tables import Table, figure, look

from scoring.events import Player, Setup
from scoring.rules import edition
from scoring.tiles import Square
from vision.looks import StackLook, TableLook

SETUP = Setup(expansions=("base", "tower"), rules=edition(),
              players=(Player(name="Anna", colour="red"), Player(name="Ben", colour="blue")))
SOUTH, WEST, EAST, FAR = (0, 1), (-1, 0), (1, 0), (-2, 0)
FLOOR = (0.03, -0.02)  # tiles: 2.9 px of 80 a tile
SMALL = (0.004, 0.0)  # by which a block displaces the top right below the camera: less than the noise


def top(height: int, *, floor: tuple[float, float] = FLOOR, off: tuple[float, float] = (0.0, 0.0), yaw: float = 0.4,
        there: float = 6.0) -> StackLook:
    """A pile of that height as a look shows it; the heights' own likelihoods are not used to count."""
    if height == 0:
        return StackLook(there=min(there, -there), top=(0.45, 0.55), yaw=0.0, floor=floor, heights=(0.0,))
    at = 0.5 + height * floor[0] + off[0], 0.5 + height * floor[1] + off[1]
    return StackLook(there=there, top=at, yaw=yaw, floor=floor, heights=(-6.0, 0.0))


class PilesTable(Table):
    """A table with ``piles`` of blocks, and squares that are ``hidden``; in each look something has moved over all of
    them for ``touched_s``; ``doubts`` are as in `tables.look`."""

    def __init__(self, setup: Setup = SETUP) -> None:
        super().__init__(setup)
        self.piles: dict[Square, StackLook] = {}
        self.hidden: tuple[Square, ...] = ()
        self.doubts: dict[Square, dict[tuple[str, int], float]] = {}
        self.touched_s = math.nan
        self.sees()

    def look(self) -> TableLook:
        seen = look(self.t_s, self.tiles, self.figures, hidden=self.hidden, doubts=self.doubts)
        return replace(seen, squares={
            at: replace(s, stacks={"tower": self.piles[at]} if at in self.piles else {}, touched_s=self.touched_s)
            for at, s in seen.squares.items()})


def with_a_tower() -> PilesTable:
    """Anna has then raised it by a block, in the turn of a tile in the east."""
    made = with_a_foundation()
    made.lays(EAST, "base.U", 0)
    made.piles[SOUTH] = top(1)
    made.sees()
    return made


def raised_again(table: PilesTable, second: StackLook) -> None:
    """Anna raises her tower, Ben lays a tile, and the next looks will show ``second``."""
    table.lays(EAST, "base.U", 0)
    table.piles[SOUTH] = top(1)
    table.sees()
    table.lays(FAR, "base.U", 0)
    table.piles[SOUTH] = second


def hardly_raised(table: PilesTable) -> None:
    """Anna raises her tower, Ben lays a tile, and one look has the top where one block more need not be."""
    raised_again(table, top(1, off=(0.65 * FLOOR[0], 0.65 * FLOOR[1])))
    table.sees(1, 1.2)


def with_a_foundation() -> PilesTable:
    """Anna has laid a tile with a foundation in the south, Ben a road with a thief in the west."""
    made = PilesTable()
    made.piles[SOUTH] = top(0)
    made.lays(SOUTH, "tower.02", 0)
    made.figures[WEST] = (figure("base.U", 0, "road", "E W", "blue"),)
    made.lays(WEST, "base.U", 0)
    return made


def below_the_camera() -> PilesTable:
    """A pile of one right below the camera, and Ben's monk on the cloister beside it."""
    made = with_a_foundation()
    made.lays(EAST, "base.U", 0)
    made.tiles[(1, 1)] = ("base.B", 0)
    made.figures[(1, 1)] = (figure("base.B", 0, "cloister", "I", "blue"),)
    made.piles[SOUTH] = top(1, floor=SMALL)
    made.sees()
    made.lays(FAR, "base.U", 0)
    return made
