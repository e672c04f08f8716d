"""Enters all recorded games through the page's JSON API, as bare events: ``python benchmarks/replay_games.py``.

Each game is entered three times, without naming players: without ends of turns, with every end of a turn, and with the
events after the tile in random order, sometimes after the end of the turn. Then random games with the wheel, entered
likewise and with the wheel's event right after its tile. Counts the games whose scores are equal after every turn and
at the end, without an issue; prints differences. Exit code 1 if there are any.

    python benchmarks/replay_games.py [--games N] [--wheel N]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "web"), str(ROOT / "tests" / "scoring")]

from random_games import random_game  # noqa: E402
from recorded import GAMES, load  # noqa: E402
from replaying import made, page, recorded, told  # noqa: E402

BOXES = (("wheel",), ("wheel", "inns"), ("wheel", "traders"), ("wheel", "dragon"), ("wheel", "tower"),
         ("base", "wheel"), ("wheel", "inns", "traders", "dragon", "tower"))
WAYS = ({"ends": False}, {"ends": True}, {"ends": False, "shuffled": True})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, default=len(GAMES), help="how many recorded games (default: all)")
    parser.add_argument("--wheel", type=int, default=40, help="how many random games with the wheel")
    args = parser.parse_args()
    equal, moves, began = 0, 0, time.monotonic()
    every = max(1, len(GAMES) // args.games) if args.games else 1
    known = [(p.name, recorded(load(p))) for p in (GAMES[::every][:args.games] if args.games else ())]
    choices = [(seed, BOXES[seed % len(BOXES)]) for seed in range(args.wheel)]
    drawn = [(f"random {seed} {'+'.join(boxes)}", made(*random_game(seed, *boxes, tiles=60, name="wheel")))
             for seed, boxes in choices]
    with tempfile.TemporaryDirectory() as folder, page(Path(folder)) as client:
        for name, game in (*known, *drawn):
            different = []
            for ways in WAYS if game[2] else (*WAYS, {"ends": False, "remembered": False}):
                different += [f"{name} {ways}: {text}" for text in told(client, game, **ways)]
                moves += sum(len(turn) for turn, _ in game[1])
            equal += not different
            print(*different, sep="\n", end="\n" * bool(different), flush=True)
    print(f"{equal} of {len(known) + len(drawn)} games ({len(known)} recorded) equal after every turn, without an "
          f"issue; {moves} events told in {time.monotonic() - began:.0f} s")
    return int(equal < len(known) + len(drawn))


if __name__ == "__main__":
    sys.exit(main())
