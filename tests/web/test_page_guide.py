"""The guide from an empty data folder to the first scored road, in a browser on a phone, against simulated cameras."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from pageviews import picture, until
from servertexts import catalogue
from test_page_access import TEXTS, violations
from webtable import get, up_to

from bastide.guide.practice import plan
from bastide.table.setup import TWO
from scoring.events import FigurePlaced, Setup, TilePlaced
from scoring.rules import edition
from scoring.transcript import Game, turns_of, write
from vision.images import write_image

sys.path.append(str(Path(__file__).parents[1] / "bastide"))
from processes import Served  # noqa: E402

expect = pytest.importorskip("playwright.sync_api").expect
PHONE = (390, 844)
WATCH_MS = 120_000  # only for a table that never sees the road
STEPS = ("welcome", "camera", "aim", "table", "tiles", "figures", "players", "practice", "play")


class Empty(Served):
    """A table that nobody has set up: no PIN either."""

    def __init__(self, *argv: object) -> None:
        super().__init__(*argv, patience_s=600.0)  # a walk of many steps on a busy machine
        at = self._argv.index("--pin")
        del self._argv[at:at + 2]


@pytest.fixture
def cameras(tmp_path):
    """A simulated table on which the practice road is laid, and a camera with its cap on."""
    setup = Setup(players=TWO, rules=edition())
    first, second = plan(setup)
    events = (TilePlaced(player=0, tile=first["tile"], at=tuple(first["at"]), rot=first["rot"]),
              FigurePlaced(player=0, figure="follower", at=tuple(first["at"]), feature="road", where=first["follower"]),
              TilePlaced(player=1, tile=second["tile"], at=tuple(second["at"]), rot=second["rot"]))
    game = tmp_path / "road.json"
    game.write_text(json.dumps(write(Game(setup=setup, turns=turns_of(setup, events)))), "utf-8")
    (tmp_path / "dark").mkdir()
    for n in range(40):
        write_image(str(tmp_path / "dark" / f"{n:02}.png"), np.full((180, 320, 3), n % 3, np.uint8))
    return (f"sim:transcript={game}&seed=1&level=easy&size=1152x648&pace=1&tail_s=120",
            f"folder:{tmp_path / 'dark'}?fps=1")


def at_step(page, name):
    expect(page.locator(f"#begin [data-key='step-{STEPS.index(name)}'][aria-current]")).to_be_visible()


def goes_on(page):
    page.locator("[data-key='begin-next']").click()


def proved(page, name):
    page.locator(f"#begin [data-key='step-{STEPS.index(name)}'].is-done").wait_for(timeout=WATCH_MS)


def test_from_an_empty_folder_to_the_first_scored_road(tmp_path, cameras, visit):
    good, bad = cameras
    where = ("serve", "--host", "127.0.0.1", "--port", 0, "--data", tmp_path / "data")
    with Empty(*where, "--offer-camera", good, "--offer-camera", bad) as served:
        page = visit(served.url, *PHONE, color_scheme="light")
        at_step(page, "welcome")  # nobody had to look for it
        picture(page, "guide-welcome")
        page.locator("[data-key='begin-pin']").click()
        page.locator("#pin").fill("2580")
        page.keyboard.press("Enter")
        at_step(page, "camera")
        proved(page, "welcome")
        sees, dark = page.locator(".camera-card").nth(0), page.locator(".camera-card").nth(1)
        expect(sees).to_contain_text("Bright and sharp enough", timeout=WATCH_MS)
        expect(dark).to_contain_text("is black", timeout=WATCH_MS)
        until(page, "document.querySelector('.camera-card img').naturalWidth > 0")
        picture(page, "guide-camera")
        assert page.locator("#begin .dot.is-done").count() == 1, "a camera that is only looked at is not in use"
        page.locator("[data-key='step-6']").click()
        page.locator("[data-key='begin-players']").click()
        for n, name in enumerate(("Anna", "Ben")):
            page.locator("#setup .seats input").nth(n).fill(name)
        page.locator("[data-key='start']").click()
        at_step(page, "players")  # another view closed it only for as long as it was open
        proved(page, "players")
        page.locator("[data-key='step-1']").click()
        sees.get_by_role("button", name="Watch with this one").click()
        served.begun_again()
        page.wait_for_selector("#begin .camera-card", timeout=WATCH_MS)
        at_step(page, "camera")  # the page came back by itself, and the guide where it was
        proved(page, "camera")
        goes_on(page)
        at_step(page, "aim")
        page.locator(".aim-sum").wait_for(timeout=WATCH_MS)
        picture(page, "guide-aim")
        goes_on(page)
        at_step(page, "table")
        picture(page, "guide-table")
        goes_on(page)
        at_step(page, "tiles")
        page.locator("[data-key='tiles-learn']").click()
        at_step(page, "figures")
        picture(page, "guide-figures")
        goes_on(page)
        at_step(page, "players")
        expect(page.locator(".begin-players")).to_have_text("AnnaBen")
        goes_on(page)
        at_step(page, "practice")
        picture(page, "guide-practice")
        proved(page, "practice")
        picture(page, "guide-practised")
        assert served.get()["players"][0]["score"] == 3
        states = page.locator("#begin .dot").evaluate_all("all => all.map((b) => b.className.replace('dot is-', ''))")
        assert states == ["done", "done", "skipped", "skipped", "answered", "skipped", "done", "done", "open"]
        assert not violations(page)
        goes_on(page)
        at_step(page, "play")
        picture(page, "guide-play")
        goes_on(page)
        expect(page.locator("#begin")).to_be_hidden()
        expect(page.locator(".tiles .tile")).to_have_count(1)  # the evening begins on an empty table
        assert [p["name"] for p in served.get()["players"]] == ["Anna", "Ben"]
        assert served.end() == 0, served.lines
    with Empty(*where) as again:  # and nobody is led again
        page.goto(again.url)
        page.wait_for_selector("body[data-ready] .tile")
        expect(page.locator("#begin")).to_be_hidden()
        assert again.end() == 0


@pytest.mark.parametrize("language", ["de", "fr"])
def test_every_step_speaks_the_readers_language_and_fits_a_phone(serve, visit, language):
    session, server = serve(0)
    page = visit(server.url, *PHONE, locale={"de": "de-DE", "fr": "fr-FR"}[language], color_scheme="light")
    page.locator("[data-key='feed-begin']").click()
    for n, name in enumerate(STEPS):
        page.locator(f"[data-key='step-{n}']").click()
        at_step(page, name)
        picture(page, f"guide-{name}-{language}")
        shown = [text.lower() for text in page.evaluate(TEXTS)]
        assert not [piece for piece in catalogue() if any(piece in text for text in shown)], name
        assert not [text for text in shown if "begin." in text or "{" in text], name
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        assert page.evaluate("[...document.querySelectorAll('#begin footer .action')]"
                             ".every((b) => b.scrollWidth <= b.clientWidth)"), f"{name}: a button's text is cut"
        assert not violations(page), name
    session.commit(up_to(3), confidence=1.0, asked=False)
    page.locator("[data-key='begin-next']").click()
    expect(page.locator("#begin")).to_be_hidden()
    # Looked into after it was finished: nobody is led again, and what is being played is no practice.
    assert json.loads(get(server.url + "api/guide")[2])["finished"] and len(session.past.games()) == 1
    assert session.view()["version"] == len(up_to(3))
