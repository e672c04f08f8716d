"""What the camera sees right now, for viewers on the page; and pausing and resuming the camera.

The loop offers frames, the page fetches pictures. Without viewers nothing is drawn, encoded or kept.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from calibration.drift import Drift, Reference, ghost
from reading.look_report import LookReport
from vision.frames import Frame
from vision.images import encode_jpeg, encode_png, reduced
from web.protocol import CommandError
from web.states import GhostState, SeenState

WANTED_S = 6.0  # new pictures are made for so long after the last request
EVERY_S = 0.8
KEPT = 4  # pictures: a page requests the one that its overlay belongs to
LONG_SIDE_PX = 1600


class Reports(Protocol):
    """The reporting part of a watcher."""

    def report(self, size: tuple[int, int]) -> LookReport:
        """The last report, for a picture of this width and height."""


class Seeing:
    """The newest reports of one camera (`web.protocol.Seeing`). Thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._wanted_s = self._made_s = -1e9
        self._number = 0
        self._report: LookReport | None = None
        self._pictures: dict[int, bytes] = {}
        self._attached = self._rests = False
        self._point: tuple[float, float] | None = None
        self._pushed_s = -1e9
        self.compared: tuple[int, Reference, Drift | None] | None = None  # the reference view, and its drift
        self.relit = False  # whether the light has changed since the camera measured it
        self.balance: Callable[[], None] | None = None  # makes the camera measure focus and exposure again, if it can

    # -- for the page -----------------------------------------------------------------------------------------------

    def seen(self) -> SeenState:
        """The last report; also requests further ones. ``picture`` is the number of its picture, None if there is none
        yet."""
        with self._lock:
            self._wanted_s = self._clock()
            fresh = self._wanted_s - self._made_s < 2 * WANTED_S
            state: SeenState = {"camera": self._attached, "watching": self._attached and not self._rests,
                                "picture": None}
            return {**state, **self._report, "picture": self._number} if fresh and self._report else state

    def picture(self, number: int) -> bytes | None:
        """One of the newest pictures (JPEG), or None."""
        return self._pictures.get(number)

    def ghost(self) -> GhostState:
        """The reference view and the current one, for a person who pushes the camera back; it is compared more often
        meanwhile."""
        seen, compared = self.seen(), self.compared
        self._pushed_s = self._clock()
        about: GhostState = {"camera": seen["camera"], "picture": seen["picture"], "reference": None, "size": None,
                             "moved": None}
        if compared is None:
            return about
        number, reference, drift = compared
        height, width = reference.shape[:2]
        about = {**about, "reference": number, "size": [width, height]}
        if drift is None:
            return about
        x, y = (round(-v, 1) for v in drift.shift_mm)
        return {**about, "moved": {"x_mm": x, "y_mm": y, "turn_deg": round(-drift.turn_deg, 2),
                                   "back": drift.verdict != "moved", **ghost(reference, drift)}}

    def ghost_picture(self, number: int, edges: bool) -> bytes | None:
        """The reference view (JPEG), or its ``edges`` (PNG, transparent elsewhere), by its number; or None."""
        compared = self.compared
        if compared is None or compared[0] != number:
            return None
        return encode_png(compared[1].edges()) if edges else encode_jpeg(compared[1].ghost())

    def watch(self, on: bool) -> None:
        """Start or pause watching, while people enter the game by hand. Raises CommandError without a camera."""
        with self._lock:
            if not self._attached:
                raise CommandError("no_camera", "no camera watches this table")
            self._rests = not on

    def point(self, x: float, y: float) -> None:
        """Somebody taps a tile in the camera's picture: the board is there. Raises CommandError without a camera."""
        with self._lock:
            if not self._attached:
                raise CommandError("no_camera", "no camera watches this table")
            self._point = x, y

    def measure(self) -> None:
        """Make the camera measure focus and exposure again, and fix them; if it cannot, accept the current light as the
        reference. Raises CommandError without a camera."""
        with self._lock:
            if not self._attached:
                raise CommandError("no_camera", "no camera watches this table")
            self.relit = False
        if self.balance is not None:
            self.balance()

    # -- for the loop -----------------------------------------------------------------------------------------------

    def pointed(self) -> tuple[float, float] | None:
        """The point tapped since the last frame, in pixels of the frame; returned once."""
        with self._lock:
            point, self._point = self._point, None
        return point

    @property
    def pushing(self) -> bool:
        """Whether somebody is pushing the view back."""
        return self._clock() - self._pushed_s < WANTED_S

    @property
    def rests(self) -> bool:
        """Whether people have paused the camera."""
        return self._rests

    @property
    def present(self) -> bool:
        """Whether a camera gives pictures."""
        return self._attached

    @contextmanager
    def attached(self) -> Iterator[None]:
        """While a camera gives pictures."""
        self._attached = True
        try:
            yield
        finally:
            self._attached, self.compared = False, None

    def offer(self, frame: Frame, watcher: Reports) -> None:
        """Offer a processed frame: it is kept if there are viewers."""
        now = self._clock()
        if now - self._wanted_s > WANTED_S or now - self._made_s < EVERY_S:
            return
        bgr = frame.bgr
        jpeg = encode_jpeg(reduced(bgr, LONG_SIDE_PX))
        report = watcher.report((bgr.shape[1], bgr.shape[0]))
        with self._lock:
            self._made_s, self._number, self._report = now, self._number + 1, report
            self._pictures[self._number] = jpeg
            self._pictures.pop(self._number - KEPT, None)
