"""The final scoring on several screens at once: no screen shows the winner early."""

from __future__ import annotations

import re

import pytest
from screens import NOTICE
from webtable import JPEG, misread

expect = pytest.importorskip("playwright.sync_api").expect


def ended(serve, tiles=71):
    session, server = serve(tiles)
    before = [p["score"] for p in session.view()["players"]]
    session.command({"do": "end_game"})
    final = session.view()["final"]
    return session, server, before, final, [e for stage in final["stages"] for e in stage["events"]]


def rows(page, scores):
    expect(page.locator(".player .score")).to_have_text([re.compile(rf"^~?{score}$") for score in scores])


def silent(page, session):
    """The page does not reveal the winner."""
    scores = [int(re.sub(r"\D", "", text)) for text in page.locator(".player .score").all_inner_texts()]
    totals = session.view()["final"]["totals"]
    assert "wins" not in page.locator("body").inner_text() and scores != totals
    expect(page.locator(".totals, .chart, .awards")).to_have_count(0)


def test_all_screens_walk_together_and_the_winner_comes_last(serve, visit):
    session, server, scores, final, steps = ended(serve, 30)
    tablet, television = visit(server.url), visit(server.url + "tv", 1920, 1080)
    for page in (tablet, television):
        expect(page.locator("#reveal")).to_be_visible()
        rows(page, scores)
        silent(page, session)
    for n, step in enumerate(steps):
        tablet.locator("#reveal [data-key='next']").click()
        for won in step["points"]:
            scores[won["player"]] += won["points"]
        for page in (tablet, television):
            expect(page.locator(".walk-stage span")).to_have_text(f"{n + 1} of {len(steps)}")
            expect(page.locator(".veil")).to_have_count(1)
            expect(page.locator("#reveal .formula").first).to_have_text(step["formula"].replace(" x ", " × "))
            rows(page, scores)
    late = visit(server.url, 390, 844)  # whoever comes now is where everybody is
    expect(late.locator(".walk-stage span")).to_have_text(f"{len(steps)} of {len(steps)}")
    expect(late.locator("#reveal")).to_contain_text("Another device controls")
    best = session.view()["players"][final["winners"][0]]["name"]
    tablet.locator("#reveal [data-key='next']").click()
    for page in (tablet, television, late):
        expect(page.locator("#reveal .winner")).to_contain_text(f"{best} wins")
    tablet.locator("#reveal [data-key='next']").click()
    for page in (tablet, television, late):
        expect(page.locator(".totals tfoot td")).to_have_text([str(n) for n in final["totals"]])
        expect(page.locator(".veil")).to_have_count(0)
        rows(page, final["totals"])
    expect(television.locator(".chart")).to_be_visible()
    session.set_notices([{**NOTICE, "before": "/static/icon.svg", "now": "/static/icon.svg"}], {})
    expect(television.locator("#issues.notice")).to_be_visible()  # beside the small board, whole
    assert television.evaluate("(e => e.scrollWidth <= e.clientWidth)(document.querySelector('#issues'))")
    session.set_notices([], {})
    tablet.locator("[data-key='walk']").click()  # once more
    expect(television.locator(".walk-stage span")).to_have_text(f"1 of {len(steps)}")


def test_another_device_takes_the_lead_and_a_remote_walks(serve, visit):
    session, server, *_ = ended(serve)
    tablet, television = visit(server.url), visit(server.url + "tv", 1920, 1080)
    television.keyboard.press("ArrowRight")
    expect(tablet.locator(".walk-stage span")).to_contain_text("1 of")
    television.keyboard.press("PageDown")
    expect(tablet.locator(".walk-stage span")).to_contain_text("2 of")
    tablet.locator("[data-key='take']").click()
    expect(television.locator(".walk-stage span")).to_contain_text("3 of")
    assert session.view()["reveal"]["lead"]
    tablet.locator("[data-key='back']").click()
    expect(television.locator(".walk-stage span")).to_contain_text("2 of")
    tablet.locator("[data-key='proof']").click()  # a look at the proof, and the feature is lit again
    expect(tablet.locator("#sheet.proof")).to_be_visible()
    tablet.keyboard.press("Escape")
    expect(tablet.locator(".veil")).to_have_count(1)
    tablet.locator("[data-key='skip']").click()
    expect(television.locator(".totals")).to_be_visible()


def test_the_timer_goes_on_by_itself(serve, visit):
    session, server, *_ = ended(serve)
    page = visit(server.url)
    page.clock.install()
    page.locator("[data-key='timer']").click()
    expect(page.locator(".walk-stage span")).to_contain_text("1 of")
    page.clock.run_for(6000)
    expect(page.locator(".walk-stage span")).to_contain_text("2 of")
    page.locator("[data-key='timer']").click()  # and waits for a tap again
    page.clock.run_for(20000)
    assert session.view()["reveal"]["step"] == 1


def test_open_questions_come_first(serve, visit):
    n, wrong, true = misread()
    session, server = serve(n)
    session.commit((wrong,), confidence=0.55, asked=True, crop=JPEG, alternatives=(((wrong,), 0.55), ((true,), 0.4)))
    page = visit(server.url)
    page.locator("[data-key='later']").click()
    session.command({"do": "end_game"})
    expect(page.locator("#reveal")).to_contain_text("1 question comes first")
    silent(page, session)
    page.locator("[data-key='answer']").click()
    page.locator("[data-key='choice-1']").click()
    expect(page.locator("#reveal")).not_to_contain_text("question")
    assert session.view()["questions"] == [] and session.view()["reveal"]["step"] == -1


def test_an_end_said_by_hand_tells_no_totals(serve, visit):
    session, server = serve(40)
    page = visit(server.url)
    page.get_by_role("button", name="Add", exact=True).click()
    for _ in range(2):  # asked whether that is so
        page.locator("#sheet [data-key='over']").click()
    expect(page.locator("#reveal")).to_be_visible()
    assert session.view()["phase"] == "over"
    silent(page, session)
    toast = page.locator("#toast").inner_text() if page.locator("#toast").is_visible() else ""
    assert not re.search(r"\d", toast), toast


def test_points_reach_the_bars_after_the_feature_was_seen(serve, chromium):
    """With motion: the feature first, the sum, then the rows."""
    session, server, scores, _, steps = ended(serve)
    page = chromium.new_context(viewport={"width": 1280, "height": 800}).new_page()
    page.goto(server.url)
    page.wait_for_selector("#reveal:not([hidden])")
    page.clock.install()
    page.locator("#reveal [data-key='next']").click()
    won = steps[0]["points"][0]
    expect(page.locator(f".player[data-player='{won['player']}'] .pending")).to_have_text(f"+{won['points']}")
    rows(page, scores)
    page.clock.run_for(4000)
    rows(page, [s + sum(p["points"] for p in steps[0]["points"] if p["player"] == n) for n, s in enumerate(scores)])
    widths = page.locator(".race i").evaluate_all("els => els.map((e) => parseFloat(e.style.inlineSize))")
    assert max(widths) == 100 and min(widths) < 100
    page.context.close()
