"""Write a file of training crops with figures: ``python -m training.make_piece_crops OUT.npz COUNT SEED``."""

from __future__ import annotations

import sys

import cv2
import numpy as np

from training.pieces import crops
from training.scenes import own_drawings, pool

BOARDS = 14  # photographs per edition


def main() -> int:
    out, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    cv2.setNumThreads(1)
    rng = np.random.default_rng(seed)
    own = own_drawings()
    made = []
    while len(made) < count:
        edition, tiles = pool(rng, own, 24)
        for _ in range(BOARDS):
            made += crops(rng, edition, tiles)
    made = made[:count]
    np.savez(out, crops=np.array([c.picture for c in made]), leans=np.array([c.lean for c in made]),
             names=np.array([c.names for c in made]), feet=np.array([c.feet for c in made]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
