"""Fair scheduling of requests: neither many nor expensive requests keep others waiting."""

from __future__ import annotations

import importlib.util
import json
import re
import socket
import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from flask import Flask
from pins import PIN, with_pins
from webtable import get, post, table

from bastide.log.store import Store
from web.access import Access
from web.app import create_app
from web.rights import Right, needs
from web.scheduling import LIMITS, LIVE, MOST_CLIENTS, ONCE, Lane, RequestScheduler, routes
from web.server import PageServer
from web.stream import TooManyStreams

STATE, TURNS, PREVIEW = ("GET", "/api/state"), ("GET", "/api/turns/5"), ("POST", "/api/preview")
MODULE, SESSION = ("GET", "/static/js/app.js"), ("GET", "/api/session")
ROUTES = frozenset({"GET api state", "GET api session", "GET api turns", "POST api preview", "POST api commands",
                    "GET static *"})
BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "door.py"
PATIENCE_S = 30.0


class Counter:
    """A scheduler without a server: the order of turns, and a fake clock."""

    def __init__(self):
        self.now, self.begun = 0.0, []
        self.gate = RequestScheduler(lambda environ, start: [b""], routes=ROUTES, known=lambda cookie, address: cookie,
                         clock=lambda: self.now)
        self.gate._dispatch = self.begun.append

    def ask(self, client, what=STATE, session=""):
        request = SimpleNamespace(command=what[0], path=what[1], headers={"COOKIE": session}, error=None)
        self.gate.submit(SimpleNamespace(requests=[request], addr=(client, 1)))

    def done(self, cost_s=0.001):
        """The turn that began first is over."""
        turn = self.begun.pop(0)
        self.gate.done(turn, cost_s)
        return turn


def test_sixty_requests_of_one_client_wait_for_each_other_and_not_before_another_client():
    table = Counter()
    for _ in range(60):
        table.ask("10.0.0.66")
    table.ask("10.0.0.7")
    assert [t.client for t in table.begun] == ["10.0.0.66"]
    table.done()
    assert [t.client for t in table.begun] == ["10.0.0.7"]


def test_a_client_with_a_session_does_not_wait_for_strangers():
    table = Counter()
    for n in range(60):
        table.ask(f"10.0.1.{n}")
        table.ask(f"10.0.1.{n}", PREVIEW)
    begun = len(table.begun)
    table.ask("10.0.1.1", ("POST", "/api/commands"), session="anna")
    assert table.begun[begun].client == "anna" and table.begun[begun].lane is Lane.SIGNED


def test_many_clients_that_ask_what_right_they_have_delay_nobody_who_looks_at_the_game():
    """A state costs more than they do, so that within one lane who looks once a second came after all of them."""
    table, waited = Counter(), []
    due = {f"10.1.{n}.1": 10.0 for n in range(10)}  # by then strangers have spent what was saved in quiet times
    asked: dict[str, float] = {}
    for n in range(60):
        table.ask(f"10.0.4.{n}", SESSION)
    while table.now < 30.0:
        for client in [c for c, at_s in due.items() if at_s <= table.now]:
            asked[client] = table.now
            due[client] = float("inf")
            table.ask(client)
        if table.begun and table.begun[0].client in due:
            client = table.done(0.002).client
            waited.append(table.now - asked[client])
            due[client] = asked[client] + 1.0
        elif table.begun and not (turn := table.done(0.0002)).refused:
            table.ask(turn.client, SESSION)
        table.now += 0.002
        with table.gate._changed:
            table.gate._begin(table.now)
    assert len(waited) >= 150 and max(waited) < 0.25


def test_expensive_requests_are_learned_and_do_not_block_the_state():
    table = Counter()
    table.ask("10.0.0.1", TURNS)
    assert table.begun[0].lane is Lane.DEAR, "nothing is known of it yet"
    table.done(0.001)
    table.ask("10.0.0.1", TURNS)
    assert table.begun[0].lane is Lane.CHEAP
    table.done(5.0)
    table.now += 0.1
    for _ in range(5):
        table.ask("10.0.0.1", TURNS)
    table.ask("10.0.0.2", ("GET", "/static/js/app.js"))
    table.ask("10.0.0.3")
    assert {t.lane for t in table.begun} == {Lane.LIVE, Lane.DEAR}, "of the others one computes at a time"
    table.done(9.0)
    assert Lane.LIVE in {t.lane for t in table.begun}


def test_strangers_together_have_a_part_of_one_processor():
    """Sixty addresses that never stop asking: over a minute they get their budgets, and not more."""
    table, used = Counter(), dict.fromkeys(Lane, 0.0)
    for n in range(60):
        for what in (STATE, TURNS, PREVIEW):
            table.ask(f"10.0.2.{n}", what)
    while table.now < 60.0:
        if not table.begun:
            table.now += 0.01
            with table.gate._changed:
                table.gate._begin(table.now)
            continue
        turn = table.done(0.0 if table.begun[0].refused else 0.02)
        used[turn.lane] += 0 if turn.refused else 0.02 + LIMITS.every_s
        table.ask(turn.client, {"state": STATE, "turns": TURNS, "preview": PREVIEW}[turn.key.split()[2]])
    for lane, share in ((Lane.LIVE, LIMITS.live_share), (Lane.DEAR, LIMITS.dear_share)):
        assert used[lane] <= 60 * share + LIMITS.saved_s + 0.02 + LIMITS.every_s
        assert used[lane] > 0.8 * 60 * share
    assert used[Lane.CHEAP] <= 60 * LIMITS.cheap_share + LIMITS.saved_s + 0.02


def test_a_request_that_waits_too_long_is_told_to_retry_and_costs_no_work_meanwhile():
    table = Counter()
    table.ask("10.0.0.1", PREVIEW)
    table.done(30.0)  # nobody's turn for minutes
    for n in range(20):
        table.ask(f"10.0.3.{n}", PREVIEW)
    assert not table.begun
    table.now += LIMITS.patience_s + 0.1
    with table.gate._changed:
        table.gate._begin(table.now)
    assert len(table.begun) == 20 and all(t.refused for t in table.begun)


def test_what_a_page_is_made_of_waits_as_long_as_it_takes_and_what_came_after_it_is_refused():
    table = Counter()
    table.ask("10.0.0.1", MODULE)
    table.done(0.001)
    table.gate._budgets[Lane.CHEAP].left_s = -10.0
    for n in range(20):
        table.ask(f"10.0.3.{n}", MODULE)
        table.ask(f"10.0.3.{n}", PREVIEW)
    table.gate._budgets[Lane.DEAR].left_s = -100.0
    table.now += LIMITS.patience_s + 0.1
    with table.gate._changed:
        table.gate._begin(table.now)
    assert {t.key for t in table.begun if t.refused} == {"POST api preview"}
    table.now += 10.0 / LIMITS.cheap_share
    table.begun.clear()
    with table.gate._changed:
        table.gate._begin(table.now)
    served = 0
    while table.begun:
        served += not table.done().refused
    assert served == 20


def test_what_is_remembered_of_clients_and_addresses_is_bounded():
    table = Counter()
    for n in range(MOST_CLIENTS + 200):
        table.now += 1.0
        table.ask(f"10.{n // 250}.9.{n % 250}", ("GET", f"/{n}/x"))
        table.done()
    assert len(table.gate._used) == MOST_CLIENTS and not table.gate._waiting
    assert len(table.gate._costs) <= len(ROUTES) + 2, "addresses that are none push none out that is one"


# -- the served table -----------------------------------------------------------------------------------------------


@pytest.fixture
def served(tmp_path, cheap_hashes):
    """A table with a PIN that treats the machine itself as a stranger too."""
    class Door(Access):
        def from_machine(self):
            return False

    with Store(tmp_path / "t.sqlite") as store:
        session, door = table(store, 12), Door(with_pins())
        with PageServer(create_app(session, access=door), port=0) as server:
            yield SimpleNamespace(session=session, url=server.url, door=door, server=server)


def signed_in(served):
    import urllib.request
    sent = urllib.request.Request(served.url + "api/session", json.dumps({"pin": PIN}).encode(),
                                  {"Content-Type": "application/json"})
    with urllib.request.urlopen(sent, timeout=PATIENCE_S) as answer:
        cookie = answer.headers["Set-Cookie"].partition(";")[0]
        return {"Cookie": cookie, "X-CSRF-Token": json.loads(answer.read())["token"]}


def together(work, count):
    threads = [threading.Thread(target=work) for _ in range(count)]
    for t in threads:
        t.start()
    return threads


def test_previews_that_take_for_ever_keep_neither_the_state_nor_a_player_waiting(served, monkeypatch):
    go_on, looked = threading.Event(), threading.Event()

    def endless(self, commands):
        looked.set()
        assert go_on.wait(PATIENCE_S)
        return []

    player = signed_in(served)
    monkeypatch.setattr("bastide.table.snapshot.GameSnapshot.preview", endless)
    asking = together(lambda: post(served.url + "api/preview", {"commands": []}), 20)
    try:
        assert looked.wait(PATIENCE_S)
        before = served.session.view()["version"]
        assert get(served.url + "api/state")[0] == 200
        status, view = post(served.url + "api/commands", {"do": "undo"}, **player)
        assert status == 200 and view["version"] > before, "the look ahead holds no lock"
    finally:
        go_on.set()
        for t in asking:
            t.join()


def test_candidates_and_pictures_of_the_log_hold_no_lock(served, monkeypatch):
    go_on, looked = threading.Event(), threading.Event()

    def endless(*args):
        looked.set()
        assert go_on.wait(PATIENCE_S)
        return []

    monkeypatch.setattr("bastide.table.session.tile_candidates", endless)
    asking = together(lambda: get(served.url + "api/candidates/1"), 1)
    try:
        assert looked.wait(PATIENCE_S)
        served.session.command({"do": "undo"})
        served.session.subscribe().close()
    finally:
        go_on.set()
        for t in asking:
            t.join()


def test_hashing_a_pin_blocks_nobody(served, monkeypatch):
    go_on, comparing = threading.Event(), threading.Event()

    def slow(kept, pin):
        comparing.set()
        assert go_on.wait(PATIENCE_S)
        return False

    player = signed_in(served)
    monkeypatch.setattr("web.rights.check_password_hash", slow)
    asking = together(lambda: post(served.url + "api/session", {"pin": "9999"}), 12)
    try:
        assert comparing.wait(PATIENCE_S)
        assert get(served.url + "api/state")[0] == 200
        assert post(served.url + "api/preview", {"commands": []})[0] == 200
        assert post(served.url + "api/commands", {"do": "undo"}, **player)[0] == 200
    finally:
        go_on.set()
        for t in asking:
            t.join()


def test_a_refused_request_is_one_sentence_and_when_to_come_again(served):
    gate = served.server._scheduler
    with gate._changed:
        gate._budgets[Lane.DEAR].left_s = -100.0
    gate._limits = type(LIMITS)(patience_s=0.0)
    import http.client
    c = http.client.HTTPConnection(served.server.host, served.server.port, timeout=PATIENCE_S)
    c.request("POST", "/api/preview", b"{}", {"Content-Type": "application/json"})
    answer = c.getresponse()
    assert answer.status == 429 and int(answer.headers["Retry-After"]) > 0
    assert json.loads(answer.read())["error"]["code"] == "busy_table"
    c.close()


def test_every_page_waits_for_its_turn_and_what_is_named_exists(served):
    app = served.server._app
    known = routes(app.url_map.iter_rules())
    assert {*LIVE, *ONCE} <= known
    client, pages = app.test_client(), set()
    for rule in app.url_map.iter_rules():
        path = rule.rule.replace("<int(max=2147483647):number>", "1")
        if "GET" in rule.methods and "<" not in path and not path.startswith("/api/"):
            answer = client.get(path)
            if answer.status_code == 200 and answer.mimetype == "text/html":
                pages.add(f"GET {path[1:]}")
    assert {"GET ", "GET tv", "GET doctor"} <= pages <= set(ONCE)


def test_a_page_opens_in_a_browser_though_the_budget_was_used_up_by_others(served, visit):
    """Its modules are loaded at once, and a browser asks for none again: one that is refused leaves the page blank."""
    gate = served.server._scheduler
    gate._limits = replace(LIMITS, patience_s=0.3)  # less than what is overdrawn takes to be refilled
    with gate._changed:
        gate._budgets[Lane.CHEAP].left_s = gate._budgets[Lane.DEAR].left_s = -0.1
    page = visit(served.url)
    assert page.locator(".tiles .tile").count() == len(served.session.view()["board"]["tiles"])


def test_streams_are_kept_for_those_with_a_session(served):
    streams = served.server._app.extensions["streams"]
    held = []
    with pytest.raises(TooManyStreams):
        for n in range(1000):
            held.append(streams.open(who=f"10.0.0.{n}"))
    assert 0 < len(held) < 64
    held.append(streams.open(who="anna", signed=True))
    for stream in held:
        stream.close()


def benchmark():
    spec = importlib.util.spec_from_file_location("door", BENCHMARK)
    module = importlib.util.module_from_spec(spec)
    import sys
    sys.modules["door"] = module
    spec.loader.exec_module(module)
    return module


def test_the_benchmark_knows_every_route_that_a_stranger_may_use(served):
    """Its list is the application's own, so that no route can be forgotten; and each of its addresses is that route."""
    door, app = benchmark(), served.server._app
    asked = [(method, path) for method, path, _ in door.strangers(app).values()]
    found = {(method, app.url_map.bind("table").match(path.partition("?")[0], method)[0])
             for method, path in asked if (method, path) != ("GET", "/api/none")}
    for rule in app.url_map.iter_rules():
        for method in rule.methods - {"HEAD", "OPTIONS"}:
            watches = method == "GET" or getattr(app.view_functions[rule.endpoint], "right", Right.ADMIN) == Right.WATCH
            assert watches == ((method, rule.endpoint) in found) or rule.rule == "/api/commands", rule.rule
    new = Flask("new")
    new.add_url_rule("/api/new/<int:turn>/<name>", "new", needs(Right.WATCH)(lambda turn, name: ""), methods=["POST"])
    new.add_url_rule("/api/closed", "closed", needs(Right.PLAY)(lambda: ""), methods=["POST"])
    assert door.strangers(new)["POST /api/new/*/*"] == ("POST", "/api/new/55/x", {})
    assert not any("closed" in name for name in door.strangers(new))


def test_a_short_attack_on_what_is_dearest_leaves_everybody_answered(served):
    """A small, short run of the benchmark's strangers: viewers and players are answered throughout."""
    door = benchmark()
    dearest = door.strangers(served.server._app)["POST /api/preview"]
    port, counted = served.server.port, []
    player = signed_in(served)
    stranger = threading.Thread(target=lambda: counted.append(door.hostile(dearest, port, 16, 4, 1.5)))
    stranger.start()
    answered = 0
    while stranger.is_alive():
        assert get(served.url + "api/state")[0] == 200
        assert post(served.url + "api/commands", {"do": "end_turn"}, **player)[0] == 200
        answered += 1
    stranger.join()
    assert counted[0] > 0 and answered > 3


@pytest.mark.parametrize("sent", [
    b"G\xc3\x84T / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", b"GET /\xff\xfe HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    b"GET http://[::1/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", b"\x00\xff\r\n\r\n",
    b"POST /api/session HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: \xc2\xb2\r\n\r\n",
    b"POST /api/session HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n\xff\r\n",
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: bastide=\xff; bastide=\"\\777\"\r\nConnection: close\r\n\r\n",
])
def test_nonsense_is_answered_and_fills_no_log(served, sent, caplog):
    for reads in (True, False):
        with socket.create_connection((served.server.host, served.server.port), PATIENCE_S) as c:
            if not reads:  # gone without a goodbye before it is told
                c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            c.sendall(sent)
            if reads:
                assert re.match(rb"HTTP/1\.[01] [24]\d\d ", c.recv(65_536))
    assert get(served.url + "api/state")[0] == 200
    told = [r.getMessage() for r in caplog.records if r.exc_info or r.name.startswith("waitress")]
    assert not told
