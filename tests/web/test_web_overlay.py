"""The overlay for streams, the way to join, and what is spoken."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from urllib.parse import quote

import numpy as np
import pytest
from pageviews import until
from webtable import after, get, table

from bastide.log.store import Store
from web.access import Access
from web.app import create_app
from web.overlay import shown
from web.rights import Memory, hashed
from web.server import PageServer

FAR = {"REMOTE_ADDR": "8.8.8.8"}


@pytest.fixture
def session(tmp_path):
    with Store(tmp_path / "t.sqlite") as store:
        yield table(store, 14)


def test_an_overlay_sees_scores_and_the_last_event_only(session):
    view = session.view()
    told = shown(view)
    assert [p["score"] for p in told["players"]] == [p["score"] for p in view["players"]]
    assert told["feed"] == view["feed"][-1:] != []
    assert not {"board", "history", "questions", "features"} & set(told)
    assert len(json.dumps(told)) < 3000


def test_the_read_only_key_opens_the_overlay_from_afar_and_nothing_else(session):
    keys = Memory()
    keys.put(replace(keys.get(), table=hashed("2580")))
    app = create_app(session, access=Access(keys, hosts=["table.example"]))
    client, key = app.test_client(), quote(keys.get().overlay)
    to = {"environ_base": FAR, "headers": {"Host": "table.example"}}
    for path in ("/overlay", "/api/overlay", "/static/js/overlay/overlay.js", "/static/js/lang/de.js"):
        assert client.get(f"{path}?key={key}", **to).status_code == 200, path
        for wrong in ("", "?key=", "?key=wrong", f"?key={key}x", "?key=%C3%A9"):
            assert client.get(path + wrong, **to).get_json()["error"]["code"] == "not_local"
    for path in ("/", "/tv", "/api/state", "/api/events", "/api/picture.jpg", "/api/session", "/api/overlay/key"):
        assert client.get(f"{path}?key={key}", **to).status_code == 403, path
    undo = client.post(f"/api/commands?key={key}", json={"do": "undo"}, **to)
    assert undo.status_code == 403
    assert client.post(f"/api/session?key={key}", json={"pin": "2580"}, **to).status_code == 403


def test_the_key_is_told_to_those_who_may_play_only(session):
    app = create_app(session)
    assert app.test_client().get("/api/overlay/key").get_json()["key"]
    lan = app.test_client().get("/api/overlay/key", environ_base={"REMOTE_ADDR": "192.168.1.9"})
    assert lan.get_json() == {"key": None}


def test_the_overlay_follows_the_game_and_takes_its_options_from_the_address(session, chromium):
    expect = pytest.importorskip("playwright.sync_api").expect
    with PageServer(create_app(session), port=0) as server:
        page = chromium.new_page(viewport={"width": 700, "height": 500})
        errors = []
        page.on("pageerror", lambda e: errors.append(str(e)))
        page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
        page.goto(server.url + "overlay?bg=transparent&show=scores,event&lang=de&scale=1.5")
        expect(page.locator(".player")).to_have_count(4)
        reason = session.view()["feed"][-1]["reason"]
        german = re.search(rf'"reason\.{reason}": "([^"]+)"', get(server.url + "static/js/lang/de.js")[2].decode())
        assert german
        expect(page.locator(".event")).to_contain_text(german[1])
        assert page.evaluate("getComputedStyle(document.body).fontSize") == "30px"
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgba(0, 0, 0, 0)"
        for event in after(14)[:12]:
            session.commit((event,), confidence=0.98, asked=False)
        for p in session.view()["players"]:
            expect(page.locator(".player").nth(p["index"]).locator(".score")).to_contain_text(str(p["score"]))
        page.goto(server.url + "overlay?bg=rgb(0,255,0)&show=event&lang=fr")
        expect(page.locator(".event")).to_have_count(1)
        expect(page.locator(".player")).to_have_count(0)
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(0, 255, 0)"
        assert not errors
        page.close()


@pytest.mark.parametrize(("host", "bound", "first"), [
    ("192.168.7.9:8000", "0.0.0.0", "http://192.168.7.9:8000/"), ("bastide.local:8000", "::", "http://bastide.local:8000/"),
    ("[fd00::5]:8000", "::", "http://[fd00::5]:8000/"), ("localhost:8000", "192.168.7.9", "http://192.168.7.9:8000/"),
    ("localhost:8000", "127.0.0.1", None),
])
def test_the_address_to_join_is_one_that_others_can_use(session, host, bound, first):
    app = create_app(session)
    app.config["BOUND_HOST"] = bound
    found = app.test_client().get("/api/join", headers={"Host": host}, environ_overrides={"SERVER_PORT": "8000"})
    assert found.get_json()["addresses"][:1] == ([first] if first else [])
    assert not any("localhost" in a or "127.0.0" in a for a in found.get_json()["addresses"])


def test_the_code_to_join_can_be_read(session, chromium):
    cv2 = pytest.importorskip("cv2")
    app = create_app(session)
    with PageServer(app, port=0) as server:
        app.config["BOUND_HOST"] = "0.0.0.0"
        address = json.loads(get(server.url + "api/join")[2])["addresses"][0]
        svg = get(server.url + "api/join.svg")[2].decode()
        assert "script" not in svg and "style" not in svg
        page = chromium.new_page(viewport={"width": 400, "height": 400})
        page.set_content(f'<body style="background:#222"><div style="width:300px">{svg}</div>')
        picture = cv2.imdecode(np.frombuffer(page.screenshot(), np.uint8), cv2.IMREAD_COLOR)
        page.close()
    assert cv2.QRCodeDetector().detectAndDecode(picture)[0] == address


def test_speech_says_what_is_new_and_only_after_a_tap(session, visit):
    expect = pytest.importorskip("playwright.sync_api").expect
    with PageServer(create_app(session), port=0) as server:
        page = visit(server.url)
        page.evaluate("() => { window.said = []; speechSynthesis.speak = (u) => said.push(u.text); }")
        rest = iter(after(14))

        def scored():
            before = len(session.view()["feed"])
            while len(session.view()["feed"]) == before:
                session.commit((next(rest),), confidence=0.98, asked=False)
            expect(page.locator("#feed .event, #feed li")).not_to_have_count(0)
            return session.view()["feed"][-1]

        scored()
        assert page.evaluate("said") == []
        page.locator("#bar").get_by_role("button", name="More").click()
        page.get_by_role("button", name="Speak what is scored").click()
        expect(page.get_by_role("button", name="Stop speaking")).to_be_visible()
        assert page.evaluate("said") == ["Scores are spoken now."]
        event = scored()
        until(page, "said.length > 1")
        told = page.evaluate("said").pop()
        for p in event["points"]:
            assert session.view()["players"][p["player"]]["name"] in told and str(p["points"]) in told
        count = len(page.evaluate("said"))
        page.get_by_role("button", name="Stop speaking").click()
        expect(page.get_by_role("button", name="Speak what is scored")).to_be_visible()
        scored()
        expect(page.locator(".tiles .tile")).to_have_count(len(session.view()["board"]["tiles"]))
        until(page, f"said.length > {count}")
        assert len(page.evaluate("said")) == count + 1
