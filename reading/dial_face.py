"""Where the sections of a dial lie on a start board, and a look at them as if each was a square."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import replace

from reading.limits import LIMITS
from reading.tile_track import OTHERS
from scoring.contributions import Dial
from scoring.state import GameState
from scoring.tiles import Square
from vision.looks import NeutralLook, SquareLook, TableLook


class Face:
    """Where a dial's sections are on the board of a game. ``begun`` is the state before the first turn."""

    def __init__(self, dial: Dial, begun: GameState) -> None:
        self.dial = dial
        self.squares = frozenset(at for at, p in begun.tiles.items() if p.tile in dial.board)
        count = max(1, len(self.squares))
        self.middle = tuple(sum(at[axis] + 0.5 for at in self.squares) / count for axis in (0, 1))
        self.turns = next((begun.tiles[at].rot for at in self.squares), 0)
        self.parts = [self._part(n) for n in range(len(dial.sections))]

    def _angle(self, n: int) -> float:
        return self.dial.angle_deg(self.dial.sections[n]) + 90.0 * self.turns

    def _part(self, n: int) -> frozenset[Square]:
        """The squares over which a section extends."""
        half, out = 180.0 / len(self.dial.sections), set()
        for r in range(1, 9):
            for k in range(-4, 5):
                out.add(self._square(self._angle(n) + k * half / 5, self.dial.reach * r / 8.5))
        return frozenset(out & self.squares)

    def _square(self, deg: float, r: float) -> Square:
        a = math.radians(deg)
        return math.floor(self.middle[0] + r * math.sin(a)), math.floor(self.middle[1] - r * math.cos(a))

    def square(self, n: int) -> Square:
        """A square in the middle of a section."""
        return self._square(self._angle(n), 0.6 * self.dial.reach)

    def section(self, x: float, y: float) -> tuple[int, tuple[float, float]] | None:
        """The number of the section at a point of the board and the place on it, (0, 0) to (1, 1); None off it."""
        dx, dy = x - self.middle[0], y - self.middle[1]
        r = math.hypot(dx, dy) / self.dial.reach
        if r > 1.15 or r < 0.05:
            return None
        deg = math.degrees(math.atan2(dx, -dy)) - 90.0 * self.turns
        name, _ = self.dial.section(deg)
        n = self.dial.sections.index(name)
        off = (deg - self.dial.angle_deg(name) + 180.0) % 360.0 - 180.0
        return n, (0.5 + off * len(self.dial.sections) / 360.0, min(1.0, 1.0 - r / 1.2))

    def only_here(self, look: TableLook) -> TableLook:
        """The look without readings of the board's print on other squares: what shows it there is no tile, but a table
        of the board's colour."""
        return replace(look, squares={at: s if at in self.squares else _without(s, self.dial.board)
                                      for at, s in look.squares.items()})

    def look(self, seen: Mapping[Square, SquareLook], fresh: Collection[Square], look: TableLook) -> TableLook:
        """A look at the piece on the sections, as if each was a square (its number, 0), from the newest looks at the
        board's squares. Those of which no square is ``fresh`` are left out. There is one piece: where a fresh square
        shows it, it is not where it was when the others were looked at."""
        pieces: dict[bool, list[tuple[int, NeutralLook]]] = {True: [], False: []}
        for at in self.squares & seen.keys():
            piece = seen[at].neutral.get(self.dial.name)
            if piece is not None and (place := self.section(at[0] + piece.foot[0], at[1] + piece.foot[1])) is not None:
                pieces[at in fresh].append((place[0], replace(piece, foot=place[1])))
        if all(p.there <= 0.0 for _, p in pieces[True]):
            pieces[True] += pieces[False]
        out = {}
        for n, part in enumerate(self.parts):
            if not part & set(fresh) or not part <= seen.keys():
                continue
            best = max((p for k, p in pieces[True] if k == n), key=lambda p: p.there, default=None)
            out[n, 0] = SquareLook(there=LIMITS.sure, seen=min(seen[at].seen for at in part), figures=(),
                                   neutral={} if best is None else {self.dial.name: best})
        return replace(look, squares=out, whole=False)


def _without(seen: SquareLook, kinds: Collection[str]) -> SquareLook:
    """A look at a square on which no tile of these kinds can lie: what it says of them says that none lies there."""
    tiles = {reading: v for reading, v in seen.tiles.items() if reading[0] not in kinds}
    if len(tiles) == len(seen.tiles):
        return seen
    other = OTHERS * math.exp(seen.rest)
    remains = sum(map(math.exp, tiles.values())) + other
    share = remains / (sum(map(math.exp, seen.tiles.values())) + other)
    return replace(seen, tiles=tiles, there=seen.there + math.log(share))
