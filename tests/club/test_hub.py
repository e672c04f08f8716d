"""The hub as a club has it: its own process, tables of their own, a broker that is killed, and people who look."""

from __future__ import annotations

import json
import re
import urllib.request

import pytest
from brokers import PATIENCE_S, QUICK, Ear, Mosquitto
from clubtables import ClubTable, moves
from processes import Served, bastide
from test_hall import state
from webtable import get, post

from bastide.club.hub import Hub
from bastide.club.message import packed
from bastide.club.results import Results
from web.access import Access
from web.hub import CONNECTIONS, THREADS, Screens, create_hub
from web.rights import Memory, hashed
from web.server import PageServer
from web.stream import TooManyStreams


@pytest.fixture
def broker(tmp_path):
    with Mosquitto(tmp_path) as made:
        yield made


def until(url, test):
    """The first whole hall for which the test holds; looks again whenever a screen would."""
    number = json.loads(get(url + "api/hall")[2])["number"]
    with urllib.request.urlopen(f"{url}api/hall/events?after={number}", timeout=PATIENCE_S) as stream:
        while True:
            hall = json.loads(get(url + "api/hall")[2])
            if test(hall):
                return hall
            for line in stream:
                if line.startswith((b"event: change", b"event: again")):
                    break
            else:
                raise AssertionError("the stream ended")


def rows(hall):
    return {row["key"]: row for row in hall["tables"]}


def test_tables_and_hub_as_processes_with_a_broker_that_is_killed(broker, tmp_path):
    """`bastide serve --mqtt` and `bastide hub`: the hub shows the table's game, even after an outage of the broker."""
    with Served("serve", "--port", 0, "--data", tmp_path / "a", "--mqtt", broker.url, "--table", "Table 4") as table, \
            Served("hub", "--port", 0, "--data", tmp_path / "hub", "--mqtt", broker.url) as hub:
        before = until(hub.url, lambda h: "table-4" in rows(h))
        assert before["broker"] is True and rows(before)["table-4"]["here"]
        broker.kill()
        view = table.do(do="tile", tile="base.U", at=[0, 1], rot=1)
        assert "error" not in view and len(view["board"]["tiles"]) == 2, "play goes on"
        until(hub.url, lambda h: not h["broker"])
        broker.start()
        after = until(hub.url, lambda h: h["broker"] and rows(h)["table-4"]["state"]["laid"] == 2)
        assert rows(after)["table-4"]["state"]["rev"] >= view["update"]
        table.kill()
        until(hub.url, lambda h: not rows(h)["table-4"]["here"])
        assert hub.end() == 0


@pytest.fixture
def served(broker, tmp_path):
    """A hub with its page; the organiser's PIN is 2580."""
    keys = Memory()
    from dataclasses import replace
    keys.put(replace(keys.get(), table=hashed("2580")))
    with Results(tmp_path / "hub") as results, Hub(broker.address, results, pace=QUICK) as hub, \
            PageServer(create_hub(hub.hall, results, hub.organiser, door=Access(keys)), port=0, threads=THREADS,
                       connections=CONNECTIONS) as server:
        yield server


def signed(url):
    request = urllib.request.Request(url + "api/session", b'{"pin": "2580"}', {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
        return {"Cookie": answer.headers["Set-Cookie"].partition(";")[0], "X-CSRF-Token": json.load(answer)["token"]}


def test_only_the_organiser_runs_a_tournament(cheap, served, broker, tmp_path):
    url = served.url
    rounds = {"csv": "round,table,player1,player2\n1,4,Zoe,Ben\n", "clock_s": 60}
    assert post(url + "api/tournament", rounds)[0] == 401
    token = signed(url)
    status, told = post(url + "api/tournament", {"csv": "nonsense"}, **token)
    assert (status, told["error"]["code"]) == (400, "bad_rounds") and "line 1" in told["error"]["text"]
    assert post(url + "api/tournament", rounds, **token)[0] == 200
    with ClubTable(tmp_path / "a", broker, "Table 4", commands=True) as table, Ear(broker) as ear:
        until(url, lambda h: "table-4" in rows(h))
        assert post(url + "api/tournament", {"do": "begin", "round": 1}, **token)[0] == 200
        begun = ear.until(lambda t, v: t == "bastide/table-4/state" and "round" in v)
        assert begun["aid"] == "score" and [p["name"] for p in begun["players"]] == ["Zoe", "Ben"]
        table.play(*moves())
        table.session.command({"do": "end_game"})
        table.session.command({"do": "reveal", "step": "end"})
        for player in (0, 1):
            table.session.command({"do": "confirm", "player": player})
        until(url, lambda h: rows(h)["table-4"]["state"].get("round", {}).get("confirmed") == [True, True])
        told = json.loads(get(url + "api/tournament")[2])
        assert told["rounds"][0]["games"][0]["confirmed"] and told["standings"][0]["wins"] in (0.5, 1)
        head = get(url + "results/rounds.csv")
        assert head[1]["Content-Disposition"] == 'attachment; filename="rounds.csv"' and b"1,4,Zoe,Ben," in head[2]
        assert get(url + "results/passwd")[0] == 404
        assert json.loads(get(url + "api/evening")[2])["games"][0]["players"][0]["name"] == "Zoe"


@pytest.fixture
def cheap(monkeypatch):
    monkeypatch.setattr("web.rights._SCHEME", "scrypt:1024:8:1")


def test_strangers_on_the_broker_change_no_screen(served, broker, tmp_path):
    with Ear(broker) as ear, ClubTable(tmp_path / "a", broker, "Table 4") as table:
        until(served.url, lambda h: "table-4" in rows(h))
        ear.say("bastide/table-4/state", b"\x00" * 10_000_000)  # the broker does not even hand it to us
        ear.say("bastide/table-4/state", b'{"v":1}', retain=True)
        ear.say("bastide/table-9/state", b"<script>alert(1)</script>", retain=True)
        rev = table.play(*moves()[:3])
        hall = until(served.url, lambda h: rows(h)["table-4"]["state"]["rev"] >= rev)
        assert set(rows(hall)) == {"table-4"}
        ear.until(lambda t, v: t == "bastide/table-4/state" and isinstance(v, dict) and v.get("rev", 0) >= rev)


def test_a_whole_page_is_small_and_comes_from_here(served, broker):
    with Ear(broker) as ear:
        for n in range(12):
            ear.say(f"bastide/table-{n}/state", packed(state(table=f"Table {n}", device=f"{n:012x}")))
        until(served.url, lambda h: len(h["tables"]) == 12)
    for path in ("", "wall"):
        status, headers, page = get(served.url + path)
        assert status == 200 and "default-src 'none'" in headers["Content-Security-Policy"]
        assert not re.search(rb"https?://", page)
    status, headers, _ = get(served.url + "api/hall", **{"Accept-Encoding": "gzip"})
    assert headers["Content-Encoding"] == "gzip"
    assert get(served.url + "api/hall/events?after=x")[0] == 400


def test_screens_have_a_limit_and_leave_their_place():
    class Quiet:
        def after(self, number, timeout_s):
            return []

    screens = Screens(Quiet(), most=2, per_client=2)
    one, two = (screens.open("a", 0, lambda: True) for _ in range(2))
    with pytest.raises(TooManyStreams):
        screens.open("b", 0, lambda: True)
    one.close()
    one.close()
    assert len(screens) == 1
    assert list(screens.open("b", 0, lambda: True)) == ["retry: 1000\n\n"]
    two.close()


@pytest.mark.parametrize(("argv", "said"), [
    (["serve", "--mqtt", "http://x"], "must be mqtt://"), (["serve", "--mqtt", "mqtt://"], "must be mqtt://"),
    (["serve", "--mqtt", "mqtt://u:secret@h:port"], "--mqtt mqtt://u@h:port: the port"),
    (["serve", "--table", "T"], "no effect without --mqtt"),
    (["serve", "--mqtt", "mqtt://x", "--mqtt-ca", "x"], "mqtts://"),
    (["hub", "--mqtt", "mqtts://x", "--mqtt-ca", "/nowhere"], "/nowhere: holds no certificate"),
    (["hub", "--mqtt-password", "/nowhere"], "/nowhere: the password")],
    ids=lambda v: " ".join(v) if isinstance(v, list) else "")
def test_wrong_options_are_told_in_one_sentence(run, argv, said, tmp_path):
    code, out, err = run(*argv, "--data", str(tmp_path))
    assert code == 2 and said in err and err.count("\n") == 1 and "secret" not in err
    assert "Traceback" not in out + err


@pytest.fixture
def run(capsys):
    from bastide.cli import main

    def go(*argv):
        code = main(list(argv))
        said = capsys.readouterr()
        return code, said.out, said.err
    return go


def test_a_hub_without_a_broker_says_so_and_waits(tmp_path):
    with Served("hub", "--port", 0, "--data", tmp_path / "hub", "--mqtt", "mqtt://127.0.0.1:9") as hub:
        assert hub.get("api/hall")["broker"] is False and hub.get("api/hall")["tables"] == []
        assert hub.end() == 0


def test_the_command_has_help():
    assert "broker" in bastide("hub", "--help").stdout
