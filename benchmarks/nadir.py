"""How far the estimated point below the camera is from the true one: the basis of the limits in `vision.nadir`.

    ./run bench nadir [--boards 8] [--noise 0.3] [--tilts 0 20 35]

Lays out recorded games with piles at simulated tables (seeds from 301 on, which no other benchmark uses), after so many
turns as the table says, with the tiles' true poses and some noise (px) of their corners. Each is seen by its own
camera, which looks about straight down, and by the same one turned by ``--tilts`` degrees more, as far from the board's
middle. Prints, as root mean squares in picture widths, the error of a board's perspective alone, of the picture's
middle, and of both combined, and the greatest error of the combination.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import cv2
import numpy as np
from watch_games import RECORDED

from vision.lattice import UNIT, Array
from vision.nadir import board_grid, height_direction, upright
from vision.simulator import Options, Simulator, load
from vision.simulator.camera import Camera
from vision.simulator.options import TILE_HEIGHT_MM
from vision.simulator.script import Square

TURNS = (6, 12, 20, 30, 45)


def turned(camera: Camera, by_deg: float, middle_mm: Array) -> Camera:
    """The camera turned by so much, as far as before from the point at which it looks then."""
    tilt = camera.tilt[0] + math.radians(by_deg), *camera.tilt[1:]
    x, y, z = camera.position_mm
    lower = replace(camera, tilt=tilt, position_mm=(x, y, z * math.cos(math.radians(by_deg))))
    x, y = (x, y) + middle_mm - lower.table_mm([camera.centre_px])[0]
    return replace(lower, position_mm=(float(x), float(y), lower.position_mm[2]))


def boards(level: str, count: int, turns: int, noise: float,
           tilt_deg: float) -> Iterator[tuple[dict[Square, Array], tuple[int, int], Array]]:
    """The tiles' poses, the picture's height and width, and the true point below the camera in px."""
    paths = sorted(RECORDED.glob("tower-*"))
    rng = np.random.default_rng(5)
    for seed in range(301, 301 + count):
        sim = Simulator(load(paths[seed % len(paths)]), seed, Options(level=level, turns=turns, fps=2))
        end = sim.truth.frame(sim.truth.frames - 1)
        lie = {at: np.array(sim.truth.pose(at, end.turn).corners()) for at in end.tiles}
        camera = sim.truth.camera
        if tilt_deg:
            camera = turned(camera, tilt_deg, np.mean([corners.mean(axis=0) for corners in lie.values()], axis=0))
        poses = {}
        for at, mm in lie.items():
            corners = camera.project(np.column_stack([mm, np.full(4, TILE_HEIGHT_MM)])) + rng.normal(0.0, noise, (4, 2))
            poses[at] = np.asarray(cv2.getPerspectiveTransform(
                UNIT.astype(np.float32), corners.astype(np.float32)), float)
        x, y, _ = camera.position_mm
        # without its lens's distortion, which no point so far from the picture has
        foot = camera.homography() @ (x, y, 1.0)
        yield poses, (camera.height, camera.width), foot[:2] / foot[2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--boards", type=int, default=8, help="of each kind (default 8)")
    parser.add_argument("--noise", type=float, default=0.3, help="of the tiles' corners, px (default 0.3)")
    parser.add_argument("--tilts", type=float, nargs="*", default=[0.0, 20.0, 35.0], help="degrees (default 0 20 35)")
    args = parser.parse_args()
    print(f"{'tilt':>6} {'level':>8} {'turns':>6} {'perspective':>12} {'middle':>8} {'combined':>9} {'greatest':>9}")
    for tilt_deg, level in product(args.tilts, ("easy", "normal", "hard")):
        for turns in TURNS:
            errors = []
            for poses, shape, true in boards(level, args.boards, turns, args.noise, tilt_deg):
                grid = board_grid(poses)
                alone, both = height_direction(grid, shape), upright(grid, poses, shape, None)
                middle = shape[1] / 2, shape[0] / 2
                errors.append([math.dist(point, true) / max(shape)
                               for point in (alone[:2] / alone[2], middle, both[:2] / both[2])])
            rms = np.sqrt(np.mean(np.square(errors), axis=0))
            print(f"{tilt_deg:>6.0f} {level:>8} {turns:>6} {rms[0]:>12.3f} {rms[1]:>8.3f} {rms[2]:>9.3f}"
                  f" {max(e[2] for e in errors):>9.3f}")


if __name__ == "__main__":
    main()
