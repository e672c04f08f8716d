"""Tiles on a screen: the owner's own where there are pictures, else our drawings in their variants."""

from __future__ import annotations

import pytest
from webtable import PLAYERS, up_to

from bastide.log.store import Store
from bastide.table.session import TableSession
from bastide.tiles.art import ArtSets
from scoring.events import Setup
from scoring.rules import edition
from scoring.tiles import catalogue
from vision.artwork import draw_tile
from vision.images import encode_png
from web.app import create_app
from web.server import PageServer

expect = pytest.importorskip("playwright.sync_api").expect
KINDS = "RUV"  # of which there are pictures
USED = "els => els.map((e) => [e.closest('.tile').dataset.tile, e.getAttribute('href')])"

WIDTHS = """() => Promise.all([...document.querySelectorAll("#definitions image")].map(async (i) => {
  const loading = new Image();
  loading.src = i.getAttribute("href");
  await loading.decode();
  return loading.width; }))"""


@pytest.fixture
def owned(tmp_path):
    folder = tmp_path / "tiles" / "mine"
    folder.mkdir(parents=True)
    for letter in KINDS:
        for name in (letter, f"{letter}~2"):
            picture = draw_tile(catalogue()[f"base.{letter}"], 64, variant=len(name))
            (folder / f"base.{name}.png").write_bytes(encode_png(picture))
    with Store(tmp_path / "table.sqlite") as store:
        setup = Setup(players=PLAYERS, rules=edition("zman2012"))
        session = TableSession(store, setup, art="mine", arts=ArtSets(tmp_path, None))
        session.commit(up_to(40), confidence=0.98, asked=False)
        with PageServer(create_app(session), port=0) as server:
            yield session, server


def test_the_board_is_drawn_with_the_owners_tiles_and_each_device_may_choose(owned, visit):
    session, server = owned
    page, other = visit(server.url), visit(server.url)
    shown = page.locator("#definitions image")
    expect(shown.first).to_be_attached()
    loaded = page.evaluate(WIDTHS)
    assert set(loaded) == {192}
    laid = {f"base.{k}" for k in KINDS} & {p["tile"] for p in session.view()["board"]["tiles"]}
    pictured = set(shown.evaluate_all("els => els.map((e) => e.closest('[id]').id.replace(/--.*/, ''))"))
    assert laid and {f"tile-base-{kind[-1]}" for kind in laid} <= pictured
    page.locator("[data-key='bar.more']").click()
    page.locator("[data-key='pick-drawn']").click()
    expect(shown).to_have_count(0)
    expect(page.locator(".tiles .tile")).to_have_count(len(session.view()["board"]["tiles"]))
    expect(other.locator("#definitions image").first).to_be_attached()  # it is that device's choice
    page.reload()
    page.wait_for_selector(".tile")
    page.locator("[data-key='bar.more']").click()
    expect(page.locator("[data-key='pick-drawn']")).to_have_attribute("aria-pressed", "true")
    expect(shown).to_have_count(0)


def test_tiles_of_one_kind_are_not_all_alike_and_stay_as_they_are(serve, visit):
    session, server = serve(71)
    pages = [visit(server.url), visit(server.url)]
    used = [sorted(map(tuple, page.locator(".tiles .tile use").evaluate_all(USED))) for page in pages]
    assert used[0] == used[1]  # seeded by the square
    looks = {kind: {href for k, href in used[0] if k == kind} for kind, _ in used[0]}
    assert sum(len(found) > 1 for found in looks.values()) >= 5, looks
    missing = pages[0].evaluate("() => [...document.querySelectorAll('.tiles use')]"
                                ".filter((u) => !document.querySelector(u.getAttribute('href'))).length")
    assert missing == 0


def test_signs_are_pictures(serve, visit):
    session, server = serve(0)
    setup = {"players": [{"name": "A", "colour": "red"}, {"name": "B", "colour": "blue"}], "edition": "zman2012",
             "expansions": ["base", "inns", "traders", "dragon", "tower", "wheel"], "rules": {}}
    session.command({"do": "new_game", "setup": setup})
    page = visit(server.url)
    page.locator("[data-key='bar.left']").click()  # every kind there is
    page.locator("#sheet .kind").first.wait_for()
    signs = page.locator("#definitions .sign")
    kinds = set(signs.evaluate_all("els => els.map((e) => e.classList[1])"))
    assert kinds == {"inn", "wine", "grain", "cloth", "princess", "volcano", "dragon", "portal", "tower", "wheel_icon"}
    bare = signs.evaluate_all("els => els.filter((e) => !e.querySelector('path') || e.querySelector('text')).length")
    assert bare == 0
    nave = page.locator("#tile-inns-01 .abbey-wall").evaluate("e => e.getBBox().width * e.getCTM().a")
    assert nave > 0  # the cathedral has a size
