"""The table's loop: one thread owns the camera and the watcher, feeds the watcher with frames, and starts again when
the camera fails."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from bastide.errors import Failure
from bastide.table.session import TableSession
from bastide.watching.following import SAID, Followed, commit, follow
from bastide.watching.learning import Learner
from bastide.watching.watcher import Guarded, Watcher
from reading.watcher import Proposal, TableWatcher
from scoring.events import Setup
from vision.frames import DeadSource, FrameSource, SourceError
from vision.picture import brightness, sharpness
from vision.stills import Still

RETRY_S = 2.0
_log = logging.getLogger("bastide.table")


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """Measurements of the camera's newest picture: camera, mean level, sharpness."""

    what: str
    light: float
    sharp: float


class TableLoop(threading.Thread):
    """Follows a camera in the background; after a failure it reports it on the page and retries until stopped.

    Without a ``watcher`` it makes one by ``renew`` in its own thread, so that the page need not wait.
    """

    def __init__(self, open_camera: Callable[[], FrameSource], watcher: TableWatcher | None, session: TableSession,
                 renew: Callable[[Setup], TableWatcher] | None = None, learner: Learner | None = None,
                 changed: threading.Event | None = None, lens_known: Callable[[], bool] = lambda: True) -> None:
        super().__init__(name="table", daemon=True)
        self._learner, self._changed, self._lens_known = learner, changed, lens_known
        self._open, self._session = open_camera, session
        self._watcher: Watcher | None = watcher
        self._renew, self._game = renew, session.game
        self._stop_asked = threading.Event()
        self.retry_s = RETRY_S
        self._frame = 0  # for the log's records
        self._asked, self._looked = threading.Event(), threading.Event()
        self._look: Look | None = None
        self.ended = threading.Event()
        self.failure: str | None = None
        self.dead: str | None = None  # why this process can no longer watch, but a new one could
        self.beat_s = time.monotonic()  # time of the last frame or attempt

    def run(self) -> None:
        wait_s = 1.0
        try:
            while not self._stop_asked.is_set():
                live = True
                self.beat_s = time.monotonic()
                try:
                    camera = self._open()
                    live = camera.info.live
                    with camera, self._session.seeing.attached():
                        done = follow(camera, self._own_watcher(), self._session, stop=self._stop_asked,
                                      save=self._save, renew=self._new_watcher, learner=self._learner,
                                      on_frame=self._beat, changed=self._changed,
                                      lens_known=self._lens_known)
                        wait_s = 1.0 if done.frames else wait_s
                        if not live:
                            self._session.set_status("manual", SAID["recording_over"], "recording_over")
                            break
                        self._session.set_status("camera_lost", SAID["pictures_over"], "pictures_over")
                except (SourceError, Failure) as e:
                    self._session.set_status("camera_lost", str(e), "camera_gone")
                    _log.info("the camera: %s", e, extra={"frame": self._frame})
                    if isinstance(e, DeadSource):
                        self.failure = self.dead = str(e)
                        break
                    if not live:  # a recording would start over, and its game too
                        self.failure = str(e)
                        break
                self._stop_asked.wait(wait_s)
                wait_s = min(30.0, 2 * wait_s)
        except Exception as e:  # whatever happened, the page must report that the table is no longer watched
            why = f"{type(e).__name__}: {e}"
            self.failure = self.dead = SAID["reading_failed"].format(why=why)
            self._session.set_status("camera_lost", self.failure, "reading_failed", {"why": why})
            _log.error("reading the table failed", exc_info=e, extra={"frame": self._frame})
        finally:
            if self._learner is not None:
                self._learner.write()
            self.ended.set()

    def _beat(self, done: Followed) -> None:
        self.beat_s = time.monotonic()
        self._frame = done.frames
        if self._asked.is_set() and (frame := done.frame) is not None:
            self._asked.clear()
            height, width = frame.shape[:2]
            self._look = Look(what=f"{frame.source.partition(':')[0]}, {width}x{height}", light=brightness(frame.bgr),
                              sharp=sharpness(frame.bgr))
            self._looked.set()

    def look(self, patience_s: float) -> Look | None:
        """The next picture, for another thread; None if none came in time."""
        self._looked.clear()
        self._asked.set()
        return self._look if self._looked.wait(patience_s) else None

    def _own_watcher(self) -> Watcher:
        """The watcher of the current game; a new one may have begun while there was no camera."""
        while self._watcher is None or (self._game != self._session.game and self._renew is not None):
            self._new_watcher(self._session.setup)
        if self._renew is not None and not isinstance(self._watcher, Guarded):
            self._watcher = self._guarded(self._session.setup, self._watcher)
        return self._watcher

    def _new_watcher(self, setup: Setup) -> Watcher:
        """Make a watcher for a new game, also if the camera is lost meanwhile."""
        assert self._renew is not None
        self._game, self._watcher = self._session.game, None
        self._watcher = self._guarded(setup)
        return self._watcher

    def _guarded(self, setup: Setup, made: Watcher | None = None) -> Watcher:
        renew = self._renew
        assert renew is not None
        return Guarded(lambda: renew(setup), made)

    def _save(self, session: TableSession, proposal: Proposal, still: Still) -> None:
        """Write a move to the log, retrying while the disk fails; until then the page shows the error.

        The watcher has seen the move and does not propose it again, so it must not be lost here.
        """
        while not self._stop_asked.is_set():
            before = session.view()["version"]
            self.beat_s = time.monotonic()  # waiting for the disk does not count as stuck
            try:
                return commit(session, proposal, still)
            except Failure as e:
                _log.warning("%s", e, extra={"frame": proposal.decision.frame})
                session.set_status("check", str(e), "not_saved")
                if session.view()["version"] != before:
                    return None  # the move is on disk, only its picture is missing
                self._stop_asked.wait(self.retry_s)

    def stop(self) -> None:
        """Ask the loop to end and wait for it."""
        self._stop_asked.set()
        self.join(timeout=10.0)
