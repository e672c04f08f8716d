"""The table's loop: any fault of the camera, the disk or the watcher is shown on the page and no move is lost."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import pytest

from bastide.errors import Failure
from bastide.log.store import Store
from bastide.table.demo_game import demo_game
from bastide.table.session import TableSession
from bastide.watching.following import follow
from bastide.watching.table_loop import TableLoop
from reading.policy import Decision
from reading.watcher import Observation, Proposal
from scoring.events import Event, FigurePlaced, TilePlaced
from scoring.log import LogEntry, effective
from vision.frames import Frame, SourceError, SourceInfo

GAME = demo_game(3, turns=4)
EVENTS = tuple(e for t in GAME.turns for e in t.events)
PICTURE = np.random.default_rng(1).integers(40, 200, (8, 8, 3), np.uint8)
PATIENCE_S = 30.0


class Camera:
    """Gives so many frames, then ends or breaks."""

    def __init__(self, frames: int, *, live: bool = False, breaks: str = "", opens: bool = True) -> None:
        self.info = SourceInfo(uri="test:", model="test", width=8, height=8, live=live)
        self._left, self._breaks, self._opens = frames, breaks, opens

    def __enter__(self) -> Self:
        if not self._opens:
            raise SourceError("there is no camera")
        return self

    def __exit__(self, *exc: object) -> None:
        pass

    def read(self, timeout_s: float = 5.0) -> Frame | None:
        if self._left == 0:
            if self._breaks:
                raise SourceError(self._breaks)
            return None
        self._left -= 1
        return Frame(id=self._left, t_s=0.0, source="test:", bgr=PICTURE)


class Watcher:
    """Proposes one event per frame, or what a script says."""

    poses: dict[tuple[int, int], Any] = {}

    def __init__(self, script: Sequence[Any] = EVENTS) -> None:
        self._script = list(script)

    def feed(self, frame: Frame, entries: Sequence[LogEntry]) -> Observation:
        item = self._script.pop(0) if self._script else "watching"
        if isinstance(item, Exception):
            raise item
        if isinstance(item, str):
            return Observation(status=item)
        proposal = item if isinstance(item, Proposal) else proposed(item)
        return Observation(status="watching", proposals=(proposal,))

    def finish(self, frame: Frame, entries: Sequence[LogEntry]) -> tuple[Proposal, ...]:
        return ()


def proposed(event: Event, **more: Any) -> Proposal:
    decision = Decision(**{"events": (event,), "confidence": 0.9, "asked": False, "frame": 1,
                           "alternatives": (((event,), 0.9),), "at": getattr(event, "at", (0, 0)), **more})
    return Proposal(decision=decision, crop=PICTURE)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "log.sqlite") as opened:
        yield opened


@pytest.fixture
def session(store: Store) -> TableSession:
    return TableSession(store, GAME.setup)


def until(session: TableSession, holds: Callable[[Any], bool]) -> Any:
    """The first view from now on that is as wanted."""
    mine = session.subscribe()
    try:
        while (view := mine.get(PATIENCE_S)) is not None:
            if holds(view):
                return view
    finally:
        mine.close()
    raise AssertionError("it never happened")


def test_every_proposal_is_committed_in_order(session: TableSession) -> None:
    done = follow(Camera(len(EVENTS) + 2), Watcher(), session)  # type: ignore[arg-type]
    assert tuple(e.body for e in session.entries) == EVENTS
    assert done.frames == len(EVENTS) + 2 and len(done.latency_s) == len(EVENTS)
    assert done.latency_ms(0.5) <= done.latency_ms(0.95)


def test_later_evidence_corrects_the_entry_that_it_names(session: TableSession) -> None:
    tile, figure = next((t, f) for t, f in zip(EVENTS, EVENTS[1:], strict=False)
                        if isinstance(t, TilePlaced) and isinstance(f, FigurePlaced))
    rival = FigurePlaced(player=1, figure="follower", at=figure.at, feature=figure.feature, where=figure.where)
    better = TilePlaced(player=tile.player, tile="base.U", at=tile.at, rot=0)
    script = [tile, figure, proposed(rival, replaces=2), proposed(better, replaces=1)]
    follow(Camera(4), Watcher(script), session)  # type: ignore[arg-type]
    history = session.view()["history"]
    assert [(h["kind"], h["player"]) for h in history] == [("tile", tile.player), ("deploy", 1)]
    assert history[0]["tile"] == "base.U" and [h["amended"] for h in history][0]


def test_a_turn_that_was_missed_comes_after_all_of_the_turn_before_it(session: TableSession) -> None:
    first = next(n for n, e in enumerate(EVENTS) if isinstance(e, FigurePlaced))
    tile, *later = EVENTS[first - 1], *EVENTS[first + 1:first + 3]
    missed = TilePlaced(player=1, tile="base.U", at=(9, 9), rot=0)
    claim = FigurePlaced(player=1, figure="follower", at=(9, 9), feature="road", where="E W")
    script = [tile, EVENTS[first], *later, proposed(missed, after=2), proposed(claim, after=5)]
    follow(Camera(len(script)), Watcher(script), session)  # type: ignore[arg-type]
    assert [event for _, event in effective(session.entries)] == [tile, EVENTS[first], missed, claim, *later]


def test_a_camera_that_comes_back_goes_on(session: TableSession, monkeypatch: pytest.MonkeyPatch) -> None:
    cameras = [Camera(0, live=True, opens=False), Camera(2, live=True, breaks="the cable is out"),
               Camera(2, live=True), Camera(99)]
    loop = TableLoop(lambda: cameras.pop(0), Watcher(), session)  # type: ignore[arg-type]
    monkeypatch.setattr(loop._stop_asked, "wait", lambda timeout=None: loop._stop_asked.is_set())
    loop.start()
    loop.join(PATIENCE_S)
    assert loop.ended.is_set() and loop.failure is None and cameras == []
    assert tuple(e.body for e in session.entries) == EVENTS
    assert session.view()["status"]["chip"] == "manual"


def test_the_watcher_is_made_by_the_loop_and_anew_for_a_game_begun_without_a_camera(session: TableSession) -> None:
    """A new game begins while the camera is lost: later observations belong to it."""
    made: list[int] = []
    both = threading.Event()

    def renew(setup: object) -> Watcher:
        made.append(session.game)
        return Watcher(())

    class Coming(Camera):
        def __enter__(self) -> Self:
            if len(made) == 1 and session.game == made[0]:
                session.command({"do": "new_game", "setup": {"edition": "zman2012", "players": [
                    {"name": "A", "colour": "red"}, {"name": "B", "colour": "blue"}]}})
            elif len(made) == 2:
                both.set()
            return super().__enter__()

    loop = TableLoop(lambda: Coming(2, live=True), None, session, renew)  # type: ignore[arg-type,return-value]
    assert not made
    loop.start()
    assert both.wait(120)
    loop.stop()
    assert made[1] == session.game != made[0] and loop.failure is None


def test_a_watcher_is_gone_before_there_is_another(session: TableSession) -> None:
    """Replaced for a new game, for a calibration and after a pause, without ever holding two in memory."""
    made, alive, changed = list[weakref.ref[Watcher]](), list[int](), threading.Event()

    def renew(setup: object) -> Watcher:
        gc.collect()
        alive.append(sum(watcher() is not None for watcher in made))
        watcher = Watcher([])
        made.append(weakref.ref(watcher))
        return watcher

    class Evening(Camera):
        def read(self, timeout_s: float = 5.0) -> Frame | None:
            match self._left:
                case 8:
                    session.command({"do": "new_game", "setup": {
                        "edition": "zman2012", "players": [{"name": "A", "colour": "red"}]}})
                case 6:
                    changed.set()
                case 4 | 2:
                    session.seeing.watch(self._left == 2)
            return super().read(timeout_s)

    loop = TableLoop(lambda: Evening(10), None, session, renew, changed=changed)  # type: ignore[arg-type,return-value]
    loop.start()
    assert loop.ended.wait(PATIENCE_S)
    assert alive == [0, 0, 0, 0]


def test_a_recording_that_breaks_is_not_begun_anew(session: TableSession) -> None:
    loop = TableLoop(lambda: Camera(3, breaks="the file is cut off"), Watcher(), session)  # type: ignore[arg-type]
    loop.start()
    loop.join(PATIENCE_S)
    assert loop.ended.is_set() and loop.failure == "the file is cut off"
    assert len(session.entries) == 3
    assert session.view()["status"] == {"chip": "camera_lost", "text": "the file is cut off",
                                        "code": "camera_gone"}


def test_a_table_out_of_view_is_reported(session: TableSession) -> None:
    follow(Camera(1), Watcher(["adrift"]), session)  # type: ignore[arg-type]
    assert session.view()["status"]["chip"] == "camera_lost" and session.view()["status"]["text"]


def test_a_watcher_that_fails_is_said_and_the_game_can_be_entered_by_hand(session: TableSession) -> None:
    watcher = Watcher([EVENTS[0], ZeroDivisionError("so it goes")])
    loop = TableLoop(lambda: Camera(9), watcher, session)  # type: ignore[arg-type,return-value]
    loop.start()
    loop.join(PATIENCE_S)
    assert loop.failure is not None and "so it goes" in loop.failure
    assert session.view()["status"] == {"chip": "camera_lost", "text": loop.failure, "code": "reading_failed",
                                        "parts": {"why": "ZeroDivisionError: so it goes"}}
    assert session.command({"do": "end_turn"})["version"] == 2


def test_a_full_disk_shows_on_the_page_and_no_move_is_lost(session: TableSession, store: Store) -> None:
    disk = threading.Event()
    append = store.append

    def full(game: int, entries: Any, **more: Any) -> None:
        if len(session.entries) == 2 and not disk.is_set():
            raise Failure("the disk is full")
        append(game, entries, **more)

    store.append = full  # type: ignore[method-assign]
    loop = TableLoop(lambda: Camera(len(EVENTS)), Watcher(), session)  # type: ignore[arg-type,return-value]
    loop.retry_s = 0.0
    loop.start()
    view = until(session, lambda v: v["status"]["text"] == "the disk is full")
    assert view["version"] == 2 and view["status"]["chip"] == "check"
    disk.set()
    loop.join(PATIENCE_S)
    assert tuple(e.body for e in session.entries) == EVENTS
    assert session.view()["status"]["text"] != "the disk is full"


def test_a_loop_that_waits_for_room_can_be_stopped(session: TableSession, store: Store) -> None:
    def full(*args: Any, **more: Any) -> None:
        raise Failure("the disk is full")

    store.append = full  # type: ignore[method-assign]
    loop = TableLoop(lambda: Camera(9, live=True), Watcher(), session)  # type: ignore[arg-type,return-value]
    loop.start()
    until(session, lambda v: v["status"]["text"] == "the disk is full")
    loop.stop()
    assert not loop.is_alive() and session.entries == ()


def test_watching_without_a_page_fails_when_the_disk_is_full(session: TableSession, store: Store) -> None:
    def full(*args: Any, **more: Any) -> None:
        raise Failure("the disk is full")

    store.append = full  # type: ignore[method-assign]
    with pytest.raises(Failure, match="full"):
        follow(Camera(2), Watcher(), session)  # type: ignore[arg-type]
