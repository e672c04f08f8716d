"""How the C library's memory allocator is asked to work, so that an evening's pictures leave no holes behind.

Pictures of 0.2 to 25 MB come and go in many threads. As it comes, glibc raises the size from which a block gets pages
of its own each time such a block is freed, so that soon pictures lie among small things that stay, in up to eight heaps
per core. Of 315 MB that a table held after 17 minutes 104 were such holes, and they grew; what the program used did
not. With limits the holes are fewer and grow still, from 7 to 50 MB in 20 minutes, so from time to time those of their
pages are given back that hold nothing.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

EVERY_S = 60.0  # how often holes are given back
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8  # malloc.h of glibc


@dataclass(frozen=True, slots=True)
class HeapLimits:
    """``arenas`` is how many heaps there are at most; blocks of ``own_pages`` bytes and more get pages of their own,
    ``trim`` bytes free at a heap's end are given back. From 0.25 MB on (`benchmarks/evening.py` was run with that) the
    kernel takes a seventh of the time of `benchmarks/watch_speed.py`, from 1 MB on a twelfth, with as few holes."""

    arenas: int = 2
    own_pages: int = 1_048_576
    trim: int = 16_777_216


LIMITS = HeapLimits()


def limit_heap(limits: HeapLimits = LIMITS) -> bool:
    """Set the limits for this process, before it begins threads; False where the C library is another."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    return all([mallopt(option, value) == 1 for option, value in (
        (_M_ARENA_MAX, limits.arenas), (_M_MMAP_THRESHOLD, limits.own_pages), (_M_TRIM_THRESHOLD, limits.trim))])


def give_back() -> bool:
    """Give the kernel the pages in the heaps' holes; whether there were any. The rest of the program goes on."""
    try:
        return bool(ctypes.CDLL(None).malloc_trim(0))
    except (OSError, AttributeError):
        return False


@contextmanager
def trimmed(every_s: float = EVERY_S) -> Iterator[None]:
    """Give holes back while inside, every so often."""
    done = threading.Event()

    def work() -> None:
        while not done.wait(every_s):
            give_back()

    thread = threading.Thread(target=work, name="heap", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
