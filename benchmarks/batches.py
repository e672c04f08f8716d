"""Memory and processor time of each network by batch size (`vision.batches`).

    ./run bench batches

For each network and batch size: MB of the C heap in use after a whole batch, relative to one picture; processor time of
boards of 1 to 36 squares, the best of three; the largest difference of any output from batches of 64. Exit code 1 when
an output differs.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "bastide")]

from bastide.machine.heap import limit_heap  # noqa: E402

limit_heap()  # before any threads start

import cv2  # noqa: E402
import numpy as np  # noqa: E402
from timed_table import heap_bytes  # noqa: E402

from vision import batches, figurenet, signs, structure  # noqa: E402

BATCHES = (64, 32, 16, 8, 4, 2, 1)
BOARDS = (3, 11, 2, 7, 24, 5, 1, 9, 36)  # squares per board, one board after another

Ask = Callable[[int], np.ndarray]


def networks() -> dict[str, Ask]:
    """Each network as a function of the number of pictures."""
    rng = np.random.default_rng(1)

    def crops(side: int) -> np.ndarray:
        return np.array([cv2.GaussianBlur(crop, (0, 0), 3)
                         for crop in rng.integers(0, 255, (max(BATCHES), side, side, 3), np.uint8)])

    squares, figures, closer = crops(structure.CROP_PX), crops(figurenet.CROP_PX), crops(signs.CROP_PX)
    leans = rng.normal(0, 0.3, (max(BATCHES), 2))
    structured, felt, signed = structure.StructureNet(), figurenet.FigureNet(), signs.SignNet()

    def structure_of(n: int) -> np.ndarray:
        said = structured.ask(squares[:n])
        return np.concatenate([said.sides.reshape(n, -1), said.yes, said.present[:, None]], axis=1)

    return {"structure": structure_of, "figures": lambda n: felt.ask(figures[:n], leans[:n]).foot,
            "signs": lambda n: signed.ask(closer[:n])}


def main() -> int:
    same = True
    print(f"{'network':<12}{'batch':>6}{'MB held':>10}{'ms':>8}{'difference':>12}")
    for name, ask in networks().items():
        batches.BATCH = 1
        ask(1)
        least, first = heap_bytes()[0], None
        for batch in BATCHES:
            batches.BATCH = batch
            found = ask(max(BATCHES) - 3)
            spent = []
            for _ in range(3):
                begun = time.process_time()
                for count in BOARDS:
                    ask(count)
                spent.append(time.process_time() - begun)
            ask(batch)
            first = found if first is None else first
            apart = float(np.abs(found - first).max())
            same = same and apart == 0.0
            held = (heap_bytes()[0] - least) / 2**20
            print(f"{name:<12}{batch:>6}{held:>10.1f}{1e3 * min(spent):>8.0f}{apart:>12.1e}", flush=True)
    return not same


if __name__ == "__main__":
    raise SystemExit(main())
