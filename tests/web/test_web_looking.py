"""Previews, earlier turns, pictures of the table and files, through the page's interface."""

from __future__ import annotations

import json

import cv2
import numpy as np
from webtable import EVENTS, after, get, misread, post

from scoring.events import TilePlaced
from vision.stills import Still, keep


def still(squares, side: int = 50) -> Still:
    """A table seen from above on which every tile has a colour of its own, shifted a little."""
    picture = np.zeros((900, 1200, 3), np.uint8)
    poses = {}
    for n, (x, y) in enumerate(squares):
        left, top = 600 + x * side + 2, 450 + y * side + 1
        picture[top:top + side, left:left + side] = ((40 + 30 * n) % 256, (200 - 30 * n) % 256, 90)
        poses[x, y] = np.array([[side, 0, left], [0, side, top], [0, 0, 1.0]])
    return keep(picture, poses)


def test_a_preview_tells_the_difference_and_changes_nothing(serve):
    n, wrong, true = misread()
    session, server = serve(n)
    (seq, *_) = session.commit((wrong,), confidence=0.5, asked=False)
    before = session.view()
    amend = {"do": "amend", "seq": seq, "body": {"do": "tile", "tile": true.tile, "at": list(true.at), "rot": true.rot}}
    status, answer = post(server.url + "api/preview", {"commands": [amend, {"do": "retract", "seq": 999}]})
    assert status == 200 and session.view() is before
    told, refused = answer["previews"]
    after_it = post(server.url + "api/commands", amend)[1]
    changed = [{"player": p["index"], "before": q["score"], "after": p["score"]}
               for p, q in zip(after_it["players"], before["players"], strict=True) if p["score"] != q["score"]]
    assert changed and told["scores"] == changed and told["issues"] == []
    assert "999" in refused["error"]
    assert post(server.url + "api/preview", {"commands": [{}] * 13})[0] == 400
    assert post(server.url + "api/preview", b"[")[0] == 400


def test_every_turn_can_be_looked_at_again(serve):
    session, server = serve(0)
    seen = []
    for event in EVENTS[:60]:
        session.commit((event,), confidence=1.0, asked=False)
        if not isinstance(event, TilePlaced):
            continue
        seen.append(None)
    turns = json.loads(get(server.url + "api/turns")[2])["turns"]
    assert len(turns) == len(seen)
    last = json.loads(get(f"{server.url}api/turns/{turns[-1]['turn']}")[2])
    for part in ("board", "feed", "turn"):
        assert last[part] == json.loads(json.dumps(session.view()))[part], part
    early = json.loads(get(f"{server.url}api/turns/{turns[9]['turn']}")[2])
    assert len(early["board"]["tiles"]) == 11 and early["feed"] == last["feed"][:len(early["feed"])]
    assert early["board"]["tiles"][-1]["at"] == turns[9]["at"]
    assert get(server.url + "api/turns/999")[0] == 404


def test_a_corrected_turn_is_looked_at_as_corrected(serve):
    n, wrong, true = misread()
    session, server = serve(n)
    (seq, *_) = session.commit((wrong,), confidence=0.5, asked=False)
    turn = session.past.turns()[-1]["turn"]
    session.command({"do": "amend", "seq": seq, "who": "Anna",
                     "body": {"do": "tile", "tile": true.tile, "at": list(true.at), "rot": true.rot}})
    view = json.loads(get(f"{server.url}api/turns/{turn}")[2])
    assert {"tile": true.tile, "at": list(true.at)} == {k: view["board"]["tiles"][-1][k] for k in ("tile", "at")}
    (change,) = json.loads(get(server.url + "api/corrections")[2])["corrections"]
    assert (change["who"], change["do"], change["of"]) == ("Anna", "amend", seq)
    assert change["before"]["tile"] == wrong.tile and change["after"]["tile"] == true.tile
    session.command({"do": "undo"})
    assert [c["do"] for c in session.past.corrections()] == ["undo", "amend"]


def test_the_table_of_a_turn_is_seen_from_above(serve):
    session, server = serve(3)
    event = after(3)[0]
    squares = [tuple(t["at"]) for t in session.view()["board"]["tiles"]] + [event.at]
    session.commit((event,), confidence=0.9, asked=False, still=still(squares))
    turn = session.past.turns()[-1]
    assert turn["picture"] and not session.past.turns()[0]["picture"]
    url = f"{server.url}api/turns/{turn['turn']}/picture.jpg"
    whole = cv2.imdecode(np.frombuffer(get(url)[2], np.uint8), cv2.IMREAD_COLOR)
    assert whole.shape == (900, 1200, 3)
    x, y = event.at
    part = cv2.imdecode(np.frombuffer(get(f"{url}?x={x}&y={y}&width=1&height=1")[2], np.uint8), cv2.IMREAD_COLOR)
    n = len(squares) - 1
    assert part.shape == (120, 120, 3)
    assert np.abs(np.median(part.reshape(-1, 3), axis=0) - (40 + 30 * n, 200 - 30 * n, 90)).max() < 6
    assert get(f"{url}?x=90&y=90&width=1&height=1")[0] == 404
    assert get(f"{url}?x=0&y=0&width=500&height=1")[0] == 404
    assert get(f"{server.url}api/turns/0/picture.jpg")[0] == 404
    assert get(f"{server.url}api/picture.jpg")[2] == get(url)[2]


def test_the_game_as_files(serve):
    session, server = serve(71)
    session.command({"do": "end_game"})
    session.command({"do": "reveal", "step": "end"})
    status, headers, body = get(server.url + "api/export/scores.csv")
    assert status == 200 and "attachment" in headers["Content-Disposition"]
    rows = [line.split(",") for line in body.decode().splitlines()[1:]]
    view = session.view()
    for p in view["players"]:
        assert sum(int(r[2]) for r in rows if r[1] == p["name"]) == view["final"]["totals"][p["index"]]
    game = json.loads(get(server.url + "api/export/game.json")[2])
    assert game["format"] == "transcript/1" and len(game["turns"]) == len(session.past.turns())


def test_another_game_is_begun_on_the_page(serve):
    session, server = serve(5)
    setups = json.loads(get(server.url + "api/setups")[2])
    assert set(setups["editions"]) >= {"rgg2006", "zman2012"} and setups["expansions"][0]["tiles"] == 72
    old = session.game
    setup = {"players": [{"name": "Zoë", "colour": "pink"}, {"name": "愛", "colour": "green"}], "edition": "rgg2006",
             "rules": {"two_tile_city": "normal"}, "expansions": ["river", "inns"], "aid": "score"}
    status, view = post(server.url + "api/commands", {"do": "new_game", "setup": setup})
    assert status == 200 and view["game"] != old and view["version"] == 0
    assert [p["name"] for p in view["players"]] == ["Zoë", "愛"] and view["aid"] == "score"
    assert view["edition"] == "rgg2006" and view["rules"] == {"two_tile_city": "normal"}
    assert view["board"]["tiles"][0]["tile"] == "river.01"
    for change in ({"players": []}, {"edition": "x"}, {"aid": "all"}, {"expansions": ["moon"]}, {"rules": {"a": 1}},
                   {"players": [{"name": "A", "colour": "red"}, {"name": "B", "colour": "red"}]},
                   {"players": [{"name": " ", "colour": "red"}]}):
        status, answer = post(server.url + "api/commands", {"do": "new_game", "setup": {**setup, **change}})
        assert status == 400 and "\n" not in answer["error"]["text"], change
    assert session.view()["game"] == view["game"]


def test_only_scores_that_hang_on_a_question_are_in_doubt(serve):
    n, wrong, true = misread()
    session, _ = serve(n)
    before = [p["score"] for p in session.view()["players"]]
    session.commit((wrong,), confidence=0.5, asked=True, crop=b"x",
                   alternatives=(((wrong,), 0.5), ((true,), 0.4)))
    view = session.view()
    doubted = {p["index"] for p in view["players"] if p["uncertain"]}
    answers = [session.preview([{"do": "answer", "question": view["questions"][0]["id"], "choice": k}])[0]["scores"]
               for k in range(len(view["questions"][0]["candidates"]))]
    moved = {s["player"] for scores in answers for s in scores}
    assert moved and moved <= doubted < {0, 1, 2, 3} and len(before) == 4


def test_a_tap_in_the_cameras_picture_says_where_a_tile_lies(serve):
    session, server = serve(0)
    at = server.url + "api/camera"
    assert post(at, {"point": [10, 20]})[0] == 409, "no camera looks at this table"
    with session.seeing.attached():
        assert post(at, {"point": [412.5, 300]})[0] == 200
        assert session.seeing.pointed() == (412.5, 300.0)
        assert session.seeing.pointed() is None, "told once"
        for wrong in ([1], [1, 2, 3], [-1, 5], ["1", 2], [True, 2], [1e9, 2], {"x": 1}, "1,2"):
            status, answer = post(at, {"point": wrong})
            assert status == 400 and answer["error"]["code"] == "malformed", wrong
        assert session.seeing.pointed() is None and not session.seeing.rests


def test_the_view_right_before_and_after_an_entry(serve):
    session, server = serve(6)
    history = session.view()["history"]
    seq = [e["seq"] for e in history if e["kind"] == "tile"][3]
    before, after = (json.loads(get(f"{server.url}api/entries/{seq}/{side}")[2]) for side in ("before", "after"))
    assert len(before["board"]["tiles"]) == 4 and len(after["board"]["tiles"]) == 5  # the start tile is among them
    assert before["after"] < seq == after["after"] and after["turn"]["open"]
    nothing = json.loads(get(f"{server.url}api/entries/0/after")[2])
    assert nothing["after"] == 0 and not nothing["history"] and len(nothing["board"]["tiles"]) == 1
    assert get(f"{server.url}api/entries/0/before")[0] == get(f"{server.url}api/entries/9999/after")[0] == 404
    version = session.view()["version"]
    session.command({"do": "insert", "after": before["after"], "body": {"do": "discard", "tile": "base.X"}})
    now = json.loads(get(f"{server.url}api/entries/{version + 1}/after")[2])
    assert now["left"]["kinds"]["base.X"] == before["left"]["kinds"]["base.X"] - 1
