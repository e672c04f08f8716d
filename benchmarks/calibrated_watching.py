"""The benefit of a calibration: the same simulated games watched without and with it.

    python benchmarks/calibrated_watching.py [--seeds 3] [--turns 12] [--fov 100] [--k1 -0.12]

Per lens and game: silent errors in tiles and figures, questions, and the error (mm) of the tiles' poses. The
calibration is the camera's ground truth: its accuracy in practice is measured by benchmarks/calibrate.py.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bastide.log.store import Store  # noqa: E402
from bastide.table.demo_game import demo_game  # noqa: E402
from bastide.table.session import TableSession  # noqa: E402
from bastide.tiles.art import load_tiles
from bastide.watching.following import commit  # noqa: E402
from bastide.watching.watcher import make_watcher  # noqa: E402
from scoring.events import FigurePlaced, TilePlaced  # noqa: E402
from scoring.log import effective, open_questions  # noqa: E402
from scoring.tiles import catalogue  # noqa: E402
from scoring.transcript import write  # noqa: E402
from vision.lattice import UNIT, apply  # noqa: E402
from vision.simulator import Options, Simulator  # noqa: E402
from vision.simulator.camera import Camera  # noqa: E402
from vision.stills import keep  # noqa: E402
from vision.view import View  # noqa: E402


def view_of(camera: Camera) -> View:
    """The camera's ground truth as a calibrated view; table millimetres with z away from the camera."""
    x, y, z = camera.position_mm
    turn = camera.rotation
    return View(size=(camera.width, camera.height), matrix=camera.matrix, distortion=camera.distortion, rotation=turn,
                translation=turn @ np.array([-x, -y, z]))


def watched(seed: int, turns: int, options: Options, calibrated: bool) -> dict[str, float]:
    """Watch one game to its end."""
    game = demo_game(seed, turns=turns)
    simulator = Simulator(json.loads(json.dumps(write(game))), seed, options)
    view = view_of(simulator.truth.camera) if calibrated else None
    watcher = make_watcher(load_tiles(None, game.setup.expansions), game.setup, view)
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "log.sqlite") as store:
        session = TableSession(store, game.setup)
        for frame in simulator:
            if view is not None:
                frame = replace(frame, bgr=view.straighten(frame.bgr))
            for proposal in watcher.feed(frame, session.entries).proposals:
                commit(session, proposal, keep(frame.bgr, watcher.poses))
        while left := watcher.finish(frame, session.entries):
            before = len(session.entries)
            for proposal in left:
                commit(session, proposal, keep(frame.bgr, watcher.poses))
            if len(session.entries) == before:
                break
        entries = session.entries
    open_now, got = open_questions(entries), effective(entries)
    asked = {e.at for seq, e in got if seq in open_now and isinstance(e, TilePlaced | FigurePlaced)}
    tiles = {e.at: e for _, e in got if isinstance(e, TilePlaced)}
    figures = {(e.player, e.at, e.feature, e.where) for _, e in got if isinstance(e, FigurePlaced)}
    events = [e for t in game.turns for e in t.events]
    kinds = catalogue()
    wrong_tiles = sum(isinstance(e, TilePlaced) and e.at not in asked and (
        e.at not in tiles or kinds[tiles[e.at].tile].signature(tiles[e.at].rot) != kinds[e.tile].signature(e.rot))
        for e in events)
    wrong_figures = sum(isinstance(e, FigurePlaced) and e.at not in asked
                        and (e.player, e.at, e.feature, e.where) not in figures for e in events)
    off = [_off(simulator, view, at, pose) for at, pose in watcher.poses.items() if at in simulator.truth.tiles]
    return {"tiles": wrong_tiles, "figures": wrong_figures, "questions": len(open_now),
            "off": float(np.mean(off)) if off else float("nan")}


def _off(simulator: Simulator, view: View | None, at: tuple[int, int], pose: np.ndarray) -> float:
    """Distance in mm between the centres of a pose and of the tile, after undistortion."""
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
