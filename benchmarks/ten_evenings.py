"""The evening book after ten evenings: ten recorded games entered as if watched, then inspected in Chromium.

    ./run bench ten_evenings [--out artifacts/book] [--games 10] [--serve]

Takes games of ../shared/games (random games without it), with changing players and dates a week apart, and opens the
book on a phone, a tablet and a television. Prints the time to compute the book, the bytes it sends, and anything wider
than the screen. ``--serve`` keeps the server running.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import shutil
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "scoring")]

from browser import chromium  # noqa: E402

from bastide.log.store import Store  # noqa: E402
from bastide.table.demo_game import demo_game  # noqa: E402
from bastide.table.session import TableSession  # noqa: E402
from scoring.events import GameEnded, Player  # noqa: E402
from scoring.transcript import Game, read  # noqa: E402
from web.app import create_app  # noqa: E402
from web.server import PageServer  # noqa: E402

GAMES = ROOT.parent / "shared" / "games" / "dev"
PEOPLE = ("Anna", "Ben", "Chloé", "Dörte", "Maximiliane-Friederike", "李雷")
EVENING_S, WEEK_S, TURN_S = 1_790_000_000.0, 7 * 86_400.0, 55.0
SCREENS = {"phone": (390, 844), "landscape": (740, 360), "tablet": (1024, 768), "tv": (1920, 1080)}
WIDER = "document.documentElement.scrollWidth > innerWidth + 1"


def recorded(count: int) -> list[Game]:
    """``count`` games, of different boxes if there are recorded ones."""
    files = sorted(GAMES.glob("*.json.gz"))
    if not files:
        return [demo_game(seed, turns=40) for seed in range(1, count + 1)]
    chosen = files[::max(1, len(files) // count)][:count]
    return [read(json.loads(gzip.decompress(f.read_bytes()))) for f in chosen]


def evenings(folder: Path, games: list[Game]) -> tuple[Store, TableSession]:
    """A data folder in which these games were played, a week apart. The store is open."""
    rng, clock, session = random.Random(17), [EVENING_S], None
    store = Store(folder / "log.sqlite").__enter__()
    real, time.time = time.time, lambda: clock[0]
    try:
        for n, game in enumerate(games):
            clock[0] = EVENING_S + n * WEEK_S
            names = rng.sample(PEOPLE, k=len(game.setup.players))
            players = tuple(Player(name=name, colour=p.colour)
                            for name, p in zip(names, game.setup.players, strict=True))
            session = TableSession(store, replace(game.setup, players=players), clock=lambda: clock[0])
            for turn in game.turns:
                clock[0] += TURN_S
                session.commit(turn.events, confidence=0.98, asked=False)
            session.commit((GameEnded(),), confidence=1.0, asked=False)
            session.command({"do": "reveal", "step": "end"})
    finally:
        time.time = real
    assert session is not None
    return store, session


def looked_at(url: str, out: Path, last: int) -> list[str]:
    """Takes pictures of the book on every screen; returns the faults."""
    from playwright.sync_api import sync_playwright

    wrong: list[str] = []
    with sync_playwright() as p:
        browser = chromium(p)
        for name, (width, height) in SCREENS.items():
            locale, scheme = {"phone": ("de-DE", "light"), "tablet": ("fr-FR", "dark")}.get(name, ("en-GB", "dark"))
            page: Any = browser.new_page(viewport={"width": width, "height": height}, locale=locale,
                                         color_scheme=scheme, reduced_motion="reduce")
            page.on("pageerror", lambda e, name=name: wrong.append(f"{name}: {e}"))
            for view, path in (("book", "book"), ("game", f"book/{last}")):
                page.goto(f"{url}{path}")
                page.locator(".evening-row, .evening-board .tile").first.wait_for()
                if view == "game":
                    page.locator("[data-key='luck']").click()
                    page.locator(".luck li").first.wait_for()
                if page.evaluate(WIDER):
                    wrong.append(f"{name}: {view} is wider than the screen")
                page.screenshot(path=str(out / f"{view}-{name}.png"), full_page=name != "tv")
            page.locator("[data-key='hand']").click()
            page.locator(".handing-code").wait_for()
            page.screenshot(path=str(out / f"hand-{name}.png"))
            page.locator("#sheet .close").click()
            page.locator(".awards .event").first.click()
            page.locator(".proof-text").wait_for()
            page.screenshot(path=str(out / f"proof-{name}.png"))
            page.close()
        browser.close()
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("artifacts/book"))
    parser.add_argument("--games", type=int, default=10)
    parser.add_argument("--serve", action="store_true")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        store, session = evenings(Path(scratch), recorded(args.games))
        try:
            begun = time.perf_counter()
            book = session.book.overview()
            first_s = time.perf_counter() - begun
            begun = time.perf_counter()
            film = session.films.make(session.game)
            film_s = time.perf_counter() - begun
            shutil.copy(film, args.out / "time-lapse.webm")
            sizes = {path: len(gzip.compress(json.dumps(data).encode())) for path, data in (
                ("book", book), ("last game", session.book.game(session.game)))}
            print(f"{len(book['games'])} games worked out in {first_s:.2f} s; time-lapse {film_s:.1f} s, "
                  f"{film.stat().st_size / 1e6:.1f} MB; sent: " + ", ".join(f"{k} {v / 1e3:.1f} kB"
                                                                         for k, v in sizes.items()))
            for p in book["players"]:
                print(f"  {p['name']:24} {p['games']:2} games, {p['wins']} won, {p['average']:5} on average, "
                      f"rating {p['rating']}")
            with PageServer(create_app(session), port=0) as server:
                wrong = looked_at(server.url, args.out, session.game)
                for sentence in wrong:
                    print(sentence)
                print(f"pictures in {args.out}; {len(wrong)} things wrong")
                if args.serve:
                    input(f"{server.url}book  (Enter ends)")
        finally:
            store.__exit__(None, None, None)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
