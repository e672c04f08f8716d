"""The peak memory of `bastide watch` on a film of large pictures.

    ./run bench watch_memory [--size 4000x3000] [--turns 20] [--level slides] [--fps 0.8] [--mishaps shove]

A simulated game is filmed into a folder of JPEGs and `bastide watch` follows it in a process of its own. Between its
pictures the board is sometimes pushed, which costs the most: the tiles are re-registered. Goal: less than 400 MB, with
every tile right. ``--level normal --fps 4`` films the hands too, in an hour.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

import cv2
from peak_memory import peak_of
from watch_games import compare

from bastide.table.demo_game import demo_game
from scoring.transcript import Game, write
from vision.simulator import LEVELS
from vision.simulator.options import Options
from vision.simulator.simulator import Simulator

MOST_MB = 400.0


def film(game: Game, seed: int, options: Options, into: Path) -> int:
    """Write every frame of the game as a JPEG to that folder; returns their number."""
    count, shown, file = 0, None, into
    for count, frame in enumerate(Simulator(write(game), seed, options), 1):
        before, file = file, into / f"{count:05}.jpg"
        if frame.bgr is shown:  # a slide lasts some frames
            file.hardlink_to(before)
        else:
            cv2.imwrite(str(file), frame.bgr, (cv2.IMWRITE_JPEG_QUALITY, 90))
        shown = frame.bgr
    return count


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", default="4000x3000", help="of a picture, in pixels (4000x3000 is 12 megapixels)")
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--fps", type=float, default=0.8, help="pictures a second of the table's clock")
    parser.add_argument("--level", choices=sorted(LEVELS), default="slides")
    parser.add_argument("--mishaps", default="shove")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    width, height = map(int, given.size.split("x"))
    game = demo_game(given.seed, turns=given.turns)
    options = Options(level=given.level, size=(width, height), fps=given.fps, mishaps=given.mishaps)
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:  # on disk: a film in memory would count twice
        pictures, players, out = Path(folder) / "film", Path(folder) / "players.json", Path(folder) / "watched.json"
        pictures.mkdir()
        count = film(game, given.seed, options, pictures)
        players.write_text(json.dumps([{"name": p.name, "colour": p.colour} for p in game.setup.players]))
        peak = peak_of(["watch", "--source", f"folder:{pictures}?fps={given.fps}", "--players", str(players),
                        "--out", str(out), "--data", folder])
        seen = compare(game, json.loads(out.read_text()))
    print(f"{count} pictures of {width}x{height} ({width * height / 1e6:.0f} megapixels), {len(game.turns)} turns")
    print(f"tiles {seen['tiles_right']}/{seen['tiles']} right, figures {seen['figures_right']}/{seen['figures']}, "
          f"{seen['asked']} asked about, {seen['silent']} silent errors")
    print(f"peak memory of bastide watch: {peak.mb:.0f} MB (wanted below {MOST_MB:.0f})")
    return 0 if peak.mb < MOST_MB and seen["tiles_right"] == seen["tiles"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
