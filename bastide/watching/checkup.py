"""The doctor's report for the page while a table is served, cached for a while."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from bastide.machine.findings import Line, line
from bastide.machine.health import picture, report
from bastide.table.session import TableSession
from bastide.watching.table_loop import TableLoop
from calibration.documents import Document
from web.machine_states import ReportState

FRESH_S = 20.0  # cache lifetime: a check writes to the card, and anybody may request one
LOOK_S = 2.0


class CheckUp:
    """Call it for the report of `health.report`. Thread-safe; one check at a time, others get the previous result."""

    def __init__(self, data: Path, session: TableSession, loop: TableLoop | None = None,
                 calibrations: Callable[[], Iterable[tuple[str, Document]]] = tuple, *,
                 more: Callable[[], Iterable[Line]] = tuple, clock: Callable[[], float] = time.monotonic) -> None:
        self._data, self._session, self._loop = data, session, loop
        self._calibrations, self._more, self._clock = calibrations, more, clock
        self._one = threading.Lock()
        self._last: ReportState = {"state": "warn", "checks": [], "at_s": None}
        self._at = float("-inf")

    def __call__(self) -> ReportState:
        """The report, with ``at_s``, the time it was made; without checks while the first one is being made."""
        if self._one.acquire(blocking=False):
            try:
                if self._clock() - self._at >= FRESH_S:
                    self._last = report(self._data, calibrations=self._calibrations(),
                                        camera=[*self._more(), *self._camera()])
                    self._at = self._clock()
            finally:
                self._one.release()
        return self._last

    def _camera(self) -> Iterator[Line]:
        """The camera is in use, so the check gets its picture from the table's loop."""
        if self._loop is None:
            yield line("camera", "ok", "camera.none")
            return
        status = self._session.view()["status"]
        ended = self._loop.ended.is_set()
        if status["chip"] == "camera_lost" or self._loop.failure:
            why = status["text"] or self._loop.failure
            yield line("camera", "fail", "camera.says" if why else "camera.silent", "cable", why=why or "",
                       status=status.get("code", ""))
            return
        if ended:
            yield line("camera", "ok", "camera.over")
            return
        seen = self._loop.look(LOOK_S)
        if seen is None:
            yield line("camera", "warn", "camera.late", "ask_again")
            return
        yield line("camera", "ok", "camera.sees", picture=seen.what)
        yield from picture(seen.light, seen.sharp)
