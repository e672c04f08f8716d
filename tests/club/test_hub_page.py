"""The hub's page in a real browser: cards that follow, one table in full, the wall, three languages."""

from __future__ import annotations

import re

import pytest
from brokers import QUICK, Mosquitto
from clubtables import TWO, ClubTable, moves
from pageviews import picture

from bastide.club.game_round import GameRound
from bastide.club.hub import Hub
from bastide.club.results import Results
from bastide.log.store import Store
from bastide.table.session import TableSession
from scoring.events import Setup
from scoring.rules import edition
from web.access import Access
from web.app import create_app
from web.hub import create_hub
from web.server import PageServer


@pytest.fixture
def club(tmp_path):
    """A broker, a hub's page and two tables, the second of which can be sent away."""
    with Mosquitto(tmp_path) as broker, Results(tmp_path / "hub") as results, \
            Hub(broker.address, results, pace=QUICK) as hub, \
            PageServer(create_hub(hub.hall, results, hub.organiser, door=Access()), port=0) as server, \
            ClubTable(tmp_path / "a", broker, "Table 4", commands=True) as one, \
            ClubTable(tmp_path / "b", broker, "Table 12") as other:
        one.play(*moves()[:6])
        other.play(*moves(4)[:4])
        yield server, one, other, broker


def test_what_happens_at_the_tables_is_seen_in_the_room(club, open_page):
    from playwright.sync_api import expect

    server, one, other, broker = club
    page = open_page(server.url, 390, 844, locale="de-DE")
    cards = page.locator(".card")
    expect(cards).to_have_count(2)
    expect(cards.locator("h2")).to_have_text(["Table 4", "Table 12"])
    expect(cards.first.locator(".heard")).to_have_text(re.compile(r"vor \d+ s gemeldet"))
    before = cards.first.locator("use[href^='#plain-']").count()
    one.play(*moves()[6:])
    laid = len(one.session.view()["board"]["tiles"])
    expect(cards.first.locator("use[href^='#plain-']")).to_have_count(laid)
    assert laid > before
    expect(cards.first.locator(".points")).to_have_text([str(p["score"]) for p in one.session.view()["players"]])
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    picture(page, "hub-phone")

    cards.first.click()
    expect(page.locator(".spectator .tile")).to_have_count(laid)
    expect(page.locator(".spectator .score")).to_have_text([str(p["score"]) for p in one.session.view()["players"]])
    one.session.command({"do": "undo"})
    expect(page.locator(".spectator .score")).to_have_text([str(p["score"]) for p in one.session.view()["players"]])

    page.goto(server.url + "#")
    broker.kill()
    expect(page.locator("#link")).to_have_text("Der Broker antwortet nicht: zu sehen ist der letzte Stand")
    broker.start()
    expect(page.locator("#link")).to_be_empty()
    other.publisher.__exit__(None, None, None)
    expect(page.locator(".card.silent h2")).to_have_text("Table 12")


def test_the_organiser_begins_a_round_and_the_wall_shows_it(club, open_page):
    from playwright.sync_api import expect

    server, one, other, _ = club
    one.session.command({"do": "end_game"})
    page = open_page(server.url + "#rounds", 1024, 768, locale="fr-FR")
    page.on("dialog", lambda d: d.accept())
    page.locator("textarea").fill("round,table,player1,player2\n1,4,=Zoé<b>,Ben\n1,,Eva,\n")
    page.get_by_role("button", name="Reprendre ces rondes").click()
    expect(page.locator(".round h2")).to_contain_text("Ronde 1")
    page.get_by_role("button", name="Commencer").click()
    expect(page.locator(".round.open")).to_have_count(1)
    wall = open_page(server.url + "wall?lang=en", 1920, 1080)
    expect(wall.locator(".card").first.locator(".who")).to_have_text(["=Zoé<b>", "Ben"])
    expect(wall.locator(".clock").first).to_have_text("15:00")
    picture(wall, "hub-wall")
    one.play(*moves(5, 5))
    one.session.command({"do": "end_game"})
    one.session.command({"do": "reveal", "step": "end"})
    for player in (0, 1):
        one.session.command({"do": "confirm", "player": player})
    expect(page.locator(".round.open td.people .won").first).to_be_visible()
    expect(page.locator(".standings tbody tr")).to_have_count(3)
    page.locator("textarea").evaluate("e => e.closest('details').open = true")
    page.locator("textarea").fill("nonsense")
    page.get_by_role("button", name="Reprendre ces rondes").click()
    expect(page.locator("#hub > .warn")).to_contain_text("round,table,player1,player2")
    picture(page, "hub-rounds")


def test_at_the_table_the_clock_is_pressed_and_the_result_confirmed(tmp_path, open_page):
    from playwright.sync_api import expect

    with Store(tmp_path / "log.sqlite") as store:
        session, rounds = TableSession(store, Setup(players=TWO, rules=edition())), GameRound(tmp_path)
        session.play_rounds(rounds)
        with PageServer(create_app(session), port=0) as server:
            page = open_page(server.url, 390, 844, locale="de-DE")
            page.locator(".tile").first.wait_for()
            expect(page.locator("#round")).to_be_hidden()
            rounds.carry_out(session, {"do": "begin_round", "round": {
                "id": "x", "number": 3, "clock_s": 900,
                "players": [{"name": "Zoe", "colour": "red"}, {"name": "Ben", "colour": "blue"}]}})
            expect(page.locator(".round-clock b")).to_have_text(["15:00", "15:00"])
            page.get_by_role("button", name="Uhr starten").click()
            expect(page.locator(".round-clock").first).to_have_class(re.compile("runs"))
            page.get_by_role("button", name="Uhr weitergeben").click()
            expect(page.locator(".round-clock").nth(1)).to_have_class(re.compile("runs"))
            late = open_page(server.url, 1280, 800, locale="en-GB")  # a view from before, a clock of now
            expect(late.locator(".round-clock").nth(1)).to_have_class(re.compile("runs"))
            session.command({"do": "end_game"})
            session.command({"do": "reveal", "step": "end"})  # a result that was not revealed cannot be confirmed
            page.get_by_role("button", name="Zoe: 0 stimmt").click()
            expect(page.locator(".agreed")).to_have_text(re.compile("Zoe hat bestätigt"))
            late.get_by_role("button", name="Ben: 0 is right").click()
            expect(page.locator("#round .note")).to_have_text(
                "Alle sind einverstanden. Die Turnierleitung hat das Ergebnis.")
            assert session.game_round()["confirmed"] == [True, True]
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
