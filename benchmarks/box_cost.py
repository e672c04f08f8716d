"""The cost of a box's pieces per frame: one film watched twice in one run, with and without looking for them.

    ./run bench box_cost [--of tower] [--skip 1] [--turns 28] [--level normal]

Without them tiles and figures are found as in a base game: no piles of blocks, no neutral pieces, no piece on a start
board, and figures are not measured. Every frame is given to both watchers in turn, each with a game of its own, so that
a slow machine is as slow for both. Prints the CPU time per frame of each (ms) and their ratio; the target is at most
1.1.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import patch

from watch_games import games

from bastide.camera.opening import open_camera
from bastide.log.store import Store
from bastide.table.session import TableSession
from bastide.tiles.art import load_tiles
from bastide.watching.following import Following, commit
from bastide.watching.watcher import make_watcher
from scoring.tiles import Square, Tile
from scoring.transcript import Game, write
from vision.simulator import LEVELS
from vision.tileset import TileSet
from vision.tracker import Tracker
from vision.tracking import make_tracker
from vision.view import View


def plain(kinds: Sequence[Tile], tiles: TileSet | None, colours: Sequence[str], view: View | None, *_: object,
          again: Callable[[], TileSet] | None = None, start: Mapping[Square, tuple[str, int]] | None = None,
          **_pieces: object) -> Tracker:
    """`make_tracker` for the tiles and the followers alone."""
    return make_tracker(kinds, tiles, colours, view, again=again, start=start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--of", default="tower", help="which recorded games (default: tower)")
    parser.add_argument("--level", default="normal", choices=list(LEVELS))
    parser.add_argument("--skip", type=int, default=0, help="leave out the first N games")
    parser.add_argument("--turns", type=int, default=28)
    parser.add_argument("--fps", type=float, default=4.0, help="frames per simulated second (default 4)")
    args = parser.parse_args()
    *_, (name, game) = games(1 + args.skip, False, args.of)
    game = Game(setup=game.setup, turns=game.turns[:args.turns])
    spent = {"with": 0.0, "without": 0.0}
    with tempfile.TemporaryDirectory() as folder, ExitStack() as open_stores:
        path = Path(folder) / "game.json"
        path.write_text(json.dumps(write(game)), "utf-8")
        tables = {}
        for way in spent:
            store = open_stores.enter_context(Store(Path(folder) / f"{way}.sqlite"))
            with patch("bastide.watching.watcher.make_tracker", make_tracker if way == "with" else plain):
                watcher = make_watcher(load_tiles(None, game.setup.expansions), game.setup)
            tables[way] = Following(watcher, TableSession(store, game.setup), live=False, save=commit, renew=None,
                                     learner=None, changed=None, lens_known=lambda: True)
        with open_camera(f"sim:transcript={path}&seed=1&level={args.level}&fps={args.fps}&mishaps=level") as camera:
            frames = 0
            while (frame := camera.read()) is not None:
                order = list(tables) if frames % 2 else list(reversed(tables))
                for way in order:
                    begun = time.process_time()
                    tables[way].take(frame)
                    spent[way] += time.process_time() - begun
                frames += 1
    each = {way: 1000 * seconds / frames for way, seconds in spent.items()}
    print(f"{name} at {args.level}, {frames} frames: {each['with']:.1f} ms a frame with the box's pieces, "
          f"{each['without']:.1f} without: ratio {each['with'] / each['without']:.3f}")


if __name__ == "__main__":
    main()
