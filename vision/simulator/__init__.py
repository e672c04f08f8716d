"""A simulated table: a camera driver like any other, seeded, with ground truth."""

from vision.simulator.options import LEVELS, Level, Options, options_from
from vision.simulator.script import load
from vision.simulator.simulator import Simulator
from vision.simulator.truth import FigureTruth, FrameTruth, TileTruth, Truth

__all__ = ["LEVELS", "FigureTruth", "FrameTruth", "Level", "Options", "Simulator", "TileTruth", "Truth", "load",
           "options_from"]
