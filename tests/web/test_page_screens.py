"""The page on screens of every shape: nothing cut, covered or empty; states and errors are shown."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pageviews import picture, until
from screens import NAMES, NOTICE, SCORES, SCREENS, ask, dressed, look
from webtable import JPEG, get, misread

from bastide.log.store import Store
from scoring.engine import legal_placements
from scoring.events import TilePlaced
from web.app import create_app
from web.server import PageServer

expect = pytest.importorskip("playwright.sync_api").expect

PLAYERS = [{"name": "Anna", "colour": "red"}, {"name": "Ben", "colour": "blue"}]
SAMPLE = ("phone-small", "phone-flat-low", "tablet-small", "tablet-small-200")


@pytest.fixture
def table(tmp_path):
    """Six people with long names and scores of three digits."""
    with Store(tmp_path / "t.sqlite") as store:
        session = dressed(store, NAMES["wide"], SCORES["three"])
        with PageServer(create_app(session), port=0) as server:
            yield session, server


def test_a_sample_of_the_matrix(table, visit):
    """All of it: ``python benchmarks/page_matrix.py``."""
    session, server = table
    page, found = visit(server.url, locale="de-DE"), []

    def see(view: str) -> None:
        for name in SAMPLE:
            page.set_viewport_size(dict(zip(("width", "height"), SCREENS[name], strict=True)))
            found.extend(f"{name} {view}: {fault}" for fault in look(page))
            picture(page, f"screen-{name}-{view}")

    see("live")
    session.set_notices([NOTICE], {})
    page.locator("#issues[data-code='take_back']").wait_for()
    see("notice")
    session.set_notices([], {})
    ask(session)
    page.locator("#sheet.question:not([hidden])").wait_for()
    assert not page.get_by_text("0 %", exact=True).count(), "what is next to impossible is not offered"
    see("question")
    television = visit(server.url + "tv", *SCREENS["tv-small"])
    found += [f"tv: {fault}" for fault in look(television, tv=True)]
    session.command({"do": "end_game"})
    for step, told in ((0, ".walk-stage"), ("end", "body.told .totals")):
        session.command({"do": "reveal", "step": step})
        for screen in (page, television):
            screen.locator(told).wait_for()
        see(f"reveal {step}")
        found += [f"tv reveal {step}: {fault}" for fault in look(television, tv=True)]
    assert not found


def test_whoever_looks_sees_what_is_wrong(table, visit):
    """The matrix detects faults: a name that is cut, a score that is covered, a page that is too wide."""
    _, server = table
    page = visit(server.url)
    for style, fault in (("grid-template-columns: auto 60px auto", "name cut"), ("translate: 0 -30px", "over"),
                         ("width: 3000px", "")):
        page.evaluate("(style) => document.querySelectorAll('.player').forEach((p) => { p.style.cssText += style; })",
                      style)
        assert any(fault in said for said in look(page)), style
        page.evaluate("() => document.querySelectorAll('.player').forEach((p) => { p.style.cssText = ''; })")


def test_what_is_shown_of_a_notice_is_put_away_again(table, visit):
    session, server = table
    page = visit(server.url)
    session.set_notices([NOTICE], {})
    show = page.locator("[data-key='issue-show']")
    for away in (show.click, lambda: page.keyboard.press("Escape"), lambda: page.mouse.click(200, 780 - 100),
                 lambda: session.set_notices([], {})):
        show.click()
        expect(page.locator(".veil")).to_have_count(1)
        away()
        expect(page.locator(".veil")).to_have_count(0)
        page.keyboard.press("Escape")


def test_the_first_answer_has_the_scores_and_nothing_waits_for_scripts(table, chromium):
    session, server = table
    context = chromium.new_context(locale="de-DE")
    page = context.new_page()
    page.route("**/*.js", lambda route: route.abort())
    page.goto(server.url)
    assert page.locator(".player .score").all_inner_texts() == ["~128", "104", "99", "166", "140", "~188"]
    assert page.locator(".name-text").all_inner_texts() == list(NAMES["wide"])
    expect(page.locator(".coming")).to_have_text("Das Spielfeld wird geladen …")
    context.close()
    session.command({"do": "end_game"})
    assert b"188" not in get(server.url)[2], "the end is told step by step"


def test_the_page_brings_its_fonts_and_is_light_or_dark_as_this_device_wants(table, visit):
    _, server = table
    page = visit(server.url, color_scheme="dark")
    page.evaluate("() => document.fonts.ready.then(() => true)")
    used = page.evaluate("() => [...document.fonts].filter((f) => f.status === 'loaded').map((f) => f.family)")
    assert {name.strip('"') for name in used} == {"bastide sans", "bastide serif"}
    ground = "() => getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    page.locator("[data-key='bar.more']").click()
    page.locator("[data-key='pick-theme-light']").click()
    assert page.evaluate(ground) != dark
    light = page.evaluate(ground)
    page.goto(server.url)
    page.wait_for_selector("body[data-ready] .tile")
    assert page.evaluate(ground) == light, "also when the page begins anew"
    page.locator("[data-key='bar.more']").click()
    page.locator("[data-key='pick-theme-']").click()
    assert page.evaluate(ground) == dark
    assert page.locator("[data-key='menu.overlay']").get_attribute("href") == "/overlay"


def test_the_board_is_seen_from_ones_own_seat(serve, visit):
    session, server = serve(12)
    page = visit(server.url)
    first, last = [p["at"] for p in (session.view()["board"]["tiles"][0], session.view()["board"]["tiles"][-1])]

    def apart() -> tuple[float, float]:
        a, b = (page.locator(f"[id='at-{at[0]}-{at[1]}'] use").bounding_box() for at in (first, last))
        return b["x"] - a["x"], b["y"] - a["y"]

    before = apart()
    page.locator("[data-key='bar.more']").click()
    page.locator("[data-key='menu.turn']").click()
    turned = apart()
    factor = (abs(turned[0]) + abs(turned[1])) / (abs(before[0]) + abs(before[1]))  # it may have another size now
    assert turned == pytest.approx((-before[1] * factor, before[0] * factor), abs=2)
    page.reload()
    page.wait_for_selector("body[data-ready] .tile")
    assert apart() == pytest.approx(turned, abs=2), "this device remembers it"
    box = page.locator(f"[id='at-{last[0]}-{last[1]}'] use").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.locator("#sheet.fix").wait_for()
    expect(page.locator("#sheet-title")).to_contain_text("turn 12")  # what is tapped is meant


def test_a_new_game_is_named_in_the_readers_language_and_shown_with_its_names(tmp_path, visit):
    from bastide.table.session import TableSession
    from bastide.table.setup import TWO
    from scoring.events import Setup
    from scoring.rules import edition
    with Store(tmp_path / "t.sqlite") as store:
        session = TableSession(store, Setup(players=TWO, rules=edition("zman2012")))
        with PageServer(create_app(session), port=0) as server:
            page = visit(server.url, 1400, 900, locale="de-DE")
            expect(page.locator(".bar-turn")).to_have_text("Zug 1: Red")
            page.locator("[data-key='bar.more']").click()
            page.locator("[data-key='menu.new']").click()
            names = page.locator("#setup input[type='text']")
            names.first.wait_for()
            assert [n.input_value() for n in names.all()] == ["Rot", "Blau"]
            names.first.fill("Anna")
            page.locator("[data-key='start']").click()
            expect(page.locator(".bar-turn")).to_have_text("Zug 1: Anna")


def test_what_cannot_lie_there_is_offered_last_and_with_a_warning(serve, visit):
    n, _, true = misread()
    session, server = serve(n)
    wrong = next(replace(true, tile=kind, rot=rot) for kind in ("base.C", "base.B") for rot in range(4)
                 if (true.at, rot) not in legal_placements(session.state, kind))
    session.commit((true,), confidence=0.5, asked=False, crop=JPEG,
                   alternatives=(((true,), 0.5), ((wrong,), 0.4)))
    page = visit(server.url)
    page.locator(f"[id='at-{true.at[0]}-{true.at[1]}']").focus()
    page.locator(".board").press("ArrowUp")
    page.keyboard.press("Enter")
    offered = page.locator("#sheet .candidate")
    offered.first.wait_for()
    bad = page.locator(f"#sheet .candidate.bad[data-tile='{wrong.tile}']")
    expect(bad).to_contain_text("does not fit")
    looks = page.evaluate("() => [...document.querySelectorAll('#sheet .candidate')].map((b) => b.matches('.bad'))")
    assert looks == sorted(looks), "what fits comes first"


def test_what_cannot_be_fetched_is_said(serve, visit):
    session, server = serve(3)
    page = visit(server.url)
    page.locator("[data-key='bar.more']").click()
    page.route("**/lazy/setup.js", lambda route: route.abort())
    page.locator("[data-key='menu.new']").click()
    expect(page.locator("#toast")).to_contain_text("No connection to the table")


def test_nothing_meets_on_the_shared_picture(table, visit):
    """Drawn as it will be shared: no text over another, none beyond the picture."""
    _, server = table
    page = visit(server.url)
    boxes: list[list[Any]] = page.evaluate("""async () => {
      const { card } = await import("/static/js/lazy/share.js");
      const view = await (await fetch("/api/state")).json();
      const board = { svg: document.querySelector(".board"), view: { box: { x: -3, y: -3, width: 7, height: 7 } } };
      const svg = card({ view, aid: "coach", board });
      document.body.replaceChildren(svg);
      await document.fonts.ready;
      const origin = svg.getBoundingClientRect();
      return [...svg.querySelectorAll(":scope > text, .card-name, .card-score, .card-award")].map((t) => {
        const r = t.getBoundingClientRect(), { left, top } = origin;
        return [t.textContent, r.left - left, r.top - top, r.right - left, r.bottom - top]; });
    }""")
    assert len(boxes) >= 2 * len(NAMES["wide"]) + 2
    for n, (text, left, top, right, bottom) in enumerate(boxes):
        assert left >= 0 and top >= 0 and right <= 1200 and bottom <= 1000, text
        slack = (bottom - top) * 0.25  # a line is higher than its letters
        for other, x, y, x2, y2 in boxes[n + 1:]:
            assert min(right, x2) <= max(left, x) or min(bottom, y2) - max(top, y) < slack, (text, other)


def test_the_page_brings_its_style(serve):
    _, server = serve(0)
    whole = get(server.url)[2]
    assert all(get(f"{server.url}static/css/{name}.css")[2] in whole for name in ("tokens", "players", "screens"))


def test_a_game_that_begins_while_another_ones_tiles_are_fetched_is_drawn_with_its_own(serve, visit):
    session, server = serve(3)
    session.set_status("manual")  # so that places for the next tile are shown, with how many kinds fit there
    page = visit(server.url)
    errors: list[str] = []
    page.on("pageerror", lambda e: errors.append(str(e)))
    page.add_init_script("""window.told = []; const add = EventSource.prototype.addEventListener;
        EventSource.prototype.addEventListener = function (kind, act) {
          add.call(this, kind, (e) => { act(e); window.told.push(e.data); }); };""")
    page.reload()
    page.wait_for_selector("body[data-ready] .tile")
    held: list[Any] = []
    page.route("**/api/tiles?*", lambda route: route.continue_() if held else held.append(route))

    def begin(box):
        session.command({"do": "new_game", "setup": {"players": PLAYERS, "edition": "zman2012", "rules": {},
                                                     "expansions": ["base", box]}})

    with page.expect_request("**/api/tiles?*"):
        begin("inns")
    begin("traders")
    kind = next(k for k in session.state.box.contents
                if k.startswith("traders.") and legal_placements(session.state, k))
    at, rot = next(iter(legal_placements(session.state, kind)))
    session.commit((TilePlaced(player=session.state.player, tile=kind, at=at, rot=rot),), confidence=0.99, asked=False)
    until(page, f"told.some((data) => data.includes('{kind}'))")  # the page knows of the newest game
    held[0].continue_()
    expect(page.locator(f".tile[data-tile='{kind}']")).to_have_count(1)
    assert not errors
