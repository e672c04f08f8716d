"""The guide from an empty data folder to the first scored road, in a browser on a phone, against simulated cameras."""

from __future__ import annotations

import json

import pytest
from firststeps import PHONE, STEPS, WATCH_MS, Empty, practice_cameras
from pageviews import picture, until
from readers import LOCALES, faults
from test_page_access import violations
from webtable import get, up_to

expect = pytest.importorskip("playwright.sync_api").expect

@pytest.fixture
def cameras(tmp_path):
    return practice_cameras(tmp_path)


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
        at_step(page, "welcome")  # it opens by itself
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
    page = visit(server.url, *PHONE, locale=LOCALES[language], color_scheme="light")
    page.locator("[data-key='feed-begin']").click()
    for n, name in enumerate(STEPS):
        page.locator(f"[data-key='step-{n}']").click()
        at_step(page, name)
        picture(page, f"guide-{name}-{language}")
        assert not faults(page, language, "begin"), name
        assert page.evaluate("[...document.querySelectorAll('#begin footer .action')]"
                             ".every((b) => b.scrollWidth <= b.clientWidth)"), f"{name}: a button's text is cut"
    session.commit(up_to(3), confidence=1.0, asked=False)
    page.locator("[data-key='begin-next']").click()
    expect(page.locator("#begin")).to_be_hidden()
    # Opened after it was finished: it does not restart, and the current game is not practice.
    assert json.loads(get(server.url + "api/guide")[2])["finished"] and len(session.past.games()) == 1
    assert session.view()["version"] == len(up_to(3))
