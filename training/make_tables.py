"""Write a file of training pictures, parts of tables: ``python -m training.make_tables OUT.npz COUNT SEED``."""

from __future__ import annotations

import sys

import cv2
import numpy as np

from training.scenes import own_drawings, pool
from training.tables import piece

PER_EDITION = 40
MOST = 80  # tiles in a picture


def main() -> int:
    out, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    cv2.setNumThreads(1)
    rng = np.random.default_rng(seed)
    own = own_drawings()
    pictures, corners, seen = [], [], []
    while len(pictures) < count:
        edition, tiles = pool(rng, own)
        for _ in range(min(PER_EDITION, count - len(pictures))):
            picture, squares, parts = piece(rng, edition, tiles)
            pictures.append(picture)
            padded, visible = np.full((MOST, 4, 2), np.nan, np.float32), np.zeros(MOST, np.float32)
            padded[: len(squares)], visible[: len(squares)] = squares[:MOST], parts[:MOST]
            corners.append(padded)
            seen.append(visible)
    np.savez(out, pictures=np.array(pictures), corners=np.array(corners), seen=np.array(seen))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
