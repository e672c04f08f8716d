"""How the light on a tile has changed: the soft shadow of an arm darkens one side of it more than the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class LightLimits:
    scales: tuple[float, ...] = 4 * (0.1,) + 4 * (0.05,)  # of the residuals (natural logarithm) from which pixels count
    # less, in each round (chosen)
    noise: float = 0.1  # standard deviation of a pixel's difference; neighbours err alike (chosen)
    slope: float = 0.3  # standard deviation of the slope across a tile (natural logarithm; chosen)


LIGHT = LightLimits()


def light_change(change: Array, x: float, y: float) -> tuple[float, float]:
    """The change of the light at (x, y) in tiles, and how steep it is (per tile, whichever way), by the ``change`` of
    the logarithm of each pixel of the tile (N, N), NaN where it is not known: a plane, fitted robustly (Geman and
    McClure's weights [1]_), so that what lies on some of the tile does not count. Raises ValueError if no pixel is
    known.

    .. [1] Geman and McClure (1987), Statistical methods for tomographic image reconstruction."""
    known = np.isfinite(change)
    if not known.any():
        raise ValueError("no pixel of the tile is known")
    places = (np.argwhere(known) + 0.5) / change.shape - (y, x)
    terms = np.column_stack([np.ones(len(places)), places])
    values, prior = change[known], np.diag([0.0, LIGHT.slope**-2, LIGHT.slope**-2])
    fit = np.array([float(np.median(values)), 0.0, 0.0])
    for scale in LIGHT.scales:
        weight = (LIGHT.noise * (1.0 + ((values - terms @ fit) / scale) ** 2)) ** -2
        fit = np.linalg.solve(terms.T @ (terms * weight[:, None]) + prior, terms.T @ (values * weight))
    return float(fit[0]), float(np.hypot(*fit[1:]))
