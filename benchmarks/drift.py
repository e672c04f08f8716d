"""Bumps that are noticed: how soon, how exactly, and how often for nothing.

    python benchmarks/drift.py [VIDEO ...]

Games of the simulator at every level, and videos (default: those of ../shared/sequences), are watched once as they are
(every alarm is false) and then with the picture moved from their middle on, as by a bump of the arm.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import cv2
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bastide.demo_game import demo_game  # noqa: E402
from calibration.drift import DriftWatch  # noqa: E402
from scoring.transcript import write  # noqa: E402
from vision.simulator import Options, Simulator  # noqa: E402

SHARED = Path(__file__).resolve().parents[2] / "shared"
BUMPS = ((3.0, 0.0, 0.0), (0.0, -4.0, 0.0), (-7.0, 7.0, 0.0), (12.0, -8.0, 0.7), (20.0, 14.0, 0.0), (45.0, -20.0, 0.0))


def moved(image: np.ndarray, mm: float, bump: tuple[float, float, float]) -> np.ndarray:
    h, w = image.shape[:2]
    turn = cv2.getRotationMatrix2D((w / 2, h / 2), -bump[2], 1)
    turn[:, 2] += np.array(bump[:2]) / mm
    return cv2.warpAffine(image, turn, (w, h), borderMode=cv2.BORDER_REFLECT)


def film(name: str, frames: list[tuple[float, np.ndarray]], mm: float) -> None:
    watch = DriftWatch(frames[0][1], mm, frames[0][0])
    begun, alarms = time.process_time(), 0
    where = {}
    for t, image in frames:
        told = watch.feed(image, t)
        alarms += told is not None and told.verdict == "moved"
        where[t] = np.zeros(2) if watch.last is None else np.array(watch.last.shift_mm)
    each = 1000 * (time.process_time() - begun) / max(1.0, (frames[-1][0] - frames[0][0]) / 2)
    print(f"{name:<16} {frames[-1][0]:6.0f} s watched, {alarms} false alarms, {each:.0f} ms a check")
    middle = len(frames) // 2
    for bump in BUMPS:
        watch = DriftWatch(frames[0][1], mm, frames[0][0])
        told = None
        for n, (t, image) in enumerate(frames[:middle + 200]):
            told = watch.feed(moved(image, mm, bump) if n >= middle else image, t)
            if told is not None and told.verdict == "moved":
                break
        if told is None or told.verdict != "moved":
            print(f"{'':<16} {bump[0]:5.0f} {bump[1]:5.0f} mm {bump[2]:4.1f} deg: not noticed")
            continue
        off = np.hypot(*(np.array(told.shift_mm) - where[t] - bump[:2]))  # less what the film itself moves
        print(f"{'':<16} {bump[0]:5.0f} {bump[1]:5.0f} mm {bump[2]:4.1f} deg: after {t - frames[middle][0]:4.1f} s, "
              f"off {off:4.2f} mm, turn {told.turn_deg:5.2f} deg, {'mendable' if told.mendable else 'to be put back'}",
              flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Bumps that are noticed.")
    parser.add_argument("videos", nargs="*", type=Path)
    parser.add_argument("--turns", type=int, default=4)
    parser.add_argument("--mm", type=float, default=1 / 1.35, help="mm per px of the videos")
    args = parser.parse_args()
    cv2.setNumThreads(1)
    for level in () if args.videos else ("easy", "normal", "hard"):
        game = json.loads(json.dumps(write(demo_game(11, turns=args.turns))))
        simulator = Simulator(game, 11, Options(level=level, size=(1024, 576), fps=2.0, rest=3))
        frames = [(f.t_s, f.bgr) for f in simulator]
        film(f"simulated {level}", frames, 1 / simulator.truth.camera.scale((0.0, 0.0)))
    for path in args.videos or sorted(SHARED.glob("sequences/*/video.mp4")):
        film(path.parent.name, list(_seconds(path)), args.mm)


def _seconds(path: Path) -> Iterable[tuple[float, np.ndarray]]:
    """A frame per second of a video."""
    video = cv2.VideoCapture(str(path))
    step = max(1, round(video.get(cv2.CAP_PROP_FPS)))
    n = 0
    while video.grab():
        if n % step == 0:
            yield n / step, video.retrieve()[1]
        n += 1


if __name__ == "__main__":
    main()
