"""Orderly shutdown: SIGINT and SIGTERM set an event; a second signal stops at once."""

from __future__ import annotations

import queue
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def stop_on_signals() -> Iterator[threading.Event]:
    """An event that is set when this program is asked to stop. The old handlers are restored afterwards."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop  # only the main thread may install signal handlers
        return
    # # A handler runs between two instructions of the main thread, which may hold the event's lock at that moment (it
    # does when it starts to wait): setting the event there would deadlock. A SimpleQueue's put is reentrant.
    signals: queue.SimpleQueue[int] = queue.SimpleQueue()
    asked = False

    def ask(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        if asked or stop.is_set():
            raise KeyboardInterrupt
        asked = True
        signals.put(number)

    def relay() -> None:
        signals.get()
        stop.set()

    relaying = threading.Thread(target=relay, name="signals", daemon=True)
    relaying.start()
    old = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
        signals.put(0)
        relaying.join()
