"""Something small that is done every so often beside what goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def repeating(do: Callable[[], object], every_s: float, name: str) -> Iterator[None]:
    """Have a thread of that name do it every ``every_s`` seconds while inside. What it raises ends the repeating."""
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
