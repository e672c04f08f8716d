"""The ``~`` beside a score: a tap on it asks what makes it uncertain, also what nobody is asked about."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pageviews import picture

from bastide.log.store import Store
from bastide.table.session import TableSession
from scoring.events import Player, Setup, parse_event
from scoring.log import Settled
from scoring.rules import edition
from web.app import create_app
from web.server import PageServer

expect = pytest.importorskip("playwright.sync_api").expect

NOBODY = {"en-GB": "Nobody there", "de-DE": "Niemand da", "fr-FR": "Personne"}
SCREENS = {"phone": (390, 844), "tablet": (1280, 800)}


@pytest.fixture
def doubtful(tmp_path) -> Iterator[tuple[TableSession, PageServer]]:
    """Anna completed a city where the camera is nine tenths sure that nobody stood: nobody is asked."""
    with Store(tmp_path / "table.sqlite") as store:
        session = TableSession(store, Setup(players=(Player(name="Anna", colour="red"),
                                                     Player(name="Ben", colour="blue")), rules=edition("zman2012")))
        session.set_status("watching")
        (tile,) = session.commit((parse_event("tile 0 base.E 0,-1 2"),), confidence=0.99, asked=False)
        session.commit((), confidence=0.9, asked=False, settles=tile)
        session.commit((parse_event("tile 1 base.V 1,0 1"),), confidence=0.99, asked=False)
        with PageServer(create_app(session), port=0) as server:
            yield session, server


def marked(session: TableSession) -> list[int]:
    return [p["index"] for p in session.view()["players"] if p["uncertain"]]


@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("locale", NOBODY)
def test_a_claim_that_nobody_is_asked_about_is_denied_in_two_taps(doubtful, visit, screen, locale):
    session, server = doubtful
    page = visit(server.url, *SCREENS[screen], locale=locale)
    assert not session.view()["questions"] and marked(session) == [0]
    expect(page.locator("#sheet:not([hidden])")).to_have_count(0)
    page.locator("[data-key='settle-0']").click()
    nobody = page.locator("#sheet.question:not([hidden]) [data-key='choice-0']")
    expect(nobody).to_contain_text(NOBODY[locale])
    picture(page, f"doubt-{screen}-{locale[:2]}")
    nobody.click()
    expect(page.locator("#sheet:not([hidden])")).to_have_count(0)
    expect(page.locator("#players .about")).to_have_count(0)
    expect(page.locator("[data-key='settle-0']")).to_have_count(0)
    assert isinstance(session.entries[-1].body, Settled) and session.entries[-1].source == "hand"
    assert marked(session) == [] and [p["score"] for p in session.view()["players"]] == [0, 0]


def test_the_tile_asks_too_and_a_claim_scores_in_its_turn(doubtful, visit):
    session, server = doubtful
    page = visit(server.url)
    page.locator("[id='at-0--1'] use").first.click()
    page.locator("#sheet.fix [data-key='doubt']").click()
    page.locator("#sheet.question:not([hidden]) [data-key='choice-1']").click()
    expect(page.locator(".player[data-player='0'] .score-number")).to_have_text("4")
    assert marked(session) == [] and not session.view()["issues"]
    assert session.view()["players"][0]["supply"]["follower"] == 7, "it has come home"


def test_the_score_is_a_target_for_a_finger(doubtful, visit):
    _, server = doubtful
    page = visit(server.url, 390, 844)
    reach: dict[str, Any] = page.locator("[data-key='settle-0']").evaluate("""el => {
        const box = el.getBoundingClientRect(), y = box.top + box.height / 2;  // it reaches to the left
        const hit = (x, dy) => el.contains(document.elementFromPoint(box.right - x, y + dy));
        return { wide: hit(1, 0) && hit(22, 0) && hit(43, 0), high: hit(1, -21) && hit(1, 21) }; }""")
    assert reach == {"wide": True, "high": True}


def test_a_television_offers_nothing_to_tap(doubtful, visit):
    _, server = doubtful
    page = visit(f"{server.url}/tv", 1920, 1080)
    expect(page.locator("#players .about")).to_have_count(1)
    expect(page.locator("[data-key='settle-0']")).to_have_count(0)
