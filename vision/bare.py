"""The colours of the bare table, by squares on which nothing lies."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from vision.attention import Attention


def apart(one: npt.NDArray[np.float32], other: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """(8, 8) how far colours are apart; light counts half."""
    return np.asarray(np.linalg.norm((one - other) * (0.5, 1.0, 1.0), axis=-1), float)


def table_like(bare: npt.NDArray[np.float32], a: Attention) -> Callable[[npt.NDArray[np.float32]], bool]:
    """Whether a square has the colours of bare ones (N, 8, 8, 3) and no others."""
    cells = bare.reshape(-1, 3).astype(float)
    mean, spread = cells.mean(axis=0), np.cov(cells.T) + np.diag([4.0, 1.0, 1.0])
    inverse = np.linalg.inv(spread)

    def like(colours: npt.NDArray[np.float32]) -> bool:
        off = colours.reshape(-1, 3) - mean
        far = np.sqrt(np.einsum("ni,ij,nj->n", off, inverse, off))
        return float((far < a.table_sigma).mean()) > a.bare_part

    return like
