"""Write a file of training cuts of single figures: ``python -m training.make_size_crops OUT.npz COUNT SEED``.

The boards are those of ``training.pieces``; figures are found and cut out as by the reader, so that what the figure
network gets wrong (feet, silhouettes) is wrong in training too.
"""

from __future__ import annotations

import sys

import cv2
import numpy as np

from training.editions import Random
from training.make_piece_crops import BOARDS
from training.pieces import Array, Board, Solid, board, given_pose
from training.scenes import own_drawings, pool
from vision.feet import owners, peaks
from vision.figurenet import MARGIN, SHAPED, TILE_PX, FigureNet
from vision.lattice import apply, rectify
from vision.sizes import cut

SIZES = (0.85, 1.25)  # more than makers' pieces differ, so that what is unusual is not taken for less so
_NEAR = 0.15  # of a tile: a detected foot so close to a true one is its
_OUTLINED = ("follower", *SHAPED)


def width(solid: Solid) -> float:
    """In tiles: the extent of its face across its axis of symmetry."""
    front = solid.faces[0]
    axis = front[0] - front[len(front) // 2]
    axis = axis / np.linalg.norm(axis)
    off = front - (front @ axis)[:, None] * axis
    across = off - off.mean(axis=0)
    side = across[np.argmax(np.linalg.norm(across, axis=1))]
    return float(np.ptp(across @ (side / np.linalg.norm(side))))


def cuts(rng: Random, made: Board, net: FigureNet) -> list[tuple[Array, float, tuple[float, ...]]]:
    """Of each figure detected on a board: its cut, how far tops lean there, and its width in tiles, its kind, and
    whether it lies."""
    out: list[tuple[Array, float, tuple[float, ...]]] = []
    for corners in made.squares:
        to_tile, lean = given_pose(rng, made, corners)
        pose = made.to_photo @ np.linalg.inv(to_tile)
        crop = rectify(made.photo, pose, TILE_PX, MARGIN)
        felt = net.ask(crop[None], lean[None])
        found = peaks(felt, 0, -1.0, lean)
        whose = owners(felt, 0, [p.foot for p in found])
        for k, peak in enumerate(found):
            if (np.abs(peak.foot - 0.5) > 0.55).any():
                continue
            at = apply(np.linalg.inv(to_tile), peak.foot)[0]
            solid = min(made.solids, key=lambda s: float(np.hypot(*(s.foot - at))))
            if np.hypot(*(solid.foot - at)) < _NEAR and solid.kind < len(_OUTLINED):
                out.append((cut(made.photo, pose, peak.foot, lean, whose == k), float(np.hypot(*lean)),
                            (width(solid), solid.kind, solid.lying)))
    return out


def main() -> int:
    out, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    cv2.setNumThreads(1)
    rng = np.random.default_rng(seed)
    own, net = own_drawings(), FigureNet()
    made: list[tuple[Array, float, tuple[float, ...]]] = []
    while len(made) < count:
        edition, tiles = pool(rng, own, 24)
        for _ in range(BOARDS):
            made += cuts(rng, board(rng, edition, tiles, SIZES), net)
    made = made[:count]
    np.savez(out, cuts=np.array([m[0] for m in made]), leans=np.array([m[1] for m in made], np.float32),
             truth=np.array([m[2] for m in made], np.float32))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
