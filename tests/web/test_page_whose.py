"""A question goes to the player whose move it is about; everybody else sees a badge, and several wait in a queue."""

from __future__ import annotations

import pytest
from webtable import JPEG, PLAYERS, misread, up_to

from scoring.engine import fold, legal_placements
from scoring.events import Setup, TilePlaced
from scoring.rules import edition

expect = pytest.importorskip("playwright.sync_api").expect


def whose(page, name):
    """Say in the menu whose device it is."""
    page.locator("[data-key='bar.more']").click()
    page.locator(f"#sheet [data-key='pick-{name}']").click()
    page.keyboard.press("Escape")
    expect(page.locator("#sheet")).to_be_hidden()


def test_only_the_players_device_is_asked(serve, visit):
    n, wrong, true = misread()
    session, server = serve(n)
    mine = PLAYERS[true.player].name
    pages = {name: visit(server.url) for name in (mine, PLAYERS[true.player - 1].name, "-")}
    for name, page in pages.items():
        whose(page, name)
    table = visit(server.url)
    session.commit((wrong,), confidence=0.55, asked=True, crop=JPEG, alternatives=(((wrong,), 0.55), ((true,), 0.4)))
    assert session.view()["questions"][0]["player"] == true.player
    for page in (pages.pop(mine), table):
        expect(page.locator("#sheet.question")).to_be_visible()
        expect(page.locator("#sheet .whose")).to_contain_text(mine)
    for page in pages.values():
        expect(page.locator("#bar .questions")).to_contain_text("1 question")
        expect(page.locator(f".player[data-player='{true.player}'] .asks")).to_have_count(1)
        expect(page.locator(".asks")).to_have_count(1)
        expect(page.locator("#sheet")).to_be_hidden()
    page = pages["-"]
    page.locator("#bar .questions").click()  # who wants to may answer
    page.locator("[data-key='choice-1']").click()
    expect(table.locator("#sheet")).to_be_hidden()
    expect(page.locator(".asks")).to_have_count(0)
    assert session.view()["questions"] == []


def test_several_questions_are_a_queue(serve, visit):
    session, server = serve(8)
    setup = Setup(players=PLAYERS, rules=edition("zman2012"))
    laid = list(up_to(8))
    for kind in ("base.U", "base.V", "base.W"):
        state = fold(setup, tuple(laid))
        at, rot = legal_placements(state, kind)[0]
        event = TilePlaced(player=len(laid) % 4, tile=kind, at=at, rot=rot)
        laid.append(event)
        session.commit((event,), confidence=0.5, asked=True, crop=JPEG, alternatives=(((event,), 0.5),))
    asked = [q["id"] for q in session.view()["questions"]]
    assert len(asked) == 3
    page = visit(server.url)
    expect(page.locator("[data-key='pass']")).to_contain_text("2 more")
    seen = []
    for _ in range(3):
        seen.append(page.locator("#sheet .crop").get_attribute("src"))
        page.locator("[data-key='pass']").click()
    assert seen == [f"/api/crops/{seq}.jpg" for seq in asked]  # all of them, in turn
    for src in seen:
        expect(page.locator("#sheet .crop")).to_have_attribute("src", src)
        page.locator("[data-key='choice-0']").click()
    expect(page.locator("#sheet")).to_be_hidden()
    assert session.view()["questions"] == []
