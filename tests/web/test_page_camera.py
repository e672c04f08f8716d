"""The camera's view, its notices, the first steps, and random taps."""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np
import pytest
from pageviews import LIVE, picture, until
from test_page import shows
from test_page_access import violations
from webtable import after

from bastide.watching.notices import rows
from reading.noticing import Notice

expect = pytest.importorskip("playwright.sync_api").expect

SIDE = 100


def square(at: tuple[int, int]) -> list[list[int]]:
    x, y = 500 + SIDE * at[0], 300 + SIDE * at[1]
    return [[x, y], [x + SIDE, y], [x + SIDE, y + SIDE], [x, y + SIDE]]


class Seen:
    """A frame and its watcher, as far as the page is told of them: two tiles, one reading taken and one refused."""

    bgr = np.full((720, 1280, 3), 90, np.uint8)

    def report(self, size: tuple[int, int]) -> dict[str, Any]:
        read = {"corners": square((0, -1)), "up": [550, 200], "tile": "base.U", "rot": 1, "like": 0.93, "old": False}
        return {"size": list(size), "moving": [[[0, 0], [200, 0], [200, 90]]],
                "tiles": [{"at": list(at), "corners": square(at)} for at in ((0, 0), (0, -1))],
                "open": [{"at": [1, 0], "corners": square((1, 0))}],
                "readings": [{**read, "at": [1, 0], "corners": square((1, 0)), "like": 0.31, "taken": False,
                              "legal": True, "options": []},
                             {**read, "at": [0, -1], "taken": True, "legal": True,
                              "options": [["base.U", 1, 0.8], ["base.V", 0, 0.2]]}],
                "figures": [{"at": [0, -1], "outline": [[520, 220], [560, 220], [540, 270]], "player": 1, "sure": 0.97,
                             "lying": 0.0, "why": ""},
                            {"at": [0, -1], "outline": [[570, 240], [590, 240], [580, 260]], "player": None,
                             "sure": 0.0, "lying": 0.0, "why": "colour"}]}


def test_what_the_camera_sees_is_drawn_and_it_can_rest(serve, visit):
    session, server = serve(6)
    with session.seeing.attached():
        session.seeing.seen()
        session.seeing.offer(Seen(), Seen())
        page = visit(server.url)
        page.locator("#bar .chip").click()
        page.locator(".camera-svg image").wait_for()
        assert page.locator("polygon.laid-square:not(.casing)").count() == 2
        assert page.locator("polygon.moving:not(.casing)").count() == 1
        expect(page.locator(".read.taken text")).to_have_text("✓ 80%")
        expect(page.locator(".read.refused text")).to_have_text("✗ 31%")  # what was refused is shown as well
        expect(page.locator(".silhouette.refused")).to_have_count(1)
        expect(page.locator(".camera-options li")).to_have_count(2)
        expect(page.locator(".camera-about")).to_contain_text("Ben's figure, standing")
        picture(page, "camera-seen")
        assert not violations(page)
        page.locator("[data-key='layer-readings']").click()
        expect(page.locator(".read")).to_have_count(0)
        page.locator(".camera-target").last.dispatch_event("click")
        expect(page.locator(".camera-about")).to_contain_text("matches by 31%")
        page.locator("[data-key='camera-switch']").click()
        expect(page.locator("[data-key='camera-switch']")).to_contain_text("Watch again")
        assert session.seeing.rests
        session.set_status("paused")
        page.locator("[data-key='camera-add']").click()
        expect(page.locator("#camera")).to_be_hidden()
        expect(page.locator("#sheet.add")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.locator(".gap").first).to_be_attached()  # people may lay tiles where they like
        page.locator("#bar .chip").click()
        page.locator("[data-key='camera-switch']").click()
        expect(page.locator("[data-key='camera-switch']")).to_contain_text("Pause")
        assert not session.seeing.rests


@pytest.mark.parametrize("size", [(1280, 800), (390, 844)], ids=["tablet", "phone"])
def test_what_is_to_be_put_right_is_told_with_its_pictures(serve, visit, size):
    session, server = serve(12)
    bright = np.full((8, 8, 3), 200, np.uint8)
    told = [Notice(code="take_back", at=(0, -1), player=1, feature="city", where="N"),
            Notice(code="out_of_step", at=(0, 0), before=bright, now=bright)]
    page = visit(server.url, *size, locale="de-DE")
    session.set_notices(*rows(told, session.setup.players))
    box = page.locator("#issues.notice")
    expect(box).to_contain_text("Ritter von Ben ist gewertet")
    picture(page, f"notice-{size[0]}")
    box.get_by_role("button", name="Verbergen").click()
    expect(box).to_contain_text("liegt anders als im Spiel")
    until(page, "[...document.querySelectorAll('#issues img')].filter((i) => i.naturalWidth).length === 2")
    picture(page, f"notice-pictures-{size[0]}")
    assert not violations(page)
    assert box.bounding_box()["height"] < size[1] * 0.2, "the board stays to be seen"
    session.set_notices([], {})
    expect(page.locator("#issues")).to_be_hidden()


def test_first_steps_are_kept_by_the_table_and_nothing_is_proved_by_being_passed(serve, visit):
    session, server = serve(0)
    page = visit(server.url, locale="fr-FR")
    page.locator("[data-key='feed-begin']").click()
    body = page.locator("#begin .begin-body")
    for title in ("Langue et code", "Caméra", "Orienter", "Objectif et table", "Vos tuiles", "Vos figurines",
                  "Joueurs et règles"):
        expect(body.locator("h3").first).to_have_text(title)
        page.locator("[data-key='begin-next']").click()
    expect(body.locator("h3").first).to_have_text("Une route de trois tuiles")
    expect(page.locator("#begin .dot.is-done")).to_have_count(0)
    expect(page.locator("#begin .dot.is-skipped")).to_have_count(7)
    expect(body.locator(".practice .done")).to_have_count(0)
    picture(page, "practice")
    session.commit(after(0)[:2], confidence=0.99, asked=False)  # the camera sees it happen
    expect(body.locator(".practice .done")).not_to_have_count(0)
    other = visit(server.url, locale="de-DE")  # another device that wants it goes on where this one was
    other.locator("[data-key='feed-begin']").click()
    expect(other.locator("#begin .begin-body h3").first).to_have_text("Eine Straße aus drei Plättchen")
    other.locator("[data-key='step-6']").click()
    other.locator("[data-key='begin-players']").click()
    expect(other.locator("#setup h2")).to_have_text("Neues Spiel")
    other.keyboard.press("Escape")  # and another view closes it only for as long as it is open
    expect(other.locator("#begin .begin-body h3").first).to_have_text("Mitspieler und Regeln")


def test_an_earlier_game_is_gone_on_with(serve, visit):
    session, server = serve(9)
    page, other = visit(server.url), visit(server.url, 390, 844)
    shows(page, session)
    first = session.game
    page.locator("[data-key='bar.more']").click()
    page.locator("[data-key='menu.new']").click()
    page.locator("[data-key='start']").click()
    expect(other.locator(".tiles .tile")).to_have_count(1)
    page.locator("[data-key='bar.more']").click()
    page.locator("[data-key='menu.games']").click()
    expect(other.locator(".tiles .tile")).to_have_count(1)
    page.locator(f"[data-key='go-{first}']").click()
    expect(other.locator(".tiles .tile")).not_to_have_count(1)  # the game of before has more
    assert session.game == first
    for device in (page, other):
        shows(device, session)


def test_hands_that_press_everything_break_nothing(serve, visit):
    """Random taps, and a move now and then: no script fails, and in the end the page is right."""
    session, server = serve(20)
    page = visit(server.url)
    rng = random.Random(5)
    coming = list(after(20))
    for n in range(120):
        if n % 12 == 5 and coming:
            session.commit((coming.pop(0),), confidence=0.9, asked=n % 24 == 5)
        if n % 30 == 17:
            page.set_viewport_size({"width": 800, "height": 1280} if n % 60 == 17 else {"width": 1280, "height": 800})
        page.evaluate("""(draw) => {
          const all = [...document.querySelectorAll("button, .gap, .choice, .segment, .tile, select, .camera-target")]
            .filter((b) => b.checkVisibility() && !b.disabled && !["menu.tv", "start"].includes(b.dataset.key)
              && !/^(pick|begin)-(en|de|fr)$/.test(b.dataset.key ?? ""));
          const chosen = all[Math.floor(draw * all.length)];
          chosen.dispatchEvent(new MouseEvent("click", { bubbles: true, clientX: 400, clientY: 300 }));
        }""", rng.random())
    page.set_viewport_size({"width": 1280, "height": 800})
    page.reload()
    page.wait_for_selector("body[data-ready] .tile")
    page.keyboard.press("Escape")
    shows(page, session)
    expect(page.locator("#bar .chip")).to_contain_text(re.compile("Watching|check|over"))


def test_every_large_view_is_left_with_escape(serve, visit):
    _, server = serve(5)
    page = visit(server.url)
    for name, root in (("camera", "#camera"), ("begin", "#begin"), ("setup", "#setup")):
        LIVE[name](page)
        page.keyboard.press("Escape")
        expect(page.locator(root)).to_be_hidden()


def test_what_is_tapped_twice_is_done_once_and_the_badge_opens_its_question(serve, visit):
    session, server = serve(6)
    page = visit(server.url)
    page.locator("[data-key='bar.add']").click()
    page.locator(".gap").first.focus()
    page.keyboard.press("Enter")
    page.locator(".kinds .tile-button:not(.gone)").first.click()
    page.evaluate("() => { const use = document.querySelector(\"[data-key='use']\"); use.click(); use.click(); }")
    expect(page.locator(".tiles .tile")).to_have_count(8)
    page.locator("#sheet .segment").first.wait_for()
    assert len([e for e in session.view()["history"] if e["kind"] == "tile"]) == 7 and not session.view()["issues"]
    session.commit((after(6)[0],), confidence=0.5, asked=True)
    page.locator("#bar .questions").click()  # another sheet is open
    expect(page.locator("#sheet.question")).to_be_visible()


def test_the_screen_is_kept_on_where_a_page_may_ask_for_it(serve, visit):
    _, server = serve(3)
    page = visit(server.url)
    page.evaluate("""() => { window.held = 0;
      Object.defineProperty(navigator, "wakeLock", { value: { request: async () => {
        held += 1; return { released: false, async release() { this.released = true; held -= 1; } }; } } }); }""")
    page.locator("[data-key='bar.more']").click()
    page.locator("[data-key='awake']").click()
    expect(page.locator("[data-key='awake']")).to_have_attribute("aria-pressed", "true")
    assert page.evaluate("held") == 1
    page.locator("[data-key='awake']").click()
    expect(page.locator("[data-key='awake']")).to_have_attribute("aria-pressed", "false")
    assert page.evaluate("held") == 0


def test_problems_are_spoken_like_scores(serve, visit):
    session, server = serve(10)
    page = visit(server.url)
    page.evaluate("() => { window.said = []; speechSynthesis.speak = (u) => said.push(u.text); }")
    page.locator("[data-key='bar.more']").click()
    page.locator("[data-key='speech']").click()
    until(page, "said.length === 1")
    session.set_status("camera_lost", "gone", "camera_gone")
    until(page, "said.includes('Camera lost')")
    session.set_status("watching")
    session.commit((after(10)[0],), confidence=0.5, asked=True)
    until(page, "said.some((text) => text.startsWith('1 question'))")
    told = page.evaluate("said.length")
    session.set_status("hand")  # nothing new
    expect(page.locator("#bar .chip")).to_contain_text("Hand")
    assert page.evaluate("said.length") == told


def test_a_tap_is_heard_though_the_game_goes_on_under_the_finger(serve, visit):
    session, server = serve(6)
    page = visit(server.url)
    for key, coming in (("bar.history", after(6)[0]), ("close", after(6)[1])):
        box = page.locator(f"[data-key='{key}']").bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.mouse.down()
        session.set_status("hand" if key == "close" else "reading")
        session.commit((coming,), confidence=0.98, asked=False)
        shows(page, session)
        page.mouse.up()
        expect(page.locator("#sheet.history")).to_be_visible(visible=key == "bar.history")
    expect(page.locator("#bar .chip")).to_contain_text("Hand")  # and what waited is drawn
