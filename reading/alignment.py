"""Maps the squares of looks to those of the game: looks count from the first tile found, the game from its start tile.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from reading.belief import SquareTrack, TableBelief, figures_seen_on
from reading.figure_track import FigureTrack
from reading.limits import LIMITS
from reading.shapes import Reading, shape
from reading.tile_track import TileTrack
from scoring.tiles import Square
from vision.looks import FigureLook, SquareLook, StackLook, TableLook


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """Quarter turns clockwise and a shift that map a look's squares to the game's."""

    turns: int = 0
    shift: Square = (0, 0)

    def square(self, at: Square) -> Square:
        x, y = at
        for _ in range(self.turns % 4):
            x, y = -y, x
        return x + self.shift[0], y + self.shift[1]

    def point(self, x: float, y: float) -> tuple[float, float]:
        """A point of the board, in tiles; square (0, 0) extends from 0 to 1."""
        for _ in range(self.turns % 4):
            x, y = 1.0 - y, x
        return x + self.shift[0], y + self.shift[1]

    def reading(self, reading: Reading) -> Reading:
        return reading[0], (reading[1] + self.turns) % 4

    def back(self, at: Square) -> Square:
        """The inverse of `square`: a square of the game as the look counts it."""
        x, y = at[0] - self.shift[0], at[1] - self.shift[1]
        for _ in range(-self.turns % 4):
            x, y = -y, x
        return x, y

    def look(self, look: TableLook) -> TableLook:
        """The look in the game's squares."""
        if self == Alignment():
            return look
        return replace(look, squares={self.square(at): self._of(s) for at, s in look.squares.items()})

    def _of(self, s: SquareLook) -> SquareLook:
        return replace(s, tiles={self.reading(r): v for r, v in s.tiles.items()},
                       figures=None if s.figures is None else tuple(self._figure(f) for f in s.figures),
                       neutral={n: replace(seen, foot=self._foot(seen.foot)) for n, seen in s.neutral.items()},
                       stacks={n: self._stack(seen) for n, seen in s.stacks.items()})

    def _figure(self, f: FigureLook) -> FigureLook:
        return replace(f, foot=self._foot(f.foot))

    def _foot(self, foot: tuple[float, float]) -> tuple[float, float]:
        x, y = foot
        for _ in range(self.turns % 4):
            x, y = 1.0 - y, x
        return x, y

    def _stack(self, seen: StackLook) -> StackLook:
        dx, dy = seen.floor
        for _ in range(self.turns % 4):
            dx, dy = -dy, dx
        turned = len(seen.darkened) * (self.turns % 4) // 4
        return replace(seen, top=self._foot(seen.top), floor=(dx, dy),
                       darkened=(*seen.darkened[-turned:], *seen.darkened[:-turned]) if turned else seen.darkened)

    def belief(self, belief: TableBelief) -> TableBelief:
        """A belief in the game's squares."""
        return replace(
            belief, squares={self.square(at): self._track(t) for at, t in belief.squares.items()},
            figures={i: self._moved(f) for i, f in belief.figures.items()},
            figures_s={self.square(at): v for at, v in belief.figures_s.items()},
            bare_looks={self.square(at): v for at, v in belief.bare_looks.items()})

    def _moved(self, f: FigureTrack) -> FigureTrack:
        return replace(f, foot=self.point(*f.foot))

    def _laid(self, laid: TileTrack | None) -> TileTrack | None:
        return None if laid is None else replace(laid, looks={
            cover: replace(looks, sums={self.reading(r): v for r, v in looks.sums.items()})
            for cover, looks in laid.looks.items()})

    def _track(self, t: SquareTrack) -> SquareTrack:
        return replace(t, laid=self._laid(t.laid), against=self._laid(t.against),
                       past=tuple(p for laid in t.past if (p := self._laid(laid)) is not None))


def aligned_by_start(belief: TableBelief, start: Mapping[Square, Reading], t_s: float) -> tuple[Alignment, ...]:
    """The alignment of a board whose first tiles are ``start``: none while nothing resembles them clearly enough,
    several while it is not known which of several tiles is the first one.

    The start tile carries no figure and was there first, which distinguishes it from others of its kind. A weaker match
    is accepted only after a while, and so is one of two equal ones: a figure may come to stand on the other.
    """
    at, reading = next(iter(start.items()))
    ranked: list[tuple[float, float, Square, int]] = []
    first = min((laid.since_s for laid in belief.lying().values()), default=0.0)
    for square, laid in belief.lying().items():
        said, rest = laid.readings
        for turns in range(4):
            there = reading[0], (reading[1] - turns) % 4
            odds = said.get(there, rest) + min(0.0, laid.presence)
            odds -= 2.0 * sum(f.real > 0 for f in figures_seen_on(belief, square))
            odds -= 1.0 if laid.since_s > first else 0.0
            for other, wanted in list(start.items())[1:]:
                found = _turned((other[0] - at[0], other[1] - at[1]), -turns)
                neighbour = belief.lying().get((square[0] + found[0], square[1] + found[1]))
                odds += -3.0 if neighbour is None else neighbour.readings[0].get(
                    (wanted[0], (wanted[1] - turns) % 4), neighbour.readings[1])
            ranked.append((odds, -laid.since_s, square, turns))
    ranked.sort(reverse=True)
    patient = t_s - first < LIMITS.ask_after_s
    likely = [each for each in ranked if each[0] >= (-1.5 if patient else -4.0)]
    if not likely:
        return ()
    odds, _, square, _ = likely[0]
    near = [each for each in ranked[1:] if each[2] != square and odds - each[0] < LIMITS.start_apart] if patient else []
    return tuple(_aligned(at, square, turns) for _, _, square, turns in (likely[0], *near))


def _aligned(at: Square, square: Square, turns: int) -> Alignment:
    """The alignment that maps a look's ``square`` to ``at``."""
    x, y = Alignment(turns=turns).square(square)
    return Alignment(turns=turns, shift=(at[0] - x, at[1] - y))


def aligned_by_tiles(look: TableLook, known: Mapping[Square, Reading]) -> tuple[Alignment, float] | None:
    """The alignment at which a look shows the ``known`` tiles, and the share of the look's clear tiles on known squares
    that agree; None if it is ambiguous."""
    seen = {at: max(s.tiles, key=lambda r: (s.tiles[r], r)) for at, s in look.squares.items()
            if s.there > 0 and s.tiles}
    ranked = []
    for turns in range(4):
        votes: Counter[Square] = Counter()
        alignment = Alignment(turns=turns)
        for at, reading in seen.items():
            x, y = alignment.square(at)
            form = shape(*alignment.reading(reading))
            for (kx, ky), theirs in known.items():
                if shape(*theirs) == form:
                    votes[kx - x, ky - y] += 1
        ranked += [(n, turns, shift) for shift, n in votes.most_common(2)]
    ranked.sort(key=lambda r: (-r[0], r[1], r[2]))
    if not ranked or not seen:
        return None
    n, turns, shift = ranked[0]
    second = ranked[1][0] if len(ranked) > 1 else 0
    if n < 2 or n <= second + (n > 3):
        return None
    alignment = Alignment(turns=turns, shift=shift)
    both = [at for at in seen if alignment.square(at) in known]
    return alignment, n / max(1, len(both))


def agreement(look: TableLook, known: Mapping[Square, Reading]) -> tuple[int, int]:
    """How many squares of a look (aligned with the game) agree with the known tiles, and how many could."""
    agree = could = 0
    for at, reading in known.items():
        s = look.squares.get(at)
        if s is None:
            could += look.whole
            continue
        if s.seen < LIMITS.seen_least:
            continue
        could += 1
        if s.there > 0 and s.tiles:
            top = max(s.tiles.values())
            mine = max((v for r, v in s.tiles.items() if shape(*r) == shape(*reading)), default=s.rest)
            agree += mine > top - LIMITS.turned
    return agree, could


def _turned(at: Square, turns: int) -> Square:
    return Alignment(turns=turns).square(at)



