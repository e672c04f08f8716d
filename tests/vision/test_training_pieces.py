"""Training crops with figures: the labels match the pictures."""

from __future__ import annotations

import numpy as np

from training.pieces import MOST, crops
from training.scenes import pool
from vision.figurenet import CELLS, CROP_PX, KINDS, MARGIN


def test_silhouettes_lean_away_from_their_feet_and_nothing_is_told_of_what_is_not_there():
    rng = np.random.default_rng(3)
    edition, tiles = pool(rng, [], 12)
    along = []
    made = [crop for _ in range(14) for crop in crops(rng, edition, tiles)]
    assert len(made) > 30
    middles = (np.arange(2 * CELLS) + 0.5) * (1 + 2 * MARGIN) / (2 * CELLS) - MARGIN
    for crop in made:
        assert crop.picture.shape == (CROP_PX, CROP_PX, 3) and crop.names.shape == (2 * CELLS, 2 * CELLS)
        assert crop.feet.shape == (MOST, 4) and crop.names.max() <= MOST
        for n, (x, y, kind, lying) in enumerate(crop.feet):
            seen = crop.names == n + 1
            if np.isnan(x):
                assert not seen.any()
                continue
            assert kind in range(len(KINDS)) and lying in (0, 1)
            rows, columns = np.nonzero(seen)
            whole = len(rows) > 25 and rows.min() > 0 and rows.max() < 2 * CELLS - 1
            if whole and columns.min() > 0 and columns.max() < 2 * CELLS - 1 and not lying:
                away = np.array([middles[columns].mean() - x, middles[rows].mean() - y])
                assert np.hypot(*away) < 0.5
                if np.hypot(*crop.lean) > 0.3 and KINDS[int(kind)] in ("follower", "builder"):
                    along.append(away @ crop.lean)
    assert len(along) > 10 and np.mean(np.array(along) > 0) > 0.9
