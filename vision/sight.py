"""What a watcher saw, for people who want to see it too: readings it refused as well as those it took, silhouettes,
what moves. Nothing here decides anything; it is only kept, and made plain when somebody looks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import cv2
import numpy as np

from scoring.tiles import Square
from vision.lattice import UNIT, Array, apply
from vision.motion import Look, Mask
from vision.placements import Placement
from vision.standing import CROP_PX, MARGIN, Silhouette

MOST = 40  # readings that are kept, the newest
OPTIONS = 5
_SMALL = 12.0  # pixels of the small picture: less is noise
_EDGES = ((1, 0), (2, 1), (1, 2), (0, 1))  # the middles of a tile's sides, in halves of a tile


@dataclass(slots=True)
class _Looked:
    """A square that was read: ``like`` is the picture it agrees with best, ``placement`` what it was taken for."""

    pose: Array
    like: tuple[str, int, float]
    placement: Placement | None
    frame: int


@dataclass(slots=True)
class Sight:
    """The newest look at everything. One thread writes and reads it."""

    look: Look | None = None
    scale: float = 1.0  # of the small picture that ``look`` is about
    open: Mapping[Square, Array] = field(default_factory=dict)
    _squares: dict[Square, _Looked] = field(default_factory=dict)
    _figures: dict[Square, tuple[Array, list[Silhouette]]] = field(default_factory=dict)

    def square(self, at: Square, pose: Array, placement: Placement | None, like: tuple[str, int, float],
               frame: int) -> None:
        """A square was read, in vain when there is no placement."""
        self._squares.pop(at, None)
        self._squares[at] = _Looked(pose=pose if placement is None else placement.pose, like=like,
                                    placement=placement, frame=frame)
        while len(self._squares) > MOST:
            del self._squares[next(iter(self._squares))]

    def figures(self, at: Square, pose: Array, found: list[Silhouette]) -> None:
        """What stood out on a tile, whether or not it was taken for a figure."""
        self._figures = {at: (pose, found)}

    def report(self, poses: Mapping[Square, Array], size: tuple[int, int]) -> dict[str, Any]:
        """JSON-ready, in pixels of the frame, which is ``size`` (width, height): tiles and open squares with their
        corners, readings, figures with their outlines, what moves and which of it are hands."""
        now = max((s.frame for s in self._squares.values()), default=0)
        return {
            "size": list(size),
            "tiles": [{"at": list(at), "corners": _points(pose, UNIT)} for at, pose in poses.items()],
            "open": [{"at": list(at), "corners": _points(pose, UNIT)} for at, pose in self.open.items()
                     if at not in poses],
            "readings": [_reading(at, s, now) for at, s in self._squares.items()],
            "figures": [_figure(at, pose, one) for at, (pose, found) in self._figures.items() for one in found],
            "moving": self._outlines(None if self.look is None else self.look.moved),
            "hands": self._outlines(None if self.look is None else self.look.hands),
        }

    def _outlines(self, mask: Mask | None) -> list[list[list[float]]]:
        if mask is None or not mask.any():
            return []
        found, _ = cv2.findContours(mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
        large = sorted((c for c in found if cv2.contourArea(c) > _SMALL), key=cv2.contourArea, reverse=True)[:12]
        return [(cv2.approxPolyDP(c, 1.5, True)[:, 0] / self.scale).round(1).tolist() for c in large]


def _points(pose: Array, of: Array) -> list[list[float]]:
    points: list[list[float]] = apply(pose, of).round(1).tolist()
    return points


def _reading(at: Square, looked: _Looked, now: int) -> dict[str, Any]:
    """``up`` is where the picture of the best reading has its top: the middle of that side."""
    tile, rot, like = looked.like
    read = looked.placement
    if read is not None:
        tile, rot = read.tile, read.rot
    up = _points(looked.pose, np.array([_EDGES[rot % 4]]) / 2)[0]
    return {"at": list(at), "corners": _points(looked.pose, UNIT), "up": up, "tile": tile, "rot": rot,
            "like": round(like, 3), "taken": read is not None, "legal": read is None or read.legal,
            "old": looked.frame < now,
            "options": [] if read is None else [[t, r, round(p, 4)] for t, r, p in read.options[:OPTIONS]]}


def _figure(at: Square, pose: Array, one: Silhouette) -> dict[str, Any]:
    on_tile = np.array(one.outline, float) / CROP_PX - MARGIN
    return {"at": list(at), "outline": _points(pose, on_tile), "player": one.player, "sure": round(one.sure, 3),
            "lying": round(one.lying, 3), "why": one.why}
