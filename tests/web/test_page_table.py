"""The page through a game by hand and by camera: proofs, a new game, looking back, how much it helps, other boxes."""

from __future__ import annotations

import json
import re

import pytest
from hand import Hand
from pageviews import LIVE, picture
from test_web_looking import still
from webtable import JPEG, after, misread, table

from bastide.log.store import Store
from bastide.table.session import TableSession
from scoring.engine import legal_placements
from scoring.events import FigurePlaced, GameEnded, Player, Setup, TilePlaced
from scoring.rules import edition
from web.app import create_app
from web.catalogue import tiles
from web.server import PageServer

expect = pytest.importorskip("playwright.sync_api").expect


def scores(page, players: int = 4) -> list[str]:
    return [page.locator(f".player[data-player='{n}'] .score").inner_text().lstrip("~") for n in range(players)]


def test_a_score_is_proved_with_the_picture_of_its_turn(serve, visit):
    session, server = serve(0)
    for event in after(0)[:70]:
        squares = [tuple(t["at"]) for t in session.view()["board"]["tiles"]]
        squares += [event.at] if isinstance(event, TilePlaced) else []
        session.commit((event,), confidence=0.9, asked=False, still=still(squares, 30))
    page = visit(server.url)
    feed = session.view()["feed"][::-1]
    n, event = next((n, e) for n, e in enumerate(feed) if n and e["feature"] == "city"
                    and any(i["what"] == "pennant" for i in e["items"]))
    page.locator("#feed li").nth(n).locator(".event").click()
    photo = page.locator(".proof-photo")
    expect(photo).to_have_attribute("href", re.compile(rf"/api/turns/{event['turn']}/picture.jpg\?x="))
    expect(page.locator(".proof figcaption")).to_contain_text(f"camera saw it in turn {event['turn'] + 1}")
    expect(page.locator(".proof-tiles")).to_have_attribute("hidden", "")
    expect(page.locator(".proof-picture .number")).to_have_text([str(k + 1) for k in range(event["tiles"])])
    pennants = next(i["count"] for i in event["items"] if i["what"] == "pennant")
    expect(page.locator(".proof-picture .tick")).to_have_count(pennants)
    text = page.locator(".proof-text")
    expect(text).to_contain_text(event["formula"].replace(" x ", " × "))
    expect(text).to_contain_text(event["rule"])
    expect(text).to_contain_text("2 points for every tile")
    standing = {(d["at"][0], d["at"][1], d["where"]) for d in session.view()["history"]
                if d["kind"] == "deploy" and d["feature"] == "city"} & {tuple(p) for p in event["places"]}
    expect(page.locator(".stood li")).to_have_count(len(standing))
    picture(page, "proof-photo")
    page.locator(".proof [data-key='fix']").click()  # and from there to where it is mended
    expect(page.locator("#sheet.fix h2")).to_contain_text(f"turn {event['turn'] + 1}")


def test_without_a_camera_the_proof_is_drawn(serve, visit):
    session, server = serve(40)
    page = visit(server.url)
    page.locator("#feed [data-key^='proof-']").click()
    expect(page.locator(".proof figcaption")).to_contain_text("No picture of this turn")
    expect(page.locator(".proof-tiles use").first).to_be_visible()
    page.locator("[data-key='tool-photo']").click()
    expect(page.locator("#toast")).to_contain_text("no picture")


def test_a_candidate_says_what_it_would_change(serve, visit):
    n, wrong, true = misread()
    session, server = serve(n)
    (seq, *_) = session.commit((wrong,), confidence=0.5, asked=False, alternatives=(((wrong,), 0.5), ((true,), 0.4)),
                               crop=None)
    told = session.preview([{"do": "amend", "seq": seq, "body": {"do": "tile", "tile": true.tile, "at": list(true.at),
                                                                 "rot": true.rot}}])[0]["scores"]
    page = visit(server.url)
    page.locator(f"[id='at-{true.at[0]}-{true.at[1]}']").dispatch_event("focus")
    box = page.locator(f"[id='at-{true.at[0]}-{true.at[1]}'] use").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    shown = page.locator(f".candidate[data-tile='{true.tile}'][data-rot='{true.rot}'] .tile-note")
    names = [p["name"] for p in session.view()["players"]]
    for s in told:
        expect(shown).to_contain_text(f"{names[s['player']]} {s['after'] - s['before']:+d}")
    player = (session.view()["history"][-1]["player"] + 1) % 4  # and somebody else played it
    page.locator("#sheet [data-key='other']").wait_for()
    entry = session.view()["history"][-1]
    change = {"do": "amend", "seq": seq, "body": {"do": "tile", "tile": entry["tile"], "at": entry["at"],
                                                  "rot": entry["rot"], "player": player}}
    (moves,) = session.preview([change])
    page.locator(f"[data-key='played-{player}']").click()
    if moves["scores"] or moves["issues"]:
        page.locator("[data-key='save']").click()
    expect(page.locator("#sheet h2")).to_contain_text(names[player])
    page.keyboard.press("Escape")
    page.locator("[data-key='bar.more']").click()
    page.locator(f"[data-key='pick-{names[2]}']").click()
    page.keyboard.press("Escape")
    page.locator("[data-key='bar.undo']").click()
    page.locator("[data-key='bar.history']").click()
    page.locator("[data-key='history.changes']").click()
    expect(page.locator(".corrections li").first).to_contain_text(f"{names[2]} undid")
    expect(page.locator(".corrections li").nth(1)).to_contain_text("somebody corrected turn")


def test_the_game_is_looked_at_turn_by_turn(serve, visit):
    session, server = serve(20)
    page = visit(server.url)
    page.locator("[data-key='bar.more']").click()
    page.locator("[data-key='menu.replay']").click()
    expect(page.locator(".replay-text")).to_contain_text("Turn 20 of 20")
    for n in (3, 11, 7):
        page.locator(".scrub").fill(str(n))
        expect(page.locator(".tiles .tile")).to_have_count(n + 2)
        view = session.past.view_after(session.past.turns()[n]["turn"])
        expect(page.locator(".player[data-player='1'] .score")).to_have_text(str(view["players"][1]["score"]))
    page.locator(".scrub").press("ArrowRight")
    expect(page.locator(".tiles .tile")).to_have_count(10)
    session.commit(after(20)[:1], confidence=0.9, asked=False)  # the game goes on meanwhile
    expect(page.locator(".tiles .tile")).to_have_count(10)
    expect(page.locator("#bar")).to_be_hidden()
    page.locator("[data-key='live']").click()
    expect(page.locator(".tiles .tile")).to_have_count(22)
    expect(page.locator("#bar")).to_be_visible()
    assert scores(page) == [str(p["score"]) for p in session.view()["players"]]


def test_a_new_game_with_its_players_rules_and_level(serve, visit):
    session, server = serve(8)
    page, other = visit(server.url), visit(server.url, 390, 844)
    page.locator("[data-key='bar.more']").click()
    page.locator("[data-key='menu.new']").click()
    expect(page.locator("#setup footer")).to_contain_text("in progress")
    page.locator("[data-key='remove-3']").click()
    page.locator("[data-key='name-0']").fill("Ωμέγα")
    page.locator("[data-key='name-1']").fill("愛 さん")
    page.locator("[data-key='colour-1']").select_option("green")
    page.locator("[data-key='up-2']").click()
    page.locator("[data-key='box-inns']").click()
    expect(page.locator("[data-key='edition-rgg2006']")).to_contain_text("each finished city pays once")
    page.locator("[data-key='edition-rgg2006']").click()
    page.locator("[data-key='rule-two_tile_city']").select_option("normal")
    expect(page.locator(".options .changed")).to_have_count(1)
    page.locator("[data-key='aid-score']").click()
    page.locator("[data-key='art-drawn']").click()
    picture(page, "setup-filled")
    page.locator("[data-key='start']").click()
    expect(page.locator("#setup")).to_be_hidden()
    for device in (page, other):  # everybody sees the new game, and how much help there is
        expect(device.locator(".player .name-text")).to_have_text(["Ωμέγα", "Chloé", "愛 さん"])
        expect(device.locator(".tiles .tile")).to_have_count(1)
    expect(page.locator("#bar .aid")).to_have_text("Score only")
    assert session.view()["art"] == "drawn"
    view = session.view()
    assert view["edition"] == "rgg2006" and view["rules"] == {"two_tile_city": "normal"}
    assert view["expansions"] == ["base", "inns"]
    assert [p["colour"] for p in view["players"]] == ["red", "yellow", "green"]
    assert page.locator(".projected, [data-key='tool-farms'], [data-key='bar.now']").count() == 0
    page.locator("[data-key='bar.left']").click()
    expect(page.locator("#sheet .kind")).to_have_count(0)


def test_an_edition_is_found_by_what_its_owner_knows(serve, visit):
    session, server = serve(0)
    page = visit(server.url)
    page.locator("[data-key='bar.more']").click()
    page.locator("[data-key='menu.new']").click()
    page.locator("[data-key^='mark-publisher-Hans']").click()
    page.locator("[data-key='mark-small_city-2']").click()  # what small cities score
    expect(page.locator("#setup .card[data-key^='edition-']")).to_have_count(1)
    expect(page.locator("[data-key='mark-farm-3']")).to_be_disabled()
    page.locator("[data-key='edition-hig2000']").click()
    expect(page.locator("[data-key='box-base']")).to_be_disabled()
    page.locator("[data-key='box-wheel']").click()  # it is a game by itself
    expect(page.locator("[data-key='box-base']")).to_have_attribute("aria-pressed", "false")
    picture(page, "setup-edition")
    page.locator("[data-key='start']").click()
    expect(page.locator("#setup")).to_be_hidden()
    view = session.view()
    assert view["edition"] == "hig2000" and view["expansions"] == ["wheel"] and view["left"]["total"] < 100


def test_a_gap_tells_what_fits(serve, visit):
    session, server = serve(14)
    page = visit(server.url)
    LIVE["gap"](page)
    count, left = (int(n) for n in re.findall(r"\d+", page.locator(".big-line").inner_text()))
    assert left == session.view()["left"]["total"]
    shown = [int(re.findall(r"\d+", text)[0]) for text in page.locator("#sheet .kind b").all_inner_texts()]
    assert sum(shown) == count > 0
    page.locator("[data-key='lay']").click()
    expect(page.locator("#sheet.picker .tile-button:not(.gone)").first).to_be_visible()


def test_the_end_has_a_chart_awards_and_files(serve, visit):
    session, server = serve(71)
    session.commit((GameEnded(),), confidence=1.0, asked=False)
    session.command({"do": "reveal", "step": "end"})
    page = visit(server.url)
    expect(page.locator(".chart-line")).to_have_count(4)
    expect(page.locator(".awards li")).to_have_count(4)
    feed = [e for e in session.view()["feed"] if e["feature"] == "city" and e["points"]]
    most = max(e["tiles"] for e in feed)
    expect(page.locator("[data-key='award-city']")).to_contain_text(f"{most} tiles")
    turns: dict[tuple[int, int], int] = {}
    for e in (e for e in session.view()["feed"] if e["player"] is not None):
        for p in e["points"]:
            turns[e["turn"], p["player"]] = turns.get((e["turn"], p["player"]), 0) + p["points"]
    expect(page.locator("[data-key='award-turn']")).to_contain_text(f"{max(turns.values())} points")
    with page.expect_download() as download:
        page.locator("[data-key='share']").click()
    png = download.value.path().read_bytes()
    assert png.startswith(b"\x89PNG") and len(png) > 100_000  # a board that was drawn, not an empty card
    with page.expect_download() as download:
        page.get_by_role("link", name="The whole game").click()
    assert json.loads(download.value.path().read_text("utf-8"))["format"] == "transcript/1"


def test_farms_and_open_features_lie_over_the_board(serve, visit):
    session, server = serve(45)
    page = visit(server.url)
    view = session.view()
    page.locator("[data-key='tool-open']").click()
    claimed = [f for f in view["features"] if f["owners"] and not f["complete"]]
    expect(page.locator(".open-feature")).to_have_count(sum(f["kind"] != "field" for f in claimed))
    for f in (f for f in claimed if f["kind"] != "field"):
        text = f"{f['points_now']}→{f['points_complete']}"
        expect(page.locator(".open-feature text", has_text=text).first).to_be_attached()
    page.locator("[data-key='tool-farms']").click()
    expect(page.locator(".open-feature")).to_have_count(0)
    farms = [f for f in view["features"] if f["kind"] == "field" and f["owners"]]
    expect(page.locator(".farm-badge")).to_have_count(len(farms))
    paid = {json.dumps(c) for stage in view["projected_final"]["stages"] for e in stage["events"]
            if e["feature"] == "field" for c in e["cities"]}
    expect(page.locator(".worth .tick")).to_have_count(len(paid))
    page.locator("[data-key='tool-farms']").click()
    expect(page.locator(".farm-badge")).to_have_count(0)


@pytest.fixture
def by_hand(tmp_path):
    """A game with every box but the wheel, entered by hand."""
    with Store(tmp_path / "boxes.sqlite") as store:
        players = (Player(name="Anna", colour="red"), Player(name="Ben", colour="blue"))
        session = TableSession(store, Setup(players=players, rules=edition("rgg2006"),
                                            expansions=("base", "inns", "traders", "dragon", "tower")))
        with PageServer(create_app(session), port=0) as server:
            yield session, server


def test_pieces_of_other_boxes_are_entered_by_hand(by_hand, visit):
    session, server = by_hand
    kinds = tiles(session.view()["expansions"])
    page = visit(server.url)
    hand = Hand(page, session)
    expect(page.locator("#bar .chip")).to_contain_text("By hand")
    expect(page.locator(".gap").first).to_be_visible()

    def place(flag: str) -> TilePlaced:
        for kind, tile in kinds.items():
            if flag in tile["flags"]:
                for at, rot in legal_placements(session.state, kind):
                    return TilePlaced(player=0, tile=kind, at=at, rot=rot)
        raise AssertionError(flag)

    hand.tile(place("tower"))
    page.locator("#sheet [data-key='tower']").click()  # a piece on the tower place
    page.locator(".choice").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".tower-floor")).to_have_count(1)
    expect(page.locator("[data-player='0'] .held.tower_piece")).to_have_attribute("aria-label", "9 tower pieces left")
    expect(page.locator("[data-player='1'] .held.tower_piece")).to_have_attribute("aria-label", "10 tower pieces left")
    page.locator("#sheet [data-key='end']").click()
    expect(page.locator("#sheet [data-key='end']")).to_be_disabled()
    hand.tile(place("volcano"))
    expect(page.locator(".neutral.dragon")).to_have_count(1)
    page.locator("#sheet [data-key='end']").click()
    hand.tile(place("dragon"))
    assert [q["code"] for q in session.view()["open_questions"]] == ["dragon_path"]
    page.keyboard.press("Escape")
    page.locator("#bar .questions").click()
    expect(page.locator("#sheet h2")).to_have_text("Where does the dragon go?")
    before = session.view()["board"]["dragon"]
    picture(page, "boxes")
    with page.expect_response("**/api/commands"):
        page.locator("#sheet [data-key='choice-0']").click()
    assert session.view()["board"]["dragon"] != before
    page.keyboard.press("Escape")
    page.locator("[data-key='bar.add']").click()
    page.locator("[data-key='kind-large']").click()
    segment = page.locator("#sheet .segment").first
    segment.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".figures .figure")).to_have_count(1)
    assert session.view()["board"]["figures"][0]["figure"] == "large"
    expect(page.locator(".pip.large.out")).to_have_count(1)


def test_a_figure_of_one_of_two_kinds_is_asked_about_with_their_names(by_hand, visit):
    session, server = by_hand
    at, rot = legal_placements(session.state, "base.B")[0]
    small, large = (FigurePlaced(player=0, figure=f, at=at, feature="cloister", where="I")
                    for f in ("follower", "large"))
    session.commit((TilePlaced(player=0, tile="base.B", at=at, rot=rot),), confidence=1.0, asked=False)
    session.commit((small,), confidence=0.8, asked=True, alternatives=(((small,), 0.8), ((large,), 0.2)), crop=JPEG)
    page = visit(server.url)
    expect(page.locator("#sheet.question [data-key='choice-0']")).to_contain_text("follower")
    expect(page.locator("#sheet.question [data-key='choice-1']")).to_contain_text("large follower")
    picture(page, "question-kinds")
    page.locator("[data-key='other']").click()
    expect(page.locator("#sheet [data-key='kind-follower']")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Escape")
    page.locator("#bar .questions").click()
    page.locator("[data-key='choice-1']").click()
    expect(page.locator("#sheet")).to_be_hidden()
    assert [f.figure for f in session.state.figures] == ["large"] and not session.view()["questions"]


def test_a_game_by_hand_from_the_first_tile(tmp_path, visit):
    with Store(tmp_path / "hand.sqlite") as store:
        session = table(store, 0)
        session.set_status("manual")
        with PageServer(create_app(session), port=0) as server:
            page = visit(server.url)
            Hand(page, session).tile(TilePlaced(player=0, tile="base.U", at=(0, 1), rot=0))
            expect(page.locator("#sheet.add")).to_be_visible()
            assert session.view()["history"][0]["source"] == "hand"
