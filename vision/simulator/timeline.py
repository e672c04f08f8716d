"""Timeline of visits of hands and the frames at which they put things down or take them away."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from vision.simulator.camera import Camera
from vision.simulator.options import TILE_HEIGHT_MM, Options
from vision.simulator.script import Square, Standing, Turn

Point = tuple[float, float]
Kinds = list[tuple[str, int | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """One action of a hand at ``frame``: from then on the tile or figure lies (or is gone).

    ``kind`` is tile, figure, home, idle, or lift and set for a neutral piece. The hand stays over ``at_mm``
    from ``arrives`` to ``leaves``.
    """

    kind: str
    turn: int
    frame: int
    arrives: int
    leaves: int
    at_mm: Point
    square: Square | None = None
    piece: int | None = None  # index of the figure among all that are ever put down, or of the stop


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A hand in view from ``first`` to ``last`` (both included), coming from ``direction_deg`` on the table."""

    player: int
    first: int
    last: int
    direction_deg: float
    outside_mm: Point
    acts: tuple[Act, ...]

    def tip(self, frame: float) -> tuple[float, float, float]:
        """Position of the fingertips: table mm and height; ``frame`` may be fractional."""
        stops = [(self.first, self.outside_mm, 60.0)]
        for act in self.acts:
            stops += [(act.arrives, act.at_mm, 12.0), (act.leaves, act.at_mm, 12.0)]
        stops.append((self.last, self.outside_mm, 60.0))
        for (f0, p0, h0), (f1, p1, h1) in pairwise(stops):
            if frame <= f1:
                t = 1.0 if f1 == f0 else max(0.0, (frame - f0) / (f1 - f0))
                t = t * t * (3 - 2 * t)
                lift = 0.0 if p0 == p1 else 30 * math.sin(math.pi * t)
                wobble = 1.2 * math.sin(frame * 1.9)
                return (p0[0] + (p1[0] - p0[0]) * t + wobble, p0[1] + (p1[1] - p0[1]) * t + 0.7 * wobble,
                        h0 + (h1 - h0) * t + lift)
        return (*self.outside_mm, 60.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnFrames:
    """Frame numbers of one turn. ``*_down``: lies there from this frame on; ``*_clear``: no hand in view any more.

    ``home_clear`` is the first frame without a hand after scored figures were taken; ``end`` the turn's last frame.
    None where it did not happen.
    """

    turn: int
    tile_down: int | None
    tile_clear: int | None
    figure_clear: int | None
    home_clear: int | None
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """``others`` are idle hands of other players that are in view during somebody's visit."""

    visits: tuple[Visit, ...]
    turns: tuple[TurnFrames, ...]
    frames: int
    others: tuple[Visit, ...] = ()


class Planner:
    """Lays out the frames of a game."""

    def __init__(self, camera: Camera, options: Options, players: int, rng: np.random.Generator) -> None:
        self._camera, self._options, self._rng = camera, options, rng
        corners = camera.table_mm([(0, 0), (camera.width, 0), (camera.width, camera.height), (0, camera.height)])
        self._low, self._high = corners.min(0), corners.max(0)
        start = rng.uniform(0, 360)
        self.seats_deg = [start + 360 * n / players + rng.uniform(-15, 15) for n in range(players)]
        self._frame = 0

    def plan(self, turns: Sequence[Turn], spots: dict[Square, Point], feet: Sequence[tuple[Point, Point]],
             numbers: dict[tuple[int, str], list[int]], owners: Sequence[int], crowd: float = 0.0,
             walks: Mapping[int, Sequence[Sequence[tuple[str, int, Point]]]] | None = None,
             rounds: Mapping[int, Sequence[Sequence[tuple[str, int, Point]]]] | None = None) -> Timeline:
        """``feet`` are the positions where each figure is put down and picked up, in the order they are put down.
        ``numbers``: (turn, "put", "early", "taken" or "home") -> indexes into ``feet``; ``owners`` are the figures'
        players. ``crowd`` is the probability of another hand during a visit. ``walks`` are visits by turn that move a
        neutral piece: (lift or set, index of the stop, where); ``rounds`` are the same before its tile is laid."""
        visits: list[Visit] = []
        frames: list[TurnFrames] = []
        self._frame = self._rest(1.5)
        for turn in turns:
            down: dict[str, int] = {}
            clear: dict[str, int] = {}
            taken = [(turn.player, *self._taken(walk)) for walk in (walks or {}).get(turn.index, ())]
            moved = [(turn.player, *self._taken(walk)) for walk in (rounds or {}).get(turn.index, ())]
            early = self._homes(turn, numbers, owners, "early")
            groups = (*moved, *early, *self._visits_of(turn, numbers, owners), *taken,
                      *self._homes(turn, numbers, owners))
            for player, kinds, at in groups:
                visit = self._visit(turn, player, kinds, at or self._targets(turn, kinds, spots, feet))
                visits.append(visit)
                for act in visit.acts:
                    down.setdefault(act.kind, act.frame)
                    clear[act.kind] = visit.last + 1
                self._frame = visit.last + 1 + self._rest()
            frames.append(TurnFrames(turn=turn.index, tile_down=down.get("tile"), tile_clear=clear.get("tile"),
                                     figure_clear=clear.get("figure"),
                                     home_clear=clear.get("home"), end=self._frame - 1))
        tail = max(self._options.rest, round(self._options.tail_s * self._options.fps))
        return Timeline(visits=tuple(visits), turns=tuple(frames), frames=self._frame + tail,
                        others=tuple(self._others(visits, crowd)) if crowd else ())

    def _others(self, visits: Sequence[Visit], chance: float) -> Iterator[Visit]:
        """Visits of another hand, each within somebody's visit."""
        rng = self._rng
        for visit in visits:
            player = int(rng.integers(len(self.seats_deg)))
            if rng.random() >= chance or player == visit.player:
                continue
            x, y = (float(v) for v in self._low + (self._high - self._low) * rng.uniform(0.2, 0.8, 2))
            third = (visit.last - visit.first) // 3
            act = Act(kind="idle", turn=visit.acts[-1].turn, frame=visit.first + third, arrives=visit.first + third,
                      leaves=visit.last - third, at_mm=(x, y))
            direction = self.seats_deg[player] + rng.uniform(-12, 12)
            yield Visit(player=player, first=visit.first, last=visit.last, direction_deg=direction,
                        outside_mm=self._outside((x, y), direction), acts=(act,))

    @staticmethod
    def _taken(walk: Sequence[tuple[str, int, Point]]) -> tuple[Kinds, list[Point]]:
        return [(kind, stop) for kind, stop, _ in walk], [at for _, _, at in walk]

    def _visits_of(self, turn: Turn, numbers: dict[tuple[int, str], list[int]],
                   owners: Sequence[int]) -> list[tuple[int, Kinds, list[Point]]]:
        """(player, [(kind, figure)], position if known) per visit before figures go home."""
        rng, put = self._rng, numbers.get((turn.index, "put"), [])
        groups: list[tuple[int, Kinds]] = []
        if rng.random() < self._options.conditions.idle_visits:
            groups.append((int(rng.integers(len(self.seats_deg))), [("idle", None)]))
        if turn.laid:
            groups.append((turn.player, [("tile", None)]))
        for n in put:
            if groups and groups[-1][1][0][0] == "tile" and rng.random() < 0.4:
                groups[-1][1].append(("figure", n))
            else:
                groups.append((turn.player, [("figure", n)]))
        return [(player, kinds, []) for player, kinds in groups]

    @staticmethod
    def _homes(turn: Turn, numbers: dict[tuple[int, str], list[int]],
               owners: Sequence[int], when: str = "home") -> list[tuple[int, Kinds, list[Point]]]:
        """The same for figures that go home."""
        home: dict[int, Kinds] = {}
        for n in numbers.get((turn.index, "taken"), []) if when == "home" else ():
            home.setdefault(turn.player, []).append(("home", n))
        for n in numbers.get((turn.index, when), []):
            home.setdefault(owners[n], []).append(("home", n))
        return [(player, kinds, []) for player, kinds in home.items()]

    def _targets(self, turn: Turn, kinds: Kinds, spots: dict[Square, Point],
                 feet: Sequence[tuple[Point, Point]]) -> list[Point]:
        """Position of each action of a visit."""
        rng, targets = self._rng, list[Point]()
        for kind, number in kinds:
            if number is not None:
                targets.append(feet[number][kind == "home"])
            elif kind == "tile" and turn.laid:
                x, y = spots[turn.laid.at]
                targets.append((x + rng.normal(0, 5), y + rng.normal(0, 5)))
            else:
                x, y = self._low + (self._high - self._low) * rng.uniform(0.25, 0.75, 2)
                targets.append((float(x), float(y)))
        return targets

    def _visit(self, turn: Turn, player: int, kinds: Kinds, targets: Sequence[Point]) -> Visit:
        rng, first = self._rng, self._frame
        direction = self.seats_deg[player] + rng.uniform(-12, 12)
        outside = self._outside(targets[0], direction)
        frame, acts = first, []
        for n, ((kind, number), at) in enumerate(zip(kinds, targets, strict=True)):
            arrives = frame + (self._span(0.6, 0.9) if n == 0 else self._span(0.25, 0.5))
            act = arrives + self._span(0.2, 0.4)
            leaves = act + self._span(0.15, 0.4)
            acts.append(Act(kind=kind, turn=turn.index, frame=act, arrives=arrives, leaves=leaves, at_mm=at,
                            square=turn.laid.at if kind == "tile" and turn.laid else None, piece=number))
            frame = leaves
        return Visit(player=player, first=first, last=frame + self._span(0.4, 0.7), direction_deg=direction,
                     outside_mm=outside, acts=tuple(acts))

    def _outside(self, target: Point, direction_deg: float) -> Point:
        """The nearest point back along the arm's direction that is out of view."""
        a = math.radians(direction_deg)
        steps = []
        for axis, d in enumerate((math.cos(a), math.sin(a))):
            if abs(d) > 1e-6:
                edge = self._high[axis] if d > 0 else self._low[axis]
                steps.append((edge - target[axis]) / d)
        way = max(60.0, min(steps)) + 130
        return target[0] + way * math.cos(a), target[1] + way * math.sin(a)

    def _span(self, low_s: float, high_s: float) -> int:
        return max(1, round(float(self._rng.uniform(low_s, high_s)) * self._options.fps))

    def _rest(self, extra_s: float = 0.0) -> int:
        return self._options.rest + round((extra_s + float(self._rng.uniform(0, 0.5))) * self._options.fps)


def number_figures(turns: Sequence[Turn]) -> tuple[list[tuple[int, Standing]], dict[tuple[int, str], list[int]]]:
    """All figures ever put down as (turn, figure), and per turn which of them are put down, which go home before the
    tile is laid or after the turn, and which are taken."""
    pieces: list[tuple[int, Standing]] = []
    numbers: dict[tuple[int, str], list[int]] = {}
    on_board: list[int] = []
    for turn in turns:
        if turn.figure:
            pieces.append((turn.index, turn.figure))
            on_board.append(len(pieces) - 1)
            numbers[turn.index, "put"] = [len(pieces) - 1]
        for what, left in (("early", turn.early), ("taken", turn.taken), ("home", turn.home)):
            for figure in left:
                n = next(k for k in on_board if pieces[k][1] == figure)
                on_board.remove(n)
                numbers.setdefault((turn.index, what), []).append(n)
    return pieces, numbers


def carried_height(tip_mm: tuple[float, float, float]) -> float:
    """Height of the object between the fingertips."""
    return max(TILE_HEIGHT_MM, tip_mm[2] - 8)
