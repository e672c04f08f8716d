"""Views of the ChArUco board from a running camera: one is taken whenever the board is held still in a new pose."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from bastide.camera.opening import looks, open_camera, opened
from bastide.errors import Failure
from bastide.machine.stopping import stop_on_signals
from calibration.boards import Pattern, find_board
from calibration.lens import FEWEST_CORNERS, coverage_of, moved_px, said_of_empty
from calibration.targets import Board
from vision.frames import Image

ENOUGH = 14
LOOK_S = 0.4
_STILL = 0.0012  # of the picture's width between two frames: more shake blurs the view
_NEW = 0.06  # and least difference from every earlier view


@dataclass(frozen=True, slots=True, kw_only=True)
class Views:
    """Named pictures, and the camera that took them."""

    pictures: list[tuple[str, Image]]
    model: str
    uri: str


class Gathering:
    """Takes a view whenever the board is held still in a new pose."""

    def __init__(self) -> None:
        self._before: Pattern | None = None

    def feed(self, seen: Pattern | None, width: int, kept: Sequence[Pattern]) -> bool:
        """Whether to add this detection to those ``kept``, in pictures of this ``width``."""
        if seen is None or len(seen.px) < FEWEST_CORNERS:
            self._before = None
            return False
        still = self._before is not None and moved_px(self._before, seen) < _STILL * width
        self._before = seen
        return still and all(moved_px(seen, old) > _NEW * width for old in kept)


def take_views(uri: str, board: Board, enough: int = ENOUGH) -> Views:
    """Up to ``enough`` views; fewer when the source ends or somebody presses Ctrl-C.

    Raises Failure for a camera that fails before the first view, and if no board was seen.
    """
    kept: list[tuple[Pattern, Image]] = []
    gathering = Gathering()
    with stop_on_signals() as stop, opened(open_camera(uri)) as camera:
        print(f"hold the board still, tilted, in every part of the picture: {enough} views; Ctrl-C ends",
              file=sys.stderr, flush=True)
        for frame in looks(camera, LOOK_S, lambda: not stop.is_set() and len(kept) < enough, lambda: bool(kept)):
            seen = find_board(frame.bgr, board)
            width = frame.shape[1]
            if gathering.feed(seen, width, [p for p, _ in kept]) and seen is not None:
                kept.append((seen, frame.bgr))
                size = (width, frame.shape[0])
                empty = said_of_empty(coverage_of([p for p, _ in kept], size))
                print(f"view {len(kept)} of {enough}{f'; none yet {empty}' if empty else ''}", file=sys.stderr,
                      flush=True)
        info = camera.info
    if not kept:
        raise Failure(f"{info.uri} never saw the board {board} held still; check --board, the light and the focus")
    return Views(pictures=[(f"view {n}", image) for n, (_, image) in enumerate(kept, 1)], model=info.model,
                 uri=info.uri)
