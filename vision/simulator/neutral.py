"""Neutral pieces on the board: where a hand moves them, turn by turn."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from vision.simulator.layout import Pose
from vision.simulator.mishaps import Plan
from vision.simulator.options import TILE_HEIGHT_MM, TILE_MM
from vision.simulator.pieces import MAKERS, SCALES, Piece
from vision.simulator.script import Script, Square, Standing
from vision.simulator.timeline import Point, Timeline
from vision.simulator.truth import StopTruth

_ROOM = 0.32  # of a tile: greatest distance of such a piece from its centre
_BESIDE_MM = 17.0  # from the foot of the figure it belongs to
_CLEAR_MM = 19.0  # from other feet, where possible


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """A piece on a square, as it is put down in ``turn``."""

    turn: int
    at: Square
    piece: Piece


def stop_number(index: int) -> int:
    """The still table's number for the piece at that stop."""
    return -(300_000 + index)


def stops_of(script: Script, poses: Mapping[Square, Pose], plan: Plan, pieces: Sequence[tuple[int, Piece]],
             standing: Sequence[tuple[int, Standing]], gone: Mapping[int, int], rng: np.random.Generator,
             ) -> tuple[list[Stop], dict[int, list[list[tuple[str, int, Point]]]]]:
    """Every stop of such pieces, and by turn the visits that move them: (lift or set, stop, where).
    ``pieces`` are the figures that are ever put down, ``gone`` says in which turn one goes home."""
    stops: list[Stop] = []
    stands: dict[str, int] = {}
    made: dict[str, Piece] = {}
    walks: dict[int, list[list[tuple[str, int, Point]]]] = {}
    for turn in script.turns:
        for walk in turn.walks:
            if walk.piece not in made:
                colours = MAKERS[walk.piece]
                made[walk.piece] = Piece(figure=walk.piece, colour=colours[int(rng.integers(len(colours)))], x_mm=0.0,
                                         y_mm=0.0, z_mm=TILE_HEIGHT_MM, yaw_deg=0.0, lying=False,
                                         scale=float(rng.uniform(*SCALES)))
            visit: list[tuple[str, int, Point]] = []
            for at in walk.path:
                if walk.piece in stands:
                    old = stops[stands[walk.piece]]
                    visit.append(("lift", stands[walk.piece], plan.foot(old.at, poses[old.at], old.piece, old.turn,
                                                                        turn.index)))
                feet = [plan.foot(s.at, poses[s.at], p, put, turn.index)
                        for n, ((put, p), (_, s)) in enumerate(zip(pieces, standing, strict=True))
                        if s.at == at and put <= turn.index <= gone.get(n, turn.index) and s != walk.beside]
                by = next((plan.foot(s.at, poses[s.at], p, put, turn.index)
                           for (put, p), (_, s) in zip(pieces, standing, strict=True)
                           if s == walk.beside and put <= turn.index), None)
                x, y = _spot(plan.pose(at, poses[at], turn.index), feet, by, rng)
                piece = replace(made[walk.piece], x_mm=x, y_mm=y, yaw_deg=float(rng.uniform(0, 360)))
                stands[walk.piece] = len(stops)
                visit.append(("set", len(stops), (x, y)))
                stops.append(Stop(turn=turn.index, at=at, piece=piece))
            walks.setdefault(turn.index, []).append(visit)
    return stops, walks


def _spot(pose: Pose, feet: Sequence[Point], by: Point | None, rng: np.random.Generator) -> Point:
    """A point on the tile clear of other feet, and near the figure that the piece stands ``by``."""
    best, least = (pose.x_mm, pose.y_mm), math.inf
    for _ in range(60):
        u, v = rng.uniform(-_ROOM, _ROOM, 2) * TILE_MM
        at = pose.at(float(u), float(v))
        cost = sum(max(0.0, _CLEAR_MM - math.dist(at, foot)) for foot in feet)
        cost += abs(math.dist(at, by) - _BESIDE_MM) if by is not None else 0.1 * math.hypot(u, v)
        if cost < least:
            best, least = at, cost
    return best


def lain_at(stops: Sequence[Stop], timeline: Timeline) -> tuple[StopTruth, ...]:
    """The stops with the frames at which the pieces arrive and leave; a piece that nobody puts down was there first."""
    down = {a.piece: a.frame for v in timeline.visits for a in v.acts if a.kind == "set"}
    gone = {a.piece: a.frame for v in timeline.visits for a in v.acts if a.kind == "lift"}
    return tuple(StopTruth(at=s.at, piece=s.piece, turn=s.turn, down=down.get(n, 0), gone=gone.get(n))
                 for n, s in enumerate(stops))
