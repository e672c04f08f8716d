"""Cost of watching: stage times per frame, and two ratios within one run. One core.

    ./run bench watch_speed [--turns 40] [--size 2304x1296] [--level normal]

A still frame is compared with the cost of motion detection in a rectified picture: warping the whole frame and
converting it to grey (at most 1/3 of that). Reading a changed square is compared with matching every template in four
rotations over the whole table with cv2.matchTemplate (at most 1/50). Exit code 1 when a ratio is not met.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is loaded: one core is measured

import cv2  # noqa: E402
import numpy as np  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bastide.table.demo_game import demo_game  # noqa: E402
from bastide.tiles.art import load_tiles
from bastide.watching.watcher import make_watcher  # noqa: E402
from reading.game import GameReader  # noqa: E402
from reading.watcher import TableWatcher  # noqa: E402
from scoring.events import TilePlaced, TurnEnded  # noqa: E402
from scoring.log import LogEntry  # noqa: E402
from scoring.transcript import Game, write  # noqa: E402
from vision.find import BoardFinder  # noqa: E402
from vision.fitting import PictureFit  # noqa: E402
from vision.frames import Frame  # noqa: E402
from vision.lattice import UNIT, apply, area  # noqa: E402
from vision.read import box_counts  # noqa: E402
from vision.registration import Register  # noqa: E402
from vision.senses import TileSense  # noqa: E402
from vision.simulator import Options, Simulator  # noqa: E402
from vision.stillness import Stillness  # noqa: E402
from vision.structure import StructureNet  # noqa: E402
from vision.tileset import drawn_tileset  # noqa: E402
from vision.tracker import Tracker  # noqa: E402

STILL, SQUARE = 1 / 3, 1 / 50
FIGURES = "- who stands on them"
WARM = 16  # frames until the board is found and read
STAGES: tuple[tuple[str, type, str], ...] = (
    ("find movement", Stillness, "feed"),
    ("find the board", BoardFinder, "find"),
    ("where the tiles lie", Register, "find"),
    ("is it where it lay", Register, "alike"),
    ("look at what is due", Tracker, "_look"),
    ("- what tiles are", TileSense, "look"),
    ("-- their structure", StructureNet, "ask"),
    ("-- against pictures", PictureFit, "fits"),
    ("- remember how they look", Register, "keep"),
    ("explain the looks", GameReader, "look"),
)


class Clock:
    """Adds up the time spent in named methods while it is on."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}
        self.calls: dict[str, int] = {}

    def watch(self, name: str, owner: type, method: str) -> None:
        setattr(owner, method, self.timed(name, getattr(owner, method)))

    def timed(self, name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
        """A wrapper that adds the function's time under a name."""

        def outer(*args: object, **kwargs: object) -> object:
            begun = time.process_time()
            try:
                return plain(*args, **kwargs)
            finally:
                self.spent[name] = self.spent.get(name, 0.0) + time.process_time() - begun
                self.calls[name] = self.calls.get(name, 0) + 1

        return outer

    def clear(self) -> None:
        self.spent.clear()
        self.calls.clear()


def best_of(what: Callable[[], object], times: int) -> float:
    """The least of several times, in seconds, to exclude other load."""
    spent = []
    for _ in range(times):
        begun = time.process_time()
        what()
        spent.append(time.process_time() - begun)
    return min(spent)


def played(game: Game) -> list[LogEntry]:
    """The log before the game's last tile, all entries certain."""
    events = list(game.events)
    last = max(n for n, e in enumerate(events) if isinstance(e, TilePlaced))
    return [LogEntry(seq=n + 1, body=e, source="hand", confidence=1.0, asked=False)
            for n, e in enumerate(e for e in events[:last] if not isinstance(e, TurnEnded))]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=40)
    parser.add_argument("--size", default="2304x1296")
    parser.add_argument("--level", default="normal")
    parser.add_argument("--frames", type=int, default=24)
    parser.add_argument("--seed", type=int, default=3)
    args = parser.parse_args()
    cv2.setNumThreads(1)
    width, height = (int(n) for n in args.size.split("x"))
    game = demo_game(args.seed, turns=args.turns)
    simulator = Simulator(write(game), args.seed, Options(level=args.level, size=(width, height), fps=4.0))
    truth = simulator.truth
    last = truth.timeline.turns[-1]
    lying, bare = simulator.still(), simulator.still(last.tile_down - 1)
    tiles = load_tiles(None, game.setup.expansions)
    clock = Clock()
    for name, owner, method in STAGES:
        clock.watch(name, owner, method)
    before = played(game)
    rng = np.random.default_rng(1)
    noise = [rng.integers(-2, 3, lying.shape, np.int8) for _ in range(2)]

    def film(picture: np.ndarray, number: int) -> Frame:
        bgr = np.clip(picture.astype(np.int16) + noise[number % 2], 0, 255).astype(np.uint8)
        return Frame(id=number, t_s=number / 4, source="bench", bgr=bgr)

    watcher = make_watcher(tiles, game.setup)
    watcher.tracker.figures = clock.timed(FIGURES, watcher.tracker.figures)
    feed_all(watcher, [film(bare, n) for n in range(WARM)], before, clock)
    clock.clear()
    still = feed_all(watcher, [film(bare, WARM + n) for n in range(args.frames)], before, clock)
    if not watcher.poses:
        print("the board was not found", file=sys.stderr)
        return 1
    quiet = dict(clock.spent), dict(clock.calls), len(still)
    clock.clear()
    changed = feed_all(watcher, [film(lying, args.frames + WARM + n) for n in range(8)], before, clock)
    reading = dict(clock.spent), dict(clock.calls), len(changed)
    print(f"{width}x{height}, {len(watcher.poses)} tiles lie, {len(tiles.specimens)} taught pictures; ms, one core")
    print(f"{'stage':<26}{'a still frame':>16}{'a tile comes (all)':>20}{'calls':>8}")
    for name in (*(name for name, *_ in STAGES), FIGURES):
        print(f"{name:<26}{1e3 * quiet[0].get(name, 0.0) / quiet[2]:16.2f}{1e3 * reading[0].get(name, 0.0):20.2f}"
              f"{reading[1].get(name, 0):8d}")
    print(f"{'whole':<26}{1e3 * float(np.mean(still)):16.2f}{1e3 * sum(changed):20.2f}")
    warp = np.array([[1.0, 0.02, -9], [-0.02, 1.0, 12], [1e-6, 2e-6, 1.0]])
    full = best_of(lambda: cv2.cvtColor(cv2.warpPerspective(lying, warp, (width, height)), cv2.COLOR_BGR2GRAY), 15)
    usual = float(np.mean(still))
    met = [told("a still frame", usual, "warp and grey of the whole frame", full, STILL)]
    place = next(iter(watcher.tracker.poses.items()))
    sense = watcher.tracker.sense
    square = best_of(lambda: sense.look(lying, dict([place])), 5)
    side = round(float(np.median([np.sqrt(abs(area(apply(p, UNIT)))) for p in watcher.poses.values()])))
    grey = cv2.cvtColor(lying, cv2.COLOR_BGR2GRAY)
    templates = drawn_tileset(box_counts(game.setup.expansions))
    begun = time.process_time()
    for specimen in templates.specimens:
        upright = cv2.resize(cv2.cvtColor(specimen.bgr, cv2.COLOR_BGR2GRAY), (side, side))
        for turn in range(4):
            cv2.matchTemplate(grey, np.ascontiguousarray(np.rot90(upright, turn)), cv2.TM_CCOEFF_NORMED)
    whole = time.process_time() - begun
    met.append(told("reading one changed square", square, "matching every template over the table", whole, SQUARE))
    return 0 if all(met) else 1


def feed_all(watcher: TableWatcher, frames: list[Frame], entries: list[LogEntry], clock: Clock) -> list[float]:
    """Seconds per frame, without those up to the one in which the board is found."""
    spent: list[float] = []
    for frame in frames:
        looking = not watcher.poses
        begun = time.process_time()
        watcher.feed(frame, entries)
        spent.append(time.process_time() - begun)
        if looking:
            spent.clear()
            clock.clear()
    return spent


def told(what: str, seconds: float, against: str, other: float, most: float) -> bool:
    ok = seconds <= most * other
    print(f"{what}: {1e3 * seconds:.1f} ms; {against}: {1e3 * other:.1f} ms; ratio 1/{other / seconds:.1f}, "
          f"at most 1/{1 / most:.0f}: {'met' if ok else 'NOT MET'}")
    return ok


if __name__ == "__main__":
    sys.exit(main())
