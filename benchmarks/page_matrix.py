"""Checks the page's layout on every screen: ``python benchmarks/page_matrix.py``.

For every number of players, length of names, number of digits, shape of screen and language, it shows the plain view, a
notice, a question, a proof, the menu, a step of the final scoring and its result, and lists layout faults (text cut off
or covered, unreadable names, a board without room). Pictures are kept in ``artifacts/matrix``. Exit code 1 when there
are faults.

    python benchmarks/page_matrix.py [--screen NAME ...] [--players N ...] [--names KIND ...] [--digits KIND ...]
                                     [--language CODE ...] [--view NAME ...] [--pictures]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "web")]

from browser import chromium  # noqa: E402
from screens import LANGUAGES, NAMES, NOTICE, SCORES, SCREENS, ask, clear, dressed, look  # noqa: E402

from bastide.log.store import Store  # noqa: E402
from web.app import create_app  # noqa: E402
from web.server import PageServer  # noqa: E402

PICTURES = ROOT / "artifacts" / "matrix"
PLAYED = ("live", "notice", "question", "proof", "menu")
ENDING: dict[str, int | str] = {"walk": 0, "result": "end"}  # the step of the final scoring that shows it


def show(page: Any, session: Any, view: str, tv: bool) -> None:
    """Open a view."""
    if view == "notice":
        session.set_notices([NOTICE], {})
        page.locator("#issues[data-code='take_back']").wait_for()
        clear(page)
    elif view == "question" and not tv:
        page.locator("#bar .questions").click()
        page.locator("#sheet.question").wait_for()
    elif view == "proof" and not tv:
        page.locator("#feed .event").last.click()
        page.locator("#sheet.proof").wait_for()
    elif view == "menu" and not tv:
        page.locator("[data-key='bar.more']").click()
        page.locator("#sheet.menu").wait_for()


def leave(page: Any, session: Any, view: str) -> None:
    """Close it."""
    if view == "notice":
        session.set_notices([], {})
        page.locator("#issues").wait_for(state="hidden")
    clear(page)


class Eyes:
    """Inspects screens and collects the faults."""

    def __init__(self, pictures: bool) -> None:
        self.pictures, self.seen, self.found = pictures, 0, Counter[str]()

    def at(self, page: Any, screen: str, view: str, where: str) -> None:
        faults = look(page, tv=screen.startswith("tv"))
        self.seen += 1
        if faults or self.pictures:
            page.screenshot(path=str(PICTURES / f"{where.replace(' ', '-')}.png"))
        for fault in faults:
            print(f"{where}: {fault}", flush=True)
            self.found[f"{screen} {view}"] += 1


class Screens:
    """One browser's pages, the table's and the television's, in one language and every size."""

    def __init__(self, browser: Any, url: str, language: str) -> None:
        self._context = browser.new_context(locale=LANGUAGES[language], reduced_motion="reduce")
        self._url, self._pages = url, dict[bool, Any]()

    def page(self, screen: str) -> Any:
        tv, (width, height) = screen.startswith("tv"), SCREENS[screen]
        if tv not in self._pages:
            page = self._pages[tv] = self._context.new_page()
            page.goto(self._url + ("tv" if tv else ""))
            page.locator("body[data-ready] .tile").first.wait_for()
        self._pages[tv].set_viewport_size({"width": width, "height": height})
        return self._pages[tv]

    def __enter__(self) -> Screens:
        return self

    def __exit__(self, *exc: object) -> None:
        self._context.close()


def played(eyes: Eyes, args: argparse.Namespace, screens: Screens, session: Any, about: str, language: str) -> None:
    """Screens of a game in progress."""
    views = [v for v in args.view if v not in ENDING]
    for screen in args.screen if views else ():
        page = screens.page(screen)
        for digits in args.digits:
            session.dress(SCORES[digits], doubted=(0, len(session.setup.players) - 1))
            page.locator(".player[data-player='0'] .score", has_text=f"~{SCORES[digits][0]}").wait_for()
            clear(page)
            for view in views if digits == "two" else views[:1]:
                show(page, session, view, screen.startswith("tv"))
                eyes.at(page, screen, view, f"{screen} {about} {digits} {language} {view}")
                leave(page, session, view)


def told(eyes: Eyes, args: argparse.Namespace, screens: Screens, about: str, language: str, view: str) -> None:
    """Screens of the end: a step of the final scoring, or the result."""
    for screen in args.screen:
        page = screens.page(screen)
        page.locator("#reveal .walk-stage" if view == "walk" else "body.told .totals").wait_for()
        clear(page)
        eyes.at(page, screen, view, f"{screen} {about} {language} {view}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--screen", nargs="+", choices=SCREENS, default=list(SCREENS))
    parser.add_argument("--players", nargs="+", type=int, default=[2, 3, 6])
    parser.add_argument("--names", nargs="+", choices=NAMES, default=list(NAMES))
    parser.add_argument("--digits", nargs="+", choices=SCORES, default=list(SCORES))
    parser.add_argument("--language", nargs="+", choices=LANGUAGES, default=list(LANGUAGES))
    parser.add_argument("--view", nargs="+", choices=[*PLAYED, *ENDING], default=[*PLAYED, *ENDING])
    parser.add_argument("--pictures", action="store_true", help="keep a picture of each")
    args = parser.parse_args()
    from playwright.sync_api import sync_playwright
    PICTURES.mkdir(parents=True, exist_ok=True)
    eyes, begun = Eyes(args.pictures), time.monotonic()
    with sync_playwright() as p, tempfile.TemporaryDirectory() as folder:
        browser = chromium(p)
        for players, names in product(args.players, args.names):
            about = f"{players} {names}"
            with Store(Path(folder) / f"{players}-{names}.sqlite") as store:
                session = dressed(store, NAMES[names][:players], SCORES["one"])
                if "question" in args.view:
                    ask(session)
                with PageServer(create_app(session), port=0) as server:
                    for language in args.language:
                        with Screens(browser, server.url, language) as screens:
                            played(eyes, args, screens, session, about, language)
                    session.dress(())
                    session.command({"do": "end_game"})
                    for view, language in product((v for v in ENDING if v in args.view), args.language):
                        session.command({"do": "reveal", "step": ENDING[view]})
                        with Screens(browser, server.url, language) as screens:
                            told(eyes, args, screens, about, language, view)
            print(f"{players} players, {names} names: {eyes.seen} screens after {time.monotonic() - begun:.0f} s",
                  file=sys.stderr)
        browser.close()
    for where, n in eyes.found.most_common():
        print(f"{n:5} {where}")
    print(f"{eyes.seen} screens looked at in {time.monotonic() - begun:.0f} s: {sum(eyes.found.values())} faults")
    return 1 if eyes.found else 0


if __name__ == "__main__":
    sys.exit(main())
