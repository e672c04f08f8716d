"""The table's loop: frames in, the watcher's proposals into the log. One thread owns the camera and the watcher."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from bastide.errors import Failure
from bastide.table.session import TableSession
from bastide.watching.learning import Learner
from bastide.watching.lens_notice import LensNotice
from bastide.watching.notices import rows
from bastide.watching.steadiness import Steadiness
from bastide.watching.watcher import Guarded, Watcher
from reading.watcher import Proposal, TableWatcher
from scoring.events import Setup
from vision.frames import DeadSource, Frame, FrameSource, SourceError
from vision.images import encode_jpeg
from vision.picture import TEXT, PictureCheck, brightness, sharpness
from vision.stills import Still, keep

RETRY_S = 2.0
FROZEN_RESTART_S = 10.0  # a camera that repeats itself for so long is opened anew
_log = logging.getLogger("bastide.table")
CHIPS = {"watching": "watching", "settling": "settling", "searching": "settling", "adrift": "camera_lost",
         "no_board": "camera_lost", "unwatched": "manual"}
SAID = {  # what is told beside the chip, by its code; the page has these in its languages
    **TEXT,
    "board_gone": "the board is not seen where it lay: put it or the camera back, or take away what covers it",
    "no_board": "no board is seen: tap the start tile in the camera's picture",
    "recording_over": "the recording has ended", "pictures_over": "the camera's pictures have ended",
    "reading_failed": "reading the table failed ({why})",
    "not_watched": "the camera cannot follow this game: enter it by hand",
}
# the watcher's word and what is told
LOST = {"adrift": "board_gone", "no_board": "no_board", "unwatched": "not_watched"}


@dataclass(slots=True)
class Followed:
    """What following a source came to. ``latency_s`` is from having the frame to its moves being on disk."""

    frames: int = 0
    questions: int = 0
    frame: Frame | None = None  # the one just read, unless it is no picture of the table
    latency_s: list[float] = field(default_factory=list)

    def latency_ms(self, quantile: float) -> float:
        """A quantile of the latency in milliseconds, 0 when nothing was read."""
        ordered = sorted(self.latency_s)
        return round(1000 * ordered[min(len(ordered) - 1, int(quantile * len(ordered)))], 1) if ordered else 0.0


def follow(source: FrameSource, watcher: Watcher, session: TableSession, *,
           stop: threading.Event | None = None, on_frame: Callable[[Followed], None] | None = None,
           save: Callable[[TableSession, Proposal, Still], None] | None = None,
           renew: Callable[[Setup], Watcher] | None = None, learner: Learner | None = None,
           changed: threading.Event | None = None, lens_known: Callable[[], bool] = lambda: True) -> Followed:
    """Feed an open source to the watcher until it ends or ``stop`` is set. ``save`` is `commit` unless given; ``renew``
    makes the watcher for another game that people begin meanwhile, and for another calibration, which ``changed`` says.
    A ``learner`` takes pictures of the tiles, and what it has learned is used at once. Unless ``lens_known``, the tiles
    are asked whether the lens bends.

    Raises SourceError, and Failure when a move could not be saved.
    """
    done = Followed()
    game, steadiness, lens = session.game, Steadiness(), LensNotice(lens_known)
    notices, pictures = list[dict[str, Any]](), dict[str, bytes]()
    check = PictureCheck(live=source.info.live)
    bad_s: float | None = None
    last: Frame | None = None
    seeing, rested = session.seeing, False
    while stop is None or not stop.is_set():
        frame = source.read()
        if frame is None:
            break
        begun = time.perf_counter()
        if seeing.rests:  # people enter what happens
            if not rested:
                notices, pictures = [], {}
                session.set_notices([], {})
            rested = True
            session.set_status("paused")
            seeing.offer(frame, watcher)
            done.frames += 1
            if on_frame is not None:
                on_frame(done)
            continue
        if rested and renew is not None:  # tiles may have been laid while nobody watched
            del watcher  # two at once would need the memory of two
            watcher, steadiness = renew(session.setup), Steadiness()
        elif changed is not None and changed.is_set() and renew is not None:
            changed.clear()
            del watcher
            watcher, steadiness, lens = renew(session.setup), Steadiness(), LensNotice(lens_known)
        rested = False
        if session.game != game:
            if renew is None:  # what is seen belongs to a game that nobody plays here any more
                break
            del watcher
            watcher, game, steadiness = renew(session.setup), session.game, Steadiness()
            lens = LensNotice(lens_known)
        verdict = check.look(frame)
        if not verdict.use:  # no picture of the table: the score stays as it is
            bad_s, done.frame = frame.t_s if bad_s is None else bad_s, None
            if verdict.said:
                session.set_status("camera_lost", verdict.text, verdict.code)
            if verdict.code == "camera_frozen" and frame.t_s - bad_s >= FROZEN_RESTART_S:
                raise SourceError(verdict.text)
            done.frames += 1
            if on_frame is not None:
                on_frame(done)
            continue
        bad_s, done.frame = None, frame
        if (point := seeing.pointed()) is not None:
            watcher.point(point)
        seen = watcher.feed(frame, session.entries)
        seeing.offer(frame, watcher)
        if session.game != game:
            continue  # what was seen belongs to the game before
        _take(seen.proposals, frame, watcher, session, save or commit, done, begun)
        last = frame
        steadiness.look(frame, watcher.poses, calm=seen.status == "watching")
        seeing.relit = seeing.relit or steadiness.relit
        notice, code = steadiness.notice, LOST.get(seen.status, verdict.code)
        if notice is not None:
            session.set_status("camera_lost", notice.text, notice.code, notice.parts)
        else:
            session.set_status(CHIPS[seen.status], SAID.get(code, ""), code)
        if seen.status == "watching":
            lens.look(frame, watcher.poses)
        if seen.notices is not None:
            notices, pictures = rows(seen.notices, session.setup.players)
        session.set_notices([*notices, *lens.rows()], pictures)
        if learner is not None and seen.status == "watching":
            learner.look(frame, watcher.poses)
            if learner.due() and (tiles := learner.write()) is not None:
                watcher.use(tiles)
        done.frames += 1
        if on_frame is not None:
            on_frame(done)
    ended = stop is None or not stop.is_set()
    if ended and last is not None and not source.info.live and session.game == game:
        while left := watcher.finish(session.entries):  # a recording has ended: what only waited is told and asked
            version = len(session.entries)
            _take(left, last, watcher, session, save or commit, done, time.perf_counter())
            if len(session.entries) == version:
                break
    return done


def _take(proposals: Sequence[Proposal], frame: Frame, watcher: Watcher, session: TableSession,
          save: Callable[[TableSession, Proposal, Still], None], done: Followed, begun_s: float) -> None:
    """Put what was decided into the log, in its order."""
    still = keep(frame.bgr, watcher.poses) if proposals else None
    for proposal in proposals:
        assert still is not None
        save(session, proposal, still)
        done.questions += proposal.decision.asked
        done.latency_s.append(time.perf_counter() - begun_s)


def commit(session: TableSession, proposal: Proposal, still: Still) -> None:
    """Put one decision into the log with its pictures."""
    made = proposal.decision
    session.commit(made.events, confidence=made.confidence, asked=made.asked, frame=made.frame,
                   alternatives=made.alternatives, crop=encode_jpeg(proposal.crop), replaces=made.replaces,
                   after=made.after, still=still)


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A glance at the camera's newest picture: what camera, mean level, sharpness."""

    what: str
    light: float
    sharp: float


class TableLoop(threading.Thread):
    """Follows a camera in the background; when it fails, says so on the page and tries again until stopped.

    Without a ``watcher`` it makes one by ``renew`` once it runs: the page need not wait for that.
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
        self._frame = 0  # what a line of the log is about
        self._asked, self._looked = threading.Event(), threading.Event()
        self._look: Look | None = None
        self.ended = threading.Event()
        self.failure: str | None = None
        self.dead: str | None = None  # why this process cannot watch any more; another one could
        self.beat_s = time.monotonic()  # when it last took a frame or tried to

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
                    if not live:  # a recording would begin anew, and so would its game
                        self.failure = str(e)
                        break
                self._stop_asked.wait(wait_s)
                wait_s = min(30.0, 2 * wait_s)
        except Exception as e:  # the page must say that nobody is watching any more, whatever happened
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
        """A glance at the next picture, for whoever asks from another thread; None when none came in time."""
        self._looked.clear()
        self._asked.set()
        return self._look if self._looked.wait(patience_s) else None

    def _own_watcher(self) -> Watcher:
        """The watcher of the game that is played; another may have been begun while there was no camera."""
        while self._watcher is None or (self._game != self._session.game and self._renew is not None):
            self._new_watcher(self._session.setup)
        if self._renew is not None and not isinstance(self._watcher, Guarded):
            self._watcher = self._guarded(self._session.setup, self._watcher)
        return self._watcher

    def _new_watcher(self, setup: Setup) -> Watcher:
        """Another game has begun at the table; a camera that is lost meanwhile finds its watcher too."""
        assert self._renew is not None
        self._game, self._watcher = self._session.game, None
        self._watcher = self._guarded(setup)
        return self._watcher

    def _guarded(self, setup: Setup, made: Watcher | None = None) -> Watcher:
        renew = self._renew
        assert renew is not None
        return Guarded(lambda: renew(setup), made)

    def _save(self, session: TableSession, proposal: Proposal, still: Still) -> None:
        """Put a move into the log as soon as the disk takes it; until then the page says what is wrong.

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
                    return None  # the move is on disk; only its picture is not
                self._stop_asked.wait(self.retry_s)

    def stop(self) -> None:
        """Ask the loop to end and wait for it."""
        self._stop_asked.set()
        self.join(timeout=10.0)
