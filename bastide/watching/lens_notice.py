"""Detects lens distortion from the tiles while the lens is not calibrated; `bastide read` does the same for a
photograph (`vision/lens_distortion.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from calibration.documents import Document, LensResult, TableResult
from scoring.tiles import Square
from scoring.views import IssueView
from vision.frames import Frame
from vision.lattice import UNIT, Array, apply
from vision.lens_distortion import TILES, Distortion, distortion_of

CODE = "lens_bends"
MORE = 6  # new tiles after which the lens is evaluated again
_TEXT = ("the lens bends the picture: tiles lie about {now} % of their side off a straight grid, and {straight} % were "
         "the lens known; bastide calibrate lens makes it known")


class LensNotice:
    """Evaluates the lens as tiles are added. ``known`` tells whether it is calibrated: then nothing is reported."""

    def __init__(self, known: Callable[[], bool]) -> None:
        self._known = known
        self._judged = TILES - MORE  # number of tiles at the last evaluation
        self.bend: Distortion | None = None  # what is reported
        self._before: Distortion | None = None

    def look(self, frame: Frame, poses: Mapping[Square, Array]) -> None:
        """Process a calm frame with the poses of the tiles (px). A result is reported if two successive ones agree."""
        if self._known() or len(poses) < self._judged + MORE:
            return
        self._judged = len(poses)
        seen = distortion_of({at: apply(pose, UNIT) for at, pose in poses.items()}, (frame.shape[1], frame.shape[0]))
        if (seen is None) == (self._before is None):
            self.bend = seen
        self._before = seen

    def rows(self) -> list[IssueView]:
        """The notice as one of a view's issues; empty if there is none."""
        if self.bend is None or self._known():
            return []
        parts = {"now": round(100 * self.bend.now), "straight": round(100 * self.bend.straight)}
        return [{"code": CODE, "text": _TEXT.format(**parts), "squares": [], "turn": None, "parts": parts}]


def lens_measured(documents: Iterable[tuple[str, Document]]) -> bool:
    """Whether one of these documents is a lens calibration measured with a board, not a preset."""
    lenses = [d.result.lens if isinstance(d.result, TableResult) else d.result for _, d in documents]
    return any(isinstance(lens, LensResult) and lens.rms_px > 0 for lens in lenses)
