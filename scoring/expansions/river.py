"""The River: placed first, ends in the lake, separates fields, and makes no U-turn (R-RIVER-01 to R-RIVER-09)."""

from __future__ import annotations

from collections.abc import Sequence

from scoring.contributions import Expansion, Kind, Problem, Start, View
from scoring.events import StartTile
from scoring.tiles import EDGES, OPPOSITE, Square, Tile, edge, neighbour, product

SPRING = "river.01"
WATER = "I"  # letter of a river edge


def may_bend(bends: Sequence[str], window: str) -> bool:
    """Whether the last of these bends (``L``, ``R``, ``S`` for straight) may follow the others (R-RIVER-05, A-05)."""
    if not bends or bends[-1] == "S":
        return True
    before = bends[-2:-1] if window == "consecutive_tiles" else [b for b in bends[:-1] if b != "S"][-1:]
    return list(before) != [bends[-1]]


def bend(came_from: str, goes_to: str) -> str:
    """The bend of the river on a tile that it enters through one side and leaves through another."""
    turned = (EDGES.index(goes_to) - EDGES.index(came_from)) % 4
    return {1: "L", 2: "S", 3: "R"}[turned]


def mouths(tile: Tile, rot: int) -> list[str]:
    """The sides with a river edge."""
    return [side for side in EDGES if edge(tile, rot, side) == WATER]


def course(view: View, at: Square, tile: Tile, rot: int) -> list[str] | None:
    """The bends of the river from its spring up to this tile, or None when the tile does not continue it."""
    sides = mouths(tile, rot)
    back = [s for s in sides if _flows(view, neighbour(at, s), OPPOSITE[s])]
    if len(back) != 1:
        return None
    bends: list[str] = []
    into, seen = back[0], {at}
    while True:
        out = [s for s in sides if s != into]
        if out:
            bends.append(bend(into, out[0]))
        at = neighbour(at, into)
        if at in seen or at not in view.tiles:
            break
        seen.add(at)
        placed = view.tiles[at]
        left_by = OPPOSITE[into]
        sides = mouths(view.box.tile(placed.tile), placed.rot)
        upstream = [s for s in sides if s != left_by]
        if not upstream:
            break
        into = upstream[0]
    return bends[::-1]


def _flows(view: View, at: Square, side: str) -> bool:
    placed = view.tiles.get(at)
    return placed is not None and edge(view.box.tile(placed.tile), placed.rot, side) == WATER


def continues(view: View, tile: Tile, at: Square, rot: int) -> Problem | None:
    """R-RIVER-04, R-RIVER-05: a river tile continues the river and does not turn the same way twice."""
    if WATER not in tile.edges or at in view.tiles:
        return None
    bends = course(view, at, tile, rot)
    if bends is None:
        return Problem(code="river_cut", text=f"The river does not flow on to the tile on {at[0]},{at[1]}.")
    if not may_bend(bends, view.box.rules.word("river_turn_window")):
        return Problem(code="river_bend", text=f"The river on {at[0]},{at[1]} bends the same way twice.")
    return None


def in_order(view: View, tile: Tile, at: Square, rot: int) -> Problem | None:
    """R-RIVER-03, R-RIVER-04: the river's tiles before all others, the lake last."""
    water = [t for t in product("river").tiles if t.id != tile.id and view.left.get(t.id, 0) > 0]
    waits = tile.product != "river" or tile.edges.count(WATER) == 1
    if not (water and waits):
        return None
    return Problem(code="river_first", text=f"{tile.id} was laid before the river was finished.")


RIVER = Expansion(
    name="river",
    products=("river",),
    kinds=(Kind(name="river", closes="never", claimable=False),),
    placing=(continues, in_order),
    starts=(Start(value="river", tile=StartTile(tile=SPRING), takes_over=True),),
    options=("river_turn_rule", "river_turn_window"),
    cues={"river": "a lake ends the river; a bend may be misread as its mirror image"},
)
