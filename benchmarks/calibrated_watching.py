"""What a calibration is worth: the same simulated games watched without and with it.

    python benchmarks/calibrated_watching.py [--seeds 3] [--turns 12] [--fov 100] [--k1 -0.12]

Per lens and game: tiles and figures that are wrong and were not asked about, questions, and how far (mm) the tiles'
poses lie from where they are. The calibration is the camera's own truth: how well it can be found is the matter of
benchmarks/calibrate.py.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bastide.demo_game import demo_game  # noqa: E402
from scoring.engine import new_game, step  # noqa: E402
from scoring.events import FigurePlaced, TilePlaced  # noqa: E402
from scoring.tiles import catalogue  # noqa: E402
from scoring.transcript import write  # noqa: E402
from vision.lattice import UNIT, apply  # noqa: E402
from vision.placements import shape  # noqa: E402
from vision.simulator import Options, Simulator  # noqa: E402
from vision.simulator.camera import Camera  # noqa: E402
from vision.tileset import drawn_tileset  # noqa: E402
from vision.view import View  # noqa: E402
from vision.watcher import TableWatcher  # noqa: E402


def view_of(camera: Camera) -> View:
    """The camera's truth as a calibration would say it; table millimetres with z away from the camera."""
    x, y, z = camera.position_mm
    turn = camera.rotation
    return View(size=(camera.width, camera.height), matrix=camera.matrix, distortion=camera.distortion, rotation=turn,
                translation=turn @ np.array([-x, -y, z]))


def watched(seed: int, turns: int, options: Options, calibrated: bool) -> dict[str, float]:
    """One game followed to its end."""
    game = demo_game(seed, turns=turns)
    simulator = Simulator(json.loads(json.dumps(write(game))), seed, options)
    view = view_of(simulator.truth.camera) if calibrated else None
    tiles = drawn_tileset(tuple(t for t in catalogue() if t.startswith("base.")))
    watcher = TableWatcher(tiles, tuple(p.colour for p in game.setup.players), "base.D", view=view)
    state, asked, seen_figures = new_game(game.setup), set(), set()
    questions = 0
    for frame in simulator:
        if view is not None:
            frame = replace(frame, bgr=view.straighten(frame.bgr))
        for proposal in watcher.feed(frame, state).proposals:
            try:
                state = step(state, proposal.events[0])
            except Exception:  # a reading that means nothing in this game is a miss, counted below
                continue
            event = proposal.events[0]
            if isinstance(event, FigurePlaced):
                seen_figures.add((event.player, event.at, event.feature, event.where))
            questions += proposal.asked
            if proposal.asked:
                asked.add(event.at)
    events = [e for t in game.turns for e in t.events]
    wrong_tiles = sum(
        isinstance(e, TilePlaced) and e.at not in asked and (
            e.at not in state.tiles or shape(catalogue()[state.tiles[e.at].tile], state.tiles[e.at].rot)
            != shape(catalogue()[e.tile], e.rot)) for e in events)
    wrong_figures = sum(isinstance(e, FigurePlaced) and e.at not in asked
                        and (e.player, e.at, e.feature, e.where) not in seen_figures for e in events)
    off = [_off(simulator, view, at, pose) for at, pose in watcher.poses.items() if at in simulator.truth.tiles]
    return {"tiles": wrong_tiles, "figures": wrong_figures, "questions": questions,
            "off": float(np.mean(off)) if off else float("nan")}


def _off(simulator: Simulator, view: View | None, at: tuple[int, int], pose: np.ndarray) -> float:
    """mm from a pose's middle to the tile's, after the lens."""
    px = apply(pose, UNIT).mean(axis=0)[None]
    if view is not None:
        px = view.bend(px)
    truth = simulator.truth.tiles[at].pose
    return float(np.linalg.norm(simulator.truth.camera.table_mm(px, 2.2)[0] - (truth.x_mm, truth.y_mm)))


def main() -> None:
    parser = argparse.ArgumentParser(description="What a calibration is worth.")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--turns", type=int, default=12)
    parser.add_argument("--fov", type=float, default=100.0)
    parser.add_argument("--k1", type=float, default=-0.12)
    parser.add_argument("--level", default="normal")
    args = parser.parse_args()
    cv2.setNumThreads(1)
    print(f"{'lens':<22} {'seed':>4} {'calibrated':>10} {'wrong tiles':>12} {'wrong figures':>14} {'questions':>10} "
          f"{'off mm':>7} {'s':>6}")
    for seed in range(1, args.seeds + 1):
        for calibrated in (False, True):
            options = Options(level=args.level, fov=args.fov, k1=args.k1)
            begun = time.process_time()
            got = watched(seed, args.turns, options, calibrated)
            print(f"fov {args.fov:g}, k1 {args.k1:<10g} {seed:>4} {'yes' if calibrated else 'no':>10} "
                  f"{got['tiles']:>12} {got['figures']:>14} {got['questions']:>10} {got['off']:>7.2f} "
                  f"{time.process_time() - begun:>6.1f}", flush=True)


if __name__ == "__main__":
    main()
