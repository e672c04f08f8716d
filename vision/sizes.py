"""Measures how wide the wood of a figure is, whichever way it stands or lies.

A small network (``models/sizes.onnx``, made by ``training/``, run by OpenCV). Its input is a cut of the photograph
around one figure, turned so that tops lean upwards, with the silhouette that the figure network found and how far tops
lean there. The figure network's own silhouettes are made of cells of 0.08 tiles, which is more than the difference
between pieces of two sizes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import numpy.typing as npt

from scoring.tiles import Square
from vision.batches import batches
from vision.figurenet import MARGIN, TILE_PX
from vision.figures import Seen
from vision.frames import Image
from vision.lattice import rectify
from vision.nadir import leans
from vision.networks import lent
from vision.view import View

Array = npt.NDArray[np.float64]
Cuts = npt.NDArray[np.uint8]

CUT_PX = 64  # side of the network's input
SPAN = 0.9  # of a tile: what it shows
USUAL = 16 / 45  # of a tile: the width of a follower's wood, measured with a caliper
SPREADS = (-5.0, 1.0)  # limits of the logarithm of a standard deviation
_MIDDLE = 0.18  # of a tile: height of a standing figure's middle


def measured(photo: Image, poses: Mapping[Square, Array], found: Mapping[Square, Sequence[Seen]],
             board: Mapping[Square, Array], view: View | None = None) -> dict[Square, tuple[Seen, ...]]:
    """What `vision.figures.find_figures` has ``found`` on the tiles at ``poses``, with the width of each that is
    likelier a figure than none by itself: wood that hardly differs from the print is measured badly, however certain it
    is there. ``board`` has all tiles: the camera's position is estimated from them."""
    each = [(at, n) for at, seen in found.items() for n, s in enumerate(seen) if s.look.there - s.new > 0]
    out = {at: list(seen) for at, seen in found.items()}
    if each:
        lean = leans({**board, **poses}, photo.shape, view)
        cuts = [cut(photo, poses[at], np.array(s.look.foot), lean[at], s.silhouette)
                for at, s in ((at, out[at][n]) for at, n in each)]
        far = np.array([np.hypot(*lean[at]) for at, _ in each])
        for (at, n), (width, spread) in zip(each, _net().ask(np.array(cuts), far).tolist(), strict=True):
            out[at][n] = replace(out[at][n], look=replace(out[at][n].look, width=width, width_spread=spread))
    return {at: tuple(seen) for at, seen in out.items()}


def cut(photo: Image, pose: Array, foot: Array, lean: Array, silhouette: npt.NDArray[np.bool_]) -> Cuts:
    """(CUT_PX, CUT_PX, 4): BGR and the silhouette around a figure. ``pose`` (3, 3) takes its tile's unit square to
    pixels, ``foot`` and ``lean`` (2,) are in tiles, ``silhouette`` is in the pixels of the figure network's crop."""
    far = float(np.hypot(*lean))
    x, y = (0.0, -1.0) if far < 1e-6 else lean / far
    turn = np.array([[-y, -x], [x, -y]]) * SPAN  # up in the cut is the direction in which tops lean
    to_tile = np.eye(3)  # from the unit square that is cut out
    to_tile[:2, :2] = turn
    to_tile[:2, 2] = foot + _MIDDLE * lean - turn @ (0.5, 0.5)
    to_crop = np.array([[TILE_PX, 0, MARGIN * TILE_PX - 0.5], [0, TILE_PX, MARGIN * TILE_PX - 0.5], [0, 0, 1.0]])
    return np.dstack([rectify(photo, pose @ to_tile, CUT_PX),
                      rectify(silhouette.astype(np.uint8) * 255, to_crop @ to_tile, CUT_PX)])


class SizeNet:
    """The loaded network. Not thread-safe."""

    def __init__(self) -> None:
        self._net = lent(self, "sizes")

    def ask(self, cuts: Cuts, leans: Array) -> Array:
        """(N, 2): widths in tiles and the standard deviations of their logarithms, for cuts (N, CUT_PX, CUT_PX, 4) and
        how far tops lean there (N,), in tiles per tile of height."""
        out = [np.zeros((0, 2))]
        for some in batches(len(cuts)):
            self._net.setInput(given(cuts[some], leans[some]))
            out.append(self._net.forward().astype(float))
        said = np.concatenate(out)
        return np.column_stack([USUAL * np.exp(said[:, 0]), np.exp(np.clip(said[:, 1], *SPREADS))])


def given(cuts: Cuts, leans: Array) -> npt.NDArray[np.float32]:
    """The network's input (N, 5, CUT_PX, CUT_PX): colours and silhouette 0 .. 1, and the lean."""
    out = np.empty((len(cuts), 5, CUT_PX, CUT_PX), np.float32)
    out[:, :4] = cuts.transpose(0, 3, 1, 2)
    out[:, :4] /= 255
    out[:, 4] = np.asarray(leans)[:, None, None]
    return out


@cache
def _net() -> SizeNet:
    return SizeNet()
