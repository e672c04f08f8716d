"""What is wrong with the machine just now, for a banner on every page: power, heat, room on the card, clock, light.

The check-up (`bastide.watching.checkup`) looks at everything and writes to the card; this is cheap, and asked often.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bastide.machine.findings import Line, line
from bastide.machine.health import clock, power, room, temperature

FRESH_S = 15.0
_WORST = ("fail", "warn")


class Pulse:
    """Call it for ``lines``, the worst first, nothing that is all right. Thread safe; one looks at a time."""

    def __init__(self, data: Path, *, relit: Callable[[], bool] = lambda: False, root: Path = Path("/"),
                 now: Callable[[], float] = time.monotonic) -> None:
        """``relit`` is whether the light has changed since the camera measured it."""
        self._data, self._relit, self._root, self._now = data, relit, root, now
        self._one, self._machine, self._at = threading.Lock(), list[Line](), float("-inf")

    def __call__(self) -> dict[str, Any]:
        if self._one.acquire(blocking=False):
            try:
                if self._now() - self._at >= FRESH_S:
                    found = [*power(self._root), *temperature(self._root), *room(self._data), *clock(self._root)]
                    self._machine, self._at = [one for one in found if one.state != "ok"], self._now()
            finally:
                self._one.release()
        lines = [*self._machine, *((line("light", "warn", "light.changed", "balance"),) if self._relit() else ())]
        return {"lines": [asdict(one) for one in sorted(lines, key=lambda one: _WORST.index(one.state))]}
