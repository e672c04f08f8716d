"""How well the tracker knows where each tile lies, and how large it appears, on a simulated table that is pushed about.

    ./run bench tile_poses [--of all] [--level hard] [--skip 9] [--seed 2720] [--turns 40] [--first 500] [--last 640]

Tracks the frames of one game from ``--first`` to ``--last``, as if the board had been found then, and compares the
tiles' poses after each look with the true ones. Prints the RMS and the largest error of a tile's side, as fractions of
it, the mean of that error (what people leave between tiles counts as tile) and the median distance from its place, in
tiles, each averaged over the looks.
"""

from __future__ import annotations

import argparse

import numpy as np
from watch_games import games

from bastide.tiles.art import load_tiles
from bastide.watching.watcher import make_watcher
from scoring.transcript import Game, write
from vision.lattice import UNIT, Array, apply, area
from vision.simulator import LEVELS, Options, Simulator
from vision.tracker import Tracker

ITS_OWN = 0.3  # tiles: a pose that is farther from every tile is none of a tile's


def errors(tracker: Tracker, sim: Simulator, number: int) -> list[tuple[float, float]]:
    """Of each tracked tile the relative error of its side, and its distance from its place in tiles."""
    true = [np.asarray(sim.truth.corners_px(at, number), float) for at in sim.truth.frame(number).tiles]
    out = []
    for pose in tracker.poses.values():
        corners: Array = apply(pose, UNIT)
        own = min(true, key=lambda t: float(np.linalg.norm(t.mean(axis=0) - corners.mean(axis=0))))
        side = np.sqrt(abs(area(own)))
        off = float(np.linalg.norm(own.mean(axis=0) - corners.mean(axis=0)) / side)
        if off < ITS_OWN:
            out.append((float(np.sqrt(abs(area(corners))) / side) - 1, off))
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--of", default="all", help="which recorded games (default: all)")
    parser.add_argument("--level", default="hard", choices=list(LEVELS))
    parser.add_argument("--skip", type=int, default=9, help="leave out the first N games")
    parser.add_argument("--seed", type=int, default=2720)
    parser.add_argument("--turns", type=int, default=40)
    parser.add_argument("--first", type=int, default=500)
    parser.add_argument("--last", type=int, default=640)
    args = parser.parse_args()
    *_, (name, game) = games(1 + args.skip, False, args.of)
    game = Game(setup=game.setup, turns=game.turns[:args.turns])
    sim = Simulator(write(game), args.seed, Options(level=args.level, fps=2, mishaps="level"))
    tracker = make_watcher(load_tiles(None, game.setup.expansions), game.setup).tracker
    looks = []
    for frame in sim:
        if frame.id > args.last:
            break
        if frame.id >= args.first and tracker.feed(frame).look is not None and (
                told := errors(tracker, sim, frame.id)):
            side, off = np.array(told).T
            looks.append((np.sqrt((side ** 2).mean()), np.abs(side).max(), side.mean(), np.median(off)))
    if not looks:
        parser.error("no tile was found between these frames")
    rms, most, mean, off = np.mean(looks, axis=0)
    print(f"{name} at {args.level}, {len(looks)} looks: a tile's side is wrong by {rms:.3f} (RMS), {most:.3f} at most, "
          f"{mean:+.3f} in the mean; its middle by {off:.3f} tiles")


if __name__ == "__main__":
    main()
