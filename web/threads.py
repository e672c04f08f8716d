"""The server's threads: as many as are answering at the same time, not as many as are allowed.

The C library caches up to 0.2 MB of freed blocks for each thread (its tcache), scattered among other threads' blocks
and out of reach of malloc_trim. Waitress' 104 threads answered in turn, so these caches kept filling for hours: their
blocks of more than 512 bytes took 1.3 MB in a table's first game and 5 MB in its fifth, on 2,400 pages that could not
be returned to the system (docs/reliability.md).
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from waitress.task import ThreadedTaskDispatcher

SPARE = 4  # idle threads that stay
_log = logging.getLogger("bastide.page")


class TaskDispatcher(ThreadedTaskDispatcher):
    """Waitress' dispatcher, but a thread is started when all others are busy, up to ``most``, and those not needed
    between two calls of `retire` end."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most
        self._unneeded = 0  # fewest idle threads since `retire`

    @property
    def count(self) -> int:
        """How many threads there are."""
        with self.lock:
            return int(len(self.threads) - self.stop_count)

    def add_task(self, task: object) -> None:
        with self.lock:
            running = len(self.threads) - self.stop_count
            left = running - self.active_count - len(self.queue) - 1
            self._unneeded = min(self._unneeded, max(0, left))
        if left < 0 and running < self._most:
            try:
                self.set_thread_count(running + 1)
            except RuntimeError as e:  # the system has no more threads: the existing ones take turns
                _log.warning("%s", e)
        super().add_task(task)

    def start_new_thread(self, target: Callable[[int], None], thread_no: int) -> None:
        try:
            super().start_new_thread(target, thread_no)
        except RuntimeError:
            self.threads.discard(thread_no)  # the caller holds the lock
            raise

    def retire(self) -> None:
        """End the idle threads that were not needed since the last call, except SPARE of them."""
        with self.lock:
            running = len(self.threads) - self.stop_count
            idle = max(0, running - self.active_count)
            ending = max(0, min(self._unneeded, idle) - SPARE)
            self._unneeded = idle - ending
        if ending:
            self.set_thread_count(running - ending)
