"""The evening book in a browser: past games are shown, and reading it has no effect on others."""

from __future__ import annotations

import json
import re

import pytest
from pageviews import picture, until
from playwright.sync_api import expect
from test_page_access import violations
from webtable import EVENTS, PLAYERS, get, post

from scoring.events import GameEnded


@pytest.fixture
def two(serve):
    """A whole game that is over and one begun after it by others, on the table."""
    session, server = serve(0)
    session.commit((*EVENTS, GameEnded()), confidence=0.9, asked=False)
    first = session.game, session.view()
    setup = {"players": [{"name": "Emil", "colour": "green"}, {"name": "Fée", "colour": "blue"}], "edition": "zman2012",
             "expansions": ["base"]}
    session.command({"do": "new_game", "setup": setup})
    return session, server, first


def test_the_book_is_served_and_looking_changes_nothing(two):
    session, server, (game, last) = two
    url = f"{server.url}api/book"
    book = json.loads(get(url)[2])
    old = next(g for g in book["games"] if g["game"] == game)
    final = last["final"]
    assert [p["score"] for p in old["players"]] == final["totals"] and old["winners"] == final["winners"]
    (listed,) = [g for g in json.loads(get(f"{server.url}api/games")[2])["games"] if g["game"] == game]
    assert listed["scores"] == final["totals"] and listed["winners"] == final["winners"]
    one = f"{url}/games/{game}"
    for path, kind in (("", "application/json"), ("/luck", "application/json"), ("/game.json", "application/json"),
                       ("/scores.csv", "text/csv"), ("/game.jcz", "application/json"), ("/board.png", "image/png"),
                       ("/handover.svg", "image/svg+xml")):
        status, headers, body = get(one + path)
        assert status == 200 and headers["Content-Type"].startswith(kind) and body, path
    assert get(f"{url}/games/99")[0] == get(f"{one}/film.webm")[0] == get(f"{one}/picture.jpg")[0] == 404
    assert get(f"{url}/games/{session.game}/handover.svg")[0] == 404  # not over
    assert get(f"{url}/book.csv")[2].decode().count("\n") == 1 + len(PLAYERS)
    assert session.game != game and session.view()["phase"] == "playing"
    status, answer = post(url, {"do": "merge", "player": "ben", "into": "anna"})
    assert status == 200 and answer["merged"] == {"ben": "anna"}
    assert post(url, {"do": "remove", "player": "nobody"})[0] == 404


def test_a_film_is_sent_in_pieces_as_phones_ask_for_it(two):
    session, server, (game, _) = two
    film = session.films._folder / f"{game}.webm"
    film.parent.mkdir()
    film.write_bytes(bytes(range(200)))
    status, headers, body = get(f"{server.url}api/book/games/{game}/film.webm", Range="bytes=10-19")
    assert status == 206 and body == bytes(range(10, 20)) and headers["Content-Type"] == "video/webm"
    assert "attachment" in get(f"{server.url}api/book/games/{game}/film.webm?download=1")[1]["Content-Disposition"]


UNCOVERED = """(() => { const box = (el) => el.getBoundingClientRect();
    const buttons = [...document.querySelectorAll(".zoom button")].filter((b) => b.offsetWidth).map(box);
    const tiles = [...document.querySelectorAll(".evening-board .tile")].map(box);
    return buttons.length && tiles.every((t) => buttons.every((b) =>
      b.right < t.left + 3 || b.left > t.right - 3 || b.bottom < t.top + 3 || b.top > t.bottom - 3)); })()"""


def test_an_evening_is_found_looked_through_and_nobody_else_sees_it(two, visit):
    session, server, (game, last) = two
    page, other = visit(server.url, 390, 844), visit(server.url)
    page.locator("[data-key='bar.more']").click()
    page.locator("[data-key='menu.games']").click()
    winner = last["players"][last["final"]["winners"][0]]
    row = page.locator(f"[data-key='game-{game}']")
    expect(row).to_contain_text(f"{winner['name']} wins")
    expect(row).to_contain_text(f"{winner['name']} {last['final']['totals'][winner['index']]}")
    row.click()
    page.wait_for_url(re.compile(rf"/book/{game}$"))
    expect(page.locator(".winner")).to_contain_text(winner["name"])
    expect(page.locator(".evening-board .tile")).to_have_count(len(last["board"]["tiles"]))
    expect(page.locator("svg.chart")).to_be_visible()
    for width, height in ((1280, 800), (740, 360), (390, 844)):  # no tile lies under a button of the zoom
        page.set_viewport_size({"width": width, "height": height})
        until(page, UNCOVERED)
    # the bar: an earlier turn has fewer tiles and the scores of then
    page.locator(".scrub").focus()
    page.keyboard.press("Home")
    expect(page.locator(".evening-board .tile")).to_have_count(2)
    expect(page.locator(".scrub-scores b")).to_have_text(["0"] * len(PLAYERS))
    page.keyboard.press("End")
    expect(page.locator(".scrub-scores b")).to_have_text([str(n) for n in last["final"]["totals"]])
    # proof, luck only when asked, the link that hands it on
    page.locator(".awards .event").first.click()
    expect(page.locator(".proof-text")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".luck")).to_have_count(0)
    page.locator("[data-key='luck']").click()
    expect(page.locator(".luck li")).to_have_count(len(PLAYERS))
    page.locator("[data-key='hand']").click()
    expect(page.locator("[data-key='hand-link']")).to_have_attribute("href", session.book.game(game)["handover"])
    until(page, "document.querySelector('.handing-code').naturalWidth > 0")
    page.keyboard.press("Escape")
    picture(page, "book-game-phone")
    assert not violations(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1")
    assert session.game != game  # nobody's table has changed
    expect(other.locator(".tiles .tile")).to_have_count(1)
    page.locator("[data-key='reopen']").click()
    page.locator("[data-key='reopen-go']").click()
    expect(other.locator(".tiles .tile")).to_have_count(len(last["board"]["tiles"]))  # only when it was asked for
    assert session.game == game


def test_players_are_merged_and_removed_on_the_page(two, visit):
    session, server, (game, _) = two
    page = visit_book(visit, server.url)
    assert not violations(page)
    expect(page.locator(".standings tbody tr")).to_have_count(len(PLAYERS))
    page.locator("[data-key='person-ben']").click()
    page.locator("[data-key='into']").select_option("anna")
    page.locator("[data-key='merge']").click()
    expect(page.locator(".standings tbody tr")).to_have_count(len(PLAYERS) - 1)
    page.locator("[data-key='person-anna']").click()
    page.locator("[data-key='part-ben']").click()
    expect(page.locator(".standings tbody tr")).to_have_count(len(PLAYERS))
    page.locator("[data-key='remove']").click()
    page.locator("[data-key='remove']").click()  # asked twice
    expect(page.locator("[data-key='person-anna']")).to_have_count(0)
    expect(page.locator(".evening-row").last).not_to_contain_text("Anna")
    page.locator("[data-key='back-anna']").click()
    expect(page.locator("[data-key='person-anna']")).to_have_count(1)


def visit_book(visit, url):
    page = visit(url)
    page.goto(f"{url}book")
    page.locator(".evening-row").first.wait_for()
    return page
