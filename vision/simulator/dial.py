"""A start board with a dial on the simulated table: its pose as one piece, the piece on its sections, and figures."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from scoring.contributions import Dial
from vision.frames import Image
from vision.simulator.dial_board import PIECE_AT, draw_dial_board, spaces_at
from vision.simulator.layout import Pose
from vision.simulator.mishaps import Plan
from vision.simulator.neutral import Stop
from vision.simulator.options import TILE_HEIGHT_MM, TILE_MM
from vision.simulator.pieces import SCALES, Piece
from vision.simulator.script import Script, Square, StartBoard
from vision.simulator.timeline import Point

_SLIP_MM = 3.0  # of a piece or a figure from its place; chosen


def board_poses(board: StartBoard, rng: np.random.Generator, jitter_deg: float) -> dict[Square, Pose]:
    """The poses of the board's squares, which are one piece of cardboard."""
    x, y = board.middle
    middle = Pose(x_mm=x * TILE_MM, y_mm=y * TILE_MM, angle_deg=float(rng.normal(0, jitter_deg)))
    out = {}
    for at in board.edges:
        px, py = middle.at((at[0] - x) * TILE_MM, (at[1] - y) * TILE_MM)
        out[at] = Pose(x_mm=px, y_mm=py, angle_deg=middle.angle_deg)
    return out


def middle_of(board: StartBoard, at: Square, pose: Pose) -> Pose:
    """The pose of the whole board, from that of one of its squares."""
    x, y = pose.at((board.middle[0] - at[0]) * TILE_MM, (board.middle[1] - at[1]) * TILE_MM)
    return Pose(x_mm=x, y_mm=y, angle_deg=pose.angle_deg)


def picture(board: StartBoard, dial: Dial, square_px: int) -> Image:
    return draw_dial_board(board.edges, dial, board.turns, square_px)


def place(pose: Pose, deg: float, tiles: float, rng: np.random.Generator) -> Point:
    """The table point of a place, by its angle on the board as it lies and its distance from the middle."""
    x, y = (float(rng.normal(0, _SLIP_MM)) for _ in range(2))
    a, r = math.radians(deg), tiles * TILE_MM
    return pose.at(r * math.sin(a) + x, -r * math.cos(a) + y)


def figure_spot(board: StartBoard, dial: Dial, section: str, pose: Pose, taken: list[Point],
                rng: np.random.Generator) -> Point:
    """Where a figure is put on a section: the space that is farthest from the ``taken`` points."""
    spots = [place(pose, deg, r, rng) for deg, r in spaces_at(dial, section, board.turns)]
    return max(spots, key=lambda p: min((math.dist(p, q) for q in taken), default=99.0))


@dataclass(slots=True, kw_only=True)
class Rounds:
    """The ``stops`` of the piece, the first one before the game, and by turn the visits that move it. ``first`` is the
    number of the first stop among all stops."""

    first: int
    stops: list[Stop]
    visits: dict[int, list[list[tuple[str, int, Point]]]]


def rounds_of(script: Script, poses: Mapping[Square, Pose], plan: Plan, first: int,
              rng: np.random.Generator) -> Rounds:
    """Where the dial's piece is put down in a game."""
    out = Rounds(first=first, stops=[], visits={})
    board = script.board
    if board is None or board.dial is None:
        return out
    dial, at = board.dial, next(iter(board.edges))
    made = Piece(figure=dial.name, colour=dial.paints[int(rng.integers(len(dial.paints)))], x_mm=0.0, y_mm=0.0,
                 z_mm=TILE_HEIGHT_MM, yaw_deg=0.0, lying=False, scale=float(rng.uniform(*SCALES)))

    def put(turn: int, section: str) -> None:
        pose = middle_of(board, at, plan.pose(at, poses[at], turn - 1))
        x, y = place(pose, dial.angle_deg(section) + 90.0 * board.turns, PIECE_AT * dial.reach, rng)
        out.stops.append(Stop(turn=turn - 1, at=at, piece=replace(made, x_mm=x, y_mm=y,
                                                                  yaw_deg=float(rng.uniform(0, 360)))))

    put(0, board.section)
    for turn in script.turns:
        for section in turn.sections:
            old = out.stops[-1]
            foot = plan.foot(at, poses[at], old.piece, old.turn, turn.index - 1)
            visit = [("lift", first + len(out.stops) - 1, foot)]
            put(turn.index, section)
            piece = out.stops[-1].piece
            visit.append(("set", first + len(out.stops) - 1, (piece.x_mm, piece.y_mm)))
            out.visits.setdefault(turn.index, []).append(visit)
    return out
