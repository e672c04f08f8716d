"""Notices that the lens bends, by the tiles that lie, while no calibration of it is in use; of a photograph
`bastide read` says the same (`vision/lens_distortion.py`).
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
MORE = 6  # tiles that must have come for the lens to be judged anew
_TEXT = ("the lens bends the picture: tiles lie about {now} % of their side off a straight grid, and {straight} % were "
         "the lens known; bastide calibrate lens makes it known")


class LensNotice:
    """Judges the lens as tiles come. ``known`` says whether a calibration of it is in use: then nothing is said."""

    def __init__(self, known: Callable[[], bool]) -> None:
        self._known = known
        self._judged = TILES - MORE  # tiles that lay when it was judged last
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
        """What a view says of it, as one of its issues; empty when there is nothing to say."""
        if self.bend is None or self._known():
            return []
        parts = {"now": round(100 * self.bend.now), "straight": round(100 * self.bend.straight)}
        return [{"code": CODE, "text": _TEXT.format(**parts), "squares": [], "turn": None, "parts": parts}]


def lens_measured(documents: Iterable[tuple[str, Document]]) -> bool:
    """Whether one of these documents knows the lens from pictures of a board, not from its kind."""
    lenses = [d.result.lens if isinstance(d.result, TableResult) else d.result for _, d in documents]
    return any(isinstance(lens, LensResult) and lens.rms_px > 0 for lens in lenses)
