"""Following a source frame by frame: frames in, the watcher's proposals into the log."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum

from bastide.table.session import TableSession
from bastide.watching.learning import Learner
from bastide.watching.lens_notice import LensNotice
from bastide.watching.notices import rows
from bastide.watching.view_monitor import ViewMonitor
from bastide.watching.watcher import Watcher
from reading.watcher import Proposal
from scoring.events import Setup
from scoring.views import IssueView
from vision.frames import Frame, FrameSource, SourceError
from vision.images import encode_jpeg
from vision.picture import TEXT, PictureCheck, Verdict
from vision.stills import Still, keep

FROZEN_RESTART_S = 10.0  # a camera that repeats the same picture for so long is reopened
CHIPS = {"watching": "watching", "settling": "settling", "searching": "settling", "adrift": "camera_lost",
         "no_board": "camera_lost", "unwatched": "manual"}
SAID = {  # messages beside the status chip, by code; the page has translations
    **TEXT,
    "board_gone": "the board is no longer seen where it was: put it or the camera back, or take away what covers it",
    "no_board": "no board in view: tap the start tile in the camera's picture",
    "recording_over": "the recording has ended", "pictures_over": "the camera's pictures have ended",
    "reading_failed": "reading the table failed ({why})",
    "not_watched": "the camera cannot follow this game: enter it by hand",
}
# the watcher's status and the message code
LOST = {"adrift": "board_gone", "no_board": "no_board", "unwatched": "not_watched"}


@dataclass(slots=True)
class Followed:
    """The outcome of following a source. ``latency_s`` is the time from receiving a frame until its moves are on
    disk."""

    frames: int = 0
    questions: int = 0
    frame: Frame | None = None  # the last frame, unless it was unusable
    latency_s: list[float] = field(default_factory=list)

    def latency_ms(self, quantile: float) -> float:
        """A quantile of the latency in milliseconds, 0 without measurements."""
        ordered = sorted(self.latency_s)
        return round(1000 * ordered[min(len(ordered) - 1, int(quantile * len(ordered)))], 1) if ordered else 0.0


class Waits(Enum):
    """Why reading is paused."""

    NOTHING = "pictures are read as they come"
    PEOPLE = "they have told the camera to rest, and enter what happens"
    PICTURES = "what comes is no picture of the table: the score stays as it is"


def follow(source: FrameSource, watcher: Watcher, session: TableSession, *,
           stop: threading.Event | None = None, on_frame: Callable[[Followed], None] | None = None,
           save: Callable[[TableSession, Proposal, Still], None] | None = None,
           renew: Callable[[Setup], Watcher] | None = None, learner: Learner | None = None,
           changed: threading.Event | None = None, lens_known: Callable[[], bool] = lambda: True) -> Followed:
    """Feed an open source to the watcher until it ends or ``stop`` is set. ``save`` defaults to `commit`; ``renew``
    makes a new watcher for a game begun meanwhile, or for a new calibration, which ``changed`` reports. A ``learner``
    collects pictures of the tiles, and learned ones are used at once. Unless ``lens_known``, lens distortion is
    estimated from the tiles.

    Raises SourceError, and Failure when a move could not be saved.
    """
    following = Following(watcher, session, live=source.info.live, save=save or commit, renew=renew, learner=learner,
                           changed=changed, lens_known=lens_known)
    del watcher  # it may be replaced, and two at once would need twice the memory
    while stop is None or not stop.is_set():
        frame = source.read()
        if frame is None or not following.current():
            break
        if following.take(frame) and on_frame is not None:
            on_frame(following.done)
    if not source.info.live and (stop is None or not stop.is_set()):
        following.finish()
    return following.done


class Following:
    """The state of following one source for one session."""

    def __init__(self, watcher: Watcher, session: TableSession, *, live: bool,
                 save: Callable[[TableSession, Proposal, Still], None], renew: Callable[[Setup], Watcher] | None,
                 learner: Learner | None, changed: threading.Event | None, lens_known: Callable[[], bool]) -> None:
        self.done = Followed()
        self._watcher: Watcher = watcher
        self._session, self._game, self._save, self._renew = session, session.game, save, renew
        self._learner, self._changed, self._lens_known = learner, changed, lens_known
        self._waits, self._since_s = Waits.NOTHING, 0.0
        self._check, self._view_monitor, self._lens = PictureCheck(live=live), ViewMonitor(), LensNotice(lens_known)
        self._notices, self._pictures = list[IssueView](), dict[str, bytes]()
        self._last: Frame | None = None

    def current(self) -> bool:
        """Whether the current game can be followed, after replacing the watcher if necessary; False if none can be
        made."""
        session = self._session
        if session.seeing.rests:
            return True
        rested = self._waits is Waits.PEOPLE  # tiles may have been laid while watching was paused
        changed = self._changed is not None and self._changed.is_set()
        other = session.game != self._game
        if self._renew is None:
            return not other
        if rested or changed or other:
            if changed and self._changed is not None:
                self._changed.clear()
            del self._watcher
            self._watcher, self._view_monitor = self._renew(session.setup), ViewMonitor()
            if changed or other:
                self._lens = LensNotice(self._lens_known)
        self._game = session.game
        return True

    def take(self, frame: Frame) -> bool:
        """Read the next frame, or wait; False when its observation belongs to a game that was closed meanwhile. Raises
        SourceError, and Failure when a move could not be saved."""
        begun_s = time.perf_counter()
        if self._session.seeing.rests:
            self._rest(frame)
        elif (verdict := self._check.look(frame)).use:
            if not self._read(frame, verdict, begun_s):
                return False
        else:
            self._miss(frame, verdict)
        self.done.frames += 1
        return True

    def finish(self) -> None:
        """End of a recording: report or ask about waiting moves."""
        session = self._session
        while self._last is not None and session.game == self._game and \
                (left := self._watcher.finish(self._last, session.entries)):
            version = len(session.entries)
            self._tell(left, self._last, time.perf_counter())
            if len(session.entries) == version:
                break

    def _wait(self, what: Waits, now_s: float) -> None:
        if self._waits is not what:
            self._waits, self._since_s = what, now_s

    def _rest(self, frame: Frame) -> None:
        if self._waits is not Waits.PEOPLE:
            self._notices, self._pictures = [], {}
            self._session.set_notices([], {})
        self._wait(Waits.PEOPLE, frame.t_s)
        self._session.set_status("paused")
        self._session.seeing.offer(frame, self._watcher)

    def _miss(self, frame: Frame, verdict: Verdict) -> None:
        self._wait(Waits.PICTURES, frame.t_s)
        self.done.frame = None
        if verdict.said:
            self._session.set_status("camera_lost", verdict.text, verdict.code)
        if verdict.code == "camera_frozen" and frame.t_s - self._since_s >= FROZEN_RESTART_S:
            raise SourceError(verdict.text)

    def _read(self, frame: Frame, verdict: Verdict, begun_s: float) -> bool:
        session, watcher, seeing = self._session, self._watcher, self._session.seeing
        self._wait(Waits.NOTHING, frame.t_s)
        self.done.frame = self._last = frame  # releases the previous one: each takes 36 MB at 12 MP
        if (point := seeing.pointed()) is not None:
            watcher.point(point)
        seen = watcher.feed(frame, session.entries)
        seeing.offer(frame, watcher)
        if session.game != self._game:
            return False
        self._tell(seen.proposals, frame, begun_s)
        self._view_monitor.look(frame, watcher.poses, calm=seen.status == "watching", live=seeing.pushing)
        seeing.compared = self._view_monitor.compared()
        seeing.relit = seeing.relit or self._view_monitor.relit
        notice, code = self._view_monitor.notice, LOST.get(seen.status, verdict.code)
        if notice is not None:
            session.set_status("camera_lost", notice.text, notice.code, notice.parts)
        else:
            session.set_status(CHIPS[seen.status], SAID.get(code, ""), code)
        if seen.status == "watching":
            self._lens.look(frame, watcher.poses)
        if seen.notices is not None:
            self._notices, self._pictures = rows(seen.notices, session.setup.players)
        session.set_notices([*self._notices, *self._lens.rows()], self._pictures)
        if self._learner is not None and seen.status == "watching":
            self._learner.look(frame, watcher.poses)
            if self._learner.due() and (tiles := self._learner.write()) is not None:
                watcher.use(tiles)
        return True

    def _tell(self, proposals: Sequence[Proposal], frame: Frame, begun_s: float) -> None:
        """Write the proposals to the log, in order."""
        if not proposals:
            return
        still = keep(frame.bgr, self._watcher.poses)
        for proposal in proposals:
            self._save(self._session, proposal, still)
            self.done.questions += proposal.decision.asked
            self.done.latency_s.append(time.perf_counter() - begun_s)


def commit(session: TableSession, proposal: Proposal, still: Still) -> None:
    """Write one proposal to the log with its pictures."""
    made = proposal.decision
    session.commit(made.events, confidence=made.confidence, asked=made.asked, frame=made.frame,
                   alternatives=made.alternatives, crop=encode_jpeg(proposal.crop), replaces=made.replaces,
                   after=made.after, still=still, settles=made.settles)
