"""The table in words: followed and entered without seeing it, by names and keys."""

from __future__ import annotations

import re

import pytest
from listener import Listener
from playwright.sync_api import expect
from screens import NOTICE
from test_page_access import violations
from webtable import after, up_to

from scoring.engine import fold
from scoring.events import TilePlaced
from scoring.projection import running_scores

TURNS = 4


@pytest.mark.parametrize("language", ["en-GB", "de-DE", "fr-FR"])
def test_a_game_is_entered_and_its_end_followed_by_names_and_keys_alone(serve, visit, language):
    session, server = serve(0)
    page = visit(server.url, locale=language)
    listener = Listener(page, session)
    options = listener.names(".in-words select option")
    assert len(options) == len(set(options)) > 20  # no two kinds are called the same
    entered = []
    for event in up_to(TURNS):
        listener.enter(event)
        entered.append(event)
        if isinstance(event, TilePlaced):
            claims = listener.names("[data-key^='claim-']")
            assert len(claims) == len(set(claims)), claims
    state = fold(session.setup, entered)
    assert [p["score"] for p in session.view()["players"]] == list(running_scores(state))
    assert set(session.state.tiles) == set(state.tiles) and len(session.state.figures) == len(state.figures)
    assert not violations(page)
    page.locator("[data-key='spoken-others']").press("Enter")
    for _ in range(2):  # asked whether that is so
        page.locator("#sheet [data-key='over']").press("Enter")
    page.locator("#reveal [data-key='next']").wait_for()
    steps = [e for stage in session.view()["final"]["stages"] for e in stage["events"]]
    players = session.view()["players"]
    for n, step in enumerate(steps):
        page.locator("#reveal [data-key='next']").press("Enter")
        expect(page.locator("#said")).to_contain_text(re.compile(rf"^{n + 1} \w+ {len(steps)}\b"))
        for won in step["points"]:
            name, points = players[won["player"]]["name"], won["points"]
            expect(page.locator("#said")).to_contain_text(re.compile(rf"{name}\D* {points} "))
        expect(page.locator("#reveal [data-key='next']")).to_be_focused()
    page.keyboard.press("Enter")
    for winner in session.view()["final"]["winners"]:
        expect(page.locator("#said")).to_contain_text(players[winner]["name"])
    expect(page.locator("#reveal [data-key='next']")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#final h2")).to_be_focused()
    session.set_notices([NOTICE], {})  # what is read stays where it is when something else changes
    page.locator("#issues[data-code='take_back']").wait_for()
    expect(page.locator("#final h2")).to_be_focused()


def test_no_two_segments_of_a_tile_have_the_same_name(serve, visit):
    """Of any tile of any box, turned in any way."""
    _, server = serve(0)
    assert visit(server.url).evaluate("""async () => {
        const boxes = "base,river,inns,traders,dragon,tower,wheel", twice = [];
        const kinds = await (await fetch(`/api/tiles?expansions=${boxes}`)).json();
        const { segmentName } = await import("/static/js/words.js");
        for (const [id, kind] of Object.entries(kinds)) for (const rot of [0, 1, 2, 3]) {
          const names = kind.segments.filter((g) => g.path).map((g) => segmentName(g, rot));
          if (new Set(names).size < names.length) twice.push([id, rot, names]);
        }
        return twice; }""") == []


def test_every_feature_is_told_with_its_owner_and_its_worth(serve, visit):
    session, server = serve(20)
    page = visit(server.url)
    Listener(page, session)
    text = page.locator(".in-words").inner_text()
    view = session.view()
    for player in view["players"]:
        assert re.search(rf"{player['name']}: {player['score']} points?, followers in hand: "
                         rf"{player['supply']['follower']}\.", text), player
    unfinished = [f for f in view["features"] if f["kind"] in ("road", "city") and not f["complete"]]
    assert len(unfinished) > 3
    for feature in unfinished:
        owners = " and ".join(view["players"][n]["name"] for n in feature["owners"]) or "nobody"
        tiles = "tile" if feature["tiles"] == 1 else "tiles"
        assert f"{owners}: {feature['tiles']} {tiles}, {feature['points_now']} now, " \
            f"{feature['points_complete']} when finished. {feature['open']} open end" in text, feature


@pytest.mark.parametrize("language", ["de-DE", "fr-FR"])
def test_it_is_read_aloud_in_the_language_of_the_page(serve, visit, language):
    session, server = serve(12)
    page = visit(server.url, locale=language)
    page.evaluate("""() => { window.spoken = [];
        const voice = { cancel() {}, speak: (u) => spoken.push([u.lang, u.text]) };
        Object.defineProperty(window, "speechSynthesis", { value: voice });
        window.SpeechSynthesisUtterance = class { constructor(text) { this.text = text; } }; }""")
    Listener(page, session)
    page.locator("[data-key='aloud']").press("Enter")
    spoken = page.evaluate("spoken")
    assert {lang for lang, _ in spoken} == {language[:2]} and len(spoken) > 12
    text = " ".join(t for _, t in spoken)
    assert all(p["name"] in text for p in session.view()["players"])
    assert {"de-DE": "Enden", "fr-FR": "bouts"}[language] in text and " now" not in text


def test_what_the_camera_sees_is_announced_once(serve, visit):
    session, server = serve(10)
    page = visit(server.url)
    expect(page.locator("#skip")).to_be_attached()
    expect(page.locator("#feed")).to_have_attribute("aria-live", "off")
    said = page.locator("#said")
    expect(said).to_have_text("")
    coming = [e for e in after(10) if isinstance(e, TilePlaced)][0]
    session.commit((coming,), confidence=0.98, asked=False)
    name = session.view()["players"][coming.player]["name"]
    expect(said).to_contain_text(f"{name}: ")
    first = said.inner_text()
    session.set_status("hand")  # nothing has happened in the game
    expect(page.locator(".chip").first).to_contain_text("Hand")
    assert said.inner_text() == first
