"""Batch size of the networks."""

from __future__ import annotations

from collections.abc import Iterator

# # OpenCV keeps a network's intermediate blobs in the shape of the last batch: per tile 0.6 MB (`vision.structure`), 1
# MB (`vision.figurenet`) and 0.7 MB (`vision.signs`). With a whole board as one batch it held 35 MB after one look and
# 2 MB after another; with batches of four it is always 2 to 4 MB. The outputs are bit-identical, and cost half to four
# fifths of the processor time of batches of 64 (benchmarks/batches.py).
BATCH = 4


def batches(count: int) -> Iterator[slice]:
    """Slices that split ``count`` pictures into batches, in order."""
    for start in range(0, count, BATCH):
        yield slice(start, start + BATCH)
