"""Networks run on small batches: the memory that OpenCV keeps does not grow with the board."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from vision.batches import BATCH, batches

ROOT = Path(__file__).parents[2]

ASKED = """
import sys
sys.path[:0] = [ROOT, ROOT + "/tests/bastide"]
from bastide.machine.heap import limit_heap
limit_heap()
import numpy as np
from timed_table import heap_bytes
from vision import figurenet, signs, structure
from vision.batches import BATCH

def crops(net, count):
    return np.full((count, net.CROP_PX, net.CROP_PX, 3), 90, np.uint8)

structured, felt, signed = structure.StructureNet(), figurenet.FigureNet(), signs.SignNet()
for ask in (lambda n: structured.ask(crops(structure, n)), lambda n: felt.ask(crops(figurenet, n), np.zeros((n, 2))),
            lambda n: signed.ask(crops(signs, n))):
    ask(BATCH)
    few = heap_bytes()[0]
    ask(8 * BATCH)
    print(heap_bytes()[0] - few)
"""


@pytest.mark.parametrize("count", [0, 1, BATCH, BATCH + 1, 5 * BATCH - 1])
def test_every_picture_is_in_one_batch(count: int) -> None:
    numbers = np.arange(count)
    parts = [numbers[part] for part in batches(count)]
    assert [*np.concatenate([numbers[:0], *parts])] == [*numbers]
    assert all(0 < len(part) <= BATCH for part in parts)


def test_a_large_board_is_held_in_no_more_memory_than_a_small_one() -> None:
    if not hasattr(ctypes.CDLL(None), "mallinfo2"):
        pytest.skip("this C library has no mallinfo2")
    done = subprocess.run([sys.executable, "-c", f"ROOT = {str(ROOT)!r}\n{ASKED}"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    more = [int(line) for line in done.stdout.split()]
    assert len(more) == 3 and max(more) < 3_000_000, more  # all at once: 17, 29 and 21 MB
