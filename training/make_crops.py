"""Write a file of training crops: ``python -m training.make_crops OUT.npz COUNT SEED``."""

from __future__ import annotations

import sys

import cv2
import numpy as np

from training.scenes import own_drawings, pool, scene

PER_EDITION = 150


def main() -> int:
    out, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    cv2.setNumThreads(1)
    rng = np.random.default_rng(seed)
    own = own_drawings()
    crops, truths, offsets = [], [], []
    while len(crops) < count:
        edition, tiles = pool(rng, own)
        for _ in range(PER_EDITION):
            crop, truth, offset = scene(rng, edition, tiles)
            crops.append(crop)
            truths.append(truth)
            offsets.append(offset)
    np.savez(out, crops=np.array(crops), truths=np.array(truths), offsets=np.array(offsets))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
