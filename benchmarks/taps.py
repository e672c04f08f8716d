"""Enters whole games on the page by simulated taps: ``python benchmarks/taps.py``.

One recorded game of each box and of all together, and random games with the wheel, each entered in a headless Chromium:
every tile in its gap, every figure in its place, every answer to its question. Counted are the taps (including those
for finding a place on the board); scores after every turn and totals must equal the transcript's. Exit code 1 when any
differ.

    python benchmarks/taps.py [--only NAME] [--phone] [--turns N]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "web"), str(ROOT / "tests" / "scoring")]

from browser import chromium  # noqa: E402
from hand import Hand  # noqa: E402
from random_games import random_game  # noqa: E402
from recorded import GAMES, load  # noqa: E402

from bastide.log.store import Store  # noqa: E402
from bastide.table.session import TableSession  # noqa: E402
from scoring.engine import apply, new_game  # noqa: E402
from scoring.events import Event, GameEnded, Setup, TurnEnded  # noqa: E402
from scoring.state import Draft  # noqa: E402
from scoring.transcript import read  # noqa: E402
from web.app import create_app  # noqa: E402
from web.server import PageServer  # noqa: E402

PHONE, TABLET = (390, 844), (1280, 800)
Game = tuple[str, Setup, list[tuple[list[Event], list[int]]], list[int]]  # turns with the scores after them; totals


def recorded() -> Iterator[Game]:
    """The first recorded game of each box and of all together."""
    for prefix in dict.fromkeys(p.name.rsplit("-", 1)[0] for p in GAMES):
        data = load(next(p for p in GAMES if p.name.startswith(prefix + "-")))
        game = read(data)
        turns = [(list(t.events), d["expect"]["score"]) for t, d in zip(game.turns, data["turns"], strict=True)]
        yield prefix, game.setup, turns, data["expect"]["totals"]


def wheels() -> Iterator[Game]:
    """Random games with the wheel, with the scores that the engine gives them."""
    for seed, boxes in enumerate((("wheel",), ("wheel", "inns", "traders", "dragon", "tower"))):
        setup, events = random_game(seed, *boxes, tiles=60, name="wheel")
        d = Draft(new_game(setup))
        turns: list[tuple[list[Event], list[int]]] = []
        own: list[Event] = []
        for event in events:
            apply(d, event)
            if isinstance(event, TurnEnded):
                turns.append((own, list(d.scores)))
                own = []
            else:
                own.append(event)
        apply(d, GameEnded())
        yield "+".join(boxes), setup, turns, list(d.scores)


def enter(browser: Any, game: Game, size: tuple[int, int], most: int | None) -> str | None:
    """Enter a game; returns the difference, or None."""
    name, setup, turns, totals = game
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "taps.sqlite") as store:
        session = TableSession(store, setup)
        session.set_status("manual")
        with PageServer(create_app(session), port=0) as server:
            context = browser.new_context(viewport={"width": size[0], "height": size[1]}, reduced_motion="reduce")
            page = context.new_page()
            page.goto(server.url)
            page.wait_for_selector("body[data-ready] .tile")
            hand, began, events = Hand(page, session), time.monotonic(), 0
            try:
                for n, (own, scores) in enumerate(turns[:most]):
                    for event in own:
                        hand.play(event)
                        events += 1
                    if not any(e.DO == "tile" for e in own):
                        hand.end_turn()
                    if (got := [p["score"] for p in session.view()["players"]]) != scores:
                        return f"{name}, turn {n + 1}: {got} instead of {scores}"
                    if issues := session.view()["issues"]:
                        told = [e["notation"] for e in session.view()["history"] if e["turn"] == issues[0]["turn"]]
                        return f"{name}, turn {n + 1}: {issues[0]['code']}: {issues[0]['text']} {told} {own}"
                if most is None:
                    hand.end_game()
                    if (got := [p["score"] for p in session.view()["players"]]) != totals:
                        return f"{name}: {got} instead of {totals}"
            finally:
                context.close()
    spent = time.monotonic() - began
    print(f"{name}: equal; {len(turns[:most])} turns, {events} events, {hand.taps} taps ({hand.taps / events:.1f} an "
          f"event), the whole board shown {hand.searched} times, {spent:.0f} s", flush=True)
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="games whose name begins so")
    parser.add_argument("--phone", action="store_true", help="on a phone held upright instead of a tablet")
    parser.add_argument("--turns", type=int, help="only the first turns of each game")
    args = parser.parse_args()

    from playwright.sync_api import sync_playwright

    games = [g for g in (*recorded(), *wheels()) if g[0].startswith(args.only)]
    different = []
    with sync_playwright() as p:
        browser = chromium(p)
        for game in games:
            if (told := enter(browser, game, PHONE if args.phone else TABLET, args.turns)) is not None:
                print(told, flush=True)
                different.append(told)
        browser.close()
    print(f"{len(games) - len(different)} of {len(games)} games equal")
    return int(bool(different))


if __name__ == "__main__":
    sys.exit(main())
