"""Detection of bumps: delay, accuracy and false alarms.

    python benchmarks/drift.py [--seed N] [--turns N] [VIDEO ...]

Games of the simulator at every level, and videos (default: those of ../shared/sequences), are watched unchanged (every
alarm is false), with the picture moved from their middle on, as by a bump of the arm, and with another light from their
middle on, which must never be reported as a bump. Half of the bumps are random, by the seed.
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

from bastide.table.demo_game import demo_game  # noqa: E402
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


def drawn_bumps(rng: np.random.Generator) -> list[tuple[float, float, float]]:
    """Random bumps of 3 to 25 mm, in any direction, some with a rotation."""
    out = []
    for n in range(len(BUMPS)):
        length, way = rng.uniform(3, 25), rng.uniform(0, 2 * np.pi)
        out.append((float(length * np.cos(way)), float(length * np.sin(way)), float(rng.uniform(-1, 1) * (n % 2))))
    return out


def lights(shape: tuple[int, ...]) -> dict[str, np.ndarray]:
    """Changes of light, as factors on the picture."""
    across = np.linspace(0, 1, shape[1], dtype=np.float32)[None, :, None]
    return {"lamp off": np.float32(0.55) * np.ones(3, np.float32), "lamp on": np.float32(1.35) * np.ones(3, np.float32),
            "warmer": np.array([0.75, 0.97, 1.08], np.float32), "window": 0.6 + 0.5 * across,
            "lamp at the right, warm": (1.1 - 0.45 * across) * np.array([0.85, 1.0, 1.05], np.float32)}


def film(name: str, frames: list[tuple[float, np.ndarray]], mm: float, rng: np.random.Generator) -> None:
    watch = DriftWatch(frames[0][1], mm, frames[0][0])
    begun, alarms = time.process_time(), 0
    where, still = {}, np.zeros(2)
    for t, image in frames:
        told = watch.feed(image, t)
        alarms += told is not None and told.verdict == "moved"
        if watch.last is not None and watch.last.verdict != "moved":  # one wrong check is no motion
            still = np.array(watch.last.shift_mm)
        where[t] = still
    each = 1000 * (time.process_time() - begun) / max(1.0, (frames[-1][0] - frames[0][0]) / 2)
    print(f"{name:<16} {frames[-1][0]:6.0f} s watched, {alarms} false alarms, {each:.0f} ms a check")
    middle = len(frames) // 2
    for what, factor in lights(frames[0][1].shape).items():
        watch = DriftWatch(frames[0][1], mm, frames[0][0])
        verdicts: list[str] = []
        for n, (t, image) in enumerate(frames[:middle + 60]):
            lit = np.clip(image * factor, 0, 255).astype(np.uint8) if n >= middle else image
            told = watch.feed(lit, t)
            if told is not None and n >= middle:
                verdicts.append(f"{told.verdict} after {t - frames[middle][0]:.1f} s")
        wrong = sum(v.startswith("moved") for v in verdicts)
        print(f"{'':<16} {what}: {verdicts[0] if verdicts else 'nothing told'}, {wrong} times as a bump", flush=True)
    for bump in (*BUMPS, *drawn_bumps(rng)):
        watch = DriftWatch(frames[0][1], mm, frames[0][0])
        told = None
        for n, (t, image) in enumerate(frames[:middle + 200]):
            told = watch.feed(moved(image, mm, bump) if n >= middle else image, t)
            if told is not None and told.verdict == "moved":
                break
        if told is None or told.verdict != "moved":
            print(f"{'':<16} {bump[0]:5.0f} {bump[1]:5.0f} mm {bump[2]:4.1f} deg: not noticed")
            continue
        off = np.hypot(*(np.array(told.shift_mm) - where[t] - bump[:2]))  # minus the film's own motion
        print(f"{'':<16} {bump[0]:5.0f} {bump[1]:5.0f} mm {bump[2]:4.1f} deg: after {t - frames[middle][0]:4.1f} s, "
              f"off {off:4.2f} mm, turn {told.turn_deg:5.2f} deg, {'mendable' if told.mendable else 'to be put back'}",
              flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Bumps that are noticed.")
    parser.add_argument("videos", nargs="*", type=Path)
    parser.add_argument("--turns", type=int, default=4)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--mm", type=float, default=1 / 1.35, help="mm per px of the videos")
    args = parser.parse_args()
    cv2.setNumThreads(1)
    rng = np.random.default_rng(args.seed)
    for level in () if args.videos else ("easy", "normal", "hard"):
        game = json.loads(json.dumps(write(demo_game(args.seed, turns=args.turns))))
        simulator = Simulator(game, args.seed, Options(level=level, size=(1024, 576), fps=2.0, rest=3))
        frames = [(f.t_s, f.bgr) for f in simulator]
        film(f"simulated {level}", frames, 1 / simulator.truth.camera.scale((0.0, 0.0)), rng)
    for path in args.videos or sorted(SHARED.glob("sequences/*/video.mp4")):
        film(path.parent.name, list(_seconds(path)), args.mm, rng)


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
