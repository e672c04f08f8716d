"""Settings of the C library's allocator that keep the heap from fragmenting during an evening.

Pictures of 0.2 to 25 MB are allocated and freed in many threads. By default glibc raises its mmap threshold each time
such a block is freed, so that pictures soon share heaps with small long-lived objects, in up to eight arenas per core.
Of 315 MB resident after 17 minutes, 104 MB were free holes, and these grew, while live data did not. With fixed limits
the holes are smaller but still grow, from 7 to 50 MB in 20 minutes, so empty pages are returned to the kernel from time
to time. malloc_trim returns the free end of the first heap only, and a second heap keeps up to ``trim`` bytes there. So
there is only one.
"""

from __future__ import annotations

import ctypes
from contextlib import AbstractContextManager
from dataclasses import dataclass

from bastide.machine.repeating import repeating

EVERY_S = 60.0  # seconds between two trims
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8  # malloc.h of glibc


@dataclass(frozen=True, slots=True)
class HeapLimits:
    """``arenas`` is the largest number of heaps; blocks of ``own_pages`` bytes and more are mapped on their own (the
    mmap threshold); ``trim`` free bytes at a heap's end are returned to the kernel.

    With a threshold from 0.25 MB on (`benchmarks/evening.py`) the kernel takes a seventh of the time of
    `benchmarks/watch_speed.py`, from 1 MB on a twelfth, with as little fragmentation.
    """

    arenas: int = 1
    own_pages: int = 1_048_576
    trim: int = 16_777_216


LIMITS = HeapLimits()


def limit_heap(limits: HeapLimits = LIMITS) -> bool:
    """Set the limits for this process, before it starts threads; False if the C library is not glibc."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    return all([mallopt(option, value) == 1 for option, value in (
        (_M_ARENA_MAX, limits.arenas), (_M_MMAP_THRESHOLD, limits.own_pages), (_M_TRIM_THRESHOLD, limits.trim))])


def give_back() -> bool:
    """Return empty heap pages to the kernel (malloc_trim); whether there were any. Other threads keep running."""
    try:
        return bool(ctypes.CDLL(None).malloc_trim(0))
    except (OSError, AttributeError):
        return False


def trimmed(every_s: float = EVERY_S) -> AbstractContextManager[None]:
    """Return empty pages regularly while inside."""
    return repeating(give_back, every_s, "heap")
