"""How the C library's memory allocator is asked to work, so that an evening's pictures leave no holes behind.

Pictures of 0.2 to 25 MB come and go in many threads. As it comes, glibc raises the size from which a block gets pages
of its own each time such a block is freed, so that soon pictures lie among small things that stay, in up to eight heaps
per core; what is free between them cannot be given back. Of 315 MB that a table held after 17 minutes 104 were such
holes, and they grew; what the program used did not.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

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
