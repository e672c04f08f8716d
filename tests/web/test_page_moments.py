"""Scoring is animated: the feature glows, its tiles count up, its figures go home, the number rolls."""

from __future__ import annotations

import re

import pytest
from pageviews import until
from test_page import tile
from webtable import after, misread

expect = pytest.importorskip("playwright.sync_api").expect
HEARD = """window.heard = 0; const Real = window.OscillatorNode;
  window.OscillatorNode = class extends Real { start(...a) { window.heard += 1; super.start(...a); } };"""
TAPPED = """(el) => { const r = el.querySelector("use").getBoundingClientRect();
  const at = { clientX: r.x + r.width / 2, clientY: r.y + r.height / 2, pointerId: 1, bubbles: true };
  for (const kind of ["pointerdown", "pointerup"]) el.dispatchEvent(new PointerEvent(kind, at)); }"""
ROLLED = """() => { window.rolled = [0, 1, 2, 3].map(() => new Set());
  new MutationObserver(() => document.querySelectorAll(".score-number").forEach((e, n) => rolled[n].add(e.textContent)))
    .observe(document.querySelector("#players"), { childList: true, characterData: true, subtree: true }); }"""


@pytest.fixture
def moving(chromium):
    """Open the page on a device that shows movement, with a clock that the test turns."""
    contexts = []

    def go(url, width=1280, height=800):
        contexts.append(chromium.new_context(viewport={"width": width, "height": height}))
        page = contexts[-1].new_page()
        page.add_init_script(HEARD)
        with page.expect_response(lambda answer: answer.url.endswith("sound.js")):
            page.goto(url)
        page.wait_for_selector(".tile")
        return page

    yield go
    for context in contexts:
        context.close()


def until_scored(session, tiles, pages=(), least=4):
    """Lay on until a road or a city of so many tiles is finished by a follower's owner; the event. It is news of its
    own for the ``pages``: they have shown all before it, while others may get several scores with one view."""
    for event in after(tiles):
        for page in pages:
            expect(page.locator("body")).to_have_attribute("data-version", str(session.view()["version"]))
        before = session.view()["feed"]
        session.commit((event,), confidence=0.98, asked=False)
        feed = session.view()["feed"]
        if len(feed) > len(before) and feed[-1]["tiles"] >= least and len(feed[-1]["points"]) == 1:
            return feed[-1]
    raise AssertionError("nothing was finished")


def test_a_score_is_seen_on_every_screen(serve, moving):
    session, server = serve(39)
    tablet, television = moving(server.url), moving(server.url + "tv", 1920, 1080)
    for page in (tablet, television):
        page.clock.install(time=0)
        page.clock.pause_at(2)
        page.evaluate(ROLLED)
    event = until_scored(session, 39, (tablet, television))
    won = event["points"][0]["player"]
    scores = [sum(p["points"] for e in session.view()["feed"][:n] for p in e["points"] if p["player"] == won)
              for n in range(len(session.view()["feed"]) + 1)]
    for page in (tablet, television):
        expect(page.locator(".moment .light")).to_have_count(1)
        expect(page.locator(".moment .number")).to_have_text([str(n + 1) for n in range(event["tiles"])])
        expect(page.locator(".moment .points-flag")).to_have_text(f"+{event['points'][0]['points']}")
        expect(page.locator(".moment .going")).to_have_count(1)
        page.clock.run_for(500)
        page.clock.run_for(700)
        expect(page.locator(".moment .going")).to_have_count(0)  # on its way, and then there
        page.clock.run_for(2000)
        expect(page.locator(".moment > *")).to_have_count(0)
        expect(page.locator(".homing")).to_have_count(0)
        expect(page.locator(f".player[data-player='{won}'] .score")).to_have_text(
            re.compile(rf"^~?{session.view()['players'][won]['score']}$"))
        shown = page.evaluate(f"[...rolled[{won}]]")
        assert len(shown) > len(set(scores)), (shown, scores)  # numbers that were never a score: they rolled
    page.clock.run_for(3000)
    expect(television.locator(".veil")).to_have_count(1)  # then a screen that nobody touches points at it


def test_nothing_moves_for_who_asked_for_rest(serve, visit):
    session, server = serve(39)
    page = visit(server.url)
    event = until_scored(session, 39)
    expect(page.locator("#feed .event").first).to_contain_text(event["formula"].replace(" x ", " × "))
    expect(page.locator(".moment > *, .homing")).to_have_count(0)


def test_a_wrong_tile_is_tapped_as_soon_as_it_appears(serve, moving):
    n, wrong, true = misread()
    session, server = serve(n)
    page = moving(server.url)
    session.commit((wrong,), confidence=0.55, asked=False, alternatives=(((wrong,), 0.55), ((true,), 0.4)))
    expect(tile(page, wrong.at)).to_have_class(re.compile("new"))
    tile(page, wrong.at).evaluate(TAPPED)  # where it is seen at this moment, landing or not
    page.locator("#sheet.fix").wait_for()
    assert page.evaluate("document.querySelector('.cursor-rim').closest('.cursor') !== null")
    page.locator("[data-key='other']").wait_for()


def test_an_optional_soft_sound_on_the_television_too(serve, moving):
    session, server = serve(39)
    television, tablet = moving(server.url + "tv", 1920, 1080), moving(server.url)
    television.locator("#sound").click()
    expect(television.locator("#sound")).to_have_attribute("aria-pressed", "true")
    first = television.evaluate("heard")
    until_scored(session, 39)
    until(television, f"heard > {first}")
    expect(tablet.locator(".moment .light").or_(tablet.locator(".score.changed")).first).to_be_attached()
    assert first > 0 and tablet.evaluate("heard") == 0  # each device for itself
