"""Write a file of crops with signs: ``python -m training.make_sign_crops OUT.npz COUNT SEED``."""

from __future__ import annotations

import sys

import cv2
import numpy as np

from training.scenes import own_drawings, pool, sign_scene

PER_EDITION = 80


def main() -> int:
    out, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    cv2.setNumThreads(1)
    rng = np.random.default_rng(seed)
    own = own_drawings()
    crops, places = [], []
    while len(crops) < count:
        edition, tiles = pool(rng, own)
        for _ in range(PER_EDITION):
            crop, where = sign_scene(rng, edition, tiles)
            crops.append(crop)
            places.append(where)
    np.savez(out, crops=np.array(crops), places=np.array(places))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
