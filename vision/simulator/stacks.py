"""Piles of wooden blocks on the board: every block that is ever put down, as people pile them up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from scoring.contributions import Stack
from scoring.geometry import rotate_point
from scoring.tiles import catalogue
from vision.simulator.layout import Pose
from vision.simulator.mishaps import Plan
from vision.simulator.neutral import Stop
from vision.simulator.options import TILE_HEIGHT_MM, TILE_MM
from vision.simulator.pieces import SCALES, Piece
from vision.simulator.script import Laid, Script, Square, Standing
from vision.simulator.timeline import Point

# How carelessly people pile up blocks; chosen. Errors add up with the height: the pile leans.
_OFF_MM = 1.2  # of the first block from the printed place
_SLIP_MM = 0.35  # of each block against the one below
_TURN_DEG = 3.0
_TONE = 0.05  # spread of the lightness of the blocks' wood


@dataclass(slots=True, kw_only=True)
class Piles:
    """The ``blocks`` in the order in which they are put down, and by turn the visits of a hand that puts them there.
    ``first`` is the number of the first block among all stops."""

    first: int
    blocks: list[Stop] = field(default_factory=list)
    visits: dict[int, list[list[tuple[str, int, Point]]]] = field(default_factory=dict)

    def top(self, at: Square, turn: int) -> Stop | None:
        """The highest block on a square at the end of a turn."""
        return next((s for s in reversed(self.blocks) if s.at == at and s.turn <= turn), None)

    def add(self, stop: Stop) -> None:
        self.visits.setdefault(stop.turn, []).append(
            [("set", self.first + len(self.blocks), (stop.piece.x_mm, stop.piece.y_mm))])
        self.blocks.append(stop)


def place_of(stack: Stack, laid: Laid, lies: Pose, off: tuple[float, float] = (0.0, 0.0)) -> tuple[float, float]:
    """The table point (mm) of the place for a pile on a tile, or ``off`` it by so much along the tile's sides (mm)."""
    spot = rotate_point(*(stack.spot(catalogue()[laid.tile]) or (50.0, 50.0)), laid.rot)
    u, v = ((c / 100 - 0.5) * TILE_MM + o for c, o in zip(spot, off, strict=True))
    return lies.at(u, v)


def piles_of(script: Script, laid: Mapping[Square, Laid], poses: Mapping[Square, Pose], plan: Plan, first: int,
             rng: np.random.Generator) -> Piles:
    """Every block of the game's piles. ``first`` is the number of the first one among all stops."""
    out = Piles(first=first)
    made: dict[str, tuple[str, float]] = {}  # by the kind of block: paint and scale of its maker
    for turn in script.turns:
        for at, stack in turn.raised:
            if stack.name not in made:
                made[stack.name] = (stack.paints[int(rng.integers(len(stack.paints)))], float(rng.uniform(*SCALES)))
            paint, scale = made[stack.name]
            wide, high, deep = (scale * v for v in stack.wood_mm)
            below = out.top(at, turn.index)
            if below is None:
                lies = plan.pose(at, poses[at], turn.index)
                off = float(rng.normal(0, _OFF_MM)), float(rng.normal(0, _OFF_MM))
                (x, y), z = place_of(stack, laid[at], lies, off), TILE_HEIGHT_MM
                yaw = lies.angle_deg + float(rng.normal(45.0, 4 * _TURN_DEG))
            else:
                x, y = plan.foot(at, poses[at], below.piece, below.turn, turn.index)
                x, y = x + float(rng.normal(0, _SLIP_MM)), y + float(rng.normal(0, _SLIP_MM))
                z, yaw = below.piece.z_mm + high, below.piece.yaw_deg + float(rng.normal(0, _TURN_DEG))
            out.add(Stop(turn=turn.index, at=at, piece=Piece(
                figure=stack.name, colour=paint, x_mm=x, y_mm=y, z_mm=z, yaw_deg=yaw, lying=False,
                block_mm=(wide, high, deep), pile=at, tone=float(1 + rng.normal(0, _TONE)))))
    return out


def on_piles(pieces: Sequence[tuple[int, Piece]], standing: Sequence[tuple[int, Standing]], tops: frozenset[str],
             piles: Piles, poses: Mapping[Square, Pose], plan: Plan) -> list[tuple[int, Piece]]:
    """The figures, those on features of the kinds ``tops`` put onto the pile of their square."""
    out = []
    for (turn, piece), (_, s) in zip(pieces, standing, strict=True):
        block = piles.top(s.at, turn) if s.feature in tops else None
        if block is not None and block.piece.block_mm is not None:
            x, y = plan.foot(s.at, poses[s.at], block.piece, block.turn, turn)
            piece = replace(piece, x_mm=x, y_mm=y, z_mm=block.piece.z_mm + block.piece.block_mm[1], pile=s.at)
        out.append((turn, piece))
    return out
