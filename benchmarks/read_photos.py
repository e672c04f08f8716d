"""Read the annotated photographs in ../shared and compare the readings with the truth.

    ./run bench read_photos [NAME...] [--untaught] [--discs] [--overlays DIR] [--plot docs/pictures/reliability.png]

The photographs ``k*`` and ``l16`` and every fourth picture of a real game are read with one taught picture of each
kind; with --untaught without any, plus two more photographs (``m*``) of artwork without pictures; with --discs also the
photographs ``j*``, on which followers are round counters. Prints one line each with the processor time of reading, sums
of each group, then the calibration of the confidences, for every source separately and for their combination.
Photographs and artwork are not part of the project; without them there is nothing to measure.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import time
from collections import defaultdict
from pathlib import Path
from types import ModuleType
from typing import Any

import cv2
import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "benchmarks"))

from reliability import calibration_error, plot, print_curve  # noqa: E402

from scoring.tiles import catalogue  # noqa: E402
from vision.overlay import draw_reading  # noqa: E402
from vision.read import PhotoReader, PhotoReading, box_counts  # noqa: E402
from vision.senses import log_normal  # noqa: E402
from vision.tileset import TileSet, load_tileset  # noqa: E402

SHARED = ROOT.parent / "shared"
TAUGHT = {"k00": "c1", "k02": "c1", "k05": "c1", "k07": "c1", "k09": "c1", "l16": "new"}
NOBODYS = ("m1", "m3")  # there are no pictures of the tiles on these
DISCS = tuple(f"j{n:02}" for n in range(1, 18))
EVERY = 4  # pictures of the real game: the others differ from one of these by three moves
REAL = SHARED / "sequences" / "real-1"
KEYS = ("tiles", "right", "extra", "figures", "figures_right", "figures_extra", "features", "features_right")
PLOTTED = ("what a tile is: network", "what a tile is: pictures", "a tile, all together", "a figure, all together")

Told = dict[str, list[tuple[float, bool]]]  # (stated confidence, right) by source


def photographs(names: list[str], untaught: bool, discs: bool) -> list[tuple[str, str, Path, Path, str | None]]:
    """(group, name, picture, truth, set that is taught or None)."""
    out: list[tuple[str, str, Path, Path, str | None]] = []
    for name in (*TAUGHT, *(NOBODYS if untaught else ())):
        out.append(("photographs", name, *_named(name), None if untaught else TAUGHT[name]))
    for truth in sorted((REAL / "photos").glob("*.json"))[::EVERY]:
        picture = next((REAL / "pictures").glob(f"{truth.name[:2]}*"), REAL / "pictures" / f"{truth.name[:2]}.jpg")
        out.append(("a real game", truth.name[:2], picture, truth, None if untaught else "c1"))
    if discs:
        out += [("discs", name, *_named(name), None) for name in DISCS]
    return [row for row in out if not names or row[1] in names]


def _named(name: str) -> tuple[Path, Path]:
    return SHARED / "photos" / f"{name}.jpg", SHARED / "photos" / f"{name}.json"


def judged(compare: ModuleType, reading: PhotoReading, truth: dict[str, Any], reader: PhotoReader) -> Told:
    """The stated confidence of each source and whether it was right, where the truth is known."""
    told: Told = defaultdict(list)
    turn, (dx, dy) = compare.best_alignment(reading.to_json()["tiles"], truth["tiles"])

    def place(at: tuple[int, int]) -> tuple[int, int]:
        x, y = compare.turn_at(at, turn)
        return x + dx, y + dy

    true = {tuple(t["at"]): catalogue()[t["tile"]].signature(t["rot"]) for t in truth["tiles"]}
    known = not truth["left_out"]  # unannotated tiles of a box that the catalogue lacks are there too
    shapes = [[kind.signature(rot + turn) for rot in range(4)] for kind in reader.kinds]
    for at, stated in reading.present.items():
        if known or place(at) in true:
            told["a tile lies there"].append((max(stated, 1 - stated), (stated > 0.5) == (place(at) in true)))
    for tile in reading.tiles:
        if known or place(tile.at) in true:
            right = true.get(place(tile.at)) == catalogue()[tile.tile].signature(tile.rot + turn)
            told["a tile, all together"].append((tile.confidence, right))
    for at, evidence in reading.evidence.items():
        if place(at) in true:
            for source, loglik in evidence.sources.items():
                stated, seen = best_shape(np.exp(log_normal(loglik)), shapes)
                told[f"what a tile is: {source}"].append((stated, seen == true[place(at)]))
    standing = defaultdict(list)
    for f in truth["figures"]:
        standing[tuple(f["at"])].append((f["colour"], f.get("feature")))
    for figure in reading.figures:
        here = standing[place(figure.at)]
        own = [feature for colour, feature in here if colour == figure.colour]
        told["a figure is there"].append((figure.sources["there"], bool(here)))
        if here:
            told["a figure's colour"].append((figure.sources["colour"], bool(own)))
        if own and own[0] is not None:
            told["a figure's feature"].append((figure.sources["segment"], figure.feature in own))
        if not own or own[0] is not None:
            told["a figure, all together"].append((figure.confidence, figure.feature in own))
    return told


def best_shape(belief: np.ndarray, shapes: list[list[object]]) -> tuple[float, object]:
    """The likeliest (K, 4) reading, summed over quarter turns that are equivalent by the rules."""
    mass: dict[object, float] = defaultdict(float)
    for kind, row in enumerate(shapes):
        for rot, seen in enumerate(row):
            mass[seen] += float(belief[kind, rot])
    best = max(mass, key=lambda seen: mass[seen])
    return min(mass[best], 1.0), best


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="photographs to read (default: all)")
    parser.add_argument("--untaught", action="store_true", help="without any pictures of the tiles")
    parser.add_argument("--discs", action="store_true", help="photographs with round counters too, without pictures")
    parser.add_argument("--overlays", type=Path, help="folder for pictures of what was read")
    parser.add_argument("--plot", type=Path, help="draw stated against observed confidence into this PNG")
    options = parser.parse_args()
    file = SHARED / "eval" / "compare.py"
    if not file.is_file():
        print(f"skipped: no annotated photographs at {SHARED}")
        return 0
    spec = importlib.util.spec_from_file_location("compare", file)
    assert spec is not None and spec.loader is not None
    compare = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(compare)
    cv2.setNumThreads(1)
    told: Told = defaultdict(list)
    sums: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(len(KEYS) + 1))
    print(f"{'photo':12}" + "".join(f"{k:>15}" for k in KEYS) + f"{'CPU s':>9}")
    for group, name, picture, truth_file, taught in photographs(options.names, options.untaught, options.discs):
        if not picture.is_file() or not truth_file.is_file():
            print(f"{name:12} is left out: {picture.name} or what lies on it is not in {picture.parent}")
            continue
        tiles = TileSet.empty() if taught is None else load_tileset(SHARED / "tiles" / taught)
        reader = PhotoReader(tiles, counts=box_counts(["base"]))
        photo = cv2.imread(str(picture))
        truth = json.loads(truth_file.read_text("utf-8"))
        truth.setdefault("left_out", [])
        start = time.process_time()
        reading = reader.read(photo)
        seconds = time.process_time() - start
        result = compare.compare_read(reading.to_json(), truth)
        row = np.array([*(result[k] for k in KEYS), seconds])
        for source, own in judged(compare, reading, truth, reader).items():
            told[source] += own
        sums[group] += row
        _line(name, row)
        if options.overlays:
            options.overlays.mkdir(parents=True, exist_ok=True)
            cv2.imwrite(str(options.overlays / f"{name}.png"), draw_reading(photo, reading))
    for group, row in sums.items():
        _line(group, row)
    curves = {source: print_curve(source, told[source]) for source in sorted(told)}
    print(f"{'source':28}{'readings':>10}{'right':>8}{'mean stated':>13}{'expected calibration error':>28}")
    for source in sorted(told):
        stated, right = np.array(told[source], float).T
        print(f"{source:28}{len(right):10}{int(right.sum()):8}{stated.mean():13.4f}"
              f"{calibration_error(curves[source]):28.4f}")
    if options.plot:
        plot(options.plot, {source: curves[source] for source in PLOTTED if source in curves})
    return 0


def _line(name: str, row: np.ndarray) -> None:
    print(f"{name:12}" + "".join(f"{int(n):15}" for n in row[:-1]) + f"{row[-1]:9.1f}", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
