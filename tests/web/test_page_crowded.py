"""Long names, every script, six players, messages, small screens: nothing is cut off, nothing covers the board."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pageviews import picture
from webtable import JPEG

from bastide.log.store import Store
from bastide.table.session import TableSession
from scoring.engine import legal_placements
from scoring.events import Player, Setup, TilePlaced
from scoring.rules import edition
from web.app import create_app
from web.server import PageServer

expect = pytest.importorskip("playwright.sync_api").expect

NAMES = ("Maximiliane-Wilhelmine von und zu Hohenstein", "محمد", "🦄🦄", "王小明", "Zoë <b>&amp;", "أ")
COLOURS = ("red", "blue", "yellow", "green", "black", "grey")
CUT = """() => [...document.querySelectorAll(
    "#bar button, #status button, .tool, .sheet-acts button, .score, .choices .action")]
  .filter((b) => b.checkVisibility()).map((b) => [b, b.getBoundingClientRect()])
  .filter(([b, r]) => b.scrollWidth > b.clientWidth + 1 || r.left < 0 || r.right > innerWidth)
  .map(([b]) => b.textContent)"""


@pytest.fixture
def crowded(tmp_path: Path) -> Iterator[tuple[TableSession, PageServer]]:
    players = tuple(Player(name=n, colour=c) for n, c in zip(NAMES, COLOURS, strict=True))
    setup = Setup(players=players, rules=edition(), expansions=("base", "inns", "traders", "dragon", "tower"))
    with Store(tmp_path / "table.sqlite") as store:
        session = TableSession(store, setup)
        at, rot = legal_placements(session.state, "base.E")[0]
        session.commit((TilePlaced(player=0, tile="base.E", at=at, rot=rot),), confidence=0.5, asked=True, crop=JPEG)
        session.set_status("camera_lost", "the camera cannot be reached at http://192.168.1.30:8080/", "camera_gone")
        with PageServer(create_app(session), port=0) as server:
            yield session, server


@pytest.mark.parametrize("language", ["de-DE", "fr-FR"])
def test_nothing_is_cut_off_on_any_screen(crowded: Any, visit: Any, language: str) -> None:
    _, server = crowded
    page = visit(server.url, locale=language)
    for size in ((1280, 800), (1024, 768), (800, 1280), (390, 844), (844, 390)):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        for put_off in (False, True):
            if put_off:
                page.locator("[data-key='later']").click()
                expect(page.locator("#sheet")).to_be_hidden()
            assert not page.evaluate(CUT), (size, put_off)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), size
        picture(page, f"crowded-{size[0]}x{size[1]}-{language[:2]}")
        page.locator("#bar .questions").click()


def test_names_are_text_in_any_script(crowded: Any, visit: Any) -> None:
    _, server = crowded
    page = visit(server.url)
    assert page.locator(".name-text").all_text_contents() == list(NAMES)
    letters = page.locator(".player .meeple-letter").all_text_contents()
    assert len(set(letters)) == len(NAMES) and letters[1] == "م"
    looks = page.evaluate(
        "() => [...document.querySelectorAll('.player .meeple-pattern')].map((p) => p.getAttribute('fill'))")
    assert len(looks) == len(set(looks)) == len(NAMES), "each has a pattern"


def test_messages_leave_the_board_to_be_seen(crowded: Any, visit: Any) -> None:
    session, server = crowded
    for size in ((1280, 800), (390, 844)):
        page = visit(server.url, *size)
        page.keyboard.press("Escape")
        message = page.locator("#issues")
        expect(message).to_contain_text("Camera lost")
        covered = """() => { const m = document.querySelector("#issues").getBoundingClientRect();
          return [...document.querySelectorAll(".tile .tile-rim")].map((t) => t.getBoundingClientRect())
            .some((t) => t.left < m.right && m.left < t.right && t.top < m.bottom && m.top < t.bottom); }"""
        assert not page.evaluate(covered), size
        page.locator("#issues").get_by_role("button", name="Hide").click()
        expect(message).to_be_hidden()
