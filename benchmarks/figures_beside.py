"""Figures beside the board: how many of each player's lie with each player, by `vision.beside`, against the truth of
simulated tables.

    ./run bench figures_beside [--of tower] [--games 8] [--skip 0] [--level normal] [--turns 28] [--seed 501]

Recorded games on tables on which nothing was tuned; one picture at the end of each turn. `own` are a player's own
figures in hand, `held` those of others that the player took; heaps whose figures do not all lie in the picture are left
out, and so are players without any.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections import Counter
from collections.abc import Mapping

import numpy as np
from watch_games import games

from scoring.tiles import Square
from scoring.transcript import Game, write
from vision.beside import BesideSense
from vision.lattice import Array, Lattice
from vision.simulator import LEVELS, Options, Simulator
from vision.simulator.stills import stills
from vision.simulator.supply import beside

FPS = 2
REACH = 2.0  # tiles from the middle of a heap
STILL = np.zeros((9, 16), bool)


def board(poses: Mapping[Square, Array]) -> Lattice:
    """The board whose tiles have these poses (3, 3)."""
    (x, y), first = next(iter(poses.items()))
    lattice = Lattice(grid=first @ np.array([[1, 0, -x], [0, 1, -y], [0, 0, 1.0]]))
    lattice.shifts.update({at: lattice.shift_of(at, pose) for at, pose in poses.items()})
    return lattice


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--of", default="tower")
    parser.add_argument("--games", type=int, default=8)
    parser.add_argument("--skip", type=int, default=0, help="leave out the first N games")
    parser.add_argument("--level", default="normal", choices=list(LEVELS))
    parser.add_argument("--turns", type=int, default=28)
    parser.add_argument("--seed", type=int, default=501, help="of the first game's table; the others count on from it")
    args = parser.parse_args()
    told: dict[str, Counter[tuple[int, int]]] = {"own": Counter(), "held": Counter()}
    spent = []
    for n, (_, game) in enumerate(games(args.games + args.skip, False, args.of)):
        if n < args.skip:
            continue
        table = Simulator(write(Game(setup=game.setup, turns=game.turns[:args.turns])), args.seed + n,
                          Options(level=args.level, fps=FPS, mishaps="level"))
        heaps = table.props.supply if table.props is not None else ()
        sense = BesideSense(table.script.colours)
        camera = table.truth.camera
        for number, image, lie in stills(table):
            here = board(table.truth.poses_px(number))
            begun = time.process_time()
            seen = sense.look(image, here, STILL, number / FPS) or ()
            spent.append(time.process_time() - begun)
            for player, heap in enumerate(heaps):
                around = [camera.project([(*beside(heap, n), 0.0)])[0] for n in range(3)] if heap else []
                if not around or any(not 0 < x < camera.width or not 0 < y < camera.height for x, y in around):
                    continue
                x, y = np.mean([camera.project([(p.x_mm, p.y_mm, 0.0)])[0] for p in heap], axis=0) / sense.side
                for colour in table.script.colours:
                    counted = sum(b.count for b in seen if b.colour == colour and math.dist(b.at, (x, y)) < REACH)
                    true = lie[player][colour]
                    if true or counted:
                        told["own" if table.script.colours[player] == colour else "held"][true, counted] += 1
    for what, pairs in told.items():
        right = sum(count for (true, counted), count in pairs.items() if true == counted)
        wrong = ", ".join(f"{true} as {counted}: {count}" for (true, counted), count in sorted(pairs.items())
                          if true != counted)
        print(f"{what}: {right} of {pairs.total()} right" + (f" ({wrong})" if wrong else ""))
    print(f"processor time of a picture: {1e3 * statistics.median(spent):.0f} ms in the median")


if __name__ == "__main__":
    main()
