"""The final scoring on two browsers at once, as a strip of pictures: ``./run bench reveal_strip [--out FILE.jpg]``.

A tablet leads, a television follows. Each moment of the strip is the tablet above, the television below. Checked are:
no screen reveals the winner early, both show the same step and the same scores, a remote at the television takes the
lead, the timer advances by itself, only the selected device speaks, the presentation can be skipped and repeated.
Prints the delay from the tap to the other screen. Exit code 1 when a check fails.
"""

from __future__ import annotations

import argparse
import io
import re
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "web")]

from browser import chromium  # noqa: E402
from PIL import Image as Picture  # noqa: E402
from webtable import table  # noqa: E402

from bastide.log.store import Store  # noqa: E402
from web.app import create_app  # noqa: E402
from web.server import PageServer  # noqa: E402

TABLET, TELEVISION = (1024, 700), (1366, 768)
WIDTH, GAP, ACROSS, GROUND = 420, 8, 3, "#1c1814"
WITHIN_MS = 30_000  # for a busy machine
WALKED_S = 3.0  # a step is highlighted, then its points are added to the bars
VOICE = """() => { window.spoken = [];
  const speak = (u) => { spoken.push(u.text); setTimeout(() => u.onend?.(), 50); };
  const voice = { cancel() {}, getVoices: () => [], speak };
  Object.defineProperty(window, "speechSynthesis", { value: voice });
  window.SpeechSynthesisUtterance = class { constructor(text) { this.text = text; } }; }"""


class Walk:
    """Two screens of one table, and the failed checks."""

    def __init__(self, browser: Any, url: str, session: Any) -> None:
        self.session, self.faults, self.moments = session, list[str](), list[Picture.Image]()
        self.delays_ms = list[float]()
        self.pages = [self._page(browser, address, size) for address, size in
                      ((url, TABLET), (url + "tv", TELEVISION))]
        self.tablet, self.television = self.pages

    def _page(self, browser: Any, address: str, size: tuple[int, int]) -> Any:
        page = browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme="light").new_page()
        page.set_default_timeout(WITHIN_MS)
        page.add_init_script(f"({VOICE})()")
        page.goto(address)
        page.locator("body[data-ready] .tile").first.wait_for()
        return page

    def holds(self, so: bool, what: str) -> None:
        if not so:
            self.faults.append(what)

    def to(self, n: int, act: Any, other: Any) -> None:
        """Act on one screen and wait until the other shows step ``n``."""
        begun = time.monotonic()
        act()
        self.at(other, n)
        self.delays_ms.append(1000 * (time.monotonic() - begun))

    def at(self, page: Any, n: int) -> None:
        page.locator(".walk-stage span", has_text=re.compile(rf"^{n + 1} ")).wait_for()

    def keep(self) -> None:
        """Store both screens, one above the other."""
        shots = [Picture.open(io.BytesIO(page.screenshot())).convert("RGB") for page in self.pages]
        small = [s.resize((WIDTH, round(s.height * WIDTH / s.width)), Picture.Resampling.LANCZOS) for s in shots]
        out = Picture.new("RGB", (WIDTH, sum(s.height for s in small) + GAP), GROUND)
        out.paste(small[0], (0, 0))
        out.paste(small[1], (0, small[0].height + GAP))
        self.moments.append(out)

    def scores(self, page: Any) -> list[int]:
        return [int(re.sub(r"\D", "", text)) for text in page.locator(".player .score-number").all_inner_texts()]

    def silent(self, moment: str) -> None:
        """Check that the winner is not revealed."""
        for page in self.pages:
            self.holds("wins" not in page.locator("body").inner_text(), f"{moment}: the winner is told")
            self.holds(not page.locator(".totals, .chart, .awards").count(), f"{moment}: the result is shown")

    def settled(self, expected: list[int], moment: str) -> None:
        """Check that the points are added to the bars, equally on both."""
        end = time.monotonic() + WALKED_S
        while time.monotonic() < end and any(self.scores(page) != expected for page in self.pages):
            self.tablet.wait_for_timeout(50)
        for page in self.pages:
            self.holds(self.scores(page) == expected, f"{moment}: {self.scores(page)} instead of {expected}")


def walk(w: Walk, scores: list[int]) -> None:
    """From the end of the game to the result, once by taps, a remote and the timer."""
    steps = [e for stage in w.session.view()["final"]["stages"] for e in stage["events"]]
    farm = next(n for n, e in enumerate(steps) if e["feature"] == "field")
    for page in w.pages:
        page.locator("#reveal:not([hidden])").wait_for()
    w.silent("before")
    w.keep()
    w.tablet.locator("[data-key='aloud']").click()
    for n, step in enumerate(steps):
        if n == 2:
            w.to(n, lambda: w.television.keyboard.press("PageDown"), w.tablet)  # a remote at the television
        elif n == 3:
            w.to(n, lambda: w.tablet.locator("[data-key='take']").click(), w.television)
        elif n == 4:
            w.tablet.locator("[data-key='timer']").click()  # advances by itself
            w.at(w.television, n)
            w.tablet.locator("[data-key='timer']").click()
        else:
            w.to(n, lambda: w.tablet.locator("[data-key='next']").click(), w.television)
        if n in (0, farm):
            w.keep()  # highlighted, not yet added
        for won in step["points"]:
            scores[won["player"]] += won["points"]
        w.settled(scores, f"step {n + 1}")
        if n == 0:
            w.keep()
        w.silent(f"step {n + 1}")
    w.tablet.locator("[data-key='next']").click()
    for page in w.pages:
        page.locator("#reveal .winner").wait_for()
        page.wait_for_timeout(900)  # added
    w.keep()
    w.tablet.locator("[data-key='next']").click()
    for page in w.pages:
        page.locator(".totals").wait_for()
    w.keep()
    said = w.tablet.evaluate("spoken")[1:]  # the first announces that it speaks
    w.holds(len(said) == len(steps) + 1, f"the tablet speaks {len(said)} times, not once a step and of the winner")
    w.holds(all("wins" not in text for text in said[:-1]) and "wins" in said[-1], "the winner is spoken of too soon")
    w.holds(w.television.evaluate("spoken") == [], "the television speaks, and nobody asked it to")
    w.tablet.locator("[data-key='walk']").click()  # repeated, and skipped
    w.at(w.television, 0)
    w.tablet.locator("[data-key='skip']").click()
    w.television.locator(".totals").wait_for()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "artifacts" / "reveal.jpg")
    args = parser.parse_args()
    from playwright.sync_api import sync_playwright
    with sync_playwright() as p, tempfile.TemporaryDirectory() as folder, \
            Store(Path(folder) / "t.sqlite") as store:
        session = table(store, 72)
        scores = [player["score"] for player in session.view()["players"]]
        with PageServer(create_app(session), port=0) as server:
            browser = chromium(p)
            w = Walk(browser, server.url, session)
            session.command({"do": "end_game"})
            walk(w, scores)
            browser.close()
    height = w.moments[0].height + 3 * GAP
    strip = Picture.new("RGB", (ACROSS * (WIDTH + GAP) - GAP, -(-len(w.moments) // ACROSS) * height - 3 * GAP), GROUND)
    for n, moment in enumerate(w.moments):
        strip.paste(moment, (n % ACROSS * (WIDTH + GAP), n // ACROSS * height))
    args.out.parent.mkdir(parents=True, exist_ok=True)
    strip.save(args.out, quality=82)
    print(f"{args.out}: {len(w.moments)} moments; the other screen shows a step {statistics.median(w.delays_ms):.0f} "
          f"ms after the tap, at most {max(w.delays_ms):.0f} ms")
    for fault in w.faults:
        print(fault)
    return 1 if w.faults else 0


if __name__ == "__main__":
    sys.exit(main())
