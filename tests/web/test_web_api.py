"""The JSON API: views, commands, and one form for every error."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from base64 import b64encode
from pathlib import Path

import pytest
from webtable import JPEG, after, get, post

from scoring.tiles import product
from web.assets import lean
from web.stream import compact

STATIC = Path("web/static")


def test_state_is_the_whole_view(serve):
    session, server = serve(6)
    status, headers, body = get(server.url + "api/state")
    assert status == 200 and headers["Cache-Control"] == "no-store"
    assert json.loads(body) == json.loads(json.dumps(session.view()))


def test_tiles_carry_the_geometry_of_the_game_in_play(serve):
    _, server = serve(0)
    tiles = json.loads(get(server.url + "api/tiles")[2])
    assert set(tiles) == {t.id for t in product("base").tiles}
    assert all(s["path"] for t in tiles.values() for s in t["segments"])
    assert tiles["base.D"]["edges"] == "CRFR" and tiles["base.D"]["count"] == 4


def test_a_command_answers_with_the_new_view(serve):
    session, server = serve(3)
    last = [e for e in session.view()["history"] if e["kind"] == "tile"][-1]
    command = {"do": "retract", "seq": last["seq"], "based_on": session.view()["version"]}
    status, view = post(server.url + "api/commands", command)
    assert status == 200
    assert last["at"] not in [t["at"] for t in view["board"]["tiles"]]
    assert view == json.loads(json.dumps(session.view()))


def test_a_command_on_an_old_view_is_stale_and_brings_the_fresh_one(serve):
    session, server = serve(3)
    old = session.view()["version"]
    session.commit(after(3)[:1], confidence=0.9, asked=False)
    status, answer = post(server.url + "api/commands", {"do": "undo", "based_on": old})
    assert status == 409 and answer["error"]["code"] == "stale"
    assert answer["view"]["version"] == session.view()["version"] > old


@pytest.mark.parametrize("body", [
    b"{", b"[]", b"null", b'{"do": 3}', b'{"do": "fly"}', b'{"do": "amend"}', b'{"do": "undo", "based_on": "x"}',
    b'{"do": "tile", "tile": "base.Q9", "at": [0, 1], "rot": 0}',
    b'{"do": "tile", "tile": "base.U", "at": "x", "rot": 0}',
    b'{"do": "deploy", "figure": "horse", "at": [0, 0], "feature": "road", "where": "E W"}', b"[" * 3000,
])
def test_a_malformed_command_is_one_sentence(serve, body):
    session, server = serve(2)
    before = session.view()["version"]
    status, answer = post(server.url + "api/commands", body)
    assert status in (400, 404)
    assert set(answer) == {"error"} and set(answer["error"]) == {"code", "text"}
    assert "\n" not in answer["error"]["text"] and session.view()["version"] == before


def test_commands_from_elsewhere_are_refused(serve):
    session, server = serve(2)
    before = session.view()["version"]
    url = server.url + "api/commands"
    assert post(url, {"do": "undo"}, **{"Content-Type": "text/plain"})[0] == 400
    assert post(url, {"do": "undo"}, **{"Sec-Fetch-Site": "cross-site"})[0] == 403
    assert post(url, {"do": "undo", "who": "x" * 20_000})[0] == 413
    assert session.view()["version"] == before


def test_what_comes_through_a_tunnel_is_from_elsewhere(serve):
    """The server must pass forwarding headers on: to access control the end of a tunnel looks like this machine."""
    session, server = serve(2)
    before = session.view()["version"]
    for header in ("X-Forwarded-For", "Forwarded", "X-Forwarded-Proto", "X-Real-IP", "Via"):
        status, answer = post(server.url + "api/commands", {"do": "undo"}, **{header: "8.8.8.8"})
        assert (status, answer["error"]["code"]) == (403, "not_local"), header
    assert session.view()["version"] == before


def test_a_lone_surrogate_never_gets_into_the_game(serve):
    session, server = serve(2)
    assert post(server.url + "api/commands", b'{"do": "undo", "who": "\\ud800"}')[0] == 400
    session.command({"do": "undo", "who": "\ud800Ann\0"})
    assert session.past.corrections()[0]["who"] == "Ann"
    assert get(server.url + "api/corrections")[0] == 200
    assert compact({"\ud800": "a\udfffä"}) == '{"?":"a?ä"}'


def test_errors_have_one_shape(serve):
    _, server = serve(1)
    for path, status in (("nothing", 404), ("api/crops/99.jpg", 404), ("api/commands", 405),
                         ("api/tiles?expansions=moon", 400)):
        found, _, body = get(server.url + path)
        assert found == status and set(json.loads(body)["error"]) == {"code", "text"}, path


def test_crops_and_candidates_of_a_move(serve):
    session, server = serve(4)
    event = after(4)[0]
    (seq, *_) = session.commit((event,), confidence=0.6, asked=True, alternatives=(((event,), 0.6),), crop=JPEG)
    status, headers, body = get(f"{server.url}api/crops/{seq}.jpg")
    assert status == 200 and headers["Content-Type"] == "image/jpeg" and body == JPEG
    found = json.loads(get(f"{server.url}api/candidates/{seq}")[2])
    assert found["seq"] == seq
    assert found["candidates"][0] == {"tile": event.tile, "rot": event.rot, "probability": 0.6, "legal": True}


def test_nothing_inline_and_everything_from_here(serve):
    _, server = serve(0)
    _, headers, body = get(server.url)
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy
    before, style, after_it = re.split("<style>|</style>", body.decode())  # one, by its hash
    assert f"style-src 'self' 'sha256-{b64encode(hashlib.sha256(style.encode()).digest()).decode()}';" in policy
    html = before + after_it
    assert not re.search(r"<script(?![^>]*src=)| style=| on[a-z]+=|https?://", html)
    sources = "".join(f.read_text("utf-8") for f in [*STATIC.rglob("*.js"), *STATIC.rglob("*.css")])
    assert not re.findall(r"https?://(?!www\.w3\.org/2000/svg|192\.168\.)\S+", sources)  # nor an example of a camera


def test_a_table_speaks_its_own_language_unless_a_device_has_chosen(serve, monkeypatch):
    monkeypatch.setenv("BASTIDE_LANGUAGE", "de")
    _, server = serve(0)
    told = get(server.url)[2].decode()
    assert '<html lang="de" data-language="de"' in told and "js/lang/de.js" in told
    assert '<html lang="fr" data-language="de"' in get(server.url + "?lang=fr")[2].decode()
    monkeypatch.setenv("BASTIDE_LANGUAGE", "xx")
    assert '<html lang="en">' in get(server.url)[2].decode()


def test_the_first_view_weighs_little(serve):
    """Everything that a browser fetches before the board stands, as it is sent."""
    _, server = serve(72)
    html = get(server.url)[2].decode()
    named = set(re.findall(r'(?:href|src)="/([^"]+)"', html)) - {"static/js/lang/en.js"}
    paths = sorted(named | {
        "", "api/state", "api/tiles", "static/js/lang/fr.js",  # the longest of the languages
        "static/fonts/sans.woff2", "static/fonts/serif.woff2"})
    sent = 0
    for path in paths:
        status, headers, body = get(server.url + path, **{"Accept-Encoding": "gzip"})
        assert status == 200, path
        if headers.get("Content-Encoding") == "gzip":
            assert gzip.decompress(body)
        sent += len(body)
    print(f"{len(paths)} files, {sent / 1000:.1f} kB")
    assert sent < 130_000


def test_what_only_readers_need_is_not_sent(serve):
    _, server = serve(0)
    sent, written = get(f"{server.url}static/js/app.js")[2], (STATIC / "js" / "app.js").read_bytes()
    assert len(sent) < 0.9 * len(written)
    assert not re.search(rb"(?m)^( |//)", sent) and b"new App();" in sent
    assert not re.search(rb"(?m)^ ", get(f"{server.url}static/css/players.css")[2])
    # By lines that is safe: no text in backticks goes over several.
    for module in STATIC.rglob("*.js"):
        lean_lines = lean(module.read_bytes(), ".js").splitlines()
        assert not [line for line in lean_lines if line.count(b"`") % 2], module


def test_modules_stay_small():
    for module in set(STATIC.rglob("*.js")) - set(STATIC.rglob("lang/**/*.js")):
        assert len(module.read_text("utf-8").splitlines()) < 500, module
    for module in Path("web").glob("*.py"):
        assert len(module.read_text("utf-8").splitlines()) < 400, module


def test_what_can_be_done_and_what_fits(serve):
    session, server = serve(3)
    place = json.loads(get(server.url + "api/fits?tile=base.A")[2])["places"][0]
    tile = {"do": "tile", "tile": "base.A", "at": place["at"], "rot": place["rots"][0]}
    assert not post(server.url + "api/commands", tile)[1]["issues"]
    told = json.loads(get(server.url + "api/moves")[2])
    assert told["version"] == session.view()["version"] and told["next_tile"] == session.view()["next_tile"]
    assert {m["when"] for m in told["moves"]} == {"before", "after", "any"}
    deploy = next(m for m in told["moves"] if m["code"] == "deploy")
    status, view = post(server.url + "api/commands", deploy["answers"][0])
    assert status == 200 and view["history"][-1]["kind"] == "deploy" and not view["issues"]
    places = json.loads(get(server.url + "api/fits?tile=base.V")[2])["places"]
    (x, y), rot = places[0]["at"], places[0]["rots"][0]
    kinds = json.loads(get(server.url + f"api/fits?at={x},{y}")[2])["kinds"]
    assert rot in next(k["rots"] for k in kinds if k["tile"] == "base.V")
    turns = json.loads(get(server.url + f"api/fits?tile=base.V&at={x},{y}")[2])["turns"]
    assert [t["rot"] for t in turns if not t["objections"]] == places[0]["rots"]
    gaps = json.loads(get(server.url + "api/fits")[2])["gaps"]
    assert next(g for g in gaps if g["at"] == [x, y])["kinds"] == len(kinds) and len(gaps) > 5
    for bad in ("?at=1", "?at=a,b", "?tile=inns.01", "?tile=%F0%9F%99%82&at=0,0"):
        status, _, body = get(server.url + "api/fits" + bad)
        assert status == 400 and json.loads(body)["error"]["code"] == "malformed", bad


def test_the_questions_that_find_an_edition(serve):
    _, server = serve(0)
    told = json.loads(get(server.url + "api/setups")[2])
    assert [q["name"] for q in told["questions"]] == ["publisher", "small_city", "farm"]
    for question in told["questions"]:
        for answer in question["answers"]:
            assert any(e["marks"][question["name"]] == answer for e in told["editions"].values())
    box = told["editions"]["hig2014"]
    assert (box["publisher"], box["years"]) == ("Hans im Glück", [2014, 2020])
    assert {e["name"]: e["alone"] for e in told["expansions"]}["wheel"] is True
    assert [e["name"] for e in told["expansions"] if e["alone"]] == ["base", "wheel"]
