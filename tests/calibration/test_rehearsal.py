"""Rendered sheets: what is left out of the rendering is not in the picture."""

from __future__ import annotations

import numpy as np
import pytest

from calibration import rehearsal
from calibration.rehearsal import Lying, card_sheets, flat, overhead, photograph, turned


@pytest.mark.parametrize("seed", range(6))
def test_a_sheet_is_rendered_wherever_it_is_in_the_picture(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    camera = overhead((162, 90 + seed % 2), fov_deg=rng.uniform(50, 90), height_mm=rng.uniform(400, 900),
                      tilt_deg=tuple(rng.uniform(-25, 25, 3)), k1=rng.uniform(-0.2, 0.1), k2=0.03)
    cards = card_sheets()
    things = [flat(card, *rng.uniform(-500, 500, 2), rng.uniform(0, 360)) for card in cards]
    things += [Lying(sheet=card, rotation=turned(*rng.uniform(-65, 65, 3)), at_mm=tuple(rng.uniform(-200, 200, 3)))
               for card in cards[:2]]
    part = photograph(camera, things)
    monkeypatch.setattr(rehearsal, "_where", lambda camera, rays, thing: (0, camera.height, 0, camera.width))
    assert (part == photograph(camera, things)).all()
