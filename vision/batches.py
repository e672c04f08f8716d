"""How many pictures a network is asked about at once."""

from __future__ import annotations

from collections.abc import Iterator

# OpenCV keeps what a network computed on its way, in the shape of the pictures that it was given last: of each tile
# 0.6 MB (`vision.structure`), 1 MB (`vision.figurenet`) and 0.7 MB (`vision.signs`). Of a board asked about at once it
# so held 35 MB after one look and 2 MB after another; of four pictures it is 2 to 4 MB always. The answers are the same
# to the bit, and cost half to four fifths of the processor time of 64 at once (benchmarks/batches.py).
BATCH = 4


def batches(count: int) -> Iterator[slice]:
    """The parts of ``count`` pictures, in order."""
    for start in range(0, count, BATCH):
        yield slice(start, start + BATCH)
