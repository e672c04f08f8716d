"""Cost of reading a photograph of 72 untaught tiles, on one core.

    ./run bench read_speed [--photo FILE --tiles DIR] [--long-side 4000] [--rounds 1]

Ratio within one run: `read` against SIFT matching of each taught tile in turn (the photograph's keypoints detected
once; then per tile nearest neighbours, ratio test, and RANSAC for one copy after the other). Both get the same picture;
SIFT is also timed on the picture at the size that `read` works at. Prints processor time, wall time of each stage, and
the peak memory of `bastide read`, in another process. Without --photo the simulator photographs a table of our
drawings.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections import Counter
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is loaded: one core is measured

import cv2
import numpy as np
from peak_memory import peak_of

from bastide.table.demo_game import demo_game
from scoring.transcript import write
from vision.read import LONG_SIDE_PX, PhotoReader, box_counts
from vision.simulator.options import Options
from vision.simulator.simulator import Simulator
from vision.tileset import TileSet, drawn_tileset, load_tileset

RATIO, FEWEST = 0.75, 8  # of Lowe's ratio test; least matches of a copy
WANTED = 5.0
MOST_MB = 400.0


def sift_in_turn(photo: np.ndarray, tiles: TileSet) -> tuple[float, int]:
    """(seconds, copies found) of searching for one taught tile after the other."""
    start = time.process_time()
    sift, matcher = cv2.SIFT.create(), cv2.BFMatcher(cv2.NORM_L2)
    points, descriptors = sift.detectAndCompute(cv2.cvtColor(photo, cv2.COLOR_BGR2GRAY), None)
    places = np.array([p.pt for p in points], np.float32)
    found = 0
    for specimen in tiles.specimens:
        own, own_descriptors = sift.detectAndCompute(cv2.cvtColor(specimen.bgr, cv2.COLOR_BGR2GRAY), None)
        if own_descriptors is None or len(own) < FEWEST:
            continue
        # From the photograph to the tile: in the other direction, copies would fail each other's ratio test.
        pairs = matcher.knnMatch(descriptors, own_descriptors, k=2)
        good = [p[0] for p in pairs if len(p) == 2 and p[0].distance < RATIO * p[1].distance]
        while len(good) >= FEWEST:
            source = np.array([own[m.trainIdx].pt for m in good], np.float32)
            target = places[[m.queryIdx for m in good]]
            pose, inliers = cv2.findHomography(source, target, cv2.RANSAC, 4.0)
            if pose is None or inliers.sum() < FEWEST:
                break
            found += 1
            good = [m for m, inside in zip(good, inliers.ravel(), strict=True) if not inside]
    return time.process_time() - start, found


def simulated(long_side: int) -> np.ndarray:
    game = write(demo_game(1, turns=71))
    return Simulator(game, 1, Options(size=(long_side, long_side * 3 // 4))).still()


def peak_mb(photo: np.ndarray, tiles: Path | None) -> float:
    """Peak resident memory of `bastide read` on that photograph."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "photo.jpg"
        cv2.imwrite(str(file), photo, (cv2.IMWRITE_JPEG_QUALITY, 92))
        peak = peak_of(["read", str(file), "--json", "--data", folder, *(["--tiles", str(tiles)] if tiles else [])],
                       OPENBLAS_NUM_THREADS="1")
        print(f"bastide read: {len(json.loads(peak.printed)['tiles'])} tiles")
    return peak.mb


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--photo", type=Path)
    parser.add_argument("--tiles", type=Path)
    parser.add_argument("--long-side", type=int, default=4000, help="of the photograph, in pixels (4000 is 12 MP)")
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    cv2.setNumThreads(1)
    photo = simulated(options.long_side) if options.photo is None else cv2.imread(str(options.photo))
    if photo is None:
        raise SystemExit(f"read_speed: {options.photo} is no picture")
    if max(photo.shape[:2]) != options.long_side:
        photo = cv2.resize(photo, None, fx=(scale := options.long_side / max(photo.shape[:2])), fy=scale)
    print(f"photograph {photo.shape[1]}x{photo.shape[0]}")
    peak = peak_mb(photo, options.tiles)
    tiles = load_tileset(options.tiles) if options.tiles else drawn_tileset(box_counts(["base"]))
    reader = PhotoReader(tiles, counts=box_counts(["base"]))
    reader.read(cv2.resize(photo, None, fx=0.2, fy=0.2))  # warm-up
    stages: Counter[str] = Counter()
    start = time.process_time()
    for _ in range(options.rounds):
        reading = reader.read(photo)
        stages.update(reading.seconds)
    seconds = (time.process_time() - start) / options.rounds
    for label, spent in stages.items():
        print(f"  {label:26}{spent / options.rounds:8.2f} s")
    print(f"  {'everything':26}{seconds:8.2f} s, {len(reading.tiles)} tiles")
    worst = 1.0
    small = LONG_SIDE_PX / max(photo.shape[:2])
    pictures = {"the photograph": photo}
    if small < 1:
        pictures["it at the size read at"] = cv2.resize(photo, None, fx=small, fy=small, interpolation=cv2.INTER_AREA)
    for label, picture in pictures.items():
        spent, copies = sift_in_turn(picture, tiles)
        print(f"SIFT in turn on {label}: {spent:.2f} s, {copies} copies found: {spent / seconds:.1f} times as long")
        worst = spent / seconds if label == "the photograph" else worst
    print(f"peak memory of bastide read: {peak:.0f} MB (wanted below {MOST_MB:.0f})")
    return 0 if worst >= WANTED and peak < MOST_MB else 1


if __name__ == "__main__":
    raise SystemExit(main())
