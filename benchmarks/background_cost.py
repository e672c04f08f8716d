"""What the background model of the tiles adds to reading figures.

    ./run bench background_cost [--rounds 40] [--level normal]

Reads the figures of one picture of a simulated game again and again, by turns with and without comparing the tiles with
their background and updating that. Prints the CPU time per tile of both, and their ratio.
"""

from __future__ import annotations

import argparse
import time

import cv2
import numpy as np
from watch_games import games

from scoring.transcript import Game, write
from vision.figures import find_figures
from vision.lattice import UNIT
from vision.occupancy import hidden_by
from vision.simulator import LEVELS, Options, Simulator
from vision.tile_background import TileBackground
from vision.tracking import MAYBE

TURNS = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--level", default="normal", choices=list(LEVELS))
    args = parser.parse_args()
    if args.rounds < 1:
        parser.error("--rounds must be at least 1")
    cv2.setNumThreads(1)
    (_, game), = games(1, demo=False)
    sim = Simulator(write(Game(setup=game.setup, turns=game.turns[:TURNS + 1])), 1, Options(level=args.level, fps=2))
    end = sim.truth.turns[TURNS].end
    picture, colours = sim.still(end), [p.colour for p in game.setup.players]
    poses = {at: np.asarray(cv2.findHomography(UNIT, sim.truth.corners_px(at, end))[0], float)
             for at in sim.truth.frame(end).tiles}
    background, spent = TileBackground(), [0.0, 0.0]
    for n in range(-2, args.rounds):  # the first two only warm up: the background is known from the third look on
        for known in (False, True):
            began = time.process_time()
            found = find_figures(picture, poses, colours=colours, bare=background.bare() if known else None)
            if known:
                background.update(picture, poses, hidden_by(found, MAYBE))
            spent[known] += (time.process_time() - began) * (n >= 0)
    without, with_it = (1e3 * s / args.rounds / len(poses) for s in spent)
    print(f"{len(poses)} tiles: {without:.2f} ms a tile without the background, {with_it:.2f} with it, "
          f"ratio {with_it / without:.2f}")


if __name__ == "__main__":
    main()
