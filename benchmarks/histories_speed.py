"""The cost of reading a long game: ``./run bench histories_speed [--tiles 160] [--games 3] [--first 1]``.

Generated games of five boxes are replayed from their looks, as `tests/reading` does: a look every two seconds, about
eight a turn, and somebody answers the questions. Prints, around the 20th, the 72nd and the last 20 tiles, as means over
the games: the processor time of one thread, for the whole reader (belief, histories, decisions, notices) and for the
search over histories alone; how often that search runs, and how many states the rules engine computes for it. The last
column is a ratio within the run: to the engine's step that places a tile at the same point (`scoring.engine.step`).
Goal: at most 10 ms a turn for the histories at 160 tiles.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "reading"), str(ROOT / "tests" / "scoring")]

from generated import looks_of  # noqa: E402
from looks_replayed import Book  # noqa: E402
from random_games import random_game  # noqa: E402

from reading import layings  # noqa: E402
from reading.game import GameReader  # noqa: E402
from scoring.engine import new_game, step  # noqa: E402
from scoring.events import FigurePlaced, TilePlaced  # noqa: E402

BOXES = ("base", "inns", "traders", "dragon", "tower")


def step_ms(setup, events) -> list[float]:  # type: ignore[no-untyped-def]
    """Milliseconds of the step that lays each tile."""
    state, out = new_game(setup), []
    for event in events:
        begun = time.process_time()
        for _ in range(3):
            after = step(state, event)
        if isinstance(event, TilePlaced):
            out.append(1000 * (time.process_time() - begun) / 3)
        state = after
    return out


class Cost(NamedTuple):
    """What a turn costs around one point of a game."""

    reader_ms: float
    histories_ms: float
    searches: float
    states: float
    step_ms: float


def costs(seed: int, tiles: int) -> dict[str, Cost]:
    """Replays one game; the costs by the tiles that lie. Prints what the game was."""
    setup, played = random_game(seed, *BOXES, tiles=tiles, name="zman2012")
    events = [e for e in played if isinstance(e, TilePlaced | FigurePlaced)]
    looks = looks_of(setup, events, seed)
    steps = step_ms(setup, events)
    reader, book = GameReader(setup), Book()
    spent: dict[int, list[float]] = {}  # by tiles that lie: of the reader and the histories, searches, states
    search, inside, made = reader._search.histories, [0.0, 0, 0], [0]

    def counted(state, event):  # type: ignore[no-untyped-def]
        made[0] += 1
        return step(state, event)

    def timed(*given):  # type: ignore[no-untyped-def]
        begun, before = time.process_time(), made[0]
        found = search(*given)
        for n, cost in enumerate((time.process_time() - begun, 1, made[0] - before)):
            inside[n] += cost
        return found

    layings.step = counted
    reader._search.histories = timed  # type: ignore[method-assign]
    for look in looks:
        inside[:] = 0.0, 0, 0
        begun = time.process_time()
        told = reader.look(look, book.entries)
        whole = time.process_time() - begun
        for decision in told.decisions:
            book.commit(decision)
        book.answer(events)
        known = spent.setdefault(len(reader.belief.lying()), [0.0] * 4)
        for n, cost in enumerate((whole, *inside)):
            known[n] += cost
    last = max(spent)
    print(f"game {seed}: {len(steps)} tiles, {len(looks)} looks, {len(setup.players)} players, "
          f"{book.questions} questions", flush=True)
    out = {}
    for name, (low, high) in {"10-30": (10, 30), "62-82": (62, 82), "last 20": (last - 20, last)}.items():
        turns = [v for laid, v in spent.items() if low <= laid < high]
        if turns:
            reader_s, histories_s, searches, states = (sum(v[n] for v in turns) / (high - low) for n in range(4))
            out[name] = Cost(1000 * reader_s, 1000 * histories_s, searches, states, fmean(steps[low:high] or [0.0]))
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiles", type=int, default=160)
    parser.add_argument("--games", type=int, default=3)
    parser.add_argument("--first", type=int, default=1, help="the first game's seed")
    args = parser.parse_args()
    games = [costs(seed, args.tiles) for seed in range(args.first, args.first + args.games)]
    print("tiles      reader ms a turn  histories ms a turn  searches a turn  states a turn  a step of the rules ms  "
          "histories in steps")
    for name in games[0]:
        each = [game[name] for game in games if name in game]
        of = Cost(*(fmean(c[n] for c in each) for n in range(len(Cost._fields))))
        print(f"{name:9}  {of.reader_ms:16.1f}  {of.histories_ms:19.1f}  {of.searches:15.1f}  {of.states:13.0f}  "
              f"{of.step_ms:22.3f}  {of.histories_ms / of.step_ms:18.0f}")


if __name__ == "__main__":
    main()
