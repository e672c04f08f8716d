"""Read the annotated photographs in ../shared/photos and hold the readings against the truth.

Run from the project's folder: ``python benchmarks/read_photos.py [NAME...] [--overlays DIR]``. Prints one line per
photograph and the sums, then how often tiles of each stated confidence are right. Photographs and artwork are not part
of the project; without them there is nothing to measure.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import cv2

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "benchmarks"))

from reliability import print_curve  # noqa: E402

from vision.overlay import draw_reading  # noqa: E402
from vision.read import PhotoReader, box_counts  # noqa: E402
from vision.tileset import drawn_tileset, load_tileset  # noqa: E402

SHARED = ROOT.parent / "shared"
TAUGHT = {"k00": "c1", "k02": "c1", "k05": "c1", "k07": "c1", "k09": "c1", "l16": "new"}
UNTAUGHT = (*TAUGHT, "m1", "m3")  # nobody has pictures of the tiles on these
KEYS = ("tiles", "right", "extra", "figures", "figures_right", "figures_extra", "features_right")


def told_apart(compare: Path, document: dict, truth: dict) -> list[tuple[float, bool]]:  # type: ignore[type-arg]
    """(stated confidence, right) of every tile that the truth names."""
    spec = importlib.util.spec_from_file_location("compare", compare)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    turn, (dx, dy) = module.best_alignment(document["tiles"], truth["tiles"])
    true = {tuple(t["at"]): t for t in truth["tiles"]}
    found = []
    for tile in document["tiles"]:
        x, y = module.turn_at(tile["at"], turn)
        t = true.get((x + dx, y + dy))
        if t is not None:
            right = module.shape(tile["tile"], tile["rot"] + turn) == module.shape(t["tile"], t["rot"])
            found.append((tile["confidence"], right))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help=f"photographs to read (default {' '.join(TAUGHT)})")
    parser.add_argument("--overlays", type=Path, help="folder for pictures of what was read")
    parser.add_argument("--untaught", action="store_true", help="without any pictures of the tiles")
    options = parser.parse_args()
    compare = SHARED / "eval" / "compare.py"
    if not compare.is_file():
        print(f"skipped: no annotated photographs at {SHARED}")
        return 0
    cv2.setNumThreads(1)
    sums = dict.fromkeys(KEYS, 0)
    told: list[tuple[float, bool]] = []
    print(f"{'photo':6}" + "".join(f"{k:>15}" for k in KEYS) + f"{'seconds':>9}")
    drawn = drawn_tileset(box_counts(["base"])) if options.untaught else None
    for name in options.names or (UNTAUGHT if options.untaught else TAUGHT):
        tiles = drawn or load_tileset(SHARED / "tiles" / TAUGHT[name])
        reader = PhotoReader(tiles, counts=box_counts(["base"]))
        photo = cv2.imread(str(SHARED / "photos" / f"{name}.jpg"))
        start = time.perf_counter()
        reading = reader.read(photo)
        seconds = time.perf_counter() - start
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(reading.to_json(), file)
            file.flush()
            truth = str(SHARED / "photos" / f"{name}.json")
            run = subprocess.run([sys.executable, str(compare), "read", file.name, truth], capture_output=True,
                                 text=True, check=True)
        result = json.loads(run.stdout)
        told += told_apart(compare, reading.to_json(), json.loads(Path(truth).read_text("utf-8")))
        print(f"{name:6}" + "".join(f"{result[k]:>15}" for k in KEYS) + f"{seconds:9.1f}", flush=True)
        for key in KEYS:
            sums[key] += result[key]
        if options.overlays:
            options.overlays.mkdir(parents=True, exist_ok=True)
            cv2.imwrite(str(options.overlays / f"{name}.png"), draw_reading(photo, reading))
    print(f"{'all':6}" + "".join(f"{sums[k]:>15}" for k in KEYS))
    print_curve("tiles on photographs", told)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
