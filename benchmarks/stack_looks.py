"""How well single looks see piles of blocks: the basis of the limits in `vision.stacks` and `reading.stack_limits`.

    ./run bench stack_looks [--level normal] [--games 3] [--turns 40] [--noise 0.3]

Plays recorded games with piles at simulated tables (seeds from 21 on, which no other benchmark uses) and looks at every
place after each turn, at the tiles' true poses with some noise (px), knowing the size of the blocks. Prints the
log-odds of a pile where there is none and where there is one; how far a top moves from one turn to the next if no
block was added (robust deviations and 95 % quantiles, in tiles and degrees), and by how much its tone changes, where
both were measured; and by how much one block moves it otherwise than expected. By how much a pile has darkened what
is around it since then (quantiles, in squared tiles times natural logarithms of brightness) is what it has in the
direction in which one block darkens most at that table, by these looks themselves.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
from watch_games import RECORDED

from scoring.box import Box
from scoring.engine import new_game
from scoring.geometry import rotate_point
from scoring.transcript import read
from vision.lattice import UNIT, apply
from vision.looks import StackLook
from vision.nadir import board_grid, upright
from vision.pile_shadow import PileShadows
from vision.simulator import LEVELS, Options, Simulator, load
from vision.simulator.film import Film
from vision.simulator.script import Square
from vision.stacks import TILE_MM, look_at
from vision.top_tone import TopTones


def looks(path: Path, level: str, seed: int, turns: int,
          noise: float) -> Iterator[tuple[Square, int, StackLook, float]]:
    """After each turn and for each open place: its square, the number of blocks, the look, and the camera's true
    displacement of one block there, in tiles."""
    data = load(path)
    box: Box = new_game(read(data).setup).box
    sim = Simulator(data, seed, Options(level=level, turns=turns, fps=2, mishaps="level"))
    truth, rng = sim.truth, np.random.default_rng(seed)
    table, supply, _ = sim.set_table()
    film, visits, tones, shadows = Film(sim.options, rng), list(truth.timeline.visits), TopTones(), PileShadows()
    for turn in truth.turns:
        while visits and visits[0].first <= turn.end:
            visit = visits.pop(0)
            supply.take(visit)
            for act in visit.acts:
                sim.carry_out(act, table)
            supply.give_back(visit)
        bgr = film.develop(sim.bumped(table.shown, turn.end))
        poses = {}
        for at in truth.frame(turn.end).tiles:
            corners = truth.corners_px(at, turn.end) + rng.normal(0, noise, (4, 2))
            poses[at] = np.asarray(cv2.getPerspectiveTransform(
                UNIT.astype(np.float32), corners.astype(np.float32)), float)
        grid = board_grid(poses)
        up = upright(grid, poses, bgr.shape, None)
        guarded = {f.standing.at for f in truth.figures if f.standing.feature in sim.script.tops and f.down <= turn.end
                   and (f.gone is None or turn.end < f.gone)}
        for at, pose in poses.items():
            laid = truth.tiles[at].laid
            for stack in box.stacks:
                spot = stack.spot(box.tile(laid.tile))
                if spot is None or at in guarded:
                    continue
                x, y = rotate_point(*spot, laid.rot)
                blocks = [s.piece for s in truth.stops if s.piece.block_mm and s.at == at and s.down <= turn.end]
                here = truth.pose(at, turn.turn).at((x / 100 - 0.5) * TILE_MM, (y / 100 - 0.5) * TILE_MM)
                foot, top = truth.camera.project([(*here, 2.2), (*here, 2.2 + stack.wood_mm[1])])
                floor = apply(np.linalg.inv(pose), [foot, top])
                size = blocks[0].block_mm[0] / stack.wood_mm[0] if blocks and blocks[0].block_mm else None
                seen, _ = look_at(bgr, pose, (x / 100, y / 100), grid, up, stack.wood_mm, size)
                if seen.there > 0.0:
                    seen = replace(seen, tone=tones.tone(bgr, pose, at, (x / 100, y / 100), seen),
                                   darkened=shadows.look(bgr, pose, at, at, (x / 100, y / 100), poses.keys()))
                yield at, len(blocks), seen, float(np.hypot(*(floor[1] - floor[0])))


def _difference(tone: float | None, before: float | None) -> float:
    return float("nan") if tone is None or before is None else tone - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--level", choices=list(LEVELS), help="default: easy, normal and hard")
    parser.add_argument("--games", type=int, default=3)
    parser.add_argument("--turns", type=int, default=40)
    parser.add_argument("--noise", type=float, default=0.3, help="of the tiles' corners, px (default 0.3)")
    args = parser.parse_args()
    files = sorted(RECORDED.glob("tower-*.json.gz"))[4:4 + args.games]
    for level in [args.level] if args.level else ["easy", "normal", "hard"]:
        there: dict[bool, list[float]] = {False: [], True: []}
        same, added, floors = [], [], []
        darkened: dict[bool, list[float]] = {False: [], True: []}
        for n, file in enumerate(files):
            grown: dict[bool, list[npt.NDArray[np.floating]]] = {False: [], True: []}
            last: dict[Square, tuple[int, StackLook]] = {}
            for at, count, seen, true_floor in looks(file, level, 21 + n, args.turns, args.noise):
                there[count > 0].append(seen.there)
                floors.append(float(np.hypot(*seen.floor)) - true_floor)
                known = last.get(at)
                last[at] = count, seen
                if known is None or not count or not known[0]:
                    continue
                steps = count - known[0]
                if seen.darkened and known[1].darkened and steps in {0, 1}:
                    grown[steps == 1].append(np.subtract(seen.darkened, known[1].darkened))
                turn = (seen.yaw - known[1].yaw + np.pi / 4) % (np.pi / 2) - np.pi / 4
                moved = np.array([*(np.subtract(seen.top, known[1].top) - steps * np.array(seen.floor)),
                                  np.degrees(turn), _difference(seen.tone, known[1].tone)])
                (added if steps else same).append(moved)
            if grown[True]:
                way = int(np.median(grown[True], axis=0).argmax())
                for more, rows in grown.items():
                    darkened[more] += [float(row[way]) for row in rows]
        print(f"{level}: {len(there[False])} places without a pile, log-odds at most {max(there[False]):.1f}; "
              f"{len(there[True])} piles, at least {min(there[True]):.1f}")
        for what, rows in (("same", np.array(same)), ("one block more", np.array(added))):
            if len(rows):
                robust = 1.48 * np.nanmedian(np.abs(rows), axis=0)
                print(f"  {what}: {len(rows)}, deviation {robust[0]:.4f} {robust[1]:.4f} tiles {robust[2]:.1f} deg, "
                      f"95 % within {' '.join(f'{v:.4f}' for v in np.nanquantile(np.abs(rows[:, :3]), 0.95, axis=0))}; "
                      f"tone of {np.isfinite(rows[:, 3]).sum()} {robust[3]:.4f}")
        for more, values in darkened.items():
            if values:
                print(f"  darkened with {'one block more' if more else 'none'}: {len(values)}, 1, 10, 50, 90 and 99 % "
                      f"below {' '.join(f'{v:.3f}' for v in np.quantile(values, (0.01, 0.1, 0.5, 0.9, 0.99)))}")
        print(f"  one block's displacement: off by {np.sqrt(np.mean(np.square(floors))):.4f} tiles rms", flush=True)


if __name__ == "__main__":
    main()
