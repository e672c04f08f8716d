"""Accuracy on photographs of unseen artwork: invented editions that were not used in training.

    ./run bench read_invented [CONDITION...] [--editions 4] [--taught] [--overlays DIR]

Every edition is random (`training/`), every copy of a tile drawn separately, laid out as a game and photographed by the
simulated camera under several conditions. Read without any pictures of the tiles, or with one picture of each kind
(`--taught`). One line per condition. "sure" are readings above the confidence threshold for asking.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import cv2
import numpy as np
from reliability import IN_FORCE, print_curve

from bastide.table.demo_game import demo_game
from scoring.tiles import catalogue
from scoring.transcript import write
from training.editions import invent
from training.invented import Painter
from vision.frames import Image
from vision.overlay import draw_reading
from vision.read import PhotoReader, PhotoReading, TileReading, box_counts
from vision.simulator.artist import ART_PX
from vision.simulator.options import LEVELS, Level, Options
from vision.simulator.script import Laid
from vision.simulator.simulator import Simulator
from vision.tileset import Specimen, TileSet, drawn_tileset

FIRST_SEED = 777_000  # of the editions: different from those in training
SIZE = (2000, 1500)
COLUMNS = ("tiles", "right", "extra", "sure", "sure wrong", "figures", "right", "feature", "extra")


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    turns: int = 40
    level: Level = LEVELS["normal"]
    gain: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Photograph(Options):
    """Options for a single still picture."""

    table: Level = field(default=LEVELS["normal"])

    @property
    def conditions(self) -> Level:
        return self.table


def _tilted(degrees: float) -> Level:
    return replace(LEVELS["normal"], tilt_deg=degrees, k1=(0.0, 0.0), board_deg=45, surfaces=("oak", "white", "cloth"))


CONDITIONS = {
    "above": Condition(),
    "12 tiles": Condition(turns=11),
    "72 tiles": Condition(turns=71),
    "oblique": Condition(level=_tilted(28)),
    "very oblique": Condition(turns=24, level=_tilted(40)),
    "dim": Condition(level=replace(LEVELS["normal"], noise=9.0, light=0.45), gain=0.4),
    "lamp": Condition(level=replace(LEVELS["hard"], glare=0.5)),
    "dark cloth": Condition(level=replace(LEVELS["normal"], surfaces=("cloth", "walnut"))),
    "loose": Condition(level=replace(LEVELS["normal"], jitter_mm=1.3, jitter_deg=2.0)),
}


class Printer:
    """Pictures of an invented edition's tiles: every copy is drawn separately, as in a real box."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self._painter = Painter(invent(rng), rng)
        self._laid: dict[object, Image] = {}

    def art(self, laid: Laid) -> Image:
        if laid.at not in self._laid:
            painted = self._painter.paint(catalogue()[laid.tile])
            self._laid[laid.at] = cv2.resize(painted, (ART_PX, ART_PX), interpolation=cv2.INTER_AREA)
        return np.ascontiguousarray(np.rot90(self._laid[laid.at], -(laid.rot % 4)))

    def taught(self) -> TileSet:
        return TileSet(name="invented", size_px=128, specimens=tuple(
            Specimen(tile=t, bgr=self._painter.paint(catalogue()[t]).copy()) for t in box_counts(["base"])))


def photograph(condition: Condition, seed: int) -> tuple[Image, Simulator, Printer]:
    """A picture of an invented edition's table with its ground truth."""
    game = write(demo_game(seed, turns=condition.turns))
    for n in range(20):  # some boards do not fit with a strongly tilted camera
        simulator = Simulator(game, seed + 1000 * n, Photograph(size=SIZE, table=condition.level))
        inside = [np.all((c > 4) & (c < np.array(SIZE) - 4)) for c in map(simulator.truth.corners_px,
                                                                          simulator.truth.tiles)]
        if all(inside):
            break
    printer = Printer(FIRST_SEED + seed)
    simulator._artist = printer  # type: ignore[assignment]
    picture = simulator.still().astype(np.float32) * condition.gain
    return np.clip(picture, 0, 255).astype(np.uint8), simulator, printer


def judged(reading: PhotoReading, simulator: Simulator) -> Iterator[tuple[TileReading, bool]]:
    """Readings of existing tiles, and whether each is right, matched by their position in the picture."""
    true = {at: simulator.truth.corners_px(at) for at in simulator.truth.tiles}
    for tile in reading.tiles:
        at, turns = _below(tile, true)
        if at is not None:
            laid = simulator.truth.tiles[at].laid
            yield tile, (catalogue()[tile.tile].signature((tile.rot + turns) % 4)
                         == catalogue()[laid.tile].signature(laid.rot))


def _below(tile: TileReading, true: dict) -> tuple[object, int]:  # type: ignore[type-arg]
    """The square at the reading's corners, and the rotation in quarters of the reading's north."""
    best = min(((float(np.abs(np.roll(tile.corners_px, k, axis=0) - corners).max()), at, k)
                for at, corners in true.items() for k in range(4)), key=lambda b: b[0])
    side = float(np.linalg.norm(tile.corners_px[0] - tile.corners_px[1]))
    return (best[1], best[2]) if best[0] < 0.3 * side else (None, 0)


def figures(reading: PhotoReading, simulator: Simulator) -> tuple[int, int, int, int]:
    """Numbers of true figures, those read with correct colour and square, those with the correct feature too, and false
    ones."""
    true = {at: simulator.truth.corners_px(at) for at in simulator.truth.tiles}
    below = {t.at: _below(t, true)[0] for t in reading.tiles}
    stand = [simulator.truth.figures[n] for n in simulator.truth.frame(simulator.truth.frames - 1).figures]
    left = [(f.piece.colour, f.standing.at, f.standing.feature) for f in stand]
    right = feature = extra = 0
    for f in reading.figures:
        match = next((t for t in left if t[:2] == (f.colour, below.get(f.at))), None)
        if match is None:
            extra += 1
            continue
        left.remove(match)
        right += 1
        feature += match[2] == f.feature
    return len(stand), right, feature, extra


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("conditions", nargs="*", choices=[*CONDITIONS, []], help="default: all")
    parser.add_argument("--editions", type=int, default=4)
    parser.add_argument("--first", type=int, default=1, help="number of the first edition")
    parser.add_argument("--taught", action="store_true", help="with one picture of each kind")
    parser.add_argument("--overlays", type=Path, help="folder for pictures of what was read")
    options = parser.parse_args()
    cv2.setNumThreads(1)
    drawn = PhotoReader(drawn_tileset(box_counts(["base"])), counts=box_counts(["base"]))
    print(f"{'condition':14}" + "".join(f"{c:>11}" for c in COLUMNS) + f"{'s each':>8}")
    total = np.zeros(len(COLUMNS), int)
    told: list[tuple[float, bool]] = []
    for name in options.conditions or CONDITIONS:
        sums, seconds = np.zeros(len(COLUMNS), int), 0.0
        for seed in range(options.first, options.first + options.editions):
            picture, simulator, printer = photograph(CONDITIONS[name], seed)
            reader = (PhotoReader(printer.taught(), counts=box_counts(["base"])) if options.taught else drawn)
            start = time.process_time()
            reading = reader.read(picture)
            seconds += time.process_time() - start
            seen = list(judged(reading, simulator))
            told += [(t.confidence, ok) for t, ok in seen]
            sure = [ok for t, ok in seen if t.confidence >= IN_FORCE]
            sums += (len(simulator.truth.tiles), sum(ok for _, ok in seen), len(reading.tiles) - len(seen), len(sure),
                     len(sure) - sum(sure), *figures(reading, simulator))
            if options.overlays:
                options.overlays.mkdir(parents=True, exist_ok=True)
                cv2.imwrite(str(options.overlays / f"{name.replace(' ', '_')}-{seed}.png"),
                            draw_reading(picture, reading))
        print(f"{name:14}" + "".join(f"{n:11}" for n in sums) + f"{seconds / options.editions:8.1f}", flush=True)
        total += sums
    print(f"{'all':14}" + "".join(f"{n:11}" for n in total))
    print_curve("tiles", told)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
