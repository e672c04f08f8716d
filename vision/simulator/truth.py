"""Ground truth of a simulated camera, for tests and benchmarks; a frame source never reveals it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.lattice import UNIT
from vision.simulator.camera import Camera
from vision.simulator.layout import Pose
from vision.simulator.mishaps import Plan
from vision.simulator.options import TILE_HEIGHT_MM
from vision.simulator.pieces import Piece
from vision.simulator.script import Laid, Square, Standing
from vision.simulator.timeline import Timeline, TurnFrames


@dataclass(frozen=True, slots=True, kw_only=True)
class TileTruth:
    """``pose.angle_deg`` is the board's angle there: the drawing is turned by it plus ``rot`` quarter turns."""

    laid: Laid
    pose: Pose
    turn: int | None  # None: the start tile
    down: int  # first frame at which it lies


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureTruth:
    standing: Standing
    piece: Piece
    base_px: tuple[float, float]
    turn: int
    down: int
    gone: int | None  # first frame without it


@dataclass(frozen=True, slots=True, kw_only=True)
class StopTruth:
    """A neutral piece that stands on a square from the frame ``down`` on; ``gone`` as in `FigureTruth`."""

    at: Square
    piece: Piece
    turn: int
    down: int
    gone: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameTruth:
    """One frame: what is on the table, and whether a hand may be in view (its path is; fingertips may still be
    outside)."""

    hand: bool
    turn: int  # index of the last turn whose tile lies, -1 before the first
    tiles: frozenset[Square]
    figures: tuple[int, ...]  # indexes into ``Truth.figures``


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    camera: Camera
    lamp_mm: tuple[float, float, float]
    tiles: Mapping[Square, TileTruth]
    figures: tuple[FigureTruth, ...]
    timeline: Timeline
    plan: Plan = Plan()
    stops: tuple[StopTruth, ...] = ()

    @property
    def turns(self) -> tuple[TurnFrames, ...]:
        return self.timeline.turns

    @property
    def frames(self) -> int:
        return self.timeline.frames

    def frame(self, number: int) -> FrameTruth:
        turns = [t.turn for t in self.turns if t.tile_down is not None and t.tile_down <= number]
        return FrameTruth(
            hand=any(v.first <= number <= v.last for v in self.timeline.visits), turn=max(turns, default=-1),
            tiles=frozenset(at for at, t in self.tiles.items() if t.down <= number),
            figures=tuple(n for n, f in enumerate(self.figures)
                          if f.down <= number and (f.gone is None or number < f.gone)))

    def pose(self, at: Square, turn: int) -> Pose:
        """A tile's pose after a turn, pushes and knocks included."""
        return self.plan.pose(at, self.tiles[at].pose, turn)

    def shift(self, number: int) -> npt.NDArray[np.float64]:
        """(3, 3) px of the camera as set up to px of the frame, with all bumps so far."""
        out = np.eye(3)
        for bump in self.plan.bumps:
            if number >= self.bumped(bump.turn) + 2:
                out = np.vstack([bump.affine((self.camera.width, self.camera.height)), [0, 0, 1.0]]) @ out
        return out

    def bumped(self, turn: int) -> int:
        """The frame in which the camera is bumped in that turn: when its tile lies and no hand is in view."""
        times = self.turns[turn]
        return min(times.end, (times.tile_clear or times.end) + 1)

    @property
    def unseen(self) -> frozenset[int]:
        """Frames that the camera does not deliver: from a tile's arrival until the next one lies and no hand is
        there."""
        out: set[int] = set()
        for turn in self.plan.gaps:
            first = next(v.first for v in self.timeline.visits if any(a.turn == turn for a in v.acts))
            out |= set(range(first, self.turns[turn + 1].end - 1))
        return frozenset(out)

    def corners_px(self, at: Square, number: int | None = None) -> npt.NDArray[np.float64]:
        """(4, 2) px of the tile's upper face: the corners that are NW NE SE SW on the board (not on the tile).

        As it was laid, or as it lies at a frame.
        """
        pose = self.tiles[at].pose if number is None else self.pose(at, self.frame(number).turn)
        px = self.camera.project([(x, y, TILE_HEIGHT_MM) for x, y in pose.corners()])
        if number is None:
            return px
        moved = np.column_stack([px, np.ones(4)]) @ self.shift(number).T
        return moved[:, :2]

    def poses_px(self, number: int) -> dict[Square, npt.NDArray[np.float64]]:
        """(3, 3) homographies from the unit square to px of the upper faces of the tiles that lie at a frame."""
        return {at: np.asarray(cv2.getPerspectiveTransform(
            UNIT.astype(np.float32), self.corners_px(at, number).astype(np.float32)), float)
            for at in self.frame(number).tiles}
