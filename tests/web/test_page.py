"""The page in a real browser, used like at the table."""

from __future__ import annotations

import re
import threading
from dataclasses import replace

import pytest
from hand import looks
from webtable import EVENTS, JPEG, after, misread

from scoring.events import FigurePlaced
from web.app import create_app
from web.catalogue import tiles
from web.server import PageServer

expect = pytest.importorskip("playwright.sync_api").expect


def shows(page, session):
    """Wait until the page shows the session's newest board and scores."""
    view = session.view()
    expect(page.locator(".tiles .tile")).to_have_count(len(view["board"]["tiles"]))
    for n, p in enumerate(view["players"]):
        expect(page.locator(f".player[data-player='{n}'] .score")).to_have_text(re.compile(rf"^~?{p['score']}$"))
    expect(page.locator(".figures .figure")).to_have_count(len(view["board"]["figures"]))


def tile(page, at):
    return page.locator(f"[id='at-{at[0]}-{at[1]}']")


def tap(page, at):
    """Tap the middle of a square, as a finger would."""
    box = tile(page, at).locator(".tile-rim, use").first.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def read_wrong(session, wrong, true, *, asked):
    """Commit the wrong reading; the true one is its second candidate."""
    (seq, *_) = session.commit((wrong,), confidence=0.55, asked=asked, crop=JPEG,
                               alternatives=(((wrong,), 0.55), ((true,), 0.4)))
    return seq


def test_a_game_plays_and_every_page_follows(serve, visit):
    session, server = serve(2)
    tablet, phone = visit(server.url), visit(server.url, 390, 844)
    shows(tablet, session)
    for event in after(2)[:60]:
        session.commit((event,), confidence=0.98, asked=False)
    shows(tablet, session)
    shows(phone, session)
    last = session.view()["feed"][-1]
    expect(tablet.locator("#feed .event").first).to_contain_text(last["formula"].replace(" x ", " × "))
    expect(tablet.locator(".tile.last")).to_have_count(1)
    expect(tablet.locator("#bar .chip")).to_contain_text("Watching")
    session.set_status("hand")
    expect(tablet.locator("#bar .chip")).to_contain_text("Hand over the table")
    expect(phone.locator("#status .chip")).to_contain_text("Hand over the table")


def test_who_laid_a_tile_is_one_tap(serve, visit):
    n, wrong, _ = misread()
    session, server = serve(n)
    page = visit(server.url)
    other = replace(wrong, player=(wrong.player + 1) % 4)
    session.commit((wrong,), confidence=0.9, asked=True, crop=JPEG, alternatives=(((wrong,), 0.6), ((other,), 0.4)))
    expect(page.locator("#sheet.question h2")).to_have_text("Who laid this tile?")
    name = session.view()["players"][other.player]["name"]
    page.get_by_role("button", name=f"{name}, {name} · 40").click()
    expect(page.locator("#sheet")).to_be_hidden()
    assert session.view()["questions"] == [] and session.state.tiles[wrong.at].player == other.player


def test_that_no_tile_lies_there_is_one_tap(serve, visit):
    n, wrong, _ = misread()
    session, server = serve(n)
    page = visit(server.url)
    session.commit((wrong,), confidence=0.6, asked=True, crop=JPEG, alternatives=(((wrong,), 0.6), ((), 0.4)))
    page.get_by_role("button", name="No tile here · 40").click()
    expect(tile(page, wrong.at)).to_have_count(0)
    assert session.view()["questions"] == [] and wrong.at not in session.state.tiles


def test_a_wrong_tile_is_mended_in_two_taps_and_the_scores_follow(serve, visit):
    n, wrong, true = misread()
    session, server = serve(n)
    seq = read_wrong(session, wrong, true, asked=False)
    page, other = visit(server.url), visit(server.url)
    shows(page, session)
    before = [p["score"] for p in session.view()["players"]]
    tap(page, wrong.at)                                                                   # first tap
    page.locator(f".candidate[data-tile='{true.tile}'][data-rot='{true.rot}']").click()   # second tap
    for device in (page, other):
        expect(tile(device, true.at)).to_have_attribute("data-tile", true.tile)
        shows(device, session)
    assert [p["score"] for p in session.view()["players"]] != before
    entry = next(e for e in session.view()["history"] if e["seq"] == seq)
    assert entry["amended"] and (entry["tile"], entry["rot"]) == (true.tile, true.rot)
    page.locator("#toast button").click()  # and back
    expect(tile(other, true.at)).to_have_attribute("data-tile", wrong.tile)


def test_a_question_is_put_off_and_answered(serve, visit):
    n, wrong, true = misread()
    session, server = serve(n)
    page, other = visit(server.url), visit(server.url)
    read_wrong(session, wrong, true, asked=True)
    expect(page.locator("#sheet.question")).to_be_visible()
    expect(page.locator(".score .about")).not_to_have_count(0)
    expect(page.locator("#bar .chip")).to_contain_text("Please check")
    page.locator("[data-key='later']").click()
    expect(page.locator("#sheet")).to_be_hidden()
    page.locator("#bar .questions").click()
    page.locator("[data-key='choice-1']").click()
    for device in (page, other):  # everybody's sheet goes
        expect(tile(device, true.at)).to_have_attribute("data-tile", true.tile)
        expect(device.locator("#sheet")).to_be_hidden()
        expect(device.locator(".asked")).to_have_count(0)
    assert session.view()["questions"] == []


def test_any_other_tile_and_its_follower_by_hand(serve, visit):
    n, wrong, true = misread()
    session, server = serve(n)
    read_wrong(session, wrong, true, asked=False)
    page = visit(server.url)
    shows(page, session)
    tap(page, wrong.at)
    page.locator("[data-key='other']").click()
    page.locator(f".kinds .tile-button[data-tile='{true.tile}']").click()
    kind = tiles(session.view()["expansions"])[true.tile]
    ghost = page.locator("#ghost")  # it is shown where it will lie, and turned there
    for _ in range(4):
        if looks(kind, int(ghost.get_attribute("data-rot"))) == looks(kind, true.rot):
            break
        ghost.focus()
        page.keyboard.press("Enter")
    page.locator("[data-key='use']").click()
    expect(tile(page, true.at)).to_have_attribute("data-tile", true.tile)
    assert looks(kind, int(tile(page, true.at).get_attribute("data-rot"))) == looks(kind, true.rot)
    figures = len(session.view()["board"]["figures"])
    tap(page, true.at)
    page.locator(".segment").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".figures .figure")).to_have_count(figures + 1)
    page.locator("[data-key='nofollower']").click()
    expect(page.locator(".figures .figure")).to_have_count(figures)
    page.locator("[data-key='remove']").click()
    expect(page.locator(".staged b")).to_contain_text(re.compile(r"[+-]\d"))  # what it would change, before it is saved
    expect(tile(page, true.at)).to_have_count(1)
    page.locator("[data-key='save']").click()
    expect(tile(page, true.at)).to_have_count(0)
    expect(page.locator("#sheet")).to_be_hidden()
    shows(page, session)


def test_a_whole_turn_by_hand(serve, visit):
    session, server = serve(6)
    page = visit(server.url)
    shows(page, session)
    page.get_by_role("button", name="Add", exact=True).click()
    page.locator(".gap").first.focus()
    page.keyboard.press("Enter")
    page.locator(".kinds .tile-button:not(.gone)").first.click()
    page.locator("[data-key='use']").click()
    expect(page.locator(".tiles .tile")).to_have_count(8)
    assert session.view()["history"][-1]["source"] == "hand"
    page.locator("#sheet .segment").first.focus()  # and the follower with it
    page.keyboard.press("Enter")
    expect(page.locator("#sheet [data-key='end']")).to_be_enabled()
    page.locator("#sheet [data-key='end']").click()
    expect(page.locator("#sheet [data-key='end']")).to_be_disabled()
    assert [e["kind"] for e in session.view()["history"][-2:]] == ["tile", "deploy"]
    figures, undo = len(session.view()["board"]["figures"]), page.get_by_role("button", name="Undo", exact=True).first
    undo.click()  # the turn is open again
    expect(page.locator("#sheet [data-key='end']")).to_be_enabled()
    undo.click()
    expect(page.locator(".figures .figure")).to_have_count(figures - 1)
    undo.click()
    expect(page.locator(".tiles .tile")).to_have_count(7)


def test_a_page_that_lost_the_table_comes_back_right(serve, visit):
    session, _ = serve(10)
    with PageServer(create_app(session), port=0) as first:
        page = visit(first.url)
        shows(page, session)
    expect(page.locator("#bar .chip")).to_contain_text("Reconnecting")
    for event in after(10)[:30]:
        session.commit((event,), confidence=0.98, asked=False)
    with PageServer(create_app(session), port=first.port):
        shows(page, session)
        expect(page.locator("#bar .chip")).to_contain_text("Watching")
        session.set_status("reading")
        expect(page.locator("#bar .chip")).to_contain_text("Reading")


def test_without_a_stream_the_page_polls(serve, visit):
    session, server = serve(4)
    streams = server._app.extensions["streams"]
    streams._most = 0
    page = visit(server.url)
    session.commit(after(4)[:1], confidence=0.98, asked=False)
    shows(page, session)
    assert len(streams) == 0


def test_a_tapped_score_is_shown_on_the_board(serve, visit):
    session, server = serve(40)
    page = visit(server.url)
    shows(page, session)
    feed = session.view()["feed"][::-1]
    n, event = next((n, e) for n, e in enumerate(feed) if n and e["feature"] != "cloister")
    lit = len({tuple(p[:2]) for p in event["places"]})
    page.locator("#feed li").nth(n).locator(".event").click()
    expect(page.locator(".veil")).to_have_count(1)
    expect(page.locator(".board .outline").first.locator("> g")).to_have_count(lit)
    for place in (".board", ".proof-picture"):
        expect(page.locator(f"{place} .number")).to_have_count(event["tiles"])
    page.keyboard.press("Escape")
    expect(page.locator(".veil")).to_have_count(0)


def test_the_keyboard_reaches_every_tile(serve, visit):
    session, server = serve(12)
    page = visit(server.url)
    shows(page, session)
    page.locator(".board").focus()
    page.keyboard.press("ArrowUp")
    focused = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert "column" in focused
    page.keyboard.press("Enter")
    expect(page.locator("#sheet")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#sheet")).to_be_hidden()
    farms = page.locator("[data-key='tool-farms']")
    farms.focus()
    page.keyboard.press("Enter")
    expect(farms).to_have_attribute("aria-pressed", "true")
    expect(farms).to_be_focused()


def test_what_is_touched_is_large_enough(serve, visit):
    session, server = serve(30)
    for width, height in ((1280, 800), (390, 844)):
        page = visit(server.url, width, height)
        shows(page, session)
        tap(page, next(e.at for e in EVENTS if isinstance(e, FigurePlaced)))
        expect(page.locator("#sheet")).to_be_visible()
        for box in page.evaluate("""() => [...document.querySelectorAll("button")].filter((b) => b.checkVisibility())
                                    .map((b) => [b.className, b.offsetWidth, b.offsetHeight])"""):
            assert box[1] >= 48 and box[2] >= 48, box
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    score = visit(server.url).locator(".score").first.evaluate("e => parseFloat(getComputedStyle(e).fontSize)")
    assert score >= 64


def test_two_people_at_once(serve, visit):
    """A move seen by the camera between looking and tapping does not get in the way of a correction."""
    n, wrong, true = misread()
    session, server = serve(n)
    read_wrong(session, wrong, true, asked=False)
    page = visit(server.url)
    shows(page, session)
    tap(page, wrong.at)
    expect(page.locator(".candidate").first).to_be_visible()
    seen = threading.Event()

    def late(route):  # the camera commits while the command is on its way
        if not seen.is_set():
            seen.set()
            session.commit((after(n + 1)[0],), confidence=0.9, asked=False)
        route.continue_()

    page.route("**/api/commands", late)
    page.locator(f".candidate[data-tile='{true.tile}'][data-rot='{true.rot}']").click()
    expect(tile(page, true.at)).to_have_attribute("data-tile", true.tile)
    shows(page, session)
