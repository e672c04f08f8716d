"""How figures that a game does not have differ from followers, by what the figure network says of them.

    ./run bench foreign_figures [--games 6] [--level normal] [--photos DIR]

Pictures of simulated base games in which some followers are pieces of other boxes, and photographs of real tables
(../shared/photos, k* and l*, whose figures are followers), with the true corners of the tiles. One line for each piece,
source and posture (as read): mean and standard deviation of the log-odds of a pig, a builder and a large follower
against an ordinary one, the greatest log-odds of a pig, the width of the wood in tiles, and how many would be
told as foreign by this look alone.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import cv2
import numpy as np
from watch_games import games

from reading.figure_track import FigureTrack
from reading.pieces import foreign
from scoring.tiles import Square
from scoring.transcript import Game, write
from vision.figures import Seen as FoundFigure
from vision.figures import find_figures
from vision.frames import Image
from vision.lattice import UNIT, Array, apply
from vision.looks import FigureLook
from vision.simulator import LEVELS, Options, Simulator
from vision.sizes import measured

PHOTOS = Path(__file__).resolve().parents[2] / "shared" / "photos"
TURNS = (14, 23)  # of each game, after which there is a picture
NEAR = 0.35  # tiles within which a figure is the true one
Seen = tuple[str, str, FigureLook]  # source, piece, what was seen


def simulated(count: int, level: str) -> Iterator[Seen]:
    for n, (_, game) in enumerate(games(count, demo=False)):
        part = Game(setup=game.setup, turns=game.turns[:TURNS[-1] + 1])
        sim = Simulator(write(part), 100 + n, Options(level=level, fps=2, mishaps="foreign"))
        for turn in (sim.truth.turns[t] for t in TURNS):
            corners = {at: sim.truth.corners_px(at, turn.end) for at in sim.truth.frame(turn.end).tiles}
            stand = [(f.piece.figure, np.array(f.base_px)) for f in sim.truth.figures
                     if f.down <= turn.end and (f.gone is None or f.gone > turn.end)]
            for _, seen, side in found_on(sim.still(turn.end), corners, [p.colour for p in game.setup.players]):
                piece, foot = min(stand, key=lambda f: float(np.linalg.norm(f[1] - seen.px)))
                if np.linalg.norm(foot - seen.px) < NEAR * side:
                    yield "simulated", piece, seen.look


def photographed(folder: Path) -> Iterator[Seen]:
    for file in sorted((*folder.glob("k*.json"), *folder.glob("l*.json"))):
        truth = json.loads(file.read_text("utf-8"))
        picture = cv2.imread(str(folder / truth["photo"]))
        stand = {tuple(f["at"]) for f in truth["figures"]}
        if picture is not None and stand:
            corners = {(t["at"][0], t["at"][1]): np.array(t["corners_px"], float) for t in truth["tiles"]}
            colours = sorted({f["colour"] for f in truth["figures"]})
            for at, seen, _ in found_on(np.asarray(picture, np.uint8), corners, colours):
                if at in stand:  # the truth has no feet
                    yield "photographed", "follower", seen.look


def found_on(picture: Image, corners: Mapping[Square, Array], colours: Sequence[str],
             ) -> Iterator[tuple[Square, FoundFigure, float]]:
    """The figures found in a picture, with their squares and the side of a tile in pixels."""
    poses = {at: np.asarray(cv2.findHomography(UNIT, quad)[0], float) for at, quad in corners.items()}
    side = float(np.median([np.linalg.norm(np.diff(apply(p, UNIT[:2]), axis=0)) for p in poses.values()]))
    for at, figures in measured(picture, poses, find_figures(picture, poses, colours=colours), poses).items():
        yield from ((at, seen, side) for seen in figures if seen.look.there > 0)


def track(look: FigureLook) -> FigureTrack:
    """A track of this look alone."""
    return FigureTrack(id=1, foot=look.foot, spread=look.spread, before_s=None, came_s=0.0, seen_s=0.0, looked_s=0.0,
                       weight=1.0, there=look.there, lying=look.lying, colours=look.colours, pieces=look.pieces)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=6)
    parser.add_argument("--level", default="normal", choices=list(LEVELS))
    parser.add_argument("--photos", type=Path, default=PHOTOS)
    args = parser.parse_args()
    rows: dict[tuple[str, str, str], list[FigureLook]] = defaultdict(list)
    for source, piece, look in (*simulated(args.games, args.level), *photographed(args.photos)):
        rows[source, piece, "lying" if look.lying > 0 else "standing"].append(look)
    for key, looks in sorted(rows.items()):
        said = {p: np.array([look.pieces.get(p, -12.0) - look.pieces["follower"] for look in looks])
                for p in ("pig", "builder", "large")}
        width = np.array([look.width for look in looks])
        told = sum(bool(foreign([track(look)], ("follower",))) for look in looks)
        odds = "  ".join(f"{p} {v.mean():5.1f} +- {v.std():3.1f}" for p, v in said.items())
        print(f"{' '.join(key):32} {len(looks):4}  {odds}  most of a pig {said['pig'].max():5.1f}  "
              f"width {width.mean():.3f} +- {width.std():.3f}  told {told}")


if __name__ == "__main__":
    main()
