"""The documentation's pictures of the page: ``./run bench page_pictures [--out docs/pictures] [--turns 30]``.

A simulated table is watched as fast as possible up to the last but one turn, then at its own pace, while a tablet, a
phone and a television show it; the pictures of entering are of a game entered by hand. The strip of the final scoring
has a command of its own (reveal_strip.py).
"""

from __future__ import annotations

import argparse
import io
import json
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from threading import Event
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "web")]

from browser import chromium  # noqa: E402
from hand import Hand  # noqa: E402
from PIL import Image as Picture  # noqa: E402
from webtable import table  # noqa: E402

from bastide.camera.opening import open_camera  # noqa: E402
from bastide.camera.pacing import Paced  # noqa: E402
from bastide.log.store import Store  # noqa: E402
from bastide.table.demo_game import demo_game  # noqa: E402
from bastide.table.session import TableSession  # noqa: E402
from bastide.tiles.art import load_tiles  # noqa: E402
from bastide.watching.table_loop import TableLoop  # noqa: E402
from bastide.watching.watcher import make_watcher  # noqa: E402
from scoring.engine import legal_placements, open_squares  # noqa: E402
from scoring.transcript import write  # noqa: E402
from web.app import create_app  # noqa: E402
from web.server import PageServer  # noqa: E402

WITHIN_MS = 60_000  # for a busy machine
WATCHED_MS = 1_800_000  # until the board is full enough
PHONE, TABLET, TELEVISION = (390, 844), (1180, 738), (1280, 720)
QUALITY, COLOURS = 85, 256  # of photographs, which would be large as PNG; of drawings


class Camera:
    """Takes the pictures: each of a page of its own."""

    def __init__(self, browser: Any, url: str, out: Path) -> None:
        self._browser, self._url, self._out = browser, url, out

    def page(self, size: tuple[int, int], path: str = "", *, dark: bool = False) -> Any:
        page = self._browser.new_context(viewport={"width": size[0], "height": size[1]}, reduced_motion="reduce",
                                         color_scheme="dark" if dark else "light").new_page()
        page.set_default_timeout(WITHIN_MS)
        page.goto(self._url + path)
        page.locator("body[data-ready] .tile").first.wait_for()
        return page

    def keep(self, page: Any, name: str) -> None:
        page.evaluate("() => document.fonts.ready")
        shot = Picture.open(io.BytesIO(page.screenshot())).convert("RGB")
        if name.endswith(".jpg"):
            shot.save(self._out / name, quality=QUALITY)
        else:
            shot.quantize(COLOURS).save(self._out / name, optimize=True)
        print(f"{name}: {(self._out / name).stat().st_size // 1000} kB", flush=True)


def watched(browser: Any, out: Path, turns: int) -> None:
    """The table while a camera watches it."""
    truth = demo_game(1, turns=turns)
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        transcript = scratch / "game.json"
        transcript.write_text(json.dumps(write(truth)), "utf-8")
        session = TableSession(stack.enter_context(Store(scratch / "log.sqlite")), truth.setup)
        stop = Event()
        frames = Paced(open_camera(f"sim:transcript={transcript}&seed=1&fps=2"), 0, stop)
        loop = TableLoop(lambda: frames,
                         make_watcher(load_tiles(None, truth.setup.expansions), truth.setup), session)
        server = stack.enter_context(PageServer(create_app(session), port=0))
        camera = Camera(browser, server.url, out)
        tablet = camera.page(TABLET, dark=True)
        loop.start()
        stack.callback(loop.stop)
        stack.callback(stop.set)
        tablet.locator(".tiles .tile").nth(turns - 1).wait_for(timeout=WATCHED_MS)  # the start tile is one of them
        frames.speed = 1
        for question in session.view()["questions"]:
            session.command({"do": "answer", "question": question["id"], "choice": 0})
        tablet.locator("#feed .event").first.wait_for()
        tablet.locator("#sheet").wait_for(state="hidden")
        camera.keep(tablet, "page-tablet.png")
        camera.keep(camera.page(TELEVISION, "tv", dark=True), "page-tv.png")
        seen = camera.page((1100, 688), dark=True)
        seen.locator("#bar .chip").click()
        seen.locator(".camera-svg image").wait_for()
        seen.locator("polygon.moving:not(.casing)").first.wait_for()  # a hand
        seen.locator(".camera-target").nth(turns // 3).dispatch_event("click")
        seen.locator(".camera-about p").first.wait_for()
        camera.keep(seen, "page-camera.jpg")
        proof = camera.page((1000, 625))
        proof.locator("#feed [data-key^='proof-']").first.click()
        proof.locator("#sheet.proof image").first.wait_for()
        camera.keep(proof, "page-proof.png")


def by_hand(browser: Any, out: Path) -> None:
    """A tile entered by hand, before it is put down and after."""
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "log.sqlite") as store:
        session = table(store, 26)
        session.set_status("manual")
        with PageServer(create_app(session), port=0) as server:
            camera = Camera(browser, server.url, out)
            phone = camera.page(PHONE)
            x, y = max(at for at in open_squares(session.state) if any(
                where == at for kind in session.state.left for where, _ in legal_placements(session.state, kind)))
            hand = Hand(phone, session)
            hand.place(f"[id='gap-{x}-{y}']", "#sheet.picker:not([hidden])")
            phone.locator(".kinds .tile-button").first.click()
            phone.locator("#ghost").wait_for()
            camera.keep(phone, "page-laying-phone.jpg")
            hand.sends("use")
            tablet = camera.page((1280, 800))
            tablet.locator("[data-key='bar.add']").click()
            tablet.locator("#sheet.add .segment").first.wait_for()
            camera.keep(tablet, "page-laying-tablet.jpg")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "pictures")
    parser.add_argument("--turns", type=int, default=30, help="of the watched game")
    args = parser.parse_args()
    from playwright.sync_api import sync_playwright
    with sync_playwright() as p:
        browser = chromium(p)
        by_hand(browser, args.out)
        watched(browser, args.out, args.turns)
        browser.close()


if __name__ == "__main__":
    main()
