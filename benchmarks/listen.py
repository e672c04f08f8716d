"""A whole game entered through the text table, by accessible names and keyboard alone, in Chromium.

    ./run bench listen [--events N]

The recorded game of the page's tests, four players. Reports whether the scores match the rules after every event, and
which names were ambiguous.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "web")]

from browser import chromium  # noqa: E402
from listener import Listener  # noqa: E402
from playwright.sync_api import sync_playwright  # noqa: E402
from webtable import EVENTS, table  # noqa: E402

from bastide.log.store import Store  # noqa: E402
from scoring.engine import fold  # noqa: E402
from scoring.events import GameEnded, TilePlaced  # noqa: E402
from scoring.projection import running_scores  # noqa: E402
from web.app import create_app  # noqa: E402
from web.server import PageServer  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=len(EVENTS))
    parser.add_argument("--picture", type=Path, help="keep what the table in words looks like at the end")
    args = parser.parse_args()
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as scratch, Store(Path(scratch) / "log.sqlite") as store:
        session = table(store, 0)
        with PageServer(create_app(session), port=0) as server, sync_playwright() as p:
            browser = chromium(p)
            page = browser.new_page(viewport={"width": 390, "height": 844}, reduced_motion="reduce")
            page.set_default_timeout(60_000)
            page.goto(server.url)
            page.locator(".tile").first.wait_for()
            listener, done = Listener(page, session), []
            for n, event in enumerate(EVENTS[:args.events]):
                if isinstance(event, GameEnded):
                    break
                listener.enter(event)
                done.append(event)
                state = fold(session.setup, done)
                if [p["score"] for p in session.view()["players"]] != list(running_scores(state)):
                    wrong.append(f"event {n + 1}: other scores than the rules give")
                    break
                if isinstance(event, TilePlaced):
                    for names in (listener.names("[data-key^='claim-']"), listener.names(".in-words select option")):
                        wrong += [f"event {n + 1}: twice {x!r}" for x in set(names) if names.count(x) > 1]
            if args.picture:
                page.screenshot(path=str(args.picture))
            browser.close()
            print(f"{len(done)} events, {len(session.state.tiles)} tiles, scores "
                  f"{[p['score'] for p in session.view()['players']]}; {len(wrong)} things wrong")
            for sentence in wrong:
                print(sentence)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
