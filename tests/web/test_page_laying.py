"""Laying a tile on the page: in its place on the board, what fits first, three taps, by finger, keys and ear."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hand import Hand, looks
from pageviews import picture
from recorded import OWN, load
from webtable import EVENTS, after, table

from bastide.log.store import Store
from bastide.table.session import TableSession
from scoring.engine import legal_placements, open_squares
from scoring.events import FigurePlaced, TilePlaced
from scoring.transcript import read
from web.app import create_app
from web.catalogue import tiles
from web.server import PageServer

expect = pytest.importorskip("playwright.sync_api").expect
FINGER = 44  # pixels
CLEAR = """([x, y]) => {  // whether the tile and those beside it are in sight, beside or above the sheet
  const [sheet, table] = ["sheet", "table"].map((id) => document.getElementById(id).getBoundingClientRect());
  return [[0, 0], [0, -1], [1, 0], [0, 1], [-1, 0]].every(([dx, dy]) => {
    const el = document.getElementById(dx || dy ? `at-${x + dx}-${y + dy}` : "ghost");
    if (!el) return true;
    const r = el.querySelector("use").getBoundingClientRect();
    const mx = (r.left + r.right) / 2, my = (r.top + r.bottom) / 2;
    const under = mx > sheet.left && mx < sheet.right && my > sheet.top && my < sheet.bottom;
    return !under && r.left >= table.left - 1 && r.right <= table.right + 1 && r.top >= table.top - 1
      && r.bottom <= table.bottom + 1;
  });
}"""


def square_px(page: Any) -> float:
    """How large a square of the board is on the screen."""
    return page.locator(".gap rect").first.bounding_box()["width"] / 0.9


def by_hand(serve: Any, tiles_laid: int) -> tuple[TableSession, PageServer]:
    session, server = serve(tiles_laid)
    session.set_status("manual")
    return session, server


@pytest.mark.parametrize("size", [(390, 844), (1280, 800)], ids=["phone", "tablet"])
def test_three_taps_lay_a_tile_and_one_a_follower(serve, visit, size):
    session, server = by_hand(serve, 20)
    page = visit(server.url, *size)
    hand = Hand(page, session)
    tile = next(e for e in after(20) if isinstance(e, TilePlaced))
    for n, at in enumerate(sorted(open_squares(session.state))):
        fits = [(kind, rot) for kind, left in session.view()["left"]["kinds"].items() if left
                for where, rot in legal_placements(session.state, kind) if where == at]
        if n > 3 and fits:
            break
    hand.place(f"[id='gap-{at[0]}-{at[1]}']", "#sheet.picker:not([hidden])")
    hand.taps = 1  # looking for the place is not laying
    button = page.locator(".kinds .tile-button").first
    chosen = button.get_attribute("data-tile")
    button.click()
    ghost = page.locator("#ghost")
    expect(ghost).to_have_attribute("data-tile", chosen)  # it is seen where it will lie, with what lies around it
    clear = page.evaluate(CLEAR, list(at))
    picture(page, f"ghost-{size[0]}")
    assert clear
    hand.key("use")
    expect(page.locator(f"[id='at-{at[0]}-{at[1]}']")).to_have_attribute("data-tile", chosen)
    expect(page.locator("#toast")).to_contain_text(f"{session.view()['players'][tile.player]['name']}: ")
    assert hand.taps == 2  # and the kind's button
    free = page.locator("#sheet.add .segment:not(.full)")
    hand.taps, figures = 0, len(session.view()["board"]["figures"])
    hand.segment(free.first.get_attribute("data-feature"), free.first.get_attribute("data-where"))
    assert hand.taps == 1
    expect(page.locator(".figures .figure")).to_have_count(figures + 1)


def test_a_tap_turns_it_and_what_does_not_fit_is_reachable_and_said(serve, visit):
    session, server = by_hand(serve, 12)
    page = visit(server.url)
    hand, kinds = Hand(page, session), tiles(session.view()["expansions"])
    at, kind, rots = next((at, kind, rots) for at in sorted(open_squares(session.state)) for kind in kinds
                          if session.view()["left"]["kinds"].get(kind)
                          and len(rots := {looks(kinds[kind], r) for w, r in legal_placements(session.state, kind)
                                           if w == at}) == 2)
    hand.place(f"[id='gap-{at[0]}-{at[1]}']", "#sheet.picker:not([hidden])")
    hand.kind(kind)
    ghost, seen = page.locator("#ghost"), []
    for _ in range(3):  # only through the turns that fit
        seen.append(int(ghost.get_attribute("data-rot")))
        assert hand.touch("#ghost use")
    assert {looks(kinds[kind], r) for r in seen} == rots and seen[0] == seen[2]
    page.locator("[data-key='any']").click()
    while not page.locator("#ghost.bad").count():
        page.locator("[data-key='turn']").click()
    expect(page.locator(".turning [role=status]")).to_contain_text("Does not fit its neighbour")
    expect(page.locator(".ghost-clash").first).to_be_attached()
    page.locator("[data-key='use']").click()
    expect(page.locator(f"[id='at-{at[0]}-{at[1]}']")).to_have_count(1)
    expect(page.locator("#issues")).to_contain_text("does not match")


def test_the_list_has_what_fits_and_is_filtered_by_a_road_on_the_left(serve, visit):
    session, server = by_hand(serve, 3)
    page = visit(server.url)
    hand, kinds, left = Hand(page, session), tiles(session.view()["expansions"]), session.view()["left"]["kinds"]
    at = next(at for at in sorted(open_squares(session.state)) if (at[0] - 1, at[1]) not in session.state.tiles)
    fit = {(kind, rot) for kind in kinds for where, rot in legal_placements(session.state, kind) if where == at}
    hand.place(f"[id='gap-{at[0]}-{at[1]}']", "#sheet.picker:not([hidden])")

    def listed() -> set[str]:
        return set(page.locator(".kinds .tile-button").evaluate_all("(all) => all.map((b) => b.dataset.tile)"))

    assert listed() == {kind for kind, _ in fit if left[kind]}
    while "road" not in page.locator("[data-key='filter-W']").inner_text():
        page.locator("[data-key='filter-W']").click()
    west = {kind for kind, rot in fit if left[kind] and kinds[kind]["edges"][(3 - rot) % 4] == "R"}
    assert listed() == west and west
    page.locator(".kinds .tile-button").first.click()
    shown = page.locator("#ghost")
    kind, rot = shown.get_attribute("data-tile"), int(shown.get_attribute("data-rot"))
    assert kinds[kind]["edges"][(3 - rot) % 4] == "R"  # and it lies that way round at once
    page.locator("[data-key='back']").click()
    while "…" not in page.locator("[data-key='filter-W']").inner_text():
        page.locator("[data-key='filter-W']").click()
    page.locator("[data-key='more']").click()
    assert listed() == {kind for kind, k in kinds.items() if k["count"]}


def test_no_square_is_smaller_than_a_finger_when_many_lie(tmp_path, visit):
    with Store(tmp_path / "many.sqlite") as store:
        session = table(store, 70)
        session.set_status("manual")
        with PageServer(create_app(session), port=0) as server:
            page = visit(server.url, 390, 844)
            assert len(session.view()["board"]["tiles"]) > 60
            assert square_px(page) >= FINGER
            page.locator("[data-key='whole']").click()  # all of it is seen; then a tap brings it closer first
            assert square_px(page) < FINGER
            hand = Hand(page, session)
            x, y = next(iter(sorted(open_squares(session.state))))
            assert hand.touch(f"[id='gap-{x}-{y}']")
            assert square_px(page) >= FINGER and not page.locator("#sheet.picker:not([hidden])").count()
            assert hand.touch(f"[id='gap-{x}-{y}']")
            expect(page.locator("#sheet.picker")).to_be_visible()
            sizes = page.locator("#sheet button").evaluate_all(
                "(all) => all.map((b) => [b.offsetWidth, b.offsetHeight])")
            assert min(map(min, sizes)) >= FINGER


def test_keys_and_a_screen_reader_are_enough(serve, visit):
    session, server = by_hand(serve, 0)
    page = visit(server.url)
    page.locator(".board").focus()
    page.keyboard.press("ArrowUp")  # the start tile
    page.keyboard.press("ArrowDown")
    gap = page.locator(".gap:focus")
    said = re.compile(r"^Gap south of the city, (\d+) kinds fit; column 0, row 1$")
    expect(gap).to_have_attribute("aria-label", said)
    n = int(said.match(gap.get_attribute("aria-label"))[1])
    kinds, left = tiles(session.view()["expansions"]), session.view()["left"]["kinds"]
    assert n == sum(any(w == (0, 1) for w, _ in legal_placements(session.state, k)) for k in kinds if left.get(k))
    page.keyboard.press("Enter")
    expect(page.locator("#sheet.picker h2")).to_be_focused()
    page.locator(".kinds .tile-button[data-tile='base.V']").focus()
    page.keyboard.press("Enter")
    expect(page.locator("[data-key='use']")).to_be_focused()
    expect(page.locator("#ghost")).to_have_attribute("aria-label", re.compile("road .*Tap to turn it"))
    before = page.locator("#ghost").get_attribute("data-rot")
    page.locator("#ghost").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#ghost")).not_to_have_attribute("data-rot", before)
    expect(page.locator("#ghost")).to_be_focused()
    page.locator("[data-key='use']").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#at-0-1")).to_have_attribute("data-tile", "base.V")
    segment = page.locator("#sheet.add .segment[data-feature='road']").first
    segment.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".figures .figure")).to_have_count(1)
    expect(page.locator("#toast[role=status]")).to_contain_text("Anna: thief on the road")


def test_a_game_is_entered_by_taps(tmp_path, visit):
    """A short game as a person enters it: the scores are those of the events."""
    with Store(tmp_path / "taps.sqlite") as store, Store(tmp_path / "told.sqlite") as other:
        session, told = table(store, 0), table(other, 0)
        session.set_status("manual")
        with PageServer(create_app(session), port=0) as server:
            hand = Hand(visit(server.url), session)
            laid = 0
            for event in EVENTS:
                laid += isinstance(event, TilePlaced)
                if laid > 14:
                    break
                told.commit((event,), confidence=1.0, asked=False)
                if isinstance(event, TilePlaced | FigurePlaced):
                    hand.play(event)
            view, expected = session.view(), told.view()
            assert [p["score"] for p in view["players"]] == [p["score"] for p in expected["players"]]
            assert any(p["score"] for p in view["players"]) and not view["issues"]


def test_turns_of_a_game_with_all_boxes_are_entered_by_taps(tmp_path, visit):
    """The first turns of a recorded game with every box but the wheel; whole games: benchmarks/taps.py."""
    game = load(next(p for p in OWN if p.name.startswith("all-")))
    setup = read(game).setup
    with Store(tmp_path / "taps.sqlite") as store:
        session = TableSession(store, setup)
        session.set_status("manual")
        with PageServer(create_app(session), port=0) as server:
            hand = Hand(visit(server.url), session)
            for turn, told in zip(read(game).turns[:24], game["turns"], strict=False):
                for event in turn.events:
                    hand.play(event)
                assert [p["score"] for p in session.view()["players"]] == told["expect"]["score"], json.dumps(told)
            assert not session.view()["issues"]
