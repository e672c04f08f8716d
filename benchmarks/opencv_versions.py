"""Compares readings of the development photographs with OpenCV 4 and 5, and their processor time.

    ./run bench opencv_versions [--taught] [NAME...]

Installs the other major version into a temporary folder, reads the photographs of ``read_photos`` with both, each in
its own process, and prints every difference.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "benchmarks"))

SAME_PX = 12.0  # tolerance of a tile's corners
OTHER = {"4": ">=5,<6", "5": ">=4.14,<5"}


def dump(file: Path, names: list[str], taught: bool) -> None:
    """Read in this process and write the readings."""
    import cv2
    from read_photos import SHARED, photographs

    from vision.read import PhotoReader, box_counts
    from vision.tileset import TileSet, load_tileset

    cv2.setNumThreads(1)
    readings: dict[str, Any] = {"version": cv2.__version__}
    seconds = 0.0
    for _, name, picture, _, own in photographs(names, not taught, not taught):
        reader = PhotoReader(TileSet.empty() if own is None else load_tileset(SHARED / "tiles" / own),
                             counts=box_counts(["base"]))
        photo = cv2.imread(str(picture))
        start = time.process_time()
        readings[name] = reader.read(photo).to_json()
        seconds += time.process_time() - start
    readings["seconds"] = seconds
    file.write_text(json.dumps(readings))


def told(document: dict[str, Any], away: tuple[int, int]) -> dict[tuple[str, str], tuple[object, str, float]]:
    """By type of object and square the reading, as text, and its confidence; squares shifted by ``away``. Rotations
    that are equivalent by the rules are equal."""
    from scoring.tiles import catalogue

    def place(at: list[int]) -> tuple[int, int]:
        return at[0] + away[0], at[1] + away[1]

    out: dict[tuple[str, str], tuple[object, str, float]] = {}
    for t in document["tiles"]:
        words = f"{t['tile']} turned {t['rot']}"
        out["tile", str(place(t["at"]))] = catalogue()[t["tile"]].signature(t["rot"]), words, t["confidence"]
    for f in document["figures"]:
        words = f"{f['feature']} {f['where']}"
        out["figure", f"{place(f['at'])} {f['colour']}"] = words, words, f["confidence"]
    return out


def shift(one: dict[str, Any], two: dict[str, Any]) -> tuple[int, int]:
    """The shift of square names between the two documents: a board's origin is arbitrary."""
    found = Counter(
        (a["at"][0] - b["at"][0], a["at"][1] - b["at"][1]) for a in one["tiles"] for b in two["tiles"]
        if max(abs(p - q) for x, y in zip(a["corners_px"], b["corners_px"], strict=True)
               for p, q in zip(x, y, strict=True)) < SAME_PX)
    return found.most_common(1)[0][0] if found else (0, 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="photographs (default: all)")
    parser.add_argument("--taught", action="store_true", help="with one taught picture of each kind")
    parser.add_argument("--dump", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.dump:
        dump(options.dump, options.names, options.taught)
        return 0
    import cv2

    with tempfile.TemporaryDirectory() as folder:
        other = Path(folder) / "opencv"
        wanted = f"opencv-python-headless{OTHER[cv2.__version__.partition('.')[0]]}"
        subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--disable-pip-version-check",
                        "--target", str(other), wanted], check=True)
        runs = []
        for place in (None, other):
            file = Path(folder) / "readings.json"
            environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
            if place is not None:
                environment["PYTHONPATH"] = str(place)
            command = [sys.executable, __file__, "--dump", str(file), *options.names]
            subprocess.run([*command, *(["--taught"] if options.taught else [])], env=environment, check=True)
            runs.append(json.loads(file.read_text()))
    one, two = runs
    print("; ".join(f"OpenCV {run['version']}: {run['seconds']:.1f} s of processor time" for run in runs))
    same = different = 0
    furthest = 0.0
    for name in one.keys() - {"version", "seconds"}:
        first, second = told(one[name], (0, 0)), told(two[name], shift(one[name], two[name]))
        for key in sorted(first.keys() | second.keys()):
            a, b = (found.get(key, ("nothing", "nothing", 0.0)) for found in (first, second))
            if a[0] == b[0]:
                same += 1
                furthest = max(furthest, abs(a[2] - b[2]))
            else:
                different += 1
                print(f"{name} {key[0]} at {key[1]}: {a[1]} ({a[2]:.2f}) and {b[1]} ({b[2]:.2f})")
    print(f"{same} readings are the same, their confidences within {furthest:.3f}; {different} differ")
    return 1 if different else 0


if __name__ == "__main__":
    raise SystemExit(main())
