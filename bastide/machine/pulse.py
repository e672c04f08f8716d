"""Current faults, for a banner on every page: power, heat, disk space, clock, light, camera, view.

The check-up (`bastide.watching.checkup`) checks everything and writes to the card; this is cheap, and polled often.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from bastide.machine.findings import Line, line
from bastide.machine.health import clock, power, room, temperature
from web.machine_states import PulseState
from web.views import StatusView

FRESH_S = 15.0
MOVED = ("drift.put_back", "board_gone")  # statuses in which the camera's view has changed
WATCHING: StatusView = {"chip": "watching", "text": ""}
_WORST = ("fail", "warn")


class Pulse:
    """Call it for the ``lines`` of current faults, worst first. Thread-safe; one check at a time."""

    def __init__(self, data: Path, *, relit: Callable[[], bool] = lambda: False,
                 status: Callable[[], StatusView] = lambda: WATCHING, root: Path = Path("/"),
                 now: Callable[[], float] = time.monotonic) -> None:
        """``relit`` is whether the light has changed since the camera measured it, ``status`` the table's (chip, code,
        text)."""
        self._data, self._relit, self._status, self._root, self._now = data, relit, status, root, now
        self._one, self._machine, self._at = threading.Lock(), list[Line](), float("-inf")

    def __call__(self) -> PulseState:
        if self._one.acquire(blocking=False):
            try:
                if self._now() - self._at >= FRESH_S:
                    found = [*power(self._root), *temperature(self._root), *room(self._data), *clock(self._root)]
                    self._machine, self._at = [one for one in found if one.state != "ok"], self._now()
            finally:
                self._one.release()
        lines = [*self._machine, *_seen(self._status()),
                 *((line("light", "warn", "light.changed", "balance"),) if self._relit() else ())]
        return {"lines": [one.to_json() for one in sorted(lines, key=lambda one: _WORST.index(one.state))]}


def _seen(status: StatusView) -> list[Line]:
    """Faults of camera and view, from the table's status."""
    code = status.get("code", "")
    if status["chip"] != "camera_lost":
        return []
    if code in MOVED:
        return [line("view", "warn", "view.moved", "ghost")]
    if code == "camera_gone":
        return [line("camera", "fail", "camera.silent", "cable")]
    if code.startswith("camera_"):
        return [line("camera", "fail", "camera.says", status=code, why=status["text"])]
    return []
