"""Looks at the page on every screen: ``python benchmarks/page_matrix.py``.

Every number of players, every length of names, every number of digits, every shape of screen, every language, and on
each the plain view, a notice, a question, a proof and the menu: what a person would object to (text cut or covered,
names that cannot be read, a board without room) is listed. Pictures are kept in ``artifacts/matrix``.
Exit code 1 when there is anything.

    python benchmarks/page_matrix.py [--screen NAME ...] [--players N ...] [--names KIND ...] [--digits KIND ...]
                                     [--language CODE ...] [--view NAME ...] [--pictures]
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "web")]

from screens import LANGUAGES, NAMES, NOTICE, SCORES, SCREENS, ask, clear, dressed, look  # noqa: E402

from bastide.log.store import Store  # noqa: E402
from web.app import create_app  # noqa: E402
from web.server import PageServer  # noqa: E402

PICTURES = ROOT / "artifacts" / "matrix"


def show(page: Any, session: Any, view: str, tv: bool) -> None:
    """Bring the page to a view."""
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
    """And back."""
    if view == "notice":
        session.set_notices([], {})
        page.locator("#issues").wait_for(state="hidden")
    clear(page)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--screen", nargs="+", choices=SCREENS, default=list(SCREENS))
    parser.add_argument("--players", nargs="+", type=int, default=[2, 3, 6])
    parser.add_argument("--names", nargs="+", choices=NAMES, default=list(NAMES))
    parser.add_argument("--digits", nargs="+", choices=SCORES, default=list(SCORES))
    parser.add_argument("--language", nargs="+", choices=LANGUAGES, default=list(LANGUAGES))
    views = ["live", "notice", "question", "proof", "menu"]
    parser.add_argument("--view", nargs="+", choices=views, default=views)
    parser.add_argument("--pictures", action="store_true", help="keep a picture of each")
    args = parser.parse_args()
    from playwright.sync_api import sync_playwright
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        print("no chromium: apt install chromium")
        return 1
    PICTURES.mkdir(parents=True, exist_ok=True)
    seen, found, begun = 0, Counter[str](), time.monotonic()
    with sync_playwright() as p, tempfile.TemporaryDirectory() as folder:
        browser = p.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for players in args.players:
            for names in args.names:
                with Store(Path(folder) / f"{players}-{names}.sqlite") as store:
                    session = dressed(store, NAMES[names][:players], SCORES["one"])
                    if "question" in args.view:
                        ask(session)
                    with PageServer(create_app(session), port=0) as server:
                        for language in args.language:
                            context = browser.new_context(locale=LANGUAGES[language], reduced_motion="reduce")
                            pages = {}
                            for screen in args.screen:
                                tv, size = screen.startswith("tv"), SCREENS[screen]
                                if tv not in pages:
                                    pages[tv] = context.new_page()
                                    pages[tv].goto(server.url + ("tv" if tv else ""))
                                    pages[tv].locator("body[data-ready] .tile").first.wait_for()
                                page = pages[tv]
                                page.set_viewport_size({"width": size[0], "height": size[1]})
                                for digits in args.digits:
                                    session.dress(SCORES[digits], doubted=(0, players - 1))
                                    page.locator(".player[data-player='0'] .score",
                                                 has_text=f"~{SCORES[digits][0]}").wait_for()
                                    clear(page)
                                    for view in args.view if digits == "two" else args.view[:1]:
                                        show(page, session, view, tv)
                                        where = f"{screen} {players} {names} {digits} {language} {view}"
                                        faults = look(page, tv=tv)
                                        seen += 1
                                        if faults or args.pictures:
                                            page.screenshot(path=str(PICTURES / f"{where.replace(' ', '-')}.png"))
                                        for fault in faults:
                                            print(f"{where}: {fault}", flush=True)
                                            found[f"{screen} {view}"] += 1
                                        leave(page, session, view)
                            context.close()
                print(f"{players} players, {names} names: {seen} screens after {time.monotonic() - begun:.0f} s",
                      file=sys.stderr)
        browser.close()
    for where, n in found.most_common():
        print(f"{n:5} {where}")
    print(f"{seen} screens looked at in {time.monotonic() - begun:.0f} s: {sum(found.values())} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
