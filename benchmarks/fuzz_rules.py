"""Fuzzes the rules engine: ``python benchmarks/fuzz_rules.py [--games N] [--seed S] [--transcripts N]``.

Each game is a random legal one, with random boxes and rules, whose events are then dropped, duplicated, swapped and
corrupted. Each transcript is that of such a game, as JSON, with values replaced, removed or truncated. The invariants:

* no exception but the declared ones (`scoring.errors`): the state of the table is never an error;
* the score events sum to the scores; every figure is in hand, standing or held, and none twice; a feature's
  figures stand;
* the view, the final scoring and the questions of any resulting state can be computed;
* a transcript is read, or rejected in one sentence that names the place; reading and writing round-trips.

Exit code 1 with the seed of the first failure, so that it can be reproduced.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "scoring")]

from random_games import random_game  # noqa: E402
from spoiling import spoilt  # noqa: E402

from scoring.engine import apply, new_game, questions  # noqa: E402
from scoring.errors import InvalidNotation, ScoringError  # noqa: E402
from scoring.events import Event, GameEnded, Setup  # noqa: E402
from scoring.projection import live_view  # noqa: E402
from scoring.report import score_game  # noqa: E402
from scoring.rules import options, with_options  # noqa: E402
from scoring.state import Draft, GameState, feature_of  # noqa: E402
from scoring.transcript import Game, read, turns_of, write  # noqa: E402

BOXES = ("base", "river", "inns", "traders", "dragon", "tower", "wheel")
JUNK: tuple[Any, ...] = (None, True, -1, 7, 10**9, 1.5, "", "x", "base.A", [], {}, [1, 2, 3], [0, 0], {"do": "tile"},
                         "follower", "city", "N", "🙂", "\u0000", [[]])


def boxes(rng: random.Random) -> tuple[str, ...]:
    """A random choice of boxes; a start board excludes the river (A-49)."""
    chosen = [b for b in BOXES if rng.random() < 0.5] or ["base"]
    if "wheel" in chosen and "river" in chosen:
        chosen.remove(rng.choice(("wheel", "river")))
    return tuple(chosen) if {"base", "wheel"} & set(chosen) else ("base", *chosen)


def house_rules(setup: Setup, rng: random.Random) -> Setup:
    """The set-up with random options; those for the start tiles are kept."""
    known = [o for o in options().values() if o.kind != "list" and o.name not in ("start", "max_players")]
    changes = {o.name: rng.choice(o.values) for o in known if rng.random() < 0.3}
    return Setup(players=setup.players, expansions=setup.expansions, start=setup.start,
                 rules=with_options(setup.rules, changes))


def broken(events: list[Event], rng: random.Random) -> list[Event]:
    out = list(events)
    for _ in range(rng.randint(0, 8)):
        if not out:
            return list(events)
        n, m, what = rng.randrange(len(out)), rng.randrange(len(out)), rng.randrange(5)
        if what == 0:
            del out[n:n + rng.randint(1, 3)]
        elif what == 1:
            out.insert(m, out[n])
        elif what == 2:
            out[n], out[m] = out[m], out[n]
        else:
            out[n] = spoilt(out[n], rng)
    return out


def check(state: GameState) -> None:
    """Check all invariants. Raises AssertionError."""
    booked = [0] * len(state.scores)
    for event in state.score_events:
        for player, points in event.points:
            booked[player] += points
    assert tuple(booked) == state.scores, "points booked are the scores"
    off: Counter[tuple[int, str]] = Counter()
    for player, piece, count in state.box.off_board(state):
        off[player, piece] += count
    standing = Counter((f.player, f.figure) for f in state.figures)
    for player, hand in enumerate(state.supply):
        for piece, count in hand.items():
            assert count + off[player, piece] + standing[player, piece] == state.box.counts[piece], "figures conserved"
    on = [i for f in state.features.values() for i in f.figures]
    assert len(on) == len(set(on)) and set(on) <= set(state.standing), "a figure stands on one feature"
    for figure in state.figures:
        feature = feature_of(state, figure)
        assert feature is None or figure.id in feature.figures
    for feature in state.features.values():
        assert feature.open >= 0 and feature.squares == {at for at, _ in feature.places}


def one_game(seed: int, tiles: int, count: Counter[str]) -> None:
    rng = random.Random(seed)
    chosen = boxes(rng)
    name = "wheel" if "wheel" in chosen else None
    setup, events = random_game(seed, *chosen, tiles=tiles, name=name)
    setup = house_rules(setup, rng)
    d = Draft(new_game(setup))
    for n, event in enumerate((*broken(events, rng), GameEnded(), GameEnded())):
        count["events"] += 1
        try:
            apply(d, event)
        except ScoringError:
            count["events refused"] += 1
        if n % 97 == 0:
            live_view(Draft(d.freeze()).freeze(), (), n)
            d = Draft(d.freeze())
    state = d.freeze()
    check(state)
    questions(state)
    json.dumps(live_view(state, (), 1))
    count["games"] += 1
    count["issues reported"] += len(state.issues)


def spoil(data: Any, rng: random.Random) -> Any:
    """JSON with one of its values replaced, removed or moved."""
    paths: list[tuple[Any, Any]] = []

    def walk(node: Any) -> None:
        for key in node if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ():
            paths.append((node, key))
            walk(node[key])

    walk(data)
    node, key = rng.choice(paths)
    how = rng.random()
    alike = [n[k] for n, k in paths if type(n[k]) is type(node[key]) and (isinstance(node, list) or k == key)]
    if how < 0.1:
        del node[key]
    elif how < 0.8:  # a valid value from elsewhere in the game
        node[key] = copy.deepcopy(rng.choice(alike))
    else:
        node[key] = copy.deepcopy(rng.choice(JUNK))
    return data


def one_transcript(seed: int, tiles: int, count: Counter[str]) -> None:
    rng = random.Random(seed)
    setup, events = random_game(seed, *boxes(rng), tiles=tiles)
    data = json.loads(json.dumps(write(Game(setup=setup, turns=turns_of(setup, tuple(events))))))
    for _ in range(rng.randint(1, 3)):
        data = spoil(data, rng)
    count["transcripts"] += 1
    try:
        game = read(data)
        score_game(game)
    except InvalidNotation as error:
        assert str(error) and "\n" not in str(error), f"one sentence, not {str(error)!r}"
        count["transcripts refused"] += 1
        return
    again = read(json.loads(json.dumps(write(game))))
    assert score_game(again) == score_game(game), "what is written is what was read"


def run(work: Callable[[int, int, Counter[str]], None], first: int, times: int, tiles: int,
        count: Counter[str]) -> int:
    """Returns the number of failures; prints the first of each kind."""
    seen: Counter[str] = Counter()
    for seed in range(first, first + times):
        try:
            work(seed, tiles, count)
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            kind = f"{type(error).__name__} in {Path(where.filename).name}:{where.lineno}"
            seen[kind] += 1
            if seen[kind] == 1:
                print(f"{work.__name__} with seed {seed}: {kind}: {error}", file=sys.stderr)
    return seen.total()


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=2000, help="mutated games (2000)")
    parser.add_argument("--transcripts", type=int, default=2000, help="mutated transcripts (2000)")
    parser.add_argument("--tiles", type=int, default=25, help="the longest game, in tiles (25)")
    parser.add_argument("--seed", type=int, default=0, help="the first seed (0)")
    given = parser.parse_args(argv)
    count: Counter[str] = Counter()
    began = time.process_time()
    wrong = run(one_game, given.seed, given.games, given.tiles, count)
    wrong += run(one_transcript, given.seed, given.transcripts, given.tiles, count)
    for name in ("games", "events", "events refused", "issues reported", "transcripts", "transcripts refused"):
        print(f"{name:20} {count[name]:8}")
    print(f"{'went wrong':20} {wrong:8}   ({time.process_time() - began:.0f} s of processor time)")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
