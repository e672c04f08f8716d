"""Whole recorded games, laid out but not rendered: everything in view, no figure left that was returned."""

from __future__ import annotations

import numpy as np
import pytest
from recorded import OWN

from vision.simulator import Options, Simulator, load

FILES = [p for p in OWN if p.name.startswith("base-")]


@pytest.mark.parametrize("level", ["easy", "normal", "hard"])
def test_recorded_games_can_be_laid_out(level: str) -> None:
    for seed, path in enumerate(FILES):
        data = load(path)
        truth = Simulator(data, seed, Options(level=level)).truth
        corners = np.vstack([truth.corners_px(at) for at in truth.tiles])
        assert (corners > 0).all() and (corners < (1536, 864)).all(), path.name
        left = [n for n in truth.frame(truth.frames - 1).figures]
        in_hand = [sum(p.values()) for p in data["turns"][-1]["expect"]["supply"]]
        assert len(left) == sum(7 - n for n in in_hand), path.name
        for n in left:
            x, y = truth.figures[n].base_px
            assert 0 < x < 1536 and 0 < y < 864
        for a in left:
            for b in left:
                if a < b:
                    p, q = truth.figures[a].piece, truth.figures[b].piece
                    assert np.hypot(p.x_mm - q.x_mm, p.y_mm - q.y_mm) > 9, path.name
