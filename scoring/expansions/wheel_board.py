"""The wheel board: 4 x 4 squares that replace the start tile (R-SETUP-07, R-WHEEL-01, A-33).

Twelve squares form the rim: land tiles must match their outer edges, and their land belongs to features and is scored
like that of tiles. The four in the middle are the wheel itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypedDict

from scoring.appearance import appearance
from scoring.contributions import Dial, Shape, View
from scoring.events import Event, StartTile
from scoring.tiles import Segment, Square, Tile, where_of

BOARD = "wheel.board"
SIZE = 4
WHEEL_REACH = 1.4  # radius of the wheel in tiles: its rim is where the roads of the board end (estimated)
_EDGE = {"N": (50.0, 12.0), "E": (88.0, 50.0), "S": (50.0, 88.0), "W": (12.0, 50.0)}

# column, row -> edges N E S W, then its segments: kind, atoms, and for a field the indices of the cities it borders.
# The grass is a ring that three roads divide into three fields; it continues across the edges between the squares.
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
_MIDDLE = frozenset(f"{BOARD}.{x}{y}" for x, y in CENTRE)
ON_BOARD = frozenset(s for t in TILES for s in t.segments)  # segments without a drawing, unlike those of tiles


def lay_board(start: StartTile) -> tuple[StartTile, ...]:
    """The sixteen squares of the board, its corner at the start's square; empty for another start tile."""
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


def turns_wheel(tile: Tile) -> bool:
    """Whether a tile has the wheel symbol."""
    return "wheel_icon" in tile.flags


def dial(segments: tuple[str, ...], crowns: Mapping[str, int], at: Callable[[View], str],
         ways: Callable[[View], Iterable[Event]], claim: Callable[[int, str, str], Event]) -> Dial:
    """The wheel as the camera sees it. The pig was measured with a caliper; the wheel's size and where its segments lie
    are from pictures of the board."""
    return Dial(name="pig", wood_mm=(22.1, 11.2, 8.0), paints=("pink",), board=frozenset(t.id for t in TILES),
                reach=WHEEL_REACH, sections=segments, first_deg=90.0, spaces=crowns, feature="crown", at=at,
                moves=turns_wheel, ways=ways, awaited="wheel_not_turned", claim=claim)


_COLOURS = ("#f4d35e", "#c9a46a", "#c47f3d", "#7ea8c9", "#a3445a", "#6f8f5a")  # of the segments, clockwise
_INK = "#2a2018"


class Crown(TypedDict):
    """A segment of the wheel with its number of crown spaces, and the players with followers there."""

    segment: str
    spaces: int
    players: list[int]


class Turned(TypedDict):
    """The wheel, and the segment with the pig."""

    pig: str
    segments: list[str]
    crowns: list[Crown]


class Shown(TypedDict):
    """The wheel of fortune."""

    wheel: Turned


def draw_wheel(view: View, pig: str, crowns: Sequence[tuple[str, Sequence[int | None]]]) -> Iterator[Shape]:
    """The segments clockwise from the top, the pig on one of them, and the followers on the crown spaces."""
    squares = [at for at, placed in view.tiles.items() if placed.tile in _MIDDLE]
    if not squares:
        return
    cx, cy = (100 * (sum(at[axis] for at in squares) / len(squares) + 0.5) for axis in (0, 1))

    def spot(n: float, r: float) -> tuple[float, float]:
        angle = n * math.tau / len(crowns)
        return round(cx + math.sin(angle) * r, 2), round(cy - math.cos(angle) * r, 2)

    def box(n: float, r: float, half: float, scale: float) -> dict[str, str | float]:
        x, y = spot(n, r)
        return {"transform": f"translate({round(x - half, 2)} {round(y - half, 2)}) scale({scale})"}

    inside: list[Shape] = []
    for n, ((segment, spaces), colour) in enumerate(zip(crowns, _COLOURS, strict=True)):
        (x0, y0), (x1, y1), (x, y) = spot(n - 0.5, 97), spot(n + 0.5, 97), spot(n, 76)
        inside.append({"tag": "path", "look": {"d": f"M{cx} {cy}L{x0} {y0}A97 97 0 0 1 {x1} {y1}Z", "fill": colour,
                                               "stroke": _INK, "stroke-width": 2}})
        if abs(x - cx) > 1 and y > cy:  # below the middle, a long word has room beside it
            x, y = spot(n - math.copysign(0.33, x - cx), 64)
        inside.append({"tag": "text", "look": {"x": x, "y": y + 4, "class": "piece-name"},
                       "says": {"key": f"segment.{segment}"}})
        for k, player in enumerate(spaces):
            at = n + (k - 0.5) * 0.4 if len(spaces) > 1 else n
            if player is None:
                x, y = spot(at, 52)
                inside.append({"tag": "circle", "look": {"cx": x, "cy": y, "r": 8, "fill": "rgb(255 255 255 / 0.55)",
                                                         "stroke": _INK, "stroke-width": 1.5,
                                                         "stroke-dasharray": "3 2"}})
            else:
                inside.append({"tag": "g", "look": box(at, 52, 11, 0.7), "player": player})
        if segment == pig:
            outline = appearance("wheel").pieces["pig"]
            inside.append({"tag": "g", "look": box(n, 22, 12, 0.75), "says": {"key": "board.pigat", "segment": segment},
                           "inside": [{"tag": "path", "look": {"d": outline, "fill": "#ffb3cf", "stroke": _INK,
                                                               "stroke-width": 1.6}}]})
    yield {"tag": "g", "look": {"class": "wheel"}, "inside": inside}
