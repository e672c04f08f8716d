"""Reports what the newest looks saw of every square, for display on the page. Nothing is decided here: looks are kept,
and turned into outlines in pixels on request.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypedDict

import numpy as np

from reading.alignment import Alignment
from scoring.tiles import Square
from vision.lattice import UNIT, Array, apply
from vision.looks import FigureLook, SquareLook, TableLook, probability
from vision.stillness import Stillness

MOST = 40  # squares reported: those looked at last
OPTIONS = 5  # readings reported of a square
_FOOT = 0.11  # tiles: radius of the ring around a figure's foot
_MIDDLES = ((1, 0), (2, 1), (1, 2), (0, 1))  # midpoints of a tile's sides, in half tiles
_RING = np.array([[math.cos(a), math.sin(a)] for a in np.linspace(0, 2 * math.pi, 12, endpoint=False)])


class Outlined(TypedDict):
    """A square with its corners."""

    at: list[int]
    corners: list[list[float]]


class SeenTile(Outlined):
    """How a square's tile was read: ``up`` is the midpoint of the side at which the best reading's picture has its top,
    ``like`` the probability that a tile lies there at all, ``taken`` whether it was accepted as one, ``options`` are
    kind, quarter turns and probability; ``old`` means last seen before the newest look."""

    up: list[float]
    tile: str
    rot: int
    like: float
    taken: bool
    legal: bool
    old: bool
    options: list[list[str | int | float]]


class SeenFigure(TypedDict):
    """A figure with a ring around its foot: its player with the probability (``sure``), the probability that it lies
    down, and ``why`` it was rejected (empty if it was not)."""

    at: list[int]
    outline: list[list[float]]
    player: int | None
    sure: float
    lying: float
    why: str


class LookReport(TypedDict):
    """What was last seen in a picture of that ``size`` (width, height), in its pixels: tiles, the open squares beside
    them, readings, figures, and the outlines of movement."""

    size: list[int]
    tiles: list[Outlined]
    open: list[Outlined]
    readings: list[SeenTile]
    figures: list[SeenFigure]
    moving: list[list[list[float]]]


@dataclass(slots=True)
class LookReporter:
    """Keeps the newest look at every square, in the game's coordinates. Used by one thread only."""

    colours: Sequence[str] = ()
    _looks: dict[Square, tuple[int, SquareLook]] = field(default_factory=dict)

    def keep(self, look: TableLook, alignment: Alignment) -> None:
        """Remember a look."""
        for at, square in alignment.look(look).squares.items():
            self._looks.pop(at, None)
            self._looks[at] = look.frame, square

    def forget(self) -> None:
        """Drop all looks: the board is another one."""
        self._looks.clear()

    def report(self, poses: Mapping[Square, Array], beside: Mapping[Square, Array], size: tuple[int, int],
               stillness: Stillness | None) -> LookReport:
        """The report, in pixels of a frame of ``size`` (width, height). ``poses`` are those of the tiles, ``beside``
        those of the open squares."""
        known = {**beside, **poses}
        newest = [(at, frame, s) for at, (frame, s) in self._looks.items() if at in known][-MOST:]
        now = max((frame for _, frame, _ in newest), default=0)
        return {
            "size": list(size),
            "tiles": [{"at": list(at), "corners": _points(pose, UNIT)} for at, pose in poses.items()],
            "open": [{"at": list(at), "corners": _points(pose, UNIT)} for at, pose in beside.items()],
            "readings": [_reading(at, known[at], s, old=frame < now) for at, frame, s in newest if s.tiles],
            "figures": [self._figure(at, known[at], f) for at, _, s in newest for f in s.figures or ()],
            "moving": [] if stillness is None else [o.round(1).tolist() for o in stillness.outlines()],
        }

    def _figure(self, at: Square, pose: Array, figure: FigureLook) -> SeenFigure:
        ranked = sorted(((figure.colours[c], n) for n, c in enumerate(self.colours) if c in figure.colours),
                        reverse=True)
        total = sum(math.exp(v - ranked[0][0]) for v, _ in ranked) if ranked else 1.0
        real = probability(figure.there)
        taken = figure.there > 0 and bool(ranked)
        return {"at": list(at), "outline": _points(pose, np.array(figure.foot) + _FOOT * _RING),
                "player": ranked[0][1] if ranked else None, "sure": round(real / total, 3),
                "lying": round(probability(figure.lying), 3),
                "why": "" if taken else "colour"}


def _points(pose: Array, of: Array) -> list[list[float]]:
    points: list[list[float]] = apply(pose, of).round(1).tolist()
    return points


def _reading(at: Square, pose: Array, square: SquareLook, *, old: bool) -> SeenTile:
    ranked = sorted(square.tiles.items(), key=lambda o: -o[1])
    (tile, rot), _ = ranked[0]
    taken = square.there > 0
    options: list[list[str | int | float]] = [
        [t, r, round(math.exp(min(0.0, v)), 4)] for (t, r), v in ranked[:OPTIONS]] if taken else []
    return {"at": list(at), "corners": _points(pose, UNIT), "up": _points(pose, np.array([_MIDDLES[rot % 4]]) / 2)[0],
            "tile": tile, "rot": rot, "like": round(probability(square.there), 3), "taken": taken,
            "legal": True, "old": old, "options": options}
