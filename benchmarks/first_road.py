"""From an empty data folder to the first scored road, by a user who only follows the screen:
``python benchmarks/first_road.py``.

It uses a real ``bastide serve`` without PIN, game or settings, two simulated cameras (one with its cap on), and a
phone-sized browser in each language. Prints the visited steps, every tap and every typed text, and the seconds, without
the time that people need for walking, printing or placing tiles. Exit code 1 when the road is not scored.

    python benchmarks/first_road.py [--language de]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "web")]

from browser import chromium  # noqa: E402
from firststeps import PHONE, STEPS, Empty, practice_cameras  # noqa: E402
from playwright.sync_api import sync_playwright  # noqa: E402

LOCALES = {"en": "en-GB", "de": "de-DE", "fr": "fr-FR"}
WAIT_MS = 900_000  # the goal is 25 minutes for all of it
AT_MOST_STEPS, AT_MOST_S = 10, 1500.0


class Walk:
    """One user with a phone: the actions, and the time of each step."""

    def __init__(self, page: Any) -> None:
        self.page, self.taps, self.typed = page, 0, 0
        self.steps: list[str] = []
        self.begun_s = time.monotonic()

    def tap(self, where: Any) -> None:
        where.first.click()
        self.taps += 1

    def type(self, where: Any, text: str) -> None:
        where.fill(text)
        self.typed += 1

    def key(self, name: str) -> Any:
        return self.page.locator(f"[data-key='{name}']")

    def at(self, name: str) -> None:
        """Wait for a step, and print its time."""
        self.page.locator(f"#begin [data-key='step-{STEPS.index(name)}'][aria-current]").wait_for()
        self.steps.append(name)
        print(f"  {time.monotonic() - self.begun_s:6.1f} s  {len(self.steps)} {name}: "
              f"{self.page.locator('#begin section h3').first.inner_text()}", flush=True)


def walk(page: Any, served: Empty) -> Walk:
    """Go through every step in order, skipping those that need printing or a dozen tiles."""
    w = Walk(page)
    w.at("welcome")
    w.tap(w.key("begin-pin"))
    w.type(page.locator("#pin"), "2580")
    page.keyboard.press("Enter")
    w.at("camera")
    page.locator(".camera-card.ok").wait_for()
    page.locator(".camera-card.fail").wait_for()
    w.tap(page.locator(".camera-card.ok button"))
    served.begun_again()
    page.locator("#begin [data-key='step-1'].is-done").wait_for()
    w.tap(w.key("begin-next"))
    w.at("aim")
    page.locator(".aim-sum").wait_for()
    w.tap(w.key("begin-next"))
    w.at("table")
    w.tap(w.key("begin-next"))
    w.at("tiles")
    w.tap(w.key("tiles-learn"))
    w.at("figures")
    w.tap(w.key("begin-next"))
    w.at("players")
    w.tap(w.key("begin-next"))  # the road is laid by now: a new game would start on a table that is not empty
    w.at("practice")
    page.locator("#begin [data-key='step-7'].is-done").wait_for()
    return w


def main() -> int:
    """Walk once in each language."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--language", choices=LOCALES)
    only = parser.parse_args().language
    bad = 0
    with sync_playwright() as playwright:
        browser = chromium(playwright)
        for language in (only,) if only else LOCALES:
            with tempfile.TemporaryDirectory() as folder:
                good, dark = practice_cameras(Path(folder))
                print(language, flush=True)
                with Empty("serve", "--host", "127.0.0.1", "--port", 0, "--data", Path(folder) / "data",
                           "--offer-camera", good, "--offer-camera", dark) as served:
                    page = browser.new_page(viewport={"width": PHONE[0], "height": PHONE[1]}, locale=LOCALES[language],
                                            reduced_motion="reduce")
                    page.set_default_timeout(WAIT_MS)
                    page.goto(served.url)
                    w = walk(page, served)
                    took, score = time.monotonic() - w.begun_s, served.get()["players"][0]["score"]
                    fine = score == 3 and len(w.steps) <= AT_MOST_STEPS and took <= AT_MOST_S
                    bad += not fine
                    print(f"  {took:6.1f} s  the road is scored ({score} points): {len(w.steps)} steps, {w.taps} taps, "
                          f"{w.typed} texts typed", flush=True)
                    page.close()
                    served.end()
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
