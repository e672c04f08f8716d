"""The wheel board: four by four squares that lie there instead of a start tile (R-SETUP-07, R-WHEEL-01, A-33).

Twelve squares form the rim: their outer edges are what a land tile must match, and their land belongs to features and
is scored like that of tiles. The four in the middle are the wheel itself.
"""

from __future__ import annotations

from scoring.events import StartTile
from scoring.tiles import Segment, Square, Tile, where_of

BOARD = "wheel.board"
SIZE = 4
_EDGE = {"N": (50.0, 12.0), "E": (88.0, 50.0), "S": (50.0, 88.0), "W": (12.0, 50.0)}

# column, row -> edges N E S W, then its segments: kind, atoms, and for a field the numbers of the cities it borders.
# The grass is a ring that three roads cut into three fields; it runs on over the edges between the squares.
RIM: dict[Square, tuple[str, tuple[tuple[str, str, tuple[int, ...]], ...]]] = {
    (0, 0): ("CFFC", (("city", "N W", ()), ("field", "EL ER SL SR", (0,)))),
    (1, 0): ("FFFF", (("field", "NL NR EL ER WL WR", ()),)),
    (2, 0): ("RFFF", (("road", "N", ()), ("field", "NL WL WR", ()), ("field", "NR EL ER", ()))),
    (3, 0): ("FCFF", (("city", "E", ()), ("field", "NL NR SL SR WL WR", (0,)))),
    (3, 1): ("FFFF", (("field", "NL NR EL ER SL SR", ()),)),
    (3, 2): ("FRFF", (("road", "E", ()), ("field", "NL NR EL", ()), ("field", "ER SL SR", ()))),
    (3, 3): ("FFFF", (("field", "NL NR EL ER SL SR WL WR", ()),)),
    (2, 3): ("FFFF", (("field", "EL ER SL SR WL WR", ()),)),
    (1, 3): ("FFCF", (("city", "S", ()), ("field", "EL ER WL WR", (0,)))),
    (0, 3): ("FFFR", (("road", "W", ()), ("field", "EL ER SL SR WL", ()), ("field", "NL NR WR", ()))),
    (0, 2): ("FFFF", (("field", "NL NR SL SR WL WR", ()),)),
    (0, 1): ("FFFF", (("field", "NL NR SL SR WL WR", ()),)),
}
CENTRE = tuple((x, y) for y in (1, 2) for x in (1, 2))


def _tile(square: Square, edges: str, parts: tuple[tuple[str, str, tuple[int, ...]], ...]) -> Tile:
    segments = tuple(
        Segment(kind=kind, atoms=tuple(where_of(atoms.split()).split()), cities=cities,
                spot=_EDGE[atoms[0]] if kind != "field" else (50.0, 50.0))
        for kind, atoms, cities in parts)
    return Tile(id=f"{BOARD}.{square[0]}{square[1]}", product="wheel", name=f"wheel board {square[0]},{square[1]}",
                count=0, edges=edges, segments=segments)


TILES = (
    *(_tile(square, edges, parts) for square, (edges, parts) in RIM.items()),
    *(_tile(square, "FFFF", ()) for square in CENTRE),
    Tile(id=BOARD, product="wheel", name="wheel board", count=0, edges="FFFF", segments=()),
)
ON_BOARD = frozenset(s for t in TILES for s in t.segments)  # they have no drawing, as those of tiles have


def lay_board(start: StartTile) -> tuple[StartTile, ...]:
    """The sixteen squares of the board, its corner at the start's square; nothing for another start tile."""
    if start.tile != BOARD:
        return ()
    x, y = start.at
    out = []
    for square in (*RIM, *CENTRE):
        dx, dy = square
        for _ in range(start.rot):
            dx, dy = SIZE - 1 - dy, dx
        out.append(StartTile(tile=f"{BOARD}.{square[0]}{square[1]}", at=(x + dx, y + dy), rot=start.rot))
    return tuple(out)
