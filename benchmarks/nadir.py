"""How far the estimated point below the camera is from the true one: the basis of the limits in `vision.nadir`.

    ./run bench nadir [--boards 8] [--noise 0.3]

Lays out recorded games with piles at simulated tables (seeds from 301 on, which no other benchmark uses), after so many
turns as the table says, with the tiles' true poses and some noise (px) of their corners. Prints, as root mean squares
in picture widths, the error of a board's perspective alone, of the picture's middle, and of both combined, and the
greatest error of the combination.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator

import cv2
import numpy as np
from watch_games import RECORDED

from vision.lattice import UNIT, Array
from vision.nadir import board_grid, height_direction, upright
from vision.simulator import Options, Simulator, load
from vision.simulator.script import Square

TURNS = (6, 12, 20, 30, 45)


def boards(level: str, count: int, turns: int,
           noise: float) -> Iterator[tuple[dict[Square, Array], tuple[int, int], Array]]:
    """The tiles' poses, the picture's height and width, and the true point below the camera in px."""
    paths = sorted(RECORDED.glob("tower-*"))
    rng = np.random.default_rng(5)
    for seed in range(301, 301 + count):
        sim = Simulator(load(paths[seed % len(paths)]), seed, Options(level=level, turns=turns, fps=2))
        last, camera = sim.truth.frames - 1, sim.truth.camera
        poses = {}
        for at in sim.truth.frame(last).tiles:
            corners = sim.truth.corners_px(at, last) + rng.normal(0.0, noise, (4, 2))
            poses[at] = np.asarray(cv2.getPerspectiveTransform(
                UNIT.astype(np.float32), corners.astype(np.float32)), float)
        x, y, _ = camera.position_mm
        yield poses, (camera.height, camera.width), camera.project([(x, y, 0.0)])[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--boards", type=int, default=8, help="of each kind (default 8)")
    parser.add_argument("--noise", type=float, default=0.3, help="of the tiles' corners, px (default 0.3)")
    args = parser.parse_args()
    print(f"{'level':>8} {'turns':>6} {'perspective':>12} {'middle':>8} {'combined':>9} {'greatest':>9}")
    for level in ("easy", "normal", "hard"):
        for turns in TURNS:
            errors = []
            for poses, shape, true in boards(level, args.boards, turns, args.noise):
                grid = board_grid(poses)
                alone, both = height_direction(grid, shape), upright(grid, poses, shape, None)
                middle = shape[1] / 2, shape[0] / 2
                errors.append([math.dist(point, true) / max(shape)
                               for point in (alone[:2] / alone[2], middle, both[:2] / both[2])])
            rms = np.sqrt(np.mean(np.square(errors), axis=0))
            print(f"{level:>8} {turns:>6} {rms[0]:>12.3f} {rms[1]:>8.3f} {rms[2]:>9.3f}"
                  f" {max(e[2] for e in errors):>9.3f}")


if __name__ == "__main__":
    main()
