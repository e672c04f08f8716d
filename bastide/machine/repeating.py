"""A small task repeated periodically in the background."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def repeating(do: Callable[[], object], every_s: float, name: str) -> Iterator[None]:
    """Run ``do`` every ``every_s`` seconds in a thread of that name while inside. An exception ends the repetition."""
    done = threading.Event()

    def work() -> None:
        while not done.wait(every_s):
            do()

    thread = threading.Thread(target=work, name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
