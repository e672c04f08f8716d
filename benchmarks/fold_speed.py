"""Cost of folding a game, as ratios within one run: ``python benchmarks/fold_speed.py [TRANSCRIPT...]``.

Without transcripts it takes games from ``../shared/games/dev`` if they are there, otherwise it plays some (seeded).
Processor time of one thread, the best of a few interleaved rounds, so that other load on the machine has little effect;
it affects the views more, which touch more memory: compare on an idle machine.

First table, one line per game:

* ``fold ms``   the whole game folded, event by event, as `scoring.engine.fold` does it;
* ``replay x``  how many times longer it takes to recompute everything at every turn, from the first event on
                (more in longer games);
* ``board x``   the board recomputed from scratch at every turn: all tiles laid and all features joined again, the
                figures placed, every completed feature searched for and its points and majority computed, as an
                engine does that stores tiles and figures only (goal: at least 20 at 72 tiles, more in longer games);
* ``views x``   the view with projected scores after every turn, made with one cache for the game, relative to the
                fold (goal: below 3), and ``anew x`` the same without a cache;
* ``open x``    like ``views x``, but before each turn is closed, when the view has to close it first.

Second table: microseconds per event around the 20th, 72nd and 160th tile of the longest of these games, folded and as
the single steps of a live table (which copy the state), relative to those around the 20th.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "scoring")]

from random_games import random_game  # noqa: E402

from scoring.board import is_complete, lay, set_figures  # noqa: E402
from scoring.engine import apply, fold, new_game, step  # noqa: E402
from scoring.errors import InvalidNotation  # noqa: E402
from scoring.events import Event, Setup, TilePlaced, TurnEnded  # noqa: E402
from scoring.log import LogEntry  # noqa: E402
from scoring.projection import ViewCache, live_view  # noqa: E402
from scoring.scores import ScoreEvent  # noqa: E402
from scoring.state import NO_SEGMENT, Draft, GameState, feature_at, figures_on  # noqa: E402
from scoring.transcript import read  # noqa: E402
from scoring.turns import scored  # noqa: E402

GAMES = ROOT.parent / "shared" / "games" / "dev"
SAMPLE = ("base-000", "base-005", "river-000", "inns_traders-000", "dragon-000", "tower-000", "all-000")
EVERYTHING = ("base", "inns", "traders", "dragon", "tower")
Turns = list[list[Event]]


def costs(works: Sequence[Callable[[], object]], rounds: int) -> list[float]:
    """Processor seconds of each, the best of some rounds. They are interleaved, so that a disturbance affects all of
    them."""
    best = [float("inf")] * len(works)
    for _ in range(rounds):
        for n, work in enumerate(works):
            began = time.process_time()
            work()
            best[n] = min(best[n], time.process_time() - began)
    return best


def cost(work: Callable[[], object], rounds: int) -> float:
    """Processor seconds of a single one."""
    return costs([work], rounds)[0]


def load(path: Path) -> tuple[Setup, Turns]:
    raw = path.read_bytes()
    game = read(json.loads(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw))
    return game.setup, [[*turn.events, TurnEnded()] for turn in game.turns]


def played(seed: int, tiles: int, *boxes: str) -> tuple[Setup, Turns]:
    setup, events = random_game(seed, *boxes, tiles=tiles)
    turns: Turns = [[]]
    for event in events:
        turns[-1].append(event)
        if isinstance(event, TurnEnded):
            turns.append([])
    return setup, [t for t in turns if t]


def from_scratch(state: GameState) -> list[ScoreEvent]:
    """Recompute the features of the board from its tiles and figures alone, and score the completed ones."""
    d = Draft(new_game(state.setup))
    for at, placed in state.tiles.items():
        if at not in d.tiles:
            lay(d, at, placed)
    for number, figure in state.standing.items():
        d.standing[number] = figure
        if figure.segment != NO_SEGMENT:
            feature = feature_at(d, figure.at, figure.segment)
            set_figures(d, feature, (*feature.figures, number))
    return [e for f in d.features.values() if is_complete(d, f) for e in scored(d, f, figures_on(d, f))]


def ratios(setup: Setup, turns: Turns, rounds: int) -> tuple[int, float, list[float]]:
    events = [e for turn in turns for e in turn]
    entries = tuple(LogEntry(seq=n, body=e) for n, e in enumerate(events, 1))
    closed: list[tuple[GameState, int]] = []
    still_open: list[tuple[GameState, int]] = []
    state, count = new_game(setup), 0
    for turn in turns:
        for event in turn:
            if isinstance(event, TurnEnded):
                still_open.append((state, count))
            state, count = step(state, event), count + 1
        closed.append((state, count))

    def views(of: list[tuple[GameState, int]], remember: bool) -> None:
        memory = ViewCache() if remember else None
        for seen, length in of:
            live_view(seen, entries[:length], length, memory)

    gc.collect()
    gc.freeze()  # keep the stored states out of garbage collection
    once = lambda: fold(setup, events)  # noqa: E731
    others = [lambda: [fold(setup, events[:n]) for _, n in closed], lambda: [from_scratch(s) for s, _ in closed],
              lambda: views(closed, True), lambda: views(closed, False), lambda: views(still_open, True)]
    *best, base = costs([*(w for work in others for w in (work, once)), once], rounds)
    base = min(base, *best[1::2])
    return len(state.tiles), base, [spent / base for spent in best[::2]]


def per_event(setup: Setup, turns: Turns, rounds: int) -> list[tuple[int, float, float]]:
    """Tiles on the board, and seconds per event there, folded and stepped."""
    events = [e for turn in turns for e in turn]
    laid = [n for n, e in enumerate(events) if isinstance(e, TilePlaced)]
    out = []
    for tiles in (20, 72, 160):
        if tiles + 1 > len(laid):
            continue
        first, last = laid[tiles - 10], laid[min(tiles + 10, len(laid) - 1)]
        before, part = fold(setup, events[:first]), events[first:last]

        def stepped(state: GameState = before, part: list[Event] = part) -> None:
            for event in part:
                state = step(state, event)

        def folded(state: GameState = before, part: list[Event] = part) -> None:
            d = Draft(state)
            for event in part:
                apply(d, event)

        out.append((tiles, cost(folded, 5 * rounds) / len(part), cost(stepped, 5 * rounds) / len(part)))
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("transcripts", nargs="*", type=Path)
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    paths = given.transcripts or [p for name in SAMPLE if (p := GAMES / f"{name}.json.gz").exists()]
    try:
        games = [(p.name.split(".")[0], *load(p)) for p in paths]
    except (OSError, ValueError, InvalidNotation) as error:
        print(error, file=sys.stderr)
        return 2
    if not games:
        games = [("played: base", *played(1, 71, "base")), ("played: all", *played(1, 160, *EVERYTHING))]
    print("game               tiles  fold ms  replay x  board x  views x  anew x  open x")
    for name, setup, turns in games:
        tiles, base, (replay, board, *seen) = ratios(setup, turns, given.rounds)
        print(f"{name:18} {tiles:5} {base * 1e3:8.2f} {replay:9.1f} {board:8.1f} {seen[0]:8.1f} {seen[1]:7.1f} "
              f"{seen[2]:7.1f}")
    _, setup, turns = max(games, key=lambda game: len(game[2]))
    rows = per_event(setup, turns, given.rounds)
    print("\ntiles  fold us/event  against 20  steps us/event  against 20")
    for tiles, folded, stepped in rows:
        print(f"{tiles:5} {folded * 1e6:14.1f} {folded / rows[0][1]:11.2f} {stepped * 1e6:15.1f} "
              f"{stepped / rows[0][2]:11.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
