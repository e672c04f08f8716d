"""The benefit of learning: games with untaught artwork, before and after learning from a first game.

    ./run bench learning --art DIR [--first base-060] [--second base-080 ...] [--level normal] [--seed 101]

The simulated table is drawn with the tile pictures in DIR. The first game is watched without any of them, and learned
from. Each second game is then watched with the same camera and mishaps: without pictures (like the first), with those
learned in the first game, with one taught picture of each kind, as from a teaching sheet, and with all of DIR. Every
question is answered correctly at once; with --unanswered none is, and tiles in question are not learned.
"""

from __future__ import annotations

import argparse
import gzip
import json
import shutil
import tempfile
from pathlib import Path

from watch_games import RECORDED, play

from bastide.tiles.tilebook import TileBook
from scoring.transcript import Game, read


def recorded(name: str, turns: int | None) -> Game:
    """A recorded game, or its first turns."""
    game = read(json.loads(gzip.decompress((RECORDED / f"{name}.json.gz").read_bytes())))
    return Game(setup=game.setup, turns=game.turns[:turns]) if turns else game


def one_of_each(art: Path, folder: Path) -> Path:
    """A tile folder with the first picture of every kind."""
    folder.mkdir()
    for picture in art.iterdir():
        if "~" not in picture.stem:
            shutil.copy(picture, folder)
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--art", required=True, metavar="DIR", help="tile pictures that the table is drawn with")
    parser.add_argument("--first", default="base-060")
    parser.add_argument("--second", nargs="+", default=["base-080"])
    parser.add_argument("--level", default="normal", choices=["easy", "normal", "hard"])
    parser.add_argument("--fps", type=float, default=4.0)
    parser.add_argument("--seed", type=int, default=101)
    parser.add_argument("--turns", type=int, help="only the first N turns of each game")
    parser.add_argument("--errors", action="store_true", help="tell every question and every error")
    parser.add_argument("--unanswered", action="store_true", help="nobody answers a question")
    args = parser.parse_args()
    print(f"{'game':>10}  {'with':>17}  tiles  right  figures  right  asked  silent  totals", flush=True)

    def line(name: str, known: str, seed: int, taught: str | None, book: TileBook | None) -> None:
        r = play(name, recorded(name, args.turns), args.level, args.fps, seed, None, taught, args.art, book=book,
                 answered=not args.unanswered)
        print(f"{name:>10}  {known:>17}  {r['tiles']:>5}  {r['tiles_right']:>5}  {r['figures']:>7}  "
              f"{r['figures_right']:>5}  {r['asked']:>5}  {r['silent']:>6}  "
              f"{'equal' if r['totals'] else 'differ'}", flush=True)
        if args.errors:
            print("\n".join(f"          {e}" for e in r["errors"]), flush=True)

    with tempfile.TemporaryDirectory() as folder:
        one = one_of_each(Path(args.art), Path(folder) / "one")
        line(args.first, "nothing", args.seed, None, TileBook(Path(folder) / "own"))
        learned = TileBook(Path(folder) / "own")
        pictures = learned.tileset()
        print(f"{'':>10}  learned: {len(pictures.specimens) if pictures else 0} pictures", flush=True)
        for n, name in enumerate(args.second):
            seed = args.seed + 1 + n
            line(name, "nothing", seed, None, None)
            copy = shutil.copytree(Path(folder) / "own", Path(folder) / f"own-{n}")  # it goes on learning
            line(name, "the first game", seed, None, TileBook(copy))
            line(name, "one of each kind", seed, str(one), None)
            line(name, "all of DIR", seed, args.art, None)


if __name__ == "__main__":
    main()
