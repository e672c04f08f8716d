"""Monitors whether the camera's view is still the one that the game began with, for the page's status.

A board that moved is re-registered by the watcher. What the watcher cannot follow is left to people, who are told how
to put it back.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count

import numpy as np

from calibration.advice import Advice
from calibration.drift import CHECK_S, Drift, DriftWatch, Reference, put_back
from scoring.tiles import Square
from vision.frames import Frame
from vision.lattice import UNIT, Array, apply, area

TILE_MM = 45.0
_NUMBERS = count(1)
LIVE_S = 0.8  # interval of comparisons while somebody pushes the camera back
_FOLLOWED = 0.15  # tiles: poses within this distance of where the view's movement takes them were re-registered


class ViewMonitor:
    """Compares a frame with the reference view now and then. ``notice`` is what to do while something must be put back,
    ``relit`` whether the light has changed since the first look."""

    def __init__(self) -> None:
        self.notice: Advice | None = None
        self.relit = False
        self._watch: DriftWatch | None = None
        self._number = 0  # of the reference view, changed with it
        self._poses: dict[Square, Array] = {}

    def look(self, frame: Frame, poses: Mapping[Square, Array], calm: bool = True, *, live: bool = False) -> None:
        """Process a frame with the poses that the watcher believes (undistorted px). The reference is a ``calm`` frame;
        after that, others are compared too: locally, a moved picture cannot be told from a hand. ``live`` compares more
        often, while somebody watches the numbers and pushes."""
        if self._watch is None:
            if calm and poses:
                self._begin(frame, poses)
            return
        every_s = LIVE_S if live else CHECK_S
        if not self._watch.due(frame.t_s, every_s):
            return
        told = self._watch.feed(frame.bgr, frame.t_s, every_s=every_s)
        last = self._watch.last
        if last is not None and last.verdict in ("same", "light"):
            self.notice = None
        if told is None:
            return
        self.relit = self.relit or told.verdict == "light"
        if told.verdict == "light" or self._followed(told.to_now, poses):
            self._begin(frame, poses)
        else:
            self.notice = put_back(told)

    def compared(self) -> tuple[int, Reference, Drift | None] | None:
        """The number of the reference view, the view, and the drift from it (None if the newest comparison was
        inconclusive). None before there is a reference."""
        watch = self._watch
        return None if watch is None else (self._number, watch.first, None if watch.unsure else watch.last)

    def _begin(self, frame: Frame, poses: Mapping[Square, Array]) -> None:
        sides = [np.sqrt(abs(area(apply(pose, UNIT)))) for pose in poses.values()]
        self._watch = DriftWatch(frame.bgr, TILE_MM / float(np.median(sides)), frame.t_s)
        self._number = next(_NUMBERS)
        self._poses, self.notice = dict(poses), None

    def _followed(self, to_now: Array, poses: Mapping[Square, Array]) -> bool:
        """Whether the watcher's tiles moved as the view did."""
        both = [at for at in self._poses if at in poses]
        if not both:
            return False
        off = []
        for at in both:
            here = apply(poses[at], UNIT)
            there = apply(to_now, apply(self._poses[at], UNIT))
            off.append(float(np.linalg.norm(here.mean(axis=0) - there.mean(axis=0)) / np.sqrt(abs(area(here)))))
        return float(np.median(off)) < _FOLLOWED
