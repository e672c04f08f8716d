"""Evaluates the evidence of single pictures of the films in ../shared/sequences about tiles and figures.

    ./run bench film_evidence [NAME...] [--every 12] [--untaught | --half 0]

Every ``--every`` turns the picture right after the turn is read like a photograph, with one picture of each kind
taught. One row per film: the number of squares found, and the mean log-loss (nats) of the true tile by the network
alone, by taught pictures alone, by both together, and with neighbours and box. With --half every second kind, from the
first (0) or second (1) on, has no picture. Then the width of the wood in tiles (mean and standard deviation) by piece
and posture, and how often the network alone prefers a wrong tile that differs from the true one only on cells of which
figures occlude the given part, with its mean log-loss between the two (0.69 if it says nothing). The films are not in
the repository.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from watch_sequences import FILMS, SHARED, TAUGHT, compare  # noqa: E402

from scoring.tiles import Square, Tile, catalogue  # noqa: E402
from vision.figures import find_figures  # noqa: E402
from vision.frames import Image  # noqa: E402
from vision.occlusion import occluded  # noqa: E402
from vision.occupancy import hidden_by  # noqa: E402
from vision.read import PhotoReader, PhotoReading, box_counts  # noqa: E402
from vision.senses import log_normal  # noqa: E402
from vision.sizes import measured  # noqa: E402
from vision.tileset import TileSet, load_tileset  # noqa: E402

PARTS = (0.3, 0.5, 0.7, 0.85, 1.0)  # of the cells by which two tiles differ
LIKELY = 9.0  # nats behind the likeliest to which a wrong tile is compared
SURE = -7.0  # floor of a single reading's log-probability, so that the mean is robust
Loglik, Mask = npt.NDArray[np.float64], npt.NDArray[np.bool_]
SOURCES = ("network", "pictures", "both", "all together")


def pictures(folder: Path, every: int) -> list[tuple[int, Image, dict[Square, list[dict[str, Any]]]]]:
    """(turn, picture, standing figures by square) after every ``every`` turns."""
    truth = json.loads((folder / "truth.json").read_text("utf-8"))
    video = cv2.VideoCapture(str(folder / "video.mp4"))
    out, standing = [], dict[str, dict[str, Any]]()
    for n, turn in enumerate(truth["turns"]):
        if turn["figure"]:
            standing[turn["figure"]["id"]] = turn["figure"]
        clear = max(v for k, v in turn["frames"].items() if k.endswith("_clear"))
        clear = max([clear, *(r["frame"] for r in turn["returns"] if r["taken"])])
        for r in turn["returns"]:
            standing.pop(r["id"], None)
        if n % every == every - 1:
            video.set(cv2.CAP_PROP_POS_FRAMES, clear + 1)  # frames are numbered from 1: two later
            seen, picture = video.read()
            if seen:
                here = defaultdict(list)
                for f in standing.values():
                    here[f["x"], f["y"]].append(f)
                out.append((n, picture, dict(here)))
    return out


def losses(reader: PhotoReader, reading: PhotoReading, at: Square, true: object) -> dict[str, float]:
    """Log-loss of the true tile on a square by each source; ``true`` is its signature in the picture's orientation."""
    same = np.array([[kind.signature(rot) == true for rot in range(4)] for kind in reader.kinds])
    evidence = reading.evidence[at]
    said = {**evidence.sources, "both": evidence.loglik}
    out = {name: -max(SURE, float(np.logaddexp.reduce(log_normal(loglik)[same]))) for name, loglik in said.items()}
    tile = next(t for t in reading.tiles if t.at == at)
    own = [c.loglik for c in tile.candidates if catalogue()[c.tile].signature(c.rot) == true]
    return {**out, "all together": -max([SURE, float(np.logaddexp.reduce(own))]) if own else -SURE}


def margins(reader: PhotoReader, network: Loglik, hidden: Mask, kind: Tile, rot: int) -> Iterator[tuple[float, float]]:
    """For each wrong tile that is likely on a square: the part of the cells by which it differs from the true one that
    ``hidden`` has, and by how many nats the network prefers the true one."""
    loglik = log_normal(network)
    own = loglik[reader.kinds.index(kind), rot]
    for k, turned in np.argwhere(loglik >= loglik.max() - LIKELY).tolist():
        if reader.kinds[k].signature(turned) != kind.signature(rot):
            yield occluded(hidden, (kind, rot), (reader.kinds[k], turned)), float(own - loglik[k, turned])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    films = [name for name in FILMS if name != "real-1"]  # of that one read_photos reads the pictures
    parser.add_argument("names", nargs="*", default=films, metavar="NAME", help=f"of {', '.join(films)}")
    parser.add_argument("--every", type=int, default=12, help="turns from one picture to the next (default: 12)")
    parser.add_argument("--untaught", action="store_true", help="without pictures of the tiles")
    parser.add_argument("--half", type=int, choices=(0, 1), help="without pictures of every second kind, from this one")
    options = parser.parse_args()
    if not (SHARED / "sequences").is_dir():
        print(f"skipped: no films at {SHARED / 'sequences'}")
        return 0
    module = compare()
    widths: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    behind: list[tuple[float, float]] = []
    print(f"| film | squares | {' | '.join(SOURCES)} |\n|---|---|{'---|' * len(SOURCES)}")
    for name in options.names:
        folder = SHARED / "sequences" / name
        script = json.loads((folder / "transcript.json").read_text("utf-8"))
        tiles = TileSet.empty() if options.untaught else load_tileset(
            SHARED / TAUGHT[name] if name in TAUGHT else folder / "tiles")
        if options.half is not None:
            missing = tiles.ids[options.half::2]
            tiles = replace(tiles, specimens=tuple(s for s in tiles.specimens if s.tile not in missing))
        reader = PhotoReader(tiles, counts=box_counts(script["setup"]["expansions"]))
        told: dict[str, list[float]] = defaultdict(list)
        found = lying = 0
        for turn, picture, standing in pictures(folder, options.every):
            true = {tuple(t["at"]): t for t in module.tile_moves(script) if t["turn"] <= turn}
            lying += len(true)
            reading = reader.read(picture, figures=False)
            if not reading.tiles:
                continue
            quarter, (dx, dy) = module.best_alignment(reading.to_json()["tiles"], list(true.values()))
            place = {}
            for tile in reading.tiles:
                x, y = module.turn_at(tile.at, quarter)
                if (x + dx, y + dy) in true:
                    place[tile.at] = x + dx, y + dy
            found += len(place)
            for at, there in place.items():
                lies = true[there]
                sign = catalogue()[lies["tile"]].signature(lies["rot"] - quarter)
                for source, loss in losses(reader, reading, at, sign).items():
                    told[source].append(loss)
            poses = {at: reading.evidence[at].pose for at in place}
            figures = find_figures(picture, poses)
            for at, hidden in hidden_by(figures).items():
                if at not in place:
                    continue
                lies = true[place[at]]
                kind, rot = catalogue()[lies["tile"]], (lies["rot"] - quarter) % 4
                behind += margins(reader, reading.evidence[at].sources["network"], hidden, kind, rot)
            for at, seen in measured(picture, poses, figures, poses).items():
                stand = standing.get(place[at], ())
                if len(stand) == 1 and seen and seen[0].look.there > 0:
                    posture = "lying" if stand[0]["lying"] else "standing"
                    widths[name, stand[0]["figure"], posture].append(seen[0].look.width)
        means = [f"{np.mean(told[s]):.3f}" if told[s] else "" for s in SOURCES]
        print(f"| {name} | {found} of {lying} | {' | '.join(means)} |", flush=True)
    print("\n| film | piece | posture | looks | width, tiles |\n|---|---|---|---|---|")
    for (name, piece, posture), each in sorted(widths.items()):
        print(f"| {name} | {piece} | {posture} | {len(each)} | {np.mean(each):.3f} +- {np.std(each):.3f} |")
    print("\n| occluded part of the difference | pairs | wrong | log-loss |\n|---|---|---|---|")
    for least, most in pairwise(PARTS):
        lead = np.array([m for part, m in behind if least < part <= most])
        if len(lead):
            loss = np.logaddexp(0, -lead).mean()
            print(f"| {least} to {most} | {len(lead)} | {np.mean(lead < 0):.1%} | {loss:.3f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
