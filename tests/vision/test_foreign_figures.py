"""Pieces of other boxes on a simulated table: how the figure network's evidence of them differs from followers'."""

from __future__ import annotations

from collections import defaultdict

import cv2
import numpy as np

from bastide.table.demo_game import demo_game
from reading.pieces import PIECES
from scoring.transcript import write
from vision.figures import find_figures
from vision.lattice import UNIT, apply
from vision.simulator import Options, Simulator


def test_a_pig_in_a_base_game_stands_out_and_ordinary_followers_do_not() -> None:
    said: dict[str, list[float]] = defaultdict(list)
    for seed in (3, 4):
        sim = Simulator(write(demo_game(seed)), seed, Options(level="normal", fps=2, turns=24, mishaps="foreign"))
        turn = sim.truth.turns[-1]
        poses = {at: cv2.findHomography(UNIT, sim.truth.corners_px(at, turn.end))[0]
                 for at in sim.truth.frame(turn.end).tiles}
        side = float(np.median([np.linalg.norm(np.diff(apply(p, UNIT[:2]), axis=0)) for p in poses.values()]))
        stand = [f for f in sim.truth.figures if f.down <= turn.end and (f.gone is None or f.gone > turn.end)]
        found = find_figures(sim.still(turn.end), poses, colours=sim.script.colours, board=poses)
        for seen in (s for on_tile in found.values() for s in on_tile if s.look.there > 0):
            near = min(stand, key=lambda f: float(np.linalg.norm(np.subtract(f.base_px, seen.px))))
            if np.linalg.norm(np.subtract(near.base_px, seen.px)) < 0.3 * side:
                said[near.piece.figure].append(seen.look.pieces["pig"] - seen.look.pieces["follower"])
    assert len(said["follower"]) > 6 and len(said["pig"]) > 0 and len(said["abbot"]) > 0
    assert min(said["pig"]) > PIECES.any_pig[0] > max(said["follower"]) + 1.0
